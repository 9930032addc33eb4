"""What charts share: panels with their titles and axes, tones and shapes, and the columns of the CSV."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import groupby, repeat
from typing import TYPE_CHECKING, Any, TypeVar

from evenhand.report.drawing import Segment, Word
from evenhand.report.language import fixed_word
from evenhand.report.page import LegendKey
from evenhand.report.scales import Linear, Log, labelled_ticks
from evenhand.report.words import capital, epsilon_of, number, shortened, width_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from evenhand.report.drawing import Drawing
    from evenhand.report.marks import Axis, Estimate

Place = TypeVar("Place")

WHOLE = 1024.0
"""How many pixels a chart has at the desk."""

PHONE = 340.0
"""And on the phone."""

GAP = 24.0
"""Pixels between two panels."""


def panel_width(columns: int) -> float:
    """Return the width of one of so many panels side by side.

    >>> panel_width(4), panel_width(2)
    (238.0, 500.0)
    """
    return (WHOLE - GAP * (columns - 1)) / columns


def title_words(drawing: Drawing, axis: Axis, *, cut: bool) -> tuple[Word, Word]:
    """Return the title of a panel and the line below it: unit, and whether the axis is cut."""
    left, top = -drawing.margins.left, -drawing.margins.top
    end = f"{', ' if axis.unit else ''}{fixed_word('chart.axis_cut')}" if cut else ""
    below = f"{shortened(axis.unit, drawing.width - width_of(end))}{end}"
    title = capital(shortened(axis.title, drawing.width, 14, bold=True))
    return (
        Word(left, top + 13, title, colour="ink", weight=600, size=14, halo=False),
        Word(left, top + 30, below, colour="ink3", halo=False),
    )


def epsilon_axis(drawing: Drawing, scale: Log) -> None:
    """Write the labels of the epsilon axis and which end is more private.

    Every tested value has a tick; labels that would touch are dropped, but never those of the ends.
    """
    width, height = drawing.plot
    names = [epsilon_of(tick) for tick in scale.ticks]
    shown = labelled_ticks(scale, widths=[width_of(name) for name in names])
    for tick, name in zip(scale.ticks, names, strict=True):
        if tick in shown:
            drawing.words(Word(scale(tick), height + 18, name, "center", "ink3", halo=False))
    if len(scale.ticks) > 1:
        more_private, log_scale = fixed_word("chart.more_private"), fixed_word("chart.log_scale")
        needed = width_of(more_private) + width_of(log_scale) + 12
        left = 0.0 if needed <= width else -drawing.margins.left
        right = width if needed <= width - left else width + drawing.margins.right
        drawing.words(Word(left, height + 36, more_private, colour="ink2", halo=False))
        drawing.words(Word(right, height + 36, log_scale, "right", "ink3", halo=False))
    else:
        drawing.words(Word(width, height + 36, "ε", "right", "ink3", halo=False))


def draw_no_values(drawing: Drawing) -> str:
    """Return the picture of a panel that has no values, which says so."""
    width, height = drawing.plot
    drawing.rules([Segment(0, height, width, height)], stroke="ghost", width=1, pixels=True)
    drawing.words(Word(width / 2, height / 2, fixed_word("chart.no_values"), "center", "ink3", halo=False))
    return drawing.svg()


def split_at_gaps(points: Iterable[Place], is_known: Callable[[Place], bool]) -> list[list[Place]]:
    """Return the runs of points between those that are not known, across which no line is drawn.

    >>> split_at_gaps([1.0, math.nan, 2.0, 3.0], math.isfinite)
    [[1.0], [2.0, 3.0]]
    """
    return [list(run) for known, run in groupby(points, key=is_known) if known]


def level_scale(values: list[float], pixels: float, *, most: int, **options: Any) -> Linear:
    """Return a scale from left to right with as many ticks as their labels leave room for."""
    for ticks in range(most, 2, -1):
        scale = Linear.over(values, pixels=pixels, most_ticks=ticks, **options)
        widest = max(width_of(label) for label in tick_labels(scale))
        if widest + 8 <= scale(scale.ticks[1]) - scale(scale.ticks[0]):
            break
    return scale


def tick_labels(scale: Linear) -> list[str]:
    """Return the ticks of a scale as its axis writes them."""
    return [number(tick, scale.tick_digits) for tick in scale.ticks]


def room_left(labels: Iterable[str], *, least: float) -> float:
    """Return the margin that the labels of an upright axis need."""
    return max([least, *(width_of(label) + 12 for label in labels)])


# --- the CSV beside a chart -----------------------------------------------------------------------


def estimate_columns(
    name: str, estimates: Sequence[Estimate | None], *, times: float | Sequence[float]
) -> dict[str, list[float | None]]:
    """Return three columns: values, lower and upper ends, in the unit of the axis or of the axis of each."""
    factors = times if isinstance(times, Sequence) else repeat(times, len(estimates))
    pairs = list(zip(estimates, factors, strict=True))
    parts = {name: "value", f"{name}_low": "low", f"{name}_high": "high"}
    return {
        column: [scaled(getattr(estimate, part, None), factor) for estimate, factor in pairs]
        for column, part in parts.items()
    }


def left_out(caption: str, count: int, *, what: str) -> str:
    """Return the caption, which says how many marks have no value and are therefore not drawn.

    >>> left_out("Means.", 2, what="settings")
    'Means. Not drawn for want of a value: 2 settings.'
    """
    if not count:
        return caption
    single = f"{what.removesuffix('ies')}y" if what.endswith("ies") else what.removesuffix("s")
    words = single if count == 1 else what
    return f"{caption} {fixed_word('chart.left_out', count=number(count, 0), what=words)}".strip()


def scaled(value: float | None, times: float) -> float | None:
    """Return a value in the unit of the axis, without the last digits that only the product brought."""
    return None if value is None or not math.isfinite(value) else float(f"{value * times:.12g}")


# --- tones for epsilon and shapes for kinds, the same in every chart of a page ---------------------

SHAPE_ORDER = ("circle", "square", "triangle-up", "triangle-down", "cross")
"""Shapes in the order in which kinds appear; the diamond is kept for the unprotected result."""

_RAMPS = {1: ("p2",), 2: ("p1", "p3"), 3: ("p1", "p2", "p3"), 4: ("p1", "p2", "p3", "p4")}


def tones_by(epsilons: Iterable[float | None]) -> dict[float, str]:
    """Return a tone for every epsilon: at most four tiers, the strongest tone for the most private.

    >>> tones_by([0.5, 4.0, 1.0])
    {0.5: 'p1', 1.0: 'p2', 4.0: 'p3'}
    """
    known = {epsilon for epsilon in epsilons if epsilon is not None and epsilon > 0}
    tested = sorted(known)
    tiers = min(4, len(tested))
    tones = {}
    for tier in range(tiers):
        size, longer = divmod(len(tested), tiers)
        start = tier * size + min(tier, longer)
        for epsilon in tested[start : start + size + (tier < longer)]:
            tones[epsilon] = _RAMPS[tiers][tier]
    return tones


def tier_keys(tones: dict[float, str]) -> list[LegendKey]:
    """Return what each tone stands for, in words."""
    tiers: dict[str, list[float]] = {}
    for epsilon, tone in tones.items():
        tiers.setdefault(tone, []).append(epsilon)
    keys = []
    for place, (tone, inside) in enumerate(tiers.items()):
        low, high = epsilon_of(inside[0]), epsilon_of(inside[-1])
        values = low if len(inside) == 1 else fixed_word("form.interval", low=low, high=high)
        start = ("ε = " if len(inside) == 1 else "ε ") if place == 0 else ""
        end = fixed_word("chart.most_private") if place == 0 and len(tiers) > 1 else ""
        keys.append(LegendKey(f"{start}{values}{end}", "circle", tone))
    return keys


def shapes_by(kinds: Iterable[str]) -> dict[str, str]:
    """Return a shape for every kind, in order of appearance; from the fifth on they share one.

    >>> shapes_by(["uniform", "k-based", "uniform"])
    {'uniform': 'circle', 'k-based': 'square'}
    """
    last = len(SHAPE_ORDER) - 1
    return {kind: SHAPE_ORDER[min(place, last)] for place, kind in enumerate(dict.fromkeys(kinds))}
