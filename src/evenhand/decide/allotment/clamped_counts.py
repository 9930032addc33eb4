r"""One noisy count after clamping or shrinking: where it can end up, with which probability.

A step sets everything up to a start :math:`z_0` to the least value and leaves, or lowers, what is beyond. So
a count is a mass at the least value and a part beyond the start, which is a sum over whole numbers or an
integral by Gauss and Legendre's rule between the kinks, for shrinking in the logarithm of :math:`z + 1`,
where it is smooth.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evenhand.decide.exact.noise_laws import density_reach, most_orders, standard_cumulants
from evenhand.decide.exact.points import unit_rule
from evenhand.privacy.laws import DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace, Law
from evenhand.release.postprocess.noise_bias import clamp_bias, shrink_bias
from evenhand.release.postprocess.steps import Cut, Integral, Nonnegative, Shrink, Step

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from evenhand.decide.allotment.noisy_total import NoisyShares

    Values = NDArray[np.float64]

_FAR = 60.0  # exp(-60) is 9e-27, and times the seventh power of the distance still negligible
_BLOCK = 1 << 21
_PANELS, _FINE, _NODES = 16, 32, 12
_WIDE = 500.0

ORDERS = 8
"""The highest order."""


@dataclass(frozen=True)
class FloorStep:
    """A step that keeps counts at a least value of at least 0.

    Attributes
    ----------
    temperature : float
        That of shrinking; 0 for clamping alone.
    least : int
        The least value.
    cut : int
        The largest count that a cut sets to 0; 0 without one.
    """

    temperature: float
    least: int
    cut: int = 0

    @property
    def start(self) -> float:
        """The value up to which everything becomes the least value."""
        return self.cut or self.least + 2 * self.temperature / (1 + math.sqrt(1 + 4 * self.temperature))

    def lowered_by(self, values: Values) -> Values:
        """Return what shrinking takes of values beyond the start."""
        lowered: Values = self.temperature / (values + 1 - self.least)
        return lowered


def floor_step(steps: Sequence[Step], laws: Sequence[Law]) -> FloorStep | None:
    """Return the one step that all of them amount to; None where there is none, or it needs sampling.

    Rounding counts only where it changes something: whole numbers stay as they are.
    """
    whole = all(law.support == "integers" for law in laws)
    if len(steps) == 1 and isinstance(steps[0], Cut):
        narrow = whole and all(_real_if_wide(law) is law for law in laws)
        return FloorStep(0.0, 0, steps[0].most) if narrow else None
    shrinks = [step for step in steps if isinstance(step, Shrink)]
    clamps = [step for step in steps if isinstance(step, Nonnegative)]
    rounded = any(isinstance(step, Integral) for step in steps)
    known = len(shrinks) + len(clamps) + sum(isinstance(step, Integral) for step in steps) == len(steps)
    if not known or not (shrinks or clamps) or len(shrinks) > 1 or (rounded and (shrinks or not whole)):
        return None
    least = max(step.least for step in clamps) if not shrinks else shrinks[0].least
    if least < 0 or any(step.least > least for step in clamps):
        return None
    return FloorStep(shrinks[0].T if shrinks else 0.0, least)


def outcomes(counts: Values, law: Law, step: FloorStep) -> Iterator[tuple[slice, Values, Values]]:
    """Yield, for blocks of counts, by how much each can change and with which probability.

    Both are of shape (counts, outcomes); the first outcome is the least value. Changes, and not values, keep
    their digits however large a count is. Whole-numbered noise wider
    than 500 is taken for real noise of the same scale, which changes less than a millionth.
    """
    law = _real_if_wide(law)
    columns = 2 * _FINE * _NODES if law.support == "reals" else 2 * math.ceil(reach_of(law)) + 1
    size = max(1, _BLOCK // columns)
    for first in range(0, counts.size, size):
        part = slice(first, min(first + size, counts.size))
        here = counts[part]
        stuck = law.cdf(step.start - here)
        changes, masses = _integers(here, law, step) if law.support == "integers" else _reals(here, law, step)
        start = (step.least - here)[:, np.newaxis]
        changes = np.concatenate([start, changes], axis=1)
        masses = np.concatenate([np.asarray(stuck)[:, np.newaxis], masses], axis=1)
        yield part, changes, masses


def mean_shift(counts: Values, law: Law, step: FloorStep) -> Values | None:
    """Return the bias of counts after shrinking under whole-numbered noise; None for real or wide noise.

    What shrinking takes is added up by itself, so that large counts lose no digits; the noise's mean is 0.
    """
    if law.support == "reals" or _real_if_wide(law) is not law:
        return None
    far = math.ceil(reach_of(law))
    noise = np.arange(-far, far + 1, dtype=np.float64)
    masses = law.pmf(noise)  # type: ignore[attr-defined]
    shift, size = np.empty(counts.size), max(1, _BLOCK // noise.size)
    for first in range(0, counts.size, size):
        part = slice(first, first + size)
        places = counts[part, np.newaxis] + noise
        above = np.maximum(places, step.start) + 1 - step.least
        taken = np.where(places > step.start, -step.temperature / above, step.least - places)
        shift[part] = taken @ masses
    return shift


def clamped_moments(counts: Values, law: Law, step: FloorStep, orders: int) -> Values | None:
    r"""Return :math:`E[(\hat x - x)^r]` for r up to `orders` after a clamp alone; None where it is not quick.

    With :math:`d = x - \ell \ge 0` whole, what the clamp takes away is a sum over the far tail, and all of
    these are partial sums of one list.
    """
    depth = counts - step.least
    whole = law.support == "integers" and _real_if_wide(law) is law
    if step.start > step.least or not whole or (depth < 0).any() or (depth % 1 != 0).any():
        return None
    far = math.ceil(reach_of(law))
    noise = np.arange(far + 1, dtype=np.float64)
    masses = law.pmf(noise)  # type: ignore[attr-defined]
    here = np.minimum(depth, far).astype(np.int64)
    beyond = np.cumsum(masses[::-1])[::-1][here]
    result = np.empty((counts.size, orders + 1))
    for order in range(orders + 1):
        terms = masses * noise**order
        full = 0.0 if order % 2 else 2 * float(terms.sum()) - (masses[0] if order == 0 else 0.0)
        tail = np.cumsum(terms[::-1])[::-1][here]
        result[:, order] = full - (-1.0) ** order * (tail - np.minimum(depth, far) ** order * beyond)
    return result


def reach_of(law: Law) -> float:
    """Return how far noise goes before its probability is below 1e-26."""
    return density_reach(law, _FAR) + 1


def _real_if_wide(law: Law) -> Law:
    if isinstance(law, DiscreteLaplace) and float(law.scale) > _WIDE:
        return Laplace(law.scale)
    if isinstance(law, DiscreteGaussian) and float(law.squared_scale) > _WIDE**2:
        return Gaussian(law.squared_scale)
    return law


def _integers(counts: Values, law: Law, step: FloorStep) -> tuple[Values, Values]:
    far = math.ceil(reach_of(law))
    noise = np.arange(-far, far + 1, dtype=np.float64)
    values = counts[:, np.newaxis] + noise
    beyond = values > step.start
    masses = np.where(beyond, law.pmf(noise), 0.0)  # type: ignore[attr-defined]
    return noise - step.lowered_by(np.maximum(values, step.start)), masses


def _reals(counts: Values, law: Law, step: FloorStep) -> tuple[Values, Values]:
    far = reach_of(law)
    centre = np.maximum(counts, step.start)
    ends = (np.maximum(step.start, counts - far), centre, np.maximum(step.start, counts + far))
    nodes, weights = unit_rule(_NODES, _FINE if step.temperature else _PANELS)
    changes, masses = [], []
    for low, high in ((ends[0], ends[1]), (ends[1], ends[2])):
        left, right = low[:, np.newaxis] - step.least, high[:, np.newaxis] - step.least
        if step.temperature:  # 1 / (z + 1) is smooth in the logarithm of z + 1
            width = np.log1p(right) - np.log1p(left)
            place = np.expm1(np.log1p(left) + width * nodes)
            width = width * (place + 1)
        else:
            width = right - left
            place = left + width * nodes
        place += step.least
        noise = place - counts[:, np.newaxis]
        changes.append(noise - step.lowered_by(place))
        masses.append(law.pdf(noise) * width * weights)  # type: ignore[attr-defined]
    return np.concatenate(changes, axis=1), np.concatenate(masses, axis=1)


@dataclass(frozen=True, eq=False)
class Cumulants:
    """Hold what noisy counts are after a step.

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


def count_cumulants(noisy: NoisyShares, step: FloorStep) -> Cumulants:
    """Return them for every entity; counts that are equal, with noise of the same law, are computed once."""
    size = noisy.counts.size
    bias, values, highest = np.empty(size), np.empty((size, ORDERS - 1)), np.empty(size)
    stuck, spread = np.empty(size), np.empty(size)
    for place, law in enumerate(noisy.laws):
        here = np.flatnonzero(noisy.which == place)
        distinct, back = np.unique(noisy.counts[here], return_inverse=True)
        figures = _of_counts(distinct, law, step)
        bias[here], values[here], highest[here] = (figure[back] for figure in figures)
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


def _of_counts(counts: Values, law: Law, step: FloorStep) -> tuple[Values, Values, Values]:
    if step.cut or step.temperature:
        shift = mean_shift(counts, law, step)
        bias = shrink_bias(counts, law, T=step.temperature, least=step.least) if shift is None else shift
        touched = np.ones(counts.shape, dtype=bool)
    else:
        bias = clamp_bias(counts, law, least=step.least)
        touched = counts - step.least <= reach_of(law)
    values, highest = _plain_cumulants(law, counts.size)
    if touched.any():
        central = _central_moments(counts[touched], bias[touched], law, step)
        values[touched] = _cumulants_from_moments(central)
        highest[touched] = central[:, ORDERS]
    return bias, values, highest


def _plain_cumulants(law: Law, size: int) -> tuple[Values, Values]:
    """Return what noise has that no step sees."""
    row = np.zeros(ORDERS - 1)
    row[::2] = law.variance  # that of noise which is at most 1, but for a chance below rounding
    if most_orders(law) >= ORDERS // 2:
        standard = standard_cumulants(law, ORDERS // 2)
        row[::2] = [value * law.variance ** (order + 1) for order, value in enumerate(standard)]
    return np.tile(row, (size, 1)), np.full(size, float(moments_of(row)[ORDERS]))


def _central_moments(counts: Values, bias: Values, law: Law, step: FloorStep) -> Values:
    """Return the central moments of orders 0 to 8 of each count after the step."""
    about_truth = clamped_moments(counts, law, step, ORDERS)
    central = np.zeros((counts.size, ORDERS + 1))
    central[:, 0] = 1
    if about_truth is not None:
        for order in range(2, ORDERS + 1):
            for j in range(order + 1):
                central[:, order] += math.comb(order, j) * about_truth[:, j] * (-bias) ** (order - j)
        return central
    for part, changes, masses in outcomes(counts, law, step):
        away = changes - bias[part, np.newaxis]
        power = masses * away
        for order in range(2, ORDERS + 1):
            power = power * away
            central[part, order] = power.sum(axis=1)
    return central


def _cumulants_from_moments(moments: Values) -> Values:
    cumulants = np.zeros((moments.shape[0], ORDERS - 1))
    for m in range(2, ORDERS + 1):
        lower = sum(math.comb(m - 1, j - 1) * cumulants[:, j - 2] * moments[:, m - j] for j in range(2, m))
        cumulants[:, m - 2] = moments[:, m] - lower
    return cumulants
