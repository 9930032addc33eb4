"""A folder of reports passes only as a whole: no file of it is missing, more, renamed, swapped or changed."""

import json
import shutil

import pytest

from evenhand.engine import estimate_file, privatize_file, verify
from evenhand.engine.places import FolderPlaces
from evenhand.privacy.ledger import Ledger
from evenhand.schema import Column, Schema
from unit.engine._releases import JOB, KEY, OTHER, PEOPLE, SCHEMA, reseal

NOTE = "folder.guarantee.json"
PARTS = ("a.csv", "b.csv", "c.csv")


def write_folder(folder, name="out", *, sign=KEY, **options):
    """Write a folder of signed reports, and return where."""
    rows = folder / "people"
    if not rows.exists():  # a second run has the same input
        rows.mkdir()
        for place, part in enumerate(PARTS):
            PEOPLE.iloc[: 5 + 5 * place].to_csv(rows / part, index=False)
    privatize_file(rows, folder / name, schema=SCHEMA, epsilon=1, sign=sign, **options)
    return folder / name


@pytest.fixture
def out(tmp_path):
    return write_folder(tmp_path)


def refuse_folder(out, *words, key=KEY.public, **options):
    """The folder does not pass, and says why in one sentence without its path."""
    result = verify(out, key=key, **options)
    faults = [check.text for check in result.checks if not check.passed]

    assert len(faults) == 1, result
    assert all(word in faults[0] for word in words), faults
    assert str(out.parent) not in str(result)


@pytest.mark.parametrize("named", ["", NOTE])
def test_a_folder_passes_as_it_was_written(tmp_path, named):
    ledger = Ledger(tmp_path / "ledger.db", epsilon=10)
    out = write_folder(tmp_path, ledger=ledger)
    result = verify(out / named, key=KEY.public, ledger=ledger.path, schema=SCHEMA)

    assert result.passed, result
    assert [check.name for check in result.checks] == ["note", "files", "parts", "signature"]
    assert (result.release, result.fingerprint) == ("out", KEY.public.fingerprint)
    assert "3 files of reports pass by their own notes" in result.checks[2].text
    assert len(result.not_checked) == 2
    assert estimate_file(out).rows == 30


def test_the_note_lists_every_file_with_its_size(out):
    note = json.loads((out / NOTE).read_text())
    names = sorted(place.name for place in out.iterdir() if not place.name.startswith(NOTE))

    assert sorted(note["files"]) == sorted(note["sizes"]) == names
    assert len(names) == 12
    assert note["sizes"]["b.csv"] == (out / "b.csv").stat().st_size
    assert note["parts"] == 3


def remove(out):
    (out / "b.csv").unlink()


def remove_part(out):
    for place in out.glob("b.csv*"):
        place.unlink()


def add(out):
    (out / "d.csv").write_text("sex,job\nf,a\n")


def add_folder(out):
    (out / "d").mkdir()


def add_part(out):
    write_folder(out.parent, "other")
    for place in (out.parent / "other").glob("a.csv*"):
        shutil.copy(place, out / place.name.replace("a.csv", "d.csv"))


def rename(out):
    (out / "b.csv").rename(out / "z.csv")


def swap(out):
    for ending in ("", ".guarantee.json", ".guarantee.json.sig", ".schema.toml"):
        first, second = out / f"a.csv{ending}", out / f"b.csv{ending}"
        texts = first.read_bytes(), second.read_bytes()
        first.write_bytes(texts[1])
        second.write_bytes(texts[0])


def cut(out):
    (out / "b.csv").write_bytes((out / "b.csv").read_bytes()[:-2])


def change(out):
    text = (out / "b.csv").read_bytes()
    (out / "b.csv").write_bytes(text.replace(text[-3:-2], b"X"))


def link(out):
    (out / "b.csv").rename(out.parent / "b.csv")
    (out / "b.csv").symlink_to(out.parent / "b.csv")


def other_run(out):
    write_folder(out.parent, "other")
    for place in (out.parent / "other").glob("b.csv*"):
        shutil.copy(place, out / place.name)


HARMS = [
    (remove, "b.csv is missing."),
    (remove_part, "b.csv is missing. b.csv.guarantee.json is missing."),
    (add, "d.csv is there, and the note does not list it."),
    (add_folder, "d is there, and the note does not list it."),
    (add_part, "There are 1 more such files."),
    (rename, "b.csv was renamed: it is there as z.csv."),
    (swap, "a.csv has the content of b.csv."),
    (cut, "b.csv was cut short"),
    (change, "b.csv was changed"),
    (link, "it is a symbolic link"),
    (other_run, "b.csv was changed"),
]


@pytest.mark.parametrize(("harm", "told"), HARMS, ids=[harm.__name__ for harm, _ in HARMS])
def test_a_folder_that_was_changed_does_not_pass(out, harm, told):
    """If this is false, whoever passes reports on can leave a whole file of people out."""
    harm(out)

    refuse_folder(out, told)


def test_a_folder_without_its_note_does_not_pass(out):
    (out / NOTE).unlink()

    refuse_folder(out, "There is no note: folder.guarantee.json is not there")


@pytest.mark.parametrize("sign", [KEY, None])
def test_a_note_that_leaves_a_file_out_is_found_by_its_signature(tmp_path, sign):
    """Whoever removes a file can write another note: an unsigned one passes, and is said not to be signed."""
    out = write_folder(tmp_path, sign=sign)
    remove_part(out)
    fields = json.loads((out / NOTE).read_text())
    for name in [name for name in fields["files"] if name.startswith("b.csv")]:
        del fields["files"][name], fields["sizes"][name]
    (out / NOTE).write_bytes(reseal(fields | {"parts": 2}))
    if sign is not None:
        refuse_folder(out, "is not a signature of this note")
        return
    result = verify(out)

    assert result.passed
    assert any("not signed" in text for text in result.not_checked)


def test_a_folder_of_another_key_does_not_pass(out):
    result = verify(out, key=OTHER.public)

    assert [check.name for check in result.checks if not check.passed] == ["parts", "signature"]


def test_a_file_of_another_run_does_not_pass_though_the_note_lists_it(out):
    """A note that is signed by the same key, of a file with another epsilon than the rest."""
    other = out.parent / "other"
    privatize_file(out.parent / "people", other, schema=SCHEMA, epsilon=2, sign=KEY)
    for place in other.glob("b.csv*"):
        shutil.copy(place, out / place.name)
    fields = json.loads((out / NOTE).read_text())
    theirs = json.loads((other / NOTE).read_text())
    for name in [name for name in fields["files"] if name.startswith("b.csv")]:
        fields["files"][name], fields["sizes"][name] = theirs["files"][name], theirs["sizes"][name]
    text = reseal(fields)
    (out / NOTE).write_bytes(text)
    (out / f"{NOTE}.sig").write_bytes(KEY.sign(text))

    refuse_folder(out, "b.csv is of another run than the folder")


@pytest.mark.parametrize(
    "changes",
    [{"files": {"../people/a.csv": "0"}}, {"files": 3}, {"sizes": []}, {"parts": "3"}, {"signed_by": 4}],
)
def test_a_note_that_was_made_to_harm_opens_no_other_file(out, changes):
    fields = json.loads((out / NOTE).read_text())
    (out / NOTE).write_bytes(reseal(fields | changes))
    result = verify(out)

    assert not result.passed
    assert str(out.parent) not in str(result)


def test_another_schema_and_ledger_are_found_in_the_parts(out, tmp_path):
    refuse_folder(out, "a.csv does not pass by itself", schema=Schema([Column("sex", JOB.domain)]))
    Ledger(tmp_path / "l.db", epsilon=1)
    refuse_folder(out, "The note names no entry of a ledger", ledger=tmp_path / "l.db")


def test_a_folder_that_was_verified_can_be_replaced(out):
    write_folder(out.parent, overwrite=True)

    assert verify(out, key=KEY.public).passed


@pytest.mark.parametrize("when", ["write_note", "put_in_place"])
def test_a_run_that_is_taken_up_writes_the_note_of_the_whole_folder(tmp_path, monkeypatch, when):
    real = getattr(FolderPlaces, when)

    def stopping(*given):
        real(*given)
        raise KeyboardInterrupt

    monkeypatch.setattr(FolderPlaces, when, stopping)
    with pytest.raises(KeyboardInterrupt):
        write_folder(tmp_path, resume=True)
    monkeypatch.undo()
    out = write_folder(tmp_path, resume=True)

    assert verify(out, key=KEY.public).passed
