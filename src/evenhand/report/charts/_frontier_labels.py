"""Names beside the marks of a frontier, placed where they hide the least."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand.report.drawing import Word
from evenhand.report.placing import Box, room_near
from evenhand.report.words import epsilon_of, shortened, width_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand.report.drawing import Segment
    from evenhand.report.marks import Point

__all__ = ["name_of", "place_labels"]

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
        parts.append(f"ε = {epsilon_of(point.epsilon)}")
    return ", ".join(part for part in parts if part)


def place_labels(
    labels: Sequence[tuple[float, float, str, str]],
    *,
    marks: Sequence[tuple[float, float]],
    lines: tuple[float, float] | None,
    strokes: Sequence[Segment] = (),
    plot: tuple[float, float],
) -> tuple[list[Word], list[tuple[float, float, float, float]]]:
    """Return the words of labels (x, y, bold line, second line) and the lines that lead to them.

    The corner below on the right is kept for the word that says which way is better, and labels keep off the
    dashed lines through the unprotected result, which are at `lines`, and off upright and level `strokes`.
    """
    taken = [Box(x - 6, y - 6, 12, 12) for x, y in marks]
    taken += [_around(stroke) for stroke in strokes]
    if lines is not None:
        taken += [Box(lines[0] - 3, 0, 6, plot[1]), Box(0, lines[1] - 3, plot[0], 6)]
    taken += [Box(x - 14, y - 14, 28, 28) for x, y, _, _ in labels]
    words = [_better(taken, plot)]
    taken.append(Box(words[0].x - 62, words[0].y - 14, 66, 22))
    leaders = []
    for x, y, bold, second in labels:
        title = shortened(bold, plot[0] - 20, bold=True)
        width = max(width_of(title, bold=True), width_of(second)) + 6
        box = room_near(x, y, width=width, height=2 * _LINE + 4, plot=plot, taken=taken)
        taken.append(Box(box.left - 4, box.top - 4, box.width + 8, box.height + 8))
        words.append(Word(box.left + 3, box.top + 12, title, colour="ink", weight=600))
        words.append(Word(box.left + 3, box.top + 12 + _LINE, second, colour="ink2"))
        leader = _leader(x, y, box)
        if leader:
            leaders.append(leader)
    return words, leaders


def _around(stroke: Segment) -> Box:
    left, top = min(stroke.x, stroke.x2), min(stroke.y, stroke.y2)
    return Box(left - 4, top - 4, abs(stroke.x2 - stroke.x) + 8, abs(stroke.y2 - stroke.y) + 8)


def _better(taken: Sequence[Box], plot: tuple[float, float]) -> Word:
    """Say which way is better: in the corner below on the right if it is free, else above the plot."""
    corner = Box(plot[0] - 66, plot[1] - 24, 66, 24)
    free = not any(corner.overlap(box) for box in taken)
    return Word(plot[0] - 4, plot[1] - 8 if free else -18, "better ↘", "right", "ink2")


def _leader(x: float, y: float, box: Box) -> tuple[float, float, float, float] | None:
    """Return a line from the rim of the mark to the box, if the box is not beside it."""
    end_x = min(max(x, box.left), box.left + box.width)
    end_y = min(max(y, box.top), box.top + box.height)
    length = ((end_x - x) ** 2 + (end_y - y) ** 2) ** 0.5
    if length < 26:
        return None
    start = 10 / length
    return x + (end_x - x) * start, y + (end_y - y) * start, end_x, end_y
