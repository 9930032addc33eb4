"""Estimated shares as a frame, as text and as HTML."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from evenhand.collect.estimates.labels import as_labels, label_column, limits_text
from evenhand.measure.text_tables import aligned, html_table, number_text
from evenhand.table.frames import make_frame

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from evenhand.collect.estimates.frequencies import Frequencies
    from evenhand.table.frames import Backend

__all__ = ["as_html", "as_text", "shares_frame"]

_LEVEL = 0.95
_SHOWN = 30


def shares_frame(
    estimate: Frequencies,
    labels: Sequence[Any] | None,
    backend: Backend | None,
    *,
    level: float = _LEVEL,
    consistent: npt.NDArray[Any] | None = None,
) -> Any:
    """Return one row per value: estimate, standard error, and limits of both kinds."""
    people, population = estimate.interval(level), estimate.interval(level, of="population")
    columns = {
        "value": label_column(as_labels(labels, len(estimate), owner="to_frame")),
        "share": estimate.values.tolist(),
        "standard_error": estimate.standard_error.tolist(),
        "low_people": people.low.tolist(),
        "high_people": people.high.tolist(),
        "low_population": population.low.tolist(),
        "high_population": population.high.tolist(),
        "level": [people.level] * len(estimate),
    }
    if consistent is not None:
        columns["consistent_share"] = consistent.tolist()
    return make_frame(columns, backend=backend)


def as_text(estimate: Frequencies, *, consistent: npt.NDArray[Any] | None = None, note: str = "") -> str:
    """Return title, table and notes."""
    table = aligned(_rows(estimate, consistent))
    return "\n".join([_title(estimate), *table, *_notes(estimate, note)])


def as_html(estimate: Frequencies, *, consistent: npt.NDArray[Any] | None = None, note: str = "") -> str:
    """Return title, table and notes; every text is escaped."""
    notes = "".join(f"<p>{escape(line)}</p>" for line in _notes(estimate, note))
    return f"<div><p>{escape(_title(estimate))}</p>{html_table(_rows(estimate, consistent))}{notes}</div>"


def _title(estimate: Frequencies) -> str:
    values, plural = len(estimate), "" if estimate.n == 1 else "s"
    maker = f" of {estimate.protocol!r}" if estimate.protocol is not None else ""
    return f"Shares of {values:,} values from {estimate.n:,} report{plural}{maker}"


def _rows(estimate: Frequencies, consistent: npt.NDArray[Any] | None) -> list[list[str]]:
    low, high = estimate.interval(_LEVEL)
    rows = [["value", "share", "standard error", f"{_LEVEL:.0%} interval"]]
    for value in range(min(len(estimate), _SHOWN)):
        share, error = estimate.values[value], estimate.standard_error[value]
        limits = limits_text(low[value], high[value])
        rows.append([str(value), number_text(share), number_text(error), limits])
    if consistent is not None:
        added = ["consistent share", *(number_text(each) for each in consistent[:_SHOWN])]
        rows = [[*row, cell] for row, cell in zip(rows, added, strict=True)]
    return rows


def _notes(estimate: Frequencies, note: str) -> list[str]:
    more = len(estimate) - _SHOWN
    lines = [f"and {more:,} more; to_frame() has them all"] if more > 0 else []
    lines.append(estimate.reason or "Intervals are about the people who reported.")
    return [*lines, note] if note else lines
