"""Charts of rows: where a gap comes from, whether the mechanism matters, and who moved."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evenhand.report.charts._panels import (
    PHONE,
    columns_for,
    draw_no_values,
    estimate_columns,
    left_out,
    panel_width,
    shapes_by,
    tick_labels,
    title_words,
    upright_grid,
)
from evenhand.report.drawing import Dot, Drawing, Margins, Segment, Word
from evenhand.report.language import fixed_word
from evenhand.report.page import Chart, LegendKey
from evenhand.report.scales import digits_between
from evenhand.report.theme import GROUPS, group_look
from evenhand.report.words import change_of, interval_of, number, shortened, value_of, width_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evenhand.report.drawing import Align
    from evenhand.report.marks import Axis, Bar, Change, Moved
    from evenhand.report.scales import Linear
    from evenhand.report.theme import GroupLook

# --- where does the gap come from? a few bars from zero --------------------------------------------

_ROW = 46.0
_WIDE = 500.0


def bars_chart(axis: Axis, bars: Sequence[Bar], *, name: str, alt: str, caption: str) -> Chart:
    """Draw bars from zero with the label above and the number at the end of each.

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
    margins = Margins(0, 44, 0, 4)
    drawing = Drawing(width, margins.top + margins.bottom + max(len(bars), 1) * _ROW, margins, grid="x")
    drawing.words(*title_words(drawing, axis, cut=False))
    if not bars:
        return draw_no_values(drawing)
    values = [end * axis.times for bar in bars for end in bar.estimate.ends]
    digits = digits_between(values)
    numbers = [_number(bar, axis, digits) for bar in bars]
    room = max(width_of(f"{value} {interval}", bold=True) for value, interval in numbers) + 14
    falling = [bar.estimate.value < 0 for bar in bars]  # whose numbers stand on the left
    left, right = room * any(falling), room * (not all(falling))
    least, most = min([*values, 0.0]), max([*values, 0.0])
    length = (width - left - right) / ((most - least) or 1.0)

    def pixel(value: float) -> float:
        return left + (value * axis.times - least) * length

    tops = [place * _ROW for place in range(len(bars))]
    _blocks(drawing, axis, bars, tops, pixel, digits)
    _intervals(drawing, bars, tops, pixel)
    for bar, top, (value, interval) in zip(bars, tops, numbers, strict=True):
        drawing.words(Word(0, top + 11, shortened(bar.label, drawing.width), colour="ink2", halo=False))
        drawing.words(*_figures(bar, top + 30, pixel, value, interval))
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


def _figures(bar: Bar, y: float, pixel: Callable[[float], float], value: str, interval: str) -> list[Word]:
    """Return the number beyond the end of the bar and of its interval, on the side where the bar ends."""
    places = [pixel(end) for end in bar.estimate.ends]
    if bar.estimate.value < 0:
        at = min(places) - 8
        bold = Word(at - (width_of(interval) + 4 if interval else 0), y, value, "right", "ink", 600)
        return [bold, Word(at, y, interval, "right", "ink3")][: 2 if interval else 1]
    at = max(places) + 8
    thin = Word(at + width_of(value, bold=True) + 4, y, interval, colour="ink3")
    return [Word(at, y, value, colour="ink", weight=600), thin][: 2 if interval else 1]


# --- does the mechanism matter? changes with their intervals ---------------------------------------


def changes_chart(
    panels: Sequence[tuple[Axis, Sequence[Change]]], *, name: str, alt: str, caption: str
) -> Chart:
    """Draw changes with their intervals: one row for each label, one mark in it for each shape.

    The row in the spotlight is in ink, the others are grey, and no change is a dashed line. The first shape
    is filled and the others are outlines, so that they are told apart in print as well.

    Parameters
    ----------
    panels : sequence of (Axis, sequence of Change)
        One panel for each measure.
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
    every = [change for _, changes in panels for change in changes]
    shapes = shapes_by(change.shape for change in every)
    columns = min(columns_for(len(panels)), 3)
    wide, narrow = (
        "".join(
            _draw_changes(axis, changes, width, shapes, name_it=place == 0)
            for place, (axis, changes) in enumerate(panels)
        )
        for width in (min(panel_width(columns), 560.0), PHONE)
    )
    lit = list(dict.fromkeys(change.label for change in every if change.spotlight))
    keys = [
        LegendKey(kind, shape, "ink", hollow=place > 0)
        for place, (kind, shape) in enumerate(shapes.items())
        if len(shapes) > 1
    ]
    if lit and any(not change.spotlight for change in every):
        keys.append(LegendKey(fixed_word("chart.ink", name=", ".join(lit))))
    missing = sum(not change.estimate.is_finite for change in every)
    return Chart(
        name=name,
        wide=wide,
        narrow=narrow,
        alt=alt,
        data=_tabulate_changes(panels),
        legend=tuple(keys),
        columns=columns,
        caption=left_out(caption, missing, what="changes"),
    )


def _draw_changes(
    axis: Axis, changes: Sequence[Change], width: float, shapes: dict[str, str], *, name_it: bool
) -> str:
    shown = [change for change in changes if change.estimate.is_finite]
    labels = list(dict.fromkeys(change.label for change in shown))
    kinds = [kind for kind in shapes if any(change.shape == kind for change in shown)]
    left = min(max((width_of(label, bold=True) for label in labels), default=0.0) + 16, width * 0.36)
    row = max(24.0, 13.0 * len(kinds) + 10)
    values = [0.0, *(end * axis.times for change in shown for end in change.estimate.ends)]
    last = tick_labels(upright_grid(values, width - left - 14, axis=axis, from_zero=True))[-1]
    margins = Margins(left, 58, max(14.0, width_of(last) / 2 + 2), 26)
    drawing = Drawing(width, margins.top + margins.bottom + max(len(labels), 1) * row, margins, grid="x")
    scale = upright_grid(values, drawing.plot[0], axis=axis, from_zero=True)
    drawing.words(*title_words(drawing, axis, cut=False))
    if not shown:
        return draw_no_values(drawing)
    drawing.x = scale
    digits = digits_between(scale.ticks)
    for place, label in enumerate(labels):
        spotlight = any(change.spotlight for change in shown if change.label == label)
        look: tuple[str, int] = ("ink", 600) if spotlight else ("ink2", 400)
        name = shortened(label, left - 12, bold=spotlight)
        drawing.words(Word(-10, place * row + row / 2 + 4, name, "right", *look, halo=False))
    _zero_line(drawing, scale, name_it=name_it)
    heights = {
        change: (labels.index(change.label) + 0.5) * row
        + (kinds.index(change.shape) - (len(kinds) - 1) / 2) * 12
        for change in shown
    }
    for spotlight in (False, True):
        these = [change for change in shown if change.spotlight == spotlight]
        _marks(drawing, axis, these, heights, shapes, digits)
    return drawing.svg()


def _zero_line(drawing: Drawing, scale: Linear, *, name_it: bool) -> None:
    height = drawing.plot[1]
    drawing.rules([Segment(0, 0, 0, height)], stroke="ink2", width=1.3, dash=(5, 4))
    if name_it:
        at, width = scale(0), drawing.plot[0]
        align: Align = "right" if at > width * 0.7 else "left" if at < width * 0.3 else "center"
        drawing.words(Word(at, -8, fixed_word("chart.unprotected"), align, "ink2", halo=False))


def _marks(
    drawing: Drawing,
    axis: Axis,
    changes: Sequence[Change],
    height: dict[Change, float],
    shapes: dict[str, str],
    digits: int,
) -> None:
    first = next(iter(shapes.values()), "")
    for shape in dict.fromkeys(shapes.values()):
        these = [change for change in changes if shapes[change.shape] == shape]
        if not these:
            continue
        ink = "ink" if these[0].spotlight else "grey"
        bars = [(height[change], change.estimate.span(axis.times)) for change in these]
        drawing.rules([Segment(bar[0], y, bar[1], y) for y, bar in bars if bar], stroke=ink, width=1.4)
        dots = [
            Dot(change.estimate.value * axis.times, height[change], _tip(change, axis, digits))
            for change in these
        ]
        drawing.dots(
            dots, shape=shape, size=52, fill=ink if shape == first else "card", stroke=ink, stroke_width=1.7
        )


def _tip(change: Change, axis: Axis, digits: int) -> str:
    kind = f", {change.shape}" if change.shape else ""
    return f"{change.label}{kind}: {change_of(change.estimate, digits, times=axis.times)}"


def _tabulate_changes(panels: Sequence[tuple[Axis, Sequence[Change]]]) -> dict[str, list[Any]]:
    rows = [(axis, change) for axis, changes in panels for change in changes]
    changes = [change.estimate for _, change in rows]
    return {
        "measure": [axis.title for axis, _ in rows],
        "unit": [axis.unit for axis, _ in rows],
        "label": [change.label for _, change in rows],
        "kind": [change.shape for _, change in rows],
        **estimate_columns("change", changes, times=[axis.times for axis, _ in rows]),
    }


# --- who moved? each group before and after --------------------------------------------------------

_WIDEST = 500.0


def moved_chart(
    panels: Sequence[tuple[Axis, Sequence[Moved]]],
    *,
    name: str,
    alt: str,
    caption: str,
    words: tuple[str, str] | None = None,
    most_columns: int = 4,
    among: int = 0,
) -> Chart:
    """Draw dumbbells: an upright bar for the unprotected rate, a filled mark for the protected one.

    The change with its interval stands above each. Groups keep the colour and shape of their place in the
    schema; with more than five groups all are grey dots with their names, since no hue is used twice.

    Parameters
    ----------
    panels : sequence of (Axis, sequence of Moved)
        One panel for each rate.
    name, alt, caption : str
        As in :class:`evenhand.report.Chart`.
    words : pair of str
        What the bar and the mark stand for; by default the rate without and with protection.
    most_columns : int
        How many panels stand side by side at most.
    among : int
        How many groups there are, if more than are drawn: they have the looks that all of them together have.

    Returns
    -------
    Chart

    Raises
    ------
    MissingExtraError
        If altair or vl-convert is not installed.
    """
    words = words or (fixed_word("chart.unprotected"), fixed_word("chart.protected"))
    labels = {moved.group: moved.label for _, groups in panels for moved in groups}
    among = max([among, len(labels), *(group + 1 for group in labels)])
    columns = min(columns_for(len(panels)) if len(panels) != 4 else 2, most_columns)
    wide, narrow = (
        "".join(_draw_moved(axis, groups, min(width, _WIDEST), among, words) for axis, groups in panels)
        for width in (panel_width(columns), PHONE)
    )
    missing = sum(len(groups) - len(_movable(groups)) for _, groups in panels)
    keys = []
    if among <= len(GROUPS):
        for group, label in sorted(labels.items()):
            look = group_look(group, among=among)
            keys.append(LegendKey(label, look.shape, look.fill))
    keys += [LegendKey(words[0], "upright", "ink2"), LegendKey(words[1], "circle", "ink2")]
    return Chart(
        name=name,
        wide=wide,
        narrow=narrow,
        alt=alt,
        data=_tabulate_moved(panels),
        caption=left_out(caption, missing, what="rates"),
        legend=tuple(keys),
        columns=columns,
    )


def _movable(groups: Sequence[Moved]) -> list[Moved]:
    return [moved for moved in groups if moved.before.is_finite and moved.after.is_finite]


def _draw_moved(axis: Axis, groups: Sequence[Moved], width: float, among: int, words: tuple[str, str]) -> str:
    shown = _movable(groups)
    margins = Margins(18, 44, 18, 24)
    row = 52.0 if len(shown) <= 8 else 38.0
    drawing = Drawing(width, margins.top + margins.bottom + max(len(shown), 1) * row + 6, margins, grid="x")
    values = [end * axis.times for moved in shown for end in (moved.before.value, moved.after.value)]
    scale = upright_grid(values, drawing.plot[0], axis=axis)
    drawing.words(*title_words(drawing, axis, cut=scale.cut))
    if not shown:
        return draw_no_values(drawing)
    drawing.x = scale
    digits = digits_between(
        [*scale.ticks, *(end * axis.times for moved in shown for end in moved.change.ends)]
    )
    looks = [group_look(moved.group, among=among) for moved in shown]
    heights = [place * row + row * 0.68 + 4 for place in range(len(shown))]
    for look in dict.fromkeys(looks):
        these = [(moved, y) for moved, of, y in zip(shown, looks, heights, strict=True) if of == look]
        _dumbbells(drawing, scale, axis, these, look, digits, words)
    for moved, look, y in zip(shown, looks, heights, strict=True):
        at = scale(moved.before.value * axis.times), scale(moved.after.value * axis.times)
        _label(drawing, moved, y - 15, at, change_of(moved.change, digits, times=axis.times), look.text)
    return drawing.svg()


def _dumbbells(
    drawing: Drawing,
    scale: Linear,
    axis: Axis,
    rows: Sequence[tuple[Moved, float]],
    look: GroupLook,
    digits: int,
    words: tuple[str, str],
) -> None:
    """Draw the groups of one look: the way gone, the mark where it ends, and the bar where it began."""
    ways, marks, starts = [], [], []
    for moved, y in rows:
        before, after = moved.before.value * axis.times, moved.after.value * axis.times
        was = f"{moved.label}, {words[0]}: {value_of(moved.before, digits, times=axis.times)}"
        now = f"{moved.label}, {words[1]}: {value_of(moved.after, digits, times=axis.times)}"
        ways.append(Segment(before, y, after, y))
        marks.append(Dot(after, y, now))
        starts.append(Segment(scale(before) - 1.5, y - 9, scale(before) + 1.5, y + 9, was))
    drawing.rules(ways, stroke=look.fill, width=3)
    drawing.dots(marks, shape=look.shape, size=92, fill=look.fill, stroke="card")
    drawing.blocks(starts, fill=look.fill, pixels=True)


def _label(
    drawing: Drawing, moved: Moved, y: float, at: tuple[float, float], change: str, shade: str
) -> None:
    """Write name and change in the colour of the group, the interval after them in grey.

    The three are written apart: in one text, a name that runs from right to left would turn the sign round.
    """
    whole = drawing.plot[0]
    value, _, interval = change.partition(" ")
    after = width_of(value, bold=True) + 4, width_of(interval) + 5 if interval else 0.0
    title = f"{shortened(moved.label, max(whole - sum(after) - 8, 40.0), bold=True)}:"
    before = width_of(title, bold=True)
    start = (at[0] + at[1]) / 2 - (before + sum(after)) / 2
    middle = max(0.0, min(start, whole - before - sum(after))) + before
    drawing.words(Word(middle, y, title, "right", shade, 600), Word(middle + 4, y, value, "left", shade, 600))
    if interval:
        drawing.words(Word(middle + after[0] + 5, y, interval, colour="ink3"))


def _tabulate_moved(panels: Sequence[tuple[Axis, Sequence[Moved]]]) -> dict[str, list[Any]]:
    rows = [(axis, moved) for axis, groups in panels for moved in groups]
    columns: dict[str, list[Any]] = {
        "rate": [axis.title for axis, _ in rows],
        "unit": [axis.unit for axis, _ in rows],
        "group": [moved.label for _, moved in rows],
    }
    for part in ("before", "after", "change"):
        estimates = [getattr(moved, part) for _, moved in rows]
        columns |= estimate_columns(part, estimates, times=[axis.times for axis, _ in rows])
    return columns
