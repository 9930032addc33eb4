"""Every file says which form it has; a newer one is refused with the way on, and the docs say what is now."""

import gzip
import hashlib
import json
import re
import sqlite3
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evenhand._formats import canonical_json, format_number, parse_json, version_fault
from evenhand.app.state.record import StudyRecord
from evenhand.collect import GRR, Reports
from evenhand.engine import estimate_file, privatize_file, verify
from evenhand.errors import EvenhandError, LedgerError
from evenhand.papers.packed import load_cells
from evenhand.papers.trials import Trials, load_records, pack_records
from evenhand.privacy import Guarantee
from evenhand.privacy.ledger import Ledger, export_ledger, import_ledger, read_entries
from evenhand.privacy.ledger.chain import Chain
from evenhand.release import Histogram, Laplace
from evenhand.schema import Column, Domain, Schema
from evenhand.study import Plan
from evenhand.study.store.file import APPLICATION
from evenhand.study.store.store import Store

SCHEMA = Schema([Column("sex", Domain.categorical(["f", "m"]))], sensitive="sex")
PEOPLE = pd.DataFrame({"sex": ["f", "m", "f"]})


def _replace(path, old, new):
    text = path.read_bytes()
    assert old.encode() in text
    path.write_bytes(text.replace(old.encode(), new.encode(), 1))


def schema(folder, number):
    (folder / "schema.toml").write_text(f"format = {number}\nunheard_of = 1\n")
    return lambda: Schema.load(folder / "schema.toml")


def plan(folder, number):
    (folder / "plan.toml").write_text(f"format = {number}\nunheard_of = 1\n")
    return lambda: Plan.load(folder / "plan.toml")


def release(folder, number):
    Laplace(epsilon=1, unit="replace one").release(Histogram.count(PEOPLE, SCHEMA)).write(folder / "t.csv")
    _replace(folder / "t.csv.json", "evenhand release 2", f"evenhand release {number}")
    return lambda: _raise_fault(verify(folder / "t.csv"))


def _raise_fault(result):
    raise EvenhandError(next(check.text for check in result.checks if not check.passed))


def privatized(folder, number):
    PEOPLE.to_csv(folder / "people.csv", index=False)
    privatize_file(folder / "people.csv", folder / "r.csv", schema=SCHEMA, epsilon=1)
    _replace(folder / "r.csv.guarantee.json", "evenhand privatized 4", f"evenhand privatized {number}")
    return lambda: estimate_file(folder / "r.csv")


def folder_of_reports(folder, number):
    (folder / "in").mkdir()
    for name in ("a.csv", "b.csv"):
        PEOPLE.to_csv(folder / "in" / name, index=False)
    privatize_file(folder / "in", folder / "out", schema=SCHEMA, epsilon=1)
    _replace(folder / "out" / "folder.guarantee.json", "evenhand folder 1", f"evenhand folder {number}")
    return lambda: _raise_fault(verify(folder / "out"))


def reports(folder, number):
    del folder
    text = GRR(k=3, epsilon=1).privatize([0, 1]).to_json()
    return lambda: Reports.from_json(text.replace("evenhand reports 1", f"evenhand reports {number}"))


def ledger(folder, number):
    made = Ledger(folder / "ledger.db", epsilon=1)
    with sqlite3.connect(made.path) as connection:
        connection.execute(f"PRAGMA user_version = {number}")
    connection.close()
    return lambda: Ledger(folder / "ledger.db")


def anchor(folder, number):
    made = Ledger(folder / "ledger.db", epsilon=1)
    _replace(made.anchor, '"format": 1', f'"format": {number}')
    return lambda: Ledger(folder / "ledger.db")


def export(folder, number):
    export_ledger(Ledger(folder / "ledger.db", epsilon=1), folder / "ledger.json")
    _replace(folder / "ledger.json", "evenhand ledger 1", f"evenhand ledger {number}")
    return lambda: import_ledger(folder / "ledger.json", folder / "again.db")


def study(folder, number):
    connection = sqlite3.connect(folder / "study.db")
    connection.execute("CREATE TABLE meta (key TEXT)")
    connection.execute(f"PRAGMA application_id = {APPLICATION}")
    connection.execute(f"PRAGMA user_version = {number}")
    connection.close()
    return lambda: Store.open(folder)


def cells(folder, number):
    known = json.dumps({"format": number, "parts": {}, "versions": []})
    table = pa.table({"part": [0]}).replace_schema_metadata({"evenhand": known})
    pq.write_table(table, folder / "cells.parquet")
    return lambda: load_cells(folder / "cells.parquet")


def records(folder, number):
    pack_records(folder / "trials.json.gz", "trials", {1: {"x": 1}})
    whole = json.loads(gzip.decompress((folder / "trials.json.gz").read_bytes())) | {"format": number}
    (folder / "trials.json.gz").write_bytes(gzip.compress(json.dumps(whole).encode()))
    return lambda: load_records(folder / "trials.json.gz", "trials")


def trial(folder, number):
    whole = {"format": number, "name": "x", "number": 0, "record": {}}
    (folder / "00.json").write_text(json.dumps(whole))
    return lambda: Trials("x", 1, dict).load_records(folder)


def workbench_study(folder, number):
    del folder
    text = StudyRecord(id="0123456789abcdef", name="x", created=0.0).to_json()
    return lambda: StudyRecord.from_json(text.replace("study 1", f"study {number}"))


READERS = {
    "schema,": schema,
    "plan,": plan,
    "note of a released table": release,
    "guarantee of privatised files": privatized,
    "note of a folder of reports": folder_of_reports,
    "reports of": reports,
    "ledger,": ledger,
    "anchor,": anchor,
    "export of a ledger": export,
    "study,": study,
    "record of a study of the workbench": workbench_study,
    "finished cells": cells,
    "finished records": records,
    "trial of": trial,
}
"""What writes a file of another number and reads it, by the beginning of its row in the docs."""


def documented():
    """Return the number of each format, by the first words of its row."""
    page = Path(__file__).parents[2] / "docs" / "formats.md"
    rows = re.findall(r"^\| (.+?) \| .+? \| (\d+) \| .+ \|$", page.read_text("utf-8"), re.MULTILINE)
    return {name: int(number) for name, number in rows}


@pytest.mark.parametrize("name", READERS)
def test_a_newer_file_is_refused_with_the_way_on(tmp_path, name):
    """It may mean something else, and half of it must not be used."""
    [now] = [number for row, number in documented().items() if row.startswith(name)]
    with pytest.raises(EvenhandError) as caught:
        READERS[name](tmp_path, now + 1)()

    assert f"has the format {now + 1}" in str(caught.value)
    assert "Hint: install a newer evenhand." in str(caught.value)
    assert str(tmp_path) not in str(caught.value)


@pytest.mark.parametrize("name", READERS)
def test_an_older_file_is_read_or_refused_as_the_docs_say(tmp_path, name):
    [now] = [number for row, number in documented().items() if row.startswith(name)]
    with pytest.raises(EvenhandError) as caught:
        READERS[name](tmp_path, min(now - 1, 1))()

    assert "Hint: read it with the evenhand that wrote it" in str(
        caught.value
    ) or "run the study again" in str(caught.value)


def test_every_row_of_the_docs_is_tried():
    assert len(documented()) == len(READERS)


def test_reports_of_the_form_before_are_still_estimated_from(tmp_path):
    """Drawing them again would cost the people in them a second time."""
    for ending in ("csv", "parquet"):
        PEOPLE.to_csv(tmp_path / "people.csv", index=False)
        privatize_file(tmp_path / "people.csv", tmp_path / f"r.{ending}", schema=SCHEMA, epsilon=1)
        path = tmp_path / f"r.{ending}.guarantee.json"
        evidence = {"files", "plan_sha256", "ledger_entry", "signed_by", "note_sha256", "linkable"}
        old = {name: value for name, value in json.loads(path.read_text()).items() if name not in evidence}
        text = json.dumps(old | {"format": "evenhand privatized 2"})
        path.write_text(text)
        if ending == "parquet":
            said = {"guarantee_sha256": hashlib.sha256(text.encode()).hexdigest()}
            table = pq.read_table(tmp_path / "r.parquet").replace_schema_metadata(said)
            pq.write_table(table, tmp_path / "r.parquet")

        assert estimate_file(tmp_path / f"r.{ending}").record.rows == 3


def test_the_entries_of_a_ledger_say_their_form_too(tmp_path):
    """An export holds entries that another evenhand wrote, whatever the form of the export itself."""
    made = Ledger(tmp_path / "ledger.db", epsilon=1)
    made.spend(Guarantee.pure("1/2", unit="replace one", trust="central"), purpose="x")
    for number, fault in ((2, "install a newer evenhand"), (None, "has no format number")):
        chain = Chain()
        for entry in made.history():
            terms = dict(entry.terms) | ({"format": number} if entry.number == 1 else {})
            chain = Chain((*chain.entries, chain.next_entry(terms)))
        rows = [[entry.number, entry.text, entry.hash] for entry in chain.entries]
        (tmp_path / "e.json").write_text(json.dumps({"format": "evenhand ledger 1", "entries": rows}))

        with pytest.raises(LedgerError, match=fault):
            read_entries(tmp_path / "e.json")


# --- the helpers ------------------------------------------------------------------------------------


NO_FORMS = [None, 2, "x", "evenhand release", "evenhand releases 2", "Evenhand release 2"]
NO_NUMBERS = ["", "02", "-1", "2.0", " 2", "²", "99999999999"]


@pytest.mark.parametrize("form", [*NO_FORMS, *(f"evenhand release {text}" for text in NO_NUMBERS)])
def test_what_is_no_form_of_ours_has_no_number(form):
    assert format_number(form, "evenhand release") is None


def test_a_writer_is_shown_only_if_it_looks_like_a_version():
    """A file can say anything, and a message goes to a terminal."""
    assert "written by evenhand 1.2.dev3+g1" in version_fault(3, newest=2, writer="1.2.dev3+g1")
    for odd in (None, 3, "", "1" * 41, "1\n2", "\x1b[31m", "é", "1 2"):
        assert "written" not in version_fault(3, newest=2, writer=odd)
    for odd in (None, "2", 2.0, True, -1):
        assert "has no format number" in version_fault(odd, newest=2)


def test_one_value_has_one_text_and_nothing_is_said_twice():
    assert canonical_json({"b": [1, "é"], "a": None}) == canonical_json({"a": None, "b": [1, "é"]})
    for text in ('{"a": 1, "a": 1}', "NaN", "-Infinity", "[" * 100_000, "{", '[{"b": {"a": 1, "a": 2}}]'):
        with pytest.raises(ValueError):  # noqa: PT011 - callers say it in their own words
            parse_json(text)
    with pytest.raises(ValueError):  # noqa: PT011 - as above
        canonical_json({"a": float("nan")})
