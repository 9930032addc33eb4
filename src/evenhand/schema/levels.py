"""Levels: a public way to say less about a value, such as a decade instead of an age.

A level that is applied to a column says which base code becomes which coarse code. It is kept as runs of base
codes, so that cutting a range of a billion numbers into decades stays small.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from evenhand._validate import refuse
from evenhand.errors import SchemaError
from evenhand.schema.text import brief
from evenhand.schema.values import (
    INT_HIGH,
    INT_LOW,
    Value,
    described,
    distinct_labels,
    elements,
    interval_labels,
    number_text,
    plain_value,
    refuse_twins,
    strictly_increasing,
    text,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Container

    from numpy.typing import NDArray

    from evenhand.schema.domain import Domain

    Whole = NDArray[np.integer]

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
            refuse("groups", owner, "given, or else 'cuts'", "both" if self.groups else "neither")
        kept: dict[str, object] = {"groups": (), "labels": ()}
        if self.cuts is None:
            kept["groups"] = _checked_groups(self.groups, owner)
            if labels:
                refuse("labels", owner, "left out unless 'cuts' are given", "it without them")
        else:
            kept["cuts"] = cuts = _checked_cuts(self.cuts, owner)
            if labels:
                kept["labels"] = distinct_labels("labels", labels, len(cuts) + 1, owner=owner)
            if self.of is not None:
                refuse("of", owner, "left out unless 'groups' are given", "it without them")
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


def _checked_groups(given: Any, owner: str) -> tuple[tuple[str, tuple[Value, ...]], ...]:
    pairs: list[Any] = list(
        given.items() if isinstance(given, Mapping) else elements("groups", given, owner=owner)
    )
    if not all(isinstance(pair, tuple) and len(pair) == 2 for pair in pairs):
        refuse("groups", owner, "a mapping from a coarse label to its members", "something else")
    groups = []
    for label, members in pairs:
        known = text("groups", label, owner=owner)
        plain = []
        for member in elements("groups", members, owner=owner):
            value = plain_value(member)
            if value is None:
                must_be = "a mapping from a coarse label to a list of values"
                refuse("groups", owner, must_be, f"{described(member)} in {described(known)}")
            plain.append(value)
        if not plain:
            refuse("groups", owner, "groups of at least one member", f"the empty group {described(known)}")
        groups.append((known, tuple(plain)))
    refuse_twins("groups", [label for label, _ in groups], owner=owner)
    return tuple(groups)


def _checked_cuts(given: Iterable[object], owner: str) -> tuple[float, ...]:
    cuts: list[float] = []
    for cut in elements("cuts", given, owner=owner):
        plain = plain_value(cut)
        if plain is None or isinstance(plain, str | bool):
            refuse("cuts", owner, "a list of finite numbers", f"the cut {described(cut)}")
        whole = INT_LOW <= plain <= INT_HIGH and plain == math.floor(plain)
        cuts.append(int(plain) if whole else plain)  # so that equal levels are written alike
    return strictly_increasing("cuts", cuts, owner=owner)


def code_dtype(size: int) -> np.dtype[np.unsignedinteger]:
    """Return the smallest unsigned type that holds the codes 0 to ``size - 1``.

    >>> code_dtype(256), code_dtype(257)
    (dtype('uint8'), dtype('uint16'))
    """
    return np.min_scalar_type(size - 1)


def unused_label(labels: Container[str], wanted: str = "other") -> str:
    """Return `wanted`, put in as many brackets as it takes to be none of `labels`.

    >>> unused_label(["a", "b"]), unused_label(["a", "other"])
    ('other', '(other)')
    """
    while wanted in labels:
        wanted = f"({wanted})"
    return wanted


@dataclass(frozen=True, eq=False)
class Coarsening:
    """What a level makes of the codes of a column.

    Attributes
    ----------
    name : str
        Name of the level.
    labels : tuple of str
        One label for each coarse code; where the column has the code "other", its label is last.
    declared : int
        How many of the labels are groups of the level, so all but "other".
    base_size : int
        How many base codes there are.
    """

    name: str
    labels: tuple[str, ...]
    declared: int
    base_size: int
    _starts: NDArray[np.int64]
    _groups: NDArray[np.unsignedinteger]

    @property
    def size(self) -> int:
        """How many coarse codes there are."""
        return len(self.labels)

    def runs(self) -> tuple[NDArray[np.int64], NDArray[np.unsignedinteger]]:
        """Return where each run of base codes starts, and its coarse code; "other" is left out."""
        count = len(self._starts) - (self.size - self.declared)
        return self._starts[:count], self._groups[:count]

    def codes(self) -> NDArray[np.unsignedinteger]:
        """Return the coarse code of every base code, in order."""
        return np.repeat(self._groups, np.diff(self._starts, append=self.base_size))

    def apply(self, codes: NDArray[np.integer]) -> NDArray[np.unsignedinteger]:
        """Return the coarse code of each of `codes`, without a table of all base codes."""
        given = np.asarray(codes)
        whole = given.dtype.kind in "ui"
        if not whole or (given.size and not 0 <= int(given.min()) <= int(given.max()) < self.base_size):
            must_be = f"whole numbers from 0 to {self.base_size - 1}"
            refuse("codes", "Coarsening.apply", must_be, "something else")
        return self._groups[np.searchsorted(self._starts, given, side="right") - 1]

    def group_split_by(self, coarser: Coarsening) -> str | None:
        """Return the first group of this that `coarser` does not keep whole; None if there is none."""
        inside, outside = self._groups, coarser._groups
        if not np.array_equal(self._starts, coarser._starts):
            starts = np.union1d(self._starts, coarser._starts)
            inside, outside = self.apply(starts), coarser.apply(starts)
        pairs = np.unique(inside.astype(np.int64) * coarser.size + outside)
        groups = pairs // coarser.size
        split = groups[1:][groups[1:] == groups[:-1]]
        return self.labels[int(split[0])] if len(split) else None


def coarsenings(
    column: str, domain: Domain, levels: Sequence[Level], *, other: bool
) -> dict[str, Coarsening]:
    """Apply the levels of a column one after the other, checking each.

    Raises
    ------
    SchemaError
        If a level leaves a value out, holds one twice or one that is not in the domain, or splits
        a group of the level before it. The message names the level and the label at fault.
    """
    done: dict[str, Coarsening] = {}
    for level in levels:
        where = _Place(column, level.name)
        if level.name in done:
            where.refuse("has the name of an earlier level")
        labels, starts, groups = _runs(domain, level, done, where)
        declared = len(labels)
        if other:
            labels = [*labels, unused_label(labels)]
            starts, groups = np.append(starts, domain.size), np.append(groups, declared)
        coarsening = Coarsening(
            name=level.name,
            labels=tuple(labels),
            declared=declared,
            base_size=domain.size + other,
            _starts=_frozen(starts, np.dtype(np.int64)),
            _groups=_frozen(groups, code_dtype(len(labels))),
        )
        if done:
            finer = done[next(reversed(done))]
            split = finer.group_split_by(coarsening)
            if split is not None:
                where.refuse(
                    f"splits the group '{brief(split)}' of level '{brief(finer.name)}', which comes before it"
                )
        done[level.name] = coarsening
    return done


def _frozen(numbers: Whole, dtype: np.dtype[Any]) -> NDArray[Any]:
    array = numbers.astype(dtype)
    array.flags.writeable = False
    return array


class _Place:
    """Where a level stands, for messages."""

    def __init__(self, column: str, level: str) -> None:
        self.text = f"Level '{brief(level)}' of column '{brief(column)}'"
        self.field = f"columns.{brief(column)}.levels.{brief(level)}"

    def refuse(self, why: str) -> NoReturn:
        raise SchemaError(f"{self.text} {why}.", field=self.field)


def _runs(
    domain: Domain, level: Level, done: Mapping[str, Coarsening], where: _Place
) -> tuple[list[str], Whole, Whole]:
    """Return the labels, the base code at which each run starts, and the group of each run."""
    if level.cuts is not None:
        codes = [0, *_cut_codes(domain, level.cuts, where)]
        labels = list(level.labels) or _cut_labels(domain, codes)
        return labels, np.array(codes, np.int64), np.arange(len(codes))
    labels = [label for label, _ in level.members]
    if level.of is None:
        groups = _group_codes(level, domain.labels, domain.size, domain.find, where)
        return labels, np.arange(domain.size), groups
    if level.of not in done:
        where.refuse(f"is made of level '{brief(level.of)}', which is not one of the levels before it")
    base = done[level.of]
    names = {label: group for group, label in enumerate(base.labels[: base.declared])}
    groups = _group_codes(level, base.labels, base.declared, names.get, where)
    starts, inner = base.runs()
    return labels, starts, groups[inner]


def _group_codes(
    level: Level, known: Sequence[str], size: int, find: Callable[[Any], int | None], where: _Place
) -> Whole:
    """Return the group of each code below `size`, checking that each is in exactly one."""
    groups: dict[int, int] = {}
    for group, (label, members) in enumerate(level.members):
        for member in members:
            code = find(member)
            if code is None:
                where.refuse(f"puts {described(member)} into '{brief(label)}', but that is not in the domain")
            if code in groups:
                where.refuse(
                    f"puts '{brief(known[code])}' into a group twice, the second time into '{brief(label)}'"
                )
            groups[code] = group
    if len(groups) < size:
        missing = next(code for code in range(size) if code not in groups)
        where.refuse(f"leaves out '{brief(known[missing])}', but every value must be in exactly one group")
    return np.array([groups[code] for code in range(size)], np.int64)


def _cut_codes(domain: Domain, cuts: Sequence[float], where: _Place) -> list[int]:
    """Return the first code of each group after the first."""
    if domain.kind == "categorical":
        where.refuse("has cuts, but a categorical domain can only be put into groups")
    if domain.form in {"dates", "threshold"}:
        where.refuse("has cuts, but bands of dates and a threshold can only be put into groups")
    inner = {edge: code for code, edge in enumerate(domain.edges[1:-1], start=1)}
    for cut in cuts:
        if domain.kind == "binned" and cut not in inner:
            where.refuse(f"cuts at {number_text(cut)}, which is not an edge between two bins")
        if domain.kind == "integers" and not (isinstance(cut, int) and domain.low < cut <= domain.high):
            ends = f"above {domain.low} and at most {domain.high}"
            where.refuse(f"cuts at {number_text(cut)}, but a cut must be a whole number {ends}")
    if domain.kind == "binned":
        return [inner[cut] for cut in cuts]
    return [int(cut) - domain.low for cut in cuts]


def _cut_labels(domain: Domain, starts: list[int]) -> list[str]:
    ends = [*starts[1:], domain.size]
    if domain.kind == "binned":
        return list(interval_labels(tuple(domain.edges[code] for code in [0, *ends])))
    pairs = [(domain.low + start, domain.low + end - 1) for start, end in zip(starts, ends, strict=True)]
    return [f"{first} to {last}" if first < last else f"{first}" for first, last in pairs]
