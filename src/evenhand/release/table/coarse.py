"""Coarser tables by a public rule: groups of values in place of values, fixed before the rows are seen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.errors import ColumnNotFoundError, InvalidParameterError
from evenhand.release.table.counting import cell_numbers, sum_by_cell, sum_counts
from evenhand.schema import Column, Domain, Level

if TYPE_CHECKING:
    from evenhand.release.table.histogram import Histogram
    from evenhand.schema import Schema
    from evenhand.schema.levels import Coarsening
    from evenhand.schema.values import Value

    Groups = tuple[tuple[str, tuple[Value, ...]], ...]

Generalization = tuple[tuple[str, "str | Groups"], ...]
"""For each column the name of one of its levels, or labels with the values they stand for."""

_MUST_BE = "None, or a mapping from columns to a level's name or to a mapping from labels to lists of values"


def checked_generalization(given: object, *, owner: str) -> Generalization:
    """Return a generalisation in the form it is kept in, from a mapping or from that form.

    >>> checked_generalization({"age": {"young": [1, 2], "old": [3]}}, owner="example")
    (('age', (('young', (1, 2)), ('old', (3,)))),)
    """
    if given is None:
        return ()
    pairs = _pairs(given, owner)
    kept = tuple((name, how if isinstance(how, str) else _groups(how, owner)) for name, how in pairs)
    if len({name for name, _ in kept}) < len(kept):
        raise _refusal("a column twice", owner)
    return kept


def coarse_schema(schema: Schema, generalization: Generalization, *, owner: str) -> Schema:
    """Return the schema of the coarser table; a role that names a value of a coarser column loses it.

    Raises
    ------
    ColumnNotFoundError, UnknownNameError
        If the table has no such column, or the column no such level.
    SchemaError
        If the groups leave out a value, or hold one twice or one that is not in the domain.
    """
    columns: list[Column] = []
    loses: dict[str, Any] = {}
    for name, rule in _coarsenings(schema, generalization, owner).items():
        column = schema[name]
        labels = rule.labels[: rule.declared]
        columns.append(
            Column(
                name,
                Domain.categorical(labels),
                outside=column.outside,
                nulls=column.nulls,
                inferred=column.inferred,
            )
        )
        if name in schema.protected_columns:
            loses["privileged"] = None
        if name == schema.target:
            loses["positive"] = None
    return schema.with_roles(**loses).with_columns(*columns)


def coarse_histogram(histogram: Histogram, generalization: Generalization, *, owner: str) -> Histogram:
    """Return the coarser table; it has no bound."""
    if not generalization:
        return histogram if histogram.bound is None else replace(histogram, bound=None)
    schema = coarse_schema(histogram.schema, generalization, owner=owner)
    rules = _coarsenings(histogram.schema, generalization, owner)
    merged: Any = histogram.stored
    sum_counts(merged)  # refuses sums that would wrap
    if histogram.cells is not None:
        codes: list[Any] = list(np.unravel_index(histogram.cells, histogram.shape))
        for name, rule in rules.items():
            axis = histogram.columns.index(name)
            codes[axis] = rule.apply(codes[axis])
        merged = sum_by_cell(cell_numbers(codes, tuple(column.size for column in schema)), merged)
    else:
        for name, rule in rules.items():
            merged = _merge_axis(merged, histogram.columns.index(name), rule)
    return histogram.of_same_people(merged, schema, bound=None)


def _merge_axis(counts: Any, axis: int, rule: Coarsening) -> Any:
    groups = rule.codes()
    first = np.moveaxis(counts, axis, 0)
    parts = [first[groups == group].sum(axis=0) for group in range(rule.size)]
    return np.moveaxis(np.stack(parts), 0, axis)


def _coarsenings(schema: Schema, generalization: Generalization, owner: str) -> dict[str, Coarsening]:
    rules = {}
    for name, how in generalization:
        if name not in schema:
            raise ColumnNotFoundError(name, schema.names, place="in the table")
        column = schema[name]
        if isinstance(how, str):
            rules[name] = column.level(how)
        else:
            level = Level(owner, groups=dict(how))
            rules[name] = replace(column, levels=(level,)).level(owner)
    return rules


def _groups(given: object, owner: str) -> Groups:
    groups = []
    for label, members in _pairs(given, owner):
        if isinstance(members, str | Mapping) or not isinstance(members, Iterable):
            raise _refusal(f"something else for the label {label!r}", owner)
        groups.append((label, tuple(members)))
    return tuple(groups)


def _pairs(given: object, owner: str) -> list[tuple[str, Any]]:
    if isinstance(given, Mapping):
        pairs: list[Any] = list(given.items())
    else:
        pairs = list(given) if isinstance(given, list | tuple) else [None]
    two = all(
        isinstance(pair, list | tuple) and len(pair) == 2 and isinstance(pair[0], str) for pair in pairs
    )
    if not pairs or not two:
        raise _refusal("something else", owner)
    return [(str(pair[0]), pair[1]) for pair in pairs]


def _refusal(got: str, owner: str) -> InvalidParameterError:
    return InvalidParameterError("generalization", owner=owner, must_be=_MUST_BE, got=got)
