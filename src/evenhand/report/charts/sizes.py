"""Charts against a size on a logarithmic axis: which cells suffer, and which entities are hit."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from evenhand.report.charts._panels import (
    PHONE,
    WHOLE,
    decade_axis,
    decade_grid,
    draw_no_values,
    left_out,
    level_grid,
    most_ticks,
)
from evenhand.report.drawing import Dot, Drawing, Margins, Segment, Word
from evenhand.report.page import Chart, LegendKey
from evenhand.report.scales import Decades, Linear, tick_text
from evenhand.report.words import number, shortened, width_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evenhand.report.marks import Axis, Class, Spot

    Up = Callable[[float], float]

# --- who is hit? one dot for each entity -----------------------------------------------------------

_HEIGHT = 300.0
_BELOW = 46.0
_FLOOR = -4
_APART = 15.0


def spots_chart(
    across: Axis,
    up: Axis,
    spots: Sequence[Spot],
    *,
    name: str,
    alt: str,
    caption: str,
    kinds: tuple[str, str] = ("", ""),
    classes: Sequence[Class] = (),
    shares: bool = False,
    named: int = 3,
) -> Chart:
    """Draw entities as dots; the first few carry their names.

    Parameters
    ----------
    across, up : Axis
        The horizontal one is logarithmic, in people. What is below its floor stands on it.
    spots : sequence of Spot
        The most affected first.
    name, alt, caption : str
        As in :class:`evenhand.report.Chart`.
    kinds : pair of str
        What filled and hollow dots stand for; an empty word leaves its key out.
    classes : sequence of Class
        Means by size, joined by a line, and below the plot how many entities there are.
    shares : bool
        Whether the upright axis is linear from zero, in percent; otherwise it is logarithmic.
    named : int
        How many dots carry a name.

    Returns
    -------
    Chart

    Raises
    ------
    MissingExtraError
        If altair or vl-convert is not installed.
    """
    shown = [spot for spot in spots if math.isfinite(spot.x) and math.isfinite(spot.y)]
    wide, narrow = (
        _draw_spots(across, up, shown, classes, width, shares=shares, named=few)
        for width, few in ((WHOLE, named), (PHONE, min(named, 2)))
    )
    keys = [LegendKey(word, "circle", "ink2", hollow=place > 0) for place, word in enumerate(kinds) if word]
    if classes:
        keys.append(LegendKey("mean of a class of sizes", "line", "ink"))
    return Chart(
        name=name,
        wide=wide,
        narrow=narrow,
        alt=alt,
        caption=left_out(caption, len(spots) - len(shown), what="entities"),
        data=_tabulate_spots(across, up, spots, kinds),
        legend=tuple(keys),
    )


def _draw_spots(
    across: Axis,
    up: Axis,
    spots: Sequence[Spot],
    classes: Sequence[Class],
    width: float,
    *,
    shares: bool,
    named: int,
) -> str:
    known = [
        size_class
        for size_class in classes
        if math.isfinite(size_class.x) and math.isfinite(size_class.y) and size_class.number > 0
    ]
    margins = Margins(66, 34, 36, 44 + (_BELOW + 18 if known else 0))
    drawing = Drawing(width, _HEIGHT + margins.top + margins.bottom, margins)
    left, top = -margins.left, -margins.top
    title = shortened(up.heading(), width)
    drawing.words(Word(left, top + 13, title, colour="ink2", halo=False))
    if not spots and not known:
        return draw_no_values(drawing)
    sizes = [spot.x for spot in spots] + [
        end for size_class in known for end in (size_class.x, size_class.low, size_class.high)
    ]
    side = Decades.over(sizes, pixels=drawing.plot[0], floor=0)
    low = any(spot.x < 10.0**side.low for spot in spots)
    values = [
        value * up.times for value in (*(spot.y for spot in spots), *(size_class.y for size_class in known))
    ]
    height = _linear(drawing, values) if shares else _logarithmic(drawing, values)
    decade_axis(drawing, side, lowest=f"≤ {tick_text(side.ticks[0])}" if low else "")
    words = shortened(f"{across.title}, log scale", drawing.plot[0] + margins.left)
    drawing.words(Word(drawing.plot[0], _HEIGHT + 36, words, "right", "ink3", halo=False))
    places = [(side(spot.x), height(spot.y * up.times)) for spot in spots]
    _dots(drawing, across, up, spots, places)
    _means(drawing, known, side, lambda value: height(value * up.times))
    if known:
        _numbers(drawing, known, side)
    _names(drawing, spots, places, named)
    return drawing.svg()


def _linear(drawing: Drawing, values: Sequence[float]) -> Up:
    """Draw the lines of an axis from zero in percent and return its scale."""
    ticks = most_ticks(_HEIGHT, apart=52.0)
    scale = Linear.over(
        [*values, 10.0], pixels=_HEIGHT, most_ticks=ticks, from_zero=True, within=(0.0, 100.0)
    )
    level_grid(drawing, [(_HEIGHT - scale(tick), number(tick, scale.tick_digits)) for tick in scale.ticks])
    return lambda value: _HEIGHT - scale(value)


def _logarithmic(drawing: Drawing, values: Sequence[float]) -> Up:
    scale = Decades.over(values, pixels=_HEIGHT, floor=_FLOOR)
    low = any(value < 10.0**scale.low * (1 - 1e-9) for value in values)
    decade_grid(drawing, scale, lowest=f"≤ {tick_text(scale.ticks[0])}" if low else "")
    return lambda value: _HEIGHT - scale(value)


def _dots(
    drawing: Drawing, across: Axis, up: Axis, spots: Sequence[Spot], places: Sequence[tuple[float, float]]
) -> None:
    for second in (False, True):
        dots = [
            Dot(x, y, f"{spot.label}: {_describe_spot(spot, across, up)}")
            for spot, (x, y) in zip(spots, places, strict=True)
            if spot.second == second
        ]
        if second:
            drawing.dots(dots, size=30, fill="card", stroke="grey", stroke_width=1.3)
        else:
            drawing.dots(dots, size=30, fill="ink2")


def _describe_spot(spot: Spot, across: Axis, up: Axis) -> str:
    value = spot.y * up.times
    digits = 1 if value >= 1 or value == 0 else 4
    return f"{across.title} {number(spot.x, 0)}, {up.title} {number(value, digits)} {up.unit}".rstrip()


def _means(drawing: Drawing, classes: Sequence[Class], side: Decades, height: Up) -> None:
    points = [
        Dot(side(size_class.x), height(size_class.y), f"{size_class.label}: mean of {size_class.number:,.0f}")
        for size_class in classes
    ]
    lines = [Segment(a.x, a.y, b.x, b.y) for a, b in pairwise(points)]
    drawing.rules(lines, stroke="card", width=5, pixels=True)
    drawing.rules(lines, stroke="ink", width=2, pixels=True)
    drawing.dots(points, size=40, fill="ink", stroke="card")


def _numbers(drawing: Drawing, classes: Sequence[Class], side: Decades) -> None:
    """Draw below the axis how many entities are in each class."""
    bottom = _HEIGHT + 44 + _BELOW
    most = max(size_class.number for size_class in classes)
    blocks = [
        Segment(
            side(size_class.low) + 1,
            bottom - max(1.5, _BELOW * 0.75 * size_class.number / most),
            max(side(size_class.high) - 1, side(size_class.low) + 2),
            bottom,
            f"{size_class.label}: {size_class.number:,.0f} entities",
        )
        for size_class in classes
    ]
    drawing.blocks(blocks, fill="ghost", pixels=True)
    drawing.rules([Segment(0, bottom, drawing.plot[0], bottom)], stroke="ghost", width=1, pixels=True)
    words = f"how many entities, at most {most:,.0f}"
    drawing.words(Word(0, bottom + 14, words, "left", "ink3", halo=False))


def _names(
    drawing: Drawing, spots: Sequence[Spot], places: Sequence[tuple[float, float]], named: int
) -> None:
    """Write the names of the first few beside their dots, where they do not touch each other."""
    taken: list[tuple[float, float, float]] = []
    for spot, (x, y) in list(zip(spots, places, strict=True))[:named]:
        label = shortened(spot.label, min(220.0, drawing.plot[0] * 0.6), bold=True)
        wide = width_of(label, bold=True)
        start = x + 9 if x + 9 + wide <= drawing.plot[0] else x - 9 - wide
        end = start + wide
        if any(abs(y - other) < _APART and start < last and first < end for first, last, other in taken):
            continue
        taken.append((start, end, y))
        drawing.words(Word(start, y + 4, label, "left", "ink", 600))


def _tabulate_spots(
    across: Axis, up: Axis, spots: Sequence[Spot], kinds: tuple[str, str]
) -> dict[str, list[Any]]:
    columns: dict[str, list[Any]] = {"entity": [spot.label for spot in spots]}
    if all(kinds):
        columns["kind"] = [kinds[spot.second] for spot in spots]
    columns[across.column(otherwise="x")] = [spot.x for spot in spots]
    columns[up.column(otherwise="y")] = [spot.y * up.times for spot in spots]
    return columns
