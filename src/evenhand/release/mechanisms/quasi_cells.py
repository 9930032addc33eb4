"""Cells and their quasi-identifiers: which combination a cell has, and which cell has another one instead.

Cells are numbered as in :class:`~evenhand.release.Histogram`, so that a table kept as its filled cells is
moved about in the same way as one kept as all of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.errors import InvalidParameterError
from evenhand.release.postprocess.steps import Integral, Nonnegative
from evenhand.release.table.counting import Cells, cell_numbers, sum_by_cell
from evenhand.release.table.histogram import Histogram

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    Numbers = npt.NDArray[np.int64]

__all__ = ["QuasiCells", "Tally", "leave_counts", "require_people", "require_quasi"]

_MOST_TABLED = 1 << 20


@dataclass(frozen=True)
class QuasiCells:
    """The numbering of cells by their quasi-identifiers.

    Parameters
    ----------
    shape : tuple of int
        How many values each column has.
    quasi : tuple of int
        The axes of the quasi-identifiers.

    Examples
    --------
    >>> import numpy as np
    >>> cells = QuasiCells((2, 3), (0,))
    >>> cells.combinations, cells.of(np.arange(6)).tolist()
    (2, [0, 0, 0, 1, 1, 1])
    >>> cells.replace_combinations(np.array([0, 5]), np.array([1, 0])).tolist()
    [3, 2]
    """

    shape: tuple[int, ...]
    quasi: tuple[int, ...]

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many values each quasi-identifier has."""
        return tuple(self.shape[axis] for axis in self.quasi)

    @property
    def combinations(self) -> int:
        """How many combinations of quasi-identifiers there are, as a Python integer."""
        return math.prod(self.sizes)

    def of(self, cells: Numbers) -> Numbers:
        """Return the number of the combination that each cell has."""
        codes = np.unravel_index(cells, self.shape)
        return cell_numbers([codes[axis] for axis in self.quasi], self.sizes)

    def offset(self, combinations: Numbers) -> Numbers:
        """Return what each combination adds to the number of a cell."""
        if self._table is not None:
            return self._table[combinations]
        return self._offset(combinations)

    def replace_combinations(self, cells: Numbers, combinations: Numbers) -> Numbers:
        """Return the cells with these combinations in place of their own."""
        return cells - self.offset(self.of(cells)) + self.offset(combinations)

    @cached_property
    def _table(self) -> Numbers | None:
        if self.combinations > _MOST_TABLED:
            return None
        return self._offset(np.arange(self.combinations))

    def _offset(self, combinations: Numbers) -> Numbers:
        found = np.zeros(combinations.shape, np.int64)
        for axis, codes in zip(self.quasi, np.unravel_index(combinations, self.sizes), strict=True):
            stride = int(np.prod(self.shape[axis + 1 :], dtype=np.int64))
            found += codes.astype(np.int64) * stride
        return found


class Tally:
    """Counts that change as people, or whole cells, move.

    Parameters
    ----------
    histogram : Histogram
        The table to start from.
    """

    def __init__(self, histogram: Histogram) -> None:
        self._histogram = histogram
        self._stored: Numbers | Cells = (
            histogram.filled_cells() if histogram.counts is None else histogram.counts.flatten()
        )

    def add(self, cells: Numbers, amounts: Numbers | int) -> None:
        """Add amounts to cells; a cell may be there more than once."""
        if not isinstance(self._stored, Cells):
            np.add.at(self._stored, cells, amounts)
            return
        many = np.broadcast_to(np.asarray(amounts, np.int64), cells.shape)
        numbers = np.concatenate((self._stored.cells, cells))
        self._stored = sum_by_cell(numbers, np.concatenate((self._stored.filled, many)))

    def histogram(self) -> Histogram:
        """Return the table as it stands; a sparse one does not tell which cells were filled once."""
        if not isinstance(self._stored, Cells):
            return self._histogram.with_counts(self._stored)
        cells, filled = self._stored
        return Histogram(schema=self._histogram.schema, cells=cells[filled != 0], filled=filled[filled != 0])


def require_quasi(histogram: Histogram, *, owner: str) -> QuasiCells:
    """Return the numbering of a table whose quasi-identifiers have two combinations or more."""
    cells = QuasiCells(histogram.shape, histogram.split_columns()[0])
    if cells.combinations < 2:
        raise InvalidParameterError(
            "histogram",
            owner=owner,
            must_be="a table whose quasi-identifiers have at least two combinations",
            got="one with fewer",
            hint="declare them with Schema(..., quasi_identifiers=[...]) and keep them among the columns.",
        )
    return cells


def leave_counts(post: Sequence[Any]) -> bool:
    """Whether these steps leave whole numbers of at least 0 as they are, which is all that swapping makes."""
    return all(
        isinstance(step, Integral) or (isinstance(step, Nonnegative) and step.least <= 0) for step in post
    )


def require_people(histogram: Histogram, *, owner: str) -> int:
    """Return how many people a table of true counts holds; refuse a table that counts no people."""
    counts = histogram.stored
    if counts.size and (counts.dtype.kind == "f" or int(counts.min()) < 0):
        must_be, got = "a table of people: whole numbers of at least 0", "other numbers"
        raise InvalidParameterError("histogram", owner=owner, must_be=must_be, got=got)
    return int(histogram.people)
