r"""Probabilities that a computer can draw exactly, rounded toward privacy.

A protocol draws with probabilities that are multiples of 2**-53. They are computed from bounds of
:math:`e^\varepsilon` in rational arithmetic and rounded so that reports tell less, never more; the
worst ratio between two values is then a rational that is compared with :math:`e^\varepsilon` exactly.
"""

from __future__ import annotations

import math
from fractions import Fraction

from evenhand.errors import GuaranteeError
from evenhand.privacy.rational import exp_bounds, log_above

__all__ = ["GRID", "exp_above", "exp_below", "realised_epsilon", "require_private", "round_down", "round_up"]

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
