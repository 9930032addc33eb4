"""Runs that the authors of a paper published, where their table is on this machine."""

from __future__ import annotations

import gzip
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.datasets.download.files import places
from evenhand.datasets.download.parsing import parse_csv

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from evenhand.study.plan.cells import Setting

__all__ = ["Published", "read_published_columns"]


@dataclass(frozen=True, eq=False)
class Published:
    """Published values of each study, setting and measure, one per seed.

    Parameters
    ----------
    runs_of : mapping of (study, setting's id, measure) to array
    same_seeds : bool
        Whether our repeat r has the split and the model of the value at place r.
    source : str
        What the table is, for notes.
    """

    runs_of: Mapping[tuple[str, str, str], NDArray[np.float64]] = field(repr=False)
    same_seeds: bool
    source: str

    def runs(self, study: str, setting: Setting, measure: str) -> NDArray[np.float64] | None:
        """Return the published values, or None if there are none."""
        return self.runs_of.get((study, setting.id, measure))

    def spread(self, study: str, setting: Setting, measure: str) -> float | None:
        """Return the standard deviation of the published values, or None without two of them."""
        found = self.runs(study, setting, measure)
        known = np.array([]) if found is None else found[np.isfinite(found)]
        return float(known.std(ddof=1)) if len(known) > 1 else None


def read_published_columns(stem: str, *, numbers: tuple[str, ...]) -> dict[str, Any] | None:
    """Return a table that the authors published as columns, or None if it is not on this machine.

    Parameters
    ----------
    stem : str
        The file's name without ``.csv`` or ``.csv.gz``. It is looked for where data sets are.
    numbers : tuple of str
        Columns that hold numbers, blanks as NaN; the others are text.
    """
    for place in places(None):
        packed, plain = (place.folder / f"{stem}.csv{end}" for end in (".gz", ""))
        if packed.is_file():
            return parse_csv(gzip.decompress(packed.read_bytes()), numbers=numbers)
        if plain.is_file():
            return parse_csv(plain.read_bytes(), numbers=numbers)
    return None
