"""Rates of groups as rows, notes and frames.

Rates are not imported here, for they import this.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from evenhand._notebook import number_text
from evenhand.collect.estimates import tables
from evenhand.measure.intervals import Interval
from evenhand.measure.report_text import group_text
from evenhand.schema.crossing import BETWEEN_COLUMNS

if TYPE_CHECKING:
    from evenhand.table.frames import Backend

HIDDEN = "No column by itself shows a gap as large: the crossing hides it from its margins."
"""What is said where crossed columns have a larger gap than each of them."""

_MOST_PAIRED = 30  # with more groups, the interval of the worst pair would make printing slow


def rates_frame(rates: Any, level: float, backend: Backend | None) -> Any:
    """Return one row per group."""
    intervals = {label: rates.interval(label, level=level) for label in rates.labels}
    gaps = {label: _gap_interval(rates, label, level) for label in rates.labels}
    return tables.estimates_frame(
        {
            "group": _written(rates),
            "share": [float(share) for share in rates.shares.values()],
            "rate": [float(rate) for rate in rates.possible_rates.values()],
            "low": [interval.low for interval in intervals.values()],
            "high": [interval.high for interval in intervals.values()],
            "gap": [float(possible_gap(rates, label)) for label in rates.labels],
            "gap_low": [interval.low for interval in gaps.values()],
            "gap_high": [interval.high for interval in gaps.values()],
            "level": [level] * len(rates.labels),
            "naive_rate": [float(rate) for rate in rates.naive.values()],
            "note": [intervals[label].reason or rates.rates[label].reason for label in rates.labels],
        },
        backend,
    )


def pairs_frame(rates: Any, level: float, backend: Backend | None) -> Any:
    """Return one row for every two groups, with intervals that hold together."""
    columns: dict[str, list[Any]] = {name: [] for name in ("group", "against", "gap", "low", "high")}
    names = _written(rates)
    shown = list(rates.possible_rates.values())
    for pairs, limits in rates.gaps_of_all_pairs(level):
        for (first, second), low, high in zip(pairs.tolist(), *limits, strict=True):
            row = (names[first], names[second], float(shown[first]) - float(shown[second]), low, high)
            for column, value in zip(columns.values(), row, strict=True):
                column.append(value)
    columns["level"] = [level] * len(columns["gap"])
    return tables.estimates_frame(columns, backend)


def title_of(rates: Any) -> str:
    """Return the line above the table."""
    maker = f" of {rates.protocol!r}" if rates.protocol is not None else ""
    people = "1 person" if rates.n == 1 else f"{rates.n:,} people"
    crossed = f" by {BETWEEN_COLUMNS.join(rates.margins)}" if rates.margins else ""
    return f"Outcome rates of the true groups{crossed}, {people}, groups from reports{maker}"


def rate_rows(rates: Any) -> list[list[str]]:
    """Return the table of rates, one row per group below its heads."""
    heads = ["group", "share", "rate", f"{100 * rates.level:.10g}% interval", "naive rate"]
    compared = rates.privileged is not None
    rows = [
        heads + ([f"{group_text(rates.privileged)} minus this", "interval of the gap"] if compared else [])
    ]
    for label in rates.labels[: tables.SHOWN]:
        limits = tables.limits_text(*rates.interval(label))
        row = [group_text(label), number_text(rates.shares[label])]
        row += [rate_text(rates.possible_rates[label]), limits]
        row.append(number_text(rates.naive[label]))
        if compared and label == rates.privileged:
            row += ["", ""]
        elif compared:
            reached = tables.limits_text(*_gap_interval(rates, label, rates.level))
            row += [rate_text(possible_gap(rates, label)), reached]
        rows.append(row)
    return rows


def _written(rates: Any) -> list[Any]:
    """Return the labels as a column of a frame: combinations as people read them."""
    return (
        [group_text(label) for label in rates.labels] if rates.margins else tables.label_column(rates.labels)
    )


def rate_text(rate: float) -> str:
    """Return a rate or a gap in three decimals, or that it cannot be estimated."""
    return "cannot be estimated" if math.isnan(rate) else number_text(rate)


def possible_gap(rates: Any, label: Any) -> float:
    """Return the privileged group's rate minus that of a group, as both are shown; NaN if there is none."""
    if rates.privileged is None or label == rates.privileged:
        return math.nan
    return float(rates.possible_rates[rates.privileged]) - float(rates.possible_rates[label])


def _gap_interval(rates: Any, label: Any, level: float) -> Interval:
    if rates.privileged is None or label == rates.privileged:
        return Interval(math.nan, math.nan, level, "none", exact=False)
    interval: Interval = rates.interval(rates.privileged, against=label, level=level)
    return interval


def rate_notes(rates: Any) -> list[str]:
    """Return the lines below the table."""
    lines = tables.more_rows(len(rates.labels))
    known = list(rates.possible_rates.values())
    worst = max(known) - min(known)
    reason = next((rate.reason for rate in known if math.isnan(rate)), "")
    if reason:
        lines.append(f"Largest gap between two groups: cannot be estimated. {reason}")
    elif len(rates.labels) <= _MOST_PAIRED:
        limits = tables.limits_text(*rates.data_unfairness_interval("difference"))
        lines.append(f"Largest gap between two groups: {worst:.3f}, {limits}.")
    unknown = [group_text(label) for label, known in rates.separated.items() if not known]
    if unknown and rates.n:
        shown = ", ".join(unknown[:3]) + (f" and {len(unknown) - 3} more" if len(unknown) > 3 else "")
        lines.append(f"Not separated from a share of 0, so that the rate cannot be estimated: {shown}.")
    if len(rates.labels) <= _MOST_PAIRED and rates.is_hidden():
        lines.append(HIDDEN)
    return lines
