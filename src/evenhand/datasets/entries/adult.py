"""Adult: reconstructed by Ding et al. (2021), or the file of the UCI repository (1996)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.datasets.download.parsing import keep_rows, read_rows, write_rows
from evenhand.datasets.entry import Cleaned, read_entry

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evenhand.datasets.download.files import Reader

_UCI_HEADER = (
    "age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation",
    "relationship", "race", "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country",
    "income",
)  # fmt: skip
_LABELS = tuple(f"income_gt_{threshold}" for threshold in (10_000, 26_000, 27_260, 50_000))


def uci_rows(raw: bytes) -> bytes:
    """Make our file of a UCI part: header added, blanks stripped, no final point after a label."""
    rows = [[cell.strip() for cell in row] for row in read_rows(raw) if len(row) == len(_UCI_HEADER)]
    return write_rows([_UCI_HEADER, *([*row[:-1], row[-1].removesuffix(".")] for row in rows)])


def join_reconstructed(encoded: bytes, above_10000: bytes, above_27260: bytes, above_50000: bytes) -> bytes:
    """Decode the label-encoded file of arcolezi2023 and join the three labels of makhlouf2024, row by row."""
    header, *rows = read_rows(encoded)
    labels = [[row[-1] for row in read_rows(raw)[1:]] for raw in (above_10000, above_27260, above_50000)]
    lists = {
        "age": [str(age) for age in range(17, 91)],
        "workclass": ENTRY.codes["worked"],
        "education": list(ENTRY.codes["education"]),
        "marital-status": ENTRY.codes["marital"],
        "occupation": ENTRY.codes["occupations"],
        "native-country": ENTRY.codes["countries"],
        "relationship": ENTRY.codes["relationships"],
        "hours-per-week": [str(hours) for hours in ENTRY.codes["hours"]],
        "gender": ENTRY.codes["sexes"],
        "race": ENTRY.codes["races"],
    }  # the place in a list is the published code of a value
    after = list(lists).index("education") + 1
    lines = [[*list(lists)[:after], "education-num", *list(lists)[after:], *_LABELS]]
    for row, low, middle, high in zip(rows, *labels, strict=True):
        coded = dict(zip(header, row, strict=True))
        values = [listed[int(coded[name])] for name, listed in lists.items()]
        schooling = str(ENTRY.codes["education"][values[after - 1]])
        lines.append([*values[:after], schooling, *values[after:], low, coded["income"], middle, high])
    return write_rows(lines)


_UNKNOWN = ("workclass", "occupation", "native-country")
_UCI_ROWS = {
    ("both", "drop"): 45_222, ("train", "drop"): 30_162, ("test", "drop"): 15_060,
    ("both", "keep"): 48_842, ("train", "keep"): 32_561, ("test", "keep"): 16_281,
}  # fmt: skip


def _build(read: Reader, options: Mapping[str, Any]) -> Cleaned:
    if options["version"] == "reconstructed":
        return _build_reconstructed(read, options)
    if options["version"] == "uci":
        return _uci(read, options)
    return _fair_projection(read)


def _build_reconstructed(read: Reader, options: Mapping[str, Any]) -> Cleaned:
    raw = read.columns(RECONSTRUCTED, integers=("age", "education-num", "hours-per-week", *_LABELS))
    threshold = options["threshold"]
    raw["income"] = raw[f"income_gt_{threshold}"]
    label = f"income is 1 where the yearly income is above {threshold:,} dollars"
    if options["binarised"]:
        columns, steps = _binarise(raw)
        schema = ENTRY.schema("binarised")
    else:
        schema = ENTRY.schema("reconstructed")
        columns, steps = {name: raw[name] for name in schema.names}, ()
    dropped = "rows with '?' in workclass, occupation or native-country dropped upstream (49,531 -> 45,849)"
    return Cleaned(columns=columns, schema=schema, rows=45_849, cleaning=(dropped, label, *steps))


def _binarise(raw: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the eight binary features of makhlouf2024 and the label."""
    marks = {
        "age": raw["age"] >= 37,
        "workclass": raw["workclass"] == "Private",
        "education-num": raw["education-num"] >= 9,
        "marital-status": np.isin(raw["marital-status"], ENTRY.codes["married"]),
        "native-country": raw["native-country"] == "United-States",
        "hours-per-week": raw["hours-per-week"] > 40,
        "gender": raw["gender"] == "Male",
        "race": raw["race"] == "White",
    }
    columns = {name: mark.astype(np.int64) for name, mark in marks.items()} | {"income": raw["income"]}
    meaning = (
        "every feature made binary, 1 meaning: age at least 37 (the median), workclass Private, "
        "education-num at least 9, any of the three married states, country United-States, more than 40 "
        "hours (the median), gender Male, race White"
    )
    return columns, (meaning,)


def _uci(read: Reader, options: Mapping[str, Any]) -> Cleaned:
    part, unknown = options["part"], options["unknown"]
    raw = _uci_parts(read, part)
    steps: tuple[str, ...] = ("blanks stripped, the final point of the test labels removed",)
    if unknown == "drop":
        raw = keep_rows(raw, ~np.any([raw[name] == "?" for name in _UNKNOWN], axis=0))
        steps = (*steps, "rows with '?' dropped (48,842 -> 45,222 in both parts together)")
        schema = ENTRY.schema("uci")
    else:
        lists = zip(_UNKNOWN, ("workclasses", "occupations", "countries"), strict=True)
        schema = ENTRY.schema("uci", values={name: ["?", *ENTRY.codes[codes]] for name, codes in lists})
    return Cleaned(columns=raw, schema=schema, rows=_UCI_ROWS[part, unknown], cleaning=steps)


def _fair_projection(read: Reader) -> Cleaned:
    raw = _uci_parts(read, "both")
    raw = keep_rows(raw, np.isin(raw["race"], ("Black", "White")))
    schema = ENTRY.schema("fair_projection")
    steps = (
        "both UCI parts, only rows marked Black or White (48,842 -> 46,447)",
        "fnlwgt, workclass, occupation, education and native-country left out, so that no '?' remains",
    )
    columns = {name: raw[name] for name in schema.names}
    return Cleaned(columns=columns, schema=schema, rows=46_447, cleaning=steps)


def _uci_parts(read: Reader, part: str) -> dict[str, Any]:
    files = {"train": (TRAIN,), "test": (TEST,), "both": (TRAIN, TEST)}[part]
    numbers = ("age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week")
    parts = [read.columns(file, integers=numbers) for file in files]
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


ENTRY = read_entry("adult", build=_build, converters=(join_reconstructed, uci_rows))
RECONSTRUCTED, TRAIN, TEST = ENTRY.files
