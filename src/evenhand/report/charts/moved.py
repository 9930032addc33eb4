"""Who moved? Each group before and after, with the change written above."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand.report.charts._columns import ends, estimate_columns, finite, left_out
from evenhand.report.charts._panels import (
    PHONE,
    columns_for,
    draw_no_values,
    panel_width,
    title_words,
    upright_grid,
)
from evenhand.report.drawing import Dot, Drawing, Margins, Segment, Word
from evenhand.report.language import fixed_word
from evenhand.report.page import Chart, LegendKey
from evenhand.report.scales import digits_between
from evenhand.report.theme import GROUPS, group_look
from evenhand.report.words import change_of, shortened, value_of, width_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand.report.marks import Axis, Moved
    from evenhand.report.scales import Linear
    from evenhand.report.theme import GroupLook

__all__ = ["moved_chart"]

_WIDEST = 500.0


def moved_chart(
    panels: Sequence[tuple[Axis, Sequence[Moved]]],
    *,
    name: str,
    alt: str,
    caption: str,
    words: tuple[str, str] | None = None,
    most_columns: int = 4,
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
    among = max([len(labels), *(group + 1 for group in labels)], default=0)
    columns = min(columns_for(len(panels)) if len(panels) != 4 else 2, most_columns)
    wide, narrow = (
        "".join(_draw(axis, groups, min(width, _WIDEST), among, words) for axis, groups in panels)
        for width in (panel_width(columns), PHONE)
    )
    missing = sum(not finite((moved.before, moved.after)) for _, groups in panels for moved in groups)
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
        data=_data(panels),
        caption=left_out(caption, missing, what="rates"),
        legend=tuple(keys),
        columns=columns,
    )


def _draw(axis: Axis, groups: Sequence[Moved], width: float, among: int, words: tuple[str, str]) -> str:
    shown = [moved for moved in groups if finite((moved.before, moved.after))]
    margins = Margins(18, 44, 18, 24)
    row = 52.0 if len(shown) <= 8 else 38.0
    drawing = Drawing(width, margins.top + margins.bottom + max(len(shown), 1) * row + 6, margins, grid="x")
    values = [end * axis.times for moved in shown for end in (moved.before.value, moved.after.value)]
    scale = upright_grid(values, drawing.plot[0], axis=axis)
    drawing.words(*title_words(drawing, axis, cut=scale.cut))
    if not shown:
        draw_no_values(drawing)
        return drawing.svg()
    drawing.x = scale
    digits = digits_between(
        [*scale.ticks, *(end * axis.times for moved in shown for end in ends(moved.change))]
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


def _data(panels: Sequence[tuple[Axis, Sequence[Moved]]]) -> dict[str, list[object]]:
    rows = [(axis, moved) for axis, groups in panels for moved in groups]
    columns: dict[str, list[object]] = {
        "rate": [axis.title for axis, _ in rows],
        "unit": [axis.unit for axis, _ in rows],
        "group": [moved.label for _, moved in rows],
    }
    for part in ("before", "after", "change"):
        triples = [estimate_columns(part, [getattr(moved, part)], times=axis.times) for axis, moved in rows]
        for key in (part, f"{part}_low", f"{part}_high"):
            columns[key] = [triple[key][0] for triple in triples]
    return columns
