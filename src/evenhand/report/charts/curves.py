"""Measures against epsilon with many named curves, and published means beside ours."""

from __future__ import annotations

import math
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from evenhand.report.charts._panels import (
    PHONE,
    draw_no_values,
    epsilon_axis,
    panel_width,
    room_left,
    split_at_gaps,
    tick_labels,
    title_words,
)
from evenhand.report.drawing import Dot, Drawing, Margins, Segment
from evenhand.report.marks import Line
from evenhand.report.page import Chart, LegendKey
from evenhand.report.scales import Linear, Log

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evenhand.report.marks import Panel

_COLOURS = ("ink", "g1", "g2", "g3", "g4", "p2", "g5")
_SHAPES = ("circle", "square", "triangle-up", "diamond", "triangle-down", "cross", "triangle-right")
_PLOT_HEIGHT = 170.0


@dataclass(frozen=True)
class Curve(Line):
    """A line with the means that the authors published beside ours, not a number where there is none."""

    published: Sequence[float] = ()


def curves_chart(
    panels: Sequence[Panel], name: str, *, alt: str, caption: str, columns: int | None = None
) -> Chart:
    """Return panels of measures against epsilon as a chart, so many side by side.

    Every curve has a name and a look of its own, and a gap where a value is missing; published means are
    hollow. A measure has the same scale in all rows.
    """
    rows = list(dict.fromkeys(panel.row for panel in panels))
    labels = dict.fromkeys(line.label for panel in panels for line in panel.lines)
    looks = {label: _look_at(place) for place, label in enumerate(labels)}
    tested = tuple(sorted({epsilon for panel in panels for line in panel.lines for epsilon in line.epsilons}))
    across = columns or max(sum(panel.row == row for panel in panels) for row in rows)
    scales: dict[str, list[float]] = {}
    for panel in panels:
        scales.setdefault(panel.axis.title, []).extend(_values_of(panel))
    pictures = [
        "".join(_measure_picture(panel, scales[panel.axis.title], tested, looks, width) for panel in panels)
        for width in (min(panel_width(min(across, 4)), 520.0), PHONE)
    ]
    keys = [LegendKey(label, shape, colour) for label, (colour, shape) in looks.items()]
    if any(panel.baseline for panel in panels):
        band = any(panel.baseline and panel.baseline.span() for panel in panels)
        keys.append(LegendKey("unprotected, with its band" if band else "unprotected", "dashed", "ink2"))
    if any(math.isfinite(mean) for panel in panels for line in panel.lines for mean in _published(line)):
        keys.append(LegendKey("hollow: published mean", "circle", "ink2", hollow=True))
    named = tuple(rows) if any(rows) else ()
    wide, narrow = pictures
    data = _tabulate_measures(panels)
    return Chart(name, wide, narrow, alt, caption, data, tuple(keys), rows=named, columns=across)


def _look_at(place: int) -> tuple[str, str]:
    """Return the colour and the shape of a curve by its place; from the eighth on they pair up anew."""
    again, first = divmod(place, len(_COLOURS))
    return _COLOURS[first], _SHAPES[(first + again) % len(_SHAPES)]


def _published(line: Line) -> Sequence[float]:
    return line.published if isinstance(line, Curve) else ()


def _values_of(panel: Panel) -> list[float]:
    """Return everything that the scale of a panel must hold."""
    ends = [end for line in panel.lines for estimate in line.estimates for end in estimate.ends]
    ends += [mean for line in panel.lines for mean in _published(line)]
    ends += panel.baseline.ends if panel.baseline else ()
    return [end for end in ends if math.isfinite(end)]


def _measure_picture(
    panel: Panel,
    values: list[float],
    tested: tuple[float, ...],
    looks: Mapping[str, tuple[str, str]],
    width: float,
) -> str:
    up = Linear.over(values, pixels=_PLOT_HEIGHT, most_ticks=6, within=panel.axis.limits)
    margins = Margins(room_left(tick_labels(up), least=40), 52, 10, 46)
    plot = width - margins.left - margins.right
    scale = Log(tested, plot) if tested else None
    drawing = Drawing(width, _PLOT_HEIGHT + margins.top + margins.bottom, margins, x=scale, y=up)
    drawing.words(*title_words(drawing, panel.axis, cut=up.cut))
    if scale is None or not values:
        return draw_no_values(drawing)
    if panel.baseline and panel.baseline.is_finite:
        level = _PLOT_HEIGHT - up(panel.baseline.value)
        if band := panel.baseline.span():
            low, high = (_PLOT_HEIGHT - up(end) for end in band)
            drawing.blocks([Segment(0, high, plot, low)], fill="ink", opacity=0.08, pixels=True)
        drawing.rules([Segment(0, level, plot, level)], stroke="ink2", width=1.4, dash=(5, 4), pixels=True)
    for line in panel.lines:
        _draw_curve(drawing, panel, line, *looks[line.label])
    epsilon_axis(drawing, scale)
    return drawing.svg()


def _draw_curve(drawing: Drawing, panel: Panel, line: Line, colour: str, shape: str) -> None:
    """Draw a curve with its intervals and marks, and hollow marks for published means."""
    where = f", {panel.row}" if panel.row else ""
    points = sorted(zip(line.epsilons, line.estimates, strict=True), key=itemgetter(0))
    runs = split_at_gaps(points, lambda point: point[1].is_finite)
    dots = [
        Dot(epsilon, estimate.value, f"{line.label}{where}, ε = {epsilon:g}: {estimate.value:.4f}")
        for run in runs
        for epsilon, estimate in run
    ]
    spans = [(epsilon, estimate.span()) for run in runs for epsilon, estimate in run]
    bars = [Segment(epsilon, span[0], epsilon, span[1]) for epsilon, span in spans if span]
    drawing.rules(bars, stroke=colour, width=1.1, opacity=0.55)
    steps = [
        [Dot(epsilon, estimate.value, line.label) for epsilon, estimate in run]
        for run in runs
        if len(run) > 1
    ]
    drawing.lines([step for step in steps if len(step) > 1], stroke=colour, width=1.4, opacity=0.85)
    drawing.dots(dots, shape=shape, size=32, fill=colour)
    theirs = [
        Dot(epsilon, mean, f"{line.label}{where}, ε = {epsilon:g}, published: {mean:.4f}")
        for epsilon, mean in zip(line.epsilons, _published(line), strict=False)
        if math.isfinite(mean)
    ]
    if theirs:
        drawing.dots(theirs, shape=shape, size=70, fill="card", stroke=colour, stroke_width=1.1)
        drawing.dots(dots, shape=shape, size=16, fill=colour)


def _tabulate_measures(panels: Sequence[Panel]) -> dict[str, list[Any]]:
    rows: list[tuple[Any, ...]] = []
    for panel in panels:
        for line in panel.lines:
            theirs = [*_published(line), *[math.nan] * len(line.epsilons)]
            for epsilon, own, mean in zip(line.epsilons, line.estimates, theirs, strict=False):
                paper = mean if math.isfinite(mean) else None
                rows.append(
                    (panel.row, panel.axis.title, line.label, epsilon, own.value, own.low, own.high, paper)
                )
        if panel.baseline:
            base = panel.baseline
            rows.append(
                (panel.row, panel.axis.title, "unprotected", None, base.value, base.low, base.high, None)
            )
    names = ("row", "measure", "line", "epsilon", "value", "low", "high", "published")
    return {column: [row[place] for row in rows] for place, column in enumerate(names)}
