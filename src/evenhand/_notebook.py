"""Small tables of an object: aligned text, and HTML without scripts in which every text is escaped."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_LINE = "border-bottom:1px solid rgba(128,128,128,.4)"
TABLE = "border-collapse:collapse;color:inherit;background:transparent;font-size:14px"
CELL = f"text-align:left;vertical-align:top;padding:4px 12px 4px 0;{_LINE}"
_NUMBERS = f"{TABLE};margin:0 0 12px"
_NUMBER = f"padding:4px 0 4px 16px;{_LINE}"
CAPTION = "caption-side:top;text-align:left;color:inherit;font-weight:650;padding:4px 0"


def figures_html(title: str, figures: Iterable[tuple[str, str]]) -> str:
    """Return a title and figures, each with its name, as an HTML table in which every text is escaped.

    >>> figures_html("A < B", [("epsilon", "1")]).count("&lt;")
    1
    """
    body = "".join(
        f'<tr><th scope="row" style="{CELL}">{escape(name)}</th><td style="{CELL}">{escape(figure)}</td></tr>'
        for name, figure in figures
    )
    caption = f'<caption style="{CAPTION}">{escape(title)}</caption>'
    return f'<table style="{TABLE}">{caption}<tbody>{body}</tbody></table>'


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
    return f'<table style="{_NUMBERS}"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'


def number_text(value: float) -> str:
    """Return a share or rate in three decimals, or that it is undefined."""
    return "undefined" if math.isnan(value) else f"{value:.3f}"


def _cell(tag: str, text: str, place: int) -> str:
    side = "right" if place else "left"
    return f'<{tag} style="text-align:{side};{_NUMBER}">{escape(text)}</{tag[:2]}>'
