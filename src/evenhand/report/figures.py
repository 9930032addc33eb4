"""The CSV file of every figure and table of a page: its name, and what it holds."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

from evenhand.errors import UnwritableFileError
from evenhand.report.words import clean

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from evenhand.report.page import Chart, Page, Table

__all__ = ["figure_files", "file_names"]

_RESERVED = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])")
_LONGEST = 60


def file_names(page: Page) -> dict[int, str]:
    """Return the name of the CSV file of each chart and table that has numbers, by its place on the page.

    Places count charts and tables in reading order, from 0. Names are made of small letters, figures and
    hyphens, whatever the charts are called, and no two are the same.
    """
    names: dict[int, str] = {}
    for place, exhibit in enumerate(_exhibits(page)):
        if not exhibit.name or not exhibit.data:
            continue
        stem = "-".join(re.findall(r"[a-z0-9]+", exhibit.name.lower()))[:_LONGEST].strip("-")
        if not stem or _RESERVED.fullmatch(stem):
            stem = f"figure-{place + 1}"
        taken = set(names.values())
        again = 2
        unique = f"{stem}.csv"
        while unique in taken:
            unique = f"{stem}-{again}.csv"
            again += 1
        names[place] = unique
    return names


def figure_files(page: Page, folder: Path) -> dict[Path, Any]:
    """Return the numbers of every chart and table as a frame, by the CSV file in the folder that holds them.

    The folder is made if it is not there.

    Raises
    ------
    UnwritableFileError
        If the folder cannot be made.
    """
    names = file_names(page)
    if not names:
        return {}
    try:
        folder.mkdir(exist_ok=True)
    except OSError:
        raise UnwritableFileError(
            f"{folder.name} was not made: there is no such place, or you may not write there."
        ) from None
    exhibits = _exhibits(page)
    return {folder / name: _frame(exhibits[place].data) for place, name in names.items()}


def _exhibits(page: Page) -> list[Chart | Table]:
    found: list[Chart | Table] = []
    for section in page.sections:
        found += [*section.charts, *section.tables]
    return found


def _frame(columns: Mapping[str, Sequence[Any]]) -> Any:
    import pyarrow as pa  # noqa: PLC0415 - takes time to import

    return pa.table({clean(name): _column(list(values)) for name, values in columns.items()})


def _column(values: list[Any]) -> Any:
    """Return values as one Arrow type: numbers stay numbers, and what is mixed becomes text."""
    import pyarrow as pa  # noqa: PLC0415 - takes time to import

    known = [value for value in values if value is not None]
    if all(isinstance(value, bool) for value in known):
        return pa.array(values, pa.bool_())
    if all(isinstance(value, Integral) and not isinstance(value, bool) for value in known):
        return pa.array([None if value is None else int(value) for value in values])
    if all(isinstance(value, Real | Fraction) and not isinstance(value, bool) for value in known):
        return pa.array([None if value is None or math.isnan(value) else float(value) for value in values])
    return pa.array([None if value is None else clean(str(value)) for value in values], pa.large_string())
