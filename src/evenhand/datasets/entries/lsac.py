"""Law school bar passage (LSAC), cleaned as in arcolezi2023 or on the used columns only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.datasets.download.files import Download, SourceFile
from evenhand.datasets.download.parsing import as_it_stands, github, github_page, keep_rows
from evenhand.datasets.entry import Cleaned, Entry, Option
from evenhand.schema import Column, Domain, Schema

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evenhand.datasets.download.files import Reader

__all__ = ["ENTRY"]

_REPOSITORY = "hharcolezi/ldp-fairness-impact"
_USED = ("fam_inc", "gender", "fulltime", "race1", "lsat", "ugpa", "pass_bar")

# The 37 scores and 6 averages named in the published label encoding; 13 does not occur.
_LSAT = tuple(score for score in range(11, 49) if score != 13)
_UGPA = (1.5, 2.0, 2.5, 3.0, 3.5, 4.0)

ENCODED = SourceFile(
    stem="lsac_clean_encoded",
    sha256="296a428e55cc5f2b7f4f8d9374f6c11320dfe022a64e752a582014bf0e560e1d",
    size=306_315,
    source=f"{_REPOSITORY} on GitHub, after the LSAC National Longitudinal Bar Passage Study",
    licence="MIT",
    page=github_page(_REPOSITORY),
    download=Download(
        urls=(github(_REPOSITORY, "c017d9d36e32c8d24925c52d3a5d10045edb47d9", "datasets/db_LSAC.csv"),),
        convert=as_it_stands,
    ),
)

FULL = SourceFile(
    stem="lsac_bar_pass_full",
    sha256="0a333b6c97b0b5452935bd9e1ac28d690b5faff4b444268067df4d9dc20c6c33",
    size=4_314_282,
    source=(
        "the 39-column bar passage file in circulation, after the LSAC National Longitudinal Bar Passage "
        "Study"
    ),
    licence="not stated",
    page="https://www.kaggle.com/datasets/danofer/law-school-admissions-bar-passage",
    by_hand="get the file of 22,407 rows and 39 columns, which needs an account there.",
)


def _build(read: Reader, options: Mapping[str, Any]) -> Cleaned:
    five = options["race"] == "five groups"
    used_only = options["missing"] == "used columns"
    if five or used_only:
        columns, steps = _from_full(read, five=five, used_only=used_only)
    else:
        columns, steps = _from_encoded(read)
    races = ["asian", "black", "hisp", "other", "white"] if five else ["black", "other"]
    schema = Schema(
        (
            Column("fam_inc", Domain.integers(1, 5)),
            Column("gender", Domain.categorical(["female", "male"])),
            Column("fulltime", Domain.integers(1, 2)),
            Column("race1", Domain.categorical(races)),
            Column("lsat", Domain.categorical(_LSAT, ordered=True)),
            Column("ugpa", Domain.categorical(_UGPA, ordered=True)),
            Column("pass_bar", Domain.integers(0, 1)),
        ),
        sensitive=("race1", "fam_inc", "gender", "fulltime"),
        protected="race1",
        privileged="white" if five else "other",
        target="pass_bar",
        positive=1,
    )
    rows = 22_076 if used_only else 20_427
    return Cleaned(columns=columns, schema=schema, rows=rows, cleaning=steps)


def _from_encoded(read: Reader) -> tuple[dict[str, Any], tuple[str, ...]]:
    codes = read.columns(ENCODED, integers=_USED)
    columns = {
        "fam_inc": codes["fam_inc"] + 1,
        "gender": np.array(["female", "male"], dtype=object)[codes["gender"]],
        "fulltime": codes["fulltime"] + 1,
        "race1": np.array(["black", "other"], dtype=object)[codes["race1"]],
        "lsat": np.array(_LSAT)[codes["lsat"]],
        "ugpa": np.array(_UGPA)[codes["ugpa"]],
        "pass_bar": codes["pass_bar"],
    }
    return columns, (
        (
            "upstream: rows with a blank in any of 39 columns dropped (22,407 -> 20,427), race1 black or "
            "other, ugpa rounded to halves and lsat to whole numbers, halves to even; decoded here"
        ),
    )


def _from_full(read: Reader, *, five: bool, used_only: bool) -> tuple[dict[str, Any], tuple[str, ...]]:
    raw = read.columns(FULL)
    checked = _USED if used_only else tuple(raw)
    complete = ~np.any([raw[name] == "" for name in checked], axis=0)
    raw = keep_rows({name: raw[name] for name in _USED}, complete)
    numbers = {name: raw[name].astype(np.float64) for name in ("fam_inc", "fulltime", "lsat", "ugpa")}
    columns = {
        "fam_inc": numbers["fam_inc"].astype(np.int64),
        "gender": raw["gender"],
        "fulltime": numbers["fulltime"].astype(np.int64),
        "race1": raw["race1"] if five else np.where(raw["race1"] == "black", "black", "other").astype(object),
        "lsat": np.rint(numbers["lsat"]).astype(np.int64),
        "ugpa": np.rint(2 * numbers["ugpa"]) / 2,
        "pass_bar": raw["pass_bar"].astype(np.int64),
    }
    where = (
        "one of the seven used columns (22,407 -> 22,076)"
        if used_only
        else "any of 39 columns (22,407 -> 20,427)"
    )
    steps = (
        f"rows with a blank in {where} dropped",
        "ugpa rounded to halves and lsat to whole numbers, halves to even",
    )
    return columns, steps if five else (*steps, "race1 made black or other")


ENTRY = Entry(
    about="Whether a law student passed the bar examination, with family income, scores, sex and race.",
    citation="Wightman (1998), LSAC National Longitudinal Bar Passage Study; cleaned as in arcolezi2023",
    options=(
        Option(
            name="race",
            default="two groups",
            choices=("two groups", "five groups"),
            meaning="Black or other as in arcolezi2023, or the five groups of the full file.",
        ),
        Option(
            name="missing",
            default="any column",
            choices=("any column", "used columns"),
            meaning=(
                "Drop rows with a blank in any of the 39 columns, as published, or only in the seven used "
                "ones."
            ),
        ),
    ),
    build=_build,
    files=(ENCODED, FULL),
    departures=(
        (
            "arcolezi2023 drops rows with a blank in columns that it does not use: 20,427 rows instead of "
            "22,076."
        ),
        "arcolezi2023 states averages up to 4.5; the data ends at 4.0, so there are six values.",
    ),
)
