"""A table of counts as text and as HTML: its columns and its size, and no count."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from evenhand.measure.text_tables import html_table
from evenhand.schema.text import visible

if TYPE_CHECKING:
    from evenhand.release.table.histogram import Histogram

__all__ = ["as_html", "as_text"]


def as_text(histogram: Histogram) -> str:
    """Return the columns and the number of cells in one line."""
    names = " × ".join(visible(name) for name in histogram.columns)
    plural = "" if histogram.size == 1 else "s"
    sparse = ", the filled ones kept" if histogram.is_sparse else ""
    bound = "" if histogram.bound is None else f", at most {histogram.bound:,} people in each"
    return f"Histogram of {names}: {histogram.size:,} cell{plural}{sparse}{bound}"


def as_html(histogram: Histogram) -> str:
    """Return the same with one row per column; every text is escaped."""
    known = set(histogram.quasi_identifiers)
    rows = [["Column", "Values", "Quasi-identifier"]] + [
        [visible(column.name), f"{column.size:,}", "yes" if column.name in known else "no"]
        for column in histogram.schema
    ]
    return f"<div><p>{escape(as_text(histogram))}</p>{html_table(rows)}</div>"
