"""Decisions by cut-offs of scores, one for each group, at which groups are selected alike.

Groups are codes from 0 on, -1 where one is not stated. What is evened out are decisions on those who are
`reached`: everybody, or the people who qualify. A group is then selected as often as everybody is, or with
`of_others` as everybody outside the groups at `places`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from evenhand.privacy.randomness import SeededSource

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

_PARTS = 5
_SEED = 0


class Scored(NamedTuple):
    """People with a score, whether they were selected, their group, and whether they are reached."""

    scores: NDArray[np.float64]
    selected: NDArray[np.uint8]
    group: NDArray[np.intp]
    reached: NDArray[np.bool]


def find_cut_offs(people: Scored, places: Sequence[int], *, of_others: bool) -> dict[int, float]:
    """Return the score of each group from which on it is to be selected, from all rows.

    >>> scores, selected = np.array([1.0, 2, 3, 4, 1, 2, 3, 4]), np.array([0, 0, 0, 1, 0, 1, 1, 1], np.uint8)
    >>> people = Scored(scores, selected, np.arange(8) // 4, np.ones(8, bool))
    >>> find_cut_offs(people, [0], of_others=True)
    {0: 2.0}
    """
    whole = np.zeros(len(people.group), np.intp)
    return {place: cut for place, _, cut in _cut_off_parts(people, places, whole, of_others=of_others)}


def decide_again(people: Scored, places: Sequence[int], *, of_others: bool) -> NDArray[np.uint8]:
    """Return decisions by cut-offs of some groups; everybody else keeps theirs.

    The cut-off of each fifth of the rows is that of the others: on the rows that it was found on it would
    look better than it is.
    """
    by_chance = SeededSource(_SEED).generator().permutation(len(people.group))
    part = np.empty(len(by_chance), np.intp)
    part[np.lexsort((by_chance, people.reached, people.group))] = np.arange(len(by_chance)) % _PARTS
    decided = people.selected.copy()
    for _, now, cut in _cut_off_parts(people, places, part, of_others=of_others):
        decided[now] = people.scores[now] >= cut
    return decided


def _cut_off_parts(
    people: Scored, places: Sequence[int], part: NDArray[np.intp], *, of_others: bool
) -> Iterator[tuple[int, NDArray[np.intp], float]]:
    """Yield each group, its rows of one part, and the cut-off for them: from other parts, if there are."""
    scores, decided, group, reached = people
    parts, groups = int(part.max()) + 1, int(group.max()) + 1
    counted = reached & (group >= 0)
    cells = (group * parts + part)[counted]
    size, selected = (
        np.bincount(cells, weights=weights, minlength=groups * parts).reshape(groups, parts)
        for weights in (None, decided[counted])
    )
    order = np.argsort(group, kind="stable")
    starts = np.searchsorted(group[order], np.arange(groups + 1))
    compared = [place for place in range(groups) if not of_others or place not in places]
    hits, base = selected[compared].sum(axis=0), size[compared].sum(axis=0)
    for place in places:
        own = order[starts[place] : starts[place + 1]]
        for at in range(parts):
            others = np.arange(parts) != at if parts > 1 else np.ones(1, bool)
            ordered = np.sort(scores[own[others[part[own]] & reached[own]]])
            taken = round(hits[others].sum() / base[others].sum() * len(ordered))
            yield place, own[part[own] == at], float(ordered[len(ordered) - taken]) if taken else math.inf
