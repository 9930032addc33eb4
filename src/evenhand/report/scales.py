"""Scales from values to pixels, with ticks at round numbers or at every tested epsilon."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


@dataclass(frozen=True)
class Linear:
    """A linear scale between two round numbers.

    Parameters
    ----------
    low, high : float
        The ends of the axis, in its unit.
    ticks : tuple of float
    pixels : float
        How long the axis is.
    """

    low: float
    high: float
    ticks: tuple[float, ...]
    pixels: float

    @classmethod
    def over(
        cls,
        values: Iterable[float],
        *,
        pixels: float,
        most_ticks: int = 6,
        from_zero: bool = False,
        margin: float = 0.04,
        within: tuple[float, float] = (-math.inf, math.inf),
    ) -> Linear:
        """Return a scale that holds all finite `values` with some air, from zero if asked.

        The air never crosses zero, nor the ends in `within`, unless a value does.

        >>> Linear.over([33.4, 36.5], pixels=200).ticks
        (33.0, 34.0, 35.0, 36.0, 37.0)
        """
        finite = [value for value in values if math.isfinite(value)] or [0.0, 1.0]
        least, most = min(finite), max(finite)
        if from_zero:
            least, most = min(least, 0.0), max(most, 0.0)
        largest = max(abs(least), abs(most))
        if most - least <= 1e-6 * max(largest, 1e-3):  # one value: room around it
            air = 0.05 * largest if largest > 1e-6 else 0.5
            least, most = least - air, most + air
        span = most - least
        ends = [end for end in (*within, 0.0) if math.isfinite(end)]
        low = max([least - margin * span, *(end for end in ends if end <= least)])
        high = min([most + margin * span, *(end for end in ends if end >= most)])
        ticks = _round_ticks(low, high, most_ticks)
        return cls(ticks[0], ticks[-1], ticks, pixels)

    @property
    def cut(self) -> bool:
        """Whether zero is not on the axis."""
        return self.low > 0 or self.high < 0

    @property
    def tick_digits(self) -> int:
        """How many digits the labels of the ticks need."""
        step = self.ticks[1] - self.ticks[0]
        return next((digits for digits in range(7) if abs(step - round(step, digits)) < 1e-9), 7)

    def __call__(self, value: float) -> float:
        """Return how far along the axis a value is, in pixels."""
        return (value - self.low) / (self.high - self.low) * self.pixels


@dataclass(frozen=True)
class Log:
    """A logarithmic scale over the tested epsilons, with room at both ends."""

    ticks: tuple[float, ...]
    pixels: float
    inset: float = 8.0

    def __call__(self, value: float) -> float:
        """Return how far along the axis an epsilon is, in pixels; a single one is in the middle."""
        low, high = math.log(self.ticks[0]), math.log(self.ticks[-1])
        if high == low:
            return self.pixels / 2
        return self.inset + (math.log(value) - low) / (high - low) * (self.pixels - 2 * self.inset)

    @property
    def domain(self) -> tuple[float, float]:
        """The epsilons at the two ends of the pixels."""
        low, high = math.log(self.ticks[0]), math.log(self.ticks[-1])
        air = (high - low) * self.inset / (self.pixels - 2 * self.inset) or 1.0
        return math.exp(low - air), math.exp(high + air)


def labelled_ticks(scale: Log, *, first: Sequence[float] = (), widths: Sequence[float]) -> tuple[float, ...]:
    """Return which ticks carry a label: those of `first`, the ends, then whichever has room.

    >>> labelled_ticks(Log((1.0, 2.0, 8.0, 10.0, 50.0), 160), widths=(7, 7, 7, 14, 14))
    (1.0, 2.0, 8.0, 50.0)
    """
    width = dict(zip(scale.ticks, widths, strict=True))
    ends = (scale.ticks[0], scale.ticks[-1])
    wanted = [tick for tick in (*first, *ends, *scale.ticks) if tick in width]
    shown: list[float] = []
    for tick in dict.fromkeys(wanted):
        if all(
            abs(scale(tick) - scale(other)) >= max(22.0, (width[tick] + width[other]) / 2 + 5)
            for other in shown
        ):
            shown.append(tick)
    return tuple(sorted(shown))


def digits_between(values: Iterable[float]) -> int:
    """Return how many digits tell values of this spread apart: one for percent, more for small numbers.

    >>> digits_between([80.6, 81.5]), digits_between([0.012, 0.034]), digits_between([15_000, 23_000])
    (1, 3, 0)
    """
    finite = [value for value in values if math.isfinite(value)] or [0.0]
    largest, span = max(abs(value) for value in finite), max(finite) - min(finite)
    if largest >= 1000:
        return 0
    spread = span or largest or 1.0
    return 1 if spread >= 0.5 else min(6, max(1, 1 - math.floor(math.log10(spread))))


def _round_ticks(low: float, high: float, most: int) -> tuple[float, ...]:
    """Return ticks at multiples of 1, 2 or 5 times a power of ten, around both ends and not too many."""
    power = 10.0 ** (math.floor(math.log10(high - low)) - 2)

    def around(step: float) -> range:
        return range(math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9) + 1)

    steps = (factor * power * 10.0**more for more in range(4) for factor in (1, 2, 5))
    step = next(step for step in steps if len(around(step)) <= most)
    return tuple(round(place * step, 12) + 0.0 for place in around(step))


@dataclass(frozen=True)
class BarScale:
    """Where the values of groups stand on one axis: by value, by log(1 + value), or by change from due.

    Parameters
    ----------
    form : {"level", "log", "change"}
    low, high : float
        The ends of the axis.
    ticks : tuple of float
    is_cut : bool
        Whether zero is not on the axis.
    """

    form: Literal["level", "log", "change"]
    low: float
    high: float
    ticks: tuple[float, ...]
    is_cut: bool = False

    def share(self, value: float, due: float) -> float:
        """Return how far along the axis a value is, from 0 to 1; what is beyond an end stands on it.

        >>> BarScale("log", 0, 99, (0, 1, 10)).share(9, due=0)
        0.5
        """
        low, high = self._bend(self.low), self._bend(self.high)
        place = self._bend(value - due if self.form == "change" else value)
        return (min(max(place, low), high) - low) / (high - low)

    def holds(self, value: float, due: float) -> bool:
        """Return whether a value is between the ends of the axis."""
        return self.low <= (value - due if self.form == "change" else value) <= self.high

    def _bend(self, value: float) -> float:
        return math.log1p(max(value, 0.0)) if self.form == "log" else value
