r"""Choose by somebody's own limits: the smallest epsilon whose option keeps them.

An option *keeps* the limits if it is usable, if people selected in all change by at most a tenth, if the
upper limit of the widest gap between two judged groups is within the limit on gaps, and if wrong decisions in
all rise by at most what is allowed. To select nobody keeps every limit on gaps, and helps nobody. Without a
limit on either an option keeps them if nobody pays: every judged harm is ``none``. Upper limits of gaps hold
together over all options of the table, so that the choice of the smallest epsilon is covered; a limit on
epsilon changes none of them.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

from evenhand._validate import refuse
from evenhand.answer.choice import CostLimits, changes_given, find_harmless
from evenhand.answer.effects import EVERYBODY, mean
from evenhand.answer.gaps import limit_widest_gap
from evenhand.answer.harm import find_trouble

if TYPE_CHECKING:
    from collections.abc import Collection

    from evenhand.answer.effects import EffectTable, Option
    from evenhand.answer.status import Effect

Broken = Literal["usable", "given", "gap", "wrong", "harm"]


@dataclass(frozen=True, kw_only=True)
class AskedLimits:
    """Limits that somebody sets; those that are not set are infinite.

    `gap` is the widest gap between the shares of two groups that are selected, `wrong` by how many wrong
    decisions may rise against the unprotected result, both of 1,000; `epsilon` is the largest.
    """

    gap: float = math.inf
    wrong: float = math.inf
    epsilon: float = math.inf

    def __post_init__(self) -> None:
        """Refuse limits that nobody can want."""
        for name in ("gap", "wrong", "epsilon"):
            if not getattr(self, name) >= 0:
                refuse(name, "AskedLimits", "a number from 0 on", getattr(self, name))

    @property
    def are_set(self) -> bool:
        """Return whether there is a limit on what protection may cost."""
        return math.isfinite(self.gap) or math.isfinite(self.wrong)


class Kept(NamedTuple):
    """An option and which limits it breaks.

    `gap` is the upper limit of its widest gap and `wrong` the rise of wrong decisions, both of 1,000; NaN
    where there is none. `lack` is the most that somebody may lack, as a multiple of what matters.
    """

    option: Option
    broken: tuple[Broken, ...]
    gap: float
    wrong: float
    lack: float


def try_limits(
    table: EffectTable, rows: tuple[Effect, ...], limits: AskedLimits, *, among: Collection[str] | None = None
) -> tuple[Kept, ...]:
    """Return every option within the largest epsilon, the smallest first, then least harm to the worst-off.

    Only options of the names `among` which may be chosen are tried, if there are such; `rows` are those of
    :func:`evenhand.answer.status.judge`.
    """
    protected = [option for option in table.options if option.reference and math.isfinite(option.epsilon)]
    misses = (1 - table.level) / max(len(protected), 1)
    harmless = find_harmless(table, rows)
    lacks = _most_lacking(table, rows)
    kept = [
        _try(
            table, option, limits, misses=misses, is_harmless=option.name in harmless, lack=lacks[option.name]
        )
        for option in protected
        if option.epsilon <= limits.epsilon
        and not option.needs_group
        and (among is None or option.name in among)
    ]

    def rank(each: Kept) -> tuple[float, float, int, str]:  # a tenth of what matters is a tie
        return (each.option.epsilon, round(each.lack, 1), each.option.simplicity, each.option.name)

    return tuple(sorted(kept, key=rank))


def smallest_passing(kept: tuple[Kept, ...]) -> Kept | None:
    """Return the first option that breaks no limit, if there is one."""
    return next((each for each in kept if not each.broken), None)


def find_nearest(kept: tuple[Kept, ...], limits: AskedLimits) -> Kept | None:
    """Return the usable option that goes least beyond the limits, if that is known of any."""

    def excess(each: Kept) -> float:
        beyond = [each.gap - limits.gap, each.wrong - limits.wrong] if limits.are_set else [each.lack]
        return max(math.inf if math.isnan(one) else one for one in beyond)

    usable = [each for each in kept if not {"usable", "given"} & set(each.broken)]
    return min((each for each in usable if math.isfinite(excess(each))), key=excess, default=None)


def _try(
    table: EffectTable, option: Option, limits: AskedLimits, *, misses: float, is_harmless: bool, lack: float
) -> Kept:
    gap = limit_widest_gap(table, option.name, misses=misses)
    seen = table.by_key.get((option.name, EVERYBODY, "wrong"))
    wrong = math.nan if seen is None else mean(seen.after - seen.due)
    tests: dict[Broken, bool] = {
        "usable": not find_trouble(table, option.name),
        "given": not changes_given(table, option.name, CostLimits()),
        "gap": math.isinf(limits.gap) or gap <= limits.gap,
        "wrong": math.isinf(limits.wrong) or wrong <= limits.wrong,
        "harm": limits.are_set or is_harmless,
    }
    return Kept(option, tuple(name for name, is_kept in tests.items() if not is_kept), gap, wrong, lack)


def _most_lacking(table: EffectTable, rows: tuple[Effect, ...]) -> dict[str, float]:
    """Return the most that a judged group may lack under each option, as a multiple of what matters."""
    lacks: dict[str, float] = defaultdict(float)
    for row in rows:
        if row.group == EVERYBODY or not table.hurts(row.effect) or row.status in ("unjudged", "not stored"):
            continue
        threshold = table.threshold(table.by_key[row.setting, row.group, row.effect])
        share = row.bound / threshold if threshold else math.inf
        lacks[row.setting] = max(lacks[row.setting], math.inf if math.isnan(share) else share)
    return lacks
