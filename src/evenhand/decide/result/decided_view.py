"""A result as text, as HTML and as a frame; the banner is always there."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.measure.text_tables import aligned, html_table
from evenhand.schema.text import visible
from evenhand.table.frames import make_frame

if TYPE_CHECKING:
    from evenhand.decide.result.decided import Affected, Decided
    from evenhand.table.frames import Backend

__all__ = ["as_frame", "as_html", "as_text"]

_SHOWN = 10


def as_frame(decided: Decided, backend: Backend | None = None) -> Any:
    """Return one row for each entity."""
    columns: dict[str, Any] = {
        "entity": list(decided.names),
        "truth": decided.truth,
        "expected": decided.expected,
        "bias": decided.bias,
        "variance": decided.variance,
        "disparity": decided.disparity,
    }
    if decided.kind == "rule":
        columns["flip"] = decided.flip
    if decided.budget is not None and decided.kind == "allotment":
        columns["money"] = decided.misallocated()
    for name in ("standard_error", "error_bound"):
        given = getattr(decided, name)
        if given is not None:
            columns[name] = given
    columns |= {name: [getattr(decided, name)] * len(decided) for name in ("method", "banner")}
    return make_frame({name: np.array(each).tolist() for name, each in columns.items()}, backend=backend)


def as_text(decided: Decided) -> str:
    """Return the result in a few sentences and a table of the most affected, the banner first and last."""
    lines = [decided.banner, "", *_sentences(decided), ""]
    if len(decided):
        lines += [_heading(decided), *aligned(_rows(decided)), ""]
    return "\n".join([*lines, decided.banner])


def as_html(decided: Decided) -> str:
    """Return the same as HTML; every text is escaped."""
    banner = f'<p role="note"><strong>{escape(decided.banner)}</strong></p>'
    told = "".join(f"<p>{escape(line)}</p>" for line in _sentences(decided))
    table = f"<p>{escape(_heading(decided))}</p>{html_table(_rows(decided))}" if len(decided) else ""
    return f"<div>{banner}{told}{table}</div>"


def _sentences(decided: Decided) -> list[str]:
    how = decided.method if decided.draws is None else f"{decided.method}, {decided.draws:,} draws"
    what = "Rule" if decided.kind == "rule" else "Allotment"
    told = [
        f"{what}: {visible_formula(decided.problem)}",
        f"Noise: {visible_formula(decided.noise)}. Found by: {how}.",
        f"Entities: {len(decided):,}. Alpha, the greatest difference between two: {decided.alpha:.4g}.",
    ]
    if decided.kind == "rule":
        holds = int(decided.truth.sum())
        refused, granted = decided.flip[decided.truth].sum(), decided.flip[~decided.truth].sum()
        told.append(
            f"The rule truly holds for {holds:,}. Expected to be wrongly refused: {refused:,.4g}; "
            f"wrongly granted: {granted:,.4g}."
        )
    elif decided.budget is not None:
        told.append(
            f"Of a budget of {decided.budget:,.0f}, {decided.moved():,.2f} ends up elsewhere on average; "
            f"making up for all losses costs {decided.cost():,.2f}."
        )
    if decided.draws is not None:
        told.append("From draws, alpha and sums of losses come out too large on average.")
    return told + list(decided.notes)


def visible_formula(text: str) -> str:
    """Return a text of one line in which everything can be seen, at full length."""
    return "".join(each if each.isprintable() else repr(each)[1:-1] for each in text)


def _heading(decided: Decided) -> str:
    return f"The {min(_SHOWN, len(decided))} most affected of {len(decided):,}:"


def _rows(decided: Decided) -> list[list[str]]:
    money = decided.budget is not None and decided.kind == "allotment"
    heads = ["truth", "probability of a flip"] if decided.kind == "rule" else ["true share", "bias"]
    sampled = [] if decided.standard_error is None else ["standard error"]
    rows = [["entity", *heads, *(["money"] if money else []), *sampled]]
    return rows + [_row(decided, each, money=money) for each in decided.most_affected(_SHOWN)]


def _row(decided: Decided, each: Affected, *, money: bool) -> list[str]:
    if decided.kind == "rule":
        cells = ["yes" if each.truth else "no", f"{abs(each.bias):.4f}"]
    else:
        cells = [f"{each.truth:.6g}", f"{each.bias:.4g}"]
    if money:
        cells.append(f"{each.money:,.2f}")
    if each.standard_error is not None:
        cells.append(f"{each.standard_error:.2g}")
    return [visible(each.name), *cells]
