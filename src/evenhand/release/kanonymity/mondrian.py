r"""Mondrian: cut people into classes of at least k who share a box of values.

Starting with everybody, a stretch of people is cut in two at one value of one column, and each part is cut
again, until no cut would leave at least :math:`k` people on both sides. This is the strict version of [1]_:
everybody with the same values is in the same class, and no two classes overlap.

* **Which column**: the one in which the people are most spread, as a share of the spread in the whole
  table. The spread is the largest minus the smallest number, or how many different categories there are,
  less one. Equal spreads: the earlier column. A column without an allowed cut is passed over.
* **Where**: at the median in the order of the codes. Either all who are at or below the median go left, or
  all who are below it, whichever is nearer to half; the first, if that is the same. Every other cut of the
  column leaves fewer people on its smaller side, so if this one is not allowed, none is.

The result depends on how many people have each combination of values, and on nothing else: not on the order
of the rows and not on chance.

Notes
-----
The package anonypy chooses the column in the same way, with the number of categories not lessened by one.
It cuts categories elsewhere: half of those that occur, in the order in which the rows happen to name them,
go left, however many people have them. Numbers it cuts below the median only. So it makes other classes,
and they change if the rows are shuffled.

References
----------
.. [1] LeFevre, DeWitt, Ramakrishnan (2006). Mondrian multidimensional k-anonymity. ICDE.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evenhand._lazy import lazy
from evenhand._validate import integer
from evenhand.errors import InvalidParameterError, LimitExceededError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    Integers = npt.NDArray[np.int64]

MOST_PEOPLE = 1 << 61
"""How many people a table may hold, so that no sum wraps."""

kernels = lazy("evenhand.release.kanonymity.mondrian_kernels")  # importing it starts the compiler

_MOST_TUPLES = (1 << 31) - 1
_FEW_CELLS = 1 << 16


class Partition(NamedTuple):
    """Which class each tuple belongs to, and how many people each class has."""

    labels: Integers
    """The class of each tuple, from 0; -1 where nobody has it, or if there are fewer than k people."""
    people: Integers
    """How many people are in each class."""


def mondrian(
    codes: npt.ArrayLike,
    counts: npt.ArrayLike | None = None,
    *,
    k: int,
    numeric: Sequence[bool] | None = None,
) -> Partition:
    """Cut tuples of codes into classes that at least `k` people have each.

    Parameters
    ----------
    codes : array of int, of shape (tuples, columns)
        One row for each combination of values; a combination may stand in several rows.
    counts : array of int, optional
        How many people have each combination; 1 unless told. Below 1 means nobody.
    k : int
        The least number of people in a class, at least 1.
    numeric : sequence of bool, optional
        Of every column, whether its codes are numbers, whose distances count; False unless told.

    Returns
    -------
    Partition
        Classes are numbered along the cuts, the left side first. With fewer than `k` people in all there is
        no class: nobody's values can be shared by `k`.

    Examples
    --------
    >>> found = mondrian([[0, 3], [0, 4], [1, 3], [1, 9]], [2, 2, 2, 3], k=4)
    >>> found.labels, found.people
    (array([0, 0, 1, 1]), array([4, 5]))
    """
    rows, weights = _check_input(codes, counts)
    k = integer("k", k, owner="mondrian", low=1)
    kinds = np.zeros(rows.shape[1], np.bool_) if numeric is None else np.asarray(numeric, dtype=np.bool_)
    if kinds.shape != rows.shape[1:]:
        must_be = "one truth value for each column"
        raise InvalidParameterError(
            "numeric", owner="mondrian", must_be=must_be, got="another number of them"
        )
    labels = np.full(len(rows), -1, np.int64)
    present = np.flatnonzero(weights > 0)
    if weights[present].sum() < k:
        return Partition(labels, np.zeros(0, np.int64))
    order, ends = _cut(rows[present], weights[present], k, kinds)
    sizes = np.diff(ends, prepend=0)
    labels[present[order]] = np.repeat(np.arange(len(ends)), sizes)
    people = np.add.reduceat(weights[present[order]], ends - sizes)
    return Partition(labels, people)


def rank_codes(column: npt.NDArray[Any]) -> tuple[Integers, npt.NDArray[np.int32]]:
    """Return the different codes of a column in order, and the rank of every entry among them.

    Small codes are looked up in a table; others are sorted.
    """
    low, high = int(column.min()), int(column.max())
    if high - low < max(2 * len(column), _FEW_CELLS):
        moved = column.astype(np.int64) - low
        there = np.zeros(high - low + 1, np.bool_)
        there[moved] = True
        places = np.cumsum(there, dtype=np.int32) - np.int32(1)
        return np.flatnonzero(there) + low, places[moved]
    values, ranks = np.unique(column, return_inverse=True)
    return values.astype(np.int64), ranks.astype(np.int32)


def _cut(
    rows: npt.NDArray[Any], weights: Integers, k: int, numeric: npt.NDArray[np.bool_]
) -> tuple[Integers, Integers]:
    """Return the rows in the order of their classes, and where each class ends."""
    tuples, columns = rows.shape
    ranks = np.empty((tuples, columns), np.int32)
    values, scales = [], np.ones(columns, np.int64)
    for column in range(columns):
        different, ranks[:, column] = rank_codes(rows[:, column])
        values.append(different)
        width = int(different[-1]) - int(different[0]) if numeric[column] else len(different) - 1
        scales[column] = max(1, width)
    order, ends = np.arange(tuples), np.empty(tuples, np.int64)
    lengths = np.array([len(different) for different in values], np.int64)
    classes = kernels.partition(
        ranks,
        weights.copy(),
        order,
        k,
        np.concatenate(values),
        np.cumsum(lengths) - lengths,
        np.ascontiguousarray(numeric),
        scales,
        np.full(int(lengths.sum()), -1, np.int64),
        np.empty(kernels.BUCKETS, np.int64),
        np.empty((2, columns), np.int32),
        np.empty(columns, np.int64),
        np.empty((tuples, 3), np.int64),
        ends,
    )
    return order, ends[:classes]


def _check_input(codes: npt.ArrayLike, counts: npt.ArrayLike | None) -> tuple[npt.NDArray[Any], Integers]:
    rows = np.asarray(codes)
    if rows.ndim != 2 or rows.dtype.kind not in "iu" or not rows.shape[1]:
        must_be, got = "an array of whole numbers with one row for each tuple", "something else"
        raise InvalidParameterError("codes", owner="mondrian", must_be=must_be, got=got)
    if rows.dtype == np.uint64 and rows.size and rows.max() > np.iinfo(np.int64).max:
        must_be, got = "codes below 2**63", "a larger one"
        raise InvalidParameterError("codes", owner="mondrian", must_be=must_be, got=got)
    given = np.ones(len(rows), np.int64) if counts is None else np.asarray(counts)
    if given.shape != rows.shape[:1] or given.dtype.kind not in "iu":
        must_be, got = "one whole number for each tuple", "something else"
        raise InvalidParameterError("counts", owner="mondrian", must_be=must_be, got=got)
    if len(rows) > _MOST_TUPLES:
        raise LimitExceededError(f"mondrian takes at most {_MOST_TUPLES:,} tuples.", limit="tuples")
    if float(np.maximum(given, 0).sum(dtype=np.float64)) > MOST_PEOPLE:
        raise LimitExceededError(f"mondrian takes at most {MOST_PEOPLE:,} people in all.", limit="people")
    return rows, given.astype(np.int64)
