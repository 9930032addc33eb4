"""The groups that are compared: those of one protected column, or the combinations of several."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.schema.column import Column
from evenhand.schema.domain import Domain
from evenhand.schema.levels import code_dtype, unused_label
from evenhand.schema.text import is_bare

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from evenhand.schema.values import Value

MOST_COMBINATIONS = 1_000
"""Crossings of more combinations than this are refused: hardly anybody would be in most of them."""

BETWEEN_COLUMNS = " \N{MULTIPLICATION SIGN} "
"""What stands between the names of crossed columns."""

BETWEEN_VALUES = ", "
"""What stands between the values of a combination."""

OTHER_GROUPS = "other groups"
"""How small groups are called that are compared as one."""

NOT_STATED = "not stated"
"""How people are called whose protected value is missing, where they are asked for as a group."""


@dataclass(frozen=True)
class Crossing:
    """Several protected columns as one column, whose values are the combinations.

    Parameters
    ----------
    columns : tuple of Column
        At least two.
    missing_group : bool
        Whether people whose value is missing are compared; else one missing value means *not stated*.

    Examples
    --------
    >>> bit = Domain.categorical
    >>> sex, race = Column("sex", bit(["women", "men"])), Column("race", bit([0, 1]), nulls="other")
    >>> Crossing((sex, race)).column.domain.values
    ('women, race = 0', 'women, race = 1', 'men, race = 0', 'men, race = 1')
    >>> Crossing((sex, race)).codes({"sex": np.array([0, 1, 1]), "race": np.array([1, 0, 2])})
    array([1, 2, 4], dtype=uint8)
    """

    columns: tuple[Column, ...]
    missing_group: bool = False

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many values of each column are compared."""
        return tuple(column.size - states_nothing(column, self.missing_group) for column in self.columns)

    @property
    def combinations(self) -> int:
        """How many combinations there are, also those that nobody has."""
        return math.prod(self.sizes)

    @property
    def values(self) -> tuple[tuple[str, ...], ...]:
        """The values of each column that are compared, as people read them."""
        return tuple(
            compared_labels(column, missing_group=self.missing_group)[:size]
            for column, size in zip(self.columns, self.sizes, strict=True)
        )

    @cached_property
    def column(self) -> Column:
        """The combinations as the values of one column; people who state not all of theirs are "other"."""
        parts = [
            [f"{column.name} = {value}".strip() if is_bare(value) else value.strip() for value in values]
            for column, values in zip(self.columns, self.values, strict=True)
        ]
        labels = [BETWEEN_VALUES.join(combination) for combination in product(*parts)]
        if len(set(labels)) < len(labels):  # values with commas in them
            labels = [" | ".join(combination) for combination in product(*parts)]
        name = BETWEEN_COLUMNS.join(column.name for column in self.columns)
        unknown = any(states_nothing(column, self.missing_group) for column in self.columns)
        return Column(
            name,
            Domain.categorical(labels),
            nulls="other" if unknown else "error",
            inferred=any(column.inferred for column in self.columns),
        )

    def codes(self, codes: Mapping[str, NDArray[Any]]) -> NDArray[Any]:
        """Return the code of each row's combination, from the codes of the columns."""
        parts = [codes[column.name].astype(np.int64) for column in self.columns]
        unknown = np.zeros(len(parts[0]), dtype=bool)
        crossed = np.zeros(len(parts[0]), dtype=np.int64)
        for part, size in zip(parts, self.sizes, strict=True):
            unknown |= part >= size
            crossed = crossed * size + part
        return np.where(unknown, self.combinations, crossed).astype(code_dtype(self.column.size))

    def code(self, values: Sequence[object]) -> int:
        """Return the code of a combination of values of the domains."""
        found = 0
        for column, size, value in zip(self.columns, self.sizes, values, strict=True):
            found = found * size + column.domain.code(value)
        return found


def states_nothing(column: Column, missing_group: bool) -> bool:  # noqa: FBT001 - as of a schema
    """Return whether the last code of a protected column means that people did not state theirs.

    Where values outside the domain have the code too, the two cannot be told apart and are one group.
    """
    return not missing_group and column.nulls == "other" and column.outside != "other"


def compared_labels(column: Column, *, missing_group: bool) -> tuple[str, ...]:
    """Return the labels of all codes of a column; a group of those whose value is missing is called so."""
    labels = tuple(column.display_labels)
    only_missing = missing_group and column.has_other and column.outside != "other"
    return (*labels[:-1], unused_label(labels[:-1], NOT_STATED)) if only_missing else labels


def as_names(protected: str | tuple[str, ...] | None) -> tuple[str, ...]:
    """Return the protected columns, however many there are."""
    return () if protected is None else (protected,) if isinstance(protected, str) else protected


class ProtectedGroups:
    """What a schema says of its groups, those of one protected column or of several."""

    protected: str | tuple[str, ...] | None
    privileged: Value | tuple[Value, ...] | None
    missing_group: bool
    column: Callable[[str], Column]

    @property
    def protected_columns(self) -> tuple[str, ...]:
        """The names of the columns whose groups are compared; several are crossed."""
        return as_names(self.protected)

    @property
    def protected_name(self) -> str:
        """What the protected columns are called together, such as ``"sex × race"``; empty without any."""
        return BETWEEN_COLUMNS.join(self.protected_columns)

    @cached_property
    def crossing(self) -> Crossing | None:
        """The protected columns as one, where several are crossed."""
        if len(self.protected_columns) < 2:
            return None
        return Crossing(tuple(self.column(name) for name in self.protected_columns), self.missing_group)

    @property
    def group_column(self) -> Column:
        """The column whose values are the groups: the protected one, or that of the combinations."""
        return self.column(str(self.protected)) if self.crossing is None else self.crossing.column

    def group_codes(self, codes: Mapping[str, NDArray[Any]]) -> NDArray[Any]:
        """Return the code of each row's group, from the codes of the columns."""
        return codes[str(self.protected)] if self.crossing is None else self.crossing.codes(codes)

    @property
    def privileged_code(self) -> int | None:
        """The code of the privileged group; None if there is none."""
        if self.privileged is None:
            return None
        if self.crossing is None or not isinstance(self.privileged, tuple):
            return self.group_column.domain.code(self.privileged)
        return self.crossing.code(self.privileged)

    @property
    def not_stated(self) -> int | None:
        """The code of people whose protected value is missing; None where there is none, or they are a group.

        Where values outside the domain have the code too, the two cannot be told apart and are one group.
        """
        unknown = any(
            states_nothing(self.column(name), self.missing_group) for name in self.protected_columns
        )
        return self.group_column.other_code if unknown else None

    @property
    def privileged_label(self) -> str:
        """The privileged group as people read it."""
        return "" if self.privileged_code is None else self.group_column.display_labels[self.privileged_code]
