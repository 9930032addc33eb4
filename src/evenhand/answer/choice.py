"""Choose what to do: which remedy at this protection, and apart from it which epsilon.

A remedy is recommended only if it passes four tests, in this order: it is usable; no judged group is harmed
more than under the page's option by what matters; it clearly lessens the harm that was named, by what
matters; and its costs stay within limits. What fails only the second or the fourth is a trade-off. A group's
harm is the largest lack of what is due to it over its effects of one unit, never below 0: to lose a windfall
is no harm. Units are never traded against each other.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from evenhand.answer.effects import EFFECTS, EVERYBODY, per_head
from evenhand.answer.harm import find_trouble, lacks, limit_difference
from evenhand.answer.status import family_level, limit_samples, sample_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evenhand.answer.effects import EffectTable, Observation, Option
    from evenhand.answer.harm import Payer, Verdict
    from evenhand.answer.status import Effect, Limits

Test = Literal["usable", "no new harm", "the right harm", "costs"]
Tag = Literal["recommended", "trade-off", "no clear help", "not usable", "needs the true group"]

_ONE_ANSWER = 0.98


@dataclass(frozen=True)
class CostLimits:
    """Limits of what a remedy may cost in all.

    Parameters
    ----------
    given : float
        The share by which people selected or rights granted in all may differ from the unprotected result.
    paid : float
        The same for dollars.
    wrong : float
        By how many of 1,000 wrong decisions may rise against the page's option.
    error : float
        By what share the typical error may rise against the page's option.
    """

    given: float = 0.10
    paid: float = 0.01
    wrong: float = 10.0
    error: float = 0.25


class Harmed(NamedTuple):
    """A group that lacks more with a remedy than under the page's option, and by how much."""

    group: str
    effect: str
    limits: Limits


@dataclass(frozen=True)
class Trial:
    """A remedy and what the four tests say.

    Parameters
    ----------
    option : Option
    tag : Tag
    failed : tuple of Test
    harmed : tuple of Harmed
        The groups that fail the second test.
    relief : Limits
        By how much less the first payer lacks.
    left : float
        What the worst-off lack with it at most: the upper limit.
    costs : tuple of str
        The effects of everybody that go beyond their limit.
    """

    option: Option
    tag: Tag
    failed: tuple[Test, ...]
    harmed: tuple[Harmed, ...]
    relief: Limits
    left: float
    costs: tuple[str, ...]


@dataclass(frozen=True)
class Choice:
    """The remedies tried against the harm that was named; recommended ones tie, the simplest first."""

    recommended: tuple[Trial, ...]
    trials: tuple[Trial, ...]


class Step(NamedTuple):
    """A point of the curve over epsilon, and whether nobody pays there."""

    epsilon: float
    option: str
    nobody: bool


def choose_remedy(table: EffectTable, verdict: Verdict, costs: CostLimits | None = None) -> Choice:
    """Return the remedies that pass the four tests, least harm to the worst-off first."""
    if not verdict.payers:
        return Choice((), ())
    candidates = [option for option in table.candidates if option.name != table.page]
    level = family_level(table, [option.name for option in candidates])
    limits = costs or CostLimits()
    trials = [_try(table, option, verdict.payers[0], level=level, costs=limits) for option in candidates]
    passed = sorted(
        (trial for trial in trials if trial.tag == "recommended"),
        key=lambda trial: (trial.left, trial.option.simplicity, trial.option.name),
    )
    payer = verdict.payers[0].row
    seen = table.by_key[payer.setting, payer.group, payer.effect]
    matters = float(per_head(seen, table.threshold(seen)))
    tied = [trial for trial in passed if trial.left < passed[0].left + matters / 10]
    return Choice(
        tuple(sorted(tied, key=lambda trial: (trial.option.simplicity, trial.option.name))), tuple(trials)
    )


def list_steps(table: EffectTable, rows: tuple[Effect, ...]) -> tuple[Step, ...]:
    """Return the page's method at each epsilon that was tried, the smallest first."""
    page = table.by_name[table.page]
    return tuple(
        sorted(
            Step(option.epsilon, option.name, is_harmless(table, rows, option.name))
            for option in table.options
            if option.method == page.method and not option.is_remedy and math.isfinite(option.epsilon)
        )
    )


def is_harmless(table: EffectTable, rows: tuple[Effect, ...], name: str) -> bool:
    """Return whether nobody pays under an option: every judged harm is bounded below what matters."""
    judged = [
        row
        for row in rows
        if row.setting == name
        and row.group != EVERYBODY
        and table.hurts(row.effect)
        and row.status != "unjudged"
    ]
    return bool(judged) and all(
        row.status == "none" or (row.status == "clear" and not row.is_harm) for row in judged
    )


def smallest_epsilon(steps: tuple[Step, ...]) -> Step | None:
    """Return the step of the smallest epsilon at which nobody pays, if there is one."""
    return next((step for step in steps if step.nobody), None)


def _try(table: EffectTable, option: Option, payer: Payer, *, level: float, costs: CostLimits) -> Trial:
    failed: list[Test] = []
    if find_trouble(table, option.name):
        failed.append("usable")
    harmed = _find_harmed(table, option.name, level)
    if harmed:
        failed.append("no new harm")
    own = table.by_key[payer.row.setting, payer.row.group, payer.row.effect]
    unit = EFFECTS[payer.row.effect].unit
    change, _ = _compare_harm(table, option.name, payer.row.group, unit, level)
    relief = _negate(change)
    if not (relief.low > 0 and relief.mean >= float(per_head(own, table.threshold(own)))):
        failed.append("the right harm")
    beyond = _find_costs(table, option.name, costs)
    if beyond:
        failed.append("costs")
    tag: Tag = "recommended"
    if "usable" in failed:
        tag = "not usable"
    elif "the right harm" in failed:
        tag = "no clear help"
    elif option.needs_group:
        tag = "needs the true group"
    elif failed:
        tag = "trade-off"
    left = _worst_lack(table, option.name, unit)
    return Trial(option, tag, tuple(failed), harmed, relief, left, beyond)


def _find_harmed(table: EffectTable, name: str, level: float) -> tuple[Harmed, ...]:
    """Return the judged groups whose harm rises by what matters, or clearly and perhaps by that."""
    found = []
    kinds = [
        {
            (seen.group, EFFECTS[seen.effect].unit)
            for seen in table.observations
            if seen.option == option and seen.group != EVERYBODY and _counts(table, seen)
        }
        for option in (name, table.page)
    ]
    for group, unit in sorted(set.intersection(*kinds)):
        limits, lead = _compare_harm(table, name, group, unit, level)
        matters = float(per_head(lead, table.threshold(lead)))
        if limits.mean >= matters or (limits.low > 0 and limits.high >= matters):
            found.append(Harmed(group, lead.effect, limits))
    return tuple(found)


def _compare_harm(
    table: EffectTable, name: str, group: str, unit: str, level: float
) -> tuple[Limits, Observation]:
    """Return how much more a group lacks under an option than under the page's, and by which effect.

    The effect is the one that the group lacks most under each option; where it lacks nothing on average, its
    harm is 0.
    """
    (values, lead), (page_values, page_lead) = (
        _harm_of(table, each, group, unit) for each in (name, table.page)
    )
    return limit_difference(lead, values, page_lead, page_values, level=level), lead


def _harm_of(table: EffectTable, name: str, group: str, unit: str) -> tuple[NDArray[np.float64], Observation]:
    """Return what a group lacks under an option by its largest effect of one unit, per head and by repeat."""
    effects = [
        each
        for each in table.observations
        if each.option == name
        and each.group == group
        and EFFECTS[each.effect].unit == unit
        and _counts(table, each)
    ]
    lead = max(effects, key=lambda each: float(np.nanmean(lacks(table, each))))
    values = np.asarray(per_head(lead, lacks(table, lead)))
    return (values if np.nanmean(values) > 0 else np.zeros_like(values)), lead


def _worst_lack(table: EffectTable, name: str, unit: str) -> float:
    """Return the upper limit of what the worst-off group lacks under an option, per head."""
    effects = [
        each
        for each in table.observations
        if each.option == name and each.group != EVERYBODY and EFFECTS[each.effect].unit == unit
    ]
    kept = [each for each in effects if _counts(table, each)]
    samples = [sample_of(each, np.asarray(per_head(each, lacks(table, each)))) for each in kept]
    limits = limit_samples(samples, table.level)
    uppers = [each.mean if math.isnan(each.most) else each.most for each in limits]
    return max([*uppers, 0.0])


def _find_costs(table: EffectTable, name: str, costs: CostLimits) -> tuple[str, ...]:
    """Return the effects of everybody that an option takes beyond their limits."""
    beyond = []
    given, page_given = (_mean_in_all(table, each, "in_all") for each in (name, table.page))
    due = _mean_in_all(table, table.unprotected, "in_all")
    people = table.by_key.get((name, EVERYBODY, "in_all"))
    if people is not None and not math.isnan(due):
        pays = any(seen.effect == "short" for seen in table.observations)
        limit = (costs.paid if pays else costs.given) * abs(due)
        share = given / people.people if people.people and not pays else 0.5
        one_answer = max(share, 1 - share) >= _ONE_ANSWER
        nearer = abs(given - due) <= abs(page_given - due)
        if one_answer or (abs(given - due) > limit and not nearer):
            beyond.append("in_all")
    wrong, page_wrong = (_mean_in_all(table, each, "wrong") for each in (name, table.page))
    if wrong - page_wrong > costs.wrong:
        beyond.append("wrong")
    error, page_error = (_mean_in_all(table, each, "off") for each in (name, table.page))
    if error > page_error * (1 + costs.error):
        beyond.append("off")
    return tuple(beyond)


def _mean_in_all(table: EffectTable, name: str, effect: str) -> float:
    seen = table.by_key.get((name, EVERYBODY, effect))
    return math.nan if seen is None or not seen.is_stored else float(np.nanmean(seen.after))


def _counts(table: EffectTable, seen: Observation) -> bool:
    return table.hurts(seen.effect) and seen.is_judged and seen.is_stored


def _negate(limits: Limits) -> Limits:
    return limits._replace(
        mean=-limits.mean, low=-limits.high, high=-limits.low, least=-limits.most, most=-limits.least
    )
