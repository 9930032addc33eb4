"""The exact bias of a noisy count after post-processing, from the law of the noise."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import erfc, erfcx

from evenhand.errors import InvalidParameterError
from evenhand.privacy.laws import DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace, Law
from evenhand.release.postprocess.shrink_formulas import (
    shrunk_discrete_laplace,
    shrunk_gaussian,
    shrunk_laplace,
)
from evenhand.release.postprocess.steps import Integral, Nonnegative, Shrink, Step, SumTo
from evenhand.release.table.counting import whole_or_real

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

    Values = NDArray[np.float64]

__all__ = ["carried", "chained", "clamped", "reach", "shrunk", "summed_over_noise"]

_FAR = 46.0  # exp(-46) is 1e-20
_BLOCK = 1 << 20
_LARGEST_SQUARE = 1 << 31
_MOST_CONVOLVED = 4_000


def clamped(counts: ArrayLike, law: Law, *, least: int) -> Values:
    """Return the bias after counts below `least` are set to it."""
    distance = _counts(counts) - least
    above = np.abs(distance)
    if isinstance(law, Laplace):
        scale = float(law.scale)
        pushed = scale / 2 * np.exp(-above / scale)
    elif isinstance(law, DiscreteLaplace):
        scale = float(law.scale)
        pushed = np.exp(-(above + 1) / scale) / -math.expm1(-2 / scale)
    elif isinstance(law, Gaussian):
        pushed = law.standard_deviation * _normal_loss(above / law.standard_deviation)
    else:
        pushed = _sums_of_tails(_gaussian(law), above)
    return np.where(distance < 0, above + pushed, pushed)


def shrunk(counts: ArrayLike, law: Law, step: Shrink) -> Values:
    """Return the bias after a step of shrinking, which clamps first."""
    places = _counts(counts) - step.least
    if isinstance(law, Laplace):
        return shrunk_laplace(places, float(law.scale), step.T)
    if isinstance(law, Gaussian):
        return shrunk_gaussian(places, law.standard_deviation, step.T)
    far, whole = reach(law), places.size > 0 and bool((places >= 0).all() and (places % 1 == 0).all())
    quick = whole and places.max() + far < 2 * far * places.size  # two passes over the whole numbers
    if quick and isinstance(law, DiscreteLaplace):
        return shrunk_discrete_laplace(places, float(law.scale), step.T, far)

    def from_zero(values: Values) -> Values:
        clamped_values = np.maximum(values, 0.0)
        return np.maximum(clamped_values - step.T / (clamped_values + 1), 0.0)

    return summed_over_noise(places, law, from_zero)


def chained(counts: ArrayLike, law: Law, steps: Sequence[Step]) -> Values | None:
    """Return the bias after all steps, or None where no formula is known."""
    true = _counts(counts)
    _law(law)
    first = next((place for place, step in enumerate(steps) if isinstance(step, SumTo)), len(steps))
    if not all(isinstance(step, Nonnegative | Integral | Shrink | SumTo) for step in steps):
        return None
    before, after = steps[:first], steps[first:]
    bias = _cell_by_cell(true, law, before)
    for place, step in enumerate(after):
        if bias is None or isinstance(step, Nonnegative | Shrink):
            return None
        if isinstance(step, SumTo):
            untouched = place == 0 and not any(isinstance(each, Nonnegative | Shrink) for each in before)
            bias = _made_to_add_up(true, bias, step, law if untouched else None)
    return bias


def carried(bias: ArrayLike, counts: ArrayLike, steps: Sequence[Step]) -> Values | None:
    """Return a bias, whatever it comes from, after steps that change expectations by a rule of their own."""
    true, found = _counts(counts), np.array(bias, dtype=np.float64)
    for step in steps:
        if isinstance(step, SumTo) and not step.nonnegative:
            found = _after_a_sum(true, found, step)
        elif not isinstance(step, Integral):
            return None
    return found


def _after_a_sum(true: Values, bias: Values, step: SumTo) -> Values:
    moved = (step.total - float(true.sum())) / true.size
    return bias - float(bias.mean()) + moved


def _cell_by_cell(true: Values, law: Law, steps: Sequence[Step]) -> Values | None:
    """Return the bias after steps that see one cell at a time."""
    changing = _without_rounding(law, steps)
    if changing is None:
        return None
    if not changing:
        return np.zeros(true.shape)
    if all(isinstance(step, Nonnegative) for step in changing):
        return clamped(true, law, least=max(step.least for step in changing))
    shrinks = [step for step in changing if isinstance(step, Shrink)]
    if len(shrinks) == 1 and all(step.least <= shrinks[0].least for step in changing):
        return shrunk(true, law, shrinks[0])
    if law.support == "reals":
        return None

    def all_steps(values: NDArray[Any]) -> NDArray[Any]:
        for step in changing:
            values = step.apply(values)
        return values

    return summed_over_noise(true, law, all_steps)


def _without_rounding(law: Law, steps: Sequence[Step]) -> list[Nonnegative | Shrink] | None:
    """Leave out rounding where it changes no expectation; None where a later step would see it."""
    kept: list[Nonnegative | Shrink] = []
    whole, rounded = law.support == "integers", False
    for step in steps:
        if not isinstance(step, Nonnegative | Shrink):
            rounded, whole = rounded or not whole, True
            continue
        lowest = max((each.least for each in kept), default=None)
        if isinstance(step, Nonnegative) and lowest is not None and step.least <= lowest:
            continue  # nothing is below it any more
        if rounded:
            return None
        kept.append(step)
        whole = whole and isinstance(step, Nonnegative)
    return kept


def _made_to_add_up(true: Values, bias: Values, step: SumTo, law: Law | None) -> Values | None:
    """Return the bias after a sum; `law` only where the counts carry nothing but noise of it."""
    if not step.nonnegative:
        return _after_a_sum(true, bias, step)
    if true.size == 1:
        return step.total - true
    difference = None if law is None or true.size > 2 else _difference(law)
    if difference is None:
        return None
    places, masses = difference
    first, second = true.ravel()
    shares = np.clip((first - second + places + step.total) / 2, 0, step.total)
    expected = float(masses @ shares)
    return np.array([expected - first, step.total - expected - second]).reshape(true.shape)


def _difference(law: Law) -> tuple[Values, Values] | None:
    """Return the law of the difference of two draws, place by place; None where that takes too long."""
    if law.support == "reals":
        return None
    if isinstance(law, DiscreteLaplace):
        scale = float(law.scale)
        rate = math.exp(-1 / scale)
        far = np.arange(-2 * reach(law), 2 * reach(law) + 1, dtype=np.float64)
        weight = np.abs(far) + (1 + rate**2) / (1 - rate**2)
        return far, math.tanh(1 / (2 * scale)) ** 2 * np.exp(-np.abs(far) / scale) * weight
    if reach(law) > _MOST_CONVOLVED:
        return None
    masses = _gaussian(law).pmf(np.arange(-reach(law), reach(law) + 1))
    return np.arange(-2 * reach(law), 2 * reach(law) + 1, dtype=np.float64), np.convolve(masses, masses)


def summed_over_noise(true: Values, law: Law, steps: Callable[[NDArray[Any]], NDArray[Any]]) -> Values:
    """Return the expectation of ``steps(x + noise) - (x + noise)`` for each count; the noise's own is 0."""
    far = reach(law)
    distinct, places = np.unique(true, return_inverse=True)
    total = np.zeros(distinct.shape)
    for start in range(-far, far + 1, _BLOCK):
        noise = np.arange(start, min(start + _BLOCK, far + 1), dtype=np.float64)
        masses = _whole_law(law).pmf(noise)
        for place, count in enumerate(distinct):
            values = count + noise
            total[place] += masses @ (steps(values) - values)
    return total[places].reshape(true.shape)


def reach(law: Law) -> int:
    """Return how far whole-number noise goes before its probability is below 1e-20."""
    if isinstance(law, DiscreteLaplace):
        return math.ceil(_FAR * float(law.scale)) + 1
    squared = float(_gaussian(law).squared_scale)
    return math.ceil(math.sqrt(2 * _FAR * squared)) + 1


def _normal_loss(place: Values) -> Values:
    r"""Return :math:`\varphi(z) - z \Phi(-z)` for z >= 0, accurate where both are tiny."""
    near = np.minimum(place, 40.0)
    density = np.exp(-(near**2) / 2) / math.sqrt(2 * math.pi)
    close = density - near * erfc(near / math.sqrt(2)) / 2
    far = density * (1 - near * math.sqrt(math.pi / 2) * erfcx(near / math.sqrt(2)))
    return np.where(place > 40, 0.0, np.where(place > 1, far, close))


def _sums_of_tails(law: DiscreteGaussian, above: Values) -> Values:
    """Return the expectation of what noise has beyond each distance: the tails added up from the far end."""
    squared = float(law.squared_scale)
    last = math.ceil(math.sqrt(2 * 746 * squared)) + 1
    masses = law.pmf(np.arange(last + 1))
    tails = np.cumsum(masses[::-1])[::-1]
    beyond = np.append(np.cumsum(tails[::-1])[::-1], 0.0)
    # a distance between two whole numbers lies between their values, on a straight line
    low = np.clip(np.floor(above), 0, last)
    here = np.minimum(low.astype(np.int64) + 1, last + 1)
    between: Values = (np.minimum(above, last) - low) * np.append(tails, 0.0)[here]
    return beyond[here] - between


def _whole_law(law: Law) -> DiscreteLaplace | DiscreteGaussian:
    return law if isinstance(law, DiscreteLaplace) else _gaussian(law)


def _gaussian(law: Law) -> DiscreteGaussian:
    if isinstance(law, DiscreteGaussian) and float(law.squared_scale) <= _LARGEST_SQUARE:
        return law
    must_be = "a law of noise, with a squared scale of at most 2**31 where it is a DiscreteGaussian"
    raise InvalidParameterError("law", owner="bias", must_be=must_be, got=law)


def _law(law: object) -> Law:
    if not isinstance(law, Law):
        must_be, got = "a law of noise", f"a value of type {type(law).__name__}"
        raise InvalidParameterError("law", owner="bias_after", must_be=must_be, got=got)
    return law


def _counts(counts: ArrayLike) -> Values:
    return whole_or_real(counts, parameter="counts", owner="bias").astype(np.float64)
