r"""Sampled counts of two tables that differ by one person, and how far apart they are, never too near.

A cell of :math:`w` people has a sampled count :math:`\operatorname{Bin}(w, \beta)`; below :math:`k` it is
suppressed, so all those outcomes are one. A cell that loses a person is a pair of laws (:math:`w`,
:math:`w - 1`), one that gains a person is (:math:`u`, :math:`u + 1`). The ratio of two such laws is monotone
in the outcome, so what one exceeds :math:`e^\varepsilon` times the other by is the difference of two tails.

Floats are enough, because every distance comes with a bound on its rounding error: the laws are sums and
products of positive numbers, so each outcome of a cell of :math:`w` people has a relative error of less than
:math:`8 w + 32` units in the last place, and a difference of tails has an absolute error of so many units of
the two together. That bound is added.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    Values = npt.NDArray[np.float64]

__all__ = ["Cell", "Cells", "binomials", "distances", "distances_alone", "joined", "published"]

_UNIT = 2.0**-53
_NEGLIGIBLE = 1e-80
_LEFT_OUT = 1e-70
"""More than all that is left out for being negligible, in any table."""


class Cell(NamedTuple):
    """The laws of what is published of a cell of one table and of the same cell of the other.

    Outcomes are in increasing order; `people` is the larger number of people.
    """

    first: Values
    second: Values
    people: int


class Cells(NamedTuple):
    """Several cells in one array, where each starts, the people of each, and what is left out of each."""

    first: Values
    second: Values
    starts: npt.NDArray[np.int64]
    people: Values
    left: Values


def binomials(rate: float, most: int) -> Iterator[tuple[Values, Values]]:
    """Yield the laws of the sampled counts of w people and of w - 1, for w = 1, ..., `most`.

    >>> [law.round(3).tolist() for law, _ in binomials(0.1, 2)]
    [[0.9, 0.1], [0.81, 0.18, 0.01]]
    """
    before = np.ones(1)
    for _ in range(most):
        law = np.zeros(before.size + 1)
        law[:-1] = (1 - rate) * before
        law[1:] += rate * before
        yield law, np.append(before, 0.0)
        kept = law.size
        while law[kept - 1] < _NEGLIGIBLE:  # the upper end; the law as a whole is never negligible
            kept -= 1
        before = law[:kept]


def published(first: Values, second: Values, *, k: int, people: int) -> Cell:
    """Return the laws with all outcomes below `k` as one; `k` of 0 or 1 changes nothing."""
    if k <= 1:
        return Cell(first, second, people)
    below = [np.append(law[:k].sum(), law[k:]) for law in (first, second)]
    return Cell(below[0], below[1], people)


def joined(cells: list[Cell], *, negligible: float = 0.0) -> Cells:
    """Return cells in one array, so that :func:`distances` takes them at once.

    Outcomes that are less likely than `negligible` in the first table are left out and counted in full.
    """
    kept = [cell.first > negligible for cell in cells]
    starts = np.cumsum([0, *(np.count_nonzero(each) for each in kept[:-1])])
    first = np.concatenate([cell.first[each] for cell, each in zip(cells, kept, strict=True)])
    second = np.concatenate([cell.second[each] for cell, each in zip(cells, kept, strict=True)])
    left = np.array([cell.first[~each].sum() for cell, each in zip(cells, kept, strict=True)])
    return Cells(first, second, starts, np.array([float(cell.people) for cell in cells]), left)


def distances_alone(cells: list[Cell], grown: float) -> tuple[Values, Values]:
    r"""Return :math:`\sum (P - e^\varepsilon Q)_+` of each cell by itself, and a bound above it.

    >>> value, above = distances_alone([Cell(np.array([0.5, 0.5]), np.array([0.9, 0.1]), 1)], 1.0)
    >>> value.round(3).tolist(), bool(above[0] - value[0] < 1e-13)
    ([0.4], True)
    """
    first, second = np.zeros((2, len(cells), max(cell.first.size for cell in cells)))
    for row, cell in enumerate(cells):
        first[row, : cell.first.size] = cell.first
        second[row, : cell.second.size] = cell.second
    second *= grown
    units = 16 * np.array([float(cell.people) for cell in cells]) + 128
    more, room = first - second, units[:, None] * _UNIT * (first + second)
    return np.maximum(more, 0.0).sum(axis=1), np.maximum(more + room, 0.0).sum(axis=1) + _LEFT_OUT


def distances(loses: Cell, gains: Cells, grown: float) -> tuple[Values, Values]:
    r"""Return :math:`\sum (P - e^\varepsilon Q)_+` of a cell with each of several, and a bound above it.

    `grown` is :math:`e^\varepsilon`. For each outcome of the second cell, the outcomes of the first that
    count are those from some place on.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(loses.second > 0, loses.first / loses.second, np.inf)
        needed = grown * gains.second / gains.first
    place = np.searchsorted(np.maximum.accumulate(ratio), needed, side="right")
    first, second = (np.append(np.cumsum(law[::-1])[::-1], 0.0)[place] for law in loses[:2])
    more, less = gains.first * first, grown * gains.second * second
    value = np.add.reduceat(np.maximum(more - less, 0.0), gains.starts)
    units = 16 * (loses.people + gains.people) + 128
    error = units * _UNIT * np.add.reduceat(more + less, gains.starts)
    return value, value + error + gains.left + _LEFT_OUT
