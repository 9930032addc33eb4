r"""Probabilities of reports: as a computer draws them exactly, and in floats for many epsilons at once.

**Drawn.** A protocol draws with probabilities that are multiples of 2**-53. They are computed from bounds of
:math:`e^\varepsilon` in rational arithmetic and rounded so that reports tell less, never more; the
worst ratio between two values is then a rational that is compared with :math:`e^\varepsilon` exactly.

**Ideal.** The protocols know their exact variance. Comparing protocols and splitting a budget needs the
variance of thousands of epsilons, in floats; each protocol writes it in terms of :math:`e^{-\varepsilon}`, so
that nothing overflows and nothing cancels.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evenhand.errors import GuaranteeError
from evenhand.privacy.rational import exp_bounds, log_above

if TYPE_CHECKING:
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

GRID = 1 << 53
"""Every probability is a multiple of 1 / GRID."""

_MOST_DIGITS = 640


def round_up(probability: Fraction) -> Fraction:
    """Return the smallest multiple of 1 / GRID that is not below `probability`, and above zero.

    >>> round_up(Fraction(1, 3)) * GRID
    Fraction(3002399751580331, 1)
    """
    return Fraction(max(1, math.ceil(probability * GRID)), GRID)


def round_down(probability: Fraction) -> Fraction:
    """Return the largest multiple of 1 / GRID that is not above `probability`, and below one.

    >>> round_down(Fraction(1, 3)) * GRID
    Fraction(3002399751580330, 1)
    """
    return Fraction(min(GRID - 1, math.floor(probability * GRID)), GRID)


def exp_above(exponent: Fraction) -> Fraction:
    """Return a rational slightly above e to the exponent."""
    return exp_bounds(exponent)[1]


def exp_below(exponent: Fraction) -> Fraction:
    """Return a rational slightly below e to the exponent."""
    return exp_bounds(exponent)[0]


def require_private(ratio: Fraction, epsilon: Fraction, *, owner: str) -> Fraction:
    """Return `ratio` if it is at most e to the `epsilon`, decided exactly; else refuse.

    Raises
    ------
    GuaranteeError
        If the ratio is larger, or cannot be told from e to the `epsilon` with 640 digits.

    >>> require_private(Fraction(271, 100), Fraction(1), owner="example")
    Fraction(271, 100)
    """
    digits = 40
    low, high = exp_bounds(epsilon, digits=digits)
    while low < ratio <= high and digits < _MOST_DIGITS:  # e to a rational is irrational: this ends
        digits *= 2
        low, high = exp_bounds(epsilon, digits=digits)
    if ratio > low:
        raise GuaranteeError(
            f"The probabilities of {owner} do not keep epsilon = {epsilon}. "
            "Hint: this is a fault of evenhand, please report it; nothing was drawn."
        )
    return ratio


def realised_epsilon(ratio: Fraction) -> Fraction:
    """Return the logarithm of a ratio of at least 1, rounded up beyond its thirtieth digit.

    >>> float(realised_epsilon(Fraction(3)))
    1.0986122886681098
    """
    return log_above(ratio, digits=40)


class Ideal(NamedTuple):
    """What a protocol would do with probabilities of unlimited precision.

    Attributes
    ----------
    p, q : array of float
        Probability that a report supports the true value, and a given other value.
    variance : array of float
        Variance of the estimated share of a value that nobody has, times the number of people.
    """

    p: Any
    q: Any
    variance: Any


def least_variance(*candidates: Ideal) -> Ideal:
    """Return, entry by entry, the candidate of least variance; the first in a tie."""
    best = candidates[0]
    for other in candidates[1:]:
        less = other.variance < best.variance
        best = Ideal(*(np.where(less, new, old) for new, old in zip(other, best, strict=True)))
    return best


def response_log_gain(k: Floats, epsilon: Floats) -> Floats:
    """Return the logarithm of minus the derivative of the variance of randomized response over `k` values."""
    return np.asarray(-epsilon + np.log1p((2 * k - 3) * np.exp(-epsilon)) - 3 * np.log(-np.expm1(-epsilon)))
