"""School districts for the Title I allotment of fioretto2021."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.datasets.download.files import Download, SourceFile
from evenhand.datasets.download.parsing import (
    as_it_stands,
    github,
    github_page,
    keep_rows,
    line_feeds,
    read_rows,
    write_rows,
)
from evenhand.datasets.entry import Cleaned, Entry, Option
from evenhand.schema import Column, Domain, Schema

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evenhand.datasets.download.files import Reader

__all__ = ["ENTRY", "STATES", "short_header"]

# Postal code and name; the fifty states and the District of Columbia.
STATES = {
    "AL": "ALABAMA", "AK": "ALASKA", "AZ": "ARIZONA", "AR": "ARKANSAS", "CA": "CALIFORNIA",
    "CO": "COLORADO", "CT": "CONNECTICUT", "DE": "DELAWARE", "DC": "DISTRICT OF COLUMBIA", "FL": "FLORIDA",
    "GA": "GEORGIA", "HI": "HAWAII", "ID": "IDAHO", "IL": "ILLINOIS", "IN": "INDIANA", "IA": "IOWA",
    "KS": "KANSAS", "KY": "KENTUCKY", "LA": "LOUISIANA", "ME": "MAINE", "MD": "MARYLAND",
    "MA": "MASSACHUSETTS", "MI": "MICHIGAN", "MN": "MINNESOTA", "MS": "MISSISSIPPI", "MO": "MISSOURI",
    "MT": "MONTANA", "NE": "NEBRASKA", "NV": "NEVADA", "NH": "NEW HAMPSHIRE", "NJ": "NEW JERSEY",
    "NM": "NEW MEXICO", "NY": "NEW YORK", "NC": "NORTH CAROLINA", "ND": "NORTH DAKOTA", "OH": "OHIO",
    "OK": "OKLAHOMA", "OR": "OREGON", "PA": "PENNSYLVANIA", "RI": "RHODE ISLAND", "SC": "SOUTH CAROLINA",
    "SD": "SOUTH DAKOTA", "TN": "TENNESSEE", "TX": "TEXAS", "UT": "UTAH", "VT": "VERMONT", "VA": "VIRGINIA",
    "WA": "WASHINGTON", "WV": "WEST VIRGINIA", "WI": "WISCONSIN", "WY": "WYOMING",
}  # fmt: skip


_REPOSITORY = "pranav-putta/titlei_fund_allocation"
_COMMIT = "78b139f19154835451639cd9fccfd8ff2698d6f3"
_FOLDER = "fund_alloc/datasets/fund_allocation"
_STUDENTS = "Total Students, All Grades (Excludes AE) [District] 2014-15"
_SAIPE_ROWS = {2015: 13_245, 2016: 13_245, 2017: 13_222, 2018: 13_206, 2019: 13_183, 2020: 13_172}
_COUNT = Domain.integers(0, 100_000_000)
_INDEX = Domain.integers(1, 100_000)


def short_header(raw: bytes) -> bytes:
    """Make our file of the state table: the same rows under short names."""
    _, *rows = read_rows(raw)
    return write_rows([["state", "average_daily_attendance", "net_current_exp_per_ada_title1"], *rows])


def _file(stem: str, sha256: str, size: int, path: str, convert: Any) -> SourceFile:
    return SourceFile(
        stem=stem,
        sha256=sha256,
        size=size,
        source=f"National Center for Education Statistics, through {_REPOSITORY} on GitHub",
        licence="the tables are in the US public domain; not stated for the repository",
        page=github_page(_REPOSITORY),
        download=Download(urls=(github(_REPOSITORY, _COMMIT, f"{_FOLDER}/{path}"),), convert=convert),
    )


DISTRICTS = _file(
    "title1_districts_fioretto2021",
    "d0442c7e57adcf27973e156ba43b463f8dcfdc6f1974ef3d6ed60201e66194ce",
    1_697_438,
    "full_data.csv",
    as_it_stands,
)
NCES = _file(
    "nces_elsi_districts_2014_15_raw",
    "2e75087fb83c16928cb4bfad7d5ec2e71d03ad3ad516dda1a1d85ee88c0ca1b7",
    4_060_125,
    "school_districts_info.csv",
    line_feeds,
)
EXPENDITURE = _file(
    "nces_state_ppe_2013_14",
    "943657a04b045ace0836c1ba5e8b1fec42c11a95051414355caa1dea5d0b5ecb",
    1_206,
    "Title_I_SPPE_Data.csv",
    short_header,
)
SAIPE = SourceFile(
    stem="saipe_school_districts_2015_2020",
    sha256="3754d1edabe49c90282b19bf3327b5a6a546f23494f1454f261754398ef02dcd",
    size=5_016_742,
    source="US Census Bureau, Small Area Income and Poverty Estimates, six yearly tables put together",
    licence="US public domain",
    page="https://www.census.gov/programs-surveys/saipe/data/datasets.html",
    by_hand="the yearly tables there were put together by hand; get the very file on record.",
)


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
    names = np.array([STATES[code] for code in raw["state"]], dtype=object)
    columns = {
        "district": raw["district"],
        "state": names,
        "district_id": raw["district_id"],
        **{name: raw[name] for name in counts},
        "exp_index": _expenditure(read, names),
    }
    schema = Schema(
        (
            Column("state", _STATE),
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


_STATE = Domain.categorical(sorted(STATES.values()))


def _schema() -> Schema:
    return Schema((Column("state", _STATE), Column("num_students", _COUNT), Column("exp_index", _INDEX)))


_NOTE = (
    "num_students is x and exp_index is a in the allotment x a / sum(x a). It counts students, not "
    "children in poverty; version='saipe' has those."
)

ENTRY = Entry(
    about=(
        "School districts with their size and the state's expenditure per pupil, which weighs their share "
        "of money."
    ),
    citation=(
        "National Center for Education Statistics; Census Bureau, Small Area Income and Poverty Estimates; "
        "used as in fioretto2021"
    ),
    options=(
        Option(
            name="version",
            default="districts",
            choices=("districts", "nces", "saipe"),
            meaning="The cleaned table, the same made from the raw table, or poverty counts.",
        ),
        Option(
            name="state",
            default="all",
            choices=("all", "NEW YORK"),
            meaning="All states, or the one in the figures of fioretto2021.",
            only_with=("version", ("districts",)),
        ),
        Option(
            name="least_students",
            default=1,
            high=1_000_000,
            meaning="Fewest students of a district that is kept.",
            only_with=("version", ("nces",)),
        ),
        Option(
            name="year",
            default=2019,
            choices=tuple(_SAIPE_ROWS),
            meaning="Year of the poverty estimates.",
            only_with=("version", ("saipe",)),
        ),
    ),
    build=_build,
    files=(DISTRICTS, NCES, EXPENDITURE, SAIPE),
    departures=(
        (
            "fioretto2021 reports 16,441 districts; the same steps on the raw table give 16,641, probably "
            "a slip of a digit."
        ),
        (
            "fioretto2021 speaks of children in necessitous families; the table it describes counts all "
            "students."
        ),
        "fioretto2021 does not give its weights; the state's expenditure per pupil is taken.",
    ),
)
