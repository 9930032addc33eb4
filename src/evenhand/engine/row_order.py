r"""Whether a column in the clear follows the order of the input, and so gives it back to whoever sorts by it.

Shuffled reports do not show who stood where. A number, a time or a list of places beside them may. This is
measured while a file is read, from the columns in the clear and their order; what is reported is not looked
at. What is published of it is one yes or no for each of these columns.

A column follows the order if one of these holds.

* It never falls, or never rises, and is not the same throughout.
* Of the pairs of rows that differ, those that rise are not about as many as those that fall. Neighbours are
  compared, and rows half a batch apart, which shows an order that is blurred from one row to the next.
* Neighbours are alike more often than in a random order, as where a column comes in blocks, or less often, as
  where its values take turns.

A random order passes for one of the last two with a probability below :math:`10^{-8}`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from evenhand.engine.writers import plain_values
from evenhand.privacy.units import ROW_ORDER

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["RowOrder", "describe_row_order"]

_DEVIATIONS = 6.0
_LEAST_SHARE = 0.1
MOST_VALUES = 4096
"""Different values of a column that are counted; one with more is not looked at for blocks and turns."""


class RowOrder:
    """Which columns follow the order of the rows.

    Parameters
    ----------
    columns : sequence of str
        The columns in the clear.
    """

    def __init__(self, columns: Sequence[str]) -> None:
        self._columns = {name: _ColumnOrder() for name in columns}

    def add(self, batch: pa.RecordBatch) -> None:
        """Look at the next rows."""
        for name, column in self._columns.items():
            column.add(plain_values(batch.column(name)))

    @property
    def following(self) -> tuple[str, ...]:
        """The columns that follow the order of the rows seen so far."""
        return tuple(name for name, column in self._columns.items() if column.follows)


def describe_row_order(following: Sequence[str], *, is_kept: bool) -> tuple[str, ...]:
    """Return what a guarantee says of the order of the rows among what is in the clear.

    >>> describe_row_order([], is_kept=False), describe_row_order([], is_kept=True)
    ((), ('row order',))
    >>> describe_row_order(["id", "time"], is_kept=False)
    ('row order (id and time follow it)',)
    """
    if is_kept:
        return (ROW_ORDER,)
    if not following:
        return ()
    listed = " and ".join([", ".join(following[:-1]), following[-1]]) if len(following) > 1 else following[0]
    return (f"{ROW_ORDER} ({listed} follow{'s' if len(following) == 1 else ''} it)",)


class _ColumnOrder:
    """Counts of pairs of rows in which a column rises or falls."""

    def __init__(self) -> None:
        self._near, self._far = _Pairs(), _Pairs()
        self._last: Any = None
        self._rows = 0
        self._counts: dict[Any, int] | None = {}
        self._is_comparable = True

    def add(self, values: Any) -> None:
        if not self._is_comparable or not len(values):
            return
        try:
            self._compare(_without_nan(values))
        except (pa.ArrowNotImplementedError, pa.ArrowInvalid, pa.ArrowTypeError):
            self._is_comparable = False

    def _compare(self, values: Any) -> None:
        joined = values if self._last is None else pa.concat_arrays([self._last, values])
        self._near.add(joined.slice(0, len(joined) - 1), joined.slice(1))
        half = len(values) // 2
        self._far.add(values.slice(0, half), values.slice(len(values) - half))
        self._last = values.slice(len(values) - 1).take(pa.array([0]))  # a copy: not the whole batch
        self._rows += len(values)
        self._count(values)

    def _count(self, values: Any) -> None:
        if self._counts is None:
            return
        found = pc.value_counts(values)
        if len(found) <= MOST_VALUES:
            for value, count in zip(found.field(0).to_pylist(), found.field(1).to_pylist(), strict=True):
                self._counts[value] = self._counts.get(value, 0) + count
        if len(found) > MOST_VALUES or len(self._counts) > MOST_VALUES:
            self._counts = None

    @property
    def follows(self) -> bool:
        if not self._is_comparable:  # what cannot be measured is said
            return True
        near = self._near
        return near.is_one_way or near.is_uneven or self._far.is_uneven or self._is_patterned

    @property
    def _is_patterned(self) -> bool:
        """Whether the column changes from row to row less or more often than it would in a random order."""
        if self._counts is None or self._rows < 2:
            return False
        alike = sum(count * (count - 1) for count in self._counts.values())
        expected = (self._rows - 1) - alike / self._rows
        beyond = abs(self._near.ups + self._near.downs - expected)
        return beyond > max(_LEAST_SHARE * expected, _DEVIATIONS * math.sqrt(expected))


class _Pairs:
    """How many pairs rise and how many fall; what is missing comes before everything else."""

    def __init__(self) -> None:
        self.ups = self.downs = 0

    def add(self, before: Any, after: Any) -> None:
        self.ups += _count_rises(before, after)
        self.downs += _count_rises(after, before)

    @property
    def is_one_way(self) -> bool:
        return (self.ups == 0) != (self.downs == 0)

    @property
    def is_uneven(self) -> bool:
        both = self.ups + self.downs
        return abs(self.ups - self.downs) > max(_LEAST_SHARE * both, _DEVIATIONS * math.sqrt(both))


def _count_rises(before: Any, after: Any) -> int:
    rises = pc.less(before, after)
    if rises.null_count:
        from_missing = pc.and_(before.is_null(), after.is_valid())
        rises = pc.or_(from_missing, rises.fill_null(False))  # noqa: FBT003 - what to fill in
    return int(pc.sum(rises).as_py() or 0)


def _without_nan(values: Any) -> Any:
    if pa.types.is_floating(values.type):
        return pc.if_else(pc.is_nan(values), None, values)
    return values
