"""What can one have? Accuracy against the gap, one mark for each setting."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from evenhand.report.charts._panels import (
    SHAPE_ORDER,
    estimate_columns,
    left_out,
    shapes_by,
    tier_keys,
    tones_by,
)
from evenhand.report.charts._scatter import Scatter, drawable
from evenhand.report.drawing import Box, Dot, Drawing, Segment, Word, box_around, leader_to, room_near
from evenhand.report.language import fixed_word
from evenhand.report.page import Chart, LegendKey
from evenhand.report.scales import Linear, digits_between
from evenhand.report.words import epsilon_words, shortened, width_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand.report.marks import Axis, Point


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
    drawn = [point for point in points if drawable(point)]
    baseline, chosen = drawable(baseline), drawable(chosen)
    tones = tones_by(point.epsilon for point in drawn)
    shapes = shapes_by(point.shape for point in drawn)
    wide, narrow = (
        _Frontier(drawn, baseline, chosen, x, y, tones, shapes=shapes, narrow=narrow).svg()
        for narrow in (False, True)
    )
    keys = tier_keys(tones)
    if len(shapes) > 1:
        keys += [LegendKey(kind, shape, "ink3") for kind, shape in shapes.items()]
    if sum(point.undominated for point in drawn) > 1:
        keys.append(LegendKey(fixed_word("chart.best_reached"), "line"))
    if chosen is not None:
        crossed = "_intervals" if any(side.span() for side in (chosen.x, chosen.y)) else ""
        keys.append(LegendKey(fixed_word(f"chart.this_report{crossed}"), "circle", hollow=True))
    everything = [*points, *([baseline] if baseline else [])]
    data: dict[str, list[Any]] = {
        "setting": [point.label for point in everything],
        "kind": [point.shape for point in everything],
        "epsilon": [point.epsilon for point in everything],
        **estimate_columns(x.column(otherwise="x"), [point.x for point in everything], times=x.times),
        **estimate_columns(y.column(otherwise="y"), [point.y for point in everything], times=y.times),
        "undominated": [point.undominated for point in everything],
    }
    caption = left_out(caption, len(points) - len(drawn), what="settings")
    return Chart(name, wide, narrow, alt, caption, data, tuple(keys))


class _Frontier(Scatter):
    phone_height = 400.0
    cap = 4.0

    def __init__(self, *args: Any, shapes: dict[str, str], narrow: bool) -> None:
        super().__init__(*args, narrow=narrow)
        self.shapes = shapes
        self.up = Linear.over(self._values("y"), pixels=self.plot_height, most_ticks=7, within=self.y.limits)
        self.digits = digits_between(self.across.ticks), digits_between(self.up.ticks)
        self.drawing = Drawing(*self.size, self.margins, x=self.across, y=self.up)

    def svg(self) -> str:
        self.drawing.words(*self._titles(cut=self.up.cut))
        if self.baseline:
            x, y = self._at(self.baseline)
            level = Segment(self.across.low, y, self.across.high, y)
            upright = Segment(x, self.up.low, x, self.up.high)
            self.drawing.rules([level, upright], stroke="ink2", width=1.3, dash=(5, 4))
        self._settings()
        path = self._path()
        if len(path) > 1:
            self.drawing.lines([[Dot(*place) for place in path]], stroke="ink", width=1.4)
        if self.baseline:
            self._diamond(self.baseline)
        if self.chosen:
            shape = self.shapes.get(self.chosen.shape, SHAPE_ORDER[0])
            self._cross(self.chosen, tone=self._tone(self.chosen), shape=shape, size=64, width=1.4)
        self.drawing.words(*self._labels())
        return self.drawing.svg()

    def _height(self, value: float) -> float:
        return self.up.pixels - self.up(value)

    def _dot(self, mark: Point) -> Dot:
        return Dot(*self._at(mark), self._named_values(name_of(mark), mark))

    def _tone(self, point: Point) -> str:
        return self.tones.get(point.epsilon or 0.0, "grey")

    def _settings(self) -> None:
        """Draw the settings, the least private first."""
        for tone in ("grey", "p4", "p3", "p2", "p1"):
            for shape in dict.fromkeys(self.shapes.values()):
                dots = [
                    self._dot(point)
                    for point in self.marks
                    if self._tone(point) == tone and self.shapes[point.shape] == shape
                ]
                size = (46 if self.narrow else 68) * (0.9 if shape == "square" else 1)
                outline = "p-line" if tone in {"p3", "p4"} else "card"
                self.drawing.dots(dots, shape=shape, size=size, fill=tone, stroke=outline, stroke_width=0.9)

    def _path(self) -> list[tuple[float, float]]:
        """Join the undominated by steps: as far as one goes right, the gap is at least that of the next."""
        best = sorted(self._at(point) for point in self.marks if point.undominated)
        path = best[:1]
        for (last_x, _), (x, y) in pairwise(best):
            path += [(last_x, y), (x, y)]
        return path

    def _labels(self) -> list[Word]:
        path = [(self.across(x), self._height(y)) for x, y in self._path()]
        strokes = [Segment(*start, *end) for start, end in pairwise(path)]
        strokes += self._bars(self.chosen) if self.chosen else []
        named = [(self.baseline, fixed_word("chart.unprotected"))] if self.baseline else []
        if self.chosen:  # on the phone the legend says what the ring is
            this = "" if self.narrow else f"{fixed_word('chart.this_report')}: "
            named.append((self.chosen, f"{this}{name_of(self.chosen)}"))
        words, leaders = place_labels(
            [(*self._pixel(point), title, self._figures(point)) for point, title in named],
            marks=[self._pixel(point) for point in self.marks],
            lines=self._pixel(self.baseline) if self.baseline else None,
            strokes=strokes,
            plot=self.drawing.plot,
        )
        self.drawing.rules(leaders, stroke="ink3", width=1, pixels=True)
        return words


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
