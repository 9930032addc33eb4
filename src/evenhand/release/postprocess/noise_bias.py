r"""The exact bias of a noisy count after clamping or shrinking, and the temperatures at which it is smallest.

Both are properties of the law of the noise alone.

With :math:`\ell = 0` and :math:`u^* = (\sqrt{1 + 4 T} - 1) / 2`, shrinking gives 0 up to :math:`u^*` and
:math:`z - T / (z + 1)` beyond. So its bias is that of setting to 0 what is below :math:`u^*`, less
:math:`T J` with :math:`J = \int_{u^*}^\infty p(z - x) / (z + 1)\, dz`: exponential integrals, quadrature
and recursion, as the law of the noise needs.
"""

from __future__ import annotations

import functools
import itertools
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand._lazy import lazy
from evenhand._validate import integer, one_of
from evenhand.errors import InvalidParameterError
from evenhand.privacy.laws import DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace, Law
from evenhand.release.postprocess.rounding import checked_amount
from evenhand.release.table.counting import whole_or_real

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    Values = NDArray[np.float64]

special, optimize = lazy("scipy.special"), lazy("scipy.optimize")

_FAR = 46.0  # exp(-46) is 1e-20
_BLOCK = 1 << 20
_LARGEST_SQUARE = 1 << 31
_MOST_CONVOLVED = 4_000
_LARGE = 50.0
_TERMS = 30
_PANELS, _NODES = 48, 16
_WIDE = 9.5
_POINTS = 33
_CLOSE = 1e-9
_LARGEST_DISCRETE = 500  # scale of noise above which the real law stands in for it


def clamp_bias(counts: ArrayLike, law: Law, *, least: int = 0) -> Values:
    r"""Return the exact bias of counts with noise of a law after ``Nonnegative``.

    With :math:`d = x - \ell \ge 0`:

    .. math:: \frac b2 e^{-d/b}, \quad \sigma \varphi(d / \sigma) - d\, \Phi(-d / \sigma), \quad
              \frac{a^{d + 1}}{1 - a^2}, \quad \sum_{j > d} (j - d) \Pr[X = j]

    for Laplace, Gaussian, discrete Laplace (:math:`a = e^{-1/b}`) and discrete Gaussian noise. Below the
    least value the bias is :math:`|d|` and that of :math:`|d|`.

    Parameters
    ----------
    counts : array
        True counts. The result is as private as they are.
    law : Law
        The noise; a law of :mod:`evenhand.privacy.laws`.
    least : int, default 0
        The least value.

    Examples
    --------
    >>> from evenhand.privacy.laws import DiscreteLaplace
    >>> clamp_bias([0, 3, 100], DiscreteLaplace(2)).round(4)
    array([0.9595, 0.2141, 0.    ])
    """
    distance = read_counts(counts) - least
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


def shrink_bias(
    counts: ArrayLike,
    law: Law,
    *,
    T: float,  # noqa: N803 - the name it has in the literature
    least: int = 0,
) -> Values:
    """Return the bias of counts with noise of a law after ``Shrink``.

    Exponential integrals for Laplace noise, quadrature for Gaussian noise, sums over whole numbers for the
    discrete laws; within 1e-12 times the scale of the truth.

    Parameters
    ----------
    counts : array
        True counts. The result is as private as they are.
    law : Law
        The noise.
    T : float
        The temperature.
    least : int, default 0
        The least value.

    Examples
    --------
    >>> from evenhand.privacy.laws import Laplace
    >>> shrink_bias([0, 3], Laplace(2), T=1).round(6)
    array([ 0.835083, -0.001512])
    """
    temperature = checked_amount("T", T, owner="Shrink", least=0.0)
    smallest = integer("least", least, owner="Shrink")
    places = read_counts(counts) - smallest
    if isinstance(law, Laplace):
        return _shrunk_laplace(places, float(law.scale), temperature)
    if isinstance(law, Gaussian):
        return _shrunk_gaussian(places, law.standard_deviation, temperature)
    far, whole = reach(law), places.size > 0 and bool((places >= 0).all() and (places % 1 == 0).all())
    quick = whole and places.max() + far < 2 * far * places.size  # two passes over the whole numbers
    if quick and isinstance(law, DiscreteLaplace):
        return _shrunk_discrete_laplace(places, float(law.scale), temperature, far)

    def from_zero(values: Values) -> Values:
        clamped_values = np.maximum(values, 0.0)
        return np.maximum(clamped_values - temperature / (clamped_values + 1), 0.0)

    return summed_over_noise(places, law, from_zero)


def difference_of_two(law: Law) -> tuple[Values, Values] | None:
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


# --- clamping -----------------------------------------------------------------------------------------


def _normal_loss(place: Values) -> Values:
    r"""Return :math:`\varphi(z) - z \Phi(-z)` for z >= 0, accurate where both are tiny."""
    near = np.minimum(place, 40.0)
    density = np.exp(-(near**2) / 2) / math.sqrt(2 * math.pi)
    close = density - near * special.erfc(near / math.sqrt(2)) / 2
    far = density * (1 - near * math.sqrt(math.pi / 2) * special.erfcx(near / math.sqrt(2)))
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


# --- shrinking ----------------------------------------------------------------------------------------


def _shrunk_laplace(places: Values, scale: float, temperature: float) -> Values:
    """Return the bias at these places above the least value, for Laplace noise of this scale."""
    start = _start(temperature)
    below = start > places
    fall = np.exp(-np.abs(start - places) / scale) / 2
    linear = np.where(below, fall * (start + scale) - places, fall * (scale - start))
    if not temperature:
        return linear
    centre, first = (places + 1) / scale, (start + 1) / scale
    right = _scaled_e1(np.maximum(first, centre))  # what lies beyond both the start and the count
    right *= np.exp(-np.maximum(first - centre, 0.0))
    high = np.maximum(first, centre)
    left = _scaled_ei(high) - _scaled_ei(np.full_like(high, first)) * np.exp(-(high - first))
    return linear - temperature * (right + np.where(first < centre, left, 0.0)) / (2 * scale)


def _shrunk_gaussian(places: Values, deviation: float, temperature: float) -> Values:
    """Return the same for Gaussian noise of this standard deviation."""
    start = _start(temperature)
    place = (start - places) / deviation
    density = np.exp(-np.minimum(place**2, 1500.0) / 2) / math.sqrt(2 * math.pi)
    passed = special.erfc(place / math.sqrt(2)) / 2  # the noise lets the count beyond the start
    stopped = special.erfc(-place / math.sqrt(2)) / 2
    linear: Values = deviation * density - places * np.where(stopped < passed, stopped, 1 - passed)
    if not temperature:
        return linear
    return linear - temperature * _gaussian_part(places, deviation, start)


def _shrunk_discrete_laplace(places: Values, scale: float, temperature: float, far: int) -> Values:
    """Return the same for discrete Laplace noise, at whole places from 0 on.

    What the noise sees to the left of a place is what it sees from the place before, times ``exp(-1/scale)``,
    and the place itself; likewise to the right. So two passes over the whole numbers find all places.
    """
    rate = math.exp(-1 / scale)
    start = math.ceil(_start(temperature))
    top = max(int(places.max()), start) + 1
    terms = 1 / np.arange(start + 1.0, top + far + 2)  # 1 / (z + 1) for z = start, ..., top + far
    left = np.zeros(top + 1)  # by place: the sum of rate**(x - z) / (z + 1) over start <= z <= x
    left[start:] = list(
        itertools.accumulate(terms[: top + 1 - start], lambda total, term: total * rate + term)
    )
    backward = list(itertools.accumulate(terms[::-1], lambda total, term: total * rate + term))[::-1]
    beyond = np.array(backward)  # by z - start: the sum of rate**(w - z) / (w + 1) over w >= z
    right = np.empty(top + 1)  # the sum of rate**(z - x) / (z + 1) over z > x, z >= start
    right[:start] = rate ** np.arange(start, 0, -1.0) * beyond[0]
    right[start:] = rate * beyond[1 : top + 2 - start]
    here = places.astype(np.int64)
    masses = math.tanh(1 / (2 * scale))
    return _stopped(places, scale, start) - temperature * masses * (left[here] + right[here])


def _stopped(places: Values, scale: float, start: int) -> Values:
    """Return the expectation of what counts below `start` lose or gain by becoming 0."""
    last = start - 1 - places  # the largest noise that is stopped
    rate = math.exp(-1 / scale)
    beyond = np.where(last < 0, -last, last + 1)  # at least 1: whole sums over the other side, by symmetry
    falling = np.exp(-beyond / scale)
    tail = falling / (1 + rate)
    moment = falling * (beyond + rate / (1 - rate)) / (1 + rate)
    return moment - places * np.where(last < 0, tail, 1 - tail)


def _gaussian_part(places: Values, deviation: float, start: float) -> Values:
    """Integrate density / (z + 1) from the start on, in the logarithm of z + 1, where it is smooth."""
    low = np.log1p(np.maximum(start, places - _WIDE * deviation))[..., np.newaxis]
    high = np.log1p(np.maximum(start, places + _WIDE * deviation))[..., np.newaxis]
    nodes, weights = _rule()
    width = high - low
    beyond = np.expm1(low + width * nodes) - places[..., np.newaxis]
    density = np.exp(-((beyond / deviation) ** 2) / 2) / (deviation * math.sqrt(2 * math.pi))
    integral: Values = (density * width) @ weights
    return integral


@functools.lru_cache(maxsize=1)
def _rule() -> tuple[Values, Values]:
    """Return nodes and weights of Gauss and Legendre's rule in each of many equal parts of [0, 1]."""
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    inside = (np.arange(_PANELS)[:, np.newaxis] + (nodes + 1) / 2) / _PANELS
    return inside.ravel(), np.tile(weights / (2 * _PANELS), _PANELS)


def _start(temperature: float) -> float:
    """Return the value up to which shrinking gives the least value."""
    return 2 * temperature / (1 + math.sqrt(1 + 4 * temperature))


def _scaled_e1(x: Values) -> Values:
    r"""Return :math:`e^x E_1(x)` for x > 0, also where its factors overflow."""
    near = np.minimum(x, _LARGE)
    return np.where(x > _LARGE, _asymptotic(x, sign=-1.0), np.exp(near) * special.exp1(near))


def _scaled_ei(x: Values) -> Values:
    r"""Return :math:`e^{-x} Ei(x)` for x > 0, also where its factors overflow."""
    near = np.minimum(x, _LARGE)
    return np.where(x > _LARGE, _asymptotic(x, sign=1.0), np.exp(-near) * special.expi(near))


def _asymptotic(x: Values, *, sign: float) -> Values:
    """Sum k! (sign / x)**k / x, whose terms fall below 1e-16 long before they grow for x >= 50."""
    large = np.maximum(x, _LARGE)
    term, total = 1 / large, np.zeros(large.shape)
    for order in range(1, _TERMS):
        total += term
        term = term * sign * order / large
    return total


# --- temperatures -------------------------------------------------------------------------------------


def optimal_temperature(law: Law | float, *, minimize: str = "worst bias") -> float:
    r"""Return the temperature at which ``Shrink`` has the smallest worst bias, or alpha, of all counts.

    .. math:: T^* = \arg\min_T \max_{x \ge \ell} |B(x)|, \quad
              T_\alpha = \arg\min_T \big( \max_{x \ge \ell} B(x) - \min_{x \ge \ell} B(x) \big), \quad
              B(x) = E[\hat x] - x

    The extremes are over all counts that are possible, so no data are needed: the temperature depends on the
    noise only and may be chosen before the table is seen. For Laplace noise of a large scale :math:`b`,
    :math:`T^*` is about :math:`0.75\, b^2` and its worst bias 42 % below that of clamping, but its alpha is
    16 % above. :math:`T_\alpha` is about :math:`0.17\, b^2` and its alpha 10 % below that of clamping.

    Parameters
    ----------
    law : Law or number
        The noise; a number is the scale of Laplace noise. Where discrete noise is wider than 500, the
        real law of the same scale stands in for it, which changes less than a millionth.
    minimize : {"worst bias", "alpha"}, default "worst bias"
        Which figure is to be small: the bias of the count that is off most, or the largest difference
        between the biases of two counts.

    Examples
    --------
    >>> f"{optimal_temperature(2):.4f} {optimal_temperature(2, minimize='alpha'):.4f}"
    '3.9331 0.8554'
    """
    chosen = one_of("minimize", minimize, ("worst bias", "alpha"), owner="optimal_temperature")
    balanced = _balanced_temperature(_real_law(law))
    return balanced if chosen == "worst bias" else _evenest_temperature(_real_law(law), balanced)


def _balanced_temperature(noise: Law) -> float:
    """Return the temperature at which the bias upwards of nobody equals the worst bias downwards.

    The first falls with the temperature and the second grows, so the larger of both is smallest there.
    """

    def balance(temperature: float) -> float:
        return sum(extreme_biases(noise, temperature))

    low, high = 0.0, noise.variance / 8
    if not high:
        return 0.0
    while balance(high) > 0:
        low, high = high, 2 * high
    balanced: float = optimize.brentq(balance, low, high, xtol=_CLOSE * high, rtol=_CLOSE)
    return balanced


def _evenest_temperature(noise: Law, most: float) -> float:
    """Return the temperature, below the balanced one, at which the bias of any two counts differs least.

    It is below the other one: where both ends are as far from 0, the lower one still falls faster than the
    upper one.
    """

    def alpha(temperature: float) -> float:
        up, down = extreme_biases(noise, temperature)
        return up - down

    if not most:
        return 0.0
    grid = np.geomspace(most / 1000, most, _POINTS)
    lowest = int(np.argmin(list(map(alpha, grid))))
    ends = (grid[max(0, lowest - 1)], grid[min(len(grid) - 1, lowest + 1)])
    evenest = optimize.minimize_scalar(alpha, bounds=ends, method="bounded", options={"xatol": 1e-7 * most})
    return float(evenest.x)


def _real_law(law: Law | float) -> Law:
    """Return the law; for wide discrete noise the real one, which differs by less than a millionth."""
    if not isinstance(law, Law):
        return Laplace(law)
    if isinstance(law, DiscreteLaplace) and float(law.scale) > _LARGEST_DISCRETE:
        return Laplace(law.scale)
    if isinstance(law, DiscreteGaussian) and float(law.squared_scale) > _LARGEST_DISCRETE**2:
        return Gaussian(law.squared_scale)
    return law


def extreme_biases(law: Law, temperature: float) -> tuple[float, float]:
    """Return the bias at the least value and the lowest bias above it."""
    up = float(shrink_bias(np.zeros(1), law, T=temperature)[0])
    whole = law.support == "integers"
    far = 40 * law.standard_deviation + 10 * np.sqrt(temperature) + 40
    grid = np.geomspace(1, far + 1, 4 * _POINTS) - 1
    while True:
        points = np.unique(np.rint(grid)) if whole else grid
        biases = shrink_bias(points, law, T=temperature)
        lowest = int(np.argmin(biases))
        left, right = points[max(0, lowest - 1)], points[min(len(points) - 1, lowest + 1)]
        if right - left <= (2 if whole else 1e-7 * (1 + right)):
            return up, float(biases[lowest])
        grid = np.linspace(left, right, _POINTS)


# --- laws ---------------------------------------------------------------------------------------------


def _whole_law(law: Law) -> DiscreteLaplace | DiscreteGaussian:
    return law if isinstance(law, DiscreteLaplace) else _gaussian(law)


def _gaussian(law: Law) -> DiscreteGaussian:
    if isinstance(law, DiscreteGaussian) and float(law.squared_scale) <= _LARGEST_SQUARE:
        return law
    must_be = "a law of noise, with a squared scale of at most 2**31 where it is a DiscreteGaussian"
    raise InvalidParameterError("law", owner="bias", must_be=must_be, got=law)


def read_counts(counts: ArrayLike) -> Values:
    """Return true counts as numbers; refuse anything else."""
    return whole_or_real(counts, parameter="counts", owner="bias").astype(np.float64)
