r"""The split of a budget that makes the total variance least.

The sum of :math:`w_j V_j(\varepsilon_j)` is to be least while the :math:`\varepsilon_j` sum to
:math:`\varepsilon`. Where every :math:`V_j` is smooth and convex, the marginal gains
:math:`-w_j V_j'(\varepsilon_j)` are equal at the optimum: one search finds the common gain, and one inside it
the epsilons that have it. Otherwise dynamic programming on a fine grid finds the best point of the grid,
which is then moved to the nearest local optimum.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evenhand.collect.protocols.registry import PROTOCOLS, ideal_arrays, is_convex

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]
    Formula = Callable[[str, Floats, Floats], Any]

_STEPS = 64  # of a bisection: enough for every bit of a float
_ROUNDS = 14  # of a search in 17 parts: likewise
_SMALLEST = 2.0**-100  # share of the budget that a bisection starts from
_GRID = 2000  # parts of the budget
_ROWS = 128  # of the grid at a time
_FINEST = 2.0**-30  # of the first step
_NOISE = 2.0**-50  # share of the cost below which a change may be rounding


class Attributes(NamedTuple):
    """Several attributes: how many values each has, how much it counts, and which formula it follows."""

    sizes: Floats
    weights: Floats
    names: tuple[str, ...]

    def costs(self, epsilons: Floats) -> Floats:
        """Return weight times variance of each attribute; the attributes are the last axis."""
        return self.weights * self._by_name(lambda *which: ideal_arrays(*which).variance, epsilons)

    def log_gains(self, epsilons: Floats) -> Floats:
        """Return the logarithm of minus the derivative of each cost, where the formulas are convex."""
        gains = self._by_name(lambda name, *which: PROTOCOLS[name].log_gain(*which), epsilons)
        return gains + np.log(self.weights)

    def _by_name(self, formula: Formula, epsilons: Floats) -> Floats:
        """Return what the formula of each attribute's protocol gives; the attributes are the last axis."""
        sizes = np.broadcast_to(self.sizes, epsilons.shape)
        if len(set(self.names)) == 1:
            return np.asarray(formula(self.names[0], sizes, epsilons))
        results = np.empty(epsilons.shape)
        for name in dict.fromkeys(self.names):
            own = [position for position, other in enumerate(self.names) if other == name]
            results[..., own] = formula(name, sizes[..., own], epsilons[..., own])
        return results

    def total(self, epsilons: Floats) -> float:
        """Return the sum of the costs, which does not depend on the order of the attributes."""
        return math.fsum(self.costs(epsilons))

    def select(self, order: npt.NDArray[np.intp]) -> Attributes:
        """Return some of the attributes, in the order given."""
        return Attributes(self.sizes[order], self.weights[order], tuple(self.names[place] for place in order))


def optimal_split(total: float, attributes: Attributes, starts: Sequence[Floats]) -> Floats:
    """Return the epsilons of least total cost that sum to `total`, but for rounding.

    Parameters
    ----------
    total : float
        The whole budget.
    attributes : Attributes
        What it is to be split among.
    starts : sequence of arrays
        Splits that the result must not be worse than.
    """
    if len(attributes.names) == 1:
        return np.array([total])
    if all(map(is_convex, set(attributes.names))):
        return _water_filling(total, attributes)
    order = np.lexsort((np.array(attributes.names), attributes.weights, attributes.sizes))
    ordered = attributes.select(order)
    best = min([_split_on_grid(total, ordered), *(start[order] for start in starts)], key=ordered.total)
    back = np.empty_like(best)
    back[order] = _polish_split(best, ordered)
    return back


# --- smooth and convex ----------------------------------------------------------------------------


def _water_filling(total: float, attributes: Attributes) -> Floats:
    """Give every attribute the same marginal gain; its logarithm is narrowed down to 1/17 at a time."""
    d = len(attributes.names)
    # with the least gain some attribute gets everything, with the most none gets more than an equal part
    low = float(attributes.log_gains(np.full(d, total)).min()) - 1
    high = float(attributes.log_gains(np.full(d, total / d)).max()) + 1
    for _ in range(_ROUNDS):
        gains = np.linspace(low, high, 18)
        spent = [math.fsum(row) for row in _epsilons_at(gains[1:-1], total, attributes)]
        enough = sum(amount > total for amount in spent)  # the more gain is asked for, the less is spent
        low, high = gains[enough], gains[enough + 1]
    epsilons: Floats = _epsilons_at(np.array([high]), total, attributes)[0]
    return epsilons


def _epsilons_at(log_gains: Floats, total: float, attributes: Attributes) -> Floats:
    """Return, for each gain (row), the epsilon at which each attribute has it, by bisection."""
    shape = (log_gains.size, len(attributes.names))
    low, high = np.full(shape, math.log(total * _SMALLEST)), np.full(shape, math.log(total))
    for _ in range(_STEPS):
        middle = (low + high) / 2
        more = attributes.log_gains(np.exp(middle)) > log_gains[:, None]
        low, high = np.where(more, middle, low), np.where(more, high, middle)
    return np.asarray(np.exp(low))


# --- anything else --------------------------------------------------------------------------------


def _split_on_grid(total: float, attributes: Attributes) -> Floats:
    """Return the best split among those in whole parts of the budget, by dynamic programming."""
    d = len(attributes.names)
    parts = max(_GRID, 20 * d)
    places = np.arange(1, parts - d + 2) * (total / parts)
    table = attributes.costs(np.broadcast_to(places[:, None], (places.size, d)))
    best, choices = table[:, 0], []
    for position in range(1, d):
        best, chosen = _least_sums(best, table[:, position])
        choices.append(chosen)
    # entry m of `best`, after d attributes, is the least cost of spending m + d parts
    spent, counts = places.size - 1, []
    for chosen in reversed(choices):
        counts.append(int(chosen[spent]) + 1)
        spent -= int(chosen[spent])
    counts.append(spent + 1)
    return np.array(counts[::-1]) * (total / parts)


def _least_sums(first: Floats, second: Floats) -> tuple[Floats, npt.NDArray[np.intp]]:
    """Return the least of ``first[m - i] + second[i]`` over i for every m, and where it is."""
    size = first.size
    padded = np.concatenate((np.full(size - 1, np.inf), first))
    windows = np.lib.stride_tricks.sliding_window_view(padded, size)  # row m holds first[m], ..., backward
    least, places = np.empty(size), np.empty(size, dtype=np.intp)
    for start in range(0, size, _ROWS):
        sums = windows[start : start + _ROWS] + second[::-1]
        where = sums.argmin(axis=1)
        least[start : start + _ROWS] = sums[np.arange(where.size), where]
        places[start : start + _ROWS] = size - 1 - where
    return least, places


def _polish_split(epsilons: Floats, attributes: Attributes) -> Floats:
    """Move budget between pairs of attributes, in ever smaller steps, as long as the cost falls."""
    polished = epsilons.copy()
    first = step = math.fsum(polished) / _GRID
    while step > first * _FINEST:
        moved = _best_move(polished, attributes, step)
        if moved is None:
            step /= 2
        else:
            polished = moved
    return polished


def _best_move(epsilons: Floats, attributes: Attributes, step: float) -> Floats | None:
    """Return the epsilons after the best move of `step` from one attribute to another, if it helps."""
    less = np.where(epsilons > step, epsilons - step, epsilons)
    now, lower, higher = attributes.costs(np.stack((epsilons, less, epsilons + step)))
    change = (higher - now)[:, None] + np.where(epsilons > step, lower - now, np.inf)[None, :]
    np.fill_diagonal(change, np.inf)
    taker, giver = np.unravel_index(change.argmin(), change.shape)
    if change[taker, giver] >= -_NOISE * math.fsum(now):
        return None
    moved = epsilons.copy()
    moved[taker] += step
    moved[giver] -= step
    return moved
