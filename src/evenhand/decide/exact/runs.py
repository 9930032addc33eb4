"""Runs of whole numbers on which nothing changes, for sums over discrete noise of many entities at once.

Given the noise v on one input, a comparison asks whether another sum of noises is above
``(threshold - coefficient * v) // multiple``. That number stays the same for many v where the coefficient is
small, and where it is beyond the reach of the other sum it does not matter. So a sum over all v is one over
runs, each with the probability that v falls into it. All comparisons are between whole numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Whole = NDArray[np.int64]

__all__ = ["Steps", "expected_runs", "run_starts"]


@dataclass(frozen=True, eq=False)
class Steps:
    """A comparison that changes with v: whether a sum is above (threshold - coefficient * v) // multiple.

    Attributes
    ----------
    threshold : array of int64
        One for each entity; one less where the comparison is not strict.
    coefficient : int
        That of v, not 0.
    multiple : int
        At least 1.
    reach : int
        How far from 0 the other sum goes; -1 where there is none and the sign decides.
    """

    threshold: Whole
    coefficient: int
    multiple: int
    reach: int


def run_starts(steps: Sequence[Steps], far: int, size: int) -> tuple[Whole, Whole]:
    """Return the entity and first v of every run of -far, ..., far, in order.

    Parameters
    ----------
    steps : sequence of Steps
        The comparisons.
    far : int
        How far v goes.
    size : int
        How many entities there are.
    """
    span = 2 * far + 1
    keys = [np.arange(size, dtype=np.int64) * span]
    for step in steps:
        rows, starts = _sign_change(step) if step.reach < 0 else _changes(step, far)
        inside = (starts > -far) & (starts <= far)
        keys.append(rows[inside] * span + starts[inside] + far)
    merged = np.sort(np.concatenate(keys))  # np.unique hashes, which is ten times slower here
    merged = merged[np.append(True, merged[1:] != merged[:-1])]
    return merged // span, merged % span - far


def expected_runs(coefficient: int, multiple: int, reach: int, far: int) -> int:
    """Return about how many runs one comparison makes of -far, ..., far."""
    size = abs(coefficient)
    if multiple <= size:
        return min(2 * far + 1, 2 * (reach * multiple // size) + 3)
    return min(2 * reach + 3, 2 * (far * size // multiple) + 3)


def _sign_change(step: Steps) -> tuple[Whole, Whole]:
    size = abs(step.coefficient)
    quotient = step.threshold // size
    return np.arange(step.threshold.size), quotient + 1 if step.coefficient > 0 else -quotient


def _changes(step: Steps, far: int) -> tuple[Whole, Whole]:
    """Return the first v of each run that one comparison makes, as far as the other sum reaches."""
    size, multiple, sign = abs(step.coefficient), step.multiple, 1 if step.coefficient > 0 else -1
    edge = step.reach + 2
    if multiple <= size:  # it changes at nearly every v; which of them matter?
        middle, half = sign * step.threshold // size, multiple * edge // size + 2
        return _ranges(np.maximum(middle - half, -far), np.minimum(middle + half, far))
    ends = [(step.threshold - step.coefficient * v) // multiple for v in (-far, far)]
    low, high = np.maximum(np.minimum(*ends), -edge), np.minimum(np.maximum(*ends), edge)
    rows, values = _ranges(low, high)
    threshold = step.threshold[rows]
    if sign > 0:
        return rows, (threshold - multiple * (values + 1)) // size + 1
    return rows, -((threshold - multiple * values) // size)


def _ranges(low: Whole, high: Whole) -> tuple[Whole, Whole]:
    """Return the entity and value of every whole number from `low` to `high`, of each entity."""
    counts = np.maximum(high - low + 1, 0)
    rows: Any = np.repeat(np.arange(counts.size), counts)
    first = np.cumsum(counts) - counts
    return rows, np.arange(rows.size) - first[rows] + low[rows]
