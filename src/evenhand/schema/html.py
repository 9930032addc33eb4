"""A schema as a small table for notebooks: self-contained, in the colours of the page around it."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from evenhand.schema.describe import MOST_SHOWN, rest, roles_text, title
from evenhand.schema.text import visible

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evenhand.schema.column import Column
    from evenhand.schema.roles import Roles
    from evenhand.schema.schema import Schema

__all__ = ["schema_html"]

_LINE = "border-bottom:1px solid rgba(128,128,128,.4)"
_TABLE = "border-collapse:collapse;color:inherit;background:transparent;font-size:14px"
_CELL = f"text-align:left;vertical-align:top;padding:4px 12px 4px 0;{_LINE}"
_CAPTION = "caption-side:top;text-align:left;color:inherit;font-weight:650;padding:4px 0"


def schema_html(schema: Schema) -> str:
    """Return the schema as an HTML table in which every text from the schema is escaped."""
    heads = ["Column", "Domain", "Roles", "Outside the domain", "Missing"]
    columns = schema.columns[:MOST_SHOWN]
    rows = [_cells(column, schema.roles) for column in columns]
    if any(column.levels for column in columns):
        heads.append("Levels")
        rows = [[*row, _levels(column)] for row, column in zip(rows, columns, strict=True)]
    head = "".join(f'<th scope="col" style="{_CELL}">{escape(text)}</th>' for text in heads)
    body = "".join(f"<tr>{_row(cells)}</tr>" for cells in rows)
    body += "".join(
        f'<tr><td colspan="{len(heads)}" style="{_CELL}">{words}</td></tr>' for words in rest(schema)
    )
    caption = f'<caption style="{_CAPTION}">{escape(title(schema))}</caption>'
    return f'<table style="{_TABLE}">{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'


def _cells(column: Column, roles: Roles) -> list[str]:
    name, domain = visible(column.name), column.domain.describe()
    domain += " (read from the rows)" if column.inferred else ""
    return [name, domain, roles_text(column.name, roles), column.outside, column.nulls]


def _levels(column: Column) -> str:
    return ", ".join(f"{visible(level)} ({column.level(level).declared})" for level in column.level_names)


def _row(cells: Iterable[str]) -> str:
    first, *rest = (escape(cell) for cell in cells)
    data = "".join(f'<td style="{_CELL}">{cell}</td>' for cell in rest)
    return f'<th scope="row" style="{_CELL}">{first}</th>{data}'
