"""Draw what a protection does to each group: an upright bar is what is due, a dot what comes after.

A diamond is what a remedy makes of it. Shape is the stage and colour is harm, so no group has a hue. Where
all changes are too small to see beside the values, changes are drawn, with all that is no harm as a green
band.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal

from evenhand.report.charts._panels import tick_labels
from evenhand.report.language import fixed_word
from evenhand.report.page import Chart, LegendKey
from evenhand.report.scales import BarScale, Linear
from evenhand.report.sketch import Letters, Sketch, fit_lines
from evenhand.report.words import MINUS, number, shortened, width_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evenhand.report.marks import EffectPanel, EffectRow, Stage

DENSE = 8
"""From so many groups on, rows are low and numbers stand in words and table alone."""

_WIDE, _NARROW = 928.0, 346.0
_TOP, _BOTTOM = 26.0, 6.0
_BEYOND = 11.0  # from the marks to their number
_FOLD_RANGE = 100.0  # counts over such a range are drawn on a logarithmic scale
_VISIBLE = 0.1  # changes below this share of the axis are drawn as changes
_NAME, _PLAIN = Letters("ink", 14, is_bold=True), Letters("ink2", 13)
_HARM, _HARM_NUMBER = (Letters("g1-text", size, is_bold=True) for size in (14, 13))
_HARM_BELOW = Letters("g1-text", 13)


def effect_chart(panel: EffectPanel, *, name: str) -> Chart:
    """Return the rows of one effect as a picture.

    Parameters
    ----------
    panel : EffectPanel
    name : str
        Stem of file names.
    """
    wide, narrow = (_Picture(panel, is_wide=is_wide) for is_wide in (True, False))
    said = {"level": "axis_cut" if wide.scale.is_cut else "", "log": "counts_log", "change": "as_changes"}
    drawn = said[wide.scale.form]
    unit = ", ".join(filter(None, (panel.unit, fixed_word(f"chart.{drawn}") if drawn else "")))
    return Chart(
        name=name,
        wide=wide.draw(),
        narrow=narrow.draw(),
        alt=_tell(panel),
        caption=panel.rest,
        data={},
        legend=tuple(_keys(panel, wide.scale.form)),
        rows=(f"**{panel.title}** {unit}".rstrip(),),
    )


def _tell(panel: EffectPanel) -> str:
    """Return the picture in words."""
    said = [f"{panel.title} {panel.unit}".rstrip()]
    for row in panel.lines:
        stages = zip(panel.names[1:], (row.after, row.remedy), strict=True)
        parts = [f"{panel.names[0]} {row.due_shown}"]
        if not row.is_few:
            parts += [f"{name} {stage.shown}, {stage.words}" for name, stage in stages if stage]
        else:
            parts += [row.after.words]
        said.append(f"{row.label}: {'; '.join(parts)}")
    return ". ".join([*said, ""]).rstrip()


def _keys(panel: EffectPanel, form: str) -> Iterator[LegendKey]:
    """Yield what the marks stand for."""
    judged = [row for row in panel.lines if not row.is_few]
    yield LegendKey(panel.names[0], "upright")
    yield LegendKey(panel.names[1], "circle", "ink3", hollow=not judged)
    if any(row.remedy for row in judged):
        yield LegendKey(panel.names[2], "diamond", "ink3")
    if any(stage.is_harm for row in judged for stage in (row.after, row.remedy) if stage):
        yield LegendKey(fixed_word("chart.harmed"), "line", "g1")
    if judged and len(judged) < len(panel.lines):
        yield LegendKey(fixed_word("chart.too_few"), "circle", "ink3", hollow=True)
    if form == "change" and panel.matters and judged:
        yield LegendKey(fixed_word("chart.no_harm"), "band", "g3")


# --- from values to pixels ----------------------------------------------------------------------------


def _scale_of(panel: EffectPanel, pixels: float) -> BarScale:
    """Return the scale that shows the values of a panel best."""
    levels = [value for row in panel.lines for value in (row.due, *_values(row)) if math.isfinite(value)]
    highest, lowest = max(levels, default=1.0), min(levels, default=0.0)
    if panel.scale == "people" and highest >= _FOLD_RANGE * max(lowest, 1.0):
        powers = range(math.floor(math.log10(highest)) + 1)
        ticks = (0.0, *(10.0**power for power in powers[:: 1 + len(powers) // 7]))
        return BarScale("log", 0.0, highest, ticks)
    judged = [row for row in panel.lines if not row.is_few]
    ends = [end for row in judged or panel.lines for end in _ends(row)]
    has_due = any(row.due for row in panel.lines)
    if not has_due:
        ends.append(panel.matters)  # a bar as long as the page would be much for next to nothing
    from_zero = min(levels + ends, default=0.0) <= highest / 2
    scale = _linear(panel, levels + ends, pixels, from_zero=from_zero, within=(-math.inf, panel.most))
    changes = [value - row.due for row in judged for value in _values(row) if math.isfinite(value - row.due)]
    if has_due and changes and all(abs(change) < _VISIBLE * (scale.high - scale.low) for change in changes):
        ends = [*changes, *(end - row.due for row in judged for end in _ends(row))]
        ends += [sign * 1.5 * panel.matters for sign in (-1, 1)]
        if any(ends):
            scale = _linear(panel, [0.0, *ends], pixels)
            return BarScale("change", scale.low, scale.high, scale.ticks)
    return BarScale("level", scale.low, scale.high, scale.ticks, is_cut=scale.cut)


def _linear(panel: EffectPanel, values: list[float], pixels: float, **options: Any) -> Linear:
    """Return a scale with as many ticks as their labels leave room for."""
    for most in (6, 5, 4, 3):
        scale = Linear.over(values, pixels=pixels, most_ticks=most, **options)
        widest = max(width_of(f"+{panel.show(label)}") for label in tick_labels(scale))
        if widest + 6 <= scale(scale.ticks[1]) - scale(scale.ticks[0]):
            break
    return scale


def _values(row: EffectRow) -> list[float]:
    return [stage.value for stage in (row.after, row.remedy) if stage]


def _ends(row: EffectRow) -> list[float]:
    """Return the limits of a group, as far as there are any."""
    ends = [end for stage in (row.after, row.remedy) if stage for end in (stage.low, stage.high)]
    return [end for end in ends if math.isfinite(end)]


# --- the picture ----------------------------------------------------------------------------------------


class _Picture:
    """A panel at one width: names at the left, the plot from `left` to `right`, words at the right.

    At the phone's width names and words stand above the plot.
    """

    def __init__(self, panel: EffectPanel, *, is_wide: bool) -> None:
        rows = panel.lines
        self.panel, self.is_wide, self.is_dense = panel, is_wide, len(rows) >= DENSE
        self.has_two = not self.is_dense and any(row.remedy for row in rows)
        heights = (26.0, 66.0, 46.0) if is_wide else (42.0, 98.0, 72.0)
        self.step = heights[0 if self.is_dense else 1 if self.has_two else 2]
        width = _WIDE if is_wide else _NARROW
        self.sketch = Sketch(width, _TOP + self.step * len(rows) + _BOTTOM)
        self.names, self.words = self._columns(width) if is_wide else (0.0, 0.0)
        start, end = (self.names + 12, self.words - 12) if is_wide else (-4.0, width + 4)
        pad = self._pad()
        self.left, self.right = start + pad, end - pad
        self.scale = _scale_of(panel, self.right - self.left)

    def _columns(self, width: float) -> tuple[float, float]:
        """Return where the names end and where the words start."""
        rows = self.panel.lines
        names = max(width_of(row.label, 14, bold=True) for row in rows)
        if self.is_dense:
            names += max(width_of(_people(row)) for row in rows) + 16
        said = [row.after.words for row in rows]
        said += [] if self.is_dense else [row.remedy.words for row in rows if row.remedy]
        words = math.ceil(max(width_of(text, 14, bold=True) for text in said))  # no text is cut by rounding
        least, most = ((166.0, 318.0), (106.0, 300.0)) if self.is_dense else ((166.0, 250.0), (226.0, 300.0))
        return min(max(names, least[0]), least[1]), width - min(max(words, most[0]), most[1])

    def _pad(self) -> float:
        """Return the room beside the axis, in which numbers stand."""
        if self.is_dense:
            return 24.0
        stages = [stage.shown for row in self.panel.lines for stage in (row.after, row.remedy) if stage]
        shown = [*stages, *(row.due_shown for row in self.panel.lines)]
        return min(max(46.0, *(_BEYOND + 4 + width_of(text, 13, bold=True) for text in shown)), 110.0)

    def draw(self) -> str:
        """Return the picture as SVG."""
        self._draw_axis()
        for place, row in enumerate(self.panel.lines):
            top = _TOP + place * self.step
            if place and not self.is_dense:
                self.sketch.line((0, top), (self.sketch.width, top), stroke="grid")
            first = top + (self.step / 2 if self.is_dense or not self.has_two else 23)
            if not self.is_wide:
                first = top + (30 if self.is_dense else 54)
            self._write_row(row, top, first)
            self._draw_row(row, top, first, first if self.is_dense else first + (23 if self.is_wide else 24))
        return self.sketch.svg()

    def _draw_axis(self) -> None:
        scale, bottom = self.scale, self.sketch.height - 4
        step = min((abs(b - a) for a, b in zip(scale.ticks, scale.ticks[1:], strict=False)), default=1.0)
        digits = next((each for each in range(7) if abs(step - round(step, each)) < 1e-9), 7)
        for tick in scale.ticks:
            x = self._at(tick, 0.0)
            text = number(abs(tick), digits)
            sign = MINUS if tick < 0 else "+" if tick > 0 and scale.form == "change" else ""
            self.sketch.line((x, _TOP - 4), (x, bottom), stroke="grid")
            end = "%" if self.panel.scale == "percent" else ""
            text = f"{sign}{self.panel.show(text)}{end}"
            self.sketch.word(x, _TOP - 11, text, anchor="middle")

    def _at(self, value: float, due: float) -> float:
        return self.left + self.scale.share(value, due) * (self.right - self.left)

    def _write_row(self, row: EffectRow, top: float, first: float) -> None:
        """Write the name of a group, how many it is, and its changes."""
        look = _HARM if row.after.is_harm and not row.is_few else _PLAIN
        if self.is_dense:
            self._write_low(row, look, first + 4.5 if self.is_wide else top + 17)
            return
        changes = [(row.after.words, look)]
        if row.remedy and not row.is_few:
            changes.append((row.remedy.words, _HARM_BELOW if row.remedy.is_harm else _PLAIN))
        if self.is_wide:
            self._write_beside(row, changes, top, first)
        else:
            self._write_above(row, changes, top)

    def _write_low(self, row: EffectRow, look: Letters, y: float) -> None:
        """Write all of a low row on one line."""
        sketch, halo = self.sketch, not self.is_wide
        people = _people(row) if self.is_wide else ""
        room = sketch.width - (self.words if self.is_wide else 140)
        said = shortened(row.after.words, room, 14, bold=True)
        taken = width_of(people) if self.is_wide else width_of(said, 14, bold=True)
        name = shortened(row.label, (self.names if self.is_wide else sketch.width) - taken - 8, 14, bold=True)
        sketch.word(0, y, name, _PLAIN if look is _PLAIN else _NAME, halo=halo)
        sketch.word(self.names, y, people, anchor="end")
        sketch.word(sketch.width, y, said, look, anchor="end", halo=halo)

    def _write_beside(
        self, row: EffectRow, changes: list[tuple[str, Letters]], top: float, first: float
    ) -> None:
        """Write the name at the left of the tracks and the changes at their right."""
        for place, (said, look) in enumerate(changes):
            room = self.sketch.width - self.words
            words = shortened(said, room, look.size, bold=look.is_bold)
            self.sketch.word(self.words, first + 5 + 23 * place, words, look)
        lines = fit_lines(row.label, self.names, _NAME)
        y = top + self.step / 2 - (7 if self.has_two else 2) - 8 * (len(lines) - 1)
        for place, line in enumerate(lines):
            self.sketch.word(0, y + 16 * place, line, _NAME)
        self.sketch.word(0, y + 16 * len(lines), shortened(row.note, self.names))

    def _write_above(self, row: EffectRow, changes: list[tuple[str, Letters]], top: float) -> None:
        """Write name and people at the left, the changes at the right, both above the tracks."""
        width = self.sketch.width
        changes = [*changes, ("", _PLAIN)][:2]
        left = ((row.label, _NAME), (row.note, Letters()))
        for y, (said, look), (text, name) in zip((top + 17, top + 33), changes, left, strict=True):
            kept = min(width_of(text, name.size, bold=name.is_bold) + 8, 130)  # for what stands at the left
            words = shortened(said, width - kept, look.size, bold=look.is_bold)
            self.sketch.word(width, y, words, look, anchor="end", halo=True)
            room = width - width_of(words, look.size, bold=look.is_bold) - 8
            self.sketch.word(0, y, shortened(text, room, name.size, bold=name.is_bold), name, halo=True)

    def _draw_row(self, row: EffectRow, top: float, first: float, second: float) -> None:
        """Draw the marks of a group and their numbers; none where it is not known what is due."""
        if not math.isfinite(row.due):
            return
        bar = self._at(row.due, row.due)
        if self.scale.form == "change" and self.panel.matters and not row.is_few:
            self._draw_band(row, top)
        remedy = None
        if row.remedy and not row.is_few:
            remedy = self._draw_stage(row, row.remedy, second, is_remedy=True)
        after = self._draw_stage(row, row.after, first, is_remedy=False)
        if not self.is_dense and self.scale.form != "change" and not row.is_few:
            self._write_numbers(row, bar, first, after)
            if row.remedy and remedy and row.remedy.shown != row.due_shown:
                is_left = row.remedy.value < row.due
                self._write_number(row.remedy.shown, second, bar, remedy, is_left=is_left, stage=row.remedy)
        reach = 8.0 if self.is_dense and self.is_wide else 6.0 if self.is_dense else 11.0
        end = second + 10 if self.has_two else first + reach
        self.sketch.line((bar, first - reach), (bar, end), stroke="ink", width=2.6)

    def _draw_band(self, row: EffectRow, top: float) -> None:
        """Draw all that is no harm that matters: open on the side of gains."""
        panel, above = self.panel, 6.0 if self.is_wide else 40.0
        low = self.left if panel.is_more_harm else self._at(row.due - panel.matters, row.due)
        high = self.right if panel.is_more_harm is False else self._at(row.due + panel.matters, row.due)
        if self.is_dense:
            above = 3.0 if self.is_wide else 22.0
        self.sketch.block(low, top + above, high, top + self.step - (3 if self.is_dense else 6), fill="g3")

    def _draw_stage(self, row: EffectRow, stage: Stage, y: float, *, is_remedy: bool) -> tuple[float, float]:
        """Draw a mark with its line from the bar and its limits; return the ends of what was drawn."""
        bar = self._at(row.due, row.due)
        if not math.isfinite(stage.value):
            return bar, bar
        x = self._at(stage.value, row.due)
        is_harm = stage.is_harm and not row.is_few
        hue = "g1" if is_harm else "ink3"
        if abs(x - bar) > 1 and not row.is_few and not (is_remedy and self.is_dense):
            width = 2.0 if is_remedy or self.is_dense else 4.0
            self.sketch.line((bar, y), (x, y), stroke="g1" if is_harm else "ghost", width=width)
        low, high = (self._at(end, row.due) if math.isfinite(end) else x for end in (stage.low, stage.high))
        if high - low > 2 and not (is_remedy and self.is_dense):
            self.sketch.line((low, y), (high, y), stroke=hue, width=1.5, dash=(3, 3) if row.is_few else ())
            for end in () if self.is_dense else (low, high):
                self.sketch.line((end, y - 4), (end, y + 4), stroke=hue, width=1.5)
        name = self.panel.names[2 if is_remedy else 1]
        tip = f"{row.label}: {self.panel.names[0]} {row.due_shown}, {name} {stage.shown}"
        radius = (4.6 if self.is_dense else 6.5) + (1.2 if is_remedy else 0.0)
        shape: Literal["circle", "diamond"] = "diamond" if is_remedy else "circle"
        if not row.is_few:
            self.sketch.mark(x, y, radius, shape=shape, fill=hue, tip=tip)
        elif self.scale.holds(stage.value, row.due):
            self.sketch.mark(x, y, radius, shape=shape, fill="card", stroke=hue, width=1.8)
        return min(low, x), max(high, x)

    def _write_numbers(self, row: EffectRow, bar: float, y: float, after: tuple[float, float]) -> None:
        """Write what is due and what comes after beyond both of them; equal ones once."""
        if row.after.shown == row.due_shown or not math.isfinite(row.after.value):
            self._write_number(row.due_shown, y, bar, after, is_left=False)
            return
        is_left = row.after.value <= row.due
        self._write_number(row.after.shown, y, bar, after, is_left=is_left, stage=row.after)
        self._write_number(row.due_shown, y, bar, after, is_left=not is_left)

    def _write_number(
        self,
        text: str,
        y: float,
        bar: float,
        ends: tuple[float, float],
        *,
        is_left: bool,
        stage: Stage | None = None,
    ) -> None:
        is_harm = stage is not None and stage.is_harm
        x = min(ends[0], bar) - _BEYOND if is_left else max(ends[1], bar) + _BEYOND
        look = _HARM_NUMBER if is_harm else _PLAIN
        self.sketch.word(x, y + 4.5, text, look, anchor="end" if is_left else "start", halo=True)


def _people(row: EffectRow) -> str:
    """Return how many a group is, as it stands beside its name in a low row: the number alone."""
    first = row.note.split(" ")[0]
    return first if first[:1].isdigit() else ""
