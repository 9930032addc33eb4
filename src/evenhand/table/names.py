"""Names of the columns of a file: checked, and chosen from, without showing any of them.

A file without a header has its first row of data where the names should be, so what the file calls
its columns is never part of a message.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand.errors import InvalidParameterError
from evenhand.schema import Schema
from evenhand.table.source import refuse

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["check_names", "wanted_names"]


def check_names(names: Sequence[str | None], file: str) -> None:
    """Refuse a file whose columns have no name, or the same name twice."""
    places: dict[str | None, int] = {}
    for place, name in enumerate(names, start=1):
        if not name:
            refuse(file, f"column {place:,} has no name.")
        if name in places:
            refuse(file, f"columns {places[name]:,} and {place:,} have the same name.")
        places[name] = place


def wanted_names(
    names: Sequence[str], file: str, *, schema: Schema | None, columns: Sequence[str] | None, owner: str
) -> list[str]:
    """Return the columns to read: those asked for, else those of the schema, else all."""
    given: object = schema
    if given is not None and not isinstance(given, Schema):
        got = f"a value of type {type(schema).__name__}"
        raise InvalidParameterError("schema", owner=owner, must_be="a Schema", got=got)
    if columns is not None and not _are_names(columns):
        must_be, got = "a list of column names", f"a value of type {type(columns).__name__}"
        raise InvalidParameterError("columns", owner=owner, must_be=must_be, got=got)
    if schema is not None:
        wanted = [schema[name].name for name in columns] if columns is not None else list(schema.names)
    else:
        wanted = list(columns) if columns is not None else list(names)
    present = set(names)
    for name in wanted:
        if name not in present:
            spelled = {_bare(each) for each in names}
            hint = " Hint: one is spelled like it but for case or spaces." if _bare(name) in spelled else ""
            refuse(file, f"none of its columns is called '{name}'.{hint}")
    return list(dict.fromkeys(wanted))


def _are_names(columns: object) -> bool:
    return (
        isinstance(columns, list | tuple) and bool(columns) and all(isinstance(each, str) for each in columns)
    )


def _bare(name: str) -> str:
    return "".join(name.split()).casefold()
