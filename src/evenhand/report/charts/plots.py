"""Panels of lines and marks whose looks are told one by one."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from evenhand.report.charts._panels import PHONE, panel_width, title_words
from evenhand.report.drawing import Dot, Drawing, Margins, Segment, Word
from evenhand.report.marks import Axis
from evenhand.report.page import Chart
from evenhand.report.scales import Linear

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand.report.page import LegendKey

_HEIGHT = 190.0


@dataclass(frozen=True)
class Look:
    """How a series is called and drawn.

    `colour` is a token of the theme, `shape` that of its marks, none for a line alone. Marks have the colour
    of the line as `fill` and no `edge` unless told.
    """

    label: str
    colour: str
    shape: str = ""
    line: bool = True
    dash: bool = False
    fill: str = ""
    edge: str = ""
    size: float = 34
    edge_width: float = 1.3
    width: float = 1.6
    opacity: float = 0.9


@dataclass(frozen=True)
class Series:
    """Values against places, with what each says when one rests on it, and what the line says."""

    look: Look
    x: Sequence[float]
    y: Sequence[float]
    tips: Sequence[str] = ()
    label: str = ""
    says: str = ""

    @property
    def name(self) -> str:
        """What it is called: its own label, or that of its look."""
        return self.label or self.look.label


@dataclass(frozen=True)
class Plot:
    """One panel.

    `words` are its title, the unit below that, and what is under the axis across. The last of the `series` is
    on top. `levels` are dashed lines across, `bars` upright grey lines (x, low, high), `ticks` those of the
    axis across, by default round numbers. No value is above `most`; `margins` are left, above, right, below.
    """

    words: Sequence[str]
    series: Sequence[Series]
    levels: Sequence[float] = ()
    from_zero: bool = False
    ticks: tuple[float, ...] = ()
    bars: Sequence[tuple[float, float, float]] = field(default=())
    most: float = math.inf
    margins: tuple[float, float, float, float] = (70, 52, 14, 46)


def plots_chart(
    plots: Sequence[Plot],
    name: str,
    *,
    alt: str,
    caption: str,
    legend: tuple[LegendKey, ...],
    columns: int | None = None,
    data: dict[str, list[Any]] | None = None,
) -> Chart:
    """Return panels, so many side by side, as a chart; its `data` are those of the series unless told."""
    across = columns or len(plots)
    wide, narrow = (
        "".join(_picture(plot, width) for plot in plots) for width in (panel_width(across), PHONE)
    )
    return Chart(name, wide, narrow, alt, caption, data or _values(plots), legend, columns=across)


def _values(plots: Sequence[Plot]) -> dict[str, list[Any]]:
    rows = [
        (plot.words[0], series.name, x, y)
        for plot in plots
        for series in plot.series
        for x, y in zip(series.x, series.y, strict=True)
    ]
    names = ("panel", "line", "at", "value")
    return {name: [row[place] for row in rows] for place, name in enumerate(names)}


def _picture(plot: Plot, width: float) -> str:
    margins = Margins(*plot.margins)
    plot_width = width - margins.left - margins.right
    places = [x for series in plot.series for x in series.x]
    values = [y for series in plot.series for y in series.y]
    values += [*plot.levels, *(end for bar in plot.bars for end in bar[1:])]
    if plot.ticks:
        room = 0.06 * (plot.ticks[-1] - plot.ticks[0])
        scale = Linear(plot.ticks[0] - room, plot.ticks[-1] + room, plot.ticks, plot_width)
    else:
        scale = Linear.over(places, pixels=plot_width, most_ticks=5)
    up = Linear.over(
        values, pixels=_HEIGHT, from_zero=plot.from_zero, margin=0.06, within=(-math.inf, plot.most)
    )
    drawing = Drawing(width, _HEIGHT + margins.top + margins.bottom, margins, x=scale, y=up)
    drawing.words(*title_words(drawing, Axis(plot.words[0], plot.words[1]), cut=False))
    drawing.words(Word(plot_width, _HEIGHT + 38, plot.words[2], "right", "ink3", halo=False))
    drawing.rules([Segment(x, low, x, high) for x, low, high in plot.bars], stroke="grey", width=1.6)
    drawing.rules(
        [Segment(scale.low, y, scale.high, y) for y in plot.levels], stroke="ink2", width=1.2, dash=(5, 4)
    )
    for series in plot.series:
        _draw(drawing, series)
    return drawing.svg()


def _draw(drawing: Drawing, series: Series) -> None:
    look = series.look
    tips = series.tips or [f"{series.name}, {x:g}: {y:,.4g}" for x, y in zip(series.x, series.y, strict=True)]
    dots = [Dot(x, y, tip) for x, y, tip in zip(series.x, series.y, tips, strict=True)]
    if look.dash:
        steps = [Segment(a.x, a.y, b.x, b.y) for a, b in pairwise(dots)]
        drawing.rules(steps, stroke=look.colour, width=look.width, dash=(5, 4))
    elif look.line:
        line = [Dot(dot.x, dot.y, series.says or series.name) for dot in dots]
        drawing.lines([line], stroke=look.colour, width=look.width, opacity=look.opacity)
    if look.shape:
        drawing.dots(
            dots,
            shape=look.shape,
            size=look.size,
            fill=look.fill or look.colour,
            stroke=look.edge or None,
            stroke_width=look.edge_width,
        )
