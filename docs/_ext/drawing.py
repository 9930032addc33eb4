"""Draw small line charts as SVG: direct labels, logarithmic axes, colours from the page's style sheet."""

from __future__ import annotations

import math
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Axis", "Line", "Panel", "number", "panel_svg"]

WIDTH, HEIGHT = 316, 250
LEFT, RIGHT, TOP, BOTTOM = 46, 74, 30, 46
LABEL_GAP = 14  # between two labels at the end of lines
SAME = 5  # lines that end closer than this share a label, if it is short enough
LONGEST = 6  # letters of a shared label


@dataclass(frozen=True)
class Axis:
    """Ticks in order, the first and last of which end the axis, and a name with its unit."""

    name: str
    ticks: Sequence[float]
    logarithmic: bool = True
    private_end: bool = False

    def place(self, value: float, low: float, high: float) -> float:
        """Return where `value` stands between `low` and `high`, cut at both."""
        scale = math.log if self.logarithmic else float
        first, last = scale(self.ticks[0]), scale(self.ticks[-1])
        share = (scale(value) - first) / (last - first)
        return low + min(max(share, 0.0), 1.0) * (high - low)


@dataclass(frozen=True)
class Line:
    """One curve; `own` is drawn in ink, the others thin and grey."""

    label: str
    points: Sequence[tuple[float, float]]
    own: bool = False
    dashed: bool = False


@dataclass(frozen=True)
class Panel:
    """A chart with its finding as a heading and a sentence for those who cannot see it."""

    finding: str
    spoken: str
    across: Axis
    up: Axis
    lines: Sequence[Line]


def number(value: float) -> str:
    """Write a number in three significant digits, without exponents.

    >>> [number(each) for each in (0.000123456, 0.5, 3.63025, 62.31, 1234.5, 0.0)]
    ['0.000123', '0.5', '3.63', '62.3', '1,230', '0']
    """
    if value == 0:
        return "0"
    digits = 2 - math.floor(math.log10(abs(value)))
    rounded = round(value, digits)
    shown = f"{rounded:,.{max(digits, 0)}f}"
    return shown.rstrip("0").rstrip(".") if "." in shown else shown


def panel_svg(panel: Panel) -> str:
    """Return the SVG element of a panel."""
    others = [each for each in panel.lines if not each.own]
    own = [each for each in panel.lines if each.own]
    parts = [
        *_grid(panel.up),
        *_across(panel.across),
        *(_curve(each, panel) for each in others),
        *(_curve(each, panel) for each in own),
        *(mark for each in own for mark in _marks(each, panel)),
        *_labels(panel),
    ]
    body = "\n".join(parts)
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(panel.spoken, quote=True)}">\n'
        f"{body}\n</svg>"
    )


def _x(panel: Panel, value: float) -> float:
    return panel.across.place(value, LEFT, WIDTH - RIGHT)


def _y(panel: Panel, value: float) -> float:
    return panel.up.place(value, HEIGHT - BOTTOM, TOP)


def _text(x: float, y: float, words: str, kind: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}">{escape(words)}</text>'


def _grid(axis: Axis) -> list[str]:
    drawn = [_text(0, 12, axis.name, "name")]
    for tick in axis.ticks:
        y = axis.place(tick, HEIGHT - BOTTOM, TOP)
        drawn.append(f'<line x1="{LEFT}" y1="{y:.1f}" x2="{WIDTH - RIGHT}" y2="{y:.1f}" class="grid"/>')
        drawn.append(_text(LEFT - 6, y + 4, number(tick), "tick up"))
    return drawn


def _across(axis: Axis) -> list[str]:
    low, high, foot = LEFT, WIDTH - RIGHT, HEIGHT - BOTTOM
    drawn = []
    if axis.private_end:
        quarter = (high - low) / 4
        drawn += [
            f'<rect x="{low + i * quarter:.1f}" y="{foot + 1}" width="{quarter:.1f}" height="4" '
            f'class="tone{i}"/>'
            for i in range(4)
        ]
        drawn.append(_text(low, HEIGHT - 6, "← more private", "private"))
    for tick in axis.ticks:
        x = axis.place(tick, low, high)
        drawn.append(f'<line x1="{x:.1f}" y1="{foot}" x2="{x:.1f}" y2="{foot + 8}" class="stroke"/>')
        drawn.append(_text(x, foot + 21, number(tick), "tick"))
    drawn.append(f'<line x1="{low}" y1="{foot}" x2="{high}" y2="{foot}" class="stroke"/>')
    drawn.append(_text(high, HEIGHT - 6, axis.name, "name end"))
    return drawn


def _inside(line: Line, panel: Panel) -> list[tuple[float, float]]:
    """Return the points that are on the chart, up to the first that leaves it at the foot."""
    low, high = panel.up.ticks[0], panel.up.ticks[-1]
    return [(x, y) for x, y in line.points if low <= y <= high]


def _curve(line: Line, panel: Panel) -> str:
    kind = ("own" if line.own else "other") + (" dashed" if line.dashed else "")
    places = " ".join(f"{_x(panel, x):.1f},{_y(panel, y):.1f}" for x, y in _inside(line, panel))
    return f'<polyline points="{places}" class="{kind}"/>'


def _marks(line: Line, panel: Panel) -> list[str]:
    drawn = []
    for x, y in _inside(line, panel):
        if any(math.isclose(x, tick) for tick in panel.across.ticks):
            tip = escape(f"{line.label}, {panel.across.name} {number(x)}: {number(y)}")
            place = f'cx="{_x(panel, x):.1f}" cy="{_y(panel, y):.1f}"'
            drawn.append(f'<circle {place} r="3" class="mark"><title>{tip}</title></circle>')
    return drawn


def _labels(panel: Panel) -> list[str]:
    """Name each line at its right end; lines that end together share a label, the others are set apart."""
    ends = []
    for each in panel.lines:
        shown = _inside(each, panel)
        if shown:
            ends.append((_y(panel, shown[-1][1]), _x(panel, shown[-1][0]), each))
    ends.sort(key=lambda end: end[0])
    groups: list[list[tuple[float, float, Line]]] = []
    for end in ends:
        last = groups[-1] if groups else [(-math.inf, -math.inf, end[2])]
        near = end[0] - last[-1][0] < SAME and abs(end[1] - last[-1][1]) < SAME
        if near and sum(len(each[2].label) for each in (*last, end)) <= LONGEST:
            last.append(end)
        else:
            groups.append([end])
    places = _apart([sum(end[0] for end in group) / len(group) for group in groups])
    drawn = []
    for group, y in zip(groups, places, strict=True):
        x = max(end[1] for end in group)
        names = ", ".join(
            f'<tspan class="{"ours" if end[2].own else "theirs"}">{escape(end[2].label)}</tspan>'
            for end in group
        )
        meant = sum(end[0] for end in group) / len(group)
        if abs(y - meant) > 3:
            drawn.append(
                f'<line x1="{x + 3:.1f}" y1="{meant:.1f}" x2="{x + 9:.1f}" y2="{y:.1f}" class="leader"/>'
            )
        drawn.append(f'<text x="{x + 11:.1f}" y="{y + 4:.1f}" class="label">{names}</text>')
    return drawn


def _apart(wanted: Sequence[float]) -> list[float]:
    """Return places near those wanted, in their order, at least a label's height apart, on the chart."""
    places = list(wanted)
    for _ in range(200):
        moved = False
        for i in range(len(places) - 1):
            short = LABEL_GAP - (places[i + 1] - places[i])
            if short > 0.01:
                places[i] -= short / 2
                places[i + 1] += short / 2
                moved = True
        low, high = TOP - 4, HEIGHT - BOTTOM - 3
        for i, each in enumerate(places):
            least, most = low + i * LABEL_GAP, high - (len(places) - 1 - i) * LABEL_GAP
            places[i] = min(max(each, least), most)
        if not moved:
            break
    return places
