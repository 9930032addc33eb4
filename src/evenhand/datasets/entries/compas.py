"""COMPAS risk scores of Broward County, as published by ProPublica and as the papers cut them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.datasets.download.parsing import keep_rows, read_rows, write_rows
from evenhand.datasets.entry import Cleaned, read_entry

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evenhand.datasets.download.files import Reader

_IDENTIFIERS = ("name", "first", "last", "dob", "c_case_number", "r_case_number", "vr_case_number")
_DAYS = ("days_b_screening_arrest", "c_days_from_compas", "r_days_from_arrest")
_INTEGERS = (
    "id", "age", "juv_fel_count", "decile_score", "juv_misd_count", "juv_other_count", "priors_count",
    "is_recid", "is_violent_recid", "decile_score.1", "v_decile_score", "priors_count.1", "start", "end",
    "event", "two_year_recid",
)  # fmt: skip
_WORSE = "which nobody hopes for: a group with more positives is worse off."
_SIGN = "The group with code 1 in {}, Caucasian, is declared privileged so that gaps keep its sign."


def without_identifiers(raw: bytes) -> bytes:
    """Make our file of ProPublica's: names, birth dates and case numbers gone, repeated columns marked."""
    header, *rows = read_rows(raw)
    places = [place for place, name in enumerate(header) if name not in _IDENTIFIERS]
    names = [f"{header[place]}.1" if header[place] in header[:place] else header[place] for place in places]
    days = {header.index(name) for name in _DAYS}
    return write_rows([names, *([_day(row[place], place in days) for place in places] for row in rows)])


def _day(cell: str, is_day: bool) -> str:  # noqa: FBT001 - one of two ways to write the cell
    return f"{float(cell)}" if is_day and cell else cell


def _build(read: Reader, options: Mapping[str, Any]) -> Cleaned:
    raw = read.columns(FILE, integers=_INTEGERS, numbers=_DAYS)
    if options["version"] == "propublica":
        return _propublica(raw)
    raw = keep_rows(raw, np.isin(raw["race"], ("African-American", "Caucasian")))
    if options["version"] == "fair_projection":
        return _fair_projection(raw)
    return _makhlouf(raw, rule=options["filter"], threshold=options["threshold"])


def _makhlouf(raw: dict[str, Any], *, rule: str, threshold: int) -> Cleaned:
    delay = raw["days_b_screening_arrest"]
    present = ~np.isnan(delay)
    within = np.abs(np.where(present, delay, np.inf)) <= 30
    raw = keep_rows(raw, present if rule == "or" else within)
    columns = {
        "sex": raw["sex"],
        "race": raw["race"],
        "age_cat": raw["age_cat"],
        "more_than_2_priors": (raw["priors_count"] > 2).astype(np.int64),
        "high_violence_score": (raw["v_decile_score"] > threshold).astype(np.int64),
    }
    filtered = {
        "or": "only rows with a screening delay, which is all that 'at most 30 OR at least -30' asks (5,915)",
        "and": "only rows screened within 30 days of the arrest, before or after (5,278)",
    }[rule]
    steps = (
        "only rows marked African-American or Caucasian",
        filtered,
        f"high_violence_score is 1 where the violence decile score is above {threshold}",
    )
    note = f"A positive label is a high risk score, {_WORSE} {_SIGN.format('makhlouf2024')}"
    rows = 5_915 if rule == "or" else 5_278
    return Cleaned(columns=columns, schema=ENTRY.schema("makhlouf2024"), rows=rows, cleaning=steps, note=note)


def _fair_projection(raw: dict[str, Any]) -> Cleaned:
    delay = np.where(np.isnan(raw["days_b_screening_arrest"]), np.inf, raw["days_b_screening_arrest"])
    raw = keep_rows(raw, (np.abs(delay) <= 30) & (raw["is_recid"] != -1) & (raw["c_charge_degree"] != "O"))
    stay = raw["c_jail_out"].astype("datetime64[s]") - raw["c_jail_in"].astype("datetime64[s]")
    columns = {
        "age": raw["age"],
        "c_charge_degree": raw["c_charge_degree"],
        "race": raw["race"],
        "sex": raw["sex"],
        "priors_count": raw["priors_count"],
        "length_of_stay": stay // np.timedelta64(1, "D"),
        "is_recid": raw["is_recid"],
    }
    steps = (
        "only rows marked African-American or Caucasian",
        (
            "only rows screened within 30 days of the arrest, with a recidivism record, without ordinary "
            "traffic offences"
        ),
        "length_of_stay is the whole days from entering to leaving jail, rounded down; -1 occurs",
    )
    note = f"A positive label is a new charge, {_WORSE} {_SIGN.format('ghoukasian2024')}"
    return Cleaned(
        columns=columns, schema=ENTRY.schema("fair_projection"), rows=5_278, cleaning=steps, note=note
    )


def _propublica(raw: dict[str, Any]) -> Cleaned:
    steps = ("names, birth dates and case numbers removed; repeated columns marked '.1'",)
    note = (
        f"A positive label is a new charge within two years, {_WORSE} Caucasian is declared privileged as "
        "in the other versions. Dates, charges in words and other columns without a code list are in the "
        "frame but not in the schema."
    )
    return Cleaned(columns=raw, schema=ENTRY.schema("propublica"), rows=7_214, cleaning=steps, note=note)


ENTRY = read_entry("compas", build=_build, converters=(without_identifiers,))
(FILE,) = ENTRY.files
