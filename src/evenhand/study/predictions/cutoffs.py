"""Decisions by cut-offs of scores, one for each group, that even out what a group lacks."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from evenhand.privacy.randomness import SeededSource

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from evenhand.study.predictions.columns import Predictions

LACKING = "cut-offs for those who lack"
ALL = "cut-offs for every group"
_PARTS = 5
_SEED = 0


def find_cut_offs(
    rows: Predictions, effect: str, places: Sequence[int], *, of_others: bool
) -> dict[int, float]:
    """Return the score of each group from which on it is to be selected, from all rows.

    A group is selected as often as everybody is, or with `of_others` as everybody outside these groups, among
    those whom the effect can reach.

    Parameters
    ----------
    rows : Predictions
    effect : {"wrongly_refused", "wrongly_selected", "selected"}
        What is evened out.
    places : sequence of int
        The groups.
    of_others : bool
    """
    whole = np.zeros(len(rows.predicted), np.intp)
    return {place: cut for place, _, cut in _cut_off_parts(rows, effect, places, whole, of_others=of_others)}


def decide_again(
    rows: Predictions, effect: str, places: Sequence[int], *, of_others: bool
) -> NDArray[np.uint8] | None:
    """Return decisions by cut-offs of some groups; None without scores, or with weights.

    The cut-off of each fifth of the rows is that of the others: on the rows that it was found on it would
    look better than it is. The parameters are those of :func:`find_cut_offs`.
    """
    if rows.scores is None or rows.weights is not None or not places:
        return None
    by_chance = SeededSource(_SEED).generator().permutation(len(rows.predicted))
    part = np.empty(len(by_chance), np.intp)
    part[np.lexsort((by_chance, _reached(rows, effect), rows.group))] = np.arange(len(by_chance)) % _PARTS
    decided = rows.predicted.copy()
    for _, now, cut in _cut_off_parts(rows, effect, places, part, of_others=of_others):
        decided[now] = rows.scores[now] >= cut
    return decided


def _reached(rows: Predictions, effect: str) -> NDArray[np.bool]:
    """Return whom an effect can reach: those who qualify, those who do not, or everybody."""
    if rows.truth is None or effect == "selected":
        return np.ones(len(rows.predicted), bool)
    return np.asarray(rows.truth == (effect == "wrongly_refused"))


def _cut_off_parts(
    rows: Predictions, effect: str, places: Sequence[int], part: NDArray[np.intp], *, of_others: bool
) -> Iterator[tuple[int, NDArray[np.intp], float]]:
    """Yield each group, its rows of one part, and the cut-off for them: from other parts, if there are."""
    if rows.scores is None:
        return
    parts = int(part.max()) + 1
    reached = _reached(rows, effect)
    counted = reached & (rows.group >= 0)
    shape, cells = (len(rows.labels), parts), (rows.group * parts + part)[counted]
    people = np.bincount(cells, minlength=math.prod(shape)).reshape(shape)
    selected = np.bincount(cells, weights=rows.predicted[counted], minlength=math.prod(shape)).reshape(shape)
    order = np.argsort(rows.group, kind="stable")
    starts = np.searchsorted(rows.group[order], np.arange(len(rows.labels) + 1))
    compared = [place for place in range(len(rows.labels)) if not of_others or place not in places]
    hits, base = selected[compared].sum(axis=0), people[compared].sum(axis=0)
    for place in places:
        own = order[starts[place] : starts[place + 1]]
        for at in range(parts):
            others = np.arange(parts) != at if parts > 1 else np.ones(1, bool)
            scores = np.sort(rows.scores[own[others[part[own]] & reached[own]]])
            taken = round(hits[others].sum() / base[others].sum() * len(scores))
            yield place, own[part[own] == at], float(scores[len(scores) - taken]) if taken else math.inf
