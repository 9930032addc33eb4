"""An audit of a published table as text, HTML, plain values and a frame; each says what it is."""

from __future__ import annotations

import math
from dataclasses import asdict, fields
from html import escape
from typing import TYPE_CHECKING, Any

from evenhand.measure.text_tables import aligned, html_table
from evenhand.release.audit.figures import Figures
from evenhand.schema.text import visible
from evenhand.table.frames import make_frame

if TYPE_CHECKING:
    from evenhand.release.audit.audit import ReleaseAudit
    from evenhand.table.frames import Backend

__all__ = ["as_dict", "as_frame", "as_html", "as_text"]

_GROUPS_SHOWN = 30
_HEADS = [
    "cells",
    "people",
    "mean error",
    "± s.e.",
    "mean |error|",
    "rmse",
    "unchanged",
    "missing",
    "zeroed",
    "hidden",
]


def as_dict(audit: ReleaseAudit) -> dict[str, Any]:
    """Return plain values, the banner first."""
    return {
        "banner": audit.banner,
        "columns": list(audit.columns),
        "l1": audit.l1,
        "alpha_of_one_draw": audit.alpha_of_one_draw,
        "overall": _plain(audit.overall),
        "by_size": [_plain(each) for each in audit.by_size],
        "group": audit.group,
        "by_group": [_plain(each) for each in audit.by_group],
        "small": asdict(audit.small) | {"unchanged_share": _number(audit.small.unchanged_share)},
    }


def as_frame(audit: ReleaseAudit, backend: Backend | None = None) -> Any:
    """Return one row per set of cells, each with the banner."""
    parts = [("all", audit.overall)]
    parts += [("size", each) for each in audit.by_size] + [("group", each) for each in audit.by_group]
    rows = [figures for _, figures in parts]
    columns: dict[str, Any] = {"part": [part for part, _ in parts]}
    columns |= {each.name: [getattr(row, each.name) for row in rows] for each in fields(Figures)}
    columns |= {name: [getattr(row, name) for row in rows] for name in ("hidden_share", "relative_error")}
    return make_frame(columns | {"banner": [audit.banner] * len(rows)}, backend=backend)


def as_text(audit: ReleaseAudit) -> str:
    """Return the audit as aligned tables, the banner first and last."""
    parts = [audit.banner, "", *_sentences(audit), ""]
    for title, rows in _tables(audit):
        parts += [title, *aligned(rows), ""]
    return "\n".join([*parts, *_more(audit), audit.banner])


def as_html(audit: ReleaseAudit) -> str:
    """Return the audit as HTML tables under the banner; every text is escaped."""
    banner = f'<p role="note"><strong>{escape(audit.banner)}</strong></p>'
    told = "".join(f"<p>{escape(line)}</p>" for line in _sentences(audit))
    tables = "".join(f"<p>{escape(title)}</p>{html_table(rows)}" for title, rows in _tables(audit))
    more = "".join(f"<p>{escape(line)}</p>" for line in _more(audit))
    return f"<div>{banner}{told}{tables}{more}</div>"


def _sentences(audit: ReleaseAudit) -> list[str]:
    small, all_cells = audit.small, audit.overall
    names = " × ".join(visible(each) for each in audit.columns)
    audited = f"Audit of a published table of {names}: {all_cells.cells:,} cells"
    spread = f"Alpha of this one draw, largest error minus smallest: {_decimal(audit.alpha_of_one_draw)}"
    unchanged = f"{small.unchanged:,} published unchanged{_share(small.unchanged_share)}"
    hidden = f"{_count(all_cells.hidden_people)} people in them{_share(all_cells.hidden_share)}"
    exactly = f"{small.ones_and_twos_unchanged:,} published exactly"
    return [
        f"{audited}, {_count(all_cells.people)} people.",
        f"Sum of absolute errors: {_decimal(audit.l1)}. {spread}.",
        f"Small cells (1 to {small.threshold - 1} people): {small.cells:,}, of which {unchanged}.",
        f"Cells of one or two people: {small.ones_and_twos:,}, of which {exactly}.",
        f"Suppressed: {all_cells.missing:,} cells missing, {all_cells.zeroed:,} zeroed, {hidden}.",
    ]


def _tables(audit: ReleaseAudit) -> list[tuple[str, list[list[str]]]]:
    made = [("By true size of the cell", [["people in the cell", *_HEADS], *map(_row, audit.by_size)])]
    if audit.group is not None:
        shown = audit.by_group[:_GROUPS_SHOWN]
        made.append((f"By {visible(audit.group)}", [[visible(audit.group), *_HEADS], *map(_row, shown)]))
    return made


def _more(audit: ReleaseAudit) -> list[str]:
    more = len(audit.by_group) - _GROUPS_SHOWN
    return [f"and {more:,} more; to_frame() has them all"] if more > 0 else []


def _row(figures: Figures) -> list[str]:
    numbers = (
        figures.mean_error,
        figures.standard_error,
        figures.mean_absolute_error,
        figures.root_mean_square_error,
    )
    return [
        figures.name,
        f"{figures.cells:,}",
        _count(figures.people),
        *(_decimal(each) for each in numbers),
        f"{figures.unchanged:,}",
        f"{figures.missing:,}",
        f"{figures.zeroed:,}",
        "" if math.isnan(figures.hidden_share) else f"{figures.hidden_share:.1%}",
    ]


def _plain(figures: Figures) -> dict[str, Any]:
    shares = {name: getattr(figures, name) for name in ("hidden_share", "relative_error")}
    return {name: _number(value) for name, value in (asdict(figures) | shares).items()}


def _number(value: Any) -> Any:
    return None if isinstance(value, float) and math.isnan(value) else value


def _share(value: float) -> str:
    return "" if math.isnan(value) else f" ({value:.1%})"


def _count(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:,.1f}"


def _decimal(value: float) -> str:
    return "" if math.isnan(value) else f"{value:,.2f}"
