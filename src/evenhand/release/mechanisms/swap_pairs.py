"""Pairs of records to swap: a random person and the nearest one left, or pairs by how far they are apart.

Both ways work on distinct tuples with the number of people who have them. Memory grows with the number of
tuples and not with that of pairs; pairs come in chunks.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.errors import LimitExceededError
from evenhand.privacy.feeding import feed
from evenhand.release.mechanisms import swap_kernels
from evenhand.release.table.counting import cell_numbers

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from evenhand.privacy.randomness import Source
    from evenhand.release.table.histogram import Histogram
    from evenhand.schema import Schema

    Numbers = npt.NDArray[np.int64]

__all__ = ["MOST_RECORDS", "SwapDistance", "discrepancy_pairs", "nearest_pairs", "pairs_to_swap"]

MOST_RECORDS = 2**31 - 1
"""How many records can be swapped; a larger table is refused."""

_FARTHEST = 1 << 62
_FEWEST = 1 << 12
_MOST = 1 << 20  # pairs drawn at a time


@dataclass(frozen=True, eq=False)
class SwapDistance:
    r"""The distance of zhu2023 between two records, in whole numbers.

    .. math:: d(a, b) = \sum_{\text{categorical}} 1[a_\lambda \ne b_\lambda]
              + \sum_{\text{numerical}} \frac{|a_\lambda - b_\lambda|}{\text{range}_\lambda}

    where :math:`\lambda` runs over all columns, quasi-identifiers or not. Ranges of whole numbers are
    numerical; so are bins, by their place. "Other" is 1 away from everything else. All distances are
    multiplied by `whole`, the least common multiple of the ranges, so that equal distances are equal numbers.

    Parameters
    ----------
    costs : array
        For each column the cost of one step, 0 if its values have no order; the code of "other", or -1; and
        `whole`.

    Examples
    --------
    >>> from evenhand.schema import Column, Domain, Schema
    >>> sex = Column("sex", Domain.categorical(["f", "m"]))
    >>> SwapDistance.of(Schema([sex, Column("age", Domain.integers(17, 90))])).costs
    array([[ 0, -1, 73],
           [ 1, -1, 73]])
    """

    costs: Numbers

    @classmethod
    def of(cls, schema: Schema) -> SwapDistance:
        """Return the distance between records of a schema."""
        reaches = [0 if column.domain.kind == "categorical" else column.domain.size - 1 for column in schema]
        whole = math.lcm(*(reach for reach in reaches if reach))
        if whole * len(reaches) >= _FARTHEST:
            raise LimitExceededError(
                "Swapping compares records in whole numbers of 62 bits, and the ranges of the columns "
                "have no common multiple that fits. Hint: take coarser ranges, or fewer columns.",
                limit="columns",
            )
        others = [-1 if column.other_code is None else column.other_code for column in schema]
        rows = [
            (whole // reach if reach else 0, other, whole)
            for reach, other in zip(reaches, others, strict=True)
        ]
        return cls(np.array(rows, dtype=np.int64))

    @property
    def whole(self) -> int:
        """The distance of two records that differ in one column without order."""
        return int(self.costs[0, 2])


@dataclass(frozen=True, eq=False)
class _Tree:
    """Tuples as leaves under their columns, children in order of their codes; see the kernels."""

    first: Numbers
    nodes: Numbers
    """The code, the parent, the people left, the first tuple and the number of tuples of each node."""

    @classmethod
    def of(cls, numbers: Numbers, shape: tuple[int, ...], people: Numbers) -> _Tree:
        """Return the tree of tuples given by their numbers in row-major order of `shape`, increasing."""
        zero = np.zeros(1, np.int64)
        first, code, parent, starts = [], [zero], [zero], [zero]
        above, base = np.zeros(numbers.size, np.int64), 0  # the node of each tuple, one level up
        for depth, size in enumerate(shape):
            prefix = numbers // math.prod(shape[depth + 1 :])
            change = np.diff(prefix, prepend=prefix[:1] - 1) != 0
            base += starts[-1].size
            node = base + np.cumsum(change) - 1
            first.append(node[starts[-1]])
            starts.append(np.flatnonzero(change))
            code.append(prefix[starts[-1]] % size)
            parent.append(above[starts[-1]])
            above = node
        first.append(np.array([base + starts[-1].size]))
        live = [np.add.reduceat(people, each) for each in starts]
        many = [np.diff(each, append=numbers.size) for each in starts]
        joined = [np.concatenate(parts) for parts in (code, parent, live, starts, many)]
        return cls(np.concatenate(first), np.stack(joined))


def pairs_to_swap(
    histogram: Histogram, cells: Numbers, alike: Numbers, pairs: int, *, pairing: str, source: Source
) -> Iterator[Numbers]:
    """Yield pairs of records as rows of two places in `cells`, a chunk at a time.

    Parameters
    ----------
    histogram : Histogram
        The table.
    cells, alike : array
        The cells that hold records, and how many records each holds.
    pairs : int
        How many pairs; at most half of the records.
    pairing : {"nearest", "discrepancy"}
        How they are chosen.
    source : Source
        Where the randomness comes from.
    """
    distance = SwapDistance.of(histogram.schema)
    codes = np.column_stack(np.unravel_index(cells, histogram.shape)).astype(np.int64)
    if pairing == "nearest":
        return nearest_pairs(codes, alike, histogram.shape, distance, pairs=pairs, source=source)
    return discrepancy_pairs(codes, alike, distance, pairs=pairs, source=source)


def nearest_pairs(
    codes: Numbers,
    people: Numbers,
    shape: tuple[int, ...],
    distance: SwapDistance,
    *,
    pairs: int,
    source: Source,
) -> Iterator[Numbers]:
    """Yield pairs of tuples, as rows of two: a random person left, and a random one of those nearest to them.

    The tree of the people left is made anew whenever their number has halved, so that no search goes past
    many branches without people.

    Parameters
    ----------
    codes : array
        One row for each tuple, one column for each column of the table; no two rows are equal.
    people : array
        How many people have each tuple, at least 1; fewer than 2**31 in all.
    shape : tuple of int
        How many values each column has.
    distance : SwapDistance
        How far records are apart.
    pairs : int
        How many pairs; at most half of the people.
    source : Source
        Where the randomness comes from.
    """
    order = np.argsort(shape, kind="stable")  # few branches first: a search goes through fewer of them
    sizes = tuple(int(shape[axis]) for axis in order)
    numbers = cell_numbers([codes[:, axis] for axis in order], sizes)
    tuples = np.argsort(numbers)
    live = people[tuples].astype(np.int64)
    costs = np.ascontiguousarray(distance.costs[order])
    while pairs > 0:
        kept = live > 0
        tuples, live = tuples[kept], live[kept]
        tree = _Tree.of(numbers[tuples], sizes, live)
        out = np.empty((_chunk(pairs, int(tree.nodes[2, 0])), 2), np.int64)
        levels, ties = np.empty((len(sizes), 4), np.int64), np.empty(live.size, np.int64)
        here = np.ascontiguousarray(codes[tuples][:, order])
        parameters = (tree.first, tree.nodes, here, _ranks(live), costs, levels, ties)
        feed(swap_kernels.nearest, out, parameters, source, units=np.uint64, words=2.5)
        live = tree.nodes[2, -live.size :]
        pairs -= len(out)
        yield tuples[out]


def discrepancy_pairs(
    codes: Numbers, people: Numbers, distance: SwapDistance, *, pairs: int, source: Source
) -> Iterator[Numbers]:
    """Yield pairs of tuples, as rows of two, each pair of people left as likely as they are far apart.

    Parameters are as in :func:`nearest_pairs`. There are fewer pairs if all the people left are alike.
    """
    tuples, live = np.arange(people.size), people.astype(np.int64)
    while pairs > 0:
        kept = live > 0
        tuples, live = tuples[kept], live[kept]
        here = np.ascontiguousarray(codes[tuples])
        total, squares = int(live.sum()), int((live**2).sum())
        totals = np.array([total, squares, max(1, _farthest(here, distance))])
        out = np.empty((_chunk(pairs, total), 2), np.int64)
        parameters: tuple[Any, ...] = (here, live, _ranks(live), _ranks(live**2), distance.costs, totals)
        feed(swap_kernels.apart, out, parameters, source, units=np.uint64, words=10)
        pairs -= len(out)
        if out[-1, 0] < 0:
            out, pairs = out[out[:, 0] >= 0], 0
        yield tuples[out]


def _chunk(pairs: int, people: int) -> int:
    return min(pairs, max(_FEWEST, min(_MOST, people // 4)))


def _ranks(values: Numbers) -> Numbers:
    """Return the Fenwick tree of the values: entry i has the sum of the last (i & -i) of the first i."""
    sums = np.concatenate((np.zeros(1, np.int64), np.cumsum(values)))
    places = np.arange(sums.size)
    return sums - sums[places - (places & -places)]


def _farthest(codes: Numbers, distance: SwapDistance) -> int:
    """Return a bound of the distance between two of the tuples."""
    total = 0
    for column, (step, other, whole) in enumerate(distance.costs.tolist()):
        values = codes[:, column]
        plain = values[values != other] if step else values
        reach = int(plain.max()) - int(plain.min()) if plain.size else 0
        mixed = plain.size < values.size and plain.size > 0
        total += whole if mixed or (reach and not step) else reach * step
    return total
