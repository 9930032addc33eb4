"""Rounding at random that is right on average to the last bit, and sums that come out as wanted."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.errors import InvalidParameterError
from evenhand.privacy.sampling import uniform_below

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evenhand.privacy.randomness import Source

_BITS = 63


def stochastic_round(values: NDArray[Any], *, source: Source) -> NDArray[np.int64]:
    r"""Round each value to one of its two neighbours so that its expectation is the value.

    The part after the point, :math:`f`, is a multiple of a power of one half, however small. The value goes
    away from 0 where a uniform number in :math:`[0, 1)` is below :math:`f`; both are compared digit by digit,
    63 binary digits at a time, so the probability is :math:`f` exactly.
    """
    if values.dtype.kind != "f":
        return values.astype(np.int64)
    inward = np.trunc(values)
    rest = np.abs(values - inward).ravel()  # exact: it has no more digits than the value
    away = np.zeros(rest.shape, np.bool_)
    open_ = np.flatnonzero(rest)
    while open_.size:
        digits = np.ldexp(rest[open_], _BITS)
        leading = np.floor(digits)
        drawn = uniform_below(1 << _BITS, size=open_.size, source=source)
        wanted = leading.astype(np.int64)
        away[open_[drawn < wanted]] = True
        rest[open_] = digits - leading  # exact again: the digits that are left
        open_ = open_[(drawn == wanted) & (rest[open_] > 0)]
    step = np.where(away.reshape(values.shape), np.copysign(1, values), 0)
    rounded: NDArray[np.int64] = inward.astype(np.int64) + step.astype(np.int64)
    return rounded


def plain_sum(values: NDArray[Any], total: float) -> NDArray[np.float64]:
    """Return the nearest values that add up to `total`: all move by the same."""
    if not values.size:
        return values.astype(np.float64)
    moved: NDArray[np.float64] = values + (total - _sum(values)) / values.size
    return moved


def nonnegative_sum(values: NDArray[Any], total: float) -> NDArray[np.float64]:
    """Return the nearest values of at least 0 that add up to `total`: all move by the same, and stop at 0."""
    if not values.size or not total:
        return np.zeros(values.shape)
    flat = values.astype(np.float64).ravel()
    falling = np.sort(flat)[::-1]
    moves = (np.cumsum(falling) - total) / np.arange(1, flat.size + 1)
    move = moves[np.flatnonzero(falling > moves)[-1]]
    moved: NDArray[np.float64] = np.maximum(values - move, 0.0)
    return moved


def _sum(values: NDArray[Any]) -> Any:
    """Add whole numbers as such: 64 bits may wrap, Python's numbers do not."""
    if values.dtype.kind == "f":
        return float(values.sum())
    small = max(-int(values.min()), int(values.max())) * values.size < 1 << _BITS
    return int(values.sum()) if small else sum(values.ravel().tolist())


def checked_amount(name: str, value: Any, *, owner: str, least: float) -> float:
    """Return a finite number that is at least `least`, as a float."""
    number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    if not number or not math.isfinite(value) or value < least:
        must_be = "a finite number" if least == -math.inf else "a finite number of at least 0"
        raise InvalidParameterError(name, owner=owner, must_be=must_be, got=value)
    return float(value)
