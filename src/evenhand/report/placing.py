"""Find room for a label near its mark: where it hides the fewest other marks and stays inside the plot."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evenhand.report.drawing import Segment

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Box", "box_around", "leader_to", "room_along", "room_near"]

_ANGLES = (0, 180, 45, 315, 135, 225, 90, 270, 20, 340, 160, 200)
_DISTANCES = (16, 28, 44, 64, 90, 120, 150, 180, 220)


@dataclass(frozen=True)
class Box:
    """A rectangle of pixels, from its upper left corner."""

    left: float
    top: float
    width: float
    height: float

    def overlap(self, other: Box) -> float:
        """Return the area that both cover."""
        across = min(self.left + self.width, other.left + other.width) - max(self.left, other.left)
        down = min(self.top + self.height, other.top + other.height) - max(self.top, other.top)
        return max(across, 0.0) * max(down, 0.0)

    def pushed_into(self, width: float, height: float) -> Box:
        """Return the box moved into a plot of this size, as far as it fits."""
        left = min(max(self.left, 0.0), max(width - self.width, 0.0))
        return Box(left, min(max(self.top, 0.0), max(height - self.height, 0.0)), self.width, self.height)


def room_near(
    x: float, y: float, *, width: float, height: float, plot: tuple[float, float], taken: Sequence[Box]
) -> Box:
    """Return where a label of this size fits best near a mark.

    Nearer is better and free is much better. A label never leaves the plot.

    Parameters
    ----------
    x, y : float
        The mark, in pixels.
    width, height : float
        Of the label.
    plot : tuple of float
        Width and height of the plot.
    taken : sequence of Box
        What the label should not hide.
    """
    places = [
        (
            _beside(x, y, width, height, distance, math.radians(angle)).pushed_into(*plot),
            distance * 2.0 + rank,
        )
        for distance in _DISTANCES
        for rank, angle in enumerate(_ANGLES)
    ]
    return min(places, key=lambda place: sum(place[0].overlap(other) for other in taken) * 4 + place[1])[0]


def _beside(x: float, y: float, width: float, height: float, distance: float, angle: float) -> Box:
    """Return the box whose nearest edge is `distance` away in the direction of the angle."""
    across, down = math.cos(angle), -math.sin(angle)
    centre_x = x + across * distance + _lean(across) * width / 2
    centre_y = y + down * distance + _lean(down) * height / 2
    return Box(centre_x - width / 2, centre_y - height / 2, width, height)


def _lean(part: float) -> float:
    return 0.0 if abs(part) < 0.3 else math.copysign(1.0, part)


def room_along(
    tops: Sequence[float], *, width: float, height: float, plot: tuple[float, float], taken: Sequence[Box]
) -> Box:
    """Return where a label beside a level line hides least: at an end or in the middle, above or below."""
    places = [
        Box(left, top, width, height)
        for top in tops
        for left in (2.0, plot[0] - width, (plot[0] - width) / 2)
        if 0 <= top <= plot[1] - height
    ]
    return min(places, key=lambda box: sum(box.overlap(other) for other in taken))


def box_around(stroke: Segment) -> Box:
    """Return what an upright or level line covers, with a little room."""
    left, top = min(stroke.x, stroke.x2), min(stroke.y, stroke.y2)
    return Box(left - 4, top - 4, abs(stroke.x2 - stroke.x) + 8, abs(stroke.y2 - stroke.y) + 8)


def leader_to(box: Box, x: float, y: float) -> list[Segment]:
    """Return a line from the rim of a mark to the box of its label; none if the box is beside it."""
    end_x = min(max(x, box.left), box.left + box.width)
    end_y = min(max(y, box.top), box.top + box.height)
    length = ((end_x - x) ** 2 + (end_y - y) ** 2) ** 0.5
    if length < 26:
        return []
    start = 10 / length
    return [Segment(x + (end_x - x) * start, y + (end_y - y) * start, end_x, end_y)]
