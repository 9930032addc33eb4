"""School districts for the Title I allotment of fioretto2021."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.datasets.download.parsing import keep_rows, read_rows, write_rows
from evenhand.datasets.entry import Cleaned, read_entry
from evenhand.schema import Column, Domain, Schema

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evenhand.datasets.download.files import Reader

_STUDENTS = "Total Students, All Grades (Excludes AE) [District] 2014-15"
_SAIPE_ROWS = {2015: 13_245, 2016: 13_245, 2017: 13_222, 2018: 13_206, 2019: 13_183, 2020: 13_172}
_COUNT = Domain.integers(0, 100_000_000)
_INDEX = Domain.integers(1, 100_000)


def short_header(raw: bytes) -> bytes:
    """Make our file of the state table: the same rows under short names."""
    _, *rows = read_rows(raw)
    return write_rows([["state", "average_daily_attendance", "net_current_exp_per_ada_title1"], *rows])


def _build(read: Reader, options: Mapping[str, Any]) -> Cleaned:
    if options["version"] == "saipe":
        return _saipe(read, options["year"])
    if options["version"] == "nces":
        return _nces(read, options["least_students"])
    return _districts(read, options["state"])


def _districts(read: Reader, state: str) -> Cleaned:
    raw = read.columns(DISTRICTS, integers=("ID", "exp_index", "group"), numbers=("num_students",))
    columns = {
        "district": raw["Agency Name"],
        "state": raw["State"],
        "county": raw["County"],
        "num_students": raw["num_students"].astype(np.int64),
        "exp_index": raw["exp_index"],
    }
    steps: tuple[str, ...] = (
        "upstream: rows without a student count and districts without a student dropped",
    )
    if state != "all":
        columns = keep_rows(columns, columns["state"] == state)
        steps = (*steps, f"only {state}")
    return Cleaned(
        columns=columns, schema=_schema(), rows=16_641 if state == "all" else 972, cleaning=steps, note=_NOTE
    )


def _nces(read: Reader, least: int) -> Cleaned:
    raw = read.columns(NCES)
    counted = np.array([cell.isdecimal() for cell in raw[_STUDENTS]])
    raw = keep_rows(raw, counted)
    students = raw[_STUDENTS].astype(np.int64)
    enough = students >= least
    names = np.array(
        [name.strip().upper() for name in raw["State Name [District] Latest available year"]], dtype=object
    )
    columns = {
        "district": raw["Agency Name"],
        "state": names,
        "county": raw["County Name [District] 2014-15"],
        "num_students": students,
        "exp_index": _expenditure(read, names),
    }
    steps = (
        "rows without a student count dropped (18,620 -> 17,025)",
        f"districts with at least {least} students kept",
        "exp_index joined by state",
    )
    rows = 16_641 if least == 1 else 17_025 if least == 0 else int(enough.sum())
    return Cleaned(
        columns=keep_rows(columns, enough), schema=_schema(), rows=rows, cleaning=steps, note=_NOTE
    )


def _saipe(read: Reader, year: int) -> Cleaned:
    counts = ("pop_total", "pop_5_17", "poverty_5_17")
    raw = read.columns(SAIPE, integers=("year", *counts))
    raw = keep_rows(raw, (raw["year"] == year) & (raw["state"] != "PR"))
    names = np.array([ENTRY.codes["states"][code] for code in raw["state"]], dtype=object)
    columns = {
        "district": raw["district"],
        "state": names,
        "district_id": raw["district_id"],
        **{name: raw[name] for name in counts},
        "exp_index": _expenditure(read, names),
    }
    schema = Schema(
        (
            _state_column(),
            *(Column(name, _COUNT) for name in counts),
            Column("exp_index", _INDEX),
        )
    )
    steps = (
        f"the estimates of {year}",
        "Puerto Rico left out: the table of expenditures does not have it",
        "exp_index joined by state; it is that of 2013-14 for every year",
    )
    note = (
        "Counts are model estimates of the Census Bureau. poverty_5_17 is the count that the statute names."
    )
    return Cleaned(columns=columns, schema=schema, rows=_SAIPE_ROWS[year], cleaning=steps, note=note)


def _expenditure(read: Reader, states: Any) -> Any:
    table = read.columns(EXPENDITURE, integers=("net_current_exp_per_ada_title1",))
    by_state = dict(zip(table["state"], table["net_current_exp_per_ada_title1"], strict=True))
    return np.array([by_state[state] for state in states], dtype=np.int64)


def _state_column() -> Column:
    return Column("state", Domain.categorical(sorted(ENTRY.codes["states"].values())))


def _schema() -> Schema:
    return Schema((_state_column(), Column("num_students", _COUNT), Column("exp_index", _INDEX)))


_NOTE = (
    "num_students is x and exp_index is a in the allotment x a / sum(x a). It counts students, not "
    "children in poverty; version='saipe' has those."
)

ENTRY = read_entry("title1", build=_build, converters=(short_header,))
DISTRICTS, NCES, EXPENDITURE, SAIPE = ENTRY.files
