"""Epsilon in few digits, never below what it is."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction

__all__ = ["epsilon_of"]


def epsilon_of(epsilon: Fraction | float, digits: int = 4) -> str:
    """Return epsilon with a few digits, never below what it is: the last of them is rounded up.

    >>> epsilon_of(0.25), epsilon_of(1.12346), epsilon_of(Fraction(1, 3)), epsilon_of(math.inf)
    ('0.25', '1.124', '0.3334', '∞')
    """
    if math.isinf(epsilon):
        return "∞"
    exact = epsilon if isinstance(epsilon, Fraction) else Fraction(repr(float(epsilon)))
    up = Context(prec=digits, rounding=ROUND_CEILING)
    return f"{float(up.divide(Decimal(exact.numerator), Decimal(exact.denominator))):.{digits}g}"
