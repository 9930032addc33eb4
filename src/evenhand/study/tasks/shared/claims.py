"""Numbers of a claim, rounded so that they never promise more than it does."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fractions import Fraction


def rounded_up(delta: Fraction) -> float:
    """Return the nearest number of a computer that is not below a delta.

    >>> from fractions import Fraction
    >>> float(Fraction(1, 3)) >= Fraction(1, 3), rounded_up(Fraction(1, 3)) >= Fraction(1, 3)
    (False, True)
    """
    near = float(delta)
    return near if near >= delta else math.nextafter(near, math.inf)
