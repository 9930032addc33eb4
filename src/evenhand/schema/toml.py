"""Schema files: TOML that a person can read, write and check, format number 1.

What is written here and what is accepted are the same. A fault names the field where it is.
"""

from __future__ import annotations

import re
import tomllib
from os import PathLike, fspath
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, NoReturn

import tomli_w

from evenhand._formats import version_fault
from evenhand._validate import kind_of
from evenhand.errors import (
    ColumnNotFoundError,
    InvalidParameterError,
    LimitExceededError,
    SchemaError,
    UnknownNameError,
    UnreadableFileError,
)
from evenhand.schema.column import Column
from evenhand.schema.domain import Domain
from evenhand.schema.levels import Level
from evenhand.schema.roles import ROLES, Roles, checked_roles
from evenhand.schema.text import brief
from evenhand.schema.values import described

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

FORMAT = 1
_LINE = 100


def write_toml(columns: Iterable[Column], roles: Roles) -> str:
    """Return the one text that stands for a schema: equal schemas give equal text."""
    return "".join(_lines(columns, roles))


def _lines(columns: Iterable[Column], roles: Roles) -> Iterator[str]:
    yield from _assignments({"format": FORMAT})
    given = {role: value for role, value in vars(roles).items() if value is not None and value != ()}
    if not roles.missing_group:
        del given["missing_group"]
    if given:
        yield "\n[roles]\n"
        yield from _assignments(given)
    for column in columns:
        yield "\n[[columns]]\n"
        yield from _assignments(_column_table(column))
        if column.value_labels:
            yield "\n[columns.value_labels]\n"
            yield from _assignments(column.named_values)
        for level in column.levels:
            yield "\n[[columns.levels]]\n"
            yield from _assignments(_level_table(level))
            if level.members:
                yield "\n[columns.levels.groups]\n"
                yield from _assignments(dict(level.members))


def _assignments(table: dict[str, Any]) -> Iterator[str]:
    """Write each key with its value; a list on one line where it fits."""
    for key, value in table.items():
        text = tomli_w.dumps({key: value})
        if isinstance(value, tuple) and value:
            first, *items, _ = text.removesuffix("\n").split("\n")
            line = f"{first}{', '.join(item.strip(' ').removesuffix(',') for item in items)}]"
            text = f"{line}\n" if len(line) <= _LINE else text
        yield text


def _column_table(column: Column) -> dict[str, Any]:
    domain, (must_have, may_have) = column.domain, _KINDS[column.domain.form]
    table: dict[str, Any] = {"name": column.name, "kind": domain.form}
    for key in (*must_have, *may_have):
        value = domain.bin_labels if key == "labels" else getattr(domain, key)
        if value or key in must_have:
            table[key] = value
    read = {"inferred": True} if column.inferred else {}
    return {**table, "outside": column.outside, "nulls": column.nulls, **read}


def _level_table(level: Level) -> dict[str, Any]:
    table: dict[str, Any] = {"name": level.name}
    if level.cuts is not None:
        table["cuts"] = level.cuts
    if level.labels:
        table["labels"] = level.labels
    if level.of is not None:
        table["of"] = level.of
    return table


_LEVEL = ("name", "groups", "cuts", "labels", "of")
_KINDS = {
    "categorical": (("values",), ("ordered",)),
    "integers": (("low", "high"), ()),
    "binned": (("edges",), ("labels",)),
    "dates": (("first", "last", "band"), ("written",)),
    "threshold": (("rule",), ()),
}
"""Of each kind of domain, the keys it must have and those it may have."""


def columns_and_roles(document: dict[str, Any]) -> tuple[tuple[Column, ...], Roles]:
    """Return what a schema is made of; every fault is a SchemaError that names the field."""
    version = document.get("format")
    fault = version_fault(version, newest=FORMAT) if type(version) is int else ""
    if fault:  # before its keys, of which a newer form may have others
        _refuse("format", f"says that the file {fault}")
    _known_keys(document, ("format", "roles", "columns"), place="a key of a schema file", prefix="")
    if _require(document, "format", prefix="") != FORMAT or type(version) is not int:
        _refuse("format", f"must be {FORMAT}, the only format there is. Got {described(version)} instead.")
    tables = _require(document, "columns", prefix="")
    if not isinstance(tables, list) or not tables or not all(isinstance(table, dict) for table in tables):
        _refuse("columns", "must be one [[columns]] table or more.")
    columns: dict[str, Column] = {}
    for number, table in enumerate(tables):
        column = _column(table, number)
        if column.name in columns:
            _refuse(f"columns.{brief(column.name)}.name", "stands for two columns; names must be distinct.")
        columns[column.name] = column
    return tuple(columns.values()), _roles(document.get("roles", {}), columns)


def _column(table: dict[str, Any], number: int) -> Column:
    name, prefix = _name_and_prefix(table, "columns", number)
    kind = _require(table, "kind", prefix=prefix)
    if not isinstance(kind, str) or kind not in _KINDS:
        _refuse(f"{prefix}kind", f"must be one of {', '.join(_KINDS)}. Got {described(kind)} instead.")
    must_have, may_have = _KINDS[kind]
    common = ("name", "kind", "outside", "nulls", "levels", "inferred", "value_labels")
    known = (*common, *must_have, *may_have)
    _known_keys(table, known, place=f"a key of a column of kind '{kind}'", prefix=prefix)
    given = {key: _require(table, key, prefix=prefix) for key in must_have}
    given |= {key: table[key] for key in may_have if key in table}
    levels = table.get("levels", [])
    if not isinstance(levels, list) or not all(isinstance(level, dict) for level in levels):
        _refuse(f"{prefix}levels", "must be [[columns.levels]] tables.")
    rules = {rule: table[rule] for rule in ("outside", "nulls", "inferred", "value_labels") if rule in table}
    try:
        domain: Domain = getattr(Domain, kind)(**given)
        levels_read = [_level(level, f"{prefix}levels", place) for place, level in enumerate(levels)]
        return Column(name, domain, levels=tuple(levels_read), **rules)
    except InvalidParameterError as error:
        _refuse(f"{prefix}{error.parameter}", f"is not valid. {error}")


def _level(table: dict[str, Any], prefix: str, number: int) -> Level:
    _, prefix = _name_and_prefix(table, prefix, number)
    _known_keys(table, _LEVEL, place="a key of a level", prefix=prefix)
    try:
        return Level(**table)
    except InvalidParameterError as error:
        _refuse(f"{prefix}{error.parameter}", f"is not valid. {error}")


def _name_and_prefix(table: dict[str, Any], place: str, number: int) -> tuple[Any, str]:
    """Return what a table calls itself, and what stands before its fields in messages."""
    name = table.get("name")
    prefix = f"{place}.{brief(name)}." if isinstance(name, str) and name else f"{place}[{number}]."
    return _require(table, "name", prefix=prefix), prefix


_BESIDE = ("weight", "person", "rows_per_person", "pool_below")


def _roles(table: object, columns: dict[str, Column]) -> Roles:
    if not isinstance(table, dict):
        _refuse("roles", "must be a [roles] table.")
    _known_keys(table, ROLES, place="a role", prefix="roles.")
    owners = {"rows_per_person": "person", "pool_below": "protected"}
    for role in ("sensitive", "protected", "target", "quasi_identifiers", "missing_group", *_BESIDE):
        if role in table:
            owner = owners.get(role, "")
            beside: dict[str, Any] = {owner: table[owner]} if owner in table else {}
            try:
                checked_roles(columns, Roles(**beside, **{role: table[role]}))
            except (InvalidParameterError, ColumnNotFoundError) as error:
                _refuse(f"roles.{role}", f"is not valid. {error}")
    return checked_roles(columns, Roles(**table))


def _require(table: dict[str, Any], key: str, *, prefix: str) -> Any:
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


MAX_BYTES = 2**20
_DEEPEST_KEY = 16

_STRING_OR_COMMENT = re.compile(
    r'"""(?:\\.|[^\\])*?(?:"{3,5}|\Z)'
    r"|'''.*?(?:'{3,5}|\Z)"
    r'|"(?:\\.|[^"\\\n])*+"?'
    r"|'[^'\n]*+'?"
    r"|\#[^\n]*+",
    re.DOTALL,
)
_LONG_KEY = re.compile(rf"(?<![\w-])(?:[\w-]++[ \t]*+\.[ \t]*+){{{_DEEPEST_KEY}}}")
_PLACE = re.compile(r"\(at (line \d+, column \d+|end of document)\)")


def read_text(path: object, *, max_bytes: int, what: str = "schema") -> str:
    """Return the text of a file, having read at most one byte more than `max_bytes`.

    Messages hold the last part of the path only.
    """
    if not isinstance(path, str | PathLike):
        raise InvalidParameterError(
            "path", owner=f"{what.capitalize()}.load", must_be="a path", got=kind_of(path)
        )
    name = PurePath(fspath(path)).name
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - a path that is not a file, too, ends in our error
            data = file.read(max_bytes + 1)
    except FileNotFoundError:
        raise UnreadableFileError(
            f"There is no {what} file '{name}'. Hint: check its name and folder."
        ) from None
    except (OSError, ValueError):
        raise UnreadableFileError(
            f"The {what} file '{name}' cannot be opened. Hint: check its rights."
        ) from None
    _refuse_long(len(data), max_bytes, f"The {what} file '{name}'")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise SchemaError(
            f"The {what} file '{name}' is not text in UTF-8. Hint: save it as UTF-8.", field="file"
        ) from None


def parse_toml(text: str, *, max_bytes: int, what: str = "schema") -> dict[str, Any]:
    """Return the TOML document in `text`.

    A key of thousands of parts costs the parser memory that grows with the square of their number,
    so such keys are looked for first; deep nesting and endless digits are refused by the parser.
    """
    try:
        length = len(text.encode("utf-8"))
    except UnicodeEncodeError:
        raise SchemaError(f"The {what} text cannot be written as UTF-8.", field="file") from None
    _refuse_long(length, max_bytes, f"The {what} text")
    if _LONG_KEY.search(_STRING_OR_COMMENT.sub("s", text)):
        raise SchemaError(f"The {what} has a key of more than {_DEEPEST_KEY} parts.", field="file")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise SchemaError(f"The {what} is nested too deeply.", field="file") from None
    except ValueError as error:
        place = _PLACE.search(str(error))
        where = f" at {place[1]}" if place else ""
        hint = "Hint: text stands in quotes, lists in brackets, and every key once."
        raise SchemaError(f"The {what} is not TOML{where}. {hint}", field="file") from None


def _refuse_long(length: int, max_bytes: int, what: str) -> None:
    if length > max_bytes:
        raise LimitExceededError(
            f"{what} is longer than {max_bytes:,} bytes. Hint: pass a larger max_bytes if that is meant.",
            limit="max_bytes",
        )
