"""Which cells suffer? The error of cells against how many people are in them, a panel for each mechanism."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from evenhand.report.charts._columns import finite, left_out
from evenhand.report.charts._panels import (
    PHONE,
    columns_for,
    draw_no_values,
    grid_across,
    grid_up,
    panel_width,
)
from evenhand.report.drawing import Dot, Drawing, Margins, Segment, Word
from evenhand.report.page import Chart, LegendKey
from evenhand.report.scales import Decades, tick_text
from evenhand.report.words import number, shortened, width_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand.report.marks import Sized, SizePanel

__all__ = ["sizes_chart"]

_PLOT = 150.0


def sizes_chart(panels: Sequence[SizePanel], *, name: str, alt: str, caption: str) -> Chart:
    """Draw the typical error and the bias of cells against their size, both axes logarithmic.

    Filled dots are mean absolute errors with their intervals, hollow ones the size of the bias, and the
    dashed line is where the error is as large as the cell. All panels have the same scales. A bias below the
    floor of the axis is not drawn; an error below it stands on the floor.

    Parameters
    ----------
    panels : sequence of SizePanel
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
    shown = [size for panel in panels for size in _shown(panel)]
    columns = min(columns_for(len(panels)), 4)
    wide, narrow = (
        "".join(_draw(panel, shown, width) for panel in panels)
        for width in (min(panel_width(columns), 320.0), PHONE)
    )
    keys = (
        LegendKey("mean error, with its interval", "circle", "ink"),
        LegendKey("size of the bias, where 0.1 or more", "circle", "ink", hollow=True),
        LegendKey("error as large as the cell", "dashed", "ink2"),
    )
    missing = sum(size.size > 0 for panel in panels for size in panel.sizes) - len(shown)
    return Chart(
        name=name,
        wide=wide,
        narrow=narrow,
        alt=alt,
        caption=left_out(caption, missing, what="classes of cells"),
        data=_data(panels),
        legend=keys,
        columns=columns,
    )


def _shown(panel: SizePanel) -> list[Sized]:
    """Return the classes that a logarithmic axis can have: not that of empty cells."""
    return [size for size in panel.sizes if finite((size.error,)) and size.size > 0]


def _draw(panel: SizePanel, every: Sequence[Sized], width: float) -> str:
    margins = Margins(52, 54, 26, 44)
    drawing = Drawing(width, _PLOT + margins.top + margins.bottom, margins)
    _title(drawing, panel)
    shown = _shown(panel)
    if not shown:
        draw_no_values(drawing)
        return drawing.svg()
    across = Decades.over([size.size for size in every], pixels=drawing.plot[0], floor=0)
    up = Decades.over([size.error.value for size in every], pixels=_PLOT)
    grid_up(drawing, up, lowest=f"≤ {tick_text(up.ticks[0])}")
    grid_across(drawing, across)
    drawing.words(Word(drawing.plot[0], _PLOT + 36, "people in the cell", "right", "ink3", halo=False))
    low, high = max(across.low, up.low), min(across.high, up.high)
    if low < high:
        ends = [(across(10.0**power), _PLOT - up(10.0**power)) for power in (low, high)]
        line = Segment(*ends[0], *ends[1])
        drawing.rules([line], stroke="ink2", width=1.2, dash=(5, 4), pixels=True)
    _marks(drawing, shown, across, up)
    return drawing.svg()


def _title(drawing: Drawing, panel: SizePanel) -> None:
    left, top = -drawing.margins.left, -drawing.margins.top
    fits = width_of(panel.label, 14, bold=True) <= drawing.width
    name = panel.label if fits else panel.label.partition(" (")[0]  # what is in brackets is in the CSV
    title = shortened(name, drawing.width, 14, bold=True)
    tag = shortened(panel.tag, drawing.width, bold=panel.tone == "bad")
    drawing.words(
        Word(left, top + 13, title, colour="ink", weight=600, size=14, halo=False),
        Word(left, top + 31, tag, colour=panel.tone, weight=600 if panel.tone == "bad" else 400, halo=False),
    )


def _marks(drawing: Drawing, shown: Sequence[Sized], across: Decades, up: Decades) -> None:
    bars = []
    for size in shown:
        low, high = size.error.low, size.error.high
        if low is not None and high is not None and math.isfinite(low) and math.isfinite(high):
            x = across(size.size)
            bars.append(Segment(x, _PLOT - up(low), x, _PLOT - up(high)))
    drawing.rules(bars, width=1.4, pixels=True)
    hollow = [
        Dot(across(size.size), _PLOT - up(abs(size.bias.value)), f"{size.label} people: {_bias(size)}")
        for size in shown
        if math.isfinite(size.bias.value) and abs(size.bias.value) >= 0.1 and up.holds(abs(size.bias.value))
    ]
    filled = [Dot(across(size.size), _PLOT - up(size.error.value), _tip(size)) for size in shown]
    drawing.dots(hollow, size=92, fill="card", stroke="ink", stroke_width=1.5)
    drawing.dots(filled, size=30, fill="ink")


def _tip(each: Sized) -> str:
    return f"cells of {each.label} people: mean error {number(each.error.value)}, {_bias(each)}"


def _bias(each: Sized) -> str:
    return (
        f"bias {number(each.bias.value, 2, sign=True)}" if math.isfinite(each.bias.value) else "no bias known"
    )


def _data(panels: Sequence[SizePanel]) -> dict[str, list[object]]:
    rows = [(panel, size) for panel in panels for size in panel.sizes]
    return {
        "mechanism": [panel.label for panel, _ in rows],
        "promise": [panel.tag for panel, _ in rows],
        "people_in_cell": [each.label for _, each in rows],
        "cells": [each.cells for _, each in rows],
        "mean_people": [each.size for _, each in rows],
        "mean_error": [each.error.value for _, each in rows],
        "mean_error_low": [each.error.low for _, each in rows],
        "mean_error_high": [each.error.high for _, each in rows],
        "mean_bias": [each.bias.value for _, each in rows],
    }
