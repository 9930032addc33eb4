"""A schema in words, a line for each column, and as a table for notebooks."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from evenhand._notebook import CAPTION, CELL, TABLE
from evenhand.schema.text import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from evenhand.schema.column import Column
    from evenhand.schema.roles import Roles

MOST_SHOWN = 60
"""How many columns are shown before the rest is only counted."""


def title(columns: Sequence[Column]) -> str:
    """Return what stands above the columns."""
    return f"Schema of {len(columns)} column{'' if len(columns) == 1 else 's'}"


def schema_text(columns: Sequence[Column], roles: Roles) -> str:
    """Return a schema as aligned lines of plain text."""
    rows = [
        (visible(column.name), column.describe(), _notes(column, roles)) for column in columns[:MOST_SHOWN]
    ]
    widths = [max(len(row[place]) for row in rows) for place in (0, 1)]
    lines = [
        f"  {name:<{widths[0]}}  {domain:<{widths[1]}}  {notes}".rstrip() for name, domain, notes in rows
    ]
    return "\n".join([title(columns), *lines, *(f"  {words}" for words in (*rest(columns), *beside(roles)))])


def beside(roles: Roles) -> list[str]:
    """Return words for the columns that stand beside those of the schema."""
    words = [] if roles.weight is None else [f"weights: {visible(roles.weight)}"]
    if roles.person is not None:
        rows = f"{roles.rows_per_person:,} row{'' if roles.rows_per_person == 1 else 's'}"
        words.append(f"person: {visible(roles.person)}, of whom at most {rows} count")
    return words


def rest(columns: Sequence[Column]) -> list[str]:
    """Return words for the columns that are not shown, if there are any."""
    count = len(columns) - MOST_SHOWN
    return [f"… and {count:,} more column{'' if count == 1 else 's'}"] if count > 0 else []


def roles_text(column: Column, roles: Roles) -> str:
    """Return the roles of a column in words, with the value that goes with them, as people read it.

    >>> from evenhand.schema import Column, Domain, Roles
    >>> gender = Column("gender", Domain.categorical([1, 2]), value_labels={1: "Male"})
    >>> roles_text(gender, Roles(sensitive=("gender",), protected="gender", privileged=1))
    'sensitive, protected (privileged: Male)'
    """
    privileged = roles.privileged
    if isinstance(privileged, tuple) and column.name in roles.protected_columns:
        privileged = privileged[roles.protected_columns.index(column.name)]
    beside = {"protected": ("privileged", privileged), "target": ("positive", roles.positive)}
    words = []
    for role in roles.of(column.name):
        name, value = beside.get(role, ("", None))
        words.append(role if value is None else f"{role} ({name}: {visible(column.display_label(value))})")
    return ", ".join(words)


def _notes(column: Column, roles: Roles) -> str:
    rules = {"outside": column.outside, "missing": column.nulls}
    notes = [roles_text(column, roles)]
    notes += [f"{name}: {rule}" for name, rule in rules.items() if rule != "error"]
    notes += [f"levels: {', '.join(map(visible, column.level_names))}"] if column.levels else []
    notes += ["read from the rows"] if column.inferred else []
    return "; ".join(note for note in notes if note)


def schema_html(columns: Sequence[Column], roles: Roles) -> str:
    """Return a schema as a self-contained HTML table for notebooks in which every text of it is escaped."""
    heads = ["Column", "Domain", "Roles", "Outside the domain", "Missing"]
    shown = columns[:MOST_SHOWN]
    rows = [_cells(column, roles) for column in shown]
    if any(column.levels for column in shown):
        heads.append("Levels")
        for row, column in zip(rows, shown, strict=True):
            levels = ((visible(name), column.level(name).declared) for name in column.level_names)
            row.append(", ".join(f"{name} ({declared})" for name, declared in levels))
    head = "".join(f'<th scope="col" style="{CELL}">{escape(text)}</th>' for text in heads)
    body = "".join(f"<tr>{_row(cells)}</tr>" for cells in rows)
    body += "".join(
        f'<tr><td colspan="{len(heads)}" style="{CELL}">{escape(words)}</td></tr>'
        for words in (*rest(columns), *beside(roles))
    )
    caption = f'<caption style="{CAPTION}">{escape(title(columns))}</caption>'
    return f'<table style="{TABLE}">{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'


def _cells(column: Column, roles: Roles) -> list[str]:
    name, domain = visible(column.name), column.describe()
    domain += " (read from the rows)" if column.inferred else ""
    return [name, domain, roles_text(column, roles), column.outside, column.nulls]


def _row(cells: Iterable[str]) -> str:
    first, *others = (escape(cell) for cell in cells)
    data = "".join(f'<td style="{CELL}">{cell}</td>' for cell in others)
    return f'<th scope="row" style="{CELL}">{first}</th>{data}'
