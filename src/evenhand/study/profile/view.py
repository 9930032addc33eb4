"""A profile as text, as HTML and in JSON's types."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING, Any

from evenhand.measure.text_tables import aligned, html_table
from evenhand.report.words import interval_of, number
from evenhand.schema.text import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand.study.profile.dependence import Bounded, Dependence
    from evenhand.study.profile.profiling import Profile

__all__ = ["as_dict", "as_html", "as_text", "bounded_text", "percent", "points"]

_SHOWN = 5
_NOT_PRIVATE = "Computed from the true rows: this profile is not private and not for publication."


def points(found: Bounded) -> str:
    """Return a difference of shares in points, with its interval.

    >>> from evenhand.study.profile.dependence import Bounded
    >>> points(Bounded(0.2, 0.15, 0.25))
    '20.0 points (15.0 to 25.0)'
    """
    return f"{number(100 * found.value)} points {interval_of(100 * found.low, 100 * found.high)}"


def percent(found: Bounded) -> str:
    """Return a share in percent, with its interval.

    >>> from evenhand.study.profile.dependence import Bounded
    >>> percent(Bounded(0.2, 0.15, 0.25))
    '20.0% (15.0 to 25.0)'
    """
    return f"{number(100 * found.value)}% {interval_of(100 * found.low, 100 * found.high)}"


def bounded_text(found: Bounded) -> str:
    """Return a figure with two digits, with its interval."""
    if math.isnan(found.value):
        return "undefined"
    return f"{number(found.value, 2)} {interval_of(found.low, found.high, 2)}"


def as_text(profile: Profile) -> str:
    """Return title, figures and a table of the groups."""
    lines = [_title(profile), *(line for line in _figures(profile))]
    return "\n".join([*lines, "", *aligned(_rows(profile)), "", _NOT_PRIVATE])


def as_html(profile: Profile) -> str:
    """Return the same as HTML; every text is escaped."""
    figures = "".join(f"<p>{escape(line)}</p>" for line in _figures(profile))
    title, last = escape(_title(profile)), escape(_NOT_PRIVATE)
    return f"<div><p>{title}</p>{figures}{html_table(_rows(profile))}<p>{last}</p></div>"


def as_dict(profile: Profile) -> dict[str, Any]:
    """Return the profile in JSON's types, null where a figure is undefined."""
    return {
        "label": profile.label,
        "people": profile.people,
        "protected": profile.protected,
        "positive": _numbers(profile.positive),
        "skew": profile.skew,
        "groups": [
            {
                "label": group.label,
                "people": group.people,
                "positive": _numbers(group.positive),
                "privileged": group.privileged,
            }
            for group in profile.groups
        ],
        "gap": _numbers(profile.gap),
        "order_is_clear": profile.order_is_clear,
        "sizes": dict(profile.sizes),
        "combinations": profile.combinations,
        "among_sensitive": [_pair(pair) for pair in profile.among_sensitive],
        "clear_columns": [_pair(pair) for pair in profile.clear_columns],
        "has_rows": profile.has_rows,
        "level": profile.level,
    }


def _numbers(found: Bounded) -> dict[str, float | None]:
    values = {"value": found.value, "low": found.low, "high": found.high}
    return {name: None if math.isnan(value) else value for name, value in values.items()}


def _pair(pair: Dependence) -> dict[str, Any]:
    return {"columns": [pair.first, pair.second], "v": _numbers(pair.v)}


def _title(profile: Profile) -> str:
    people = f"{profile.people:,} {'person' if profile.people == 1 else 'people'}"
    return f"Profile of {visible(profile.label)}: {people}, groups of {visible(profile.protected)}"


def _figures(profile: Profile) -> list[str]:
    domains = ", ".join(f"{visible(name)} {size:,}" for name, size in profile.sizes.items())
    lines = [
        f"Positive labels: {percent(profile.positive)}",
        f"Gap of the labels: {points(profile.gap)}",
        f"Values of the sensitive columns: {domains}; {profile.combinations:,} combinations",
    ]
    if not profile.has_rows:
        return [*lines, "How columns depend on each other is not known without the rows"]
    lines += _dependences("Sensitive columns that depend on each other", profile.among_sensitive)
    return lines + _dependences("Columns in the clear that may reveal the groups", profile.clear_columns)


def _dependences(title: str, pairs: Sequence[Dependence]) -> list[str]:
    """Return one line that names the strongest pairs, if there are any."""
    if not pairs:
        return []
    shown = [f"{visible(p.first)} with {visible(p.second)} {bounded_text(p.v)}" for p in pairs[:_SHOWN]]
    shown += [f"{len(pairs) - _SHOWN:,} weaker"] if len(pairs) > _SHOWN else []
    return [f"{title} (Cramer's V): {'; '.join(shown)}"]


def _rows(profile: Profile) -> list[list[str]]:
    rows = [["group", "people", "positive", f"{100 * profile.level:g} % interval"]]
    for group in profile.groups:
        found = group.positive
        share, limits = (
            f"{number(100 * found.value)}%",
            f"{number(100 * found.low)} to {number(100 * found.high)}",
        )
        name = f"{visible(group.label)}{' (privileged)' if group.privileged else ''}"
        rows.append([name, f"{group.people:,}", share, limits])
    return rows
