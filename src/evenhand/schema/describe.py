"""A schema in words, a line for each column."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand.schema.text import visible

if TYPE_CHECKING:
    from evenhand.schema.column import Column
    from evenhand.schema.roles import Roles
    from evenhand.schema.schema import Schema

__all__ = ["MOST_SHOWN", "rest", "roles_text", "schema_text", "title"]

MOST_SHOWN = 60
"""How many columns are shown before the rest is only counted."""


def title(schema: Schema) -> str:
    """Return what stands above the columns."""
    return f"Schema of {len(schema)} column{'' if len(schema) == 1 else 's'}"


def schema_text(schema: Schema) -> str:
    """Return the schema as aligned lines of plain text."""
    shown = schema.columns[:MOST_SHOWN]
    rows = [(visible(each.name), each.domain.describe(), _notes(each, schema.roles)) for each in shown]
    widths = [max(len(row[place]) for row in rows) for place in (0, 1)]
    lines = [
        f"  {name:<{widths[0]}}  {domain:<{widths[1]}}  {notes}".rstrip() for name, domain, notes in rows
    ]
    return "\n".join([title(schema), *lines, *(f"  {words}" for words in rest(schema))])


def rest(schema: Schema) -> list[str]:
    """Return words for the columns that are not shown, if there are any."""
    count = len(schema) - MOST_SHOWN
    return [f"… and {count:,} more column{'' if count == 1 else 's'}"] if count > 0 else []


def roles_text(column: str, roles: Roles) -> str:
    """Return the roles of a column in words, with the value that goes with them.

    >>> from evenhand.schema.roles import Roles
    >>> roles_text("gender", Roles(sensitive=("gender",), protected="gender", privileged="Male"))
    'sensitive, protected (privileged: Male)'
    """
    beside = {"protected": ("privileged", roles.privileged), "target": ("positive", roles.positive)}
    words = []
    for role in roles.of(column):
        name, value = beside.get(role, ("", None))
        words.append(role if value is None else f"{role} ({name}: {visible(str(value))})")
    return ", ".join(words)


def _notes(column: Column, roles: Roles) -> str:
    rules = {"outside": column.outside, "missing": column.nulls}
    notes = [roles_text(column.name, roles)]
    notes += [f"{what}: {rule}" for what, rule in rules.items() if rule != "error"]
    notes += [f"levels: {', '.join(map(visible, column.level_names))}"] if column.levels else []
    notes += ["read from the rows"] if column.inferred else []
    return "; ".join(note for note in notes if note)
