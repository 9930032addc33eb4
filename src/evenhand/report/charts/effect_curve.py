"""Draw what the worst-off lack over epsilon, more private to the right: one line for each remedy."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from evenhand.report.charts._panels import split_at_gaps, tick_labels
from evenhand.report.language import fixed_word
from evenhand.report.page import Chart
from evenhand.report.scales import Linear, Log, labelled_ticks
from evenhand.report.sketch import Letters, Sketch, fit_lines
from evenhand.report.words import epsilon_of, width_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand.report.marks import LackCurve, Lacking

_ALONE, _BESIDE, _NARROW = (928.0, 300.0, 200.0), (432.0, 290.0, 118.0), (346.0, 280.0, 106.0)
"""Width, height and room for the names of lines: alone or beside a table at the desk, and on the phone."""

_LEAST_APART, _LINE = 16.0, 15.0


def lack_chart(curve: LackCurve, *, name: str, is_alone: bool = False) -> Chart:
    """Return the trade-off over epsilon as a picture.

    Parameters
    ----------
    curve : LackCurve
    name : str
        Stem of file names.
    is_alone : bool
        Whether nothing stands beside it, so that it is as wide as the page.
    """
    wide, narrow = (_draw(curve, *size) for size in (_ALONE if is_alone else _BESIDE, _NARROW))
    points = [(line.name, *point) for line in curve.lines for point in _points(line)]
    names, epsilons, lacks = (
        (list(column) for column in zip(*points, strict=True)) if points else ([], [], [])
    )
    return Chart(
        name=name,
        wide=wide,
        narrow=narrow,
        alt=curve.alt,
        caption="",
        data={"method": names, "epsilon": epsilons, "worst_off_lack": lacks},
        rows=(f"**{curve.title}** {curve.unit}".rstrip(),),
    )


def _runs(line: Lacking) -> list[list[tuple[float, float]]]:
    """Return the epsilons of a line from the largest, each with what is lacking, in runs between gaps."""
    pairs = zip(line.epsilons, line.lacks, strict=True)
    drawn = sorted((pair for pair in pairs if 0 < pair[0] < math.inf), reverse=True)
    return split_at_gaps(drawn, lambda pair: math.isfinite(pair[1]))


def _points(line: Lacking) -> list[tuple[float, float]]:
    return [point for run in _runs(line) for point in run]


def _draw(curve: LackCurve, width: float, height: float, names: float) -> str:
    ends = [end for line in curve.lines for end in (line.low, line.high, *(y for _, y in _points(line)))]
    labels_at = height - 44
    up = Linear.over([0.0, curve.matters, *ends], pixels=labels_at - 12, most_ticks=6, from_zero=True)
    left = max(30.0, *(width_of(label) + 8 for label in tick_labels(up)))
    right = width - names - 10
    sketch = Sketch(width, height)
    for tick, label in zip(up.ticks, tick_labels(up), strict=True):
        y = labels_at - up(tick)
        sketch.line((left, y), (right, y), stroke="grid")
        sketch.word(left - 6, y + 4, label, anchor="end")
    epsilons = sorted({point[0] for line in curve.lines for point in _points(line)})
    across = Log(tuple(epsilons) or (1.0,), right - left, inset=10.0)
    _draw_epsilons(sketch, across, curve.chosen, left, right, labels_at)
    named = []
    if curve.matters:
        y = labels_at - up(curve.matters)
        sketch.line((left, y), (right + 6, y), stroke="ink2", width=1.2, dash=(5, 4))
        named.append((y, curve.matters_words, Letters("ink2", 12)))
    is_advised = any(line.role == "recommended" for line in curve.lines)
    for line in sorted(curve.lines, key=lambda each: ("other", "page", "recommended").index(each.role)):
        runs = [
            [(right - across(epsilon), labels_at - up(lack)) for epsilon, lack in run] for run in _runs(line)
        ]
        if not runs:
            continue
        chosen = dict(_points(line)).get(curve.chosen)
        hue = _hue(line, chosen, curve.matters)
        if chosen is not None and line.role != "other":
            x = right - across(curve.chosen)
            limits = [labels_at - up(end) for end in (line.low, line.high) if math.isfinite(end)]
            is_ringed = line.role == "recommended" or (hue == "ink" and not is_advised)
            _draw_chosen(sketch, x, labels_at - up(chosen), limits, hue, is_ringed=is_ringed)
        for places in runs:
            if len(places) > 1:
                sketch.line(*places, stroke=hue, width=1.6 if line.role == "other" else 2.4)
            for x, y in places:
                sketch.mark(x, y, 2.6 if line.role == "other" else 3.4, fill=hue, stroke=hue, width=0)
        colour = {"g1": "g1-text", "ghost": "ink2"}.get(hue, hue)
        named.append((runs[-1][-1][1], line.name, Letters(colour, 13, is_bold=line.role != "other")))
    _write_names(sketch, named, right + 10, names, labels_at)
    return sketch.svg()


def _hue(line: Lacking, chosen: float | None, matters: float) -> str:
    """Return the colour of a line: the page's own is that of harm where what is lacking matters."""
    if line.role == "page":
        return "ink" if chosen is not None and chosen < matters else "g1"
    return "ink" if line.role == "recommended" else "ghost"


def _draw_chosen(
    sketch: Sketch, x: float, y: float, limits: Sequence[float], hue: str, *, is_ringed: bool
) -> None:
    """Draw the limits at the page's epsilon, and a ring around what is advised."""
    if len(limits) == 2:
        sketch.line((x, limits[0]), (x, limits[1]), stroke=hue, width=1.5)
    if is_ringed:
        sketch.mark(x, y, 8.5, fill="", stroke="ink", width=1.8)


def _draw_epsilons(
    sketch: Sketch, across: Log, chosen: float, left: float, right: float, bottom: float
) -> None:
    """Draw the axis of epsilons; labels that would touch are left out, but never the page's own."""
    sketch.line((left, bottom), (right, bottom), stroke="ghost")
    widths = [width_of(epsilon_of(tick)) for tick in across.ticks]
    shown = labelled_ticks(across, first=(chosen,), widths=widths)
    for tick in across.ticks:
        x = right - across(tick)
        sketch.line((x, bottom), (x, bottom + 4), stroke="ghost")
        letters = Letters("ink", 12, is_bold=True) if tick == chosen else Letters()
        sketch.word(x, bottom + 20, epsilon_of(tick) if tick in shown else "", letters, anchor="middle")
    sketch.word(left, bottom + 38, fixed_word("chart.log_scale"))
    if len(across.ticks) > 1:
        text = fixed_word("chart.private_right")
        sketch.word(
            max(right, left + 96 + width_of(text)), bottom + 38, text, Letters("ink2", 12), anchor="end"
        )


def _write_names(
    sketch: Sketch, named: Sequence[tuple[float, str, Letters]], x: float, room: float, bottom: float
) -> None:
    """Write the names of lines at their ends, pushed apart, and none below the axis."""
    blocks = [
        (y, fit_lines(text, room, letters), letters)
        for y, text, letters in sorted(named, key=lambda each: each[0])
    ]
    places: list[float] = []
    least = 0.0
    for y, lines, _ in blocks:
        places.append(max(y, least))
        least = places[-1] + _LEAST_APART + _LINE * (len(lines) - 1)
    most = bottom - 2
    for place in reversed(range(len(blocks))):
        places[place] = min(places[place], most - _LINE * (len(blocks[place][1]) - 1))
        most = places[place] - _LEAST_APART
    for y, (_, lines, letters) in zip(places, blocks, strict=True):
        for row, text in enumerate(lines):
            sketch.word(x, y + 4 + _LINE * row, text, letters)
