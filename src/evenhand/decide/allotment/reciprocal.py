r"""The mean of one over a noisy total, which is what a share of a noisy total is off by.

For Laplace noise of scale :math:`b`, with :math:`z = Z / b`, the principal value is

.. math:: Z\, E[1 / \tilde Z] = \tfrac z2 \left( e^z E_1(z) + e^{-z} \mathrm{Ei}(z) \right);

for Gaussian noise it is :math:`2 y D(y)` with Dawson's function and :math:`y = Z / (\sqrt 2 \sigma)`; for
whole-numbered noise it is the sum over all totals but 0. Where the noise is small, :math:`1 + \sum_k
\mu_{2k}`, with the moments of the noise over the total, is more accurate than any of them.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from evenhand.decide.allotment.noisy_total import EVENT, NoisyShares, build_noisy_shares, outside_event
from evenhand.decide.exact.cumulants import even_moments
from evenhand.errors import InvalidParameterError
from evenhand.privacy.laws import DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace, Law

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Values = NDArray[np.float64]

__all__ = ["Reciprocal", "reciprocal_mean"]

_MOST_ORDERS = 12
_CERTIFIED = 1e-9
_UNSURE = 0.1  # part of the excess that its bound may be, for the square to come from the same series
_FAR = 46.0
_BLOCK = 1 << 20
_MOST_SUMMED = 1 << 27
_LARGE = 50.0


class Reciprocal(NamedTuple):
    r"""One over a noisy total, times the true total.

    Attributes
    ----------
    excess : float
        :math:`Z\, E[1 / \tilde Z] - 1`: how much too large shares are on average, as a part of themselves.
    square : float
        :math:`Z^2 E[1 / \tilde Z^2]` over the releases whose total is within nine tenths of the true one;
        where all totals but 0 are summed, over these. NaN where noise is so wide that neither is known.
    error : float
        How far `excess` may be off.
    method : str
        How it was found.
    """

    excess: float
    square: float
    error: float
    method: str


class _One:
    """A single entity with weight 1."""

    weights = np.ones(1)


def reciprocal_mean(total: float, law: Law) -> Reciprocal:
    """Return how much one over a noisy total exceeds one over the total.

    Parameters
    ----------
    total : float
        The true total, > 0. The result is as private as it is.
    law : Law
        The noise on it.

    Examples
    --------
    >>> found = reciprocal_mean(100, Laplace(10))
    >>> f"{(1 + found.excess) / 100:.14f}", found.method
    ('0.01023551772066', 'closed form')
    """
    if not (isinstance(total, int | float | np.integer | np.floating) and 0 < total < math.inf):
        must_be = "a finite number > 0"
        raise InvalidParameterError("total", owner="reciprocal_mean", must_be=must_be, got="something else")
    noisy = build_noisy_shares(_One(), [total], law, owner="reciprocal_mean")
    excess, square, error = _series(noisy)
    if error <= _CERTIFIED * excess:
        return Reciprocal(excess, square, error, "series, certified")
    if isinstance(law, Laplace | Gaussian):
        value = _closed_form(float(total), law)
        size = abs(value) if isinstance(law, Laplace) else 1.0
        return Reciprocal(value - 1, square, 1e-14 * max(1.0, size), "closed form")
    summed = _sum_over_totals(float(total), law)
    if summed is None:
        return Reciprocal(excess, square, error, "series, not certified")
    return Reciprocal(*summed, 1e-12, "sum over all totals but 0")


def _series(noisy: NoisyShares) -> tuple[float, float, float]:
    moments = even_moments(noisy.of_total(noisy.cumulants(_MOST_ORDERS + 1)))
    tail = outside_event(noisy)
    best, error = 1, math.inf
    for orders in range(1, _MOST_ORDERS + 1):
        beyond = math.fsum(EVENT ** (-2 * j) for j in range(1, orders + 2))
        bound = max(1 / (1 - EVENT**2), beyond) * float(moments[orders + 1])
        if bound < error:
            best, error = orders, bound
    excess = math.fsum(moments[1 : best + 1])
    square = math.fsum((2 * k + 1) * moments[k] for k in range(best + 1))
    if error > _UNSURE * excess:
        square = math.nan
    return excess, square, error + 2 * tail.slack + tail.probability + 1e-14 * excess


def _closed_form(total: float, law: Laplace | Gaussian) -> float:
    """Return the principal value of the total over the noisy total."""
    from scipy.special import dawsn, exp1, expi  # noqa: PLC0415 - slow to import

    if isinstance(law, Gaussian):
        place = total / law.standard_deviation
        return math.sqrt(2) * place * float(dawsn(place / math.sqrt(2)))
    place = total / float(law.scale)
    if place > _LARGE:
        return place * (_asymptotic(place, -1.0) + _asymptotic(place, 1.0)) / 2
    return place * (math.exp(place) * float(exp1(place)) + math.exp(-place) * float(expi(place))) / 2


def _asymptotic(place: float, sign: float) -> float:
    total, term = 0.0, 1 / place
    for order in range(1, 30):
        total += term
        term *= sign * order / place
    return total


def _sum_over_totals(total: float, law: Law) -> tuple[float, float] | None:
    """Add up Z / (Z + noise) - 1, and the square of the quotient, over whole noise; totals of 0 left out."""
    if isinstance(law, DiscreteLaplace):
        far = _FAR * float(law.scale)
    else:
        far = (
            math.sqrt(2 * _FAR * float(law.squared_scale)) if isinstance(law, DiscreteGaussian) else math.inf
        )
    if far > _MOST_SUMMED or total % 1:
        return None
    parts, squares = [], [float(law.pmf(0))]  # type: ignore[attr-defined]
    for first in range(1, math.ceil(far) + 2, _BLOCK):
        noise = np.arange(first, min(first + _BLOCK, math.ceil(far) + 2), dtype=np.float64)
        with np.errstate(divide="ignore"):
            # a pair of opposite noises: Z / (Z + n) + Z / (Z - n) - 2, without the part whose total is 0
            below = np.where(noise == total, -1.0, noise / (total - noise))
        masses = law.pmf(noise)  # type: ignore[attr-defined]
        parts.append(float(masses @ (below - noise / (total + noise))))
        squares.append(float(masses @ ((1 + below) ** 2 + (total / (total + noise)) ** 2)))
    return math.fsum(parts), math.fsum(squares)
