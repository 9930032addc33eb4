"""Rates of the true groups as a frame, as text and as HTML."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING, Any

from evenhand.collect.estimates.labels import label_column, limits_text
from evenhand.measure.intervals import Interval
from evenhand.measure.text_tables import aligned, html_table, number_text
from evenhand.table.frames import make_frame

if TYPE_CHECKING:
    from evenhand.collect.estimates.group_rates import GroupRates
    from evenhand.table.frames import Backend

__all__ = ["as_html", "as_text", "rates_frame"]

_SHOWN = 30
_MOST_PAIRED = 30  # with more groups, the interval of the worst pair would make printing slow


def rates_frame(found: GroupRates, level: float, backend: Backend | None) -> Any:
    """Return one row per group."""
    intervals = {label: found.interval(label, level=level) for label in found.labels}
    gaps = {label: _gap_interval(found, label, level) for label in found.labels}
    return make_frame(
        {
            "group": label_column(found.labels),
            "share": [float(share) for share in found.shares.values()],
            "rate": [float(rate) for rate in found.rates.values()],
            "low": [interval.low for interval in intervals.values()],
            "high": [interval.high for interval in intervals.values()],
            "gap": [float(found.gaps.get(label, math.nan)) for label in found.labels],
            "gap_low": [interval.low for interval in gaps.values()],
            "gap_high": [interval.high for interval in gaps.values()],
            "level": [level] * len(found.labels),
            "naive_rate": [float(rate) for rate in found.naive.values()],
            "note": [intervals[label].reason or found.rates[label].reason for label in found.labels],
        },
        backend=backend,
    )


def as_text(found: GroupRates) -> str:
    """Return title, table, spread and notes."""
    return "\n".join([_title(found), *aligned(_rows(found)), *_lines(found)])


def as_html(found: GroupRates) -> str:
    """Return title, table, spread and notes; every text is escaped."""
    lines = "".join(f"<p>{escape(line)}</p>" for line in _lines(found))
    return f"<div><p>{escape(_title(found))}</p>{html_table(_rows(found))}{lines}</div>"


def _title(found: GroupRates) -> str:
    maker = f" of {found.protocol!r}" if found.protocol is not None else ""
    people = "1 person" if found.n == 1 else f"{found.n:,} people"
    return f"Outcome rates of the true groups, {people}, groups from reports{maker}"


def _rows(found: GroupRates) -> list[list[str]]:
    heads = ["group", "share", "rate", f"{100 * found.level:.10g}% interval", "naive rate"]
    compared = found.privileged is not None
    rows = [heads + ([f"{found.privileged} minus this", "interval of the gap"] if compared else [])]
    for label in found.labels[:_SHOWN]:
        limits = limits_text(*found.interval(label))
        row = [str(label), number_text(found.shares[label]), number_text(found.rates[label]), limits]
        row.append(number_text(found.naive[label]))
        if compared:
            gap = "" if label == found.privileged else number_text(found.gaps[label])
            reached = (
                "" if label == found.privileged else limits_text(*_gap_interval(found, label, found.level))
            )
            row += [gap, reached]
        rows.append(row)
    return rows


def _gap_interval(found: GroupRates, label: Any, level: float) -> Interval:
    if found.privileged is None or label == found.privileged:
        return Interval(math.nan, math.nan, level, "none", exact=False)
    return found.interval(found.privileged, against=label, level=level)


def _lines(found: GroupRates) -> list[str]:
    more = len(found.labels) - _SHOWN
    lines = [f"and {more:,} more; to_frame() has them all"] if more > 0 else []
    worst = found.data_unfairness("difference")
    if math.isnan(worst):
        lines.append(f"Largest gap between two groups: undefined. {worst.reason}")
    elif len(found.labels) <= _MOST_PAIRED:
        limits = limits_text(*found.data_unfairness_interval("difference"))
        lines.append(f"Largest gap between two groups: {worst:.3f}, {limits}.")
    unknown = [str(label) for label, known in found.separated.items() if not known]
    if unknown and found.n:
        shown = ", ".join(unknown[:3]) + (f" and {len(unknown) - 3} more" if len(unknown) > 3 else "")
        lines.append(f"Not separated from a share of 0, so the rate may be anything: {shown}.")
    return lines
