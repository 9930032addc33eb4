"""Law school bar passage (LSAC), cleaned as in arcolezi2023 or on the used columns only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.datasets.download.parsing import keep_rows
from evenhand.datasets.entry import Cleaned, read_entry

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evenhand.datasets.download.files import Reader

_USED = ("fam_inc", "gender", "fulltime", "race1", "lsat", "ugpa", "pass_bar")


def _build(read: Reader, options: Mapping[str, Any]) -> Cleaned:
    five = options["race"] == "five groups"
    used_only = options["missing"] == "used columns"
    if five or used_only:
        columns, steps = _from_full(read, five=five, used_only=used_only)
    else:
        columns, steps = _from_encoded(read)
    schema = ENTRY.schema("two_groups")
    if five:
        races = ("asian", "black", "hisp", "other", "white")
        schema = ENTRY.schema("two_groups", values={"race1": races}, privileged="white")
    rows = 22_076 if used_only else 20_427
    return Cleaned(columns=columns, schema=schema, rows=rows, cleaning=steps)


def _from_encoded(read: Reader) -> tuple[dict[str, Any], tuple[str, ...]]:
    codes = read.columns(ENCODED, integers=_USED)
    columns = {
        "fam_inc": codes["fam_inc"] + 1,
        "gender": np.array(["female", "male"], dtype=object)[codes["gender"]],
        "fulltime": codes["fulltime"] + 1,
        "race1": np.array(["black", "other"], dtype=object)[codes["race1"]],
        "lsat": np.array(ENTRY.codes["lsat"])[codes["lsat"]],
        "ugpa": np.array(ENTRY.codes["ugpa"])[codes["ugpa"]],
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


ENTRY = read_entry("lsac", build=_build)
ENCODED, FULL = ENTRY.files
