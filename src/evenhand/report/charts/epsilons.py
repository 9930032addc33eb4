"""Charts against epsilon: what it buys in evenness, and in each measure."""

from __future__ import annotations

import math
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Any

from evenhand.report.charts._panels import (
    PHONE,
    columns_for,
    draw_no_values,
    epsilon_axis,
    estimate_columns,
    left_out,
    panel_width,
    room_left,
    tick_labels,
    title_words,
)
from evenhand.report.drawing import Box, Dot, Drawing, Margins, Segment, Word, room_along
from evenhand.report.language import fixed_word
from evenhand.report.page import Chart, LegendKey
from evenhand.report.scales import Linear, Log, digits_between
from evenhand.report.words import epsilon_words, value_of, width_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evenhand.report.marks import Estimate, Line, Panel

# --- what does each epsilon buy? one panel for each measure ----------------------------------------

_PLOT_HEIGHT = 150.0
_PATTERNS: dict[str, tuple[float, ...]] = {"line": (), "dotted": (1.5, 3.5), "dash-dot": (8, 3, 1.5, 3)}
"""The grey lines that a reader can tell apart, by their mark in the legend; dashes are the baseline's."""

_MOST_NAMED = 12


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
        What the dashed value is called.

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
    dashes = _dashes(panels)
    pictures = []
    for width in (min(panel_width(columns), 520.0), PHONE):
        drawn = []
        for place, panel in enumerate(ordered):
            first = place == 0 or ordered[place - 1].row != panel.row
            over = values[panel.axis.title]
            named = base if first else ""
            drawn.append(
                _draw_measures(panel, over, tested, chosen_epsilon, width, base=named, dashes=dashes)
            )
        pictures.append("".join(drawn))
    missing = sum(not estimate.is_finite for panel in panels for _, _, estimate in _every(panel))
    return Chart(
        name=name,
        wide=pictures[0],
        narrow=pictures[1],
        alt=alt,
        data=_tabulate_measures(ordered, base),
        caption=left_out(caption, missing, what="values"),
        legend=_legend(panels, base, dashes),
        rows=tuple(rows) if any(rows) else (),
        columns=columns,
    )


def _draw_measures(
    panel: Panel,
    values: list[float],
    tested: tuple[float, ...],
    chosen: float | None,
    width: float,
    *,
    base: str,
    dashes: dict[str, str],
) -> str:
    up = Linear.over(values, pixels=_PLOT_HEIGHT, most_ticks=6, within=panel.axis.limits)
    margins = Margins(room_left(tick_labels(up), least=40), 52, 8, 46)
    plot_width = width - margins.left - margins.right
    height = _PLOT_HEIGHT + margins.top + margins.bottom
    across = Log(tested, plot_width) if tested else None
    drawing = Drawing(width, height, margins, x=across, y=up)
    drawing.words(*title_words(drawing, panel.axis, cut=up.cut))
    if across is None or not values:
        return draw_no_values(drawing)
    _reference(drawing, panel, across, up, name=base)
    digits = digits_between(up.ticks)
    _others(drawing, panel, dashes)
    for line in panel.lines:
        if line.spotlight:
            _spotlight(drawing, panel, line, digits)
    epsilon_axis(drawing, across, chosen=chosen)
    return drawing.svg()


def _reference(drawing: Drawing, panel: Panel, across: Log, up: Linear, *, name: str) -> None:
    """Draw the unprotected value as a dashed line on the band of its interval."""
    base, times = panel.baseline, panel.axis.times
    if base is None or not base.is_finite:
        return
    width, height = drawing.plot
    level = height - up(base.value * times)
    low = top = level
    if band := base.span(times):
        low, top = (height - up(end) for end in band)
        drawing.blocks([Segment(0, top, width, low)], fill="ink", opacity=0.08, pixels=True)
    drawing.rules([Segment(0, level, width, level)], stroke="ink2", width=1.4, dash=(5, 4), pixels=True)
    if name:
        taken = [box for line in panel.lines for box in _covered(line, times, across, up)]
        tops = (top - 18, level - 17, level + 3, low + 3)
        room = room_along(tops, width=width_of(name) + 4, height=15.0, plot=drawing.plot, taken=taken)
        drawing.words(Word(room.left + 2, room.top + 12, name, colour="ink2"))


def _covered(line: Line, times: float, across: Log, up: Linear) -> Iterator[Box]:
    """Yield what a line covers: its marks, their intervals if they are drawn, and the way between them."""
    for piece in _pieces(line):
        at = [(across(epsilon), up.pixels - up(estimate.value * times)) for epsilon, estimate in piece]
        for (x, y), (_, estimate) in zip(at, piece, strict=True):
            limits = (estimate.span(times) or ()) if line.spotlight else ()
            drawn = [up.pixels - up(end) for end in limits] or [y]
            yield Box(x - 3, min(drawn) - 3, 6, max(drawn) - min(drawn) + 6)
        for (x, y), (later, end) in pairwise(at):
            steps = max(2, int((later - x) // 6))
            for step in range(steps + 1):
                share = step / steps
                yield Box(x + share * (later - x) - 3, y + share * (end - y) - 2, 6, 4)


def _draw_lines(
    drawing: Drawing,
    panel: Panel,
    lines: Sequence[Line],
    *,
    stroke: str,
    width: float,
    dash: Sequence[float] = (),
) -> list[list[Dot]]:
    """Draw the stretches of lines, and return those that are a single point."""
    times = panel.axis.times
    pieces = [
        [Dot(epsilon, estimate.value * times, line.label) for epsilon, estimate in piece]
        for line in lines
        for piece in _pieces(line)
    ]
    drawing.lines([piece for piece in pieces if len(piece) > 1], stroke=stroke, width=width, dash=dash)
    return [piece for piece in pieces if len(piece) == 1]


def _others(drawing: Drawing, panel: Panel, dashes: dict[str, str]) -> None:
    """Draw the grey lines: a few by a pattern each, more of them alike, for context."""
    others = [line for line in panel.lines if not line.spotlight]
    for mark in dict.fromkeys(dashes.get(line.label, "line") for line in others):
        alike = [line for line in others if dashes.get(line.label, "line") == mark]
        width = 1.6 if dashes else 1
        alone = _draw_lines(drawing, panel, alike, stroke="grey", width=width, dash=_PATTERNS[mark])
        drawing.dots([dot for piece in alone for dot in piece], size=22, fill="grey")


def _dashes(panels: Sequence[Panel]) -> dict[str, str]:
    """Return the mark of each grey line by its label; none if there are too many to tell apart."""
    others = list(dict.fromkeys(line.label for panel in panels for line in panel.lines if not line.spotlight))
    return dict(zip(others, _PATTERNS, strict=False)) if len(others) <= len(_PATTERNS) else {}


def _spotlight(drawing: Drawing, panel: Panel, line: Line, digits: int) -> None:
    times = panel.axis.times
    _draw_lines(drawing, panel, [line], stroke="ink", width=2.2)
    shown = [point for piece in _pieces(line) for point in piece]
    bars = [(epsilon, estimate.span(times)) for epsilon, estimate in shown]
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


def _pieces(line: Line) -> list[list[tuple[float, Estimate]]]:
    """Return the stretches of a line between values that are missing."""
    stretches = groupby(_in_order(line), key=lambda point: point[1].is_finite and _fit(point[0]))
    return [list(stretch) for is_drawn, stretch in stretches if is_drawn]


def _in_order(line: Line) -> list[tuple[float, Estimate]]:
    return sorted(zip(line.epsilons, line.estimates, strict=True), key=lambda point: point[0])


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
    values = []
    for panel in panels:
        if panel.axis.title == title:
            shown = [mark.ends if line.spotlight else (mark.value,) for line, _, mark in _every(panel)]
            shown += [panel.baseline.ends] if panel.baseline else []
            values += [end * panel.axis.times for group in shown for end in group if math.isfinite(end)]
    return values


def _legend(panels: Sequence[Panel], base: str, dashes: dict[str, str]) -> tuple[LegendKey, ...]:
    labels = {line.label: line.spotlight for panel in panels for line in panel.lines}
    spotlight = [label for label, lit in labels.items() if lit]
    others = [label for label, lit in labels.items() if not lit]
    lit = [estimate for panel in panels for line, _, estimate in _every(panel) if line.spotlight]
    bars = fixed_word("chart.bars") if any(estimate.span() for estimate in lit) else ""
    keys = [LegendKey(f"{label}{bars}", "line", "ink") for label in spotlight]
    keys += [LegendKey(label, dashes[label], "grey") for label in others if label in dashes]
    if others and not dashes:
        named = ", ".join(others) if len(others) <= _MOST_NAMED else f"{', '.join(others[:_MOST_NAMED])}, …"
        keys.append(LegendKey(fixed_word("chart.context", count=len(others), names=named), "line", "grey"))
    bases = [panel.baseline for panel in panels if panel.baseline and panel.baseline.is_finite]
    if bases:
        band = fixed_word("chart.band") if any(estimate.span() for estimate in bases) else ""
        keys.append(LegendKey(f"{base}{band}", "dashed", "ink2"))
    return tuple(keys)


def _tabulate_measures(panels: Sequence[Panel], base: str) -> dict[str, list[Any]]:
    rows: list[tuple[Panel, str, float | None, Estimate]] = []
    for panel in panels:
        rows += [(panel, line.label, epsilon, estimate) for line, epsilon, estimate in _every(panel)]
        rows += [(panel, base, None, panel.baseline)] if panel.baseline else []
    times = [panel.axis.times for panel, *_ in rows]
    values = estimate_columns("value", [estimate for *_, estimate in rows], times=times)
    return {
        "row": [panel.row for panel, *_ in rows],
        "measure": [panel.axis.title for panel, *_ in rows],
        "unit": [panel.axis.unit for panel, *_ in rows],
        "line": [label for _, label, _, _ in rows],
        "epsilon": [epsilon for _, _, epsilon, _ in rows],
        **dict(zip(("value", "low", "high"), values.values(), strict=True)),
    }
