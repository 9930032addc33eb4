"""A group report as text, as HTML and as frames."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING, Any

from evenhand.measure.gaps import MEASURES, NO_DISPARITY, WORST_PAIR
from evenhand.measure.rates import RATES, Tables
from evenhand.measure.reasons import group_rates
from evenhand.measure.text_tables import aligned, html_table, number_text
from evenhand.table.frames import make_frame

if TYPE_CHECKING:
    from evenhand.measure.groups import GroupReport
    from evenhand.table.frames import Backend

__all__ = ["as_html", "as_text", "rates_frame", "summary_frame"]

_LEVEL = 0.95
_GROUPS_SHOWN = 30
_GROUPS_PAIRED = 200  # with more groups, the intervals of all pairs would make printing slow


def rates_frame(report: GroupReport, backend: Backend | None = None) -> Any:
    """Return one row per group: size, rates, and a note on what is undefined."""
    rows = report.rates
    columns: dict[str, Any] = {"group": list(rows), "size": [row.size for row in rows.values()]}
    for rate in RATES:
        columns[rate] = [getattr(row, rate) for row in rows.values()]
    columns["note"] = [
        " ".join(f"{rate}: {why}" for rate, why in row.reasons.items()) for row in rows.values()
    ]
    return make_frame(columns, backend=backend)


def summary_frame(report: GroupReport, level: float = _LEVEL, backend: Backend | None = None) -> Any:
    """Return one row per measure: value, limits, method, and a note if it is undefined."""
    intervals = [report.interval(name, level) for name in MEASURES]
    return make_frame(
        {
            "measure": list(MEASURES),
            "value": [float(report.value(name)) for name in MEASURES],
            "low": [interval.low for interval in intervals],
            "high": [interval.high for interval in intervals],
            "level": [interval.level for interval in intervals],
            "method": [interval.method for interval in intervals],
            "exact": [interval.exact for interval in intervals],
            "no_disparity": [NO_DISPARITY.get(name, math.nan) for name in MEASURES],
            "note": [interval.reason for interval in intervals],
        },
        backend=backend,
    )


def as_text(report: GroupReport) -> str:
    """Return the report as two aligned tables and the reasons of what is undefined."""
    rates, measures = aligned(_rate_rows(report)), aligned(_measure_rows(report))
    parts = [_title(report), *rates, *_more(report), "", *measures, *_not_paired(report)]
    undefined = _undefined(report)
    if undefined:
        parts += ["", "Undefined:", *(f"  {names}: {why}" for names, why in undefined)]
    return "\n".join(parts)


def as_html(report: GroupReport) -> str:
    """Return the report as two small HTML tables; every text is escaped."""
    tables = html_table(_rate_rows(report)) + "".join(f"<p>{line}</p>" for line in _more(report))
    tables += html_table(_measure_rows(report)) + "".join(f"<p>{line}</p>" for line in _not_paired(report))
    undefined = "".join(f"<li>{escape(names)}: {escape(why)}</li>" for names, why in _undefined(report))
    notes = f"<p>Undefined:</p><ul>{undefined}</ul>" if undefined else ""
    return f"<div><p>{escape(_title(report))}</p>{tables}{notes}</div>"


def _undefined(report: GroupReport) -> list[tuple[str, str]]:
    """Return the measures without a value, those with one reason together."""
    together: dict[str, list[str]] = {}
    for name, why in report.reasons.items():
        together.setdefault(why, []).append(name)
    return [(", ".join(names), why) for why, names in together.items()]


def _title(report: GroupReport) -> str:
    named = "none named" if report.privileged is None else repr(report.privileged)
    weighted = "; rates are weighted" if report.table.weighted else ""
    return f"Group report, privileged group: {named}{weighted}"


def _rate_rows(report: GroupReport) -> list[list[str]]:
    header = ["group", "size", *(rate.replace("_", " ") for rate in RATES)]
    shown = group_rates(report.table, Tables.of(report.table, None), _GROUPS_SHOWN)
    return [header] + [
        [str(label), _size(row.size), *(number_text(getattr(row, rate)) for rate in RATES)]
        for label, row in shown.items()
    ]


def _more(report: GroupReport) -> list[str]:
    """Return the line that says how many groups are not shown, if any."""
    more = len(report.table.groups) - _GROUPS_SHOWN
    plural = "" if more == 1 else "s"
    return [f"and {more:,} more group{plural}; to_frame() has them all"] if more > 0 else []


def _not_paired(report: GroupReport) -> list[str]:
    """Return the line that says which intervals were not computed, if any."""
    if len(report.table.groups) <= _GROUPS_PAIRED:
        return []
    names = ", ".join(WORST_PAIR)
    return [f"With more than {_GROUPS_PAIRED} groups, intervals of {names} are left to interval(...)."]


def _measure_rows(report: GroupReport) -> list[list[str]]:
    rows = [["measure", "value", f"{_LEVEL:.0%} interval", "no disparity"]]
    for name in MEASURES:
        reason = report.reason(name)
        if not reason:
            none = f"{NO_DISPARITY[name]:g}" if name in NO_DISPARITY else ""
            rows.append([name, number_text(report.value(name)), _limits(report, name), none])
    return rows


def _limits(report: GroupReport, name: str) -> str:
    if name in WORST_PAIR and len(report.table.groups) > _GROUPS_PAIRED:
        return "not computed"
    low, high = report.interval(name, _LEVEL)
    return f"{number_text(low)} to {number_text(high)}"


def _size(size: float) -> str:
    return f"{size:,}" if isinstance(size, int) else f"{size:,.1f}"
