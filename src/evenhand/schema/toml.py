"""Schema files: TOML that a person can read, write and check.

What is written here and what `reading` accepts are the same format, number 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import tomli_w

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evenhand.schema.column import Column
    from evenhand.schema.domain import Domain
    from evenhand.schema.levels import Level
    from evenhand.schema.schema import Schema

__all__ = ["FORMAT", "written"]

FORMAT = 1
_LINE = 100


def written(schema: Schema) -> str:
    """Return the one text that stands for `schema`: equal schemas give equal text."""
    return "".join(_lines(schema))


def _lines(schema: Schema) -> Iterator[str]:
    yield from _assignments({"format": FORMAT})
    roles = {role: value for role, value in vars(schema.roles).items() if value is not None and value != ()}
    if roles:
        yield "\n[roles]\n"
        yield from _assignments(roles)
    for column in schema:
        yield "\n[[columns]]\n"
        yield from _assignments(_column_table(column))
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
    table = {"name": column.name, "kind": column.domain.kind, **_domain_table(column.domain)}
    read = {"inferred": True} if column.inferred else {}
    return {**table, "outside": column.outside, "nulls": column.nulls, **read}


def _domain_table(domain: Domain) -> dict[str, Any]:
    if domain.kind == "integers":
        return {"low": domain.low, "high": domain.high}
    if domain.kind == "binned":
        return {"edges": domain.edges, **({"labels": domain.bin_labels} if domain.bin_labels else {})}
    return {"values": domain.values, **({"ordered": True} if domain.ordered else {})}


def _level_table(level: Level) -> dict[str, Any]:
    table: dict[str, Any] = {"name": level.name}
    if level.cuts is not None:
        table["cuts"] = level.cuts
    if level.labels:
        table["labels"] = level.labels
    if level.of is not None:
        table["of"] = level.of
    return table
