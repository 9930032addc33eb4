"""Fields that several tasks have: one or several of a thing, epsilons, shares of the rows, and words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

from evenhand.errors import InvalidParameterError
from evenhand.privacy.rational import exact

if TYPE_CHECKING:
    from fractions import Fraction

_WORD = r"[^\W\d_]+(?:[-'’][^\W\d_]+)*"
_LONGEST = 40


def typed_list(names: Iterable[str]) -> str:
    """Return names as an option takes them: with commas, and in quotation marks where they need them.

    >>> typed_list(["age", "rent, monthly", 'the "old" one'])
    'age,"rent, monthly","the ""old"" one"'
    """
    quoted = (name.replace('"', '""') for name in names)
    return ",".join(f'"{name}"' if {",", '"'} & set(name) else name for name in quoted)


def several(given: Any, name: str, *, owner: str) -> list[Any]:
    """Return what one or several of a thing stand for, as a list that is not empty."""
    if isinstance(given, str | Mapping) or not isinstance(given, Iterable):
        return [given]
    listed = list(given)
    if not listed:
        raise InvalidParameterError(name, owner=owner, must_be="at least one", got="an empty list")
    return listed


def distinct(name: str, values: list[Any], *, owner: str) -> tuple[Any, ...]:
    """Return values as a tuple; refuse one that is there twice."""
    if len(set(values)) < len(values):
        raise InvalidParameterError(name, owner=owner, must_be="distinct", got="one of them twice")
    return tuple(values)


def epsilons_of(given: Any, *, owner: str, most: int = 1_000_000) -> tuple[Fraction, ...]:
    """Return epsilons as exact numbers, each above 0 and once."""
    listed = [
        exact(each, name="epsilons", owner=owner, above=0, most=most)
        for each in several(given, "epsilons", owner=owner)
    ]
    return distinct("epsilons", listed, owner=owner)


def share(name: str, given: object, *, owner: str) -> float:
    """Return a share of the rows, which is above 0 and below 1."""
    if isinstance(given, Integral) or not isinstance(given, Real) or not 0 < float(given) < 1:
        raise InvalidParameterError(name, owner=owner, must_be="between 0 and 1", got=given)
    return float(given)


def participle(given: object, *, owner: str) -> str:
    """Return the words for a positive decision, such as ``"hired"``; an empty text for none."""
    is_plain = isinstance(given, str) and re.fullmatch(rf"(?:{_WORD}(?: {_WORD}){{0,2}})?", given)
    if not isinstance(given, str) or not is_plain or len(given) > _LONGEST:
        must_be = f"one to three words of letters, such as 'hired', and at most {_LONGEST} characters"
        raise InvalidParameterError("called", owner=owner, must_be=must_be, got=given)
    return given
