"""Small tables for people to read, as aligned text and as HTML in which every text is escaped."""

from __future__ import annotations

import math
from html import escape

_TABLE_STYLE = "border-collapse:collapse;color:inherit;background:transparent;font-size:14px;margin:0 0 12px"
_CELL_STYLE = "padding:4px 0 4px 16px;border-bottom:1px solid rgba(128,128,128,.4)"


def aligned(rows: list[list[str]]) -> list[str]:
    """Return the lines of a table, its first column to the left and the others to the right.

    >>> aligned([["group", "rate"], ["a", "0.5"]])
    ['group  rate', 'a       0.5']
    """
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    return [
        "  ".join(
            [row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True))]
        ).rstrip()
        for row in rows
    ]


def html_table(rows: list[list[str]]) -> str:
    """Return a table whose first row and first column are headings."""
    head = "".join(_cell('th scope="col"', cell, place) for place, cell in enumerate(rows[0]))
    body = ""
    for first, *rest in rows[1:]:
        cells = "".join(_cell("td", cell.replace("-", "−"), 1) for cell in rest)
        heading = _cell('th scope="row"', first, 0)
        body += f"<tr>{heading}{cells}</tr>"
    return f'<table style="{_TABLE_STYLE}"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'


def number_text(value: float) -> str:
    """Return a share or rate in three decimals, or that it is undefined."""
    return "undefined" if math.isnan(value) else f"{value:.3f}"


def _cell(tag: str, text: str, place: int) -> str:
    side = "right" if place else "left"
    return f'<{tag} style="text-align:{side};{_CELL_STYLE}">{escape(text)}</{tag[:2]}>'
