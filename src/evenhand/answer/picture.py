"""The main picture in letters: a row for each group, before, after and with the remedy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from evenhand.report.columns import can_encode, columns_of, fit, pad, shorten, wrap
from evenhand.report.language import fixed_word
from evenhand.report.scales import Linear
from evenhand.report.words import MINUS, clean, number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand.report.marks import EffectPanel, EffectRow, Stage

MOST_GROUPS = 12
_MOST_TWO_TRACKS = 6
_LEAST_PLOT = 12
_WIDE_RANGE = 100
_SMALL_CHANGE = 0.1


class Marks(NamedTuple):
    """The letters of the picture, all of them one column wide."""

    bar: str
    dot: str
    diamond: str
    harm: str
    calm: str
    limits: str
    gap: str


_UNICODE = Marks("│", "●", "◆", "━", "─", "·", "…")
_ASCII = Marks("|", "o", "*", "=", "-", ".", "~")


@dataclass(frozen=True)
class Paper:
    """Hold how much room there is, and which letters can be printed."""

    width: int
    encoding: str

    @property
    def marks(self) -> Marks:
        """The marks that can be printed."""
        return _UNICODE if can_encode("".join(_UNICODE), self.encoding) else _ASCII

    def fit(self, text: str) -> str:
        """Return a text on one line, in letters that can be printed, without marks of bold."""
        return fit(" ".join(clean(text).replace("**", "").split()), self.encoding)


def draw_panel(panel: EffectPanel, paper: Paper) -> list[str]:
    """Return the lines of a panel: its title with the legend, the axis, the groups, and what is not drawn."""
    lines = panel.lines[:MOST_GROUPS]
    has_remedy = any(line.remedy is not None for line in lines)
    in_columns = panel.scale == "people" or (has_remedy and len(lines) > _MOST_TWO_TRACKS)
    scale, rows = (_draw_columns if in_columns else _draw_tracks)(panel, lines, paper)
    more = len(panel.lines) - len(lines)
    told = [fixed_word("terminal.more_groups", count=more)] if more else []
    below = [part for text in (*told, panel.rest) if text for part in wrap(paper.fit(text), paper.width - 2)]
    return [*_draw_title(panel, lines, scale, paper), *rows, *(f"  {part}" for part in below)]


# --- the axis -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Axis:
    """Where values stand: on a straight axis, on one of log(1 + x), or on one of changes."""

    kind: str
    low: float
    high: float
    ticks: tuple[tuple[float, str], ...]
    columns: int

    def place(self, value: float, due: float = 0.0) -> int | None:
        """Return the column of a value; none without a value."""
        shown = value - due if self.kind == "change" else value
        if not math.isfinite(shown):
            return None
        low, high = self.low, self.high
        if self.kind == "log":
            low, high, shown = (math.log1p(max(each, 0.0)) for each in (low, high, shown))
        share = (shown - low) / (high - low)
        return round(min(max(share, 0.0), 1.0) * (self.columns - 1))

    def draw(self) -> str:
        """Return the numbers of the axis, those that have room."""
        letters, free = [" "] * self.columns, 0
        for tick, label in self.ticks:
            taken = columns_of(label)
            start = min(max((self.place(tick) or 0) - taken // 2, 0), self.columns - taken)
            if start >= free:
                letters[start : start + taken] = [label, *[""] * (taken - 1)]
                free = start + taken + 2
        return "".join(letters)


def _choose_axis(panel: EffectPanel, lines: Sequence[EffectRow], columns: int, paper: Paper) -> _Axis:
    """Return the axis of a panel's values: of changes where they are too small to be seen otherwise."""
    ends = (0.0 if math.isfinite(panel.most) else -math.inf, panel.most)  # limits may lie beyond
    pairs = [
        (value if math.isnan(value) else min(max(value, ends[0]), ends[1]), line.due)
        for line in lines
        for mark in _marks_of(line)
        for value in (mark.value, mark.low, mark.high, line.due)
    ]
    values = [value for value, _ in pairs if math.isfinite(value)]
    changes = [value - due for value, due in pairs if math.isfinite(value - due)]
    above = [value for value in values if value > 0]
    kind = "plain"
    if (
        panel.scale == "people"
        and above
        and min(values) >= 0
        and max(above) > _WIDE_RANGE * max(min(above), 0.1)
    ):
        tops = [10.0**power for power in range(1, math.ceil(math.log10(max(above))) + 1)]
        powers = tuple((top, _short(top)) for top in (0.0, *tops))
        return _Axis("log", 0.0, max(*above, tops[-1] / 10), powers, columns)
    reach = max(map(abs, values), default=0.0)
    if changes and 0 < max(map(abs, changes)) < _SMALL_CHANGE * reach:
        kind, values = "change", [*changes, -panel.matters, panel.matters]  # small beside what matters
    elif not any(line.due for line in lines):
        values.append(panel.matters)
    linear = Linear.over(values, pixels=columns, most_ticks=max(columns // 8, 4), from_zero=True, within=ends)
    ticks = []
    for tick in linear.ticks:
        shown = number(tick, linear.tick_digits, sign=kind == "change")
        sign = shown[: shown[0] in (MINUS, "+")]
        ticks.append((tick, paper.fit(f"{sign}{panel.show(shown[len(sign) :])}")))
    return _Axis(kind, linear.low, linear.high, tuple(ticks), columns)


def _short(value: float) -> str:
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:g}{letter}"
    return f"{value:g}"


# --- the rows -------------------------------------------------------------------------------------


def _draw_tracks(panel: EffectPanel, lines: Sequence[EffectRow], paper: Paper) -> tuple[str, list[str]]:
    """Return rows of name, stage, value, track and change: a second track for the remedy."""
    judged = [line for line in lines if not line.is_few]
    marks = [mark for line in judged for mark in _marks_of(line)]
    has_remedy = len(marks) > len(judged)
    stages = [shorten(paper.fit(name), paper.width // 7, gap=paper.marks.gap) for name in panel.names[1:]]
    stage = max(map(columns_of, stages)) + 1 if has_remedy else 0
    value, change = (
        max((columns_of(paper.fit(text)) for text in texts), default=1)
        for texts in ([mark.shown for mark in marks], [mark.change for mark in marks])
    )
    room = paper.width - 2 - stage - value - change - 3
    name = _name_width(lines, paper, room)
    columns = room - name
    axis = _choose_axis(panel, judged, columns, paper)
    rows = [f"{' ' * (2 + name + 1 + stage + value + 1)}{axis.draw()}"]
    for line in lines:
        label = shorten(paper.fit(line.label), name, gap=paper.marks.gap)
        if line.is_few:
            beside = pad("-", value, right=True) if not stage else "-"
            rows += _draw_few(f"  {pad(label, name)} {beside} ", line, paper)
            continue
        shapes = (paper.marks.dot, paper.marks.diamond)
        for mark, shape, words in zip(_marks_of(line), shapes, stages, strict=False):
            track = _draw_track(axis, line, [(mark, shape)], paper.marks)
            start = pad(words, stage) if stage else ""
            shown = pad(paper.fit(mark.shown), value, right=True)
            changed = pad(paper.fit(mark.change), change, right=True)
            rows.append(f"  {pad(label, name)} {start}{shown} {track} {changed}")
            label = ""
    return axis.kind, rows


def _draw_columns(panel: EffectPanel, lines: Sequence[EffectRow], paper: Paper) -> tuple[str, list[str]]:
    """Return rows of name, one track, and the values before, after and with the remedy."""
    judged = [line for line in lines if not line.is_few]
    names = panel.names if any(line.remedy is not None for line in judged) else panel.names[:2]
    values = {}
    for line in judged:
        shown = (line.due_shown, *(mark.shown for mark in _marks_of(line)), "-")
        values[line] = [paper.fit(text) or "-" for text in shown[: len(names)]]
    widths = [
        max((columns_of(row[place]) for row in values.values()), default=1) for place in range(len(names))
    ]
    heads = [
        shorten(paper.fit(name), max(width, paper.width // 9), gap=paper.marks.gap)
        for name, width in zip(names, widths, strict=True)
    ]
    widths = [max(width, columns_of(head)) for width, head in zip(widths, heads, strict=True)]
    room = paper.width - 2 - sum(widths) - len(widths) - 1
    name = _name_width(lines, paper, room)
    columns = room - name
    axis = _choose_axis(panel, judged, columns, paper)

    def join(start: str, track: str, cells: Sequence[str]) -> str:
        ends = (f" {pad(cell, width, right=True)}" for cell, width in zip(cells, widths, strict=True))
        return f"  {pad(start, name)} {track}{''.join(ends)}"

    rows = [join("", axis.draw(), heads)]
    for line in lines:
        label = shorten(paper.fit(line.label), name, gap=paper.marks.gap)
        if line.is_few:
            rows += _draw_few(f"  {pad(label, name)} ", line, paper)
            continue
        drawn = list(zip(_marks_of(line), (paper.marks.dot, paper.marks.diamond), strict=False))
        rows.append(join(label, _draw_track(axis, line, drawn[::-1], paper.marks), values[line]))
    return axis.kind, rows


def _marks_of(line: EffectRow) -> tuple[Stage, ...]:
    """Return the mark after, and that with the remedy if there is one."""
    return (line.after,) if line.remedy is None else (line.after, line.remedy)


def _name_width(lines: Sequence[EffectRow], paper: Paper, room: int) -> int:
    """Return the columns for the names of groups, with enough left for the track."""
    longest = max((columns_of(paper.fit(line.label)) for line in lines), default=1)
    return max(min(longest, paper.width // 4, room - _LEAST_PLOT), 1)


def _draw_few(start: str, line: EffectRow, paper: Paper) -> list[str]:
    """Return the row of a group that cannot be judged: what is said of it, and no number of its effect."""
    parts = wrap(
        paper.fit(": ".join(filter(None, (line.after.words, line.note)))), paper.width - columns_of(start)
    )
    return [f"{start if not place else ' ' * columns_of(start)}{part}" for place, part in enumerate(parts)]


def _draw_track(axis: _Axis, line: EffectRow, drawn: Sequence[tuple[Stage, str]], marks: Marks) -> str:
    """Return a track: the last of the marks has the line from the bar and the interval, and covers others."""
    letters = [" "] * axis.columns
    last = drawn[-1][0]
    bar, at, low, high = (
        axis.place(value, line.due) for value in (line.due, last.value, last.low, last.high)
    )
    if bar is not None and at is not None:
        start, end = sorted((bar, at))
        letters[start:end] = (marks.harm if last.is_harm else marks.calm) * (end - start)
    if at is not None and low is not None and high is not None:
        for column in range(low, high + 1):
            letters[column] = marks.limits if letters[column] == " " else letters[column]
    if bar is not None:
        letters[bar] = marks.bar
    for mark, shape in drawn:
        if (place := axis.place(mark.value, line.due)) is not None:
            letters[place] = shape
    return "".join(letters)


def _draw_title(panel: EffectPanel, lines: Sequence[EffectRow], kind: str, paper: Paper) -> list[str]:
    """Return the title with its unit, and the legend beside it or below."""
    drawn = [line for line in lines if not line.is_few]
    shown = [mark for line in drawn for mark in _marks_of(line)]
    unit = panel.unit if panel.unit not in panel.title else ""
    axis = fixed_word(f"terminal.{kind}") if kind != "plain" else ""
    title = ", ".join(filter(None, (panel.title, unit, axis)))
    marks = paper.marks
    legend = [
        (marks.bar, panel.names[0], True),
        (marks.dot, panel.names[1], True),
        (marks.diamond, panel.names[2], any(line.remedy is not None for line in drawn)),
        (marks.harm, fixed_word("terminal.harm"), any(mark.is_harm for mark in shown)),
        (marks.limits, fixed_word("terminal.limits"), any(mark.low < mark.high for mark in shown)),
    ]
    texts = [f"{mark} {paper.fit(words)}" for mark, words, is_drawn in legend if is_drawn]
    room = paper.width - 2
    beside = f"{paper.fit(title)}   {'  '.join(texts)}"
    if columns_of(beside) <= room:
        return [f"  {beside}"]
    packed: list[str] = []
    for text in texts:
        if packed and columns_of(f"{packed[-1]}  {text}") <= room:
            packed[-1] = f"{packed[-1]}  {text}"
        else:
            packed += wrap(text, room)
    return [f"  {part}" for part in (*wrap(paper.fit(title), room), *packed)]
