"""Nothing is passed on in the clear unless it is named, and a file whose rows link is not called safe."""

import json
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evenhand.engine import estimate_file, verify
from evenhand.engine.privatize import privatize_file
from evenhand.engine.promise import Linkability
from evenhand.engine.record import plan_of
from evenhand.errors import InvalidParameterError, UnwritableFileError
from evenhand.privacy.ledger import Ledger
from evenhand.privacy.signing.notes import hash_open_file, hash_terms, seal_note
from evenhand.schema import Column, Domain, Schema
from unit.engine.cluster._toy_engine import SCHEMA as TOY_SCHEMA
from unit.engine.cluster._toy_engine import ToyEngine, people, run

SCHEMA = Schema([Column("sex", Domain.categorical(["f", "m"]))], sensitive="sex")
CANARY = 987_654_321
NOT_FOR_PUBLICATION = (
    "The 'keep' parameter of privatize_file must be columns on which at most 5 % of the rows are unique. "
    "Got 'wage' instead. Hint: this is not for publication: more rows are unique, and each links to one "
    "person. Keep fewer columns, or allow it with linkable=True (--linkable)."
)


@pytest.fixture
def file(tmp_path):
    """Of 200 people, 10 have a wage of their own."""
    wages = [CANARY + place if place < 10 else place % 19 for place in range(200)]
    rows = pd.DataFrame({"sex": ["f", "m"] * 100, "wage": wages, "hired": [0, 1] * 100})
    rows.to_csv(tmp_path / "people.csv", index=False)
    return tmp_path / "people.csv"


def privatize(file, out="reports.csv", **options):
    return privatize_file(file, file.parent / out, **{"schema": SCHEMA, "epsilon": 1} | options)


def test_no_column_is_in_the_clear_unless_it_is_named(file):
    """Columns that nobody thought of link nearly every row to a person."""
    made = privatize(file)

    assert (made.in_clear, made.left_out) == ((), ("wage", "hired"))
    assert made.places.out.read_text().splitlines()[0] == "sex"
    assert made.record.linkability is None
    assert json.loads(made.places.record.read_text())["linkable"] is None
    assert "Nothing is declared to be in the clear" in str(made.guarantee)


def test_the_share_of_rows_that_link_stands_in_record_and_guarantee(file):
    """Whoever gets the file must be told, not only whoever wrote it."""
    measured = []
    made = privatize(file, keep=["wage"], measured=measured.append)
    said = json.loads(made.places.record.read_text())

    assert measured == [Linkability(0.05)] == [made.record.linkability]
    assert said["linkable"] == {"unique_share": 0.05, "is_sampled": False}
    assert "linkable rows (5 % are unique on these columns)" in said["in_clear"]
    assert "linkable rows (5 % are unique on these columns)" in said["statement"]
    assert verify(made.places.out).passed
    assert estimate_file(made.places.out).record.linkability == made.record.linkability


def test_above_5_percent_nothing_is_written_or_charged_unless_it_may_be_linkable(file):
    with file.open("a") as more:
        more.write(f"f,{CANARY + 11},1\n")
    ledger = Ledger(file.parent / "ledger.db", epsilon=5)
    measured = []
    with pytest.raises(InvalidParameterError) as refusal:
        privatize(file, keep=["wage"], ledger=ledger, measured=measured.append)

    assert str(refusal.value) == NOT_FOR_PUBLICATION
    assert str(CANARY)[:5] not in str(vars(refusal.value))
    assert [path.name for path in file.parent.iterdir() if "reports" in path.name] == []
    assert len(ledger.history()) == 1  # its beginning
    assert not measured[0].is_for_publication
    made = privatize(file, keep=["wage"], ledger=ledger, linkable=True)
    assert made.record.linkability.describe(["wage"]).startswith("Not for publication: 5.48 % of the rows")


def test_no_unique_row_is_said_to_link(file):
    made = privatize(file, keep=["hired"])

    assert made.record.linkability == Linkability(0.0)
    assert made.record.in_clear[0] == "hired"
    assert not any(word.startswith("linkable") for word in made.record.in_clear)


def test_rows_that_follow_alone_in_their_file_of_a_folder_link(tmp_path):
    """Each file has one person of each wage: in the folder, who is in which file is in the clear."""
    (tmp_path / "in").mkdir()
    for name in "ab":
        pd.DataFrame({"sex": ["f"] * 30, "wage": range(30)}).to_csv(
            tmp_path / "in" / f"{name}.csv", index=False
        )
    options = {"schema": SCHEMA, "epsilon": 1, "keep": ["wage"]}

    assert (
        privatize_file(tmp_path / "in", tmp_path / "one.csv", **options).record.linkability.unique_share == 0
    )
    with pytest.raises(InvalidParameterError, match="not for publication"):
        privatize_file(tmp_path / "in", tmp_path / "out", **options)
    made = privatize_file(tmp_path / "in", tmp_path / "out", **options, linkable=True)
    for name in "ab":
        said = json.loads(Path(made.places.out, f"{name}.csv.guarantee.json").read_text())
        assert said["linkable"]["unique_share"] == 1.0


@pytest.mark.parametrize("change", [{"linkable": True}, {"keep": ["hired"]}, {"keep": ["hired", "wage"]}])
def test_a_run_with_other_columns_in_the_clear_is_not_taken_up(file, monkeypatch, change):
    """What was drawn for one choice must not be written out under another."""
    options = {"keep": ["wage"], "resume": True}

    def stop(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("evenhand.engine.drawing.Drawing.draw", stop)
        with pytest.raises(KeyboardInterrupt):
            privatize(file, **options)
    with pytest.raises(UnwritableFileError):
        privatize(file, **options | change)
    assert privatize(file, **options).rows == 200


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_record_that_does_not_say_what_links_is_read_and_verified(file, form):
    """Reports of an earlier evenhand cannot be drawn again without a second cost."""
    made = privatize(file, f"reports.{form}")
    terms = made.record.to_dict() | {"format": "evenhand privatized 3"}
    del terms["linkable"]
    if form == "parquet":
        told = {"format": "evenhand privatized 3", "rng": "secure", "guarantee_sha256": hash_terms(terms)}
        table = pq.read_table(made.places.out).replace_schema_metadata(told)
        pq.write_table(table, made.places.out)
    files = {}
    for path in (made.places.out, made.places.schema):
        with path.open("rb") as opened:
            files[path.name] = hash_open_file(opened)
    made.places.record.write_bytes(seal_note(terms, files=files, plan=plan_of(terms), charge=None, key=None))

    assert [check.text for check in verify(made.places.out).checks if not check.passed] == []
    assert estimate_file(made.places.out).record.linkability is None


def test_a_cluster_measures_what_links_and_refuses_it(tmp_path):
    """The rows of all partitions count: a person is unique only if no other partition has their values."""
    parts = [people(60, start=60 * place) for place in range(3)]
    groups = [part.set_column(0, "id", pa.array(["a", "b", "c"] * 20)) for part in parts]
    alone = [
        part.set_column(0, "id", pa.array([f"{place}", *["a"] * 59])) for place, part in enumerate(parts)
    ]
    out = tmp_path / "r.parquet"

    made = run(ToyEngine(groups), out, linkable=False)
    assert made.record.linkability == Linkability(0.0)
    made = run(ToyEngine(alone, tries=2), out, linkable=False, overwrite=True)
    assert made.record.linkability == Linkability(0.0167)
    assert json.loads(made.places.record.read_text())["linkable"]["unique_share"] == 0.0167
    with pytest.raises(
        InvalidParameterError, match=r"'keep' parameter of toy\.privatize .* not for publication"
    ):
        run(ToyEngine(parts), tmp_path / "s.parquet", linkable=False)
    assert not any(path.name.startswith("s.") for path in tmp_path.iterdir())
    assert run(ToyEngine(parts), tmp_path / "s.parquet").record.linkability == Linkability(1.0)


def write_panel(path):
    """Write 60 people with four rows each."""
    rows = [
        {"nr": 7 * who % 61, "sex": "fm"[who % 2], "wage": who * 5 + year}
        for who in range(60)
        for year in range(4)
    ]
    pd.DataFrame(rows).to_csv(path, index=False)
    return path


def test_where_one_person_seems_to_have_several_rows_the_guarantee_is_for_a_row(tmp_path):
    """Four reports of one person tell far more than one of them; nobody said that they are one person's."""
    made = privatize(write_panel(tmp_path / "panel.csv"))

    assert made.guarantee.unit == "one report"
    assert "one person may have several rows, those of one nr" in str(made.guarantee)
    assert "each person sends one report" not in str(made.guarantee)
    assert verify(made.places.out).passed


def test_the_column_of_persons_is_passed_on_only_where_rows_may_link(tmp_path):
    """No row is unique on it where each person has several, and every row links to one person by it."""
    panel = write_panel(tmp_path / "panel.csv")
    with pytest.raises(InvalidParameterError, match="without 'nr', by which every row links to one person"):
        privatize(panel, keep=["nr"])

    assert privatize(panel, keep=["nr"], linkable=True).record.in_clear[0] == "nr"


def test_where_the_schema_says_whose_row_it_is_the_guarantee_is_for_a_row(file):
    made = privatize(file, schema=SCHEMA.with_roles(person="wage"))

    assert made.guarantee.unit == "one report"
    assert "those of one wage" in str(made.guarantee)


def test_where_every_row_is_a_person_the_guarantee_is_for_a_person(file):
    assert privatize(file).guarantee.unit == "one person"


def test_a_person_that_a_schema_declares_counts_on_a_cluster_too(tmp_path):
    parts = [people(60)]
    options = {"schema": TOY_SCHEMA.with_roles(person="id"), "keep": []}

    assert run(ToyEngine(parts), tmp_path / "r.parquet", **options).guarantee.unit == "one report"
    assert run(ToyEngine(parts), tmp_path / "s.parquet", keep=[]).guarantee.unit == "one person"


@pytest.mark.parametrize("role", ["person", "weight"])
def test_a_column_with_a_role_of_its_own_need_not_be_passed_on(file, role):
    """A schema that says whose row it is, or how much it weighs, would be of no use here."""
    made = privatize(file, schema=SCHEMA.with_roles(**{role: "wage"}))

    assert made.places.out.read_text().splitlines()[0] == "sex"
    assert estimate_file(made.places.out).rows == 200
