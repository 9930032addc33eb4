"""Charts against epsilon: what it buys in evenness, and in each measure."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Any

from evenhand.report.charts._panels import (
    PHONE,
    WHOLE,
    columns_for,
    decade_grid,
    draw_no_values,
    epsilon_axis,
    estimate_columns,
    left_out,
    panel_width,
    room_left,
    tick_labels,
    title_words,
)
from evenhand.report.drawing import Box, Dot, Drawing, Margins, Segment, Word, room_along
from evenhand.report.language import fixed_word
from evenhand.report.page import Chart, LegendKey
from evenhand.report.scales import Decades, Linear, Log, digits_between, tick_text
from evenhand.report.words import epsilon_words, number, value_of, width_of, wrap_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evenhand.report.marks import Axis, Estimate, Level, Line, Panel

# --- what does epsilon buy in evenness? one line for each mechanism --------------------------------

_APART, _LINE = 17.0, 14.0
_HEIGHT = 300.0
_LEFT = 62.0  # as wide as the label of ten million


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
    is grey and dashed. Zero has a line of its own below the others.

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
    wide = _draw_levels(axis, levels, chosen_epsilon, WHOLE)
    narrow = _draw_levels(axis, _short(levels), chosen_epsilon, PHONE)
    keys = []
    if any(level.strong for level in levels):
        keys.append(LegendKey("keeps a promise", "line", "ink"))
    if any(not level.strong for level in levels):
        keys.append(LegendKey("no meaningful guarantee", "dashed", "grey"))
    missing = sum(not estimate.is_finite for level in levels for estimate in level.estimates)
    return Chart(
        name=name,
        wide=wide,
        narrow=narrow,
        alt=alt,
        caption=left_out(caption, missing, what="values"),
        data=_tabulate_levels(levels),
        legend=tuple(keys),
    )


def _short(levels: Sequence[Level]) -> list[Level]:
    """Return the levels with names that end before a bracket, where that leaves them distinct."""
    names = [level.label.partition(" (")[0] for level in levels]
    return [
        replace(level, label=name) if names.count(name) == 1 else level
        for level, name in zip(levels, names, strict=True)
    ]


def _draw_levels(axis: Axis, levels: Sequence[Level], chosen: float | None, width: float) -> str:
    longest = max((width_of(level.label, bold=True) for level in levels), default=0.0)
    right = min(longest + 22, width * 0.55)
    names = [wrap_words(level.label, right - 18, bold=True) for level in levels]
    height = max(_HEIGHT, sum(map(_name_height, names)))
    margins = Margins(_LEFT, 30, right, 46)
    drawing = Drawing(width, height + margins.top + margins.bottom, margins)
    drawing.words(Word(-margins.left, -margins.top + 13, axis.heading(), colour="ink2", halo=False))
    values = [estimate.value * axis.times for level in levels for estimate in level.estimates]
    if not any(map(math.isfinite, values)):
        return draw_no_values(drawing)
    up = Decades.over(values, pixels=height, floor=-2)
    below = [value for value in values if math.isfinite(value) and not up.holds(value)]
    up = up.with_room_below() if below else up
    tested = tuple(sorted({epsilon for level in levels for epsilon in level.epsilons}))
    plot = drawing.plot[0]
    across = Log(tested, plot) if tested else None
    lowest = ("0" if max(below) <= 0 else f"< {tick_text(10.0 ** (up.low + 1))}") if below else ""
    decade_grid(drawing, up, lowest=lowest)
    ends = []
    for level in levels:
        points = _points(level, axis, across, up, plot)
        if points:
            _line(drawing, level, points)
            ends.append((points[-1].y, level, wrap_words(level.label, right - 18, bold=True)))
    _names(drawing, ends, plot)
    if across is not None:
        drawing.rules([Segment(0, height, plot, height)], stroke="ghost", width=1, pixels=True)
        epsilon_axis(drawing, across, chosen=chosen)
    return drawing.svg()


def _points(level: Level, axis: Axis, across: Log | None, up: Decades, plot: float) -> list[Dot]:
    """Return the marks of a mechanism by pixel; two ends of a level line where it has no epsilon."""
    if not level.epsilons or across is None:
        value = level.estimates[0].value * axis.times
        tip = f"{level.label}: {_describe_value(level.estimates[0], axis)}"
        y = up.pixels - up(value)
        return [Dot(0, y, tip), Dot(plot, y, tip)] if math.isfinite(value) else []
    return [
        Dot(
            across(epsilon),
            up.pixels - up(estimate.value * axis.times),
            f"{level.label}, {epsilon_words(epsilon)}: {_describe_value(estimate, axis)}",
        )
        for epsilon, estimate in _in_order(level)
        if estimate.is_finite
    ]


def _describe_value(estimate: Estimate, axis: Axis) -> str:
    return f"{axis.title} {number(estimate.value * axis.times, 2 if abs(estimate.value) < 10 else 0)}"


def _line(drawing: Drawing, level: Level, points: list[Dot]) -> None:
    stroke = "ink" if level.strong else "grey"
    if len(points) > 1:
        segments = [Segment(a.x, a.y, b.x, b.y) for a, b in pairwise(points)]
        dash = () if level.strong else (5, 4)
        drawing.rules(segments, stroke=stroke, width=1.8 if level.strong else 1.4, dash=dash, pixels=True)
    if level.epsilons:
        drawing.dots(points, size=34, fill=stroke)


def _name_height(lines: Sequence[str]) -> float:
    return _LINE * (len(lines) - 1) + _APART


def _names(drawing: Drawing, ends: Sequence[tuple[float, Level, list[str]]], plot: float) -> None:
    """Write whole names at the right, moved apart where they would touch, with a thin line to their end."""
    ordered = sorted(ends, key=lambda end: end[0])
    heights = [_name_height(lines) for *_, lines in ordered]
    tops: list[float] = []
    for (y, *_), height in zip(ordered, heights, strict=True):
        free = tops[-1] + heights[len(tops) - 1] if tops else 0.0
        tops.append(max(y - height / 2, free))
    limit = drawing.plot[1] + _APART / 2
    for at in range(len(tops) - 1, -1, -1):  # push the names up again from below
        tops[at] = min(tops[at], limit - heights[at])
        limit = tops[at]
    for (y, level, lines), top, height in zip(ordered, tops, heights, strict=True):
        middle = top + height / 2
        drawing.rules([Segment(plot, y, plot + 10, middle)], stroke="ghost", width=1, pixels=True)
        look: tuple[str, int] = ("ink", 600) if level.strong else ("ink3", 400)
        for place, line in enumerate(lines):
            drawing.words(Word(plot + 13, top + _APART / 2 + 4 + place * _LINE, line, "left", *look))


def _tabulate_levels(levels: Sequence[Level]) -> dict[str, list[object]]:
    rows = [
        (level, epsilon, estimate)
        for level in levels
        for epsilon, estimate in zip(level.epsilons or [math.nan], level.estimates, strict=True)
    ]
    return {
        "mechanism": [level.label for level, _, _ in rows],
        "meaningful_guarantee": [level.strong for level, _, _ in rows],
        "epsilon": [epsilon for _, epsilon, _ in rows],
        "value": [estimate.value for _, _, estimate in rows],
        "low": [estimate.low for _, _, estimate in rows],
        "high": [estimate.high for _, _, estimate in rows],
    }


# --- what does each epsilon buy? one panel for each measure ----------------------------------------

_PLOT_HEIGHT = 150.0
_PATTERNS: dict[str, tuple[float, ...]] = {"line": (), "dotted": (1.5, 3.5), "dash-dot": (8, 3, 1.5, 3)}
"""The grey lines that a reader can tell apart, by their mark in the legend; dashes are the baseline's."""

_MOST_NAMED = 12


def measures_chart(
    panels: Sequence[Panel],
    *,
    chosen_epsilon: float | None,
    name: str,
    alt: str,
    caption: str,
    base: str = "",
) -> Chart:
    """Draw measures against epsilon as small multiples.

    The protocol in the spotlight is in ink with its intervals, the others are thin and grey, the unprotected
    value is dashed with its interval as a band. A measure has the same scale in all rows. The axis of epsilon
    is logarithmic with a tick at every tested value.

    Parameters
    ----------
    panels : sequence of Panel
        Panels of one row stand side by side, in order of appearance.
    chosen_epsilon : float or None
        The value that keeps its label on the axis and is set in bold.
    name, alt, caption : str
        As in :class:`evenhand.report.Chart`.
    base : str
        What the dashed value is called.

    Returns
    -------
    Chart

    Raises
    ------
    MissingExtraError
        If altair or vl-convert is not installed.
    """
    base = base or fixed_word("chart.unprotected")
    rows = list(dict.fromkeys(panel.row for panel in panels))
    titles = list(dict.fromkeys(panel.axis.title for panel in panels))
    ordered = sorted(panels, key=lambda panel: (rows.index(panel.row), titles.index(panel.axis.title)))
    tested = _tested(panels)
    columns = columns_for(max((sum(panel.row == row for panel in panels) for row in rows), default=1))
    values = {title: _values(panels, title) for title in titles}
    dashes = _dashes(panels)
    pictures = []
    for width in (min(panel_width(columns), 520.0), PHONE):
        drawn = []
        for place, panel in enumerate(ordered):
            first = place == 0 or ordered[place - 1].row != panel.row
            over = values[panel.axis.title]
            named = base if first else ""
            drawn.append(
                _draw_measures(panel, over, tested, chosen_epsilon, width, base=named, dashes=dashes)
            )
        pictures.append("".join(drawn))
    missing = sum(not estimate.is_finite for panel in panels for _, _, estimate in _every(panel))
    return Chart(
        name=name,
        wide=pictures[0],
        narrow=pictures[1],
        alt=alt,
        data=_tabulate_measures(ordered, base),
        caption=left_out(caption, missing, what="values"),
        legend=_legend(panels, base, dashes),
        rows=tuple(rows) if any(rows) else (),
        columns=columns,
    )


def _draw_measures(
    panel: Panel,
    values: list[float],
    tested: tuple[float, ...],
    chosen: float | None,
    width: float,
    *,
    base: str,
    dashes: dict[str, str],
) -> str:
    up = Linear.over(values, pixels=_PLOT_HEIGHT, most_ticks=6, within=panel.axis.limits)
    margins = Margins(room_left(tick_labels(up), least=40), 52, 8, 46)
    plot_width = width - margins.left - margins.right
    height = _PLOT_HEIGHT + margins.top + margins.bottom
    across = Log(tested, plot_width) if tested else None
    drawing = Drawing(width, height, margins, x=across, y=up)
    drawing.words(*title_words(drawing, panel.axis, cut=up.cut))
    if across is None or not values:
        return draw_no_values(drawing)
    _reference(drawing, panel, across, up, name=base)
    digits = digits_between(up.ticks)
    _others(drawing, panel, dashes)
    for line in panel.lines:
        if line.spotlight:
            _spotlight(drawing, panel, line, digits)
    epsilon_axis(drawing, across, chosen=chosen)
    return drawing.svg()


def _reference(drawing: Drawing, panel: Panel, across: Log, up: Linear, *, name: str) -> None:
    """Draw the unprotected value as a dashed line on the band of its interval."""
    base, times = panel.baseline, panel.axis.times
    if base is None or not base.is_finite:
        return
    width, height = drawing.plot
    level = height - up(base.value * times)
    low = top = level
    if band := base.span(times):
        low, top = (height - up(end) for end in band)
        drawing.blocks([Segment(0, top, width, low)], fill="ink", opacity=0.08, pixels=True)
    drawing.rules([Segment(0, level, width, level)], stroke="ink2", width=1.4, dash=(5, 4), pixels=True)
    if name:
        taken = [box for line in panel.lines for box in _covered(line, times, across, up)]
        tops = (top - 18, level - 17, level + 3, low + 3)
        room = room_along(tops, width=width_of(name) + 4, height=15.0, plot=drawing.plot, taken=taken)
        drawing.words(Word(room.left + 2, room.top + 12, name, colour="ink2"))


def _covered(line: Line, times: float, across: Log, up: Linear) -> Iterator[Box]:
    """Yield what a line covers: its marks, their intervals if they are drawn, and the way between them."""
    for piece in _pieces(line):
        at = [(across(epsilon), up.pixels - up(estimate.value * times)) for epsilon, estimate in piece]
        for (x, y), (_, estimate) in zip(at, piece, strict=True):
            limits = (estimate.span(times) or ()) if line.spotlight else ()
            drawn = [up.pixels - up(end) for end in limits] or [y]
            yield Box(x - 3, min(drawn) - 3, 6, max(drawn) - min(drawn) + 6)
        for (x, y), (later, end) in pairwise(at):
            steps = max(2, int((later - x) // 6))
            for step in range(steps + 1):
                share = step / steps
                yield Box(x + share * (later - x) - 3, y + share * (end - y) - 2, 6, 4)


def _draw_lines(
    drawing: Drawing,
    panel: Panel,
    lines: Sequence[Line],
    *,
    stroke: str,
    width: float,
    dash: Sequence[float] = (),
) -> list[list[Dot]]:
    """Draw the stretches of lines, and return those that are a single point."""
    times = panel.axis.times
    pieces = [
        [Dot(epsilon, estimate.value * times, line.label) for epsilon, estimate in piece]
        for line in lines
        for piece in _pieces(line)
    ]
    drawing.lines([piece for piece in pieces if len(piece) > 1], stroke=stroke, width=width, dash=dash)
    return [piece for piece in pieces if len(piece) == 1]


def _others(drawing: Drawing, panel: Panel, dashes: dict[str, str]) -> None:
    """Draw the grey lines: a few by a pattern each, more of them alike, for context."""
    others = [line for line in panel.lines if not line.spotlight]
    for mark in dict.fromkeys(dashes.get(line.label, "line") for line in others):
        alike = [line for line in others if dashes.get(line.label, "line") == mark]
        width = 1.6 if dashes else 1
        alone = _draw_lines(drawing, panel, alike, stroke="grey", width=width, dash=_PATTERNS[mark])
        drawing.dots([dot for piece in alone for dot in piece], size=22, fill="grey")


def _dashes(panels: Sequence[Panel]) -> dict[str, str]:
    """Return the mark of each grey line by its label; none if there are too many to tell apart."""
    others = list(dict.fromkeys(line.label for panel in panels for line in panel.lines if not line.spotlight))
    return dict(zip(others, _PATTERNS, strict=False)) if len(others) <= len(_PATTERNS) else {}


def _spotlight(drawing: Drawing, panel: Panel, line: Line, digits: int) -> None:
    times = panel.axis.times
    _draw_lines(drawing, panel, [line], stroke="ink", width=2.2)
    shown = [point for piece in _pieces(line) for point in piece]
    bars = [(epsilon, estimate.span(times)) for epsilon, estimate in shown]
    drawing.rules([Segment(epsilon, bar[0], epsilon, bar[1]) for epsilon, bar in bars if bar], width=1.4)
    where = f", {panel.row}" if panel.row else ""
    dots = [
        Dot(
            epsilon,
            estimate.value * times,
            f"{line.label}{where}, {epsilon_words(epsilon)}: {panel.axis.title} "
            f"{value_of(estimate, digits, times=times)}",
        )
        for epsilon, estimate in shown
    ]
    drawing.dots(dots, size=34, fill="ink")


def _pieces(line: Line) -> list[list[tuple[float, Estimate]]]:
    """Return the stretches of a line between values that are missing."""
    stretches = groupby(_in_order(line), key=lambda point: point[1].is_finite and _fit(point[0]))
    return [list(stretch) for is_drawn, stretch in stretches if is_drawn]


def _in_order(line: Line | Level) -> list[tuple[float, Estimate]]:
    return sorted(zip(line.epsilons, line.estimates, strict=True), key=lambda point: point[0])


def _every(panel: Panel) -> Iterator[tuple[Line, float, Estimate]]:
    for line in panel.lines:
        for epsilon, estimate in zip(line.epsilons, line.estimates, strict=True):
            yield line, epsilon, estimate


def _tested(panels: Sequence[Panel]) -> tuple[float, ...]:
    return tuple(sorted({epsilon for panel in panels for _, epsilon, _ in _every(panel) if _fit(epsilon)}))


def _fit(epsilon: float) -> bool:
    return epsilon > 0 and math.isfinite(epsilon)


def _values(panels: Sequence[Panel], title: str) -> list[float]:
    """Return everything that the scale of a measure must hold, over all rows."""
    values = []
    for panel in panels:
        if panel.axis.title == title:
            shown = [mark.ends if line.spotlight else (mark.value,) for line, _, mark in _every(panel)]
            shown += [panel.baseline.ends] if panel.baseline else []
            values += [end * panel.axis.times for group in shown for end in group if math.isfinite(end)]
    return values


def _legend(panels: Sequence[Panel], base: str, dashes: dict[str, str]) -> tuple[LegendKey, ...]:
    labels = {line.label: line.spotlight for panel in panels for line in panel.lines}
    spotlight = [label for label, lit in labels.items() if lit]
    others = [label for label, lit in labels.items() if not lit]
    lit = [estimate for panel in panels for line, _, estimate in _every(panel) if line.spotlight]
    bars = fixed_word("chart.bars") if any(estimate.span() for estimate in lit) else ""
    keys = [LegendKey(f"{label}{bars}", "line", "ink") for label in spotlight]
    keys += [LegendKey(label, dashes[label], "grey") for label in others if label in dashes]
    if others and not dashes:
        named = ", ".join(others) if len(others) <= _MOST_NAMED else f"{', '.join(others[:_MOST_NAMED])}, …"
        keys.append(LegendKey(fixed_word("chart.context", count=len(others), names=named), "line", "grey"))
    bases = [panel.baseline for panel in panels if panel.baseline and panel.baseline.is_finite]
    if bases:
        band = fixed_word("chart.band") if any(estimate.span() for estimate in bases) else ""
        keys.append(LegendKey(f"{base}{band}", "dashed", "ink2"))
    return tuple(keys)


def _tabulate_measures(panels: Sequence[Panel], base: str) -> dict[str, list[Any]]:
    rows: list[tuple[Panel, str, float | None, Estimate]] = []
    for panel in panels:
        rows += [(panel, line.label, epsilon, estimate) for line, epsilon, estimate in _every(panel)]
        rows += [(panel, base, None, panel.baseline)] if panel.baseline else []
    times = [panel.axis.times for panel, *_ in rows]
    values = estimate_columns("value", [estimate for *_, estimate in rows], times=times)
    return {
        "row": [panel.row for panel, *_ in rows],
        "measure": [panel.axis.title for panel, *_ in rows],
        "unit": [panel.axis.unit for panel, *_ in rows],
        "line": [label for _, label, _, _ in rows],
        "epsilon": [epsilon for _, _, epsilon, _ in rows],
        **dict(zip(("value", "low", "high"), values.values(), strict=True)),
    }
