"""Counts of at least 0 whose sums by group stay what the noisy counts add up to."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from evenhand._validate import integer
from evenhand.errors import InvalidParameterError
from evenhand.privacy.randomness import source_from
from evenhand.release.postprocess.steps import Step
from evenhand.release.table.counting import whole_or_real

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from evenhand.privacy.randomness import Source

_MOST_COLUMNS = 1_000
_LARGEST = 1 << 62


@dataclass(frozen=True, init=False)
class KeepSums(Step):
    """Set counts below 0 to 0, and take what that adds from the other counts of the same group.

    It is the nearest table, in squares, without counts below 0 in which every group has the sum of its noisy
    counts; where that is below 0, nobody. Sums are then right on average, but for groups so small that noise
    makes their sum negative. Whole counts stay whole: who of a group gets what is left over is drawn.

    Parameters
    ----------
    *columns : int
        The places of the columns that make the groups, from 1.

    Examples
    --------
    >>> KeepSums(1).apply([[-3, 1, 8], [0, 5, 5]], source=1)
    array([[0, 0, 6],
           [0, 5, 5]])
    """

    name: ClassVar[str] = "keep-sums"
    keeps_sums: ClassVar[bool] = True
    amount: ClassVar[str] = "COLUMNS"
    columns: tuple[int, ...]

    def __init__(self, *columns: int) -> None:
        places = [integer("columns", each, owner="KeepSums", low=1, high=_MOST_COLUMNS) for each in columns]
        if not places or len(set(places)) < len(places):
            must_be = "places of different columns"
            raise InvalidParameterError("columns", owner="KeepSums", must_be=must_be, got=columns)
        object.__setattr__(self, "columns", tuple(places))

    @classmethod
    def checked_text(cls, amount: str, *, owner: str) -> str | None:  # noqa: ARG003 - as every step's
        """Return the places of columns with x between them, as a plan writes them."""
        return amount if re.fullmatch(r"[1-9]\d{0,2}(x[1-9]\d{0,2})*", amount) else None

    @classmethod
    def from_text(cls, form: str, amount: str) -> Self:  # noqa: ARG003 - it has one form
        """Return the step for these columns."""
        return cls(*map(int, amount.split("x")))

    @property
    def words(self) -> str:
        """What the step does."""
        by = " and ".join(map(str, self.columns))
        return f"counts below 0 set to 0, sums by column {by} kept"

    @property
    def label(self) -> str:
        """What the step does, in short."""
        return "none below 0, sums kept"

    def apply(self, values: ArrayLike, *, source: Source | None = None) -> NDArray[Any]:
        """Return the nearest counts of at least 0 with the same sums."""
        given = whole_or_real(values, parameter="values", owner="KeepSums.apply")
        if max(self.columns) > given.ndim:
            must_be = "places of columns of a table in which every cell is published"
            raise InvalidParameterError("columns", owner="KeepSums", must_be=must_be, got=self.columns)
        rows, back = self.to_rows(given)
        return back(_keep_sums(rows, source))

    def to_rows(self, table: NDArray[Any]) -> tuple[NDArray[Any], Callable[[NDArray[Any]], NDArray[Any]]]:
        """Return a table with one row for each group, and what makes a table of such rows again."""
        places = [each - 1 for each in self.columns]
        front = np.moveaxis(table, places, range(len(places)))
        rows = front.reshape(math.prod(front.shape[: len(places)]), -1)
        return rows, lambda made: np.moveaxis(made.reshape(front.shape), range(len(places)), places)


def _keep_sums(rows: NDArray[Any], source: Source | None) -> NDArray[Any]:
    """Return the nearest rows of at least 0 whose sums are those of the rows, or 0 where these are below."""
    whole = rows.dtype.kind != "f" and int(np.abs(rows).max(initial=0)) * rows.shape[1] < _LARGEST
    rows = rows.astype(np.int64 if whole else np.float64)
    sums = np.maximum(rows.sum(axis=1, keepdims=True), 0)
    falling = -np.sort(-rows, axis=1)
    taken = np.cumsum(falling, axis=1) - sums  # from so many of the largest, to leave the sum
    number = np.arange(1, rows.shape[1] + 1)
    left = np.maximum((falling * number > taken).sum(axis=1, keepdims=True), 1)
    taken = np.take_along_axis(taken, left - 1, axis=1)
    if not whole:
        return np.where(sums > 0, np.maximum(rows - taken / left, 0.0), 0.0)
    kept = np.where(sums > 0, np.maximum((rows * left - taken) // left, 0), 0)
    return share_rest(kept, sums - kept.sum(axis=1, keepdims=True), source, among=rows * left > taken)


def share_rest(
    rows: NDArray[Any], rest: NDArray[Any], source: Source | None, *, among: NDArray[np.bool_] | None = None
) -> NDArray[Any]:
    """Return rows with 1 more in as many cells as the rest of each row says, which are drawn."""
    if not rest.any():
        return rows
    lots = source_from(source).words(rows.size).reshape(rows.shape) >> np.uint64(1)
    if among is not None:
        lots = np.where(among, lots, np.uint64(_LARGEST * 2))
    order = np.argsort(lots, axis=1, kind="stable")
    first = np.arange(rows.shape[1]) < rest
    shared = rows.copy()
    np.put_along_axis(shared, order, np.take_along_axis(rows, order, axis=1) + first, axis=1)
    return shared
