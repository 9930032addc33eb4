"""How unequal the rates of all groups are, with intervals that hold for all of them together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evenhand.measure.gaps import difference_range, each_tail, pair_blocks
from evenhand.measure.intervals import normal_quantile

if TYPE_CHECKING:
    import numpy.typing as npt

    from evenhand.collect.estimates.group_moments import GroupMoments

    Array = npt.NDArray[np.float64]

__all__ = ["difference_interval", "ratio_interval", "worst_pair"]

_PAIRS_AT_ONCE = 1 << 13


def worst_pair(moments: GroupMoments) -> tuple[int, int]:
    """Return the groups of the highest and of the lowest rate; the first two if all are equal."""
    highest, lowest = int(moments.rates.argmax()), int(moments.rates.argmin())
    return (highest, lowest) if highest != lowest else (0, 1)


def difference_interval(moments: GroupMoments, level: float) -> tuple[Array, Array, float]:
    """Return limits of the largest difference between two rates, and the quantile that was used.

    Every pair gets an interval of its signed difference, all together at the level; the largest is at
    least what one of them excludes and at most what one of them allows.
    """
    groups = moments.together.shape[-1]
    z = normal_quantile(each_tail(level, groups, 1))
    low = high = np.zeros(moments.n.shape)
    for first, second in pair_blocks(groups):
        pairs = np.stack([first, second], axis=-1)
        for start in range(0, len(pairs), _PAIRS_AT_ONCE):
            block = pairs[start : start + _PAIRS_AT_ONCE]
            least, most = difference_range(moments.gap_limits(block, z))
            low = np.maximum(low, least.max(axis=-1))
            high = np.maximum(high, most.max(axis=-1))
    return low, high, z


def ratio_interval(moments: GroupMoments, level: float) -> tuple[Array, Array, float]:
    """Return limits of the largest distance of a rate from the overall one, and the quantile used."""
    z = normal_quantile((1 - level) / moments.together.shape[-1])
    low, high = moments.relative_limits(z)
    least, most = difference_range((low - 1, high - 1))
    return np.asarray(least.max(axis=-1)), np.asarray(most.max(axis=-1)), z
