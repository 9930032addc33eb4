"""Exact numbers: rationals from what people write, and e^x and ln x bounded on both sides.

Budgets and scales are rationals, so that sums are exact and comparisons have no rounding.
A float means the decimal it prints: ``0.1`` is one tenth, not the binary number beside it.
"""

from __future__ import annotations

import decimal
import math
from decimal import Decimal
from fractions import Fraction
from numbers import Rational, Real

from evenhand.errors import InvalidParameterError, LimitExceededError

Number = int | float | str | Fraction | Decimal
"""What may be given where a rational is wanted."""

_LONGEST_TEXT = 8_000
_SHORT_PART = 12  # digits that a person reads
_LONGEST_INTEGER = 3_900  # digits; Python itself refuses to read or write more than 4,300
_LARGEST_EXPONENT = 400  # beyond any float, and small enough that no short text makes a huge integer
_BITS_PER_DIGIT = math.log2(10)
LARGEST_AMOUNT = Fraction(10**_LARGEST_EXPONENT)
SMALLEST_AMOUNT = 1 / LARGEST_AMOUNT
_LARGEST_PLAIN = 300  # powers of ten that a float has with all its digits
_LARGEST_POWER = 1_000_000  # e to this power has 434,295 digits


def exact(
    value: object,
    *,
    name: str,
    owner: str,
    above: int | None = None,
    least: int | None = None,
    most: int | None = None,
) -> Fraction:
    """Return the rational that `value` stands for.

    Parameters
    ----------
    value : int, float, str, Fraction or Decimal
        A float means the shortest decimal that prints as it does. A string may be a decimal
        (``"0.1"``, ``"1e-6"``) or a ratio (``"1/10"``). Zero, or from 10**-400 to 10**400 in size, with at
        most 3,900 digits above and below the line.
    name, owner : str
        For the message when `value` is refused.
    above, least, most : int, optional
        Refuse values that are not > `above`, not >= `least`, or not <= `most`.

    Examples
    --------
    >>> exact(0.1, name="epsilon", owner="example")
    Fraction(1, 10)
    >>> exact("1/3", name="epsilon", owner="example")
    Fraction(1, 3)
    """
    number = _parse(value)
    if (
        number is None
        or (above is not None and number <= above)
        or (least is not None and number < least)
        or (most is not None and number > most)
    ):
        too_long = number is None and isinstance(value, Rational) and not isinstance(value, bool)
        raise InvalidParameterError(
            name,
            owner=owner,
            must_be=_range_text(above, least, most),
            got=value,
            hint="0, or 10**-400 to 10**400, in 3,900 digits at most" if too_long else "",
        )
    return number


def as_text(value: Fraction) -> str:
    """Write a rational so that :func:`exact` reads the same one back.

    >>> as_text(Fraction(1, 10))
    '1/10'
    """
    if longest_part(value) > _LONGEST_INTEGER:
        raise LimitExceededError(
            f"A number whose parts have more than {_LONGEST_INTEGER:,} digits is not written as text. "
            "Hint: give budgets as short decimals or ratios, so that their sums stay short.",
            limit="digits",
        )
    return str(value)


def longest_part(value: Fraction) -> float:
    """Return about how many digits the longer of numerator and denominator has, without writing it."""
    return max(value.numerator.bit_length(), value.denominator.bit_length()) / _BITS_PER_DIGIT


def round_up(value: Fraction, *, digits: int) -> Fraction:
    """Return the smallest decimal of so many significant digits that is not below `value` (>= 0).

    >>> round_up(Fraction(1, 3), digits=2)
    Fraction(17, 50)
    """
    return Fraction(round_decimal(value, digits, decimal.ROUND_CEILING))


def round_down(value: Fraction, *, digits: int) -> Fraction:
    """Return the largest decimal of so many significant digits that is not above `value` (>= 0).

    >>> round_down(Fraction(2, 3), digits=2)
    Fraction(33, 50)
    """
    return Fraction(round_decimal(value, digits, decimal.ROUND_FLOOR))


def float_below(value: Fraction) -> float:
    """Return the largest float that is not above `value`.

    >>> Fraction(float_below(Fraction(1, 10))) <= Fraction(1, 10) < Fraction(float_above(Fraction(1, 10)))
    True
    """
    near = float(value)
    return near if near <= value else math.nextafter(near, -math.inf)


def float_above(value: Fraction) -> float:
    """Return the smallest float that is not below `value`."""
    near = float(value)
    return near if near >= value else math.nextafter(near, math.inf)


def text_above(value: Fraction, *, digits: int = 6) -> str:
    """Write a number (>= 0) in a few digits, never below what it is: so is a claim shown to people.

    >>> text_above(Fraction(1, 3)), text_above(Fraction(1, 2)), text_above(Fraction(1_000_001, 1_000_000))
    ('0.333334', '0.5', '1.00001')
    """
    return _short(round_decimal(value, digits, decimal.ROUND_CEILING), digits)


def decimal_text(value: Fraction) -> str:
    """Write a number (>= 0) for people: as a decimal, with the exact one beside it where that is another.

    >>> decimal_text(Fraction(1, 2)), decimal_text(Fraction(1, 3)), decimal_text(Fraction(10**20, 3**40))
    ('0.5', '0.333334 (exactly 1/3)', '8.22527 (rounded up)')
    """
    short = longest_part(value) <= _SHORT_PART
    shown = str(value) if short and value.denominator == 1 else text_above(value)
    if Fraction(shown) == value:
        return shown
    return f"{shown} (exactly {value})" if short else f"{shown} (rounded up)"


def text_below(value: Fraction, *, digits: int = 6) -> str:
    """Write a number (>= 0) in a few digits, never above what it is: so is a lower bound that was measured.

    >>> text_below(Fraction(2, 3)), text_below(Fraction(1, 2))
    ('0.666666', '0.5')
    """
    return _short(round_decimal(value, digits, decimal.ROUND_FLOOR), digits)


def exp_bounds(exponent: Fraction, *, digits: int = 40) -> tuple[Fraction, Fraction]:
    r"""Return rationals :math:`l \le e^x \le u` with relative distance below ``10**(2 - digits)``.

    The decimal module rounds ``exp`` correctly to the digits asked; the exponent itself is rounded
    outward first, and one unit in the last place is added on either side.
    An exponent above 1,000,000 is refused; below -1,000,000 the lower bound is 0.

    >>> low, high = exp_bounds(Fraction(1))
    >>> low < high, float(low)
    (True, 2.718281828459045)
    """
    if exponent > _LARGEST_POWER:
        raise InvalidParameterError(
            "exponent", owner="exp_bounds", must_be="at most 1,000,000", got="a larger number"
        )
    if exponent < -_LARGEST_POWER:
        return Fraction(0), _round_exp(Fraction(-_LARGEST_POWER), digits, decimal.ROUND_CEILING)
    low = _round_exp(exponent, digits, decimal.ROUND_FLOOR)
    high = _round_exp(exponent, digits, decimal.ROUND_CEILING)
    return low, high


def log_bounds(value: Fraction, *, digits: int = 40) -> tuple[Fraction, Fraction]:
    r"""Return rationals :math:`l \le \ln x \le u` for :math:`x > 0`.

    Their relative distance is below ``10**(3 - digits)``. Near 1 the logarithm is small, so more digits of
    `value` are kept there.

    >>> low, high = log_bounds(Fraction(2))
    >>> low < high, float(low)
    (True, 0.6931471805599453)
    """
    return log_below(value, digits=digits), log_above(value, digits=digits)


def log_below(value: Fraction, *, digits: int = 40) -> Fraction:
    """Return the lower of the :func:`log_bounds`."""
    return _round_log(value, digits, decimal.ROUND_FLOOR)


def log_above(value: Fraction, *, digits: int = 40) -> Fraction:
    """Return the upper of the :func:`log_bounds`."""
    return _round_log(value, digits, decimal.ROUND_CEILING)


def leading_zeros(value: Fraction) -> int:
    """Return a little more than the number of zeros that `value` (> 0) shows after its point."""
    bits = value.denominator.bit_length() - value.numerator.bit_length()
    return max(0, math.ceil(bits * math.log10(2)) + 1)


def decimal_context(precision: int, rounding: str = decimal.ROUND_HALF_EVEN) -> decimal.Context:
    """Return a context of the decimal module that depends on no setting made elsewhere."""
    traps = [decimal.InvalidOperation, decimal.DivisionByZero, decimal.Overflow]
    return decimal.Context(
        prec=precision,
        rounding=rounding,
        Emin=decimal.MIN_EMIN,
        Emax=decimal.MAX_EMAX,
        capitals=0,
        clamp=0,
        flags=[],
        traps=traps,
    )


def round_decimal(value: Fraction, digits: int, rounding: str) -> Decimal:
    """Return the decimal of so many significant digits on the side that `rounding` names."""
    return decimal_context(digits, rounding).divide(Decimal(value.numerator), Decimal(value.denominator))


def _short(value: Decimal, digits: int) -> str:
    """Write a decimal of at most 15 digits as a float of that many is written, without changing any."""
    if value and abs(value.adjusted()) > _LARGEST_PLAIN:
        return f"{value.normalize(decimal_context(digits)):e}"
    return f"{float(value):.{digits}g}"


def _round_exp(exponent: Fraction, digits: int, rounding: str) -> Fraction:
    whole_digits = len(str(abs(exponent.numerator) // exponent.denominator))
    context = decimal_context(digits + whole_digits, rounding)
    outward = context.divide(Decimal(exponent.numerator), Decimal(exponent.denominator))
    context.prec = digits
    return _one_place_outward(context, context.exp(outward))


def _round_log(value: Fraction, digits: int, rounding: str) -> Fraction:
    if value <= 0:
        raise InvalidParameterError("value", owner="log_bounds", must_be="a number > 0", got=value)
    if value == 1:
        return Fraction(0)
    context = decimal_context(digits + leading_zeros(abs(value - 1)), rounding)
    outward = context.divide(Decimal(value.numerator), Decimal(value.denominator))
    return _one_place_outward(context, context.ln(outward))


def _one_place_outward(context: decimal.Context, value: Decimal) -> Fraction:
    down = context.rounding == decimal.ROUND_FLOOR
    return Fraction(context.next_minus(value) if down else context.next_plus(value))


def _range_text(above: int | None, least: int | None, most: int | None) -> str:
    low = f" > {above}" if above is not None else f" >= {least}" if least is not None else ""
    high = f"{' and' if low else ''} <= {most}" if most is not None else ""
    return f"a number{low}{high}"


def _parse(value: object) -> Fraction | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        return _parse_text(value)
    if isinstance(value, Rational):  # whole numbers too, numpy's among them
        return _within_limits(int(value.numerator), int(value.denominator))
    if isinstance(value, Decimal):
        finite = value.is_finite() and abs(value.adjusted()) <= _LARGEST_EXPONENT
        short = finite and len(value.as_tuple().digits) <= _LONGEST_INTEGER
        return _within_limits(*value.as_integer_ratio()) if short else None
    if isinstance(value, float):  # a class made from it may print anything; what a float prints is a number
        return _parse_text(float.__repr__(value))
    return _parse_text(str(value)) if isinstance(value, Real) else None


def _parse_text(text: str) -> Fraction | None:
    _, _, exponent = text.lower().partition("e")
    if len(text) > _LONGEST_TEXT or "_" in text or len(exponent.strip().lstrip("+-0")) > 3:
        return None
    try:
        number = Fraction(text) if abs(int(exponent or 0)) <= _LARGEST_EXPONENT else None
    except (ValueError, ZeroDivisionError):
        return None
    return None if number is None else _within_limits(number.numerator, number.denominator)


def _within_limits(numerator: int, denominator: int) -> Fraction | None:
    """Return the ratio unless it is too long or too far from 1; its length is looked at before all else."""
    if max(numerator.bit_length(), denominator.bit_length()) > _LONGEST_INTEGER * _BITS_PER_DIGIT:
        return None
    number = Fraction(numerator, denominator)
    return number if number == 0 or SMALLEST_AMOUNT <= abs(number) <= LARGEST_AMOUNT else None
