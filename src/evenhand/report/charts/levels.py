"""What does epsilon buy in evenness? One named line for each mechanism, on logarithmic axes."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from evenhand.report.charts._columns import left_out
from evenhand.report.charts._panels import PHONE, WHOLE, draw_no_values, epsilon_axis, grid_up
from evenhand.report.drawing import Dot, Drawing, Margins, Segment, Word
from evenhand.report.page import Chart, LegendKey
from evenhand.report.scales import Decades, Log, tick_text
from evenhand.report.words import epsilon_words, number, shortened, width_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand.report.marks import Axis, Estimate, Level

__all__ = ["levels_chart"]

_APART = 16.0
_HEIGHT = 300.0


def levels_chart(
    axis: Axis,
    levels: Sequence[Level],
    *,
    chosen_epsilon: float | None,
    name: str,
    alt: str,
    caption: str,
) -> Chart:
    """Draw a value of every mechanism against epsilon, both logarithmic.

    A mechanism without an epsilon is a level line. What promises something is in ink and solid, what does not
    is grey and dashed. Nought has a line of its own below the others.

    Parameters
    ----------
    axis : Axis
        Of the values.
    levels : sequence of Level
    chosen_epsilon : float or None
        The value that keeps its label on the axis and is set in bold.
    name, alt, caption : str
        As in :class:`evenhand.report.Chart`.

    Returns
    -------
    Chart

    Raises
    ------
    MissingExtraError
        If altair or vl-convert is not installed.
    """
    wide = _draw(axis, levels, chosen_epsilon, WHOLE)
    narrow = _draw(axis, _short(levels), chosen_epsilon, PHONE)
    keys = []
    if any(level.strong for level in levels):
        keys.append(LegendKey("keeps a promise", "line", "ink"))
    if any(not level.strong for level in levels):
        keys.append(LegendKey("no meaningful guarantee", "dashed", "grey"))
    missing = sum(not math.isfinite(estimate.value) for level in levels for estimate in level.estimates)
    return Chart(
        name=name,
        wide=wide,
        narrow=narrow,
        alt=alt,
        caption=left_out(caption, missing, what="values"),
        data=_data(levels),
        legend=tuple(keys),
    )


def _short(levels: Sequence[Level]) -> list[Level]:
    """Return the levels with names that end before a bracket, where that leaves them distinct."""
    names = [level.label.partition(" (")[0] for level in levels]
    return [
        replace(level, label=name) if names.count(name) == 1 else level
        for level, name in zip(levels, names, strict=True)
    ]


def _draw(axis: Axis, levels: Sequence[Level], chosen: float | None, width: float) -> str:
    height = _HEIGHT
    longest = max((width_of(level.label, bold=level.strong) for level in levels), default=0.0)
    right = min(longest + 18, width * 0.55)
    margins = Margins(50, 30, right, 46)
    drawing = Drawing(width, height + margins.top + margins.bottom, margins)
    drawing.words(
        Word(-margins.left, -margins.top + 13, f"{axis.title}, {axis.unit}", colour="ink2", halo=False)
    )
    values = [estimate.value * axis.times for level in levels for estimate in level.estimates]
    if not any(map(math.isfinite, values)):
        draw_no_values(drawing)
        return drawing.svg()
    up = Decades.over(values, pixels=height, floor=-2)
    below = [value for value in values if math.isfinite(value) and not up.holds(value)]
    up = up.with_room_below() if below else up
    tested = tuple(sorted({each for level in levels for each in level.epsilons}))
    plot = drawing.plot[0]
    across = Log(tested, plot) if tested else None
    lowest = ("0" if max(below) <= 0 else f"< {tick_text(10.0 ** (up.low + 1))}") if below else ""
    grid_up(drawing, up, lowest=lowest)
    ends = []
    for level in levels:
        points = _points(level, axis, across, up, plot)
        if points:
            _line(drawing, level, points)
            ends.append((points[-1].y, level))
    _names(drawing, ends, plot, right)
    if across is not None:
        drawing.rules([Segment(0, height, plot, height)], stroke="ghost", width=1, pixels=True)
        epsilon_axis(drawing, across, chosen=chosen)
    return drawing.svg()


def _points(level: Level, axis: Axis, across: Log | None, up: Decades, plot: float) -> list[Dot]:
    """Return the marks of a mechanism by pixel; two ends of a level line where it has no epsilon."""
    if not level.epsilons or across is None:
        value = level.estimates[0].value * axis.times
        tip = f"{level.label}: {_shown(level.estimates[0], axis)}"
        y = up.pixels - up(value)
        return [Dot(0, y, tip), Dot(plot, y, tip)] if math.isfinite(value) else []
    return [
        Dot(
            across(epsilon),
            up.pixels - up(each.value * axis.times),
            f"{level.label}, {epsilon_words(epsilon)}: {_shown(each, axis)}",
        )
        for epsilon, each in sorted(
            zip(level.epsilons, level.estimates, strict=True), key=lambda pair: pair[0]
        )
        if math.isfinite(each.value)
    ]


def _shown(each: Estimate, axis: Axis) -> str:
    return f"{axis.title} {number(each.value * axis.times, 2 if abs(each.value) < 10 else 0)}"


def _line(drawing: Drawing, level: Level, points: list[Dot]) -> None:
    stroke = "ink" if level.strong else "grey"
    if len(points) > 1:
        segments = [Segment(a.x, a.y, b.x, b.y) for a, b in pairwise(points)]
        dash = () if level.strong else (5, 4)
        drawing.rules(segments, stroke=stroke, width=1.8 if level.strong else 1.4, dash=dash, pixels=True)
    if level.epsilons:
        drawing.dots(points, size=34, fill=stroke)


def _names(drawing: Drawing, ends: Sequence[tuple[float, Level]], plot: float, room: float) -> None:
    """Write the names at the right, moved apart where they would touch, with a thin line to their end."""
    ordered = sorted(ends, key=lambda end: end[0])
    places: list[float] = []
    for y, _ in ordered:
        places.append(max(y, places[-1] + _APART) if places else y)
    over = places[-1] - drawing.plot[1] if places else 0.0
    if over > 0:  # push the names up again from below
        limit = drawing.plot[1]
        for at in range(len(places) - 1, -1, -1):
            places[at] = min(places[at], limit)
            limit = places[at] - _APART
    for (y, level), place in zip(ordered, places, strict=True):
        drawing.rules([Segment(plot, y, plot + 10, place)], stroke="ghost", width=1, pixels=True)
        label = shortened(level.label, room - 14, bold=level.strong)
        shade = "ink" if level.strong else "ink3"
        drawing.words(Word(plot + 13, place + 4, label, "left", shade, 600 if level.strong else 400))


def _data(levels: Sequence[Level]) -> dict[str, list[object]]:
    rows = [
        (level, epsilon, each)
        for level in levels
        for epsilon, each in zip(level.epsilons or [math.nan], level.estimates, strict=True)
    ]
    return {
        "mechanism": [level.label for level, _, _ in rows],
        "meaningful_guarantee": [level.strong for level, _, _ in rows],
        "epsilon": [epsilon for _, epsilon, _ in rows],
        "value": [each.value for _, _, each in rows],
        "low": [each.low for _, _, each in rows],
        "high": [each.high for _, _, each in rows],
    }
