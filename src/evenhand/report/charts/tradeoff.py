"""What did parity change? Accuracy against the gap, one named mark for each way, with bounds as whiskers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evenhand.report.charts._columns import column_name, ends, estimate_columns, finite, left_out, span
from evenhand.report.charts._panels import axis_title, possible
from evenhand.report.charts._tones import tier_keys, tones_by
from evenhand.report.drawing import Dot, Drawing, Margins, Segment, Word
from evenhand.report.language import fixed_word
from evenhand.report.page import Chart, LegendKey
from evenhand.report.placing import Box, box_around, leader_to, room_near
from evenhand.report.scales import Linear, digits_between
from evenhand.report.words import epsilon_words, number, shortened, value_of, width_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand.report.marks import Axis, Traded

__all__ = ["tradeoff_chart"]

_LINE = 15.0
_TICKS = (0.0, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 40.0, 60.0, 80.0, 100.0)
_APART = 20.0  # pixels between two grid lines, at least
_LEAST_TOP = 1.0


def tradeoff_chart(
    marks: Sequence[Traded],
    *,
    baseline: Traded | None,
    chosen: Traded | None,
    floor: float | None,
    x: Axis,
    y: Axis,
    name: str,
    alt: str,
    caption: str,
) -> Chart:
    """Draw accuracy against gap: a mark for each setting, named by its way, with what bounds its gap.

    The stronger the tone, the more private; a hollow mark is not private. A thin line leads from a mark to
    the bound on what is expected, with a cap, and goes on dashed and open to the bound that holds with a
    stated confidence. The baseline is a hollow diamond. The chosen setting has a ring and the cross of its
    intervals.

    Parameters
    ----------
    marks : sequence of Traded
        Every setting but the baseline.
    baseline : Traded or None
    chosen : Traded or None
        The setting that the page is about; one of `marks`.
    floor : float or None
        The gap that equal rates would show, drawn as a dashed line.
    x, y : Axis
        More of `x` and less of `y` is better.
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
    drawn = [mark for mark in marks if finite((mark.x, mark.y))]
    picked = [each if each is not None and finite((each.x, each.y)) else None for each in (baseline, chosen)]
    tones = tones_by(map(_promised, drawn))
    plan = _Plan(tuple(drawn), picked[0], picked[1], floor, x, y, tones)
    wide, narrow = (_Tradeoff(plan, narrow=narrow).svg() for narrow in (False, True))
    every = [*marks, *([baseline] if baseline else [])]
    data: dict[str, list[Any]] = {
        "way": [mark.label for mark in every],
        "epsilon": [mark.epsilon for mark in every],
        "private": [_promised(mark) is not None for mark in every],
        **estimate_columns(column_name(x, otherwise="x"), [mark.x for mark in every], times=x.times),
        **estimate_columns(column_name(y, otherwise="y"), [mark.y for mark in every], times=y.times),
        "bound_on_the_mean": [_scaled(mark.bound, y) for mark in every],
        "bound_95": [_scaled(mark.far_bound, y) for mark in every],
    }
    said = left_out(caption, len(marks) - len(drawn), what="settings")
    return Chart(name, wide, narrow, alt, said, data, _legend(plan))


@dataclass(frozen=True)
class _Roots:
    """A scale of square roots from zero: small gaps can be read, and zero has its place.

    Parameters
    ----------
    high : float
        The upper end.
    pixels : float
    """

    high: float
    pixels: float

    @classmethod
    def over(cls, values: Sequence[float], *, pixels: float) -> _Roots:
        """Return the scale that holds all values, with some room above or up to the next round value.

        >>> _Roots.over([36.0], pixels=100.0).high, round(_Roots.over([24.0], pixels=100.0).high, 1)
        (40.0, 26.4)
        """
        most = max([*values, _LEAST_TOP])
        return cls(next((tick for tick in _TICKS if 1.05 * most <= tick <= 1.3 * most), 1.1 * most), pixels)

    def __call__(self, value: float) -> float:
        """Return how many pixels a value is below the top."""
        return self.pixels * (1 - math.sqrt(max(value, 0.0) / self.high))

    @property
    def ticks(self) -> tuple[float, ...]:
        """Where grid lines are: round values that are far enough apart, zero among them."""
        kept: list[float] = [0.0]
        for tick in reversed([each for each in _TICKS[1:] if self.high / 100 <= each <= self.high]):
            if all(abs(self(tick) - self(other)) >= _APART for other in kept):
                kept.append(tick)
        return tuple(sorted(kept))


@dataclass(frozen=True)
class _Plan:
    """What is drawn, whatever the width."""

    marks: tuple[Traded, ...]
    baseline: Traded | None
    chosen: Traded | None
    floor: float | None
    x: Axis
    y: Axis
    tones: dict[float, str]


def _scaled(value: float | None, axis: Axis) -> float | None:
    return None if value is None else float(f"{value * axis.times:.12g}")


def _legend(plan: _Plan) -> tuple[LegendKey, ...]:
    keys = tier_keys(plan.tones)
    if any(_promised(mark) is None for mark in plan.marks):
        keys.append(LegendKey("not private", "circle", "ink2", hollow=True))
    if plan.baseline is not None:
        keys.append(LegendKey(plan.baseline.label.lower(), "diamond", "ink", hollow=True))
    if any(mark.bound is not None for mark in plan.marks):
        keys.append(LegendKey("up to the bound on the mean gap", "line", "ink3"))
    if any(mark.far_bound is not None for mark in plan.marks):
        keys.append(LegendKey("up to the bound with 95%", "dashed", "ink3"))
    return tuple(keys)


class _Tradeoff:
    """The picture for one width."""

    def __init__(self, plan: _Plan, *, narrow: bool) -> None:
        self.plan, self.narrow = plan, narrow
        every = [*plan.marks, *(mark for mark in (plan.baseline,) if mark)]
        crossed = [mark for mark in (plan.chosen,) if mark]
        width, height = (340.0, 420.0) if narrow else (1024.0, 480.0)
        margins = Margins(42, 34, 18, 50) if narrow else Margins(52, 34, 20, 52)
        plot = width - margins.left - margins.right, height - margins.top - margins.bottom
        across = [mark.x.value for mark in every] + [end for mark in crossed for end in ends(mark.x)]
        up = [mark.y.value for mark in every] + [end for mark in crossed for end in ends(mark.y)]
        up += [bound for mark in plan.marks for bound in (mark.bound, mark.far_bound) if bound is not None]
        up += [0.0, *([plan.floor] if plan.floor is not None else [])]
        x, y = plan.x, plan.y
        self.across = Linear.over(
            [each * x.times for each in across],
            pixels=plot[0],
            most_ticks=5 if narrow else 10,
            within=possible(x),
        )
        self.up = _Roots.over([each * y.times for each in up], pixels=plot[1])
        self.digits = max(1, digits_between(self.across.ticks)), 1
        self.drawing = Drawing(width, height, margins, x=self.across)

    def svg(self) -> str:
        """Draw everything from back to front."""
        self._axes()
        self._whiskers()
        self._marks()
        if self.plan.baseline:
            self.drawing.dots(
                [self._dot(self.plan.baseline)],
                shape="diamond",
                size=128,
                fill="card",
                stroke="ink",
                stroke_width=1.8,
            )
        if self.plan.chosen:
            self._cross(self.plan.chosen)
        self._labels()
        return self.drawing.svg()

    def _at(self, mark: Traded) -> tuple[float, float]:
        return mark.x.value * self.plan.x.times, mark.y.value * self.plan.y.times

    def _pixel(self, mark: Traded) -> tuple[float, float]:
        across, up = self._at(mark)
        return self.across(across), self.up(up)

    def _dot(self, mark: Traded) -> Dot:
        across, up = self._at(mark)
        return Dot(across, self.up(up), self._tip(mark))

    def _tip(self, mark: Traded) -> str:
        across = value_of(mark.x, self.digits[0], times=self.plan.x.times)
        up = value_of(mark.y, self.digits[1], times=self.plan.y.times)
        bounds = [
            f"{words} {number(bound * self.plan.y.times, self.digits[1])}"
            for words, bound in (("bound on the mean", mark.bound), ("bound with 95%", mark.far_bound))
            if bound is not None
        ]
        name = _name(mark) if mark.epsilon is None else f"{_name(mark)}, {_trained(mark)}"
        return ", ".join([f"{name}: {self.plan.x.title} {across}", f"{self.plan.y.title} {up}", *bounds])

    def _axes(self) -> None:
        width, height = self.drawing.plot
        left = self.drawing.margins.left
        self.drawing.words(
            Word(-left, -18, f"{axis_title(self.plan.y)}, square-root scale", colour="ink2", halo=False),
            Word(
                width, height + 40, axis_title(self.plan.x, cut=self.across.cut), "right", "ink2", halo=False
            ),
            Word(width - 4, -18, fixed_word("chart.better"), "right", "ink2"),
        )
        ticks = self.up.ticks
        lines = [Segment(0, self.up(tick), width, self.up(tick)) for tick in ticks]
        self.drawing.rules(lines, stroke="grid", width=1, pixels=True)
        for tick in ticks:
            label = number(tick, 0 if tick == int(tick) else 1)
            self.drawing.words(Word(-8, self.up(tick) + 4, label, "right", "ink3", halo=False))
        if self.plan.floor is not None:
            level = self.up(self.plan.floor * self.plan.y.times)
            line = [Segment(0, level, width, level)]
            self.drawing.rules(line, stroke="ink2", width=1.2, dash=(2, 3), pixels=True)

    def _whiskers(self) -> None:
        """Draw the bounds: a line with a cap up to that on the mean, then a dashed open one."""
        lines, open_ended = [], []
        for mark in self.plan.marks:
            x, y = self._pixel(mark)
            start = y
            if mark.bound is not None:
                start = self.up(mark.bound * self.plan.y.times)
                lines += [Segment(x, y, x, start), Segment(x - 4, start, x + 4, start)]
            if mark.far_bound is not None and mark.far_bound > (mark.bound or 0.0):
                open_ended.append(Segment(x, start, x, self.up(mark.far_bound * self.plan.y.times)))
        self.drawing.rules(lines, stroke="ink3", width=1, pixels=True)
        self.drawing.rules(open_ended, stroke="ink3", width=1, dash=(3, 3), pixels=True)

    def _marks(self) -> None:
        """Draw the settings, the least private first; those that are not private are hollow."""
        size = 54 if self.narrow else 76
        for tone in ("", "p4", "p3", "p2", "p1"):
            dots = [
                self._dot(mark)
                for mark in self.plan.marks
                if self.plan.tones.get(_promised(mark) or 0.0, "") == tone
            ]
            outline = "p-line" if tone in {"p3", "p4"} else "card"
            self.drawing.dots(
                dots,
                size=size,
                fill=tone or "card",
                stroke=outline if tone else "ink2",
                stroke_width=0.9 if tone else 1.6,
            )

    def _cross(self, mark: Traded) -> None:
        """Draw the ring and both intervals of the chosen setting."""
        self.drawing.rules(self._bars(mark), stroke="ink", width=1.8, pixels=True)
        tone = self.plan.tones.get(_promised(mark) or 0.0, "card")
        place = self._dot(mark)
        self.drawing.dots([Dot(place.x, place.y)], size=230, fill="card", stroke="ink", stroke_width=2)
        self.drawing.dots([place], size=70, fill=tone, stroke="p-line")

    def _bars(self, mark: Traded) -> list[Segment]:
        x, y = self._pixel(mark)
        bars = []
        if across := span(mark.x, self.plan.x.times):
            bars.append(Segment(self.across(across[0]), y, self.across(across[1]), y))
        if up := span(mark.y, self.plan.y.times):
            bars.append(Segment(x, self.up(max(up[0], 0.0)), x, self.up(up[1])))
        return bars

    # --- words ------------------------------------------------------------------------------------

    def _labels(self) -> None:
        """Name each way once, beside the mark of its smallest epsilon or beside the chosen one."""
        plot = self.drawing.plot
        taken = [Box(x - 8, y - 8, 16, 16) for x, y in map(self._pixel, self.plan.marks)]
        taken += [box_around(each) for each in self._strokes()]
        leaders: list[Segment] = []
        if self.plan.floor is not None:
            self._floor_label(taken)
        for mark in self._named():
            bold = mark is self.plan.chosen
            title = shortened(_name(mark), plot[0] * 0.6, bold=bold)
            second = self._figures(mark) if bold or mark is self.plan.baseline else ""
            width = max(width_of(title, bold=bold), width_of(second)) + 6
            height = (2 if second else 1) * _LINE + 3
            x, y = self._pixel(mark)
            box = room_near(x, y, width=width, height=height, plot=plot, taken=taken)
            taken.append(Box(box.left - 3, box.top - 3, box.width + 6, box.height + 6))
            self.drawing.words(
                Word(box.left + 3, box.top + 12, title, colour="ink", weight=600 if bold else 400)
            )
            if second:
                self.drawing.words(Word(box.left + 3, box.top + 12 + _LINE, second, colour="ink2"))
            leaders += leader_to(box, x, y)
        self.drawing.rules(leaders, stroke="ghost", width=1, pixels=True)

    def _named(self) -> list[Traded]:
        ways: dict[str, Traded] = {}
        for mark in self.plan.marks:
            if mark.label not in ways or mark is self.plan.chosen:
                ways[mark.label] = mark
        first = [self.plan.chosen] if self.plan.chosen else []
        rest = [mark for mark in ways.values() if mark is not self.plan.chosen]
        return [*first, *([self.plan.baseline] if self.plan.baseline else []), *rest]

    def _strokes(self) -> list[Segment]:
        found = self._bars(self.plan.chosen) if self.plan.chosen else []
        for mark in self.plan.marks:
            top = max((each for each in (mark.bound, mark.far_bound) if each is not None), default=None)
            if top is not None:
                x, y = self._pixel(mark)
                found.append(Segment(x, self.up(top * self.plan.y.times), x, y))
        if self.plan.baseline:
            x, y = self._pixel(self.plan.baseline)
            found.append(Segment(x - 8, y - 8, x + 8, y + 8))
        return found

    def _floor_label(self, taken: list[Box]) -> None:
        """Say what the dashed line is, at whichever end it hides least."""
        floor = self.plan.floor or 0.0
        level = self.up(floor * self.plan.y.times)
        amount = number(floor * self.plan.y.times, self.digits[1])
        said = f"equal rates: {amount}" if self.narrow else f"equal rates would show about {amount}"
        size = width_of(said) + 4
        width, height = self.drawing.plot
        places = [
            Box(left, top, size, 14.0)
            for top in (level - 17, level + 3)
            for left in (2.0, width - size, (width - size) / 2)
            if 0 <= top <= height - 14
        ]
        best = min(places, key=lambda box: sum(box.overlap(other) for other in taken))
        taken += [best, Box(0, level - 1, width, 2)]
        self.drawing.words(Word(best.left + 2, best.top + 12, said, colour="ink2"))

    def _figures(self, mark: Traded) -> str:
        x, y = self._at(mark)
        epsilon = "" if mark.epsilon is None else f"{_trained(mark)}: "
        unit = f"\u00a0{self.plan.y.unit}"
        return f"{epsilon}{number(x, self.digits[0])}%, {number(y, self.digits[1])}{unit}"


def _promised(mark: Traded) -> float | None:
    """Return the epsilon that is promised to somebody, which is not any that went into training."""
    return mark.epsilon if mark.is_private else None


def _name(mark: Traded) -> str:
    return mark.label if mark.is_private or mark.epsilon is None else f"{mark.label}, not private"


def _trained(mark: Traded) -> str:
    how = "" if mark.is_private else "trained with "
    return f"{how}{epsilon_words(mark.epsilon or 0.0)}"
