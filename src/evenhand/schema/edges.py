"""Bin edges that a person would choose: round numbers, equally far apart."""

from __future__ import annotations

import sys
from decimal import Decimal
from fractions import Fraction
from itertools import count, pairwise
from math import ceil, floor
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["round_edges"]

_STEPS = (Fraction(1), Fraction(2), Fraction(5, 2), Fraction(5))


def round_edges(low: float, high: float, bins: int) -> tuple[float, ...]:
    """Return the edges of at most `bins` bins that hold `low` to `high`.

    The width of a bin is 1, 2, 2.5 or 5 times a power of ten, and every edge a multiple of it.
    Computed with rationals, so an edge is 0.3 and never 0.30000000000000004.

    Examples
    --------
    >>> round_edges(0.03, 0.97, 5)
    (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
    >>> round_edges(18.5, 18.5, 10)
    (18.0, 20.0)
    """
    first, last = Fraction(low), Fraction(high)
    width = (last - first) / max(bins, 2) or abs(first) / 10 or Fraction(1)
    return next(edges for step in _round_steps(width) if (edges := _edges(first, last, step, bins)))


def _round_steps(width: Fraction) -> Iterator[Fraction]:
    """Yield the round numbers from `width` on, without end."""
    power = (Decimal(width.numerator) / Decimal(width.denominator)).adjusted()
    for exponent in count(power):  # pragma: no branch - it has no end
        for step in _STEPS:
            if step * Fraction(10) ** exponent >= width:
                yield step * Fraction(10) ** exponent


def _edges(first: Fraction, last: Fraction, step: Fraction, bins: int) -> tuple[float, ...]:
    """Return the multiples of `step` around both ends, or nothing if they are too many or too close."""
    start = floor(first / step)
    stop = max(ceil(last / step), start + 1)
    if stop - start > max(bins, 2):  # on both sides of zero there are two bins, however wide
        return ()
    edges = [_nearest(number * step) for number in range(start, stop + 1)]
    if stop - start > bins:
        edges = [edges[0], edges[-1]]
    apart = all(left < right for left, right in pairwise(edges))
    return tuple(edges) if apart and edges[0] <= first and last <= edges[-1] else ()


def _nearest(number: Fraction) -> float:
    largest = sys.float_info.max
    return float(max(min(number, Fraction(largest)), Fraction(-largest)))
