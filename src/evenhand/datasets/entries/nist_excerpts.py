"""NIST Diverse Community Excerpts 2019: survey rows of selected areas, as used by zhu2023."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.datasets.download.files import Download, SourceFile
from evenhand.datasets.download.parsing import github, line_feeds
from evenhand.datasets.entry import Cleaned, Entry, Option
from evenhand.schema import Column, Domain, Schema

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evenhand.datasets.download.files import Reader

__all__ = ["ENTRY"]

_PUMAS = {
    "ma": ("25-00503", "25-00703", "25-01000", "25-01300", "25-02800"),
    "tx": ("48-02101", "48-02102", "48-02507", "48-02510", "48-02515", "48-02516"),
    "national": (
        "01-01301", "06-07502", "06-08507", "08-00803", "13-04600", "17-03529", "17-03531", "19-01700",
        "24-01004", "26-02702", "28-01100", "29-01901", "30-00600", "32-00405", "36-03710", "36-04010",
        "38-00100", "40-00200", "51-01301", "51-51255",
    ),
}  # fmt: skip
_ROWS = {"ma": 7_634, "tx": 9_276, "national": 27_253}
_FOLDERS = {"ma": "massachusetts", "tx": "texas", "national": "national"}
_SHA256 = {
    "ma": ("5489f7d45bccad8ae591dfe9011638def521b3f8641edf169bb45fea2c62fb44", 555_203),
    "tx": ("0dab7a8b745232c622d7d3bc0b7fdeaf7f8ecdb3a5653a73fd2867f5f116ed96", 662_942),
    "national": ("9e039c8e47c9e998d60f66fd50ec620fc2d0703decdc21f3069c9844fbef979b", 1_963_467),
}
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

FILES = {
    part: SourceFile(
        stem=f"nist_{part}2019",
        sha256=_SHA256[part][0],
        size=_SHA256[part][1],
        source="NIST, Diverse Community Excerpts, usnistgov/SDNist on GitHub",
        licence="NIST open terms: keep the notice and credit NIST",
        page="https://github.com/usnistgov/SDNist",
        download=Download(
            urls=(
                github(
                    "usnistgov/SDNist",
                    "main",
                    f"nist diverse communities data excerpts/{_FOLDERS[part]}/{part}2019.csv",
                    large=True,
                ),
            ),
            convert=line_feeds,
        ),
    )
    for part in _PUMAS
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
            Column("PUMA", Domain.categorical(_PUMAS[part])),
            *(Column(name, _DOMAINS[name]) for name in columns if name in _DOMAINS),
        ),
        sensitive=("RAC1P", "SEX", "AGEP"),
        target=_INCOME if _INCOME in extra else None,
        positive=1 if _INCOME in extra else None,
        quasi_identifiers=("RAC1P",),
    )
    note = "INDP (271 codes), DENSITY and PINCP are in the frame but not in the schema."
    return Cleaned(columns=columns, schema=schema, rows=_ROWS[part], cleaning=tuple(steps), note=note)


ENTRY = Entry(
    about="People in 5 areas of Massachusetts, 6 of Texas, or 20 across the United States chosen to differ.",
    citation="Task, Bhagat, Howarth (2023), NIST Diverse Community Excerpts; used by zhu2023",
    options=(
        Option(
            name="part",
            default="ma",
            choices=("ma", "tx", "national"),
            meaning="Massachusetts, Texas, or the national set that zhu2023 calls Outlier.",
        ),
        Option(
            name="histogram",
            default=False,
            choices=(False, True),
            meaning=f"Add {_INCOME}, the last axis of the histogram PUMA x RAC1P x SEX x OWN_RENT x income.",
        ),
        Option(
            name="age_brackets",
            default=False,
            choices=(False, True),
            meaning=f"Add {_AGES}, five brackets for classification.",
        ),
    ),
    build=_build,
    files=tuple(FILES.values()),
    departures=(
        (
            "zhu2023 used an earlier release with IPUMS names (RACE, OWNERSHP, AGE, INCTOT); here they are "
            "RAC1P, OWN_RENT, AGEP, PINCP, and row counts may differ."
        ),
        (
            "zhu2023 divides ages 'equitably into 5 age brackets' without giving them; equal widths are "
            "chosen here."
        ),
    ),
)
