"""Does the mechanism matter? Changes against the unprotected result with their intervals, one row each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand.report.charts._columns import ends, estimate_columns, finite, left_out, span
from evenhand.report.charts._panels import (
    PHONE,
    columns_for,
    draw_no_values,
    panel_width,
    title_words,
    upright_grid,
)
from evenhand.report.charts._tones import shapes_by
from evenhand.report.drawing import Dot, Drawing, Margins, Segment, Word
from evenhand.report.page import Chart, LegendKey
from evenhand.report.scales import digits_between
from evenhand.report.words import change_of, shortened, width_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand.report.drawing import Align
    from evenhand.report.marks import Axis, Change
    from evenhand.report.scales import Linear

__all__ = ["changes_chart"]


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
            _draw(axis, changes, width, shapes, name_it=place == 0)
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
        keys.append(LegendKey(f"{', '.join(lit)} in ink, the others in grey"))
    missing = sum(not finite((change.estimate,)) for change in every)
    return Chart(
        name=name,
        wide=wide,
        narrow=narrow,
        alt=alt,
        data=_data(panels),
        legend=tuple(keys),
        columns=columns,
        caption=left_out(caption, missing, what="changes"),
    )


def _draw(
    axis: Axis, changes: Sequence[Change], width: float, shapes: dict[str, str], *, name_it: bool
) -> str:
    shown = [change for change in changes if finite((change.estimate,))]
    labels = list(dict.fromkeys(change.label for change in shown))
    kinds = [kind for kind in shapes if any(change.shape == kind for change in shown)]
    left = min(max((width_of(label, bold=True) for label in labels), default=0.0) + 16, width * 0.36)
    row = max(24.0, 13.0 * len(kinds) + 10)
    margins = Margins(left, 58, 14, 26)
    drawing = Drawing(width, margins.top + margins.bottom + max(len(labels), 1) * row, margins, grid="x")
    values = [0.0, *(end * axis.times for change in shown for end in ends(change.estimate))]
    scale = upright_grid(values, drawing.plot[0], axis=axis, from_zero=True)
    drawing.words(*title_words(drawing, axis, cut=False))
    if not shown:
        draw_no_values(drawing)
        return drawing.svg()
    drawing.x = scale
    digits = digits_between(scale.ticks)
    for place, label in enumerate(labels):
        spotlight = any(change.spotlight for change in shown if change.label == label)
        drawing.words(
            Word(
                -10,
                place * row + row / 2 + 4,
                shortened(label, left - 12, bold=spotlight),
                "right",
                "ink" if spotlight else "ink2",
                600 if spotlight else 400,
                halo=False,
            )
        )
    _zero_line(drawing, scale, name_it=name_it)
    for spotlight in (False, True):
        _marks(
            drawing,
            axis,
            [change for change in shown if change.spotlight == spotlight],
            {
                change: labels.index(change.label) * row
                + row / 2
                + (kinds.index(change.shape) - (len(kinds) - 1) / 2) * 12
                for change in shown
            },
            shapes,
            digits,
        )
    return drawing.svg()


def _zero_line(drawing: Drawing, scale: Linear, *, name_it: bool) -> None:
    height = drawing.plot[1]
    drawing.rules([Segment(0, 0, 0, height)], stroke="ink2", width=1.3, dash=(5, 4))
    if name_it:
        at, width = scale(0), drawing.plot[0]
        align: Align = "right" if at > width * 0.7 else "left" if at < width * 0.3 else "center"
        drawing.words(Word(at, -8, "unprotected", align, "ink2", halo=False))


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
        bars = [(height[change], span(change.estimate, axis.times)) for change in these]
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


def _data(panels: Sequence[tuple[Axis, Sequence[Change]]]) -> dict[str, list[object]]:
    rows = [(axis, change) for axis, changes in panels for change in changes]
    triples = [estimate_columns("change", [change.estimate], times=axis.times) for axis, change in rows]
    return {
        "measure": [axis.title for axis, _ in rows],
        "unit": [axis.unit for axis, _ in rows],
        "label": [change.label for _, change in rows],
        "kind": [change.shape for _, change in rows],
        **{key: [triple[key][0] for triple in triples] for key in ("change", "change_low", "change_high")},
    }
