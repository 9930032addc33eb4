"""Accuracy against a gap, one mark for each setting: the plane that the frontier is drawn on."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from evenhand.report.charts._panels import level_scale, room_left, tick_labels
from evenhand.report.drawing import Dot, Drawing, Margins, Segment, Word
from evenhand.report.language import fixed_word
from evenhand.report.scales import Linear
from evenhand.report.words import number, value_of, width_of, wrap_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand.report.marks import Axis, Point

_LINE = 15.0


def drawable(mark: Point | None) -> Point | None:
    """Return a mark if it has both of its values, else None."""
    return mark if mark is not None and mark.x.is_finite and mark.y.is_finite else None


class Scatter:
    """The picture for one width, drawn from back to front.

    Parameters
    ----------
    marks : sequence of Point
        Every setting but the baseline.
    baseline, chosen : Point, optional
        The result that others are compared with, and the setting that the page is about.
    x, y : Axis
    tones : dict
        The tone of each epsilon.
    narrow : bool
        Whether it is for the phone.
    """

    digits: tuple[int, int]
    drawing: Drawing
    phone_height = 420.0
    scale_words = ""
    """What is said about the scale after the name of the upright axis."""

    cap = 0.0
    """How far the ends of intervals reach to both sides, in pixels."""

    def __init__(
        self,
        marks: Sequence[Point],
        baseline: Point | None,
        chosen: Point | None,
        x: Axis,
        y: Axis,
        tones: dict[float, str],
        *,
        narrow: bool,
    ) -> None:
        self.marks, self.baseline, self.chosen = marks, baseline, chosen
        self.x, self.y, self.tones, self.narrow = x, y, tones, narrow
        self.size = (340.0, self.phone_height) if narrow else (1024.0, 480.0)
        least, top, right, bottom = (42, 34, 18, 50) if narrow else (52, 34, 20, 52)
        gaps = Linear.over(self._values("y"), pixels=1.0, most_ticks=7, within=y.limits)
        left = room_left(tick_labels(gaps), least=least)
        whole = self.size[0]
        beside = width_of(fixed_word("chart.better")) + 16
        self.up_title = wrap_words(f"{y.heading(cut=True)}{self.scale_words}", whole - beside)
        self.across_title = wrap_words(x.heading(cut=True), whole - right)
        self.margins = Margins(
            left, top + _LINE * (len(self.up_title) - 1), right, bottom + _LINE * (len(self.across_title) - 1)
        )
        self.plot_height = self.size[1] - self.margins.top - self.margins.bottom
        self.across = level_scale(
            self._values("x"),
            self.size[0] - self.margins.left - self.margins.right,
            most=5 if narrow else 10,
            within=x.limits,
        )

    def _values(self, side: str) -> list[float]:
        """Return what the scale of an axis must hold: every value, and the interval of the chosen setting."""
        every = [getattr(mark, side).value for mark in (*self.marks, self.baseline) if mark]
        crossed = getattr(self.chosen, side).ends if self.chosen else ()
        return [value * getattr(self, side).times for value in (*every, *crossed)]

    def _at(self, mark: Point) -> tuple[float, float]:
        return mark.x.value * self.x.times, mark.y.value * self.y.times

    def _height(self, value: float) -> float:
        """Return how many pixels a gap is below the top."""
        raise NotImplementedError

    def _pixel(self, mark: Point) -> tuple[float, float]:
        across, up = self._at(mark)
        return self.across(across), self._height(up)

    def _dot(self, mark: Point) -> Dot:
        """Return the symbol of a mark, with what it says."""
        raise NotImplementedError

    def _named_values(self, name: str, mark: Point) -> str:
        """Return what a mark says: its name and both values with their intervals."""
        across = value_of(mark.x, self.digits[0], times=self.x.times)
        up = value_of(mark.y, self.digits[1], times=self.y.times)
        return f"{name}: {self.x.title} {across}, {self.y.title} {up}"

    def _figures(self, mark: Point) -> str:
        """Return both values of a mark with their units."""
        values = zip(self._at(mark), (self.x, self.y), self.digits, strict=True)
        return ", ".join(_with_unit(value, axis, digits) for value, axis, digits in values)

    def _titles(self, *, cut: bool) -> list[Word]:
        """Return the names of both axes, in as many lines as the margins have room for."""
        width, height = self.drawing.plot
        room = self.size[0] - width_of(fixed_word("chart.better")) - 16
        up = wrap_words(f"{self.y.heading(cut=cut)}{self.scale_words}", room)
        across = wrap_words(self.x.heading(cut=self.across.cut), self.size[0] - self.margins.right)
        first = -18 - _LINE * (len(up) - 1)
        return [
            *(
                Word(-self.margins.left, first + _LINE * place, line, colour="ink2", halo=False)
                for place, line in enumerate(up)
            ),
            *(
                Word(width, height + 40 + _LINE * place, line, "right", "ink2", halo=False)
                for place, line in enumerate(across)
            ),
        ]

    def _diamond(self, mark: Point) -> None:
        """Draw the baseline."""
        dots = [self._dot(mark)]
        self.drawing.dots(dots, shape="diamond", size=128, fill="card", stroke="ink", stroke_width=1.8)

    def _cross(self, mark: Point, *, tone: str, shape: str = "circle", size: float, width: float) -> None:
        """Draw the ring and both intervals of the chosen setting."""
        self.drawing.rules(self._bars(mark), stroke="ink", width=width, pixels=True)
        dot = self._dot(mark)
        self.drawing.dots([replace(dot, tip="")], size=230, fill="card", stroke="ink", stroke_width=2)
        self.drawing.dots([dot], shape=shape, size=size, fill=tone, stroke="p-line")

    def _bars(self, mark: Point) -> list[Segment]:
        """Return both intervals of a setting, with caps if there are any, in pixels."""
        x, y = self._pixel(mark)
        bars, cap = [], self.cap
        if across := mark.x.span(self.x.times):
            low, high = (self.across(end) for end in across)
            bars += [Segment(low, y, high, y)]
            bars += [Segment(end, y - cap, end, y + cap) for end in (low, high) if cap]
        if up := mark.y.span(self.y.times):
            low, high = (self._height(end) for end in up)
            bars += [Segment(x, low, x, high)]
            bars += [Segment(x - cap, end, x + cap, end) for end in (low, high) if cap]
        return bars


def _with_unit(value: float, axis: Axis, digits: int) -> str:
    gap = "" if axis.unit in {"%", ""} else "\u00a0"
    return f"{number(value, digits)}{gap}{axis.unit}"
