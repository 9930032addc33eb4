"""How far apart the rates of several classes may be after post-processing, from what was released alone."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import betaincinv

from evenhand.learn.parity.bounds import (
    NOISE_SHARE,
    SPLITS,
    GapBound,
    check_confidence,
    noise_reach,
    risk_of_each,
    sum_tail,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from evenhand.learn.parity.bounds import Released

    Values = NDArray[np.float64]


def class_gap_bounds(
    released: Released, transition: Values, *, names: Sequence[str], gap: float, confidence: float
) -> tuple[GapBound, ...]:
    r"""Return the bounds of the gap of every class from a released table.

    The rate of class :math:`d` after post-processing is :math:`\sum_c \alpha_c T_{cd}`, where
    :math:`\alpha_c` are a group's rates before and :math:`T` is its `transition`. With limits of every
    :math:`\alpha_c` that hold all at once, it lies between the least and the largest such mean that rates
    within them can have. On average it is off by at most the total variation between the group's true rates
    and those in the table, since all :math:`T_{cd}` are from 0 to 1.

    Parameters
    ----------
    released : Released
        The counts.
    transition : array of (groups, classes, classes)
        The probabilities made from them.
    names : sequence of str
        What each gap is called.
    gap, confidence : float
        The target, and how surely.
    """
    low, high, fewest = class_limits(released, confidence=confidence)
    expected = min(1.0, gap + _expected_rows(released, fewest) + _expected_noise(released, fewest))
    bounds = []
    for place, name in enumerate(names):
        weights = transition[:, :, place]
        least, most = -_largest_mean(-weights, low, high), _largest_mean(weights, low, high)
        apart = most[:, None] - least[None, :]
        np.fill_diagonal(apart, 0.0)
        bounds.append(GapBound(name, expected, float(np.clip(apart.max(), 0, 1)), least, most))
    return tuple(bounds)


def class_limits(released: Released, *, confidence: float) -> tuple[Values, Values, NDArray[np.int64]]:
    """Return limits of every group's rate of every class that hold all at once, and the fewest rows.

    Noise and rows share the risk as for two classes. The lower limit of a class is smallest for the fewest
    people of it and the most of all others.
    """
    risk = 1 - check_confidence(confidence)
    noise_risk = risk * NOISE_SHARE if released.draws else 0.0
    reach = 0
    if released.scale is not None:
        reach = released.per_count * noise_reach(released.scale, risk_of_each(noise_risk, released.draws))
    counts = released.counts.astype(np.float64)
    classes = counts.shape[1]
    tail = (risk - noise_risk) / (1 - noise_risk) / (2 * counts.size)
    others = counts.sum(axis=1, keepdims=True) - counts
    fewest, most = np.maximum(counts - reach, 0), counts + reach
    others_fewest = np.maximum(others - (classes - 1) * reach, 0)
    others_most = others + (classes - 1) * reach
    low = np.where(fewest > 0, betaincinv(np.maximum(fewest, 1), others_most + 1, tail), 0.0)
    high = np.where(others_fewest > 0, betaincinv(most + 1, np.maximum(others_fewest, 1), 1 - tail), 1.0)
    sizes = released.counts.sum(axis=1) - (0 if released.public_sizes else classes * reach)
    return low, high, np.maximum(sizes, 0)


def _largest_mean(weights: Values, low: Values, high: Values) -> Values:
    """Return, group by group, the largest mean of weights over shares from `low` to `high` that sum to 1."""
    order = np.argsort(-weights, axis=1, kind="stable")
    room = np.take_along_axis(high - low, order, axis=1)
    left = np.maximum(1 - low.sum(axis=1, keepdims=True), 0)
    taken = np.clip(left - (np.cumsum(room, axis=1) - room), 0, room)
    gained = (np.take_along_axis(weights, order, axis=1) * taken).sum(axis=1)
    return np.asarray((weights * low).sum(axis=1) + gained)


def _expected_rows(released: Released, sizes: NDArray[np.int64]) -> float:
    r"""Bound the expected sum of the two largest total variations between a group's rows and the truth.

    With :math:`C` classes and :math:`n` rows the mean is at most :math:`\sqrt{(C - 1) / n} / 2`, and so is
    the root of the mean square.
    """
    if (sizes <= 0).any():
        return 1.0
    each = 0.5 * np.sqrt((released.counts.shape[1] - 1) / sizes)
    return min(float(each.sum()), math.sqrt(2 * float((each**2).sum())))


def _expected_noise(released: Released, sizes: NDArray[np.int64]) -> float:
    r"""Bound the expected sum of the two largest total variations that noise makes.

    With noise :math:`z_c` on the counts of a group of :math:`n` rows with shares :math:`\alpha_c` it is
    at most :math:`\sum_c (1 - \alpha_c) |z_c| / (n + \sum_c z_c)`, so on average at most
    :math:`(C - 1) E|z| / ((1 - s) n)` where :math:`\sum_c z_c > -sn`, and at most 1 elsewhere, for every
    :math:`s`. If the sum of all noise is that low, then so is the sum of two of its numbers in proportion.
    """
    if released.scale is None:
        return 0.0
    if (sizes <= 0).any():
        return 1.0
    ratio = math.exp(-1 / float(released.scale))
    mean = 2 * ratio / (1 - ratio**2)
    classes = released.counts.shape[1]
    pairs = math.ceil(classes * released.per_count / 2)
    cut = np.floor(SPLITS[:, None] * sizes) + 1
    moved = (classes - 1) * released.per_count * mean / (sizes - cut + 1)
    errors = moved + pairs * sum_tail(ratio, np.ceil(cut / pairs))
    return float(np.minimum(errors, 1).min(axis=0).sum())
