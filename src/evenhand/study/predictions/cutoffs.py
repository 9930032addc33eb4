"""Decisions by cut-offs of scores, one for each group, that even out what a group lacks."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from evenhand.privacy.randomness import SeededSource

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from evenhand.study.predictions.columns import Predictions

LACKING = "cut-offs for those who lack"
ALL = "cut-offs for every group"
_PARTS = 5
_SEED = 0


def decide_again(
    rows: Predictions, effect: str, places: Sequence[int], *, of_others: bool = False
) -> NDArray[np.uint8] | None:
    """Return decisions in which some groups have a cut-off of their own; None without scores.

    A group is selected as often as everybody is, or with `of_others` as everybody outside it, among those
    whom the effect can reach. The cut-off of each fifth of the rows is that of the others: on the rows that
    it was found on it would look better than it is.

    Parameters
    ----------
    rows : Predictions
    effect : {"wrongly_refused", "wrongly_selected", "selected"}
        What is evened out.
    places : sequence of int
        The groups.
    of_others : bool
    """
    if rows.scores is None or rows.weights is not None or not places:
        return None
    reached = np.ones(len(rows.predicted), bool)
    if rows.truth is not None and effect != "selected":
        reached = rows.truth == (effect == "wrongly_refused")
    by_chance = SeededSource(_SEED).generator().permutation(len(reached))
    order = np.lexsort((by_chance, reached, rows.group))
    part = np.empty(len(reached), np.intp)
    part[order] = np.arange(len(reached)) % _PARTS
    cells = (rows.group * _PARTS + part)[reached & (rows.group >= 0)]
    size = len(rows.labels) * _PARTS
    hits = np.bincount(cells, weights=rows.predicted[reached & (rows.group >= 0)], minlength=size)
    shape = (len(rows.labels), _PARTS)
    selected, people = hits.reshape(shape), np.bincount(cells, minlength=size).reshape(shape)
    decided = rows.predicted.copy()
    starts = np.searchsorted(rows.group[order], np.arange(len(rows.labels) + 1))
    for place in places:
        own = order[starts[place] : starts[place + 1]]
        target, base = selected.sum(axis=0), people.sum(axis=0)
        if of_others:
            target, base = target - selected[place], base - people[place]
        for each in range(_PARTS):
            others, now = own[part[own] != each], own[part[own] == each]
            share = (target.sum() - target[each]) / (base.sum() - base[each])
            decided[now] = rows.scores[now] >= _cut_off(rows.scores[others[reached[others]]], share)
    return decided


def _cut_off(scores: NDArray[np.float64], share: float) -> float:
    """Return the score from which on a share of people is selected."""
    selected = round(share * len(scores))
    return float(np.sort(scores)[len(scores) - selected]) if selected else math.inf
