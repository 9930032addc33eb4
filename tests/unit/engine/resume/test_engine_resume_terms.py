"""What a run that is taken up must have in common with its beginning: all that decides what a row means."""

import inspect
import json
import os
from dataclasses import fields

import openpyxl
import pytest

from evenhand.collect import GroupOutcomes
from evenhand.engine import privatize_file
from evenhand.engine.unfinished import Spool, describe_input
from evenhand.errors import UnwritableFileError
from evenhand.privacy.ledger import Ledger
from evenhand.privacy.signing.keys import SigningKey
from evenhand.schema import Column, Domain, Schema
from evenhand.table import FileFormat
from evenhand.table.limits import Limits

WAGES = "1.500", "2.000", "2.500", "1.000"
SEX = Column("sex", Domain.categorical(["f", "m"]))


def schema_with(edges=(0, 3, 3000), *, labels=(), roles=(), **rules):
    """Return a schema of amounts, which the decimal mark decides about, and of a group."""
    wage = Column("wage", Domain.binned(edges), **{"outside": "other", **rules})
    sex = Column("sex", SEX.domain, value_labels=dict(labels))
    return Schema([wage, sex], sensitive="wage", **dict(roles))


OPTIONS = {"schema": schema_with(), "epsilon": 3, "batch_rows": 40, "workers": 1, "keep": ()}
CHANGES = [
    ({"file_format": FileFormat(decimal=",")}, "decimal"),
    ({"file_format": FileFormat(encoding="latin-1")}, "encoding"),
    ({"file_format": FileFormat(delimiter=";")}, "delimiter"),
    ({"schema": schema_with((0, 4, 3000))}, "schema"),
    ({"schema": schema_with(nulls="other")}, "schema"),
    ({"schema": schema_with(outside="error")}, "schema"),
    ({"schema": schema_with(inferred=True)}, "schema"),
    ({"schema": schema_with(labels={"f": "women"})}, "schema"),
    ({"schema": schema_with(roles={"weight": "w"})}, "schema"),
    ({"schema": schema_with(roles={"person": "p", "rows_per_person": 2})}, "schema"),
    ({"schema": schema_with(roles={"target": "sex", "positive": "f"})}, "schema"),
    ({"epsilon": 2}, "epsilon"),
    ({"protocol": "oue"}, "protocol or split"),
    ({"protocol": GroupOutcomes.public([1, 1, 1], [0.1, 0.2, 0.3], source="b")}, "protocol or split"),
    ({"split": "uniform"}, "protocol or split"),
    ({"columns": ("wage", "sex")}, "columns"),
    ({"strategy": "combined"}, "strategy"),
    ({"keep": ("sex",)}, "keep"),
    ({"linkable": True}, "linkable"),
    ({"keep_order": True}, "keep_order"),
    ({"batch_rows": 41}, "batch_rows"),
    ({"ledger": "l.db"}, "ledger"),
    ({"purpose": "something else"}, "purpose"),
    ({"sign": "a key"}, "sign"),
]
FREE = {
    "path",
    "out",
    "workers",
    "progress",
    "solving",
    "overwrite",
    "limits",
    "resume",
    "simulate",
    "measured",
}
"""Parameters that no row depends on, and 'path', whose files are compared."""


def write_rows(folder, header, rows):
    """Return a text file of these rows."""
    file = folder / "people.csv"
    file.write_text("\n".join([header, *rows]))
    return file


def begin(source, out, monkeypatch, **options):
    """Begin a run, and stop it after its second unit."""
    real, made = Spool.add, []

    def stopping(*given):
        real(*given)
        made.append(given)
        if len(made) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(Spool, "add", stopping)
    with pytest.raises(KeyboardInterrupt):
        privatize_file(source, out, resume=True, **OPTIONS | options)
    monkeypatch.setattr(Spool, "add", real)


def resolve(changed, folder):
    """Return changes with a real ledger and key in the place of their names."""
    if "ledger" in changed:
        (folder / "apart").mkdir()
        return {"ledger": Ledger(folder / "apart" / "l.db", epsilon=10, unit="one person")}
    return {"sign": SigningKey.new()} if "sign" in changed else changed


def own_start(changed, name):
    """Return with what a run begins, so that the change can be made to it and changes nothing else."""
    if name in vars(FileFormat()):
        return {}  # a file of one column, which every delimiter can read
    if "split" in changed or "strategy" in changed:
        return {"columns": ("wage", "sex")}
    if isinstance(changed.get("protocol"), GroupOutcomes):
        return {"protocol": GroupOutcomes.public([1, 1, 1], [0.1, 0.2, 0.3], source="a")}
    return {}


@pytest.mark.parametrize(("changed", "name"), CHANGES, ids=[name for _, name in CHANGES])
def test_a_run_with_another_reading_or_setting_is_refused_by_name(tmp_path, monkeypatch, changed, name):
    """If this is false, two measurements stand in one file under one guarantee, with one key for both."""
    out, start = tmp_path / "out.csv", OPTIONS | own_start(changed, name)
    ending = "" if name in vars(FileFormat()) else ",f"
    data = write_rows(tmp_path, "wage,sex" if ending else "wage", [f"{wage}{ending}" for wage in WAGES] * 50)
    begin(data, out, monkeypatch, **start)

    with pytest.raises(UnwritableFileError, match=rf"differs in .*\b{name}\b") as refused:
        privatize_file(data, out, resume=True, **start | resolve(changed, tmp_path))
    assert str(tmp_path) not in str(refused.value)
    assert privatize_file(data, out, resume=True, **start).rows == 200


def test_every_part_of_how_a_file_is_written_is_a_term(tmp_path, monkeypatch):
    """If this is false, a part that is added to FileFormat can change between two halves of a run."""
    data = write_rows(tmp_path, "wage", ["1.500"] * 100)
    begin(data, tmp_path / "out.csv", monkeypatch)
    state = json.loads((tmp_path / ".out.csv.evenhand.unfinished" / "state.json").read_text())

    assert {part.name for part in fields(FileFormat)} <= state["terms"].keys()


def test_every_parameter_is_a_term_or_is_known_to_change_no_row():
    """If this is false, somebody added a parameter and forgot runs that are taken up."""
    named = {name for changed, _ in CHANGES for name in changed}

    assert named | FREE == set(inspect.signature(privatize_file).parameters)
    assert not named & FREE


def test_another_sheet_is_refused_by_name(tmp_path, monkeypatch):
    book = openpyxl.Workbook()
    for sheet in (book.active, book.create_sheet()):
        for value in ("wage", *[1.5] * 100):
            sheet.append([value])
    book.save(tmp_path / "people.xlsx")
    first, second = ({"file_format": FileFormat(sheet=sheet)} for sheet in ("1", "2"))
    begin(tmp_path / "people.xlsx", tmp_path / "out.csv", monkeypatch, **first)

    with pytest.raises(UnwritableFileError, match=r"differs in sheet\."):
        privatize_file(tmp_path / "people.xlsx", tmp_path / "out.csv", resume=True, **OPTIONS | second)


def test_the_format_that_was_found_out_may_be_named(tmp_path, monkeypatch):
    """Whoever reads a notice of what was assumed may type it: that is the same run."""
    data = write_rows(tmp_path, "wage;sex", ["1.500;f"] * 100)
    begin(data, tmp_path / "out.csv", monkeypatch)
    typed = {"file_format": FileFormat(delimiter=";", encoding="utf-8", decimal="."), "limits": Limits()}

    assert privatize_file(data, tmp_path / "out.csv", resume=True, **OPTIONS | typed).rows == 100


def test_a_run_of_an_older_version_is_refused(tmp_path, monkeypatch):
    """It kept one hash of all terms, by which no difference has a name."""
    data = write_rows(tmp_path, "wage,sex", ["1.500,f"] * 100)
    begin(data, tmp_path / "out.csv", monkeypatch)
    state = tmp_path / ".out.csv.evenhand.unfinished" / "state.json"
    state.write_text(json.dumps(json.loads(state.read_text()) | {"terms": "0" * 64}))

    with pytest.raises(UnwritableFileError, match=r"differs in .*version"):
        privatize_file(data, tmp_path / "out.csv", resume=True, **OPTIONS)


@pytest.mark.parametrize("place", [0, 100_000, 199_999])
def test_every_byte_of_a_file_is_looked_at(tmp_path, place):
    """A value in the middle that was changed, with the old time put back, gave another table the same key."""
    file = tmp_path / "a"
    told = []
    for byte in (b"a", b"b"):
        file.write_bytes(b"a" * place + byte + b"a" * (199_999 - place))
        os.utime(file, ns=(1, 1))
        told.append(describe_input([file]))

    assert told[0] != told[1]
