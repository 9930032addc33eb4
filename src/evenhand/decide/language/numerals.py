"""How numbers and names are written in a rule, so that the parser reads the same ones back."""

from __future__ import annotations

import re
from fractions import Fraction

from evenhand.errors import InvalidParameterError
from evenhand.privacy.rational import exact

__all__ = ["KEYWORDS", "NAME", "checked_name", "number", "numeral", "quoted", "within_limits"]

KEYWORDS = ("and", "or", "xor", "not", "signed")
"""Words of the language, in small or capital letters; a column of that name stands in backquotes."""

NAME = re.compile(r"[^\W\d]\w*")
"""A name that needs no backquotes, if Python takes it for one as well: letters, digits, underscores."""

LONGEST_NAME = 200
_LARGEST, _SMALLEST = Fraction(10**100), Fraction(1, 10**100)
_LONGEST_DECIMAL = 18
_MOST_BITS, _FEW_BITS = 1_024, 332  # with few bits above and below, a number is within 1e100 as well


def checked_name(name: object, *, parameter: str, owner: str) -> str:
    """Return the name of an input, which is a text of 1 to 200 characters."""
    if not isinstance(name, str) or not 0 < len(name) <= LONGEST_NAME:
        must_be = f"the name of a column, of 1 to {LONGEST_NAME} characters"
        raise InvalidParameterError(parameter, owner=owner, must_be=must_be, got=name)
    return str(name)


def number(value: object, *, parameter: str, owner: str) -> Fraction:
    """Return a number of a rule as a rational; a float means the decimal that it prints."""
    read = exact(value, name=parameter, owner=owner)
    if not within_limits(read):
        must_be = "0, or from 1e-100 to 1e100 in size with at most 300 digits"
        raise InvalidParameterError(parameter, owner=owner, must_be=must_be, got="another number")
    return read


def within_limits(value: Fraction) -> bool:
    """Whether a rational is short enough to be a number of a rule."""
    bits = max(value.numerator.bit_length(), value.denominator.bit_length())
    if bits <= _FEW_BITS:
        return True
    return bits <= _MOST_BITS and _SMALLEST <= abs(value) <= _LARGEST


def numeral(value: Fraction) -> str:
    """Write a number: as a decimal where that is exact and short, else as a ratio.

    >>> numeral(Fraction(1, 20)), numeral(Fraction(10_000)), numeral(Fraction(-1, 3))
    ('0.05', '10000', '-1/3')
    """
    if value.denominator == 1:
        return str(value.numerator)
    twos = (value.denominator & -value.denominator).bit_length() - 1
    rest, fives = value.denominator >> twos, 0
    while rest % 5 == 0:
        rest, fives = rest // 5, fives + 1
    places = max(twos, fives)
    if rest > 1 or places > _LONGEST_DECIMAL:
        return f"{value.numerator}/{value.denominator}"
    whole, part = divmod(int(abs(value) * 10**places), 10**places)
    return f"{'-' if value < 0 else ''}{whole}.{part:0{places}d}"


def quoted(name: str) -> str:
    """Write a name: in backquotes where it is not a plain word, a backquote in it twice.

    >>> quoted("sp"), quoted("share of children"), quoted("or")
    ('sp', '`share of children`', '`or`')
    """
    if NAME.fullmatch(name) and name.isidentifier() and name.lower() not in KEYWORDS:
        return name
    return f"`{name.replace('`', '``')}`"
