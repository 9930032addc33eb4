"""The chart of sums over time: what was spent, step by step, against what may be spent."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from evenhand.report.charts._panels import PHONE, panel_width, room_left, tick_labels, title_words
from evenhand.report.drawing import Dot, Drawing, Margins, Segment, Word
from evenhand.report.page import Chart, LegendKey
from evenhand.report.scales import Linear
from evenhand.report.words import shortened, width_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from evenhand.report.marks import Moment, Sums

_LAST_YEAR = 9999  # that a date can have
_HEIGHT = 320.0
_MOST_DOTS = 60  # more would hide the line
_LEAST_SPAN, _DAY = 3600.0, 86_400.0  # seconds
_MINUTES = (1, 5, 15, 30, 60, 180, 360, 720)
_DAYS = (1, 2, 7, 14)
_MONTHS = (1, 3, 6, 12, 24, 60, 120, 240, 600, 1200, 12_000)


def steps_chart(
    panels: Sequence[Sums],
    *,
    marks: Mapping[str, LegendKey],
    legend: Sequence[LegendKey],
    across: str,
    name: str,
    alt: str,
    caption: str,
    data: Mapping[str, Sequence[Any]],
) -> Chart:
    """Draw sums that grow step by step over time, each with its limit as a dashed line.

    Parameters
    ----------
    panels : sequence of Sums
        One panel for each, of the same time.
    marks : mapping of str to LegendKey
        How moments of each kind look that are not ordinary steps.
    legend : sequence of LegendKey
    across : str
        What the axis of time is called.
    name, alt, caption, data
        As in :class:`evenhand.report.Chart`.

    Returns
    -------
    Chart

    Raises
    ------
    MissingExtraError
        If altair or vl-convert is not installed.
    """
    wide, narrow = (
        "".join(_draw(panel, width, marks, across) for panel in panels)
        for width in (panel_width(len(panels)), PHONE)
    )
    return Chart(name, wide, narrow, alt, caption, data, legend, columns=len(panels))


def _draw(panel: Sums, width: float, marks: Mapping[str, LegendKey], across: str) -> str:
    values = [panel.limit, *(moment.value for moment in panel.moments)]
    up = Linear.over(values, pixels=1.0, from_zero=True, margin=0.0)
    margins = Margins(room_left(tick_labels(up), least=30), 74, 12, 42)
    drawing = Drawing(width, _HEIGHT, margins)
    drawing.y = Linear(up.low, up.high, up.ticks, drawing.plot[1])
    drawing.words(*title_words(drawing, panel.axis, cut=False))
    low, high = _span(panel.moments)
    scale = drawing.plot[0] / (high - low)

    def pixel(at: float) -> float:
        return (at - low) * scale

    _draw_time(drawing, low, high, across)
    _draw_breaks(drawing, [(pixel(at), label) for at, label in panel.breaks if low < at < high])
    drawing.rules([Segment(0, panel.limit, drawing.plot[0], panel.limit)], stroke="ink2", dash=(5, 4))
    steps = [Dot(pixel(moment.at), moment.value, moment.tip) for moment in panel.moments]
    drops = [pixel(at) for at, _ in panel.breaks]
    drawing.lines([_corners(_thinned(steps), drops, drawing.plot[0])], stroke="ink", width=2.2)
    if len(steps) <= _MOST_DOTS:
        plain = [dot for dot, moment in zip(steps, panel.moments, strict=True) if not moment.kind]
        drawing.dots(plain[1:], size=22, fill="ink")
    for kind, look in marks.items():
        dots = [dot for dot, moment in zip(steps, panel.moments, strict=True) if moment.kind == kind]
        fill = "card" if look.hollow else look.colour
        drawing.dots(
            _thinned(dots), shape=look.mark, size=90, fill=fill, stroke=look.colour, stroke_width=1.8
        )
    label = shortened(panel.limit_label, drawing.plot[0])
    height = drawing.plot[1] - drawing.y(panel.limit)
    drawing.words(Word(drawing.plot[0], height - 6, label, "right", "ink2", halo=True))
    return drawing.svg()


def _span(moments: Sequence[Moment]) -> tuple[float, float]:
    """Return the times at both ends, an hour apart or more."""
    low, high = moments[0].at, moments[-1].at
    air = max(_LEAST_SPAN - (high - low), 0.0) / 2
    return low - air, high + max(air, 0.02 * (high - low))


def _thinned(dots: Sequence[Dot]) -> list[Dot]:
    """Return the last dot of each half pixel: what lies between would not be seen."""
    return list({round(2 * dot.x): dot for dot in dots}.values())


def _corners(steps: Sequence[Dot], drops: Sequence[float], end: float) -> list[Dot]:
    """Return the corners of a line that is level between steps, and begins at zero again at each drop."""
    first, *others = steps
    corners, value, ahead = [Dot(first.x, first.y, first.tip)], first.y, [x for x in drops if x > first.x]
    for step in others:
        while ahead and ahead[0] <= step.x:
            place = ahead.pop(0)
            corners += [Dot(place, value), Dot(place, 0.0)]
            value = 0.0
        corners += [Dot(step.x, value), Dot(step.x, step.y)]
        value = step.y
    return [*corners, Dot(end, value)]


def _draw_breaks(drawing: Drawing, breaks: Sequence[tuple[float, str]]) -> None:
    """Draw an upright line where the sum begins anew; labels that would touch are dropped, lines are not."""
    height = drawing.plot[1]
    drawing.rules([Segment(x, -20, x, height) for x, _ in breaks], stroke="ghost", width=1, pixels=True)
    free = 0.0
    for x, label in breaks:
        if x + 4 >= free and x + 4 + width_of(label) <= drawing.plot[0]:
            drawing.words(Word(x + 4, -22, label, "left", "ink3", halo=False))
            free = x + 8 + width_of(label)


def _draw_time(drawing: Drawing, low: float, high: float, across: str) -> None:
    width, height = drawing.plot
    drawing.rules([Segment(0, height, width, height)], stroke="ghost", width=1, pixels=True)
    ticks = time_ticks(low, high, most=max(2, int(width // 104)))
    places = [((at - low) / (high - low) * width, label) for at, label in ticks]
    drawing.rules(
        [Segment(x, height, x, height + 4) for x, _ in places], stroke="ghost", width=1, pixels=True
    )
    for x, label in places:
        half = width_of(label) / 2
        at = min(max(x, half - drawing.margins.left), width + drawing.margins.right - half)
        drawing.words(Word(at, height + 18, label, "center", "ink3", halo=False))
    day = datetime.fromtimestamp(high, UTC).strftime(" (%Y-%m-%d)") if high - low < _DAY else ""
    drawing.words(Word(width, height + 36, f"{across}{day}", "right", "ink3", halo=False))


def time_ticks(low: float, high: float, *, most: int) -> list[tuple[float, str]]:
    """Return round times between two, in seconds since 1970 (UTC), each with its label.

    >>> day = 86_400.0
    >>> [label for _, label in time_ticks(20_000 * day, 20_003 * day, most=4)]
    ['2024-10-04', '2024-10-05', '2024-10-06', '2024-10-07']
    >>> [label for _, label in time_ticks(20_000 * day, 20_400 * day, most=4)]
    ['2025-01', '2025-04', '2025-07', '2025-10']
    """
    ticks: list[tuple[float, str]] = []
    for ticks in _candidates(low, high, most):
        if len(ticks) <= most:
            break
    return ticks


def _candidates(low: float, high: float, most: int) -> Iterator[list[tuple[float, str]]]:
    """Yield ticks that are ever further apart, none of them far more than are asked for."""
    start = datetime.fromtimestamp(low, UTC)
    for minutes in _MINUTES:
        step = 60.0 * minutes
        if (high - low) / step <= 2 * most:
            form = "%H:%M" if high - low < _DAY else "%Y-%m-%d %H:%M"
            yield _labels((step * n for n in range(-int(-low // step), int(high // step) + 1)), form)
    for days in _DAYS:
        step = _DAY * days
        if (high - low) / step <= 2 * most:
            yield _labels((step * n for n in range(-int(-low // step), int(high // step) + 1)), "%Y-%m-%d")
    for months in _MONTHS:
        form = "%Y" if months >= 12 else "%Y-%m"
        yield _labels((at for at in _months(start, high, months) if low <= at <= high), form)


def _months(start: datetime, high: float, step: int) -> Iterator[float]:
    number = (start.year * 12 + start.month - 1) // step * step
    while number // 12 <= _LAST_YEAR:
        at = datetime(number // 12, number % 12 + 1, 1, tzinfo=UTC).timestamp() if number >= 12 else 0.0
        if at > high:
            return
        yield at
        number += step


def _labels(times: Iterator[float], form: str) -> list[tuple[float, str]]:
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    return [(at, (epoch + timedelta(seconds=at)).strftime(form)) for at in times]
