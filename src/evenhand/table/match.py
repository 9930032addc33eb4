"""Which code a single value has: the rules of matching, written for one value at a time.

Types count. Text matches text, a truth value matches a truth value, and a number matches a number
it is exactly equal to. The fast paths for whole columns give the same codes; this is the path of
values that come one by one: Python objects of mixed types, and decimals.
"""

from __future__ import annotations

from bisect import bisect_right
from datetime import date
from decimal import Decimal
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.schema.bands import as_date, day_number

if TYPE_CHECKING:
    from evenhand.schema import Domain

Number = int | float | np.floating[Any] | Decimal

TRUE_WORDS = ("true", "True", "TRUE")
"""The texts that stand for True in a domain of truth values, as CSV files spell it."""

FALSE_WORDS = ("false", "False", "FALSE")
"""The texts that stand for False."""

_MISSING_TYPES = {"NAType", "NaTType"}
_LONGEST_DECIMAL = 64


def is_missing(value: object) -> bool:
    """Tell whether a value counts as missing: None, NaN of any type, pandas' NA and NaT.

    >>> is_missing(None), is_missing(float("nan")), is_missing(""), is_missing(float("inf"))
    (True, True, False, False)
    """
    if value is None or type(value).__name__ in _MISSING_TYPES:
        return True
    if isinstance(value, float | np.floating):
        return bool(np.isnan(value))
    if isinstance(value, np.datetime64 | np.timedelta64):
        return bool(np.isnat(value))
    return isinstance(value, Decimal) and value.is_nan()


def find_code(value: object, domain: Domain) -> int | None:
    """Return the code of a value that is not missing, or None if it is outside the domain.

    >>> from evenhand.schema import Domain
    >>> ages = Domain.integers(17, 90)
    >>> [find_code(value, ages) for value in (17, 17.0, Decimal("17.0"), "17", True, 17.5, 16)]
    [0, 0, 0, None, None, None, None]
    """
    if domain.value_type is date:
        day = as_date(value, domain.written)
        return None if day is None else _bin(day_number(day), domain.edges)
    if isinstance(value, str):
        return _text_code(value, domain)
    if isinstance(value, bool | np.bool_):
        return domain.find(bool(value))
    number = _number(value)
    if number is None or domain.value_type not in (int, float):
        return None
    if domain.kind == "binned":
        return _bin(number, domain.edges)
    exact = _whole(number) if domain.value_type is int else _floating(number)
    return None if exact is None else domain.find(exact)


def largest_exact(dtype: np.dtype[np.floating]) -> float:
    """Return the bound below which every whole number has a floating-point number of its own.

    From there on two whole numbers may have become the same floating-point number.

    >>> largest_exact(np.dtype("float64")) == 2**53
    True
    """
    return 2.0 ** min(np.finfo(dtype).nmant + 1, 53)


def _text_code(text: str, domain: Domain) -> int | None:
    if domain.kind == "categorical" and domain.value_type is str:
        return domain.find(text)
    if domain.value_type is bool and text in TRUE_WORDS + FALSE_WORDS:
        return domain.find(text in TRUE_WORDS)
    return None


def _number(value: object) -> Number | None:
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Decimal):
        return value if value.is_finite() and abs(value.adjusted()) < _LONGEST_DECIMAL else None
    if isinstance(value, float | np.floating):
        return value if np.isfinite(value) else None
    return None


def _whole(number: Number) -> int | None:
    if isinstance(number, Decimal):
        return int(number) if number == number.to_integral_value() else None
    if isinstance(number, int):
        return number
    exact = -largest_exact(np.asarray(number).dtype) < number < largest_exact(np.asarray(number).dtype)
    return int(number) if exact and number == np.floor(number) else None


def _floating(number: Number) -> float | None:
    if isinstance(number, Decimal):  # the decimal that a person would write for the float
        return float(number) if Decimal(repr(float(number))) == number else None
    if isinstance(number, int) and not -(2**64) < number < 2**64:
        return None
    return float(number) if float(number) == number else None


def _bin(number: Number, edges: tuple[float, ...]) -> int | None:
    place = float(number) if isinstance(number, Decimal | np.floating) else number
    if not edges[0] <= place <= edges[-1]:
        return None
    return min(bisect_right(edges, place), len(edges) - 1) - 1
