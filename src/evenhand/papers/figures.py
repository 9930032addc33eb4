"""Figures of a reproduction: measures against epsilon, and charts as SVG that need no style sheet."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from evenhand.papers.stored import fill_caption
from evenhand.papers.tables import estimate_measure
from evenhand.report.charts._panels import (
    PHONE,
    draw_no_values,
    epsilon_axis,
    panel_width,
    room_left,
    tick_labels,
    title_words,
)
from evenhand.report.drawing import Dot, Drawing, Margins, Segment
from evenhand.report.marks import Axis, Line, Panel
from evenhand.report.page import Chart, LegendKey
from evenhand.report.scales import Linear, Log
from evenhand.report.svg import rebuilt_each
from evenhand.report.theme import LIGHT, SANS, css_tokens
from evenhand.study.page.wording import mark
from evenhand.study.plan.cells import Setting

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evenhand.papers.published import Published
    from evenhand.report.marks import Estimate
    from evenhand.study.results.results import Results

_GAP, _EDGE, _HEADING, _ROW = 24.0, 16.0, 22.0, 26.0
_SIZE = re.compile(r'<svg width="([0-9.]+)" height="([0-9.]+)"')


@dataclass(frozen=True)
class Curve(Line):
    """A line with the means that the authors published beside ours, not a number where there is none."""

    published: Sequence[float] = ()


def measures_figure(
    results: Results,
    stored: Mapping[str, Any],
    name: str,
    *,
    study: str = "",
    published: Published | None = None,
    **values: Any,
) -> Chart:
    """Return measures against epsilon, a row for each split and a curve for each protocol.

    `stored` is an entry of ``figures.toml`` with measures and their titles, alt and caption, which `values`
    fill; `study` is the name under which runs were published.
    """
    panels = []
    for split in ("uniform", "k-based"):
        own: dict[str, list[Setting]] = {}
        for setting in results.settings:
            if setting.option("split") == split:
                own.setdefault(setting.mechanism, []).append(setting)
        for measure, title in stored["measures"].items():
            lines = [
                measure_line(protocol.upper(), results, settings, measure, study=study, published=published)
                for protocol, settings in own.items()
            ]
            panels.append(Panel(f"{split} split", Axis(title), lines, mark_unprotected(results, measure)))
    return draw_measures(stored, panels, name, **values)


def measure_line(
    label: str,
    results: Results,
    settings: Sequence[Setting],
    measure: str,
    *,
    study: str,
    published: Published | None,
) -> Curve:
    """Return a measure of settings against their epsilons, beside the published means."""
    epsilons = [float(setting.epsilon or 0) for setting in settings]
    found = [mark(estimate_measure(results, setting, measure)) for setting in settings]
    means = [None if published is None else published.mean(study, each, measure) for each in settings]
    theirs = [math.nan if mean is None else mean for mean in means]
    return Curve(label, epsilons, found, published=theirs)


def mark_unprotected(results: Results, measure: str) -> Estimate:
    """Return the unprotected mean of a measure, to be drawn."""
    return mark(estimate_measure(results, Setting(), measure))


def count_repeats(results: Results) -> str:
    """Return how many repeats are finished, of the drawn settings with the fewest and with the most."""
    done = results.arrays.done.sum(axis=1)
    fewest, most = int(done[done > 0].min()), int(done.max())
    if fewest != most:
        return f"{fewest} to {most} repeats"
    return "1 repeat" if most == 1 else f"{most} repeats"


def draw_measures(
    stored: Mapping[str, Any],
    panels: Sequence[Panel],
    name: str,
    *,
    columns: int | None = None,
    **values: Any,
) -> Chart:
    """Return panels of measures against epsilon as a chart, its stored words filled.

    Every curve has a colour, a shape and a name of its own, so that it can be found in the paper's figure;
    published means are hollow. A measure has the same scale in all rows.
    """
    alt, caption = fill_caption(stored, **values)
    rows = list(dict.fromkeys(panel.row for panel in panels))
    labels = dict.fromkeys(line.label for panel in panels for line in panel.lines)
    looks = dict(zip(labels, zip(_COLOURS, _SHAPES, strict=True), strict=False))
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
    if any(math.isfinite(each) for panel in panels for line in panel.lines for each in _published(line)):
        keys.append(LegendKey("hollow: published mean", "circle", "ink2", hollow=True))
    named = tuple(rows) if any(rows) else ()
    wide, narrow = pictures
    data = _tabulate_measures(panels)
    return Chart(name, wide, narrow, alt, caption, data, tuple(keys), rows=named, columns=across)


_COLOURS = ("ink", "g1", "g2", "g3", "g4", "p2", "g5")
_SHAPES = ("circle", "square", "triangle-up", "diamond", "triangle-down", "cross", "triangle-right")
_PLOT_HEIGHT = 170.0


def _published(line: Line) -> Sequence[float]:
    return line.published if isinstance(line, Curve) else ()


def _values_of(panel: Panel) -> list[float]:
    """Return everything that the scale of a panel must hold."""
    ends = [end for line in panel.lines for each in line.estimates for end in each.ends]
    ends += [each for line in panel.lines for each in _published(line)]
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
    epsilon_axis(drawing, scale, chosen=None)
    return drawing.svg()


def _draw_curve(drawing: Drawing, panel: Panel, line: Line, colour: str, shape: str) -> None:
    """Draw a curve with its intervals and marks, and hollow marks for published means."""
    where = f", {panel.row}" if panel.row else ""
    points = [
        (epsilon, each)
        for epsilon, each in sorted(zip(line.epsilons, line.estimates, strict=True), key=lambda pair: pair[0])
        if each.is_finite
    ]
    dots = [
        Dot(epsilon, each.value, f"{line.label}{where}, ε = {epsilon:g}: {each.value:.4f}")
        for epsilon, each in points
    ]
    spans = [(epsilon, each.span()) for epsilon, each in points]
    bars = [Segment(epsilon, span[0], epsilon, span[1]) for epsilon, span in spans if span]
    drawing.rules(bars, stroke=colour, width=1.1, opacity=0.55)
    if len(dots) > 1:
        steps = [Dot(dot.x, dot.y, line.label) for dot in dots]
        drawing.lines([steps], stroke=colour, width=1.4, opacity=0.85)
    drawing.dots(dots, shape=shape, size=32, fill=colour)
    theirs = [
        Dot(epsilon, each, f"{line.label}{where}, ε = {epsilon:g}, published: {each:.4f}")
        for epsilon, each in zip(line.epsilons, _published(line), strict=False)
        if math.isfinite(each)
    ]
    if theirs:
        drawing.dots(theirs, shape=shape, size=70, fill="card", stroke=colour, stroke_width=1.1)
        drawing.dots(dots, shape=shape, size=16, fill=colour)


def _tabulate_measures(panels: Sequence[Panel]) -> dict[str, list[Any]]:
    rows: list[tuple[Any, ...]] = []
    for panel in panels:
        for line in panel.lines:
            theirs = [*_published(line), *[math.nan] * len(line.epsilons)]
            for epsilon, each, mean in zip(line.epsilons, line.estimates, theirs, strict=False):
                paper = mean if math.isfinite(mean) else None
                rows.append(
                    (panel.row, panel.axis.title, line.label, epsilon, each.value, each.low, each.high, paper)
                )
        if panel.baseline:
            base = panel.baseline
            rows.append(
                (panel.row, panel.axis.title, "unprotected", None, base.value, base.low, base.high, None)
            )
    names = ("row", "measure", "line", "epsilon", "value", "low", "high", "published")
    return {column: [row[place] for row in rows] for place, column in enumerate(names)}


def svg_file(chart: Chart) -> str:
    """Return all panels of a chart as one SVG with its legend, its own colours and its words.

    Panels stand side by side, ``chart.columns`` in a row; ``chart.rows`` name the rows.
    """
    panels = rebuilt_each(chart.wide, prefix=re.sub(r"[^a-z0-9]+", "-", chart.name.lower()))
    sizes = [_SIZE.match(panel) for panel in panels]
    wide = max(float(size[1]) for size in sizes if size)
    high = max(float(size[2]) for size in sizes if size)
    named = bool(chart.rows)
    step = high + (_ROW if named else 8)
    rows = -(-len(panels) // chart.columns)
    width = 2 * _EDGE + chart.columns * wide + (chart.columns - 1) * _GAP
    height = 2 * _EDGE + _HEADING + rows * step
    samples = [(_HOLLOW if key.hollow else _SAMPLES).get(key.mark, "") for key in chart.legend]
    keys = "".join(
        f'<tspan dx="{14 if place else 0}" fill="var(--{key.colour})">{samples[place]}</tspan> '
        f"{escape(key.label)}"
        for place, key in enumerate(chart.legend)
    )
    whole = f'width="{width:g}" height="{height:g}"'
    fonts = SANS.replace('"', "'")
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" {whole} viewBox="0 0 {width:g} {height:g}">',
        f"<title>{escape(chart.alt)}</title>",
        f"<style>svg{{{css_tokens(LIGHT)}font-family:{fonts}}}</style>",
        f'<rect {whole} fill="var(--card)"/>',
        f'<text x="{_EDGE:g}" y="{_EDGE + 8:g}" font-size="12px" fill="var(--ink2)">{keys}</text>',
    ]
    for place, panel in enumerate(panels):
        row, column = divmod(place, chart.columns)
        x, y = _EDGE + column * (wide + _GAP), _EDGE + _HEADING + row * step
        if named and not column:
            words = escape(chart.rows[row]) if row < len(chart.rows) else ""
            out.append(
                f'<text x="{x:g}" y="{y + 12:g}" font-size="13px" font-weight="600" '
                f'fill="var(--ink)">{words}</text>'
            )
        out.append(panel.replace("<svg ", f'<svg x="{x:g}" y="{y + (_ROW if named else 0) - 6:g}" ', 1))
    return "".join([*out, "</svg>\n"])


_SAMPLES = {
    "line": "━", "dashed": "┄", "circle": "●", "square": "■", "triangle-up": "▲", "diamond": "◆",
    "triangle-down": "▼", "triangle-right": "▶", "cross": "✚",
}  # fmt: skip
_HOLLOW = {"circle": "○", "square": "□", "triangle-up": "△", "diamond": "◇"}  # letters that look like marks
