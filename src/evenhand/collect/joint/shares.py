"""Whole numbers of small units from shares: amounts of budget, and chances of being asked."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

from evenhand.collect.protocols.dyadic import GRID

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["decimal_parts", "dyadic_shares", "float_below"]


def dyadic_shares(amounts: Sequence[Fraction]) -> tuple[Fraction, ...]:
    """Return multiples of 1 / GRID, all above nought, that sum to 1 and are next to the amounts' shares.

    >>> dyadic_shares([Fraction(1), Fraction(3)])
    (Fraction(1, 4), Fraction(3, 4))
    """
    total = sum(amounts, Fraction(0))
    units = [max(1, round(amount / total * GRID)) for amount in amounts]
    units[units.index(max(units))] += GRID - sum(units)
    return tuple(Fraction(each, GRID) for each in units)


def decimal_parts(total: Fraction, amounts: Sequence[float]) -> tuple[Fraction, ...]:
    """Return rationals, all above nought, in proportion to the amounts, that sum to `total`.

    All but the largest are decimals rounded down; the largest takes the rest, less than `total` / 10**15.

    >>> decimal_parts(Fraction(1), [1.0, 2.0])
    (Fraction(333333333333333333, 1000000000000000000), Fraction(666666666666666667, 1000000000000000000))
    """
    if len(amounts) == 1:
        return (total,)
    digits = 17 + len(str(len(amounts))) - math.floor(math.log10(total))
    unit = Fraction(1, 10**digits) if digits >= 0 else Fraction(10**-digits)
    whole = sum(map(Fraction, amounts))
    units = [max(1, math.floor(Fraction(amount) / whole * total / unit)) for amount in amounts]
    parts = [each * unit for each in units]
    largest = units.index(max(units))
    parts[largest] += total - sum(parts)  # below nought where some part was lifted to one unit
    return tuple(parts)


def float_below(amount: Fraction) -> float:
    """Return a float next to `amount` whose shortest decimal is not above it.

    >>> float_below(Fraction(1, 10)), float_below(Fraction(2, 3))
    (0.1, 0.6666666666666666)
    """
    found = float(amount)
    while Fraction(repr(found)) > amount:
        found = math.nextafter(found, 0.0)
    return found
