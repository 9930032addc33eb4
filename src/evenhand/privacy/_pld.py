r"""Privacy loss distributions of the sampled Gaussian, composed by dp-accounting and rounded against us.

dp-accounting places the losses of one step on a line of points, each rounded so that no delta becomes smaller
("connect the dots"), and composes the steps by a Fourier transform in double precision. Two errors are left,
and :func:`allowance` is more than both together:

* The delta of one step is off by at most :math:`\eta` at every point. Writing the composition as one step
  after the others, :math:`\delta_T(\varepsilon) = E[\delta_1(\varepsilon - L)]` with :math:`L` the loss of
  the others, shows that delta of :math:`T` steps is then off by at most :math:`T\eta`.
* The transform itself: its error grows like :math:`T` too, because a coefficient near 1 is raised to
  the power :math:`T`.
"""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evenhand.errors import MissingExtraError
from evenhand.privacy.guarantees.units import Unit

if TYPE_CHECKING:
    from fractions import Fraction

    import numpy.typing as npt

__all__ = ["NoisySteps", "allowance", "delta_at", "epsilon_at", "float_above", "float_below"]

_ALLOWED = 2.0**-48  # per step; each of the two errors was measured to be below 2**-50
_FURTHER = 100  # steps' worth of allowance for the sums over the composed losses
_FINE, _COARSE = 100, 10  # points per standard deviation of one step's loss, at least
_FEWER, _NEAR = 20, 1e-5  # points so near to each other get masses that are mostly rounding
_MOST_POINTS = 200_000  # for one step; all steps have ten times as many
_ROUNDING = 1e-13  # over all points and steps, rounding then adds about a thousandth to the mass
_HOPELESS = 1_000.0
_LOG_TAIL = 10.0  # standard deviations of noise within which losses get points of their own
_SPARE = 1 + 1e-12  # for the logarithm and the exponentials behind an epsilon


class NoisySteps(NamedTuple):
    """What is composed: a multiplier rounded down, a sampling rate rounded up, how often, for which unit."""

    noise: float
    sampling: float
    steps: int
    unit: Unit


def float_below(value: Fraction) -> float:
    """Return the largest float that is not above `value`.

    >>> from fractions import Fraction
    >>> Fraction(float_below(Fraction(1, 10))) <= Fraction(1, 10) < Fraction(float_above(Fraction(1, 10)))
    True
    """
    near = float(value)
    return near if near <= value else math.nextafter(near, -math.inf)


def float_above(value: Fraction) -> float:
    """Return the smallest float that is not below `value`."""
    near = float(value)
    return near if near >= value else math.nextafter(near, math.inf)


def allowance(steps: int) -> float:
    """Return what is added to every delta for the rounding of double precision.

    >>> f"{allowance(1500):.1e}"
    '5.7e-12'
    """
    return (steps + _FURTHER) * _ALLOWED


@functools.lru_cache(maxsize=256)
def epsilon_at(of: NoisySteps, delta: float, *, coarse: bool = False) -> float:
    """Return an epsilon that goes with `delta`, infinite where there is none.

    With `coarse` the points are ten times as far apart: some hundredths of a percent more, in a tenth of
    the time.
    """
    left = delta - allowance(of.steps)
    if left <= 0 or _is_hopeless(of):
        return math.inf
    return (
        max(0.0, float(_compose_steps(of, _interval(of, coarse=coarse)).get_epsilon_for_delta(left))) * _SPARE
    )


def delta_at(of: NoisySteps, epsilon: float) -> float:
    """Return a delta that goes with `epsilon`."""
    if _is_hopeless(of):
        return 1.0
    delta = float(_compose_steps(of, _interval(of, coarse=False)).get_delta_for_epsilon(epsilon / _SPARE))
    return min(1.0, max(0.0, delta) * _SPARE + allowance(of.steps))


def _is_hopeless(of: NoisySteps) -> bool:
    """Whether the mean loss is so large that there is no guarantee, which then need not be computed.

    The loss is convex in the noise, so its mean is at least that at the mean noise, with and without the row.
    """
    size, rate = 1 / (2 * of.noise**2), of.sampling
    joined = size + math.log(rate + (1 - rate) * math.exp(-size))
    left = math.log(1 - rate + rate * math.exp(-size))
    return of.steps * (rate * joined + (1 - rate) * left) > _HOPELESS


def _interval(of: NoisySteps, *, coarse: bool) -> float:
    """Return the distance of the points: a power of ten that fits the loss of one step, and of all."""
    rate, shift = of.sampling, 1 / of.noise
    spread = rate * shift
    wanted = spread / _COARSE if coarse else max(spread / _FINE, min(spread / _FEWER, _NEAR))
    reach = math.log1p(rate * math.expm1(min(_LOG_TAIL * shift + shift**2 / 2, 700.0)))
    heavy = min(rate * math.sqrt(math.expm1(min(shift**2, 700.0))), math.sqrt(rate) * shift)
    total = 2 * _LOG_TAIL * heavy * math.sqrt(of.steps)
    rounding = math.sqrt(of.steps * reach * _ROUNDING)
    nearest = max(reach / _MOST_POINTS, total / (10 * _MOST_POINTS), rounding)
    power = max(math.floor(math.log10(wanted)), math.ceil(math.log10(nearest)))
    return float(10.0 ** min(power, -2))


def _load_dp_accounting() -> tuple[Any, Any, Any]:
    """Return the modules of dp-accounting for distributions of losses, for mechanisms and for points."""
    try:
        from dp_accounting.pld import (  # noqa: PLC0415 - optional, and slow to import
            pld_pmf,
            privacy_loss_distribution,
            privacy_loss_mechanism,
        )
    except ImportError:
        feature = "Accounting for noise on sampled rows"
        raise MissingExtraError("dp-accounting", feature=feature, extra="dp") from None
    return privacy_loss_distribution, privacy_loss_mechanism, pld_pmf


@functools.lru_cache(maxsize=8)
def _compose_steps(of: NoisySteps, interval: float) -> Any:
    """Return dp-accounting's distribution of the loss of all steps."""
    losses, mechanisms, _ = _load_dp_accounting()
    change = mechanisms.AdjacencyType
    if of.unit is Unit.REPLACE_ONE:
        one = losses.PrivacyLossDistribution(_one_step(of, change.REPLACE, interval))
    elif of.sampling == 1.0:
        one = losses.PrivacyLossDistribution(_one_step(of, change.REMOVE, interval))
    else:
        added = _one_step(of, change.ADD, interval)
        one = losses.PrivacyLossDistribution(_one_step(of, change.REMOVE, interval), added)
    return one.self_compose(of.steps)


def _one_step(of: NoisySteps, change: Any, interval: float) -> Any:
    """Return the loss of one step on its line of points: as dp-accounting makes it, in arrays."""
    _, mechanisms, points = _load_dp_accounting()
    pair = mechanisms.GaussianPrivacyLoss(of.noise, sampling_prob=of.sampling, adjacency_type=change)
    ends = pair.connect_dots_bounds()
    lowest, highest = math.floor(ends.epsilon_lower / interval), math.ceil(ends.epsilon_upper / interval)
    deltas = one_step_deltas(pair, np.arange(lowest, highest + 1) * interval)
    return points.create_pmf_pessimistic_connect_dots_fixed_gap(interval, lowest, highest, deltas)


def one_step_deltas(pair: Any, epsilons: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    r"""Return the delta of one step at every epsilon.

    Losses are at least :math:`\varepsilon` left of a point, and delta is the difference there of the two
    distribution functions, the second times :math:`e^\varepsilon`.
    """
    rate, change, deltas = pair.sampling_prob, pair.adjacency_type.name, np.zeros_like(epsilons)
    inside = np.ones(epsilons.shape, dtype=np.bool_)
    if rate < 1 and change == "ADD":
        inside = epsilons < -math.log1p(-rate)  # no loss is larger, and delta is 0
    elif rate < 1 and change == "REMOVE":
        inside = epsilons > math.log1p(-rate)  # every loss is larger
        deltas[~inside] = -np.expm1(epsilons[~inside])
    within = epsilons[inside]
    points = _points_of_loss(pair, within)
    lower = np.exp(within + pair.mu_lower_log_cdf(points))
    deltas[inside] = np.clip(pair.mu_upper_cdf(points) - lower, 0, 1)
    return deltas


def _points_of_loss(pair: Any, epsilons: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the points at which the loss is epsilon; it falls from left to right."""
    rate, squared = pair.sampling_prob, pair.standard_deviation**2
    if pair.adjacency_type.name == "REPLACE":
        steep = (1 - rate) / rate * math.exp(1 / (2 * squared))
        points = -squared * (epsilons / 2 + np.arcsinh(steep * np.sinh(epsilons / 2)))
    else:
        sign = 1.0 if pair.adjacency_type.name == "ADD" else -1.0
        with np.errstate(divide="ignore"):  # at the very end of the losses the point is at infinity
            ratios = np.log(np.maximum(_above_the_rest(-sign * epsilons, rate), 0) / rate)
        points = sign * (squared * ratios + 0.5)
    return np.asarray(points, dtype=np.float64)


def _above_the_rest(logs: npt.NDArray[np.float64], rate: float) -> npt.NDArray[np.float64]:
    """Return e**x - (1 - rate), the way that loses fewer digits."""
    far = rate > 0.5
    return np.asarray(np.exp(logs) - (1 - rate) if far else np.expm1(logs) + rate, dtype=np.float64)
