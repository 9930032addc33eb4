r"""Simultaneous intervals for all pairs of groups, and what they say of the worst pair.

A worst-pair gap is a largest absolute difference. It cannot be negative, and its estimate is
always above 0, so at a true gap of 0 no interval centred on the estimate, and no bootstrap of it,
covers. The signed differences behind it have no such corner. So every pair gets an interval of
its signed difference, all of them together at the level asked (Bonferroni), and the gap lies
between what the pairs exclude and what they allow. The result is conservative.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evenhand.measure.intervals import newcombe_limits

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from evenhand.measure.intervals import Limits
    from evenhand.measure.rates import Shares

__all__ = ["difference_range", "each_tail", "pair_blocks", "pair_differences"]

Pairs = tuple["NDArray[np.intp]", "NDArray[np.intp]"]
"""The first and the second member of some pairs of groups."""

_PAIRS_AT_ONCE = 1 << 15


def pair_blocks(n_groups: int) -> Iterator[Pairs]:
    """Yield all pairs of groups, together if they are few and else by their first member.

    >>> [(first.tolist(), second.tolist()) for first, second in pair_blocks(3)]
    [([0, 0, 1], [1, 2, 2])]
    """
    if n_groups * (n_groups - 1) // 2 <= _PAIRS_AT_ONCE:
        yield np.triu_indices(n_groups, k=1)
        return
    for member in range(n_groups - 1):
        second = np.arange(member + 1, n_groups)
        yield np.full_like(second, member), second


def each_tail(level: float, n_groups: int, rates: int) -> float:
    """Return how often each interval may miss, so that those of all pairs and rates hold at `level`.

    >>> f"{each_tail(0.95, 3, 2):.4f}"  # three pairs, two rates
    '0.0083'
    """
    return (1 - level) / (rates * n_groups * (n_groups - 1) / 2)


def pair_differences(shares: Shares, rate: str, pairs: Pairs, limits: Limits) -> Limits:
    """Return intervals of the signed differences of one rate, one per pair along the last axis.

    Parameters
    ----------
    shares : Shares
        The shares of the groups, of shape (..., groups, rates).
    rate : str
        Which rate.
    pairs : tuple of arrays
        The members of each pair.
    limits : tuple of arrays
        The Wilson intervals of this rate, one per group.
    """
    first, second = pairs
    share, (low, high) = shares.rate(rate), limits
    return newcombe_limits(
        share[..., first],
        (low[..., first], high[..., first]),
        share[..., second],
        (low[..., second], high[..., second]),
    )


def difference_range(limits: Limits) -> Limits:
    """Turn limits of a signed difference into limits of its absolute value.

    >>> low, high = difference_range((np.array([-0.2, 0.1]), np.array([0.1, 0.3])))
    >>> low.tolist(), high.tolist()
    ([0.0, 0.1], [0.2, 0.3])
    """
    low, high = limits
    distance = np.maximum(np.maximum(low, -high), 0)
    return distance, np.maximum(np.abs(low), np.abs(high))
