"""What every panel has: a title with its unit, and an axis of epsilon with a tick at every value."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from evenhand.report.drawing import Segment, Word
from evenhand.report.language import fixed_word
from evenhand.report.scales import Linear, Log, labelled_ticks, tick_text
from evenhand.report.words import epsilon_of, shortened, width_of

if TYPE_CHECKING:
    from evenhand.report.drawing import Drawing
    from evenhand.report.marks import Axis
    from evenhand.report.scales import Decades

__all__ = ["GAP", "WHOLE", "epsilon_axis", "panel_width", "title_words"]

WHOLE = 1024.0
"""How many pixels a chart has at the desk."""

PHONE = 340.0
"""And on the phone."""

GAP = 24.0
"""Pixels between two panels."""


def columns_for(count: int) -> int:
    """Return how many of `count` panels stand side by side.

    >>> [columns_for(count) for count in (1, 2, 4, 5, 7)]
    [1, 2, 4, 3, 4]
    """
    return count if count <= 4 else 3 if count in {5, 6, 9} else 4


def panel_width(columns: int) -> float:
    """Return the width of one of so many panels side by side.

    >>> panel_width(4), panel_width(2)
    (238.0, 500.0)
    """
    return (WHOLE - GAP * (columns - 1)) / columns


def title_words(drawing: Drawing, axis: Axis, *, cut: bool) -> tuple[Word, Word]:
    """Return the title of a panel and the line below it: unit, and whether the axis is cut."""
    left, top = -drawing.margins.left, -drawing.margins.top
    said = f"{', ' if axis.unit else ''}{fixed_word('chart.axis_cut')}" if cut else ""
    below = f"{shortened(axis.unit, drawing.width - width_of(said))}{said}"
    title = _capital(shortened(axis.title, drawing.width, 14, bold=True))
    return (
        Word(left, top + 13, title, colour="ink", weight=600, size=14, halo=False),
        Word(left, top + 30, below, colour="ink3", halo=False),
    )


def epsilon_axis(drawing: Drawing, scale: Log, *, chosen: float | None) -> None:
    """Write the labels of the epsilon axis and which end is more private.

    Every tested value has a tick; labels that would touch are dropped, but never that of the chosen value or
    of the ends.
    """
    width, height = drawing.plot
    names = [epsilon_of(tick) for tick in scale.ticks]
    first = () if chosen is None else (chosen,)
    shown = labelled_ticks(scale, first=first, widths=[width_of(name) for name in names])
    for tick, name in zip(scale.ticks, names, strict=True):
        if tick in shown:
            spotlight = tick == chosen
            drawing.words(
                Word(
                    scale(tick),
                    height + 18,
                    name,
                    "center",
                    "ink" if spotlight else "ink3",
                    600 if spotlight else 400,
                    halo=False,
                )
            )
    if len(scale.ticks) > 1:
        drawing.words(Word(0, height + 36, fixed_word("chart.more_private"), colour="ink2", halo=False))
        drawing.words(Word(width, height + 36, fixed_word("chart.log_scale"), "right", "ink3", halo=False))
    else:
        drawing.words(Word(width, height + 36, "ε", "right", "ink3", halo=False))


def draw_no_values(drawing: Drawing) -> None:
    """Say that there is nothing to draw."""
    width, height = drawing.plot
    drawing.rules([Segment(0, height, width, height)], stroke="ghost", width=1, pixels=True)
    drawing.words(Word(width / 2, height / 2, fixed_word("chart.no_values"), "center", "ink3", halo=False))


def most_ticks(scale_pixels: float, *, apart: float) -> int:
    """Return how many ticks fit when they are so many pixels apart."""
    return max(3, min(7, int(scale_pixels // apart)))


def upright_grid(
    values: list[float], pixels: float, *, axis: Axis, apart: float = 52.0, from_zero: bool = False
) -> Linear:
    """Return the scale of a chart of rows, whose grid lines are upright."""
    ticks = most_ticks(pixels, apart=apart)
    return Linear.over(values, pixels=pixels, most_ticks=ticks, from_zero=from_zero, within=possible(axis))


def possible(axis: Axis) -> tuple[float, float]:
    """Return between which values an axis may lie: shares in percent, and their differences, have ends.

    >>> from evenhand.report.marks import Axis
    >>> possible(Axis("accuracy", "%", 100.0)), possible(Axis("loss"))
    ((-100.0, 100.0), (-inf, inf))
    """
    is_share = axis.times == 100 and axis.unit.startswith(("%", fixed_word("form.points")))
    return (-100.0, 100.0) if is_share else (-math.inf, math.inf)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def axis_title(axis: Axis, *, cut: bool = False) -> str:
    """Return the title of an axis in one line, with its unit and whether it is cut."""
    unit = f", {axis.unit}" if axis.unit else ""
    return f"{axis.title}{unit}{' (axis cut)' if cut else ''}"


# --- logarithmic axes -----------------------------------------------------------------------------


def grid_up(drawing: Drawing, scale: Decades, *, lowest: str = "") -> None:
    """Draw the grid lines of an upright axis and write its labels, by pixel.

    The lowest line has a label of its own where smaller values stand on it.
    """
    width, height = drawing.plot
    lines = [Segment(0, height - scale(tick), width, height - scale(tick)) for tick in scale.ticks]
    drawing.rules(lines, stroke="grid", width=1, pixels=True)
    for tick in scale.ticks:
        label = lowest if lowest and tick == scale.ticks[0] else tick_text(tick)
        drawing.words(Word(-8, height - scale(tick) + 4, label, "right", "ink3", halo=False))


def grid_across(drawing: Drawing, scale: Decades, *, lowest: str = "") -> None:
    """Draw the axis below with its ticks and labels, by pixel.

    The lowest tick has a label of its own where smaller values stand on it.
    """
    width, height = drawing.plot
    drawing.rules([Segment(0, height, width, height)], stroke="ghost", width=1, pixels=True)
    ticks = [Segment(scale(tick), height, scale(tick), height + 4) for tick in scale.ticks]
    drawing.rules(ticks, stroke="ghost", width=1, pixels=True)
    for tick in scale.ticks:
        label = lowest if lowest and tick == scale.ticks[0] else tick_text(tick)
        drawing.words(Word(scale(tick), height + 18, label, "center", "ink3", halo=False))
