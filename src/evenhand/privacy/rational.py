"""Exact numbers: rationals from what people write, and e^x bounded on both sides.

Budgets and scales are rationals, so that sums are exact and comparisons have no rounding.
A float means the decimal it prints: ``0.1`` is one tenth, not the binary number beside it.
"""

from __future__ import annotations

import decimal
import math
from decimal import Decimal
from fractions import Fraction
from numbers import Rational, Real

from evenhand.errors import InvalidParameterError

__all__ = ["Number", "as_text", "exact", "exp_bounds"]

Number = int | float | str | Fraction | Decimal
"""What may be given where a rational is wanted."""

_LONGEST_TEXT = 100
_LARGEST_EXPONENT = 400  # beyond any float, and small enough that no short text makes a huge integer


def exact(
    value: object, *, name: str, owner: str, above: int | None = None, least: int | None = None
) -> Fraction:
    """Return the rational that `value` stands for.

    Parameters
    ----------
    value : int, float, str, Fraction or Decimal
        A float means the shortest decimal that prints as it does. A string may be a decimal
        (``"0.1"``, ``"1e-6"``) or a ratio (``"1/10"``).
    name, owner : str
        For the message when `value` is refused.
    above, least : int, optional
        Refuse values that are not > `above`, or not >= `least`.

    Examples
    --------
    >>> exact(0.1, name="epsilon", owner="example")
    Fraction(1, 10)
    >>> exact("1/3", name="epsilon", owner="example")
    Fraction(1, 3)
    """
    number = _parse(value)
    low_enough = number is not None and above is not None and number <= above
    if number is None or low_enough or (least is not None and number < least):
        bound = f" > {above}" if above is not None else f" >= {least}" if least is not None else ""
        raise InvalidParameterError(name, owner=owner, must_be=f"a number{bound}", got=value)
    return number


def as_text(value: Fraction) -> str:
    """Write a rational so that :func:`exact` reads the same one back.

    >>> as_text(Fraction(1, 10))
    '1/10'
    """
    return str(value)


def exp_bounds(exponent: Fraction, *, digits: int = 40) -> tuple[Fraction, Fraction]:
    r"""Return rationals :math:`l \le e^x \le u` with relative distance below ``10**(2 - digits)``.

    The decimal module rounds ``exp`` correctly to the digits asked; the exponent itself is rounded
    outward first, and one unit in the last place is added on either side.

    >>> low, high = exp_bounds(Fraction(1))
    >>> low < high, float(low)
    (True, 2.718281828459045)
    """
    lows = _exp_rounded(exponent, digits, decimal.ROUND_FLOOR)
    highs = _exp_rounded(exponent, digits, decimal.ROUND_CEILING)
    return lows, highs


def _exp_rounded(exponent: Fraction, digits: int, rounding: str) -> Fraction:
    whole_digits = len(str(abs(exponent.numerator) // exponent.denominator))
    context = decimal.Context(
        prec=digits + whole_digits, rounding=rounding, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN
    )
    outward = context.divide(Decimal(exponent.numerator), Decimal(exponent.denominator))
    context.prec = digits
    value = context.exp(outward)
    nearest = context.next_minus(value) if rounding == decimal.ROUND_FLOOR else context.next_plus(value)
    return Fraction(nearest)


def _parse(value: object) -> Fraction | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        return _parse_text(value)
    if isinstance(value, Rational):  # whole numbers too, numpy's among them
        return Fraction(int(value.numerator), int(value.denominator))
    if isinstance(value, Decimal):
        return Fraction(value) if value.is_finite() and abs(value.adjusted()) <= _LARGEST_EXPONENT else None
    if isinstance(value, Real):
        return Fraction(str(value)) if math.isfinite(value) else None
    return None


def _parse_text(text: str) -> Fraction | None:
    _, _, exponent = text.lower().partition("e")
    if len(text) > _LONGEST_TEXT or "_" in text or len(exponent.strip().lstrip("+-0")) > 3:
        return None
    try:
        return Fraction(text) if abs(int(exponent or 0)) <= _LARGEST_EXPONENT else None
    except (ValueError, ZeroDivisionError):
        return None
