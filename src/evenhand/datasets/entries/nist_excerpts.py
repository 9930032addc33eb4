"""NIST Diverse Community Excerpts 2019: survey rows of selected areas, as used by zhu2023."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.datasets.entry import Cleaned, read_entry
from evenhand.schema import Column, Domain, Schema

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evenhand.datasets.download.files import Reader

_ROWS = {"ma": 7_634, "tx": 9_276, "national": 27_253}
_NUMBERS = ("AGEP", "PWGTP", "WGTP")
_INCOME, _AGES = "INCOME_ABOVE_50000", "AGE_BRACKET"
_BRACKETS = ("0-19", "20-39", "40-59", "60-79", "80-99")


def _codes(first: int, last: int, *, missing: bool = False) -> Domain:
    """Return the codes of the data dictionary as texts, with N for not applicable if it has that."""
    texts = [str(code) for code in range(first, last + 1)]
    return Domain.categorical([*texts, "N"] if missing else texts)


_DOMAINS = {
    "AGEP": Domain.integers(0, 99),
    "SEX": _codes(1, 2),
    "MSP": _codes(1, 6, missing=True),
    "HISP": _codes(0, 4),
    "RAC1P": _codes(1, 9),
    "NOC": _codes(0, 19, missing=True),
    "NPF": _codes(2, 20, missing=True),
    "HOUSING_TYPE": _codes(1, 3),
    "OWN_RENT": _codes(0, 2),
    "INDP_CAT": _codes(0, 18, missing=True),
    "EDU": _codes(1, 12, missing=True),
    "PINCP_DECILE": _codes(0, 9, missing=True),
    "POVPIP": _codes(0, 501, missing=True),
    "DVET": _codes(1, 6, missing=True),
    "DREM": _codes(1, 2, missing=True),
    "DPHY": _codes(1, 2, missing=True),
    "DEYE": _codes(1, 2),
    "DEAR": _codes(1, 2),
    "PWGTP": Domain.integers(1, 9_999),
    "WGTP": Domain.integers(0, 9_999),
    _INCOME: Domain.integers(0, 1),
    _AGES: Domain.categorical(_BRACKETS, ordered=True),
}


def _build(read: Reader, options: Mapping[str, Any]) -> Cleaned:
    part = options["part"]
    columns = read.columns(FILES[part], integers=_NUMBERS, numbers=("DENSITY",))
    known = columns["PINCP"] != "N"
    income = np.full(len(known), np.nan)
    income[known] = columns["PINCP"][known].astype(np.float64)
    columns["PINCP"] = income
    steps = ["codes kept as text, N meaning not applicable; PINCP is a number, missing under 15 years of age"]
    extra = {}
    if options["histogram"]:
        extra[_INCOME] = (np.where(known, income, 0) > 50_000).astype(np.int64)
        steps.append(f"{_INCOME} is 1 where PINCP is above 50,000 dollars, else 0, under 15 years of age too")
    if options["age_brackets"]:
        extra[_AGES] = np.array(_BRACKETS, dtype=object)[columns["AGEP"] // 20]
        steps.append(f"{_AGES} is AGEP in five brackets of 20 years")
    columns |= extra
    schema = Schema(
        (
            Column("PUMA", Domain.categorical(ENTRY.codes["pumas"][part])),
            *(Column(name, _DOMAINS[name]) for name in columns if name in _DOMAINS),
        ),
        sensitive=("RAC1P", "SEX", "AGEP"),
        target=_INCOME if _INCOME in extra else None,
        positive=1 if _INCOME in extra else None,
        quasi_identifiers=("RAC1P",),
    )
    note = "INDP (271 codes), DENSITY and PINCP are in the frame but not in the schema."
    return Cleaned(columns=columns, schema=schema, rows=_ROWS[part], cleaning=tuple(steps), note=note)


ENTRY = read_entry("nist_excerpts", build=_build)
FILES = dict(zip(_ROWS, ENTRY.files, strict=True))
