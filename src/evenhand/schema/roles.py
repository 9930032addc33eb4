"""Roles: what each column is for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from evenhand._validate import integer, kind_of, refuse
from evenhand.errors import ColumnNotFoundError, SchemaError, UnknownNameError
from evenhand.schema.bands import rule_text
from evenhand.schema.crossing import MOST_COMBINATIONS, Crossing, as_names
from evenhand.schema.domain import Domain
from evenhand.schema.text import brief, listed
from evenhand.schema.values import described, shown, truth

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evenhand.schema.column import Column
    from evenhand.schema.values import Value

_MOST_GUESSED = 1_000

MOST_ROWS_PER_PERSON = 1_000_000
"""So many rows of one person may count; the noise grows with their number."""

Names = Any
"""One name, or names in any order; said as Any so that lists, tuples, sets and indexes may be given."""


@dataclass(frozen=True)
class Roles:
    """The roles of a schema. Public, like all of it.

    Attributes
    ----------
    sensitive : tuple of str
        Columns that a mechanism is to protect, in the order of the schema.
    protected : str, tuple of str or None
        The column whose groups are compared, or columns that are crossed, in the order in which their values
        name a group. They need not be sensitive: they may be in the clear.
    privileged : value, tuple of values or None
        The group of `protected` that the others are compared with; of crossed columns one value of each.
    target : str or None
        The column that is decided or predicted.
    positive : value or None
        The value of `target` that people hope for.
    quasi_identifiers : tuple of str
        Columns that others may know too, in the order of the schema.
    missing_group : bool
        Whether people whose `protected` value is missing are compared as a group.
    weight : str or None
        The column of survey weights. It has no domain and is no column of the schema.
    person : str or None
        The column that says which rows are of one person. It has no domain either.
    rows_per_person : int or None
        How many rows of one person count at most; more are left out at random.
    pool_below : int or None
        Groups of fewer people than this are compared as one.
    """

    sensitive: tuple[str, ...] = ()
    protected: str | tuple[str, ...] | None = None
    privileged: Value | tuple[Value, ...] | None = None
    target: str | None = None
    positive: Value | None = None
    quasi_identifiers: tuple[str, ...] = ()
    missing_group: bool = False
    weight: str | None = None
    person: str | None = None
    rows_per_person: int | None = None
    pool_below: int | None = None

    @property
    def protected_columns(self) -> tuple[str, ...]:
        """The columns whose groups are compared; several are crossed."""
        return as_names(self.protected)

    def of(self, column: str) -> tuple[str, ...]:
        """Return the roles of a column in words, such as ``("sensitive", "target")``."""
        names = ("sensitive", "protected", "target", "quasi_identifiers")
        holders = (self.sensitive, self.protected_columns, (self.target,), self.quasi_identifiers)
        words = [name for name, columns in zip(names, holders, strict=True) if column in columns]
        return tuple("quasi-identifier" if word == "quasi_identifiers" else word for word in words)


ROLES = tuple(field.name for field in fields(Roles))
"""The names of all roles, in the order in which they are written."""


def cut_target(
    columns: Iterable[Column], target: object, positive: Any
) -> tuple[tuple[Column, ...], Value | None]:
    """Return the columns and the positive value where that is a threshold of a target of numbers.

    The target then has two values, the sides of the threshold; what is outside or missing follows its rules.
    """
    kept, rule = tuple(columns), rule_text(positive)
    for place, column in enumerate(kept):
        is_number = column.domain.value_type in (int, float)
        if rule is None or column.name != target or not is_number or column.domain.find(positive) is not None:
            continue
        domain = Domain.threshold(rule)
        read = column.inferred and {column.outside, column.nulls} != {"error"}
        two_sided = replace(column, domain=domain, levels=(), inferred=read)
        return (*kept[:place], two_sided, *kept[place + 1 :]), rule
    return kept, positive


def checked_roles(columns: Mapping[str, Column], given: Roles) -> Roles:
    """Return `given` with names in the order of the schema, or refuse what contradicts it."""
    protected = _protected(given.protected, columns, missing_group=given.missing_group)
    target = _one_name("target", given.target, columns)
    return Roles(
        sensitive=_names("sensitive", given.sensitive, columns),
        protected=protected,
        privileged=_privileged(given.privileged, protected, columns),
        target=target,
        positive=_value("positive", given.positive, "target", target, columns),
        quasi_identifiers=_names("quasi_identifiers", given.quasi_identifiers, columns),
        missing_group=truth("missing_group", given.missing_group, owner="Schema"),
        weight=_name_beside("weight", given.weight, columns),
        person=_name_beside("person", given.person, columns, other=given.weight),
        rows_per_person=_rows_per_person(given),
        pool_below=_pool_below(given),
    )


def canonical_names(given: object) -> object:
    """Return names as a schema keeps those of protected columns; other things as they are."""
    if not isinstance(given, list | tuple):
        return given
    return given[0] if len(given) == 1 else tuple(given)


def _protected(
    given: object, columns: Mapping[str, Column], *, missing_group: object
) -> str | tuple[str, ...] | None:
    """Return the protected column, or the columns that are crossed in the order given."""
    if given is None or isinstance(given, str) or not isinstance(given, Iterable) or isinstance(given, dict):
        return _one_name("protected", given, columns)
    names = tuple(_check_column("protected", name, columns) for name in given)
    if not names:
        refuse("protected", "Schema", "the name of a column, or of several", "an empty list")
    if len(set(names)) < len(names):
        refuse("protected", "Schema", "a list of distinct columns", "one of them twice")
    if len(names) == 1:
        return names[0]
    crossing = Crossing(tuple(columns[name] for name in names), missing_group is True)
    if crossing.combinations > MOST_COMBINATIONS:
        hint = "cross fewer columns, or put their values into fewer classes first."
        must_be = f"columns of at most {MOST_COMBINATIONS:,} combinations"
        refuse("protected", "Schema", must_be, f"{crossing.combinations:,} of them", hint=hint)
    return names


def _privileged(
    given: object, protected: str | tuple[str, ...] | None, columns: Mapping[str, Column]
) -> Value | tuple[Value, ...] | None:
    """Return the privileged group as the domains have it; of crossed columns a value of each."""
    if given is None:
        return None
    if protected is None or isinstance(protected, str):
        return _value("privileged", given, "protected", protected, columns)
    if not isinstance(given, list | tuple) or len(given) != len(protected):
        names = listed(f"'{brief(name)}'" for name in protected)
        message = f"Role 'privileged' must be a combination: one value each of {names}, in this order."
        raise SchemaError(message, field="roles.privileged")
    if any(value is None for value in given):
        message = "Role 'privileged' must have a value of each protected column, and has none of one."
        raise SchemaError(message, field="roles.privileged")
    values = [
        _value("privileged", value, "protected", name, columns)
        for value, name in zip(given, protected, strict=True)
    ]
    return tuple(value for value in values if value is not None)


def _pool_below(given: Roles) -> int | None:
    if given.pool_below is None:
        return None
    if given.protected is None:
        message = "Role 'pool_below' pools small groups of 'protected', but there is no such role."
        raise SchemaError(f"{message} Hint: give 'protected' too.", field="roles.pool_below")
    return integer("pool_below", given.pool_below, owner="Schema", low=1)


def _name_beside(
    role: str, given: object, columns: Mapping[str, Column], *, other: object = None
) -> str | None:
    """Return the name of a column that stands beside those of the schema, or refuse it."""
    if given is None:
        return None
    if not isinstance(given, str) or not given:
        refuse(role, "Schema", "the name of a column", kind_of(given))
    if given in columns or given == other:
        hint = "take it out of the columns: as weights or as a number of the person it needs no domain."
        refuse(role, "Schema", "a column without another use", f"'{brief(given)}', which has one", hint=hint)
    return str.__str__(given)


def _rows_per_person(given: Roles) -> int | None:
    if given.person is None:
        if given.rows_per_person is not None:
            message = "Role 'rows_per_person' bounds the rows of each 'person', but there is no such role."
            raise SchemaError(f"{message} Hint: give 'person' too.", field="roles.rows_per_person")
        return None
    most = 1 if given.rows_per_person is None else given.rows_per_person
    return integer("rows_per_person", most, owner="Schema", low=1, high=MOST_ROWS_PER_PERSON)


def _names(role: str, given: Iterable[object], columns: Mapping[str, Column]) -> tuple[str, ...]:
    single = isinstance(given, str | bytes | dict) or not hasattr(given, "__iter__")
    names = [given] if single else list(given)
    for name in names:
        _check_column(role, name, columns)
    wanted = set(names)
    if len(wanted) < len(names):
        refuse(role, "Schema", "a list of distinct columns", "one of them twice")
    return tuple(name for name in columns if name in wanted)


def _one_name(role: str, given: object, columns: Mapping[str, Column]) -> str | None:
    return None if given is None else _check_column(role, given, columns)


def _check_column(role: str, name: object, columns: Mapping[str, Column]) -> str:
    if not isinstance(name, str):
        must_be = "the name of a column" if role in {"protected", "target"} else "names of columns"
        got = kind_of(name)
        refuse(role, "Schema", must_be, got)
    if name not in columns:
        raise ColumnNotFoundError(brief(name), columns)
    return str.__str__(name)


def _value(
    role: str, given: object, owner: str, name: str | None, columns: Mapping[str, Column]
) -> Value | None:
    """Return the value as the domain has it, so that equal schemas are equal; a label is its value."""
    if given is None:
        return None
    if name is None:
        message = f"Role '{role}' is a value of the column with the role '{owner}', but there is none."
        raise SchemaError(f"{message} Hint: give '{owner}' too.", field=f"roles.{role}")
    domain = columns[name].domain
    code = columns[name].find(given)
    if code is None:
        raise SchemaError(_not_a_value(role, given, name, columns[name]), field=f"roles.{role}")
    if domain.kind == "integers":
        return domain.low + code
    return domain.values[code] if domain.kind == "categorical" else domain.labels[code]


def _not_a_value(role: str, given: object, name: str, column: Column) -> str:
    place = f"in the domain of column '{brief(name)}'"
    if column.domain.size > _MOST_GUESSED or column.domain.kind == "integers":
        return f"Value {described(given)} of role '{role}' is not {place}. It holds {column.describe()}."
    labels = [brief(label) for label in column.domain.labels]
    return str(UnknownNameError("Value", shown(given), labels, place=f"{place} (role '{role}')"))
