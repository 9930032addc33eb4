r"""Shares in units of a noisy weighted total: what methods start from, and how far noise moves the total.

Let :math:`t` be the noise in the total over the total, and :math:`A` the event :math:`|t| \le 9/10`.
Chernoff's bound, :math:`\Pr[|t| > c] \le 2 M(\theta) e^{-\theta c}` for every :math:`\theta` with a finite
moment generating function :math:`M`, is exact arithmetic for sums of independent noises, whatever their
weights, and falls exponentially.

Near :math:`t = -1` the total is near 0 and shares have no mean under continuous noise. What is added there
to the principal value is bounded so: Let :math:`s` be the largest scale of Laplace noise in :math:`t`. Given
all other noise the density of :math:`t` changes by at most a factor :math:`e^{|y|/s}` over a distance
:math:`y`, so the principal value over :math:`|1 + t| \le s` is at most :math:`2 \mathrm{Shi}(1) = 2.115`
times the density at :math:`-1`, which is at most :math:`\Pr[|1 + t| \le s] / (2 s (1 - e^{-1}))`. Beyond,
:math:`1 / |1 + t| \le 1 / s`. Together it is below
:math:`(2.7\, E[g_i |\hat\eta_i|; A^c] + 4.7\, E[|t|; A^c]) / s` for :math:`s \le 1/10`.
"""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evenhand.decide.exact.noise_laws import (
    bounding_variance,
    log_mgf,
    mean_size_tilted,
    standard_cumulants,
    tilt_limit,
)
from evenhand.errors import InvalidParameterError
from evenhand.privacy.laws import Gaussian, Laplace, Law

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from evenhand.decide.allotment.allotment import Allotment

    Values = NDArray[np.float64]

_DENOMINATORS = (1, 2, 3, 4, 5, 8, 10, 16, 20, 25, 40, 50, 100, 200, 1000, 10_000)
_LARGEST_WHOLE = 2.0**52

EVENT = 0.9
"""How far the total may move, as a part of itself, on the event over which means are certified."""

_PARTS = (0.02, 0.1, 0.25, 0.5, 0.7, 0.8, 0.87, 0.92, 0.96, 0.98)
_SHI = 2.1146  # 2 Shi(1)
_OWN, _TOTAL = 2.7, 4.7


@dataclass(frozen=True, eq=False)
class NoisyShares:
    r"""Shares of a total with noise, :math:`\tilde P_i = (P_i + g_i \hat\eta_i) / (1 + t)`.

    Attributes
    ----------
    counts, weights : array
        The true counts and their weights.
    total : float
        The weighted total, > 0.
    shares : array
        True shares.
    reach : array
        :math:`g_i = a_i \sigma_i / Z`: the standard deviation of the noise in each entity's own part, and, as
        :math:`t = \sum_j g_j \hat\eta_j`, in the total.
    laws : tuple of Law
        The different laws of noise.
    which : array of int
        The place of each entity's law among them.
    """

    counts: Values
    weights: Values
    total: float
    shares: Values
    reach: Values
    laws: tuple[Law, ...]
    which: NDArray[np.int64]

    def cumulants(self, orders: int) -> Values:
        """Return the standardised even cumulants, one row for each law."""
        return np.array([standard_cumulants(law, orders) for law in self.laws])

    def of_total(self, cumulants: Values) -> Values:
        """Return the even cumulants of the noise in the total, in units of the total."""
        squares = self.reach**2
        power = np.ones_like(squares)
        totals = np.empty(cumulants.shape[1])
        for order in range(cumulants.shape[1]):
            power = power * squares
            by_law = np.bincount(self.which, weights=power, minlength=len(self.laws))
            totals[order] = by_law @ cumulants[:, order]
        return totals


def build_noisy_shares(
    problem: Allotment, counts: ArrayLike, law: Law | Sequence[Law], *, owner: str = "allotment_bias"
) -> NoisyShares:
    """Check an allotment, its counts and its noise, and put them in units of the total."""
    weights = problem.weights
    values = _counts(counts, weights.size, owner)
    laws, which = _laws(law, weights.size, owner)
    total = float(weights @ values)
    if not total > 0:
        must_be = "counts with a weighted total above 0, without which there are no shares"
        raise InvalidParameterError("counts", owner=owner, must_be=must_be, got="others")
    deviations = np.array([single_law.standard_deviation for single_law in laws])[which]
    return NoisyShares(
        counts=values,
        weights=weights,
        total=total,
        shares=weights * values / total,
        reach=weights / total * deviations,
        laws=laws,
        which=which,
    )


def whole_weights(noisy: NoisyShares) -> tuple[NDArray[np.int64], int] | None:
    """Return weights and total as whole numbers without a common factor; None where noise or weights are not.

    A weight of 0.1 counts as one tenth.
    """
    integers = all(law.support == "integers" for law in noisy.laws)
    if not integers or (noisy.counts % 1 != 0).any():
        return None
    for below in _DENOMINATORS:
        scaled = np.rint(noisy.weights * below)
        if scaled.max() < _LARGEST_WHOLE and (scaled / below == noisy.weights).all():
            whole = scaled.astype(np.int64)
            whole //= int(np.gcd.reduce(whole))
            total = sum(map(operator.mul, whole.tolist(), map(int, noisy.counts.tolist())))
            return (whole, total) if total < _LARGEST_WHOLE else None
    return None


def _counts(counts: ArrayLike, size: int, owner: str) -> Values:
    array = np.asarray(counts)
    right = array.shape == (size,) and array.dtype.kind in "iuf"
    values = array.astype(np.float64) if right else np.zeros(1)
    if not right or not np.isfinite(values).all() or (values < 0).any():
        must_be = "finite numbers of at least 0, one for each weight"
        raise InvalidParameterError("counts", owner=owner, must_be=must_be, got="others")
    return values


def _laws(law: Law | Sequence[Law], size: int, owner: str) -> tuple[tuple[Law, ...], NDArray[np.int64]]:
    if isinstance(law, Law):
        return (law,), np.zeros(size, dtype=np.int64)
    listed = list(law) if isinstance(law, list | tuple) else []
    if len(listed) != size or not all(isinstance(single_law, Law) for single_law in listed):
        must_be = "a law of noise, or a list of laws, one for each weight"
        raise InvalidParameterError("law", owner=owner, must_be=must_be, got="something else")
    places: dict[Law, int] = {}
    which = [places.setdefault(single_law, len(places)) for single_law in listed]
    return tuple(places), np.array(which, dtype=np.int64)


@dataclass(frozen=True)
class Tail:
    """Hold what happens where the total moves by more than nine tenths of itself.

    Attributes
    ----------
    probability : float
        An upper bound of its probability.
    slack : float
        An upper bound of what it adds to the quantity in `covers`, for every entity; infinite without one.
    covers : str
        The quantity, in words.
    """

    probability: float
    slack: float
    covers: str


def chernoff(noisy: NoisyShares, distance: float) -> tuple[float, float]:
    """Return an upper bound of Pr[t > distance] and the tilt that attains it."""
    best, tilt = 0.0, 0.0
    for trial in _tilts(noisy, distance):
        exponent = _log_mgf(noisy, trial) - trial * distance
        if exponent < best:
            best, tilt = exponent, trial
    return math.exp(max(best, -745.0)) if best > -745 else 0.0, tilt


def outside_event(noisy: NoisyShares, *, own: bool = True) -> Tail:
    """Bound what lies outside the event; `own` False leaves only the mean over the event itself."""
    one_side, tilt = chernoff(noisy, EVENT)
    probability = min(1.0, 2 * one_side)
    kinds = {type(law) for law in noisy.laws}
    if own and kinds == {Laplace}:
        return Tail(probability, _laplace_slack(noisy, probability, tilt), "the principal value")
    if own and kinds == {Gaussian}:
        return Tail(probability, _gaussian_slack(noisy, probability), "the principal value")
    whole = whole_weights(noisy) if own else None
    if whole is not None:
        slack = _sizes(noisy, probability, tilt) * whole[1]  # no total but 0 is nearer to 0 than 1
        return Tail(probability, slack, "the mean, a total of 0 counting as no error")
    return Tail(probability, 0.0, "the mean where the total moves by at most nine tenths of itself")


def _laplace_slack(noisy: NoisyShares, probability: float, tilt: float) -> float:
    scale = float((noisy.reach / math.sqrt(2)).max())
    if scale > 1 - EVENT or tilt * EVENT < 1:
        return math.inf
    return (_OWN * _largest_own_size(noisy, tilt) + _TOTAL * EVENT) * probability / scale


def _gaussian_slack(noisy: NoisyShares, probability: float) -> float:
    """Bound the rest where the own noise, given the total's, is in proportion to it."""
    variance = float((noisy.reach**2).sum())
    if variance > 1 - EVENT:
        return math.inf
    density = math.exp(-min(1 / (2 * variance), 745.0)) / math.sqrt(2 * math.pi * variance)
    return probability * (1 + 1 / variance) + _SHI * density


def _sizes(noisy: NoisyShares, probability: float, tilt: float) -> float:
    """Bound E[g_i |noise_i| + |t|] outside the event."""
    if tilt * EVENT < 1:
        return math.inf
    return (_largest_own_size(noisy, tilt) + EVENT) * probability


def _largest_own_size(noisy: NoisyShares, tilt: float) -> float:
    """Return the largest bound of the mean size of the noise in an entity's own part of the total."""
    sizes = np.empty_like(noisy.reach)
    for place, law in enumerate(noisy.laws):
        here = noisy.which == place
        sizes[here] = mean_size_tilted(law, tilt * noisy.weights[here] / noisy.total)
    return float((noisy.weights / noisy.total * sizes).max())


def _tilts(noisy: NoisyShares, distance: float) -> list[float]:
    """Return tilts to try: that of a Gaussian, and parts of the largest one."""
    deviations = np.sqrt([bounding_variance(law) for law in noisy.laws])[noisy.which]
    variance = float(((noisy.weights / noisy.total * deviations) ** 2).sum())
    normal = distance / variance if variance > 0 else math.inf
    most = math.inf
    for place, law in enumerate(noisy.laws):
        heaviest = float(noisy.weights[noisy.which == place].max(initial=0.0)) / noisy.total
        if heaviest > 0:
            most = min(most, tilt_limit(law) / heaviest)
    if not math.isfinite(most):
        return [normal] if math.isfinite(normal) else []
    return [part * most for part in _PARTS if part * most < 4 * normal] + [min(normal, _PARTS[-1] * most)]


def _log_mgf(noisy: NoisyShares, tilt: float) -> float:
    total = 0.0
    for place, law in enumerate(noisy.laws):
        here = noisy.weights[noisy.which == place] if len(noisy.laws) > 1 else noisy.weights
        total += float(log_mgf(law, tilt / noisy.total * here).sum())
    return total
