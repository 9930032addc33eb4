"""What did parity change? Accuracy against the gap, one named mark for each way, with bounds as whiskers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evenhand.report.charts._panels import estimate_columns, left_out, level_grid, scaled, tier_keys, tones_by
from evenhand.report.charts._scatter import Scatter, drawable
from evenhand.report.drawing import (
    Box,
    Dot,
    Drawing,
    Segment,
    Word,
    box_around,
    leader_to,
    room_along,
    room_near,
)
from evenhand.report.language import fixed_word
from evenhand.report.marks import Traded
from evenhand.report.page import Chart, LegendKey
from evenhand.report.scales import digits_between
from evenhand.report.words import epsilon_words, number, shortened, width_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand.report.marks import Axis

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
    drawn = [mark for mark in marks if drawable(mark)]
    tones = tones_by(map(_promised, drawn))
    wide, narrow = (
        _Tradeoff(drawn, drawable(baseline), drawable(chosen), x, y, tones, floor=floor, narrow=narrow).svg()
        for narrow in (False, True)
    )
    every = [*marks, *([baseline] if baseline else [])]
    data: dict[str, list[Any]] = {
        "method": [mark.label for mark in every],
        "epsilon": [mark.epsilon for mark in every],
        "private": [_promised(mark) is not None for mark in every],
        **estimate_columns(x.column(otherwise="x"), [mark.x for mark in every], times=x.times),
        **estimate_columns(y.column(otherwise="y"), [mark.y for mark in every], times=y.times),
        "bound_on_the_mean": [scaled(mark.bound, y.times) for mark in every],
        "bound_95": [scaled(mark.far_bound, y.times) for mark in every],
    }
    caption = left_out(caption, len(marks) - len(drawn), what="settings")
    return Chart(name, wide, narrow, alt, caption, data, _legend(drawn, drawable(baseline), tones))


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
        for tick in reversed([tick for tick in _TICKS[1:] if self.high / 100 <= tick <= self.high]):
            if all(abs(self(tick) - self(other)) >= _APART for other in kept):
                kept.append(tick)
        return tuple(sorted(kept))


def _legend(
    marks: Sequence[Traded], baseline: Traded | None, tones: dict[float, str]
) -> tuple[LegendKey, ...]:
    keys = tier_keys(tones)
    if any(_promised(mark) is None for mark in marks):
        keys.append(LegendKey("not private", "circle", "ink2", hollow=True))
    if baseline is not None:
        keys.append(LegendKey(baseline.label.lower(), "diamond", "ink", hollow=True))
    if any(mark.bound is not None for mark in marks):
        keys.append(LegendKey("up to the bound on the mean gap", "line", "ink3"))
    if any(mark.far_bound is not None for mark in marks):
        keys.append(LegendKey("up to the bound with 95%", "dashed", "ink3"))
    return tuple(keys)


class _Tradeoff(Scatter[Traded]):
    scale_words = ", square-root scale"

    def __init__(self, *args: Any, floor: float | None, narrow: bool) -> None:
        super().__init__(*args, narrow=narrow)
        bounds = [bound for mark in self.marks for bound in (mark.bound, mark.far_bound) if bound]
        self.floor = None if floor is None else floor * self.y.times
        self.up = _Roots.over(
            [0.0, self.floor or 0.0, *self._values("y"), *(bound * self.y.times for bound in bounds)],
            pixels=self.plot_height,
        )
        self.digits = max(1, digits_between(self.across.ticks)), 1
        self.drawing = Drawing(*self.size, self.margins, x=self.across)

    def svg(self) -> str:
        self._axes()
        self._whiskers()
        self._settings()
        if self.baseline:
            self._diamond(self.baseline)
        if self.chosen:
            self._cross(self.chosen, tone=self._tone(self.chosen) or "card", size=70, width=1.8)
        self._labels()
        return self.drawing.svg()

    def _height(self, value: float) -> float:
        return self.up(value)

    def _tone(self, mark: Traded) -> str:
        """Return the tone of what is promised, or an empty text for a mark that is not private."""
        return self.tones.get(_promised(mark) or 0.0, "")

    def _dot(self, mark: Traded) -> Dot:
        across, up = self._at(mark)
        bounds = [
            f"{words} {number(bound * self.y.times, self.digits[1])}"
            for words, bound in (("bound on the mean", mark.bound), ("bound with 95%", mark.far_bound))
            if bound is not None
        ]
        name = _name(mark) if mark.epsilon is None else f"{_name(mark)}, {_trained(mark)}"
        return Dot(across, self.up(up), ", ".join([self._named_values(name, mark), *bounds]))

    def _axes(self) -> None:
        width = self.drawing.plot[0]
        self.drawing.words(
            *self._titles(cut=False),
            Word(width - 4, -18, fixed_word("chart.better"), "right", "ink2"),
        )
        level_grid(self.drawing, [(self.up(tick), number(tick, int(tick % 1 > 0))) for tick in self.up.ticks])
        if self.floor is not None:
            line = [Segment(0, self.up(self.floor), width, self.up(self.floor))]
            self.drawing.rules(line, stroke="ink2", width=1.2, dash=(2, 3), pixels=True)

    def _whiskers(self) -> None:
        """Draw the bounds: a line with a cap up to that on the mean, then a dashed open one."""
        lines, open_ended = [], []
        for mark in self.marks:
            x, y = self._pixel(mark)
            start = y
            if mark.bound is not None:
                start = self.up(mark.bound * self.y.times)
                lines += [Segment(x, y, x, start), Segment(x - 4, start, x + 4, start)]
            if mark.far_bound is not None and mark.far_bound > (mark.bound or 0.0):
                open_ended.append(Segment(x, start, x, self.up(mark.far_bound * self.y.times)))
        self.drawing.rules(lines, stroke="ink3", width=1, pixels=True)
        self.drawing.rules(open_ended, stroke="ink3", width=1, dash=(3, 3), pixels=True)

    def _settings(self) -> None:
        """Draw the settings, the least private first; those that are not private are hollow."""
        size = 54 if self.narrow else 76
        for tone in ("", "p4", "p3", "p2", "p1"):
            dots = [self._dot(mark) for mark in self.marks if self._tone(mark) == tone]
            outline = "p-line" if tone in {"p3", "p4"} else "card"
            self.drawing.dots(
                dots,
                size=size,
                fill=tone or "card",
                stroke=outline if tone else "ink2",
                stroke_width=0.9 if tone else 1.6,
            )

    # --- words ------------------------------------------------------------------------------------

    def _labels(self) -> None:
        """Name each way once, beside the mark of its smallest epsilon or beside the chosen one."""
        plot = self.drawing.plot
        taken = [Box(x - 8, y - 8, 16, 16) for x, y in map(self._pixel, self.marks)]
        taken += [box_around(stroke) for stroke in self._strokes()]
        leaders: list[Segment] = []
        if self.floor is not None:
            self._label_floor(self.floor, taken)
        for mark in self._named():
            bold = mark is self.chosen
            title = shortened(_name(mark), plot[0] * 0.6, bold=bold)
            second = self._figures(mark) if bold or mark is self.baseline else ""
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
        for mark in self.marks:
            if mark.label not in ways or mark is self.chosen:
                ways[mark.label] = mark
        rest = [mark for mark in ways.values() if mark is not self.chosen]
        return [mark for mark in (self.chosen, self.baseline, *rest) if mark]

    def _strokes(self) -> list[Segment]:
        strokes = self._bars(self.chosen) if self.chosen else []
        for mark in self.marks:
            bounds = [bound for bound in (mark.bound, mark.far_bound) if bound is not None]
            if bounds:
                x, y = self._pixel(mark)
                strokes.append(Segment(x, self.up(max(bounds) * self.y.times), x, y))
        if self.baseline:
            x, y = self._pixel(self.baseline)
            strokes.append(Segment(x - 8, y - 8, x + 8, y + 8))
        return strokes

    def _label_floor(self, floor: float, taken: list[Box]) -> None:
        """Say what the dashed line is, at whichever end it hides least."""
        level = self.up(floor)
        amount = number(floor, self.digits[1])
        words = f"equal rates: {amount}" if self.narrow else f"equal rates would show about {amount}"
        plot = self.drawing.plot
        tops = (level - 17, level + 3)
        room = room_along(tops, width=width_of(words) + 4, height=14.0, plot=plot, taken=taken)
        taken += [room, Box(0, level - 1, plot[0], 2)]
        self.drawing.words(Word(room.left + 2, room.top + 12, words, colour="ink2"))

    def _figures(self, mark: Traded) -> str:
        epsilon = "" if mark.epsilon is None else f"{_trained(mark)}: "
        return f"{epsilon}{super()._figures(mark)}"


def _promised(mark: Traded) -> float | None:
    """Return the epsilon that is promised to somebody, which is not any that went into training."""
    return mark.epsilon if mark.is_private else None


def _name(mark: Traded) -> str:
    return mark.label if mark.is_private or mark.epsilon is None else f"{mark.label}, not private"


def _trained(mark: Traded) -> str:
    how = "" if mark.is_private else "trained with "
    return f"{how}{epsilon_words(mark.epsilon or 0.0)}"
