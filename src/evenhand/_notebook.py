"""What notebooks show of an object: a small table without scripts and without anything from elsewhere."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_LINE = "border-bottom:1px solid rgba(128,128,128,.4)"
TABLE = "border-collapse:collapse;color:inherit;background:transparent;font-size:14px"
CELL = f"text-align:left;vertical-align:top;padding:4px 12px 4px 0;{_LINE}"
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
