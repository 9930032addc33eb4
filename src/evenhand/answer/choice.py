"""Choose what to do: which remedy at this protection, and apart from it which epsilon.

A remedy is recommended only if it passes four tests, in this order: it is usable; no judged group is harmed
more than under the page's option by what matters; it clearly lessens the harm that was named, by what
matters; and its costs stay within limits. What fails only the second or the fourth is a trade-off. A group's
harm is the largest lack of what is due to it over its effects of one unit, never below 0: to lose a windfall
is no harm. Units are never traded against each other.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from evenhand.answer.effects import EFFECTS, EVERYBODY, mean, per_head
from evenhand.answer.harm import find_trouble, lacks, sample_difference
from evenhand.answer.status import Limits, bound_lack, family_level, keep_possible, limit_samples, sample_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from evenhand.answer.effects import EffectTable, Observation, Option
    from evenhand.answer.harm import Verdict
    from evenhand.answer.status import Effect

Test = Literal["usable", "no new harm", "the right harm", "costs"]
Tag = Literal[
    "recommended", "not confirmed", "trade-off", "no clear help", "not usable", "needs the true group"
]

_ONE_ANSWER = 0.98


@dataclass(frozen=True)
class CostLimits:
    """Limits of what a remedy may cost in all.

    `given` is the share by which people selected or rights granted may differ from the unprotected result,
    `paid` the same for dollars. Against the page's option `wrong` decisions may rise by so many of 1,000, and
    the typical `error` by such a share.
    """

    given: float = 0.10
    paid: float = 0.01
    wrong: float = 10.0
    error: float = 0.25


class Rise(NamedTuple):
    """Hold how much more a group lacks than under the page's option, by the effect that it lacks most."""

    lead: Observation
    limits: Limits


@dataclass(frozen=True)
class Trial:
    """A remedy and what the four tests say.

    `harmed` are the groups that fail the second test, `relief` is by how much less the first payer lacks,
    `left` the upper limit of what the worst-off lack with it, and `costs` are the effects of everybody that
    go beyond their limit.
    """

    option: Option
    tag: Tag
    failed: tuple[Test, ...]
    harmed: tuple[Rise, ...]
    relief: Limits
    left: float
    costs: tuple[str, ...]


@dataclass(frozen=True)
class Choice:
    """The remedies tried against the harm that was named; recommended ones tie, the simplest first.

    `again` is the option whose figures are those of fresh repeats, if one was run again; `misled` says that
    it passed at first, and not then.
    """

    recommended: tuple[Trial, ...]
    trials: tuple[Trial, ...]
    again: str = ""
    misled: bool = False

    @property
    def first(self) -> Trial | None:
        """The remedy to use."""
        return next(iter(self.recommended), None)

    @property
    def may_help(self) -> bool:
        """Return whether a remedy would help with the true groups, or helped before it was run again."""
        return any(trial.tag in ("needs the true group", "not confirmed") for trial in self.trials)

    def find_least(self, tag: Tag) -> Trial | None:
        """Return the remedy of a tag that leaves the worst-off with the least harm."""
        found = (trial for trial in self.trials if trial.tag == tag)
        return min(
            found, key=lambda trial: (trial.left, trial.option.simplicity, trial.option.name), default=None
        )


class Step(NamedTuple):
    """A point of the curve over epsilon, and whether nobody pays there."""

    epsilon: float
    option: str
    nobody: bool


def choose_remedy(table: EffectTable, verdict: Verdict, costs: CostLimits | None = None) -> Choice:
    """Return the remedies that pass the four tests, least harm to the worst-off first.

    The first of them, or else the best trade-off, is judged by fresh repeats if it was run in such. Where it
    is not stored whether an option pays below zero, it is no candidate.
    """
    if not verdict.payers:
        return Choice((), ())
    payer = verdict.payers[0].row
    key = payer.setting, payer.group, payer.effect
    choice = _choose(table, table.by_key[key], costs)
    picked, fresh = choice.first or choice.find_least("trade-off"), table.fresh
    if picked is None or fresh is None or key not in fresh.by_key:
        return choice
    trials = _try_options(fresh, [picked.option], fresh.by_key[key], costs)
    if not trials or math.isnan(trials[0].relief.mean):  # it was not run again
        return choice
    again, is_use = trials[0], picked.tag == "recommended"
    if again.tag == "recommended" and not is_use:  # it harmed somebody at first, so it is none to use
        return choice
    return Choice(
        (again,) if again.tag == "recommended" else (),
        tuple(again if each is picked else _doubt(each) for each in choice.trials),
        again.option.name,
        misled=is_use and again.tag != "recommended",
    )


def _doubt(trial: Trial) -> Trial:
    """Return a trial that passed at first, as it is told beside one that was judged by fresh repeats."""
    return replace(trial, tag="not confirmed") if trial.tag == "recommended" else trial


def _choose(table: EffectTable, own: Observation, costs: CostLimits | None) -> Choice:
    trials = _try_options(table, table.candidates, own, costs)
    passed = [trial for trial in trials if trial.tag == "recommended"]
    least = min((trial.left for trial in passed), default=math.nan)
    matters = float(per_head(own, table.threshold(own)))
    tied = [trial for trial in passed if trial.left < least + matters / 10]
    tied.sort(key=lambda trial: (trial.option.simplicity, trial.option.name))
    return Choice(tuple(tied), trials)


def try_next_steps(table: EffectTable, costs: CostLimits | None = None) -> tuple[Trial, ...]:
    """Return what each remedy costs that is one step from the page's option, where no harm asks for one."""
    steps = [option for option in table.candidates if option.reference == table.page]
    return _try_options(table, steps, None, costs)


def _try_options(
    table: EffectTable, options: Iterable[Option], own: Observation | None, costs: CostLimits | None
) -> tuple[Trial, ...]:
    tried = [each for each in options if each.name != table.page and _is_known(table, each.name)]
    names, limits = [option.name for option in tried], costs or CostLimits()
    rises = _compare_harms(table, names, family_level(table, names))
    left = dict.fromkeys(names, math.nan)
    if own is not None:
        left = _worst_lacks(table, names, EFFECTS[own.effect].unit)
    return tuple(_try(table, each, own, rises[each.name], left[each.name], limits) for each in tried)


def list_steps(table: EffectTable, rows: tuple[Effect, ...]) -> tuple[Step, ...]:
    """Return the page's method at each epsilon that was tried, the smallest first."""
    page, harmless = table.by_name[table.page], find_harmless(table, rows)
    return tuple(
        sorted(
            Step(option.epsilon, option.name, option.name in harmless)
            for option in table.options
            if option.method == page.method and not option.is_remedy and math.isfinite(option.epsilon)
        )
    )


def find_harmless(table: EffectTable, rows: tuple[Effect, ...]) -> frozenset[str]:
    """Return the usable options under which nobody pays: every judged harm is bounded below what matters."""
    judged: dict[str, list[Effect]] = defaultdict(list)
    for row in rows:
        if row.group != EVERYBODY and table.hurts(row.effect) and row.status != "unjudged":
            judged[row.setting].append(row)
    return frozenset(
        name
        for name, own in judged.items()
        if all(row.status == "none" or (row.status == "clear" and not row.is_harm) for row in own)
        and not find_trouble(table, name)
    )


def smallest_epsilon(steps: tuple[Step, ...]) -> Step | None:
    """Return the step of the smallest epsilon at which nobody pays, if there is one."""
    return next((step for step in steps if step.nobody), None)


def _is_known(table: EffectTable, name: str) -> bool:
    """Return whether an option was run, and it is known how often it pays below zero, where it pays."""
    billed = table.by_key.get((name, EVERYBODY, "billed"))
    was_run = any(seen.is_stored for seen in table.by_option[name])
    return was_run and (billed is None or billed.is_stored)


def _try(
    table: EffectTable,
    option: Option,
    own: Observation | None,
    rises: list[Rise],
    left: float,
    costs: CostLimits,
) -> Trial:
    failed: list[Test] = []
    if find_trouble(table, option.name):
        failed.append("usable")
    harmed = sorted(
        (each for each in rises if _is_harm(table, each)),
        key=lambda each: (EFFECTS[each.lead.effect].tier, -each.limits.mean),
    )
    if harmed:
        failed.append("no new harm")
    relief = Limits(*[math.nan] * 5)
    if own is not None:
        relief = next((_negate(each.limits) for each in rises if _is_alike(each.lead, own)), relief)
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
    return Trial(option, tag, tuple(failed), tuple(harmed), relief, left, beyond)


def _is_alike(one: Observation, other: Observation) -> bool:
    """Return whether two observations are of one group and unit."""
    return one.group == other.group and EFFECTS[one.effect].unit == EFFECTS[other.effect].unit


def _is_harm(table: EffectTable, rise: Rise) -> bool:
    """Return whether a group's harm rises by what matters, or clearly and perhaps by that."""
    limits = rise.limits
    matters = float(per_head(rise.lead, table.threshold(rise.lead)))
    return limits.mean >= matters or (limits.low > 0 and limits.high >= matters)


def _compare_harms(table: EffectTable, names: list[str], level: float) -> dict[str, list[Rise]]:
    """Return how much more each judged group lacks under each option than under the page's.

    The effect is the one that the group lacks most under each option; where it lacks nothing on average, its
    harm is 0.
    """
    harms = {key: value for key, value in table.harmful.items() if key[0] in {table.page, *names}}
    worst = {
        (name, group, unit): _harm_of(table, effects)
        for (name, unit), groups in harms.items()
        for group, effects in groups.items()
    }
    keys = sorted(key for key in worst if key[0] in names and (table.page, *key[1:]) in worst)
    samples = []
    for key in keys:
        (values, lead), (page_values, page_lead) = worst[key], worst[table.page, *key[1:]]
        samples.append(sample_difference(lead, values, page_lead, page_values))
    found: dict[str, list[Rise]] = {name: [] for name in names}
    for key, limits in zip(keys, limit_samples(samples, level), strict=True):
        found[key[0]].append(Rise(worst[key][1], limits))
    return found


def _harm_of(table: EffectTable, effects: list[Observation]) -> tuple[NDArray[np.float64], Observation]:
    """Return what a group lacks by its largest effect of one unit, per head and by repeat."""
    lack = [lacks(table, each) for each in effects]
    means = [mean(each) for each in lack]
    at = means.index(max(means))
    values = np.asarray(per_head(effects[at], lack[at]))
    return (values if means[at] > 0 else np.zeros_like(values)), effects[at]


def _worst_lacks(table: EffectTable, names: list[str], unit: str) -> dict[str, float]:
    """Return the upper limit of what the worst-off group lacks under each option, per head."""
    kept = [
        seen for name in names for effects in table.harmful.get((name, unit), {}).values() for seen in effects
    ]
    samples = [sample_of(each, each.after - each.due) for each in kept]
    found = dict.fromkeys(names, 0.0)
    for seen, each in zip(kept, limit_samples(samples, table.level), strict=True):
        most = bound_lack(table.harm_of(seen.effect), keep_possible(seen, seen.due, each))
        most = mean(lacks(table, seen)) if math.isnan(most) else most
        found[seen.option] = max(found[seen.option], float(per_head(seen, most)))
    return found


def _find_costs(table: EffectTable, name: str, costs: CostLimits) -> tuple[str, ...]:
    """Return the effects of everybody that an option takes beyond their limits."""
    beyond = []
    page_given, due = (table.in_all(each, "in_all") for each in (table.page, table.unprotected))
    if changes_given(table, name, costs, allowed=abs(page_given - due)):
        beyond.append("in_all")
    if table.in_all(name, "wrong") - table.in_all(table.page, "wrong") > costs.wrong:
        beyond.append("wrong")
    if table.in_all(name, "off") > table.in_all(table.page, "off") * (1 + costs.error):
        beyond.append("off")
    return tuple(beyond)


def changes_given(table: EffectTable, name: str, costs: CostLimits, *, allowed: float = 0.0) -> bool:
    """Return whether an option gives in all too much or too little, or nearly everybody one answer.

    Against the unprotected result; a change of at most what is `allowed` is never too much.
    """
    given, due = (table.in_all(each, "in_all") for each in (name, table.unprotected))
    people = table.by_key.get((name, EVERYBODY, "in_all"))
    if people is None or math.isnan(due):
        return False
    limit = (costs.paid if table.pays_money else costs.given) * abs(due)
    is_far = abs(given - due) > limit and not abs(given - due) <= allowed
    return is_far or share_of_one_answer(table, name) > 0


def share_of_one_answer(table: EffectTable, name: str) -> float:
    """Return how many of all get one answer, if nearly everybody does and did not before; else 0."""
    people = table.by_key.get((name, EVERYBODY, "in_all"))
    if people is None or table.pays_money or not people.people:
        return 0.0
    given, due = (table.in_all(each, "in_all") / people.people for each in (name, table.unprotected))
    most = max(given, 1 - given)
    return most if most >= _ONE_ANSWER > max(due, 1 - due) else 0.0


def _negate(limits: Limits) -> Limits:
    return limits._replace(
        mean=-limits.mean, low=-limits.high, high=-limits.low, least=-limits.most, most=-limits.least
    )
