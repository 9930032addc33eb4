"""What does each epsilon buy? One panel for each measure and row, with every protocol as a line."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING

from evenhand.report.charts._columns import ends, estimate_columns, left_out, span
from evenhand.report.charts._panels import (
    PHONE,
    columns_for,
    draw_no_values,
    epsilon_axis,
    panel_width,
    possible,
    title_words,
)
from evenhand.report.drawing import Dot, Drawing, Margins, Segment, Word
from evenhand.report.language import fixed_word
from evenhand.report.page import Chart, LegendKey
from evenhand.report.placing import Box
from evenhand.report.scales import Linear, Log, digits_between
from evenhand.report.words import epsilon_words, value_of, width_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evenhand.report.marks import Estimate, Line, Panel

__all__ = ["measures_chart"]

_PLOT_HEIGHT = 150.0


def measures_chart(
    panels: Sequence[Panel],
    *,
    chosen_epsilon: float | None,
    name: str,
    alt: str,
    caption: str,
    base: str = "",
) -> Chart:
    """Draw measures against epsilon as small multiples.

    The protocol in the spotlight is in ink with its intervals, the others are thin and grey, the unprotected
    value is dashed with its interval as a band. A measure has the same scale in all rows. The axis of epsilon
    is logarithmic with a tick at every tested value.

    Parameters
    ----------
    panels : sequence of Panel
        Panels of one row stand side by side, in order of appearance.
    chosen_epsilon : float or None
        The value that keeps its label on the axis and is set in bold.
    name, alt, caption : str
        As in :class:`evenhand.report.Chart`.
    base : str
        What the dashed value is called; by default that of no protection.

    Returns
    -------
    Chart

    Raises
    ------
    MissingExtraError
        If altair or vl-convert is not installed.
    """
    base = base or fixed_word("chart.unprotected")
    rows = list(dict.fromkeys(panel.row for panel in panels))
    titles = list(dict.fromkeys(panel.axis.title for panel in panels))
    ordered = sorted(panels, key=lambda panel: (rows.index(panel.row), titles.index(panel.axis.title)))
    tested = _tested(panels)
    columns = columns_for(max((sum(panel.row == row for panel in panels) for row in rows), default=1))
    values = {title: _values(panels, title) for title in titles}
    pictures = []
    for width in (min(panel_width(columns), 520.0), PHONE):
        drawn = []
        for place, panel in enumerate(ordered):
            first = place == 0 or ordered[place - 1].row != panel.row
            over = values[panel.axis.title]
            named = base if first else ""
            drawn.append(_draw(panel, over, tested, chosen_epsilon, width, base=named))
        pictures.append("".join(drawn))
    missing = sum(not math.isfinite(each.value) for panel in panels for _, _, each in _every(panel))
    return Chart(
        name=name,
        wide=pictures[0],
        narrow=pictures[1],
        alt=alt,
        data=_data(ordered, base),
        caption=left_out(caption, missing, what="values"),
        legend=_legend(panels, base),
        rows=tuple(rows) if any(rows) else (),
        columns=columns,
    )


def _draw(
    panel: Panel,
    values: list[float],
    tested: tuple[float, ...],
    chosen: float | None,
    width: float,
    *,
    base: str,
) -> str:
    margins = Margins(40, 52, 8, 46)
    plot_width = width - margins.left - margins.right
    up = Linear.over(values, pixels=_PLOT_HEIGHT, most_ticks=6, within=possible(panel.axis))
    height = _PLOT_HEIGHT + margins.top + margins.bottom
    across = Log(tested, plot_width) if tested else None
    drawing = Drawing(width, height, margins, x=across, y=up)
    drawing.words(*title_words(drawing, panel.axis, cut=up.cut))
    if across is None or not values:
        draw_no_values(drawing)
        return drawing.svg()
    _reference(drawing, panel, across, up, name=base)
    digits = digits_between(up.ticks)
    _others(drawing, panel)
    for line in panel.lines:
        if line.spotlight:
            _spotlight(drawing, panel, line, digits)
    epsilon_axis(drawing, across, chosen=chosen)
    return drawing.svg()


def _reference(drawing: Drawing, panel: Panel, across: Log, up: Linear, *, name: str) -> None:
    """Draw the unprotected value as a dashed line on the band of its interval."""
    base, times = panel.baseline, panel.axis.times
    if base is None or not math.isfinite(base.value):
        return
    width, height = drawing.plot
    level = height - up(base.value * times)
    low = top = level
    if band := span(base, times):
        low, top = (height - up(end) for end in band)
        drawing.blocks([Segment(0, top, width, low)], fill="ink", opacity=0.08, pixels=True)
    drawing.rules([Segment(0, level, width, level)], stroke="ink2", width=1.4, dash=(5, 4), pixels=True)
    if name:
        size = width_of(name) + 4
        taken = [box for line in panel.lines for box in _covered(line, times, across, up)]
        places = [
            Box(left, y, size, 15.0)
            for y in (top - 18, level - 17, level + 3, low + 3)
            for left in (2.0, width - size, (width - size) / 2)
            if 0 <= y <= height - 15
        ]
        best = min(places, key=lambda box: sum(box.overlap(other) for other in taken))
        drawing.words(Word(best.left + 2, best.top + 12, name, colour="ink2"))


def _covered(line: Line, times: float, across: Log, up: Linear) -> Iterator[Box]:
    """Yield what a line covers: its marks, their intervals if they are drawn, and the way between them."""
    for piece in _pieces(line):
        at = [(across(epsilon), up.pixels - up(each.value * times)) for epsilon, each in piece]
        for (x, y), (_, each) in zip(at, piece, strict=True):
            drawn = [up.pixels - up(end) for end in (span(each, times) or ()) if line.spotlight] or [y]
            yield Box(x - 3, min(drawn) - 3, 6, max(drawn) - min(drawn) + 6)
        for (x, y), (later, end) in pairwise(at):
            steps = max(2, int((later - x) // 6))
            for step in range(steps + 1):
                share = step / steps
                yield Box(x + share * (later - x) - 3, y + share * (end - y) - 2, 6, 4)


def _others(drawing: Drawing, panel: Panel) -> None:
    times = panel.axis.times
    pieces = [
        [Dot(epsilon, estimate.value * times, line.label) for epsilon, estimate in piece]
        for line in panel.lines
        if not line.spotlight
        for piece in _pieces(line)
    ]
    drawing.lines([piece for piece in pieces if len(piece) > 1], stroke="grey", width=1)
    alone = [piece[0] for piece in pieces if len(piece) == 1]
    drawing.dots(alone, size=22, fill="grey")


def _spotlight(drawing: Drawing, panel: Panel, line: Line, digits: int) -> None:
    times = panel.axis.times
    pieces = list(_pieces(line))
    drawing.lines(
        [
            [Dot(epsilon, estimate.value * times, line.label) for epsilon, estimate in piece]
            for piece in pieces
            if len(piece) > 1
        ],
        stroke="ink",
        width=2.2,
    )
    shown = [pair for piece in pieces for pair in piece]
    bars = [(epsilon, span(estimate, times)) for epsilon, estimate in shown]
    drawing.rules([Segment(epsilon, bar[0], epsilon, bar[1]) for epsilon, bar in bars if bar], width=1.4)
    where = f", {panel.row}" if panel.row else ""
    dots = [
        Dot(
            epsilon,
            estimate.value * times,
            f"{line.label}{where}, {epsilon_words(epsilon)}: {panel.axis.title} "
            f"{value_of(estimate, digits, times=times)}",
        )
        for epsilon, estimate in shown
    ]
    drawing.dots(dots, size=34, fill="ink")


def _pieces(line: Line) -> Iterator[list[tuple[float, Estimate]]]:
    """Yield the stretches of a line between values that are missing."""
    piece: list[tuple[float, Estimate]] = []
    for epsilon, estimate in sorted(
        zip(line.epsilons, line.estimates, strict=True), key=lambda pair: pair[0]
    ):
        if math.isfinite(estimate.value) and _fit(epsilon):
            piece.append((epsilon, estimate))
        elif piece:
            yield piece
            piece = []
    if piece:
        yield piece


def _every(panel: Panel) -> Iterator[tuple[Line, float, Estimate]]:
    for line in panel.lines:
        for epsilon, estimate in zip(line.epsilons, line.estimates, strict=True):
            yield line, epsilon, estimate


def _tested(panels: Sequence[Panel]) -> tuple[float, ...]:
    return tuple(sorted({epsilon for panel in panels for _, epsilon, _ in _every(panel) if _fit(epsilon)}))


def _fit(epsilon: float) -> bool:
    return epsilon > 0 and math.isfinite(epsilon)


def _values(panels: Sequence[Panel], title: str) -> list[float]:
    """Return everything that the scale of a measure must hold, over all rows."""
    found = []
    for panel in panels:
        if panel.axis.title == title:
            shown = [ends(each) if line.spotlight else (each.value,) for line, _, each in _every(panel)]
            shown += [ends(panel.baseline)] if panel.baseline else []
            found += [end * panel.axis.times for group in shown for end in group if math.isfinite(end)]
    return found


def _legend(panels: Sequence[Panel], base: str) -> tuple[LegendKey, ...]:
    labels = {line.label: line.spotlight for panel in panels for line in panel.lines}
    spotlight = [name for name, lit in labels.items() if lit]
    others = [name for name, lit in labels.items() if not lit]
    lit = [each for panel in panels for line, _, each in _every(panel) if line.spotlight]
    bars = fixed_word("chart.bars") if any(span(each, 1.0) for each in lit) else ""
    keys = [LegendKey(f"{name}{bars}", "line", "ink") for name in spotlight]
    if others:
        words = (
            others[0]
            if len(others) == 1
            else f"{len(others)} {fixed_word('form.others' if spotlight else 'chart.protocols')}"
        )
        keys.append(LegendKey(words if len(others) > 3 else ", ".join(others), "line", "grey"))
    bases = [panel.baseline for panel in panels if panel.baseline and math.isfinite(panel.baseline.value)]
    if bases:
        band = fixed_word("chart.band") if any(span(each, 1.0) for each in bases) else ""
        keys.append(LegendKey(f"{base}{band}", "dashed", "ink2"))
    return tuple(keys)


def _data(panels: Sequence[Panel], base: str) -> dict[str, list[object]]:
    columns: dict[str, list[object]] = {
        key: [] for key in ("row", "measure", "unit", "line", "epsilon", "value", "low", "high")
    }
    for panel in panels:
        entries = [(line.label, epsilon, each) for line, epsilon, each in _every(panel)]
        entries += [(base, None, panel.baseline)] if panel.baseline else []  # type: ignore[list-item]
        triple = estimate_columns("value", [each for _, _, each in entries], times=panel.axis.times)
        for place, (label, epsilon, _) in enumerate(entries):
            row = (panel.row, panel.axis.title, panel.axis.unit, label, epsilon)
            row += tuple(column[place] for column in triple.values())  # type: ignore[assignment]
            for key, cell in zip(columns, row, strict=True):
                columns[key].append(cell)
    return columns
