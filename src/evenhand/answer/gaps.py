r"""Gaps: how far two groups are apart without protection, and how far the same two are afterwards.

A gap is the signed difference of the two judged groups that are furthest apart in what is due, the one with
more of it first: a change above 0 is a wider gap. The pair is found by looking at all :math:`m` pairs, and
one that is far apart by chance is nearer the next time. Its limits, and its bound in either direction, miss
with :math:`\alpha / m` for that. Groups that cross several columns are compared with each other and not with
their margins, which hold the same people.

A gap is context. It hurts nobody by itself, is in no family of looks, and never pays.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from evenhand.answer.effects import EVERYBODY
from evenhand.answer.status import limit_samples, make_row, sample_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from evenhand.answer.effects import EffectTable, Observation
    from evenhand.answer.status import Effect, Sample

GAP_EFFECTS = ("selected", "wrongly_refused", "wrongly_selected", "wrong")
"""The effects of which groups are compared with each other."""


class _Gap(NamedTuple):
    """Hold what was seen of a pair, what it had before, and how often its limits may miss."""

    seen: Observation
    before: NDArray[np.float64]
    sample: Sample
    misses: float


def judge_gaps(table: EffectTable) -> tuple[Effect, ...]:
    """Return a row for every protected option and effect of which two groups can be compared."""
    gaps = list(_list_gaps(table))
    alike: dict[float, list[int]] = defaultdict(list)
    for place, gap in enumerate(gaps):
        alike[gap.misses].append(place)
    rows: dict[int, Effect] = {}
    for misses, places in alike.items():
        samples = [gaps[place].sample for place in places]
        limits = limit_samples(samples, 1 - misses, narrow=1 - 2 * misses)
        for place, own in zip(places, limits, strict=True):
            gap, bound = gaps[place], max(-own.least, own.most)
            rows[place] = make_row(table, gap.seen, before=gap.before, harm="", limits=own, bound=bound)
    return tuple(rows[place] for place in range(len(gaps)))


def limit_widest_gap(table: EffectTable, name: str, *, misses: float) -> float:
    """Return the upper limit of the widest gap in selection under an option, of 1,000.

    It is the largest of the upper limits of all pairs of judged groups. That of the pair that is truly widest
    misses with at most `misses`, and so does the largest, without a correction for the number of pairs. NaN
    where a pair has no limit, or where no two groups can be compared.
    """
    groups = [seen for seen in _list_groups(table) if (seen.option, seen.effect) == (name, "selected")]
    pairs = [_subtract(*pair) for pair in combinations(groups, 2) if _are_alike(pair)]
    if not pairs:
        return math.nan
    limits = limit_samples([sample_of(pair, pair.after) for pair in pairs], 1 - 2 * misses)
    widest = np.max([max(-each.low, each.high) for each in limits])  # NaN if one of them is
    return float(np.minimum(widest, 1000.0))


def _list_gaps(table: EffectTable) -> Iterator[_Gap]:
    """Yield the pair that is furthest apart in what is due, for each protected option and effect."""
    by_option: dict[tuple[str, str], list[Observation]] = defaultdict(list)
    for seen in _list_groups(table):
        by_option[seen.option, seen.effect].append(seen)
    for option in table.options:
        for effect in GAP_EFFECTS if option.reference else ():
            groups = by_option[option.name, effect]
            if len(groups) < 2 or not _are_alike(groups):
                continue
            second, *_, first = sorted(
                groups, key=lambda seen: (float(np.nanmean(seen.due)), seen.people, seen.group)
            )
            pair = _subtract(first, second)
            had, other = table.before(first), table.before(second)
            before = had - other if len(had) == len(other) else np.array([])
            values = pair.after - before if len(before) == len(pair.after) else np.array([])
            unseen = math.fsum(sample_of(each, values).unseen for each in (first, second))
            sample = sample_of(pair, values)._replace(unseen=unseen)
            yield _Gap(pair, before, sample, (1 - table.level) / math.comb(len(groups), 2))


def _list_groups(table: EffectTable) -> Iterator[Observation]:
    """Yield what was seen of groups that can be compared: judged, and no two with the same people."""
    overlapping = {margin for margins in table.margins.values() for margin in margins}
    left_out = {EVERYBODY} | overlapping | table.entities
    for seen in table.observations:
        if seen.group not in left_out and seen.is_judged and seen.is_stored:
            yield seen


def _are_alike(groups: Sequence[Observation]) -> bool:
    """Return whether groups were seen in the same way, so that they can be subtracted."""
    return len({(seen.basis, len(seen.after)) for seen in groups}) == 1


def _subtract(first: Observation, second: Observation) -> Observation:
    """Return the difference of two groups as what was seen of the pair."""
    return replace(
        first,
        group=f"{first.group} and {second.group}",
        after=first.after - second.after,
        due=first.due - second.due,
        people=first.people + second.people,
        tested=first.tested + second.tested,
        spread="none" if "none" in (first.spread, second.spread) else "even",
        error=math.hypot(first.error, second.error),
        rate=first.rate - second.rate,
        due_rate=first.due_rate - second.due_rate,
    )
