"""From a TOML document to columns and roles, naming the field at fault."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from evenhand.errors import (
    ColumnNotFoundError,
    InvalidParameterError,
    SchemaError,
    UnknownNameError,
)
from evenhand.schema.column import Column
from evenhand.schema.domain import Domain
from evenhand.schema.levels import Level
from evenhand.schema.roles import Roles, checked_roles
from evenhand.schema.text import brief
from evenhand.schema.toml import FORMAT
from evenhand.schema.values import described

if TYPE_CHECKING:
    from collections.abc import Collection

__all__ = ["columns_and_roles"]

_ROLES = ("sensitive", "protected", "privileged", "target", "positive", "quasi_identifiers")
_LEVEL = ("name", "groups", "cuts", "labels", "of")
_KINDS = {
    "categorical": (("values",), ("ordered",)),
    "integers": (("low", "high"), ()),
    "binned": (("edges",), ("labels",)),
}
"""Of each kind of domain, the keys it must have and those it may have."""


def columns_and_roles(document: dict[str, Any]) -> tuple[tuple[Column, ...], Roles]:
    """Return what a schema is made of; every fault is a SchemaError that names the field."""
    _known_keys(document, ("format", "roles", "columns"), place="a key of a schema file", prefix="")
    version = _needed(document, "format", prefix="")
    if type(version) is not int or version != FORMAT:
        _refuse("format", f"must be {FORMAT}, the only format there is. Got {described(version)} instead.")
    tables = _needed(document, "columns", prefix="")
    if not isinstance(tables, list) or not tables or not all(isinstance(each, dict) for each in tables):
        _refuse("columns", "must be one [[columns]] table or more.")
    columns: dict[str, Column] = {}
    for number, table in enumerate(tables):
        column = _column(table, number)
        if column.name in columns:
            _refuse(f"columns.{brief(column.name)}.name", "stands for two columns; names must be distinct.")
        columns[column.name] = column
    return tuple(columns.values()), _roles(document.get("roles", {}), columns)


def _column(table: dict[str, Any], number: int) -> Column:
    name = table.get("name")
    prefix = f"columns.{brief(name)}." if isinstance(name, str) and name else f"columns[{number}]."
    _needed(table, "name", prefix=prefix)
    kind = _needed(table, "kind", prefix=prefix)
    if not isinstance(kind, str) or kind not in _KINDS:
        _refuse(f"{prefix}kind", f"must be one of {', '.join(_KINDS)}. Got {described(kind)} instead.")
    must_have, may_have = _KINDS[kind]
    common = ("name", "kind", "outside", "nulls", "levels", "inferred")
    known = (*common, *must_have, *may_have)
    _known_keys(table, known, place=f"a key of a column of kind '{kind}'", prefix=prefix)
    given = {key: _needed(table, key, prefix=prefix) for key in must_have}
    given |= {key: table[key] for key in may_have if key in table}
    levels = table.get("levels", [])
    if not isinstance(levels, list) or not all(isinstance(each, dict) for each in levels):
        _refuse(f"{prefix}levels", "must be [[columns.levels]] tables.")
    rules = {rule: table[rule] for rule in ("outside", "nulls", "inferred") if rule in table}
    try:
        domain: Domain = getattr(Domain, kind)(**given)
        made = [_level(each, f"{prefix}levels", place) for place, each in enumerate(levels)]
        return Column(name, domain, levels=tuple(made), **rules)  # type: ignore[arg-type] # checked by Column
    except InvalidParameterError as error:
        _refuse(f"{prefix}{error.parameter}", f"is not valid. {error}")


def _level(table: dict[str, Any], prefix: str, number: int) -> Level:
    name = table.get("name")
    prefix = f"{prefix}.{brief(name)}." if isinstance(name, str) and name else f"{prefix}[{number}]."
    _needed(table, "name", prefix=prefix)
    _known_keys(table, _LEVEL, place="a key of a level", prefix=prefix)
    try:
        return Level(**table)
    except InvalidParameterError as error:
        _refuse(f"{prefix}{error.parameter}", f"is not valid. {error}")


def _roles(table: object, columns: dict[str, Column]) -> Roles:
    if not isinstance(table, dict):
        _refuse("roles", "must be a [roles] table.")
    _known_keys(table, _ROLES, place="a role", prefix="roles.")
    for role in ("sensitive", "protected", "target", "quasi_identifiers"):
        if role in table:
            try:
                checked_roles(columns, Roles(**{role: table[role]}))
            except (InvalidParameterError, ColumnNotFoundError) as error:
                _refuse(f"roles.{role}", f"is not valid. {error}")
    return checked_roles(columns, Roles(**table))


def _needed(table: dict[str, Any], key: str, *, prefix: str) -> Any:
    if key not in table:
        _refuse(f"{prefix}{key}", "is missing.")
    return table[key]


def _known_keys(table: dict[str, Any], known: Collection[str], *, place: str, prefix: str) -> None:
    for key in table:
        if key not in known:
            name = brief(key) or '""'
            _refuse(f"{prefix}{name}", f"is not known. {UnknownNameError('Key', name, known, place=place)}")


def _refuse(field: str, why: str) -> NoReturn:
    raise SchemaError(f"The schema field '{field}' {why}", field=field) from None
