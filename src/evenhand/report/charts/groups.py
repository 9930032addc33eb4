"""The map of groups: how large each is, its rate, and how sure that is, with the columns by themselves."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from evenhand.report.charts._panels import (
    GAP,
    PHONE,
    WHOLE,
    draw_no_values,
    estimate_columns,
    left_out,
    tick_labels,
    title_words,
    upright_grid,
)
from evenhand.report.drawing import Dot, Drawing, Margins, Segment, Word
from evenhand.report.page import Chart
from evenhand.report.scales import digits_between
from evenhand.report.words import interval_of, number, shortened, value_of, width_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand.report.marks import Axis, GroupRow
    from evenhand.report.scales import Linear

_ROW = 38.0
_LINE = 11.0  # of the words of a row, below its top
_MARK = 24.0  # of its mark


def groups_chart(
    panels: Sequence[tuple[Axis, Sequence[GroupRow]]],
    *,
    name: str,
    alt: str,
    caption: str,
    cut_few: bool = False,
) -> Chart:
    """Draw a row for each group: name and people, rate and interval in figures, and below them as a mark.

    The first panel has all groups, the second those of each column by itself. Both have the same scale, so
    that a mark of the one can be read against those of the other. Groups of too few people are hollow.

    Parameters
    ----------
    panels : sequence of (Axis, sequence of GroupRow)
        At most two, the rows in the order in which they are drawn.
    name, alt, caption : str
        As in :class:`evenhand.report.Chart`.
    cut_few : bool
        Whether the scale is that of the groups of enough people alone, and marks beyond it stand at its edge.

    Returns
    -------
    Chart

    Raises
    ------
    MissingExtraError
        If altair or vl-convert is not installed.
    """
    rows = [row for _, rows in panels for row in rows]
    axes = [axis for axis, rows in panels for _ in rows]
    scaled = [place for place, row in enumerate(rows) if not (cut_few and row.few)] or range(len(rows))
    values = [end * axes[place].times for place in scaled for end in rows[place].rate.ends]
    wide, narrow = (
        "".join(_draw_groups(axis, rows, width, values) for axis, rows in panels)
        for width in ((WHOLE - GAP) / 2, PHONE)
    )
    data: dict[str, list[Any]] = {
        "of": [axis.title for axis in axes],
        "group": [row.label for row in rows],
        "people": [row.people for row in rows],
        "too_few": [row.few for row in rows],
        **estimate_columns("rate", [row.rate for row in rows], times=[axis.times for axis in axes]),
    }
    missing = sum(not row.rate.is_finite for row in rows)
    caption = left_out(caption, missing, what="groups")
    return Chart(name, wide, narrow, alt, caption, data, columns=len(panels))


def _draw_groups(axis: Axis, rows: Sequence[GroupRow], width: float, values: list[float]) -> str:
    shown = [row for row in rows if row.rate.is_finite]
    first, *_, last = tick_labels(upright_grid(values, width - 20, axis=axis)) if values else ("", "")
    margins = Margins(max(6.0, width_of(first) / 2 + 2), 44, max(14.0, width_of(last) / 2 + 2), 24)
    drawing = Drawing(width, margins.top + margins.bottom + max(len(shown), 1) * _ROW, margins, grid="x")
    if not shown:
        drawing.words(*title_words(drawing, axis, cut=False))
        return draw_no_values(drawing)
    scale = upright_grid(values, drawing.plot[0], axis=axis)
    drawing.words(*title_words(drawing, axis, cut=scale.cut))
    drawing.x = scale
    digits = digits_between([*scale.ticks, *values])
    tops = [place * _ROW for place in range(len(shown))]
    _marks(drawing, axis, shown, tops, digits, scale)
    figures = _figures(axis, shown, digits, width)
    for row, top, each in zip(shown, tops, figures, strict=True):
        drawing.words(*_words(drawing, row, each, top + _LINE))
    return drawing.svg()


def _marks(
    drawing: Drawing, axis: Axis, rows: Sequence[GroupRow], tops: Sequence[float], digits: int, scale: Linear
) -> None:
    """Draw intervals as lines and rates as dots, those of too few people hollow."""

    def cut(value: float) -> float:
        return float(min(max(value, scale.low), scale.high))

    for ink, strong in (("ink3", False), ("ink", True)):
        these = [(row, top + _MARK) for row, top in zip(rows, tops, strict=True) if row.strong == strong]
        spans = [(row.rate.span(axis.times), y) for row, y in these]
        lines = [Segment(cut(between[0]), y, cut(between[1]), y) for between, y in spans if between]
        drawing.rules(lines, stroke=ink, width=2.2 if strong else 1.4)
        for few in (True, False):
            dots = [
                Dot(cut(row.rate.value * axis.times), y, _tip(row, axis, digits))
                for row, y in these
                if row.few == few
            ]
            if dots:
                drawing.dots(
                    dots, shape="circle", size=56, fill="card" if few else ink, stroke=ink, stroke_width=1.6
                )


def _tip(row: GroupRow, axis: Axis, digits: int) -> str:
    return f"{row.label}, {number(row.people, 0)}: {value_of(row.rate, digits, times=axis.times)}"


@dataclass(frozen=True)
class _Figures:
    """What is written in a row besides the name: people, rate, and the interval where there is room."""

    people: str
    value: str
    interval: str

    @property
    def width(self) -> float:
        """How many pixels they take."""
        return width_of(self.people) + width_of(f"{self.value} {self.interval}", bold=True) + 26


def _figures(axis: Axis, rows: Sequence[GroupRow], digits: int, room: float) -> list[_Figures]:
    """Return the figures of each row; where a name would be cut for them, intervals are drawn alone."""
    figures = []
    for row in rows:
        between = row.rate.span(axis.times)
        value = number(row.rate.value * axis.times, digits)
        figures.append(
            _Figures(number(row.people, 0), value, interval_of(*between, digits) if between else "")
        )
    fits = (
        width_of(row.label, bold=True) + each.width <= room for row, each in zip(rows, figures, strict=True)
    )
    return figures if all(fits) else [replace(figure, interval="") for figure in figures]


def _words(drawing: Drawing, row: GroupRow, figures: _Figures, y: float) -> list[Word]:
    """Return name and people on the left, rate and interval on the right."""
    left, right = -drawing.margins.left, drawing.plot[0] + drawing.margins.right
    label = shortened(row.label, right - left - figures.width, bold=row.strong)
    at = right - (width_of(figures.interval) + 4 if figures.interval else 0)
    shade, weight = ("ink", 600) if row.strong else ("ink3" if row.few else "ink2", 400)
    words = [
        Word(left, y, label, colour=shade, weight=weight),
        Word(left + width_of(label, bold=row.strong) + 8, y, figures.people, colour="ink3"),
        Word(at, y, figures.value, "right", "ink3" if row.few else "ink", 600),
    ]
    return [*words, Word(right, y, figures.interval, "right", "ink3")] if figures.interval else words
