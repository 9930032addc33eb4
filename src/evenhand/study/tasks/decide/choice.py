"""Which of the sentences on what to do about losses is true, and the command that does it.

Where somebody loses, the mitigations of the plan are compared by what it takes that nobody does: money on top
of the budget, or wrong decisions. A mitigation that promises nothing to anybody is named, and never advised.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from evenhand.report.words import epsilon_words
from evenhand.study.tasks.decide.answers import doubt, is_unclear, largest_possible_loss
from evenhand.study.tasks.decide.command import audit_command
from evenhand.study.tasks.decide.methods import Method, free_mitigations, method_of, method_title
from evenhand.study.tasks.decide.wording import odds_base

if TYPE_CHECKING:
    from evenhand.report.page import Answer
    from evenhand.study.plan.cells import Setting
    from evenhand.study.tasks.decide.reading import DecideReading

_WORSE = 1.2  # times the typical error now


def helps_answer(reading: DecideReading) -> Answer:
    """Return what making up for losses costs, and what another method or epsilon would change."""
    if reading.outcome() is None:
        return reading.answer("helps.unknown")
    if not _is_promised(reading, reading.chosen):
        return reading.answer("helps.no_promise", title=method_title(reading.chosen), cost=_cost(reading))
    if is_unclear(reading):
        return reading.answer("helps.unclear", most=reading.amounts.text(largest_possible_loss(reading)))
    if reading.nobody_loses():
        return _nobody_loses(reading)
    return _somebody_loses(reading)


def _is_promised(reading: DecideReading, setting: Setting) -> bool:
    return math.isfinite(reading.mean("claimed_epsilon", setting))


# --- nobody loses -----------------------------------------------------------------------------------


def _nobody_loses(reading: DecideReading) -> Answer:
    """Return that a setting can be used; of a right, the smallest epsilon that is as good."""
    fine = [setting for setting in reading.by_epsilon if reading.nobody_loses(setting)]
    if reading.is_rule and fine[0] != reading.chosen and fine[0].epsilon is not None:
        smaller = fine[0]
        slots = {"smaller": epsilon_words(smaller.epsilon), "most": _most(reading, smaller), "at": reading.at}
        now, then = (reading.few(reading.mean("expected_wrong", each)) for each in (reading.chosen, smaller))
        action = reading.next_command(smaller)
        return reading.answer("helps.smaller", **slots, now=now, then=then, action=action)
    key = f"helps.fine.{'rule' if reading.is_rule else 'money'}"
    return reading.answer(key, most=_most(reading, reading.chosen), precision=_precision(reading))


def _most(reading: DecideReading, setting: Setting) -> str:
    wrong = reading.mean("expected_wrong", setting) if reading.is_rule else 0.0
    return reading.say(f"helps.parts.{'fewer' if wrong else 'none'}")


def _precision(reading: DecideReading) -> str:
    """Return how far one release is off, and how far at the epsilon that is furthest from this one."""
    if reading.is_rule:
        return _cost(reading)
    other, mean = _furthest(reading, "mean_error"), reading.mean("mean_error")
    if not math.isfinite(mean) or reading.amounts.is_none(mean):
        return ""
    more = ""
    if other is not None:
        then = reading.amounts.text(reading.mean("mean_error", other))
        more = reading.say("helps.parts.precision_other", then=then, at=epsilon_words(other.epsilon))
    return reading.say("helps.parts.precision", mean=reading.amounts.text(mean), other=more)


# --- somebody loses ---------------------------------------------------------------------------------


def _somebody_loses(reading: DecideReading) -> Answer:
    others = [setting for setting in reading.methods if setting != reading.chosen]
    better = [setting for setting in others if _is_better(reading, setting)]
    promised = [setting for setting in better if _is_promised(reading, setting)]
    if promised:
        return _use(reading, promised)
    slots = {"title": method_title(reading.chosen), "cost": _cost(reading)}
    if not any(method_of(setting)[1] for setting in reading.methods):
        return reading.answer("helps.untried", **slots, action=_compare_command(reading))
    slots["others"] = "".join(_unpromised(reading, setting) for setting in better)
    if method_of(reading.chosen) != ((), None):
        return reading.answer("helps.keep", **slots)
    return reading.answer("helps.plain", **slots, larger=_larger_epsilon(reading))


def _unpromised(reading: DecideReading, setting: Setting) -> str:
    then = reading.value_text(_needed(reading, setting))
    return reading.say("helps.parts.no_promise", title=method_title(setting), then=then)


def _use(reading: DecideReading, better: list[Setting]) -> Answer:
    """Return what the best of some methods changes, at what price and for whom."""
    field = [setting for setting in better if not _times(reading, setting) > _WORSE] or better
    enough = [setting for setting in field if reading.nobody_loses(setting)]
    best = enough[0] if enough else min(field, key=lambda setting: _needed(reading, setting))
    known = _furthest(reading, "expected_wrong" if reading.is_rule else "cost_of_privacy") is not None
    slots: dict[str, Any] = {"title": method_title(best), "cost": _cost(reading) if known else ""}
    slots |= {"price": _price(reading, best), "whom": _whom(reading, best)}
    slots |= {"action": reading.next_command(best)}
    return _use_rule(reading, best, slots) if reading.is_rule else _use_money(reading, best, slots)


def _use_money(reading: DecideReading, best: Setting, slots: dict[str, Any]) -> Answer:
    """Return what a method lowers; none is advised that adds far more error than it takes from losses."""
    amounts, then = reading.amounts, _needed(reading, best)
    removes = reading.nobody_loses(best) and amounts.is_none(reading.beyond(best))
    slots |= {"then": amounts.text(then), "now": amounts.text(_needed(reading, reading.chosen))}
    times = _times(reading, best)
    if not times > _WORSE:
        return reading.answer("helps.removes" if removes else "helps.lowers.money", **slots)
    error, error_now = (reading.mean("mean_error", setting) for setting in (best, reading.chosen))
    if reading.mean("largest_misallocation") < error - error_now:
        errors = {"error": amounts.text(error), "error_now": amounts.text(error_now)}
        slots |= {"chosen": method_title(reading.chosen), "action": "", **errors}
        return reading.answer("helps.not_worth", **slots)
    return reading.answer(f"helps.{'removes' if removes else 'lowers'}_at", **slots, times=times)


def _use_rule(reading: DecideReading, best: Setting, slots: dict[str, Any]) -> Answer:
    now, then = _needed(reading, reading.chosen), _needed(reading, best)
    base = 1 if then >= 1 else odds_base(then)
    releases = reading.say(f"helps.parts.{'one_release' if base == 1 else 'many_releases'}", base=base)
    counts = {"now": reading.few(now * base), "then": reading.few(then * base)}
    return reading.answer("helps.lowers.rule", **slots, **counts, releases=releases)


def _times(reading: DecideReading, other: Setting) -> float:
    now, then = reading.mean("mean_error"), reading.mean("mean_error", other)
    return then / now if now > 0 else math.nan


def _price(reading: DecideReading, other: Setting) -> str:
    """Return how far one release is off with another method, what else it costs, and whether it was drawn."""
    parts, times, mitigation = [], _times(reading, other), method_of(other)[1]
    if not reading.is_rule and math.isfinite(times):
        now, then = (reading.amounts.text(reading.mean("mean_error", at)) for at in (reading.chosen, other))
        key = "error" if times > _WORSE else "no_larger_error"
        parts.append(reading.say(f"helps.parts.{key}", now=now, then=then))
    if mitigation is not None:
        parts.append(reading.say("helps.parts.price", price=mitigation.kind.cost))
    if not reading.is_exact(other):
        parts.append(reading.say("helps.parts.drawn"))
    return "".join(parts)


def _whom(reading: DecideReading, other: Setting) -> str:
    """Return the entity that loses most with another method."""
    loser = reading.loser(other)
    if loser is None:
        return ""
    if reading.is_rule:
        return reading.say("helps.parts.risks_most", name=loser.name, amount=reading.chance(loser["flip"]))
    amount = reading.amounts.text(-loser["bias"] * reading.money)
    return reading.say("helps.parts.loses_most", name=loser.name, amount=amount)


def _needed(reading: DecideReading, setting: Setting) -> float:
    return reading.mean("expected_wrong", setting) if reading.is_rule else reading.needed(setting)


def _cost(reading: DecideReading) -> str:
    """Return what making up for losses takes now, and at the epsilon that is furthest from this one."""
    other = _furthest(reading, "expected_wrong" if reading.is_rule else "cost_of_privacy")
    settings = [reading.chosen, *([] if other is None else [other])]
    now, *then = reading.value_texts(*(_needed(reading, setting) for setting in settings))
    at = "" if reading.chosen.epsilon is None else reading.say("helps.parts.at", at=reading.at)
    more = ""
    if other is not None:
        more = reading.say("helps.parts.other", then=then[0], other_at=epsilon_words(other.epsilon))
    return reading.say(
        f"helps.parts.cost_{'rule' if reading.is_rule else 'money'}", now=now, at=at, other=more
    )


def _furthest(reading: DecideReading, measure: str) -> Setting | None:
    """Return the same method at the epsilon that is furthest from this one by ratio."""
    known = [
        setting
        for setting in reading.by_epsilon
        if setting != reading.chosen and math.isfinite(reading.mean(measure, setting))
    ]
    here = reading.chosen.epsilon or 1
    return max(known, key=lambda setting: abs(math.log((setting.epsilon or 1) / here)), default=None)


def _larger_epsilon(reading: DecideReading) -> str:
    """Return the smallest tested epsilon above this one at which less is lost, as an end of a sentence."""
    now, here = _needed(reading, reading.chosen), reading.chosen.epsilon
    for setting in reading.by_epsilon:
        larger = here is not None and setting.epsilon is not None and setting.epsilon > here
        if larger and _needed(reading, setting) < now:
            return reading.say("helps.parts.larger", epsilon=epsilon_words(setting.epsilon))
    return ""


def _is_better(reading: DecideReading, other: Setting) -> bool:
    """Return whether another method needs less, by more than chance and by more than is shown."""
    now, then = _needed(reading, reading.chosen), _needed(reading, other)
    if not math.isfinite(then) or reading.value_text(then) == reading.value_text(now):
        return False
    return then + doubt(reading, other) < now


def _compare_command(reading: DecideReading) -> str:
    """Return the command that compares every mitigation that needs nothing but the counts."""
    steps, _ = method_of(reading.chosen)
    names = free_mitigations(reading.entities_in_all, is_rule=reading.is_rule)
    mitigations = [Method(name) for name in names]
    epsilons = [setting.epsilon for setting in reading.by_epsilon if setting.epsilon is not None]
    return audit_command(reading.results.plan, epsilons=epsilons, mitigations=mitigations, post=steps)
