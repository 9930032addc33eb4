"""What can one have? Accuracy against the gap, one mark for each setting."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from evenhand.report.charts._columns import column_name, ends, estimate_columns, finite, left_out, span
from evenhand.report.charts._panels import axis_title, possible
from evenhand.report.charts._tones import SHAPE_ORDER, shapes_by, tier_keys, tones_by
from evenhand.report.drawing import Dot, Drawing, Margins, Segment, Word
from evenhand.report.language import fixed_word
from evenhand.report.page import Chart, LegendKey
from evenhand.report.placing import Box, box_around, leader_to, room_near
from evenhand.report.scales import Linear, digits_between
from evenhand.report.words import epsilon_words, number, shortened, value_of, width_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand.report.marks import Axis, Point

__all__ = ["frontier_chart", "name_of", "place_labels"]


def frontier_chart(
    points: Sequence[Point],
    *,
    baseline: Point | None,
    chosen: Point | None,
    x: Axis,
    y: Axis,
    name: str,
    alt: str,
    caption: str,
) -> Chart:
    """Draw accuracy against gap: one mark per setting, the unprotected result as a reference.

    The stronger the tone, the more private; the shape tells the split. The unprotected result is a hollow
    diamond with dashed lines both ways. The chosen setting has a ring and the cross of its two intervals. A
    line joins the settings that are marked as undominated. Points without a value are left out, and the
    caption says how many.

    Parameters
    ----------
    points : sequence of Point
        The protected settings.
    baseline : Point or None
        The unprotected result.
    chosen : Point or None
        The setting that the page is about; one of `points`.
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
    drawn = [point for point in points if finite((point.x, point.y))]
    if baseline is not None and not finite((baseline.x, baseline.y)):
        baseline = None
    if chosen is not None and not finite((chosen.x, chosen.y)):
        chosen = None
    tones = tones_by(point.epsilon for point in drawn)
    shapes = shapes_by(point.shape for point in drawn)
    wide, narrow = (
        _Frontier(drawn, baseline, chosen, x, y, tones, shapes, narrow=narrow).svg()
        for narrow in (False, True)
    )
    keys = [*tier_keys(tones), *_shape_keys(shapes)]
    if sum(point.undominated for point in drawn) > 1:
        keys.append(LegendKey(fixed_word("chart.best_reached"), "line"))
    if chosen is not None:
        keys.append(
            LegendKey(
                fixed_word("chart.this_report_intervals" if _crossed(chosen) else "chart.this_report"),
                "circle",
                hollow=True,
            )
        )
    everything = [*points, *([baseline] if baseline else [])]
    data: dict[str, list[Any]] = {
        "setting": [point.label for point in everything],
        "kind": [point.shape for point in everything],
        "epsilon": [point.epsilon for point in everything],
        **estimate_columns(column_name(x, otherwise="x"), [point.x for point in everything], times=x.times),
        **estimate_columns(column_name(y, otherwise="y"), [point.y for point in everything], times=y.times),
        "undominated": [point.undominated for point in everything],
    }
    said = left_out(caption, len(points) - len(drawn), what="settings")
    return Chart(name=name, wide=wide, narrow=narrow, alt=alt, caption=said, data=data, legend=tuple(keys))


def _crossed(point: Point) -> bool:
    return any(span(each, 1.0) for each in (point.x, point.y))


def _shape_keys(shapes: dict[str, str]) -> list[LegendKey]:
    if len(shapes) < 2:
        return []
    return [LegendKey(kind, shape, "ink3") for kind, shape in shapes.items()]


class _Frontier:
    """The picture for one width."""

    def __init__(
        self,
        points: Sequence[Point],
        baseline: Point | None,
        chosen: Point | None,
        x: Axis,
        y: Axis,
        tones: dict[float, str],
        shapes: dict[str, str],
        *,
        narrow: bool,
    ) -> None:
        self.points, self.baseline, self.chosen = points, baseline, chosen
        self.x, self.y, self.tones, self.shapes, self.narrow = x, y, tones, shapes, narrow
        every = [*points, *(point for point in (baseline,) if point)]
        crossed = [point for point in (chosen,) if point]
        width, height = (340.0, 400.0) if narrow else (1024.0, 480.0)
        margins = Margins(42, 34, 18, 50) if narrow else Margins(52, 34, 20, 52)
        plot = width - margins.left - margins.right, height - margins.top - margins.bottom
        x_values = [p.x.value for p in every] + [end for p in crossed for end in ends(p.x)]
        y_values = [p.y.value for p in every] + [end for p in crossed for end in ends(p.y)]
        self.across = Linear.over(
            [v * x.times for v in x_values],
            pixels=plot[0],
            most_ticks=5 if narrow else 10,
            within=possible(x),
        )
        self.up = Linear.over(
            [v * y.times for v in y_values], pixels=plot[1], most_ticks=7, within=possible(y)
        )
        self.digits = digits_between(self.across.ticks), digits_between(self.up.ticks)
        self.drawing = Drawing(width, height, margins, x=self.across, y=self.up)

    def svg(self) -> str:
        """Draw everything from back to front."""
        self._axes()
        if self.points:
            self._settings()
        self._front()
        if self.baseline:
            place = self._at(self.baseline)
            self.drawing.dots(
                [Dot(*place, self._tip(self.baseline))],
                shape="diamond",
                size=128,
                fill="card",
                stroke="ink",
                stroke_width=1.8,
            )
        if self.chosen:
            self._cross(self.chosen)
        self.drawing.words(*self._labels())
        return self.drawing.svg()

    def _at(self, point: Point) -> tuple[float, float]:
        return point.x.value * self.x.times, point.y.value * self.y.times

    def _pixel(self, point: Point) -> tuple[float, float]:
        across, up = self._at(point)
        return self.across(across), self.up.pixels - self.up(up)

    def _tip(self, point: Point) -> str:
        across = value_of(point.x, self.digits[0], times=self.x.times)
        up = value_of(point.y, self.digits[1], times=self.y.times)
        return f"{name_of(point)}: {self.x.title} {across}, {self.y.title} {up}"

    def _axes(self) -> None:
        plot_width, plot_height = self.drawing.plot
        left = self.drawing.margins.left
        self.drawing.words(
            Word(-left, -18, axis_title(self.y, cut=self.up.cut), colour="ink2", halo=False),
            Word(
                plot_width,
                plot_height + 40,
                axis_title(self.x, cut=self.across.cut),
                "right",
                "ink2",
                halo=False,
            ),
        )
        low_x, high_x, low_y, high_y = self.across.low, self.across.high, self.up.low, self.up.high
        if self.baseline:
            x, y = self._at(self.baseline)
            dashed = [Segment(low_x, y, high_x, y), Segment(x, low_y, x, high_y)]
            self.drawing.rules(dashed, stroke="ink2", width=1.3, dash=(5, 4))

    def _settings(self) -> None:
        """Draw the settings, the least private first."""
        for tone in ("grey", "p4", "p3", "p2", "p1"):
            for shape in dict.fromkeys(self.shapes.values()):
                dots = [
                    Dot(*self._at(point), self._tip(point))
                    for point in self.points
                    if self.tones.get(point.epsilon or 0.0, "grey") == tone
                    and self.shapes[point.shape] == shape
                ]
                size = (46 if self.narrow else 68) * (0.9 if shape == "square" else 1)
                outline = "p-line" if tone in {"p3", "p4"} else "card"
                self.drawing.dots(dots, shape=shape, size=size, fill=tone, stroke=outline, stroke_width=0.9)

    def _front(self) -> None:
        """Join the undominated by steps: as far as one goes right, the gap is at least that of the next."""
        path = self._path()
        if len(path) > 1:
            self.drawing.lines([[Dot(*place) for place in path]], stroke="ink", width=1.4)

    def _path(self) -> list[tuple[float, float]]:
        best = sorted(self._at(point) for point in self.points if point.undominated)
        path = best[:1]
        for (last_x, _), (x, y) in pairwise(best):
            path += [(last_x, y), (x, y)]
        return path

    def _strokes(self) -> list[Segment]:
        """Return the lines that a label should not lie on, in pixels: the steps, and the cross."""
        path = [(self.across(x), self.up.pixels - self.up(y)) for x, y in self._path()]
        steps = [Segment(*start, *end) for start, end in pairwise(path)]
        return [*steps, *(self._bars(self.chosen) if self.chosen else [])]

    def _cross(self, point: Point) -> None:
        """Draw the ring and both intervals of the chosen setting."""
        self.drawing.rules(self._bars(point), stroke="ink", width=1.4, pixels=True)
        tone, kind = (
            self.tones.get(point.epsilon or 0.0, "grey"),
            self.shapes.get(point.shape, SHAPE_ORDER[0]),
        )
        self.drawing.dots(
            [Dot(*self._at(point))], shape="circle", size=230, fill="card", stroke="ink", stroke_width=2
        )
        self.drawing.dots(
            [Dot(*self._at(point), self._tip(point))], shape=kind, size=64, fill=tone, stroke="p-line"
        )

    def _bars(self, point: Point) -> list[Segment]:
        """Return both intervals of a setting, with caps, in pixels."""
        x, y = self._pixel(point)
        bars = []
        if across := span(point.x, self.x.times):
            low, high = (self.across(end) for end in across)
            bars += [Segment(low, y, high, y), *(Segment(end, y - 4, end, y + 4) for end in (low, high))]
        if up := span(point.y, self.y.times):
            low, high = (self.up.pixels - self.up(end) for end in up)
            bars += [Segment(x, low, x, high), *(Segment(x - 4, end, x + 4, end) for end in (low, high))]
        return bars

    def _labels(self) -> list[Word]:
        named = [
            (point, title)
            for point, title in ((self.baseline, fixed_word("chart.unprotected")), (self.chosen, ""))
            if point
        ]
        words, leaders = place_labels(
            [
                (*self._pixel(point), title or self._named(point), self._figures(point))
                for point, title in named
            ],
            marks=[self._pixel(point) for point in self.points],
            lines=self._pixel(self.baseline) if self.baseline else None,
            strokes=self._strokes(),
            plot=self.drawing.plot,
        )
        self.drawing.rules(leaders, stroke="ink3", width=1, pixels=True)
        return words

    def _named(self, point: Point) -> str:
        """Return the name of the chosen setting; on the phone the legend says what the ring is."""
        return name_of(point) if self.narrow else f"{fixed_word('chart.this_report')}: {name_of(point)}"

    def _figures(self, point: Point) -> str:
        x, y = self._at(point)
        return f"{_with_unit(x, self.x, self.digits[0])}, {_with_unit(y, self.y, self.digits[1])}"


def _with_unit(value: float, axis: Axis, digits: int) -> str:
    gap = "" if axis.unit in {"%", ""} else "\u00a0"
    return f"{number(value, digits)}{gap}{axis.unit}"


# --- names beside marks ---------------------------------------------------------------------------

_LINE = 15.0


def name_of(point: Point) -> str:
    """Return a setting in words: its label, its kind and its epsilon, none of them twice.

    >>> from evenhand.report.marks import Estimate, Point
    >>> name_of(Point("GRR", 1.0, "k-based", Estimate(0.8), Estimate(0.3)))
    'GRR, k-based, ε = 1'
    """
    parts = [point.label]
    if point.shape and point.shape not in point.label:
        parts.append(point.shape)
    if point.epsilon is not None and "ε" not in point.label:
        parts.append(epsilon_words(point.epsilon))
    return ", ".join(part for part in parts if part)


def place_labels(
    labels: Sequence[tuple[float, float, str, str]],
    *,
    marks: Sequence[tuple[float, float]],
    lines: tuple[float, float] | None,
    strokes: Sequence[Segment] = (),
    plot: tuple[float, float],
) -> tuple[list[Word], list[Segment]]:
    """Return the words of labels (x, y, bold line, second line) and the lines that lead to them.

    The corner below on the right is kept for the word that says which way is better, and labels keep off the
    dashed lines through the unprotected result, which are at `lines`, and off upright and level `strokes`.
    """
    taken = [Box(x - 6, y - 6, 12, 12) for x, y in marks]
    taken += [box_around(stroke) for stroke in strokes]
    if lines is not None:
        taken += [Box(lines[0] - 3, 0, 6, plot[1]), Box(0, lines[1] - 3, plot[0], 6)]
    taken += [Box(x - 14, y - 14, 28, 28) for x, y, _, _ in labels]
    words = [_better(taken, plot)]
    taken.append(Box(words[0].x - 62, words[0].y - 14, 66, 22))
    leaders: list[Segment] = []
    for x, y, bold, second in labels:
        title = shortened(bold, plot[0] - 20, bold=True)
        width = max(width_of(title, bold=True), width_of(second)) + 6
        box = room_near(x, y, width=width, height=2 * _LINE + 4, plot=plot, taken=taken)
        taken.append(Box(box.left - 4, box.top - 4, box.width + 8, box.height + 8))
        words.append(Word(box.left + 3, box.top + 12, title, colour="ink", weight=600))
        words.append(Word(box.left + 3, box.top + 12 + _LINE, second, colour="ink2"))
        leaders += leader_to(box, x, y)
    return words, leaders


def _better(taken: Sequence[Box], plot: tuple[float, float]) -> Word:
    """Say which way is better: in the corner below on the right if it is free, else above the plot."""
    corner = Box(plot[0] - 66, plot[1] - 24, 66, 24)
    free = not any(corner.overlap(box) for box in taken)
    return Word(plot[0] - 4, plot[1] - 8 if free else -18, fixed_word("chart.better"), "right", "ink2")
