r"""The measures of a group report, and their limits, computed from shares.

Three families: differences and a ratio between the privileged group and everybody else; worst
pairs over any number of groups; and figures for everybody together. Each function works on one
table or on a stack of tables, so a report, a bootstrap and a simulation run the same code.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evenhand.measure.intervals import (
    clopper_pearson,
    mean_of_shares,
    newcombe,
    normal_quantile,
    score_limits,
    share_ratio,
)
from evenhand.measure.pairs import difference_range, each_tail, pair_blocks, pair_differences

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evenhand.measure.intervals import Limits
    from evenhand.measure.pairs import Pairs
    from evenhand.measure.rates import Tables

__all__ = ["COMPARED", "DIFFERENCES", "MEASURES", "NO_DISPARITY", "OVERALL", "WORST_PAIR"]

DIFFERENCES = {"spd": "selection", "eod": "tpr", "ped": "fpr", "oad": "accuracy", "prd": "precision"}
"""Privileged minus everybody else, and of which rate."""

COMPARED = ("di", *DIFFERENCES)
"""Measures that need a privileged group."""

WORST_PAIR = {"sp_gap": ("selection",), "eo_gap": ("tpr", "fpr"), "meo_gap": ("tpr", "fpr")}
"""Largest difference between any two groups, and of which rates."""

OVERALL = {
    "acc": ("accuracy",),
    "f1": ("hits",),
    "recall": ("tpr",),
    "balanced_accuracy": ("tpr", "fpr"),
}
"""Figures for everybody that come from the count table, and from which rates."""

MEASURES = (
    "acc",
    "f1",
    "recall",
    "balanced_accuracy",
    "auc",
    "spd",
    "di",
    *list(DIFFERENCES)[1:],
    *WORST_PAIR,
)
"""Every measure of a report, in the order in which it is shown."""

NO_DISPARITY = {"di": 1.0, **dict.fromkeys((*DIFFERENCES, *WORST_PAIR), 0.0)}
"""The value that means no disparity; measures of everybody have none."""


def value(name: str, tables: Tables) -> NDArray[np.float64]:
    """Return the value of a measure for each table, NaN where it is undefined."""
    if name in DIFFERENCES:
        rate = DIFFERENCES[name]
        return np.asarray(tables.privileged_side.rate(rate) - tables.other_side.rate(rate))
    if name == "di":
        under = tables.privileged_side.rate("selection")
        return np.asarray(tables.other_side.rate("selection") / np.where(under > 0, under, np.nan))
    if name in WORST_PAIR:
        return _worst_value(name, tables)
    return _overall_value(name, tables)


def limits(name: str, tables: Tables, level: float) -> Limits:
    """Return the limits of a measure for each table, NaN where it is undefined."""
    if name in DIFFERENCES:
        rate = DIFFERENCES[name]
        return newcombe(*tables.privileged_side.of(rate), *tables.other_side.of(rate), level)
    if name == "di":
        return share_ratio(*tables.other_side.of("selection"), *tables.privileged_side.of("selection"), level)
    if name in WORST_PAIR:
        return _worst_limits(name, tables, level)
    return _overall_limits(name, tables, level)


def pair_values(name: str, tables: Tables, pairs: Pairs) -> NDArray[np.float64]:
    """Return the gap of each pair of groups, along the last axis."""
    first, second = pairs
    rates = [tables.groups.rate(rate) for rate in WORST_PAIR[name]]
    gaps = [np.abs(rate[..., first] - rate[..., second]) for rate in rates]
    if name == "meo_gap":
        return np.asarray((gaps[0] + gaps[1]) / 2)
    return np.asarray(np.maximum.reduce(gaps))


def worst_members(name: str, tables: Tables) -> tuple[int, int]:
    """Return the places of the two groups that are furthest apart, the first such pair in group order."""
    largest, members = -1.0, (0, 0)
    for first, second in pair_blocks(tables.n_groups):
        gaps = pair_values(name, tables, (first, second))
        place = int(gaps.argmax())
        if gaps[place] > largest:
            largest, members = float(gaps[place]), (int(first[place]), int(second[place]))
    return members


def _worst_value(name: str, tables: Tables) -> NDArray[np.float64]:
    if tables.n_groups < 2:
        return np.full(tables.cells.shape[:-2], np.nan)
    rates = [tables.groups.rate(rate) for rate in WORST_PAIR[name]]
    if name == "meo_gap":  # the largest |x| + |y| is the largest |x + y| or |x - y|: no pair need be formed
        rates = [(rates[0] + rates[1]) / 2, (rates[0] - rates[1]) / 2]
    return np.asarray(np.maximum.reduce([np.ptp(rate, axis=-1) for rate in rates]))


def _worst_limits(name: str, tables: Tables, level: float) -> Limits:
    if tables.n_groups < 2:
        nothing = np.full(tables.cells.shape[:-2], np.nan)
        return nothing, nothing
    z = normal_quantile(each_tail(level, tables.n_groups, len(WORST_PAIR[name])))
    scores = [score_limits(*tables.groups.of(rate), z) for rate in WORST_PAIR[name]]
    blocks = [_block_limits(name, tables, pairs, scores) for pairs in pair_blocks(tables.n_groups)]
    lows, highs = zip(*blocks, strict=True)
    return np.asarray(np.maximum.reduce(lows)), np.asarray(np.maximum.reduce(highs))


def _block_limits(name: str, tables: Tables, pairs: Pairs, scores: list[Limits]) -> Limits:
    """Return what the intervals of some pairs exclude and what they allow."""
    ranges = [
        difference_range(pair_differences(tables.groups, rate, pairs, score))
        for rate, score in zip(WORST_PAIR[name], scores, strict=True)
    ]
    lows, highs = [low for low, _ in ranges], [high for _, high in ranges]
    if name == "meo_gap":
        low, high = (lows[0] + lows[1]) / 2, (highs[0] + highs[1]) / 2
    else:
        low, high = np.maximum.reduce(lows), np.maximum.reduce(highs)
    return np.asarray(low.max(axis=-1)), np.asarray(high.max(axis=-1))


def _overall_value(name: str, tables: Tables) -> NDArray[np.float64]:
    rates = [tables.overall.rate(rate) for rate in OVERALL[name]]
    if name == "f1":
        return np.asarray(2 * rates[0] / (1 + rates[0]))
    if name == "balanced_accuracy":
        return np.asarray((rates[0] + 1 - rates[1]) / 2)
    return rates[0]


def _overall_limits(name: str, tables: Tables, level: float) -> Limits:
    successes, trials = tables.overall.of(OVERALL[name][0])
    if name == "balanced_accuracy":
        wrong, negatives = tables.overall.of("fpr")
        return mean_of_shares(successes, trials, negatives - wrong, negatives, level)
    low, high = clopper_pearson(successes, trials, level)
    if name == "f1":
        return 2 * low / (1 + low), 2 * high / (1 + high)
    return low, high
