"""Levels: a public way to say less about a value, such as a decade instead of an age."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from evenhand.errors import InvalidParameterError
from evenhand.schema.checks import distinct_labels, refuse_twins
from evenhand.schema.text import brief
from evenhand.schema.values import (
    INT_HIGH,
    INT_LOW,
    Value,
    described,
    elements,
    number_text,
    plain_value,
    text,
)

__all__ = ["Groups", "Level"]

Groups = Mapping[str, Iterable[Value]] | tuple[tuple[str, tuple[Value, ...]], ...]
"""A coarse label and its members, as people write it and as it is kept."""


@dataclass(frozen=True, eq=False, repr=False)
class Level:
    """One step of a hierarchy: which values of a column are told as one.

    A level stands by itself until a :class:`Column` takes it up; the column checks that every
    value is in exactly one group and that each level only merges groups of the level before it.

    Parameters
    ----------
    name : str
        Name of the level, such as ``"decade"``.
    groups : mapping of str to list, optional
        Coarse label and its members: values of the domain, or labels of bins.
    cuts : list of number, optional
        For whole numbers and bins instead of `groups`: where a new group begins. ``[20, 30]``
        makes three groups: below 20, from 20 to below 30, from 30 on. Cuts of bins must be edges.
    labels : list of str, optional
        With `cuts`: one label for each group, so one more than there are cuts.
        By default made from the cuts and the ends of the domain.
    of : str, optional
        With `groups`: the members are groups of this earlier level instead of values.

    Examples
    --------
    >>> Level("region", {"north": ["Groningen", "Drenthe"], "south": ["Limburg"]})
    Level('region', {'north': ['Groningen', 'Drenthe'], 'south': ['Limburg']})
    >>> Level("life", cuts=[18, 65], labels=["child", "adult", "senior"])
    Level('life', cuts=[18, 65], labels=['child', 'adult', 'senior'])
    """

    name: str
    groups: Groups = ()
    cuts: Sequence[float] | None = None
    labels: Sequence[str] = ()
    of: str | None = None

    def __post_init__(self) -> None:
        name = text("name", self.name, owner="Level")
        owner = f"Level '{brief(name)}'"
        labels = elements("labels", self.labels, owner=owner)
        if bool(self.groups) == (self.cuts is not None):
            got = "both" if self.groups else "neither"
            raise InvalidParameterError("groups", owner=owner, must_be="given, or else 'cuts'", got=got)
        kept: dict[str, object] = {"groups": (), "labels": ()}
        if self.cuts is None:
            kept["groups"] = _checked_groups(self.groups, owner)
            _refuse_misplaced("labels", "cuts", given=bool(labels), owner=owner)
        else:
            kept["cuts"] = cuts = _checked_cuts(self.cuts, owner)
            if labels:
                kept["labels"] = distinct_labels("labels", labels, len(cuts) + 1, owner=owner)
            _refuse_misplaced("of", "groups", given=self.of is not None, owner=owner)
        if self.of is not None:
            kept["of"] = text("of", self.of, owner=owner)
        for field, value in {"name": name, **kept}.items():
            object.__setattr__(self, field, value)

    def _key(self) -> tuple[object, ...]:
        typed = tuple(
            (label, tuple((type(member).__name__, member) for member in members))
            for label, members in self.members
        )
        return (self.name, typed, self.cuts, self.labels, self.of)

    @property
    def members(self) -> tuple[tuple[str, tuple[Value, ...]], ...]:
        """Each coarse label with its members; empty for a level of cuts."""
        return self.groups  # type: ignore[return-value] # brought to this form by __post_init__

    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if isinstance(other, Level) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        parts = [repr(self.name)]
        if self.cuts is None:
            parts.append(repr({label: list(members) for label, members in self.members}))
        else:
            parts.append(f"cuts=[{', '.join(map(number_text, self.cuts))}]")
        parts += [f"labels={list(self.labels)!r}"] if self.labels else []
        parts += [f"of={self.of!r}"] if self.of is not None else []
        return f"Level({', '.join(parts)})"


def _refuse_misplaced(name: str, partner: str, *, given: bool, owner: str) -> None:
    if given:
        must_be = f"left out unless '{partner}' are given"
        raise InvalidParameterError(name, owner=owner, must_be=must_be, got="it without them")


def _checked_groups(given: Any, owner: str) -> tuple[tuple[str, tuple[Value, ...]], ...]:
    pairs: list[Any] = list(
        given.items() if isinstance(given, Mapping) else elements("groups", given, owner=owner)
    )
    if not all(isinstance(pair, tuple) and len(pair) == 2 for pair in pairs):
        must_be = "a mapping from a coarse label to its members"
        raise InvalidParameterError("groups", owner=owner, must_be=must_be, got="something else")
    groups = []
    for label, members in pairs:
        known = text("groups", label, owner=owner)
        plain = tuple(_member(known, each, owner) for each in elements("groups", members, owner=owner))
        if not plain:
            raise InvalidParameterError(
                "groups",
                owner=owner,
                must_be="groups of at least one member",
                got=f"the empty group {described(known)}",
            )
        groups.append((known, plain))
    refuse_twins("groups", [label for label, _ in groups], owner=owner)
    return tuple(groups)


def _member(label: str, member: object, owner: str) -> Value:
    plain = plain_value(member)
    if plain is None:
        must_be = "a mapping from a coarse label to a list of values"
        raise InvalidParameterError(
            "groups", owner=owner, must_be=must_be, got=f"{described(member)} in {described(label)}"
        )
    return plain


def _checked_cuts(given: Iterable[object], owner: str) -> tuple[float, ...]:
    cuts: list[float] = []
    for each in elements("cuts", given, owner=owner):
        plain = plain_value(each)
        if plain is None or isinstance(plain, str | bool):
            raise InvalidParameterError(
                "cuts", owner=owner, must_be="a list of finite numbers", got=f"the cut {described(each)}"
            )
        whole = INT_LOW <= plain <= INT_HIGH and plain == math.floor(plain)
        cuts.append(int(plain) if whole else plain)  # so that equal levels are written alike
    for left, right in pairwise(cuts):
        if right <= left:
            got = f"{number_text(left)} followed by {number_text(right)}"
            raise InvalidParameterError("cuts", owner=owner, must_be="strictly increasing", got=got)
    return tuple(cuts)
