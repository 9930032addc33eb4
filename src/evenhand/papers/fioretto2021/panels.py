"""Panels of lines and marks for the figures of fioretto2021."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from evenhand.report.charts._panels import PHONE, panel_width, title_words
from evenhand.report.drawing import Dot, Drawing, Margins, Segment, Word
from evenhand.report.marks import Axis
from evenhand.report.page import Chart
from evenhand.report.scales import Linear

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand.report.page import LegendKey

__all__ = ["Look", "Plot", "Series", "chart_of"]

_HEIGHT = 190.0
_EDGE = "p-line"


@dataclass(frozen=True)
class Look:
    """How a series is drawn.

    Parameters
    ----------
    colour : str
        A token of the theme.
    shape : str
        Of its marks; nothing for a line alone.
    line : bool
    hollow : bool
        Whether marks are only an outline.
    """

    colour: str
    shape: str = ""
    line: bool = True
    hollow: bool = False


@dataclass(frozen=True)
class Series:
    """Values against places, with what each says when one rests on it."""

    label: str
    x: Sequence[float]
    y: Sequence[float]
    look: Look
    tips: Sequence[str] = ()


@dataclass(frozen=True)
class Plot:
    """One panel.

    Parameters
    ----------
    title, unit, axis : str
        Above, below that, and under the axis across.
    series : sequence of Series
        The last is on top.
    levels : sequence of float
        Dashed lines across.
    from_zero : bool
        Whether the axis upwards has 0.
    ticks : tuple of float
        Of the axis across; by default round numbers.
    bars : sequence of (x, low, high)
        Upright grey lines.
    most : float
        What no value is above.
    """

    title: str
    unit: str
    axis: str
    series: Sequence[Series]
    levels: Sequence[float] = ()
    from_zero: bool = False
    ticks: tuple[float, ...] = ()
    bars: Sequence[tuple[float, float, float]] = field(default=())
    most: float = math.inf


def chart_of(
    plots: Sequence[Plot],
    *,
    name: str,
    alt: str,
    caption: str,
    legend: Sequence[LegendKey],
    columns: int | None = None,
) -> Chart:
    """Return panels side by side as a chart, with the values behind them.

    Parameters
    ----------
    plots : sequence of Plot
    name, alt, caption : str
    legend : sequence of LegendKey
    columns : int, optional
        How many panels stand side by side; all of them by default.
    """
    across = columns or len(plots)
    wide, narrow = (
        "".join(_picture(plot, width) for plot in plots) for width in (panel_width(across), PHONE)
    )
    rows = [
        (plot.title, each.label, x, y)
        for plot in plots
        for each in plot.series
        for x, y in zip(each.x, each.y, strict=True)
    ]
    data: dict[str, list[Any]] = {
        column: [row[place] for row in rows] for place, column in enumerate(("panel", "line", "at", "value"))
    }
    return Chart(
        name=name,
        wide=wide,
        narrow=narrow,
        alt=alt,
        caption=caption,
        data=data,
        legend=tuple(legend),
        columns=across,
    )


def _picture(plot: Plot, width: float) -> str:
    margins = Margins(70, 52, 14, 46)
    plot_width = width - margins.left - margins.right
    places = [x for each in plot.series for x in each.x]
    values = [y for each in plot.series for y in each.y]
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
    drawing.words(*title_words(drawing, Axis(plot.title, plot.unit), cut=False))
    drawing.words(Word(plot_width, _HEIGHT + 38, plot.axis, "right", "ink3", halo=False))
    drawing.rules([Segment(x, low, x, high) for x, low, high in plot.bars], stroke="grey", width=1.6)
    drawing.rules(
        [Segment(scale.low, y, scale.high, y) for y in plot.levels], stroke="ink2", width=1.2, dash=(5, 4)
    )
    for each in plot.series:
        _draw(drawing, each)
    return drawing.svg()


def _draw(drawing: Drawing, series: Series) -> None:
    look = series.look
    tips = series.tips or [
        f"{series.label}, {x:g}: {y:,.4g}" for x, y in zip(series.x, series.y, strict=True)
    ]
    dots = [Dot(x, y, tip) for x, y, tip in zip(series.x, series.y, tips, strict=True)]
    if look.line:
        told = [Dot(dot.x, dot.y, series.label) for dot in dots]
        drawing.lines([told], stroke=look.colour, width=1.6, opacity=0.9)
    if look.shape:
        drawing.dots(
            dots,
            shape=look.shape,
            size=34,
            fill="card" if look.hollow else look.colour,
            stroke=look.colour if look.hollow else None,
            stroke_width=1.3,
        )
