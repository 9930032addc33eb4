r"""Cumulants and moment generating functions of the laws of noise, in units of their standard deviation.

All laws are symmetric, so only even orders count. With :math:`\sigma` the standard deviation,
:math:`\hat\kappa_{2m} = \kappa_{2m} / \sigma^{2m}`.
"""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING

import numpy as np

from evenhand.errors import InvalidParameterError
from evenhand.privacy.laws import DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace, Law

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Values = NDArray[np.float64]

__all__ = [
    "density_reach",
    "even_moments",
    "log_mgf",
    "mean_size_tilted",
    "most_orders",
    "standard_cumulants",
    "tilt_limit",
]

_LARGEST_EXPONENT = 690.0
_BELL = 4.0  # squared scale from which the discrete bell's higher cumulants are below 1e-30 of the Gaussian's
_REACH = 40


@functools.lru_cache(maxsize=256)
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
        return _discrete_laplace(1 / float(law.scale), orders)
    if isinstance(law, Gaussian) or (isinstance(law, DiscreteGaussian) and float(law.squared_scale) >= _BELL):
        return (1.0, *(0.0 for _ in range(orders - 1)))
    if isinstance(law, DiscreteGaussian):
        return _small_bell(law, orders)
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
    return math.sqrt(2 * exponent * _squared_scale(law))


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
        squared: Values = _squared_scale(law) * tilt**2 / 2
    return squared


def mean_size_tilted(law: Law, tilt: Values) -> Values:
    r"""Return an upper bound of :math:`E[|X| e^{y X}] / M(y)`, M the bound of :func:`log_mgf`, y >= 0."""
    if isinstance(law, Laplace):
        part = (tilt * float(law.scale)) ** 2
        return float(law.scale) * (1 + part) / (1 - part)
    if isinstance(law, DiscreteLaplace):
        return 2 / np.expm1(1 / float(law.scale) - tilt)
    squared = _squared_scale(law)
    bound: Values = math.sqrt(squared) * np.exp(np.minimum(squared * tilt**2 / 2, 700.0))
    return bound


def _squared_scale(law: Law) -> float:
    return float(law.squared_scale) if isinstance(law, Gaussian | DiscreteGaussian) else law.variance


def _discrete_laplace(rate: float, orders: int) -> tuple[float, ...]:
    """Sum k**p a**k by Eulerian numbers: a A_p(a) / (1 - a)**(p + 1), all terms positive."""
    base = math.exp(-rate)
    cumulants = []
    for m in range(1, orders + 1):
        power = 2 * m - 1
        polynomial = math.fsum(_eulerian(power, k) * base**k for k in range(power))
        # kappa / variance**m with variance 2 a / (1 - a)**2: the powers of 1 - a cancel
        cumulants.append(2 * base * polynomial / (2 * base) ** m)
    return tuple(cumulants)


@functools.lru_cache(maxsize=1024)
def _eulerian(power: int, k: int) -> int:
    if k in (0, power - 1):
        return 1
    return (power - k) * _eulerian(power - 1, k - 1) + (k + 1) * _eulerian(power - 1, k)


def _small_bell(law: DiscreteGaussian, orders: int) -> tuple[float, ...]:
    places = np.arange(1, _REACH + 1, dtype=np.float64)
    masses = 2 * law.pmf(places)
    deviation = law.standard_deviation
    moments = [1.0, *(math.fsum(masses * (places / deviation) ** (2 * m)) for m in range(1, orders + 1))]
    cumulants: list[float] = []
    for m in range(1, orders + 1):
        lower = (math.comb(2 * m - 1, 2 * j - 1) * cumulants[j - 1] * moments[m - j] for j in range(1, m))
        cumulants.append(moments[m] - math.fsum(lower))
    return tuple(cumulants)
