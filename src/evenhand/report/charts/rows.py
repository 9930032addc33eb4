"""Bars from zero: how a sum is made up."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from evenhand.report.charts._panels import (
    PHONE,
    draw_no_values,
    estimate_columns,
    left_out,
    title_words,
)
from evenhand.report.drawing import Drawing, Margins, Segment, Word
from evenhand.report.page import Chart
from evenhand.report.scales import digits_between
from evenhand.report.words import interval_of, number, shortened, value_of, width_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evenhand.report.marks import Axis, Bar

_ROW, _LINE = 46.0, 17.0
_WIDE = 500.0


def bars_chart(axis: Axis, bars: Sequence[Bar], *, name: str, alt: str, caption: str) -> Chart:
    """Draw bars from zero with the label above and the number at the end of each.

    Where the numbers would leave less than half of the width to the bars, they stand below them.

    Parameters
    ----------
    axis : Axis
    bars : sequence of Bar
        Strong bars are in ink, the others are grey; an interval is a thin line over the end of the bar.
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
    shown = [bar for bar in bars if bar.estimate.is_finite]
    wide, narrow = (_draw_bars(axis, shown, width) for width in (_WIDE, PHONE))
    data: dict[str, list[Any]] = {
        "label": [bar.label for bar in bars],
        **estimate_columns(axis.column(otherwise="value"), [bar.estimate for bar in bars], times=axis.times),
    }
    caption = left_out(caption, len(bars) - len(shown), what="bars")
    return Chart(name, wide, narrow, alt, caption, data)


def _draw_bars(axis: Axis, bars: Sequence[Bar], width: float) -> str:
    values = [end * axis.times for bar in bars for end in bar.estimate.ends]
    digits = digits_between(values)
    numbers = [_number(bar, axis, digits) for bar in bars]
    room = max([width_of(" ".join(each), bold=True) for each in numbers], default=0.0) + 14
    falling = [bar.estimate.value < 0 for bar in bars]  # whose numbers stand on the left
    left, right = room * any(falling), room * (not all(falling))
    is_below = left + right > width / 2
    if is_below:
        left = right = 0.0
    height = _ROW + _LINE * is_below
    margins = Margins(0, 44, 0, 4)
    drawing = Drawing(width, margins.top + margins.bottom + max(len(bars), 1) * height, margins, grid="x")
    drawing.words(*title_words(drawing, axis, cut=False))
    if not bars:
        return draw_no_values(drawing)
    least, most = min([*values, 0.0]), max([*values, 0.0])
    length = (width - left - right) / ((most - least) or 1.0)

    def pixel(value: float) -> float:
        return left + (value * axis.times - least) * length

    tops = [place * height for place in range(len(bars))]
    _blocks(drawing, axis, bars, tops, pixel, digits)
    _intervals(drawing, bars, tops, pixel)
    for bar, top, (value, interval) in zip(bars, tops, numbers, strict=True):
        drawing.words(Word(0, top + 11, shortened(bar.label, drawing.width), colour="ink2", halo=False))
        if is_below:
            drawing.words(*_figures(0.0, top + 30 + _LINE, value, interval, width=width))
        else:
            drawing.words(*_figures_at_end(bar, top + 30, pixel, value, interval))
    start = [Segment(pixel(0.0), top + 16, pixel(0.0), top + 36) for top in tops]
    drawing.rules(start, stroke="ghost", width=1, pixels=True)
    return drawing.svg()


def _number(bar: Bar, axis: Axis, digits: int) -> tuple[str, str]:
    between = bar.estimate.span(axis.times)
    return number(bar.estimate.value * axis.times, digits), interval_of(*between, digits) if between else ""


def _blocks(
    drawing: Drawing,
    axis: Axis,
    bars: Sequence[Bar],
    tops: Sequence[float],
    pixel: Callable[[float], float],
    digits: int,
) -> None:
    for strong in (False, True):
        blocks = []
        for bar, top in zip(bars, tops, strict=True):
            if bar.strong == strong:
                low, high = sorted((pixel(0.0), pixel(bar.estimate.value)))
                tip = f"{bar.label}: {value_of(bar.estimate, digits, times=axis.times)}"
                blocks.append(Segment(low, top + 18, max(high, low + 1.5), top + 33, tip))
        drawing.blocks(blocks, fill="ink" if strong else "grey", radius=2, pixels=True)


def _intervals(
    drawing: Drawing, bars: Sequence[Bar], tops: Sequence[float], pixel: Callable[[float], float]
) -> None:
    """Draw intervals as thin lines over the ends of the bars, set off from them by the colour of the card."""
    spans = [(bar.estimate.span(), top + 25.5) for bar, top in zip(bars, tops, strict=True)]
    lines = [Segment(pixel(between[0]), y, pixel(between[1]), y) for between, y in spans if between]
    drawing.rules(lines, stroke="card", width=4, pixels=True)
    drawing.rules(lines, stroke="ink3", width=1.6, pixels=True)


def _figures_at_end(
    bar: Bar, y: float, pixel: Callable[[float], float], value: str, interval: str
) -> list[Word]:
    """Return the number beyond the end of the bar and of its interval, on the side where the bar ends."""
    places = [pixel(end) for end in bar.estimate.ends]
    if bar.estimate.value < 0:
        at = min(places) - 8
        bold = Word(at - (width_of(interval) + 4 if interval else 0), y, value, "right", "ink", 600)
        return [bold, Word(at, y, interval, "right", "ink3")][: 2 if interval else 1]
    return _figures(max(places) + 8, y, value, interval)


def _figures(x: float, y: float, value: str, interval: str, *, width: float = math.inf) -> list[Word]:
    """Return a number with its interval behind it, which is cut where it does not fit the width."""
    value = shortened(value, width, bold=True)
    after = x + width_of(value, bold=True) + 4
    thin = Word(after, y, shortened(interval, width - after), colour="ink3")
    return [Word(x, y, value, colour="ink", weight=600), thin][: 2 if interval else 1]
