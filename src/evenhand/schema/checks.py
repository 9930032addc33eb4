"""Checks of what a domain is declared from."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from evenhand.errors import InvalidParameterError
from evenhand.schema.values import (
    Value,
    described,
    elements,
    number_text,
    plain_value,
    shown,
    text,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "bounds",
    "distinct_labels",
    "distinct_values",
    "increasing_edges",
    "interval_labels",
    "refuse_twins",
]

_LARGEST_SIZE = 2**63 - 2
_TYPES = {"str": "text", "int": "whole numbers", "bool": "truth values", "float": "numbers"}


def distinct_values(given: Iterable[object], *, owner: str) -> tuple[Value, ...]:
    """Return the values of a categorical domain, or refuse them."""
    values: list[Value] = []
    for each in elements("values", given, owner=owner):
        plain = plain_value(each)
        if plain is None:
            must_be = "a list of text, or of 64-bit whole numbers, or of truth values, or of finite numbers"
            raise InvalidParameterError(
                "values", owner=owner, must_be=must_be, got=f"the value {described(each)}"
            )
        values.append(plain)
    if not values:
        raise InvalidParameterError(
            "values", owner=owner, must_be="a list of at least one value", got="an empty list"
        )
    types = sorted({type(value).__name__ for value in values})
    if len(types) > 1:
        got = f"{_TYPES[types[0]]} and {_TYPES[types[1]]}"
        raise InvalidParameterError("values", owner=owner, must_be="values of one type", got=got)
    refuse_twins("values", values, owner=owner)
    return tuple(values)


def bounds(low: object, high: object, *, owner: str) -> tuple[int, int]:
    """Return both ends of a range of whole numbers, or refuse them."""
    first, last = (_end(name, end, owner) for name, end in (("low", low), ("high", high)))
    if last < first:
        raise InvalidParameterError("high", owner=owner, must_be=f"at least 'low', {first}", got=last)
    if last - first >= _LARGEST_SIZE:
        must_be = "such that there are at most 2**63 - 2 values"
        raise InvalidParameterError("high", owner=owner, must_be=must_be, got=last)
    return first, last


def _end(name: str, given: object, owner: str) -> int:
    plain = plain_value(given)
    if type(plain) is not int:
        raise InvalidParameterError(
            name, owner=owner, must_be="a whole number that fits 64 bits", got=shown(given)
        )
    return plain


def increasing_edges(given: Iterable[object], *, owner: str) -> tuple[float, ...]:
    """Return the edges of bins as floats, or refuse them."""
    edges: list[float] = []
    for each in elements("edges", given, owner=owner):
        plain = plain_value(each)
        if plain is None or isinstance(plain, str | bool) or float(plain) != plain:
            must_be = "a list of finite numbers that a 64-bit float holds exactly"
            raise InvalidParameterError(
                "edges", owner=owner, must_be=must_be, got=f"the edge {described(each)}"
            )
        edges.append(float(plain))
    if len(edges) < 2:
        raise InvalidParameterError("edges", owner=owner, must_be="a list of at least two numbers", got=edges)
    for left, right in pairwise(edges):
        if right <= left:
            got = f"{number_text(left)} followed by {number_text(right)}"
            raise InvalidParameterError("edges", owner=owner, must_be="strictly increasing", got=got)
    return tuple(edges)


def distinct_labels(name: str, given: Iterable[object], count: int, *, owner: str) -> tuple[str, ...]:
    """Return `count` distinct labels, or refuse them."""
    labels = tuple(text(name, each, owner=owner) for each in elements(name, given, owner=owner))
    if len(labels) != count:
        raise InvalidParameterError(
            name, owner=owner, must_be=f"a list of {count} labels", got=f"{len(labels)} of them"
        )
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
            raise InvalidParameterError(
                name, owner=owner, must_be="a list of distinct values", got=f"{described(value)} twice"
            )
        seen.add(value)
