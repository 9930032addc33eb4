r"""Laws of noise: that of a weighted sum of independent ones, and the cumulants of one.

A predicate such as ``spe - 0.0131 sp > 0`` holds on noisy counts where :math:`\sum_j c_j \eta_j > w`, with
:math:`w` the distance of the true counts from its border. This module gives that probability in closed form
where there is one; the others are conditioned on an input (see
:mod:`evenhand.decide.exact.rule_probability`).

>>> from evenhand.privacy.laws import Laplace
>>> law = linear_law([1, "-0.05"], [Laplace(10), Laplace(10)])  # 45 of 800: is it more than 5 %?
>>> f"{law.above(0.05 * 800 - 45):.10f}"
'0.6959746636'

Cumulants and moment generating functions are in units of the standard deviation :math:`\sigma`,
:math:`\hat\kappa_{2m} = \kappa_{2m} / \sigma^{2m}`. All laws are symmetric, so only even orders count.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.errors import InvalidParameterError
from evenhand.privacy.laws import DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace, Law
from evenhand.privacy.rational import exact

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from evenhand.privacy.rational import Number

    Values = NDArray[np.float64]

LAPLACE_REACH = 36.0
"""Scales beyond which Laplace noise, and what it does to a probability, is below 3e-16."""
GAUSSIAN_REACH = 8.5
"""Standard deviations beyond which Gaussian noise is below 2e-17."""
MOST_LATTICE = 1 << 18
"""Values of a sum of whole numbers up to which its law is tabulated."""

_GAUSSIAN_WIDTH = 1 / 3  # Gauss and Legendre's rule wants pieces of a Gaussian a third as long
_MOST_TABLED = 1 << 20
_CLOSE = 1.4  # squares of scales within this factor are treated together
_CIRCLE = 64  # points of the contour around squares of scales that are close
_LARGEST_EXPONENT = 690.0
_BELL = 4.0  # squared scale from which the discrete bell's higher cumulants are below 1e-30 of the Gaussian's
_BELL_REACH = 40
_NEGLIGIBLE = 1e-200


@dataclass(frozen=True, kw_only=True)
class LinearLaw(ABC):
    """The law of a weighted sum of independent noises, symmetric about 0.

    Attributes
    ----------
    whole : bool
        True if the sum is a whole number.
    reach : float
        The sum is farther from 0 than this with a probability below 1e-14.
    width : float
        The length over which the law changes by a factor, for rules of integration.
    """

    whole: bool
    reach: float
    width: float

    @abstractmethod
    def below(self, t: ArrayLike) -> Values:
        """Return the probability of a sum of at most `t`; for real sums it is that of less than `t` too."""

    def above(self, t: ArrayLike) -> Values:
        """Return the probability of a sum of more than `t`."""
        place = np.asarray(t, dtype=np.float64)
        return self.below(np.ceil(-place) - 1 if self.whole else -place)


@dataclass(frozen=True, kw_only=True)
class _Laplace(LinearLaw):
    scales: tuple[float, ...]
    whole: bool = False

    def below(self, t: ArrayLike) -> Values:
        place = np.asarray(t, dtype=np.float64)
        tail = laplace_sum_tail(np.abs(place), self.scales)
        return np.where(place < 0, tail, 1 - tail)[()]

    def density(self, t: ArrayLike) -> Values:
        return np.exp(np.abs(t) * (-1 / self.scales[0])) / (2 * self.scales[0])


@dataclass(frozen=True, kw_only=True)
class _Gaussian(LinearLaw):
    deviation: float
    whole: bool = False

    def below(self, t: ArrayLike) -> Values:
        from scipy.special import ndtr  # noqa: PLC0415 - slow to import

        below: Values = ndtr(np.asarray(t, dtype=np.float64) / self.deviation)
        return below

    def density(self, t: ArrayLike) -> Values:
        place = np.asarray(t, dtype=np.float64) / self.deviation
        return np.exp(-(place**2) / 2) / (self.deviation * math.sqrt(2 * math.pi))


@dataclass(frozen=True, kw_only=True, eq=False)
class _Tabled(LinearLaw):
    """A whole-numbered law by a table of Pr[X <= t] for t from -reach - 1 to reach."""

    table: Values
    whole: bool = True

    def below(self, t: ArrayLike) -> Values:
        last = self.table.size - 1
        place = np.asarray(t)
        place = np.floor(place) if place.dtype.kind == "f" else place
        clipped = np.clip(place + (last - last // 2), 0, last)
        below: Values = self.table[clipped.astype(np.int64)]
        return below


@dataclass(frozen=True, kw_only=True)
class _Far(LinearLaw):
    """A whole-numbered law too wide for a table."""

    law: Law
    whole: bool = True

    def below(self, t: ArrayLike) -> Values:
        return self.law.cdf(np.asarray(t, dtype=np.float64))


def linear_law(coefficients: Sequence[Number], laws: Sequence[Law]) -> LinearLaw:
    r"""Return the law of :math:`\sum_j c_j \eta_j` for independent noises.

    Laplace noises in closed form, by divided differences of :math:`q^{n - 1} e^{-w / \sqrt q}` at the squared
    scales; Gaussian ones as one Gaussian; whole-numbered ones as a table over
    the multiples of their coefficients' common divisor. Laws of different kinds are refused, as are
    whole-numbered sums with too many values: a rule over them is conditioned on an input instead.

    Parameters
    ----------
    coefficients : sequence of numbers
        The weights, not 0.
    laws : sequence of Law
        One noise for each; all Laplace, all Gaussian or all discrete.

    Examples
    --------
    >>> from evenhand.privacy.laws import DiscreteLaplace
    >>> f"{linear_law([1, -1], [DiscreteLaplace(2), DiscreteLaplace(2)]).above(3):.6f}"
    '0.158980'
    """
    weights = tuple(exact(weight, name="coefficients", owner="linear_law") for weight in coefficients)
    if len(weights) != len(laws) or not weights or not all(weights):
        must_be = "as many numbers as there are laws, none of them 0"
        raise InvalidParameterError(
            "coefficients", owner="linear_law", must_be=must_be, got=list(coefficients)
        )
    law = cached_law(tuple(abs(weight) for weight in weights), tuple(laws))
    if law is None:
        must_be = "all Laplace, all Gaussian, or discrete with few values of their sum"
        raise InvalidParameterError("laws", owner="linear_law", must_be=must_be, got=list(laws))
    return law


@lru_cache(maxsize=256)
def cached_law(weights: tuple[Fraction, ...], laws: tuple[Law, ...]) -> LinearLaw | None:
    """Return the law of the sum with these positive weights, or None where it has no closed form."""
    if all(isinstance(law, Laplace) for law in laws):
        scales = tuple(
            sorted((float(w * exact_scale(law)) for w, law in zip(weights, laws, strict=True)), reverse=True)
        )
        rate = sum(1 / scale for scale in scales)
        return _Laplace(reach=LAPLACE_REACH * sum(scales), width=1 / rate, scales=scales)
    if all(isinstance(law, Gaussian) for law in laws):
        deviation = math.sqrt(
            sum(float(w * w * exact_scale(law)) for w, law in zip(weights, laws, strict=True))
        )
        return _Gaussian(
            reach=GAUSSIAN_REACH * deviation, width=deviation * _GAUSSIAN_WIDTH, deviation=deviation
        )
    if any(law.support == "reals" for law in laws) or any(w.denominator != 1 for w in weights):
        return None
    return _whole_law(tuple(int(w) for w in weights), laws)


def exact_scale(law: Law) -> Fraction:
    """Return the scale of a law, or its square for the Gaussian ones."""
    value = law.squared_scale if isinstance(law, Gaussian | DiscreteGaussian) else law.scale  # type: ignore[attr-defined]
    return Fraction(value)


def exact_reach(law: Law) -> float:
    """Return the number beyond which noise is below 1e-14; whole for whole-numbered noise."""
    scale = float(exact_scale(law))
    laplace = isinstance(law, Laplace | DiscreteLaplace)
    far = LAPLACE_REACH * scale if laplace else GAUSSIAN_REACH * math.sqrt(scale)
    return float(max(1, math.ceil(far))) if law.support == "integers" else far


def whole_reach(law: Law) -> int:
    """Return the whole number beyond which discrete noise is below 1e-14."""
    return int(exact_reach(law))


def lattice_points(weights: Sequence[int], laws: Sequence[Law]) -> int:
    """Return how many values the weighted sum of discrete noises has, tails apart."""
    divisor = math.gcd(*weights)
    return 1 + 2 * sum(abs(w) // divisor * whole_reach(law) for w, law in zip(weights, laws, strict=True))


def _whole_law(weights: tuple[int, ...], laws: tuple[Law, ...]) -> LinearLaw | None:
    if len(laws) == 1 and weights[0] == 1:
        reach = whole_reach(laws[0])
        if reach > _MOST_TABLED:
            return _Far(reach=float(reach), width=1.0, law=laws[0])
        return _table_law(_masses(laws[0]))
    if math.gcd(*weights) != 1 or lattice_points(weights, laws) > MOST_LATTICE:
        return None
    far = lattice_points(weights, laws) // 2
    size = 1 << (2 * far + 1).bit_length()
    product: Any = 1
    for weight, law in zip(weights, laws, strict=True):
        places = np.arange(-whole_reach(law), whole_reach(law) + 1)
        spread = np.zeros(size)
        spread[weight * places % size] = _masses(law)
        product = product * np.fft.rfft(spread)
    masses = np.maximum(np.fft.irfft(product, size), 0)
    masses = np.concatenate([masses[-far:], masses[: far + 1]])
    return _table_law((masses + masses[::-1]) / 2)


def _masses(law: Law) -> Values:
    far = whole_reach(law)
    masses: Values = law.pmf(np.arange(-far, far + 1))  # type: ignore[attr-defined]
    return masses


def _table_law(masses: Values) -> LinearLaw:
    """Return the law with these masses about 0; either half is summed from its small end."""
    far = masses.size // 2
    tails = np.cumsum(masses[:far])  # Pr[X <= -far], ..., Pr[X <= -1]
    table = np.concatenate([[0.0], tails, 1 - tails[::-1], [1.0]])
    table.setflags(write=False)
    return _Tabled(reach=float(far), width=1.0, table=table)


# --- sums of Laplace noises ----------------------------------------------------------------------------


def laplace_sum_tail(w: ArrayLike, scales: Sequence[float]) -> Values:
    r"""Return the probability that a sum of independent Laplace noises is above `w`, for w >= 0.

    .. math:: \frac12 e^{-w/s}, \quad
              \frac{e^{-w/s}}2 \Big(1 + \frac{t w}{s (s + t)} \varphi(\tfrac{w (s - t)}{s t})\Big), \quad
              \frac12 [s_1^2, \dots, s_n^2]\, q^{n - 1} e^{-w / \sqrt q}

    for one, two (:math:`s \ge t`, :math:`\varphi(z) = (1 - e^{-z}) / z`) and more scales. The second form is
    :math:`(s^2 e^{-w/s} - t^2 e^{-w/t}) / (2 (s^2 - t^2))` without its cancellation where the scales are
    close. The last is a divided difference; where squared scales are close it is taken by Cauchy's formula on
    a circle around them. Within 1e-13 of the truth for up to eight scales.

    Parameters
    ----------
    w : array
        Numbers of at least 0.
    scales : sequence of float
        The scales, > 0.

    Examples
    --------
    >>> [f"{laplace_sum_tail(2.0, scales):.12f}" for scales in ([3, 3], [3, 1], [3, 2, 1])]
    ['0.342278079355', '0.280338674254', '0.326451949463']
    """
    place = np.asarray(w, dtype=np.float64)
    ordered = sorted(scales, reverse=True)
    first = ordered[0]
    if len(ordered) == 1:
        return np.exp(place * (-1 / first)) / 2
    if len(ordered) == 2:
        second = ordered[1]
        ease = _ease(place * ((first - second) / (first * second)))
        return np.exp(place * (-1 / first)) * (1 + place * (second / (first * (first + second))) * ease) / 2
    squares = [(scale / first) ** 2 for scale in ordered]
    return np.clip(_divided_difference(place / first, squares, len(squares) - 1) / 2, 0, 0.5)


def _ease(z: Values) -> Values:
    """Return (1 - exp(-z)) / z for z >= 0."""
    return np.where(z > 0, -np.expm1(-z) / np.where(z > 0, z, 1), 1.0)


def _divided_difference(w: Values, squares: list[float], power: int) -> Values:
    r"""Return the divided difference of :math:`q^p e^{-w / \sqrt q}` at squares that fall."""
    first, last = squares[0], squares[-1]
    if len(squares) == 1:
        return first**power * np.exp(-w / math.sqrt(first))
    if first > _CLOSE * last:
        higher = _divided_difference(w, squares[:-1], power)
        lower = _divided_difference(w, squares[1:], power)
        return (higher - lower) / (first - last)
    middle = (first + last) / 2
    turn = 0.7 * middle * np.exp(2j * np.pi * (np.arange(_CIRCLE // 2) + 0.5) / _CIRCLE)  # the upper half
    total = np.zeros(w.shape)
    for step in turn:
        point = middle + step
        factor = point**power * step / math.prod(point - square for square in squares)
        total += (factor * np.exp(-w / np.sqrt(point))).real
    return total * (2 / _CIRCLE)


# --- cumulants --------------------------------------------------------------------------------------------


@lru_cache(maxsize=256)
def standard_cumulants(law: Law, orders: int) -> tuple[float, ...]:
    r"""Return :math:`\hat\kappa_2, \hat\kappa_4, \dots`, `orders` of them.

    Laplace: :math:`\kappa_{2m} = 2 (2m - 1)!\, b^{2m}`. Discrete Laplace with :math:`a = e^{-1/b}`:
    :math:`\kappa_{2m} = 2 \sum_k k^{2m - 1} a^k`, a rational function with positive coefficients. Gaussian:
    none beyond the variance. Discrete Gaussian: from its moments, or none from a squared scale of 4 on.

    >>> from evenhand.privacy.laws import Laplace
    >>> standard_cumulants(Laplace(7), 3)
    (1.0, 3.0, 30.0)
    """
    if isinstance(law, Laplace):
        return tuple(2.0 * math.factorial(2 * m - 1) / 2**m for m in range(1, orders + 1))
    if isinstance(law, DiscreteLaplace):
        return _discrete_laplace_cumulants(1 / float(law.scale), orders)
    if isinstance(law, Gaussian) or (isinstance(law, DiscreteGaussian) and float(law.squared_scale) >= _BELL):
        return (1.0, *(0.0 for _ in range(orders - 1)))
    if isinstance(law, DiscreteGaussian):
        return _bell_cumulants(law, orders)
    must_be = "a law of noise of evenhand.privacy.laws"
    got = f"a value of type {type(law).__name__}"
    raise InvalidParameterError("law", owner="allotment_bias", must_be=must_be, got=got)


def most_orders(law: Law) -> int:
    """Return how many standardised cumulants fit floats: those of noise that is nearly always 0 are huge.

    >>> most_orders(DiscreteLaplace("1/60")), most_orders(Laplace(2)) > 100
    (11, True)
    """
    rate = 0.0
    if isinstance(law, DiscreteLaplace):
        rate = 1 / float(law.scale)
    elif isinstance(law, DiscreteGaussian):
        rate = 1 / (2 * float(law.squared_scale))
    return int(_LARGEST_EXPONENT / max(rate, 1.0))


def density_reach(law: Law, exponent: float) -> float:
    """Return the distance at which the density of noise is exp(-exponent) of that at 0."""
    if isinstance(law, Laplace | DiscreteLaplace):
        return exponent * float(law.scale)
    return math.sqrt(2 * exponent * bounding_variance(law))


def even_moments(cumulants: Values) -> Values:
    r"""Return :math:`1, \mu_2, \mu_4, \dots` from even cumulants, along the last axis.

    .. math:: \mu_{2m} = \sum_{l = 1}^m \binom{2m - 1}{2l - 1} \kappa_{2l}\, \mu_{2m - 2l}

    >>> even_moments(np.array([1.0, 3.0, 30.0]))
    array([ 1.,  1.,  6., 90.])
    """
    orders = cumulants.shape[-1]
    moments = np.zeros((*cumulants.shape[:-1], orders + 1))
    moments[..., 0] = 1
    for m in range(1, orders + 1):
        for l in range(1, m + 1):  # noqa: E741 - the index of the formula
            moments[..., m] += math.comb(2 * m - 1, 2 * l - 1) * cumulants[..., l - 1] * moments[..., m - l]
    return moments


def tilt_limit(law: Law) -> float:
    """Return the number below which :math:`E e^{y X}` is finite."""
    return 1 / float(law.scale) if isinstance(law, Laplace | DiscreteLaplace) else math.inf


def log_mgf(law: Law, tilt: Values) -> Values:
    r"""Return an upper bound of :math:`\ln E e^{y X}`, exact but for the discrete Gaussian, for y >= 0.

    A discrete Gaussian is below the Gaussian of the same squared scale.
    """
    if isinstance(law, Laplace):
        return -np.log1p(-((tilt * float(law.scale)) ** 2))
    if isinstance(law, DiscreteLaplace):
        rate = 1 / float(law.scale)
        left = np.expm1(-rate) / np.expm1(tilt - rate)
        right = np.expm1(-rate) / np.expm1(-tilt - rate)
        logarithm: Values = np.log(left) + np.log(right)
        return logarithm
    with np.errstate(over="ignore"):  # infinity is a bound too
        squared: Values = bounding_variance(law) * tilt**2 / 2
    return squared


def mean_size_tilted(law: Law, tilt: Values) -> Values:
    r"""Return an upper bound of :math:`E[|X| e^{y X}] / M(y)`, M the bound of :func:`log_mgf`, y >= 0."""
    if isinstance(law, Laplace):
        part = (tilt * float(law.scale)) ** 2
        return float(law.scale) * (1 + part) / (1 - part)
    if isinstance(law, DiscreteLaplace):
        return 2 / np.expm1(1 / float(law.scale) - tilt)
    squared = bounding_variance(law)
    bound: Values = math.sqrt(squared) * np.exp(np.minimum(squared * tilt**2 / 2, 700.0))
    return bound


def bounding_variance(law: Law) -> float:
    """Return the variance of the Gaussian that :func:`log_mgf` takes for a bell; of other laws, their own."""
    return float(law.squared_scale) if isinstance(law, Gaussian | DiscreteGaussian) else law.variance


def _discrete_laplace_cumulants(rate: float, orders: int) -> tuple[float, ...]:
    """Sum k**p a**k by Eulerian numbers: a A_p(a) / (1 - a)**(p + 1), all terms positive."""
    base = math.exp(-rate)
    cumulants = []
    for m in range(1, orders + 1):
        power = 2 * m - 1
        polynomial = math.fsum(_eulerian(power, k) * base**k for k in range(power))
        # kappa / variance**m with variance 2 a / (1 - a)**2: the powers of 1 - a cancel
        cumulants.append(2 * base * polynomial / (2 * base) ** m)
    return tuple(cumulants)


@lru_cache(maxsize=1024)
def _eulerian(power: int, k: int) -> int:
    if k in (0, power - 1):
        return 1
    return (power - k) * _eulerian(power - 1, k - 1) + (k + 1) * _eulerian(power - 1, k)


def _bell_cumulants(law: DiscreteGaussian, orders: int) -> tuple[float, ...]:
    places = np.arange(1, _BELL_REACH + 1, dtype=np.float64)
    masses = 2 * law.pmf(places)
    some = masses > _NEGLIGIBLE * masses[0]  # the powers of the others may be too large for floats
    places, masses = places[some], masses[some]
    deviation = law.standard_deviation
    moments = [1.0, *(math.fsum(masses * (places / deviation) ** (2 * m)) for m in range(1, orders + 1))]
    cumulants: list[float] = []
    for m in range(1, orders + 1):
        lower = (math.comb(2 * m - 1, 2 * j - 1) * cumulants[j - 1] * moments[m - j] for j in range(1, m))
        cumulants.append(moments[m] - math.fsum(lower))
    return tuple(cumulants)
