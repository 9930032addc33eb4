"""Roles: what each column is for."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from evenhand._validate import integer, kind_of, refuse
from evenhand.errors import ColumnNotFoundError, SchemaError, UnknownNameError
from evenhand.schema.text import brief
from evenhand.schema.values import described, shown, truth

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

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
    protected : str or None
        The column whose groups are compared. It need not be sensitive: it may be in the clear.
    privileged : value or None
        The group of `protected` that the others are compared with.
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
    """

    sensitive: tuple[str, ...] = ()
    protected: str | None = None
    privileged: Value | None = None
    target: str | None = None
    positive: Value | None = None
    quasi_identifiers: tuple[str, ...] = ()
    missing_group: bool = False
    weight: str | None = None
    person: str | None = None
    rows_per_person: int | None = None

    def of(self, column: str) -> tuple[str, ...]:
        """Return the roles of a column in words, such as ``("sensitive", "target")``."""
        names = ("sensitive", "protected", "target", "quasi_identifiers")
        holders = (self.sensitive, (self.protected,), (self.target,), self.quasi_identifiers)
        words = [name for name, columns in zip(names, holders, strict=True) if column in columns]
        return tuple("quasi-identifier" if word == "quasi_identifiers" else word for word in words)


ROLES = tuple(field.name for field in fields(Roles))
"""The names of all roles, in the order in which they are written."""


def checked_roles(columns: Mapping[str, Column], given: Roles) -> Roles:
    """Return `given` with names in the order of the schema, or refuse what contradicts it."""
    protected = _one_name("protected", given.protected, columns)
    target = _one_name("target", given.target, columns)
    return Roles(
        sensitive=_names("sensitive", given.sensitive, columns),
        protected=protected,
        privileged=_value("privileged", given.privileged, "protected", protected, columns),
        target=target,
        positive=_value("positive", given.positive, "target", target, columns),
        quasi_identifiers=_names("quasi_identifiers", given.quasi_identifiers, columns),
        missing_group=truth("missing_group", given.missing_group, owner="Schema"),
        weight=_name_beside("weight", given.weight, columns),
        person=_name_beside("person", given.person, columns, other=given.weight),
        rows_per_person=_rows_per_person(given),
    )


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
    """Return the value as the domain has it, so that equal schemas hold equal values."""
    if given is None:
        return None
    if name is None:
        message = f"Role '{role}' is a value of the column with the role '{owner}', but there is none."
        raise SchemaError(f"{message} Hint: give '{owner}' too.", field=f"roles.{role}")
    domain = columns[name].domain
    code = domain.find(given)
    if code is None:
        raise SchemaError(_not_a_value(role, given, name, columns[name]), field=f"roles.{role}")
    if domain.kind == "integers":
        return domain.low + code
    return domain.values[code] if domain.kind == "categorical" else domain.labels[code]


def _not_a_value(role: str, given: object, name: str, column: Column) -> str:
    place = f"in the domain of column '{brief(name)}'"
    if column.domain.size > _MOST_GUESSED or column.domain.kind == "integers":
        return (
            f"Value {described(given)} of role '{role}' is not {place}. It holds {column.domain.describe()}."
        )
    labels = [brief(label) for label in column.domain.labels]
    return str(UnknownNameError("Value", shown(given), labels, place=f"{place} (role '{role}')"))
