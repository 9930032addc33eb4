"""Which of the sentences on decisions are true: who gains and who loses, which people pay, and what helps.

Each number is computed from the results. What is exact has no interval; where draws had to be made, a word is
only said if it holds beyond twice the standard error. Amounts below the smallest that anybody can be paid are
nobody's, and fewer than one wrong decision is told as the share of releases that have one.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from evenhand.report.page import Answer
from evenhand.report.words import listed, plain
from evenhand.study.tasks.decide.methods import method_of
from evenhand.study.tasks.decide.wording import odds_base

if TYPE_CHECKING:
    from evenhand.study.plan.cells import Setting
    from evenhand.study.tasks.decide.reading import DecideReading, Entity

_CLEARLY = 2.0  # standard errors
_NEVER = 1e-6  # what is rarer is told as never
_SMALL_RISK = 0.01
_FAR = 2.0  # times the largest amount on average


def heading_of(answer: Answer) -> str:
    """Return a finding as a heading."""
    return answer.finding.removesuffix(".")


# --- who gains and who loses ----------------------------------------------------------------------


def who_answer(reading: DecideReading) -> Answer:
    """Return which entities gain and which lose, in money or rights."""
    if reading.outcome() is None:
        return reading.answer("who.unknown")
    answer = _rights(reading) if reading.is_rule else who_gains(reading)
    if math.isfinite(reading.mean("claimed_epsilon")):
        return answer
    return Answer(reading.say("who.no_promise.finding"), f"{answer.finding} {answer.evidence}")


def who_gains(reading: DecideReading) -> Answer:
    """Return which sizes of entities gain and which lose, if there is one line between them."""
    amounts = reading.amounts
    slots: dict[str, Any] = {"exact": _exact(reading), "smallest": amounts.text(amounts.least)}
    slots["moved"] = amounts.text(reading.mean("moved"))
    for slot, part in (("budget", "budget"), ("of_budget", "of")):
        budget = reading.say(f"who.parts.{part}", budget=amounts.text(reading.money))
        slots[slot] = budget if amounts.in_money else ""
    if reading.nobody_gains_or_loses():
        error = reading.mean("mean_error")
        key = "nobody_ever" if amounts.is_never_paid(reading.mean("largest_error")) else "nobody"
        return reading.answer(f"who.{key}", **slots, error=amounts.text(error))
    gains, losses = sides(reading)
    named = [_side(reading, entities[0]) for entities in (gains, losses) if entities]
    slots["sides"] = slots["gains"] = listed(named)
    if reading.mean("cost_of_privacy") == 0 and reading.beyond() > 0:
        return reading.answer("who.beyond", **slots, beyond=amounts.text(reading.beyond()))
    if not named:
        return reading.answer("who.unclear", **slots)
    key, more = _line(reading, gains, losses)
    return reading.answer(f"who.{key}", **slots, **more)


def _side(reading: DecideReading, entity: Entity) -> str:
    word = "gains" if entity["bias"] > 0 else "loses"
    amount = reading.amounts.text(abs(entity["bias"]) * reading.money)
    return reading.say(f"who.parts.{word}", name=entity.name, amount=amount)


def _line(reading: DecideReading, gains: list[Entity], losses: list[Entity]) -> tuple[str, dict[str, Any]]:
    """Return the sentence on the size at which gains become losses; without one, that there are both."""
    bound = reading.mean("error_bound")
    least = bound if reading.is_exact() and math.isfinite(bound) else 0.0
    totals = [(size, reading.of_size("gain", size)) for size in reading.sizes]
    known = [(size, total) for size, total in totals if abs(total) > least]
    changes = [place for place in range(1, len(known)) if known[place][1] * known[place - 1][1] < 0]
    if len(changes) != 1:
        return ("some" if gains and losses else "some_gain" if gains else "some_lose"), {}
    line, small_gain = known[changes[0]][0].least, known[0][1] > 0
    small, large = (gains, losses) if small_gain else (losses, gains)
    mixed = any(entity["size"] >= line for entity in small) or any(entity["size"] < line for entity in large)
    form = "mostly" if mixed or reading.beyond() else "line"
    raised = any("nonnegative" in step for step in method_of(reading.chosen)[0])
    because = reading.say("who.parts.because") if raised and small_gain else ""
    return f"{form}_{'gain' if small_gain else 'lose'}", {"line": line, "because": because}


def sides(reading: DecideReading) -> tuple[list[Entity], list[Entity]]:
    """Return the entities that gain and those that lose, the most affected first, as far as it is clear."""
    least = 0.0 if reading.is_exact() else _CLEARLY * reading.mean("error_bound")
    if not reading.is_rule:
        least = max(least, reading.amounts.least) / reading.money
    gains = [entity for entity in reading.entities if entity["bias"] > least]
    return gains, [entity for entity in reading.entities if entity["bias"] < -least]


def is_unclear(reading: DecideReading) -> bool:
    """Return whether draws leave open who gains or loses money on average."""
    none = reading.is_rule or reading.is_exact() or reading.nobody_gains_or_loses()
    return not none and not any(sides(reading))


def largest_possible_loss(reading: DecideReading) -> float:
    """Return the largest loss of an entity on average that draws do not rule out."""
    lowest = min((entity["bias"] for entity in reading.entities), default=0.0)
    return _CLEARLY * reading.mean("error_bound") - min(lowest * reading.money, 0.0)


def doubt(reading: DecideReading, *others: Setting) -> float:
    """Return by what sums over entities of some settings may differ by chance, taken as independent."""
    drawn = [setting for setting in (reading.chosen, *others) if not reading.is_exact(setting)]
    errors = [reading.mean("error_bound", setting) for setting in drawn]
    known = [error for error in errors if math.isfinite(error)]
    return _CLEARLY * math.hypot(*known) * math.sqrt(reading.entities_in_all) if known else 0.0


def _exact(reading: DecideReading) -> str:
    if reading.is_exact():
        return reading.say("exactness.short_exact")
    error = reading.mean("error_bound")
    shown = reading.chance(error) if reading.is_rule else reading.amounts.text(error)
    return reading.say("exactness.short_drawn", error=shown)


def _rights(reading: DecideReading) -> Answer:
    """Return how many entities lose a right, or in how many releases one does."""
    refused, granted = (reading.mean(f"expected_{name}") for name in ("refused", "granted"))
    slots: dict[str, Any] = {"exact": _exact(reading)}
    if refused + granted < _NEVER:
        often = reading.odds(refused + granted)
        return reading.answer(
            "rights.almost_none" if refused + granted else "rights.none", **slots, often=often
        )
    losing = refused >= _NEVER
    at_risk = [entity for entity in reading.entities if (entity["truth"] >= 0.5) == losing]
    worst = max(at_risk, key=lambda entity: entity["flip"], default=None)
    slots |= {"worst": "" if worst is None else worst.name}
    slots |= {"chance": reading.chance(math.nan if worst is None else worst["flip"])}
    if not losing:
        return reading.answer("rights.only_granted", **slots, granted=_granted(reading, granted))
    if refused >= 1:
        both = granted >= 1
        and_granted = reading.say("rights.parts.and_granted", granted=reading.few(granted)) if both else ""
        too = "" if both else _granted_too(reading, granted)
        more = {"refused": reading.few(refused), "granted": and_granted, "granted_too": too}
        return reading.answer("rights.several", **slots, **more)
    others = [entity["flip"] for entity in at_risk if entity is not worst]
    alone = worst is not None and max(others, default=0.0) < _SMALL_RISK and worst["flip"] >= refused / 2
    key = "rarely" if refused < _SMALL_RISK else "one" if alone else "rare"
    often = reading.odds(reading.chance_of_any(right=True))
    too = _granted_too(reading, granted)
    return reading.answer(f"rights.{key}", **slots, often=often, granted=too)


def _granted(reading: DecideReading, granted: float) -> str:
    if granted >= 1:
        return reading.say("rights.parts.several_granted", granted=reading.few(granted))
    return reading.say("rights.parts.rare_granted", often=reading.odds(reading.chance_of_any(right=False)))


def _granted_too(reading: DecideReading, granted: float) -> str:
    key = "none" if granted < _NEVER else "several" if granted >= 1 else "rare"
    often = reading.odds(reading.chance_of_any(right=False))
    return reading.say(f"rights.parts.granted_{key}", granted=reading.few(granted), often=often)


# --- which people pay -----------------------------------------------------------------------------


def who_pays_answer(reading: DecideReading) -> Answer:
    """Return what groups of people gain or lose per head; without groups, how far one release is off."""
    if reading.outcome() is None:
        return reading.answer("pays.unknown")
    if reading.groups:
        return _refused_groups(reading) if reading.is_rule else _paying_groups(reading)
    return _near_the_line(reading) if reading.is_rule else _one_release(reading)


def group_value(reading: DecideReading, group: str, setting: Setting | None = None) -> float:
    """Return what a person of a group gains, or the share of those entitled who are refused by error."""
    if not reading.is_rule:
        return reading.of_group(group, "gain_per_head", setting)
    due = reading.of_group(group, "due", setting)
    return reading.of_group(group, "refused", setting) / due if due > 0 else math.nan


def _known_groups(reading: DecideReading) -> dict[str, float]:
    values = {group: group_value(reading, group) for group in reading.groups}
    return {group: value for group, value in values.items() if math.isfinite(value)}


def _drawn(reading: DecideReading) -> str:
    return "" if reading.is_exact() else reading.say("pays.parts.drawn")


def _refused_groups(reading: DecideReading) -> Answer:
    known = _known_groups(reading)
    if not known:
        return reading.answer("pays.not_entitled")
    high, low = max(known, key=known.__getitem__), min(known, key=known.__getitem__)
    if known[high] < _NEVER:
        who = "hardly_anybody" if known[high] > 0 else "nobody"
        return reading.answer(f"pays.{who}_refused", drawn=_drawn(reading))
    base = odds_base(min(value for value in known.values() if value >= _NEVER), 1000)
    shown = {group: reading.odds(value, base=base) for group, value in known.items()}
    total = sum(reading.of_group(group, "refused") for group in reading.groups)
    lost = reading.say("pays.parts.lost", people=reading.number_of_people(total))
    slots = {"odds": shown[high], "lost": lost, "drawn": _drawn(reading)}
    if len(reading.groups) == 1:
        return reading.answer("pays.refused_one", group=plain(high), **slots)
    if len(set(shown.values())) == 1:
        return reading.answer("pays.refused_alike", **slots)
    slots["low_odds"] = reading.say("pays.parts.none") if known[low] < _NEVER else shown[low]
    error = 0.0 if reading.is_exact() else reading.mean("error_bound")  # of a mean of entities at most this
    clear = known[high] - known[low] > _CLEARLY * math.hypot(error, error)
    return reading.answer(
        f"pays.refused_{'most' if clear else 'unclear'}", high=plain(high), low=plain(low), **slots
    )


def _paying_groups(reading: DecideReading) -> Answer:
    amounts, known = reading.amounts, _known_groups(reading)
    if not known:
        return reading.answer("pays.no_people")
    high, low = max(known, key=known.__getitem__), min(known, key=known.__getitem__)
    slots: dict[str, Any] = {"drawn": _drawn(reading), "smallest": amounts.text(amounts.least)}
    seen = [group for group, value in known.items() if not amounts.is_none(value)]
    chance = doubt(reading)
    moving = [group for group in seen if abs(reading.of_group(group, "gain")) > chance]
    if not moving:
        return reading.answer(f"pays.{'unclear' if seen else 'nobody'}", **slots)
    gains = [reading.of_group(group, "gain") for group in reading.groups]
    between = min(sum(gain for gain in gains if gain > 0), -sum(gain for gain in gains if gain < 0))
    moved = not amounts.is_none(between) and between > 0
    part = "between" if moved else "alike"
    slots["between"] = reading.say(f"pays.parts.{part}", amount=amounts.text(between))
    if high in moving and low in moving and known[low] < 0 < known[high]:
        pair = {"low": plain(low), "high": plain(high)}
        pair |= {"loss": amounts.text(-known[low]), "gain": amounts.text(known[high])}
        return reading.answer("pays.pair", **pair, **slots)
    group = max(moving, key=lambda name: abs(known[name]))
    word = "loses" if known[group] < 0 else "gains"
    most = "_most" if len(moving) > 1 else ""
    return reading.answer(
        f"pays.{word}{most}", group=plain(group), amount=amounts.text(abs(known[group])), **slots
    )


def _one_release(reading: DecideReading) -> Answer:
    amounts = reading.amounts
    mean, largest, average = (
        reading.mean(name) for name in ("mean_error", "largest_error", "largest_misallocation")
    )
    if not math.isfinite(mean):
        return reading.answer("release.unknown")
    if amounts.is_never_paid(largest):
        return reading.answer("release.never")
    shares = size_shares(reading)
    if reading.nobody_gains_or_loses() and len(shares) > 1 and shares[0][1] > shares[-1][1]:
        (first, small), (last, large) = shares[0], shares[-1]
        slots = {"small": reading.chance(small), "large": reading.chance(large)}
        return reading.answer("release.sizes", **slots, small_class=first, large_class=last)
    far = largest > _FAR * average and mean > reading.mean("moved") and not amounts.is_none(average)
    slots = {"mean": amounts.text(mean), "largest": amounts.text(largest), "average": amounts.text(average)}
    return reading.answer(f"release.{'far' if far else 'off'}", **slots)


def size_shares(reading: DecideReading) -> list[tuple[str, float]]:
    """Return the typical error of one release of each class of sizes, as a share of the award."""
    shares = [(size.label, reading.of_size("relative", size)) for size in reading.sizes if size.least]
    return [(label, share) for label, share in shares if math.isfinite(share)]


def _near_the_line(reading: DecideReading) -> Answer:
    number, lose = (round(reading.mean(name)) for name in ("at_risk", "at_risk_of_loss"))
    if not number:
        return reading.answer("risk.nobody", chance=reading.chance(reading.mean("largest_flip")))
    if number == 1:
        side = reading.say(f"risk.parts.{'lose' if lose else 'gain'}")
        return reading.answer("risk.one", worst=reading.entities[0].name, side=side)
    part = {0: "none", number: "all", 1: "one_of"}.get(lose, "some")
    return reading.answer("risk.several", number=number, side=reading.say(f"risk.parts.{part}", lose=lose))
