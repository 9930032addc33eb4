"""Whatever is changed in a release is found, in one sentence; what was not looked at is said."""

import json
import os
import shutil

import pytest

from evenhand.engine import verify
from evenhand.errors import GuaranteeError
from evenhand.privacy.ledger import Ledger, export_ledger
from evenhand.privacy.signing import PublicKey
from evenhand.release import Histogram, KAnonymity, NoisySuppression, Suppression
from evenhand.schema import Column, Domain, Schema
from unit.engine._releases import (
    JOB,
    KEY,
    LAPLACE,
    PEOPLE,
    SCHEMA,
    SEX,
    failures,
    forge,
    note_of,
    refuse_release,
    release,
    reports,
    reseal,
    signature_of,
)


@pytest.fixture
def ledger(tmp_path):
    return Ledger(tmp_path / "ledger.db", epsilon=10)


# --- what passes ------------------------------------------------------------------------------------

K_ANONYMITY = KAnonymity(k=2)
MECHANISMS = [LAPLACE, K_ANONYMITY, Suppression(threshold=3), NoisySuppression(epsilon=1, threshold=3)]


@pytest.mark.parametrize("name", ["table.csv", "table.parquet"])
@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda each: each.name)
def test_a_release_passes_as_it_was_written(tmp_path, name, mechanism, ledger):
    path = release(tmp_path, name, mechanism=mechanism, ledger=ledger)
    result = verify(path, key=KEY.public, ledger=ledger.path, schema=SCHEMA)

    assert result.passed, str(result)
    assert [check.name for check in result.checks] == [
        "note", "files", "plan", "guarantee", "schema", "signature", "ledger",
    ]  # fmt: skip
    assert result.not_checked == (
        "Whether another release names the same entry of the ledger.",
        "That it was drawn as the note says, and so that the guarantee holds: only whoever made it knows.",
    )
    assert (result.release, result.fingerprint) == (name, KEY.public.fingerprint)


@pytest.mark.parametrize("name", ["reports.csv", "reports.csv.gz", "reports.parquet"])
def test_reports_pass_as_they_were_written(tmp_path, name, ledger):
    path = reports(tmp_path, name, ledger=ledger)
    result = verify(path, key=KEY.public, ledger=ledger.path, schema=SCHEMA)

    assert result.passed, str(result)
    assert len(result.checks) == 7


@pytest.mark.parametrize("write", [release, reports])
def test_the_note_may_be_named_in_place_of_the_table(tmp_path, write):
    path = write(tmp_path)

    assert verify(note_of(path), key=KEY.public).to_dict() == verify(str(path), key=KEY.public).to_dict()


def test_what_was_not_checked_is_said(tmp_path, ledger):
    plain = verify(release(tmp_path, sign=None))
    signed = verify(release(tmp_path, "signed.csv", ledger=ledger))

    assert plain.passed
    assert plain.fingerprint is None
    assert [text.split(":")[0].split(".")[0] for text in plain.not_checked] == [
        "Whether the schema is yours", "The note is not signed", "The budget",
        "That it was drawn as the note says, and so that the guarantee holds",
    ]  # fmt: skip
    assert "whoever changes the table on purpose can write another note" in plain.not_checked[1]
    assert [text.split(":")[0] for text in signed.not_checked] == [
        "Whether the schema is yours", "Who signed it", "The ledger",
        "That it was drawn as the note says, and so that the guarantee holds",
    ]  # fmt: skip
    assert f"whoever has the key with the fingerprint {KEY.public.fingerprint}" in str(signed)
    assert "not checked: Who signed it: whoever has the key did." in str(signed)


def test_an_export_of_the_ledger_will_do(tmp_path, ledger):
    """Whoever checks a release from outside has no right to open the ledger itself."""
    path = release(tmp_path, ledger=ledger)
    export_ledger(ledger, tmp_path / "ledger.json")

    assert verify(path, ledger=tmp_path / "ledger.json").passed


def test_a_schema_of_more_columns_and_other_roles_is_compared_by_the_columns_of_the_table(tmp_path):
    schema = SCHEMA.with_labels({"sex": {"f": "women"}}).with_roles(person="id", rows_per_person=2)
    frame = PEOPLE.assign(id=range(len(PEOPLE)))
    LAPLACE.release(Histogram.count(frame, schema.select(["job", "sex"]))).write(tmp_path / "table.csv")
    whole = Schema([SEX, Column("age", Domain.integers(0, 9)), JOB], target="job", positive="a")

    assert verify(tmp_path / "table.csv", schema=whole).passed
    whole.save(tmp_path / "schema.toml")
    assert verify(tmp_path / "table.csv", schema=tmp_path / "schema.toml").passed


def test_simulated_reports_say_so_and_are_not_signed(tmp_path):
    path = reports(tmp_path, sign=None, simulate=7)

    assert "no guarantee holds for them" in str(verify(path))
    with pytest.raises(GuaranteeError, match="Simulated reports are not signed"):
        reports(tmp_path, "again.csv", simulate=7)


# --- what does not ----------------------------------------------------------------------------------


def test_a_changed_cell_is_found(tmp_path):
    path = release(tmp_path)
    path.write_text(path.read_text().replace("f", "g", 1))

    refuse_release(path, "table.csv was changed: its SHA-256 is not the one in the note.")


@pytest.mark.parametrize(
    "change",
    [
        lambda text: b"\xef\xbb\xbf" + text,
        lambda text: text.replace(b"\n", b"\r\n"),
        lambda text: text + b"\n",
        lambda text: text[:-1],
        lambda text: b"",
        lambda text: text.replace(b"\n", b",1\n"),
        lambda text: b"\n".join([text.splitlines()[0], *reversed(text.splitlines()[1:])]) + b"\n",
    ],
)
def test_another_way_to_write_a_table_is_found(tmp_path, change):
    path = release(tmp_path)
    path.write_bytes(change(path.read_bytes()))

    refuse_release(path, "table.csv was changed")


@pytest.mark.parametrize("write", [release, reports])
@pytest.mark.parametrize("signed", [True, False])
def test_a_note_that_is_written_otherwise_is_found(tmp_path, write, signed):
    path = write(tmp_path, sign=KEY if signed else None)
    written, key = note_of(path).read_bytes(), KEY.public if signed else None
    fields = json.loads(written)
    others = [
        json.dumps(fields).encode(),
        json.dumps(fields, indent=2, sort_keys=True).encode() + b"\n",
        b"\xef\xbb\xbf" + written,
        written.replace(b"\n", b"\r\n"),
        written + b" ",
        written.replace(b'{\n  "format"', b'{\n  "rows": 1,\n  "rows": 2,\n  "format"'),
        written.replace(b'"epsilon": "1', b'"epsilon": "2'),
        written.replace(b"null", b"NaN", 1),
        written[:-9],
        b"",
        b"{}",
        b"[1]",
    ]
    for other in others:
        assert other != written
        note_of(path).write_bytes(other)
        assert len(failures(path, key=key)) == 1, other[:80]


def test_notes_of_two_releases_cannot_be_swapped(tmp_path):
    first, second = release(tmp_path), release(tmp_path, "other.csv")
    for ending in ("json", "json.sig"):
        shutil.copy(f"{second}.{ending}", f"{first}.{ending}")

    refuse_release(first, "The note describes other.csv, and not table.csv.")


def test_a_release_of_the_same_name_from_elsewhere_is_found(tmp_path):
    path = release(tmp_path)
    (tmp_path / "away").mkdir()
    shutil.copy(release(tmp_path / "away"), path)

    refuse_release(path, "table.csv was changed")


def test_a_table_under_another_name_is_found(tmp_path):
    path = release(tmp_path)
    for file in (path, note_of(path), signature_of(path)):
        file.rename(file.with_name(file.name.replace("table", "renamed")))

    refuse_release(tmp_path / "renamed.csv", "The note describes table.csv, and not renamed.csv.")


def test_files_beside_the_table_are_compared_too(tmp_path):
    path = release(tmp_path, mechanism=K_ANONYMITY)
    classes = tmp_path / "table.classes.csv"
    classes.write_bytes(classes.read_bytes() + b"x,1\n")

    refuse_release(path, "table.classes.csv was changed")
    classes.unlink()
    refuse_release(path, "table.classes.csv was not read: there is no such file.")


@pytest.mark.parametrize("name", ["table.classes.csv", "table.rates.csv", "table.csv.schema.toml"])
def test_a_file_that_a_reader_would_take_for_a_part_of_it_is_found(tmp_path, name):
    path = release(tmp_path)
    (tmp_path / name).write_text("text")

    refuse_release(path, f"{name} stands beside the table, and its note does not know it.")


def test_a_table_of_its_own_beside_it_is_named_and_left_alone(tmp_path):
    path = release(tmp_path)
    release(tmp_path, "table.rates.csv")

    assert verify(path).passed
    assert verify(path).not_checked[0].startswith("table.rates.csv: it has a note of its own")


def test_a_schema_beside_reports_is_compared_byte_for_byte(tmp_path):
    path = reports(tmp_path)
    beside = tmp_path / "reports.csv.schema.toml"
    beside.write_text(f"# a comment\n{beside.read_text()}")

    refuse_release(path, "reports.csv.schema.toml was changed")


def test_another_schema_than_the_one_named_is_found(tmp_path):
    other = Schema([SEX, Column("job", Domain.categorical(["a", "b", "d"]))])
    for path in (release(tmp_path), reports(tmp_path)):
        refuse_release(path, "declares these columns otherwise", schema=other)
        refuse_release(path, "Column 'sex' is not in the schema", schema=Schema([JOB]))


# --- odd notes and odd files ------------------------------------------------------------------------


def test_a_newer_and_an_older_note_are_refused_with_the_way_on(tmp_path):
    kinds = ((release(tmp_path), "release", 2, 2), (reports(tmp_path), "privatized", 4, 3))
    for path, name, number, oldest in kinds:
        written = note_of(path).read_bytes()
        for other, hint in (
            (number + 1, "install a newer evenhand"),
            (oldest - 1, "read it with the evenhand"),
        ):
            form = f"evenhand {name} {number}", f"evenhand {name} {other}"
            note_of(path).write_bytes(written.replace(*(each.encode() for each in form)))
            refuse_release(path, f"has the format {other}, written by evenhand")
            refuse_release(path, hint)
        for form in ("evenhand study 1", "evenhand release x", "evenhand release -1", "x"):
            note_of(path).write_bytes(written.replace(f"evenhand {name} {number}".encode(), form.encode()))
            refuse_release(path, "is not the note of a release or of reports")


def test_a_table_needs_one_note_and_only_one(tmp_path):
    path = release(tmp_path)
    (tmp_path / "table.csv.guarantee.json").write_text("{}")

    refuse_release(path, "are both there, and only one can describe the table")
    for each in ("table.csv.guarantee.json", "table.csv.json"):
        (tmp_path / each).unlink()
    refuse_release(path, "There is no note: neither table.csv.json nor table.csv.guarantee.json is there")
    refuse_release(tmp_path / "none.csv", "There is no note")
    refuse_release(tmp_path, "There is no note")


def test_links_and_folders_in_place_of_files_are_refused(tmp_path):
    path = release(tmp_path)
    for file in (path, note_of(path), signature_of(path)):
        away = file.with_name("away")
        file.rename(away)
        file.symlink_to(away)
        refuse_release(path, f"{file.name} was not read: it is a symbolic link")
        file.unlink()
        file.mkdir()
        refuse_release(path, f"{file.name} was not read: it is a folder")
        file.rmdir()
        away.rename(file)
    assert verify(path, key=KEY.public).passed


def test_a_second_name_of_the_same_bytes_passes(tmp_path):
    """A hard link is the file itself."""
    path = release(tmp_path)
    os.link(path, tmp_path / "second")

    assert verify(path, key=KEY.public).passed


def test_a_huge_note_is_refused_unread(tmp_path):
    path = release(tmp_path)
    with note_of(path).open("r+b") as file:
        file.truncate(1 << 40)

    refuse_release(path, "it is longer than 4,000,000 bytes")


def test_a_note_that_was_made_to_harm_fails_and_does_no_more(tmp_path):
    """Anybody can seal a note with any value in it."""
    path = release(tmp_path, sign=None)
    fields = json.loads(note_of(path).read_text())
    deep = json.loads("[" * 400 + "]" * 400)
    for name in fields:
        for value in (None, 3, [], {"a": 1}, deep):
            if value == fields[name] or name == "note_sha256":
                continue
            note_of(path).write_bytes(reseal({**fields, name: value}))
            result = verify(path, schema=SCHEMA)
            assert not result.passed or name in HARMLESS, (name, value)
        missing = {key: value for key, value in fields.items() if key != name}
        note_of(path).write_bytes(reseal(missing))
        assert not verify(path, schema=SCHEMA).passed or name in HARMLESS | {"note_sha256"}, name


HARMLESS = {
    "cells", "cells_without_a_row", "cells_without_a_count", "versions", "warnings", "ledger_entry",
}  # fmt: skip
"""Fields of which a signature alone tells that they were changed."""


def test_a_note_that_names_other_files_is_refused(tmp_path):
    """Else it could vouch for a file in another folder in place of the table."""
    path = release(tmp_path, sign=None)
    digest = json.loads(note_of(path).read_text())["files"]["table.csv"]
    for files in ({}, {"../x.csv": digest}, {"table.csv": digest, "more.csv": digest}, {"TABLE.csv": digest}):
        forge(path, key=None, files=files)
        refuse_release(path, "The note describes", key=None)


def test_the_words_of_a_guarantee_must_be_its_own(tmp_path):
    path = release(tmp_path)
    forge(path, guarantee_in_words="Nobody can learn anything.")

    refuse_release(path, "The guarantee and its statement in words differ.")


def test_a_public_key_says_nothing_private(tmp_path):
    path = release(tmp_path)

    assert PublicKey.from_dict(json.loads(note_of(path).read_text())["signed_by"]) == KEY.public
