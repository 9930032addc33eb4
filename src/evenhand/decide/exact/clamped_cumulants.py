"""Means and cumulants, up to the eighth, of noisy counts after clamping or shrinking."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evenhand.decide.exact.clamped_counts import Raised, clamped_moments, mean_shift, outcomes, reach_of
from evenhand.decide.exact.cumulants import standard_cumulants
from evenhand.release import postprocess

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evenhand.decide.allotment.inputs import Noisy
    from evenhand.privacy.laws import Law

    Values = NDArray[np.float64]

__all__ = ["ORDERS", "Cumulants", "count_cumulants", "moments_of"]

ORDERS = 8
"""The highest order."""


@dataclass(frozen=True, eq=False)
class Cumulants:
    """What noisy counts are after a step.

    Attributes
    ----------
    bias : array
        Expected minus true, by entity.
    values : array
        Cumulants of orders 2 to 8, by entity.
    highest : array
        The eighth central moment, by entity.
    stuck : array
        The probability of ending at the least value, by entity.
    spread : array
        The standard deviation of the noise and the value up to which counts are stuck, added up.
    """

    bias: Values
    values: Values
    highest: Values
    stuck: Values
    spread: Values


def count_cumulants(noisy: Noisy, step: Raised) -> Cumulants:
    """Return them for every entity; counts that are equal, with noise of the same law, are computed once."""
    size = noisy.counts.size
    bias, values, highest = np.empty(size), np.empty((size, ORDERS - 1)), np.empty(size)
    stuck, spread = np.empty(size), np.empty(size)
    for place, law in enumerate(noisy.laws):
        here = np.flatnonzero(noisy.which == place)
        distinct, back = np.unique(noisy.counts[here], return_inverse=True)
        found = _of_counts(distinct, law, step)
        bias[here], values[here], highest[here] = (each[back] for each in found)
        stuck[here] = law.cdf(step.start - noisy.counts[here])
        spread[here] = law.standard_deviation + step.start
    return Cumulants(bias, values, highest, stuck, spread)


def moments_of(cumulants: Values) -> Values:
    r"""Return the central moments of orders 0 to 8 from cumulants of orders 2 to 8.

    .. math:: \mu_m = \sum_{l = 2}^m \binom{m - 1}{l - 1} \kappa_l\, \mu_{m - l}
    """
    moments = np.zeros((*cumulants.shape[:-1], ORDERS + 1))
    moments[..., 0] = 1
    for m in range(2, ORDERS + 1):
        for order in range(2, m + 1):
            factor = math.comb(m - 1, order - 1)
            moments[..., m] += factor * cumulants[..., order - 2] * moments[..., m - order]
    return moments


def _of_counts(counts: Values, law: Law, step: Raised) -> tuple[Values, Values, Values]:
    if step.temperature:
        shift = mean_shift(counts, law, step)
        bias = (
            postprocess.shrink_bias(counts, law, T=step.temperature, least=step.least)
            if shift is None
            else shift
        )
        touched = np.ones(counts.shape, dtype=bool)
    else:
        bias = postprocess.clamp_bias(counts, law, least=step.least)
        touched = counts - step.least <= reach_of(law)
    values, highest = _untouched(law, counts.size)
    if touched.any():
        central = _central(counts[touched], bias[touched], law, step)
        values[touched] = _from_moments(central)
        highest[touched] = central[:, ORDERS]
    return bias, values, highest


def _untouched(law: Law, size: int) -> tuple[Values, Values]:
    """Return what noise has that no step sees."""
    standard = standard_cumulants(law, ORDERS // 2)
    row = np.zeros(ORDERS - 1)
    row[::2] = [value * law.variance ** (order + 1) for order, value in enumerate(standard)]
    return np.tile(row, (size, 1)), np.full(size, float(moments_of(row)[ORDERS]))


def _central(counts: Values, bias: Values, law: Law, step: Raised) -> Values:
    """Return the central moments of orders 0 to 8 of each count after the step."""
    about_truth = clamped_moments(counts, law, step, ORDERS)
    found = np.zeros((counts.size, ORDERS + 1))
    found[:, 0] = 1
    if about_truth is not None:
        for order in range(2, ORDERS + 1):
            for j in range(order + 1):
                found[:, order] += math.comb(order, j) * about_truth[:, j] * (-bias) ** (order - j)
        return found
    for part, changes, masses in outcomes(counts, law, step):
        away = changes - bias[part, np.newaxis]
        power = masses * away
        for order in range(2, ORDERS + 1):
            power = power * away
            found[part, order] = power.sum(axis=1)
    return found


def _from_moments(moments: Values) -> Values:
    found = np.zeros((moments.shape[0], ORDERS - 1))
    for m in range(2, ORDERS + 1):
        lower = sum(math.comb(m - 1, j - 1) * found[:, j - 2] * moments[:, m - j] for j in range(2, m))
        found[:, m - 2] = moments[:, m] - lower
    return found
