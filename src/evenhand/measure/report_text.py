"""A group report as text: the rows of its tables and the lines beside them.

Reports are not imported here, for they import this.
"""

from __future__ import annotations

from typing import Any

from evenhand._notebook import number_text
from evenhand.measure.counts import RATES, Tables
from evenhand.measure.gaps import MEASURES, NO_DISPARITY, WORST_PAIR, group_rates
from evenhand.schema.crossing import BETWEEN_COLUMNS, BETWEEN_VALUES

_LEVEL = 0.95
_GROUPS_SHOWN = 30
_GROUPS_PAIRED = 200  # with more groups, the intervals of all pairs would make printing slow


def group_text(group: Any) -> str:
    """Return a group as it is written for people: the values of a combination with commas.

    >>> group_text(("f", 1)), group_text("f")
    ('f, 1', 'f')
    """
    return BETWEEN_VALUES.join(map(str, group)) if isinstance(group, tuple) else str(group)


def quote_group(group: Any) -> str:
    """Return a group as it is named in a sentence.

    >>> print(quote_group(("f", 1)), quote_group("f"), quote_group(1))
    'f, 1' 'f' 1
    """
    return repr(group_text(group) if isinstance(group, tuple) else group)


def list_undefined(report: Any) -> list[tuple[str, str]]:
    """Return the measures without a value, those with one reason together."""
    together: dict[str, list[str]] = {}
    for name, why in report.reasons.items():
        together.setdefault(why, []).append(name)
    return [(", ".join(names), why) for why, names in together.items()]


def title_of(report: Any) -> str:
    """Return the line above the tables: who is privileged, what is crossed, and whether rows are weighted."""
    named = "none named" if report.privileged is None else repr(group_text(report.privileged))
    if report.crossed:
        named += f"; groups: {BETWEEN_COLUMNS.join(report.crossed)}"
    weighted = "; rates are weighted" if report.table.weighted else ""
    return f"Group report, privileged group: {named}{weighted}"


def rate_rows(report: Any) -> list[list[str]]:
    """Return the table of rates, one row per group below its header."""
    rows = [["group", "size", *(rate.replace("_", " ") for rate in RATES)]]
    for label, row in group_rates(report.table, Tables.of(report.table, None), _GROUPS_SHOWN).items():
        size = f"{row.size:,}" if isinstance(row.size, int) else f"{row.size:,.1f}"
        rows.append([group_text(label), size, *(number_text(getattr(row, rate)) for rate in RATES)])
    return rows


def more_groups(report: Any) -> list[str]:
    """Return the line that says how many groups are not shown, if any."""
    more = len(report.table.groups) - _GROUPS_SHOWN
    plural = "" if more == 1 else "s"
    return [f"and {more:,} more group{plural}; to_frame() has them all"] if more > 0 else []


def not_paired(report: Any) -> list[str]:
    """Return the line that says which intervals were not computed, if any."""
    if len(report.table.groups) <= _GROUPS_PAIRED:
        return []
    names = ", ".join(WORST_PAIR)
    return [f"With more than {_GROUPS_PAIRED} groups, intervals of {names} are left to interval(...)."]


def measure_rows(report: Any) -> list[list[str]]:
    """Return the table of measures with their intervals, those without a value left out."""
    rows = [["measure", "value", f"{_LEVEL:.0%} interval", "no disparity"]]
    for name in MEASURES:
        reason = report.reason(name)
        if not reason:
            limits = "not computed"
            if name not in WORST_PAIR or len(report.table.groups) <= _GROUPS_PAIRED:
                limits = " to ".join(map(number_text, report.interval(name, _LEVEL)))
            none = f"{NO_DISPARITY[name]:g}" if name in NO_DISPARITY else ""
            rows.append([name, number_text(report.value(name)), limits, none])
    return rows
