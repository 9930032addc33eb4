"""What a declared value may be, and checks of what a domain or a plan is declared from.

A value is text, a whole number, a truth value or a finite number. Everything declared is public and has to
survive a file, so values are brought to Python's own types, text must be writable as UTF-8 and whole numbers
must fit 64 bits. Parameters of a plan are what a plan file can hold, so that no plan runs that could not be
written down.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Mapping
from itertools import pairwise
from numbers import Integral
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from evenhand._validate import kind_of, refuse
from evenhand.errors import InvalidParameterError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Kind = TypeVar("Kind")

Value = str | int | bool | float
"""A declared value. One domain holds values of one of these types only."""

_LONGEST_SHOWN = 100

INT_LOW, INT_HIGH = -(2**63), 2**63 - 1


def _is_text(value: object) -> bool:
    r"""Tell whether `value` is a string that UTF-8 can write, so no lone surrogates.

    >>> _is_text("Zoë"), _is_text("\ud800"), _is_text(3)
    (True, False, False)
    """
    if not isinstance(value, str):
        return False
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def text(name: str, value: object, *, owner: str) -> str:
    """Return `value` as a plain, non-empty string, else refuse it."""
    if not isinstance(value, str) or not value or not _is_text(value):
        refuse(name, owner, "a non-empty string that can be written as UTF-8", shown(value))
    return str.__str__(value)


def shown(value: object) -> object:
    """Return `value` if it is short enough for a message, else words for its type.

    >>> shown(3), shown("x" * 1000), shown([1])
    (3, 'a value of type str', 'a value of type list')
    """
    short = (
        len(value) <= _LONGEST_SHOWN
        if isinstance(value, str)
        else abs(value) <= 10**_LONGEST_SHOWN
        if isinstance(value, int)
        else value is None or isinstance(value, float)
    )
    return value if short else kind_of(value)


def described(value: object) -> str:
    """Return :func:`shown` as words of a sentence.

    >>> described("a"), described([1])
    ("'a'", 'a value of type list')
    """
    brief = shown(value)
    return repr(value) if brief is value else str(brief)


def instance(name: str, value: object, kind: type[Kind], *, owner: str) -> Kind:
    """Return `value` if it is of the type `kind`, else refuse it."""
    if not isinstance(value, kind):
        refuse(name, owner, f"of type {kind.__name__}", kind_of(value))
    return value


def truth(name: str, value: object, *, owner: str) -> bool:
    """Return `value` if it is ``True`` or ``False``, else refuse it."""
    if not isinstance(value, bool):
        refuse(name, owner, "True or False", shown(value))
    return value


def plain_value(value: object) -> Value | None:
    """Return `value` as Python's own ``str``, ``bool``, ``int`` or ``float``; ``None`` if it is none.

    NumPy scalars are taken for what they hold. Numbers that are not finite, whole numbers beyond
    64 bits and text that UTF-8 cannot write are none. Minus zero is zero.

    >>> plain_value(np.int64(3)), plain_value(-0.0), plain_value(math.nan), plain_value(None)
    (3, 0.0, None, None)
    """
    if isinstance(value, str):
        return str.__str__(value) if _is_text(value) else None
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, Integral):
        return int(value) if INT_LOW <= int(value) <= INT_HIGH else None
    if isinstance(value, float | np.floating):
        number = float(value)
        return number + 0.0 if math.isfinite(number) else None
    return None


def elements(name: str, given: Iterable[object], *, owner: str) -> tuple[object, ...]:
    """Return the elements of a list, in its order; refuse text, sets and mappings.

    A string is nearly always a forgotten pair of brackets, and the order of a set may change
    from run to run, while declared order is the order of the codes.
    """
    if not isinstance(given, str | bytes | set | frozenset | dict):
        with contextlib.suppress(TypeError):
            return tuple(given)
    got = kind_of(given)
    hint = "give a set an order with sorted()" if isinstance(given, set | frozenset) else ""
    return refuse(name, owner, "a list or a tuple", got, hint=hint)


def number_text(number: float) -> str:
    """Write a number as short as it reads back, without a needless point.

    >>> number_text(10.0), number_text(0.1), number_text(1e300), number_text(-2.5)
    ('10', '0.1', '1e+300', '-2.5')
    """
    return repr(number).removesuffix(".0")


_LARGEST_SIZE = 2**63 - 2
_TYPES = {"str": "text", "int": "whole numbers", "bool": "truth values", "float": "numbers"}


def distinct_values(given: Iterable[object], *, owner: str) -> tuple[Value, ...]:
    """Return the values of a categorical domain, or refuse them."""
    values: list[Value] = []
    for value in elements("values", given, owner=owner):
        plain = plain_value(value)
        if plain is None:
            must_be = "a list of text, or of 64-bit whole numbers, or of truth values, or of finite numbers"
            refuse("values", owner, must_be, f"the value {described(value)}")
        values.append(plain)
    if not values:
        refuse("values", owner, "a list of at least one value", "an empty list")
    types = sorted({type(value).__name__ for value in values})
    if len(types) > 1:
        refuse("values", owner, "values of one type", f"{_TYPES[types[0]]} and {_TYPES[types[1]]}")
    refuse_twins("values", values, owner=owner)
    return tuple(values)


def bounds(low: object, high: object, *, owner: str) -> tuple[int, int]:
    """Return both ends of a range of whole numbers, or refuse them."""
    ends = []
    for name, given in (("low", low), ("high", high)):
        plain = plain_value(given)
        if type(plain) is not int:
            refuse(name, owner, "a whole number that fits 64 bits", shown(given))
        ends.append(plain)
    first, last = ends
    if last < first:
        refuse("high", owner, f"at least 'low', {first}", last)
    if last - first >= _LARGEST_SIZE:
        refuse("high", owner, "such that there are at most 2**63 - 2 values", last)
    return first, last


def increasing_edges(given: Iterable[object], *, owner: str) -> tuple[float, ...]:
    """Return the edges of bins as floats, or refuse them."""
    edges: list[float] = []
    for edge in elements("edges", given, owner=owner):
        plain = plain_value(edge)
        if plain is None or isinstance(plain, str | bool) or float(plain) != plain:
            must_be = "a list of finite numbers that a 64-bit float holds exactly"
            refuse("edges", owner, must_be, f"the edge {described(edge)}")
        edges.append(float(plain))
    if len(edges) < 2:
        refuse("edges", owner, "a list of at least two numbers", edges)
    return strictly_increasing("edges", edges, owner=owner)


def strictly_increasing(name: str, numbers: Sequence[float], *, owner: str) -> tuple[float, ...]:
    """Return numbers of which each is above the one before it, or refuse them."""
    for left, right in pairwise(numbers):
        if right <= left:
            got = f"{number_text(left)} followed by {number_text(right)}"
            refuse(name, owner, "strictly increasing", got)
    return tuple(numbers)


def distinct_labels(name: str, given: Iterable[object], count: int, *, owner: str) -> tuple[str, ...]:
    """Return `count` distinct labels, or refuse them."""
    labels = tuple(text(name, label, owner=owner) for label in elements(name, given, owner=owner))
    if len(labels) != count:
        refuse(name, owner, f"a list of {count} labels", f"{len(labels)} of them")
    refuse_twins(name, labels, owner=owner)
    return labels


def interval_labels(edges: tuple[float, ...]) -> tuple[str, ...]:
    """Name each bin by its interval; the last one holds its right edge.

    >>> interval_labels((0.0, 2.5, 5.0))
    ('[0, 2.5)', '[2.5, 5]')
    """
    names = [f"[{number_text(left)}, {number_text(right)})" for left, right in pairwise(edges)]
    return (*names[:-1], f"{names[-1][:-1]}]")


def refuse_twins(name: str, values: Iterable[Value], *, owner: str) -> None:
    """Refuse a list that holds the same value twice."""
    seen: set[Value] = set()
    for value in values:
        if value in seen:
            refuse(name, owner, "a list of distinct values", f"{described(value)} twice")
        seen.add(value)


_PLAN_HOLDS = (
    "a mapping of names to what a plan file can hold: texts, numbers, true or false, lists and mappings"
)
_DEEPEST_MAPPING = 20


def plain_mapping(name: str, given: object, *, owner: str, hint: str = "") -> dict[str, Any]:
    """Return a mapping in the types that TOML has; it has no value for None.

    Examples
    --------
    >>> plain_mapping("parameters", {"max_depth": np.int64(3), "columns": (1, 2)}, owner="CollectTask")
    {'max_depth': 3, 'columns': [1, 2]}
    """
    if not isinstance(given, Mapping):
        refuse(name, owner, _PLAN_HOLDS, given, hint=hint)
    try:
        return {_key(key): _plain(value, _DEEPEST_MAPPING) for key, value in given.items()}
    except TypeError:
        raise InvalidParameterError(
            name, owner=owner, must_be=_PLAN_HOLDS, got=dict(given), hint=hint
        ) from None


def _plain(value: object, depth: int) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, str | bool | int | float):
        return value
    if depth and isinstance(value, list | tuple):
        return [_plain(item, depth - 1) for item in value]
    if depth and isinstance(value, Mapping):
        return {_key(key): _plain(item, depth - 1) for key, item in value.items()}
    raise TypeError


def _key(key: object) -> str:
    if not isinstance(key, str):
        raise TypeError
    return key
