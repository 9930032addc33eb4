r"""Limits of differences between rates of groups, also of groups that share people.

Rows are counted in *strata* that share no row. A rate of some strata is :math:`\sum_k c_k x_k`, where
:math:`x_k` counts the successes of stratum :math:`k` and :math:`c_k` is one divided by all trials, or 0. So
is every sum and difference of rates. Strata with the same :math:`c_k` are one share as far as the sum goes;
each of these shares has an exact interval, and the intervals are put together as in
:func:`evenhand.measure.share_difference`, which is the difference of two groups that share nobody.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evenhand.measure.counts import PLACE, Tables
from evenhand.measure.disparities import COMPLEMENTS, rate_counts, rate_values
from evenhand.measure.intervals import exact_limits

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from evenhand.measure.counts import Shares


@dataclass(frozen=True, eq=False)
class Contrast:
    """A sum of rates, each times a number.

    Parameters
    ----------
    terms : mapping of (Tables, str) to array
        By the count tables of all strata and the name of a rate, what a success of each stratum counts.
        Different tables are taken as independent; of the same people, asked twice, that is too careful.

    Examples
    --------
    >>> strata = Tables(np.array([[24, 56, 0, 0], [32, 48, 0, 0]]))
    >>> first, second = (rate_of(strata, "selection", np.array(chosen)) for chosen in ([1, 0], [0, 1]))
    >>> low, high = (first - second).limits(0.95)
    >>> f"{low:.3f} {(first - second).value:.3f} {high:.3f}"
    '-0.056 0.100 0.251'
    """

    terms: Mapping[tuple[Tables, str], NDArray[np.float64]]

    def __sub__(self, other: Contrast) -> Contrast:
        terms = dict(self.terms)
        for key, numbers in other.terms.items():
            terms[key] = terms[key] - numbers if key in terms else -numbers
        return Contrast(terms)

    def __neg__(self) -> Contrast:
        return Contrast({key: -numbers for key, numbers in self.terms.items()})

    @property
    def value(self) -> float:
        """The sum itself."""
        return math.fsum(
            float(numbers @ _successes(strata.groups, rate)) for (strata, rate), numbers in self.terms.items()
        )

    def limits(self, level: float) -> tuple[float, float]:
        """Return the limits of the sum."""
        below = above = 0.0
        for (strata, rate), numbers in self.terms.items():
            distinct = np.unique(numbers[numbers != 0])
            members = np.asarray(numbers == distinct[:, None], dtype=float)
            squares = None if strata.squares is None else members @ strata.squares
            shares = Tables(members @ strata.cells, squares, labelled=strata.labelled).groups
            trials = _trials(shares, rate)
            there = trials > 0
            values = rate_values(shares, rate)[there]
            low, high = (part[there] for part in exact_limits(*rate_counts(shares, rate), 1 - level))
            times = (distinct * trials)[there]
            down, up = times * (values - low), times * (high - values)
            below += float((np.where(times > 0, down, up) ** 2).sum())
            above += float((np.where(times > 0, up, down) ** 2).sum())
        return self.value - math.sqrt(below), self.value + math.sqrt(above)


def rate_of(strata: Tables, rate: str, chosen: NDArray[np.bool], times: float = 1.0) -> Contrast:
    """Return a rate of the chosen strata as a contrast; not a number where nobody is counted."""
    trials = float(_trials(strata.groups, rate)[chosen.astype(bool)].sum())
    return Contrast({(strata, rate): np.where(chosen, times / trials if trials else math.nan, 0.0)})


def _trials(shares: Shares, rate: str) -> NDArray[np.float64]:
    return np.asarray(shares.trials[..., PLACE[COMPLEMENTS.get(rate, rate)]], dtype=float)


def _successes(shares: Shares, rate: str) -> NDArray[np.float64]:
    """Return the successes of a rate, or the sums of their weights."""
    found = np.asarray(shares.successes[..., PLACE[COMPLEMENTS.get(rate, rate)]], dtype=float)
    return _trials(shares, rate) - found if rate in COMPLEMENTS else found
