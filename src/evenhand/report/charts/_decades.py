"""Logarithmic axes over powers of ten, for counts and errors; what is nought stands on the floor."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evenhand.report.drawing import Segment, Word

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evenhand.report.drawing import Drawing

__all__ = ["Decades"]


@dataclass(frozen=True)
class Decades:
    """A logarithmic scale from one power of ten to another.

    Parameters
    ----------
    low, high : int
        The powers at the ends.
    pixels : float
    """

    low: int
    high: int
    pixels: float

    @classmethod
    def over(cls, values: Iterable[float], *, pixels: float, floor: int = -1) -> Decades:
        """Return a scale that holds all positive values, none below ten to the power of `floor`.

        >>> Decades.over([0, 3.0, 250.0], pixels=100)
        Decades(low=0, high=3, pixels=100)
        """
        found = [value for value in values if math.isfinite(value) and value > 0] or [1.0]
        low = max(floor, math.floor(math.log10(min(found)) + 1e-9))
        high = max(low + 1, math.ceil(math.log10(max(found)) - 1e-9))
        return cls(low, high, pixels)

    def with_room_below(self) -> Decades:
        """Return the scale with one more power of ten below, where nought stands."""
        return Decades(self.low - 1, self.high, self.pixels)

    @property
    def ticks(self) -> tuple[float, ...]:
        """Powers of ten: all of them, or every second one where there are many."""
        step = 1 if self.high - self.low <= 5 else 2
        return tuple(10.0**power for power in range(self.low, self.high + 1, step))

    def __call__(self, value: float) -> float:
        """Return how far along the axis a value is, in pixels; what is below the floor stands on it."""
        power = math.log10(value) if value > 0 else self.low
        share = (min(max(power, self.low), self.high) - self.low) / (self.high - self.low)
        return share * self.pixels

    def holds(self, value: float) -> bool:
        """Whether a value is not below the floor."""
        return value >= 10.0**self.low * (1 - 1e-9)


def tick_text(value: float) -> str:
    """Return a power of ten as an axis has it.

    >>> tick_text(0.1), tick_text(1e4), tick_text(1e7)
    ('0.1', '10,000', '10 million')
    """
    if value >= 1e6:
        return f"{value / 1e6:,.0f} million"
    return f"{value:,.0f}" if value >= 1 else f"{value:g}"


def grid_up(drawing: Drawing, scale: Decades, *, lowest: str = "") -> None:
    """Draw the grid lines of an upright axis and write its labels, by pixel.

    The lowest line has a label of its own where smaller values stand on it.
    """
    width, height = drawing.plot
    lines = [Segment(0, height - scale(tick), width, height - scale(tick)) for tick in scale.ticks]
    drawing.rules(lines, stroke="grid", width=1, pixels=True)
    for tick in scale.ticks:
        label = lowest if lowest and tick == scale.ticks[0] else tick_text(tick)
        drawing.words(Word(-8, height - scale(tick) + 4, label, "right", "ink3", halo=False))


def grid_across(drawing: Drawing, scale: Decades, *, lowest: str = "") -> None:
    """Draw the axis below with its ticks and labels, by pixel.

    The lowest tick has a label of its own where smaller values stand on it.
    """
    width, height = drawing.plot
    drawing.rules([Segment(0, height, width, height)], stroke="ghost", width=1, pixels=True)
    ticks = [Segment(scale(tick), height, scale(tick), height + 4) for tick in scale.ticks]
    drawing.rules(ticks, stroke="ghost", width=1, pixels=True)
    for tick in scale.ticks:
        label = lowest if lowest and tick == scale.ticks[0] else tick_text(tick)
        drawing.words(Word(scale(tick), height + 18, label, "center", "ink3", halo=False))
