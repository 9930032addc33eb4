"""The three sentences of a study of classifiers: who pays, what becomes of the gap, what to choose.

Who pays is told as for every classifier; here are the proved bound beside the gap, and the choice among
private methods. That a method promises nothing comes before what it costs.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from evenhand.report.page import Answer
from evenhand.report.words import epsilon_of, listed
from evenhand.study.page.comparing import ENOUGH_REPEATS, Rival, clearly
from evenhand.study.page.reading import ACCURACY, BASELINE, GAP, mean_of
from evenhand.study.tasks.learn.methods import METHODS
from evenhand.study.tasks.learn.untried import next_step
from evenhand.study.tasks.shared import classifier_answers
from evenhand.study.tasks.shared.classifier import LITTLE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evenhand.study.plan.cells import Setting
    from evenhand.study.tasks.learn.reading import LearnReading


def cost_answer(reading: LearnReading) -> Answer:
    """Return who pays for the chosen method, group by group; first of all if it protects nobody."""
    chosen, answer = reading.chosen, reading.sentences.answer
    if chosen.is_protected and reading.outcome() is None:
        return answer("cost.not_done", name=reading.name())
    if not chosen.is_protected:
        after, base = reading.value(ACCURACY), mean_of(reading.same_answer_runs)
        bare = "" if after.has_interval else "_bare"
        return answer(f"cost.plain{bare}", after=after, answer=reading.same_answer, base=base)
    said = classifier_answers.cost_answer(reading)
    if reading.is_private(chosen):
        return said
    key = "void" if reading.way().voids else "not_private"
    cost = f"{said.finding} {said.evidence}".strip()
    return answer(f"cost.{key}", title=reading.way().title, cost=cost)


# --- the gap --------------------------------------------------------------------------------------


def gap_answer(reading: LearnReading) -> Answer:
    """Return what becomes of the gap, beside what equal rates would show and what bounds it."""
    answer = reading.sentences.answer
    if not reading.chosen.is_protected:
        after = reading.value(GAP)
        bare = "" if after.has_interval else "_bare"
        return answer(f"gap.plain{bare}", after=after, equal=_equal(reading))
    if reading.outcome() is None:
        return answer("gap.not_done", name=reading.name())
    if whom := reading.constant():
        return answer(f"gap.constant_{whom}", before=reading.before(GAP), **reading.places)
    said = classifier_answers.gap_answer(reading)
    evidence = said.evidence
    if reading.is_useful() and math.isfinite(reading.value(GAP).value):
        evidence = f"{evidence}{_equal(reading)}{_bounded(reading)}"
    if reading.way().voids:
        evidence += reading.sentences.say("gap.parts.void", title=reading.way().title)
    return Answer(said.finding, evidence.strip())


def _equal(reading: LearnReading) -> str:
    """Return how the gap compares with that of equal rates."""
    fair, beyond = reading.value("fair_gap").value, reading.beyond_equal()
    if not math.isfinite(fair):
        return ""
    part = "bare" if not beyond.has_interval else "unclear"
    part = part if not beyond.is_clear else "more" if beyond.value > 0 else "less"
    return reading.sentences.say(f"gap.parts.equal_{part}", fair=fair)


def _bounded(reading: LearnReading) -> str:
    """Return what is proved of the gap among other people, or that nothing useful is."""
    name, bound = reading.bound()
    if not name:
        return reading.sentences.say("gap.parts.no_bound")
    if not math.isfinite(bound):
        return reading.sentences.say("gap.parts.no_useful_bound")
    return reading.sentences.say(f"gap.parts.{name}", bound=bound)


# --- the choice -----------------------------------------------------------------------------------


def choice_answer(reading: LearnReading) -> Answer:
    """Return which private method to use, or what would let one choose, and the command that tests more."""
    key, slots = _choice(reading)
    words, command = next_step(reading, key, recommended=slots.get("smaller"))
    slots = {"title": reading.way().title, "group": "", **slots, "next": words, "local": _local(reading)}
    said = reading.sentences.answer(f"choice.{key}", **slots)
    return Answer(said.finding, said.evidence.strip(), command)


def _choice(reading: LearnReading) -> tuple[str, dict[str, Any]]:
    if obstacle := _obstacle(reading):
        return obstacle
    if not reading.is_private(reading.chosen):
        return _private_instead(reading)
    if not reading.has_enough_repeats():
        return "repeats", {"repeats": reading.change(ACCURACY).runs, "enough": ENOUGH_REPEATS}
    if not reading.is_useful():
        return _works(reading)
    return _smaller_epsilon(reading) or _among(reading, rivals_of(reading))


def _obstacle(reading: LearnReading) -> tuple[str, dict[str, Any]] | None:
    """Return what keeps one from choosing at all: no run, no classifier that works, or too few people."""
    if reading.chosen.is_protected and reading.outcome() is None:
        return "not_done", {"name": reading.name()}
    if reading.usefulness(BASELINE) == "useless":
        return "no_model", {}
    if len(reading.judged) < 2:
        return "too_few", {}
    return None


def _private_instead(reading: LearnReading) -> tuple[str, dict[str, Any]]:
    """Return which private setting to use instead of one that is not, or that there is none."""
    chosen, other = reading.chosen, reading.by_rule()
    if not (reading.is_private(other) and reading.is_useful(other) and reading.has_enough_repeats(other)):
        return ("not_private" if chosen.is_protected else "plain"), {}
    slots = {"other": reading.name(other), "title": reading.way().title, "group": _group(reading, other)}
    numbers = {"after": reading.mean(ACCURACY, other), "gap": reading.mean(GAP, other)}
    return "instead", slots | numbers | {"paid": _paid(reading, other)}


def _works(reading: LearnReading) -> tuple[str, dict[str, Any]]:
    """Return the first private setting that is of use: at the same epsilon, or else at the next larger."""
    say, base = reading.sentences.say, mean_of(reading.same_answer_runs)
    private = [setting for setting in reading.protected if reading.is_private(setting)]
    useful = [each for each in private if reading.is_useful(each) and reading.has_enough_repeats(each)]
    if not useful and "unproved" in {reading.usefulness(each) for each in (BASELINE, *private)}:
        return "unproved", {}
    if not useful:
        accuracy = max(reading.mean(ACCURACY, setting) for setting in private)
        largest = epsilon_of(max(reading.epsilons, default=None))
        return "nothing_works", {"largest": largest, "after": accuracy, "base": base}
    least = min(setting.epsilon or 0 for setting in useful)
    there = [setting for setting in useful if (setting.epsilon or 0) == least]
    best = max(there, key=lambda setting: reading.mean(ACCURACY, setting))
    gap = reading.mean(GAP, best)
    why = "constant" if reading.constant() else "useless"
    return "works", {
        "name": reading.name(best),
        "after": reading.mean(ACCURACY, best),
        "base": base,
        "gap": say("choice.parts.works_gap", gap=gap) if math.isfinite(gap) else "",
        "why": say(f"choice.parts.{why}", title=reading.name()),
        "group": _group(reading, best),
    }


def _smaller_epsilon(reading: LearnReading) -> tuple[str, dict[str, Any]] | None:
    """Return the smallest epsilon of the chosen method that costs no more, if there is one.

    It costs no more if it is of use, and neither accuracy nor gap is clearly worse than with the chosen
    epsilon or can be worse by more than :data:`LITTLE`.
    """
    chosen = reading.chosen
    smaller = [
        setting
        for setting in reading.ways.get(chosen.mechanism, [])
        if setting.epsilon is not None and chosen.epsilon is not None and setting.epsilon < chosen.epsilon
    ]
    for setting in smaller:
        accuracy, gap = (
            reading.change(name, setting, against=chosen, comparisons=2 * len(smaller))
            for name in (ACCURACY, GAP)
        )
        worse = clearly(accuracy, -1) or clearly(gap, 1) or not reading.is_useful(setting)
        worse = worse or not reading.has_enough_repeats(setting)
        if worse or accuracy.low is None or accuracy.low < -LITTLE or (gap.high or 0.0) > LITTLE:
            continue
        slots = {"smaller": setting.epsilon, "change": accuracy, "at": reading.at}
        return "smaller", slots | {"group": _group(reading, chosen)}
    return None


def _among(reading: LearnReading, rivals: Mapping[Setting, Rival]) -> tuple[str, dict[str, Any]]:
    """Return how the chosen method compares with the other private ones at its epsilon."""
    by_verdict = {
        word: [setting for setting, rival in rivals.items() if rival.verdict == word]
        for word in ("better", "worse", "trade", "same")
    }
    if not rivals:
        return _alone(reading)
    trades = by_verdict["trade"]
    if better := by_verdict["better"]:
        best = max(better, key=lambda setting: reading.mean(ACCURACY, setting))
        others = _name_methods(reading, "other_trades", trades)
        return "better", _lead(reading, best, rivals[best]) | {"trades": others}
    behind = _behind(reading, [rivals[setting] for setting in by_verdict["worse"]])
    useless = [setting for setting in reading.private if not reading.is_useful(setting)]
    slots = {
        "behind": behind,
        "same": _name_methods(reading, "same", by_verdict["same"]),
        "useless": _name_methods(reading, "no_use", useless),
        "but": _but(reading),
    }
    if trades:
        return "trade", slots | _sides(reading, trades)
    return "best" if by_verdict["worse"] and not by_verdict["same"] else "alike", slots


def _alone(reading: LearnReading) -> tuple[str, dict[str, Any]]:
    """Return that no other private method was tested at the epsilon, or that none of them is of use."""
    others = _titles([setting for setting in reading.private if setting != reading.chosen])
    slots: dict[str, Any] = {"group": _group(reading, reading.chosen)}
    if not others:
        return ("only_fine" if reading.costs_little() else "only"), slots
    return "only_useful", slots | {"useless": reading.sentences.say("choice.parts.no_use", titles=others)}


def rivals_of(reading: LearnReading) -> Mapping[Setting, Rival]:
    """Return how the chosen method stands against each other private one at the epsilon that is of use."""
    others = [
        setting
        for setting in reading.private
        if setting != reading.chosen and reading.is_useful(setting) and reading.has_enough_repeats(setting)
    ]
    rivals = {}
    for other in others:
        accuracy, gap = (
            reading.change(name, against=other, comparisons=2 * len(others)) for name in (ACCURACY, GAP)
        )
        rivals[other] = Rival(other, accuracy, gap)
    return rivals


# --- parts of the choice --------------------------------------------------------------------------


def _titles(settings: Sequence[Setting]) -> list[str]:
    return [METHODS[setting.mechanism].title for setting in settings]


def _name_methods(reading: LearnReading, part: str, settings: Sequence[Setting]) -> str:
    return reading.sentences.say(f"choice.parts.{part}", titles=_titles(settings)) if settings else ""


def _but(reading: LearnReading) -> str:
    return reading.sentences.say("choice.parts.but_group") if reading.way().needs_group else ""


def _group(reading: LearnReading, setting: Setting) -> str:
    method = METHODS[setting.mechanism]
    return reading.sentences.say("choice.parts.group", title=method.title) if method.needs_group else ""


def _local(reading: LearnReading) -> str:
    """Return that local reports protect something else, where they are compared with central methods."""
    bases = {reading.way(setting).base for setting in reading.private}
    return reading.sentences.say("choice.parts.local") if "local" in bases and len(bases) > 1 else ""


def _behind(reading: LearnReading, worse: Sequence[Rival]) -> str:
    """Return in what other methods are clearly behind."""
    losses: dict[str, list[Setting]] = {"less_accurate_wider": [], "less_accurate": [], "wider": []}
    for rival in worse:
        parts = {"less_accurate": clearly(rival.accuracy, 1), "wider": clearly(rival.gap, -1)}
        losses["_".join(part for part, holds in parts.items() if holds)].append(rival.setting)
    return "".join(_name_methods(reading, part, settings) for part, settings in losses.items())


def _sides(reading: LearnReading, trades: Sequence[Setting]) -> dict[str, Any]:
    """Return the sides of a trade: the most accurate method, the one with the smallest gap, and all."""
    say, field = reading.sentences.say, [reading.chosen, *trades]
    accurate = max(field, key=lambda setting: reading.mean(ACCURACY, setting))
    rest = [setting for setting in field if setting != accurate]
    even = min(rest, key=lambda setting: (reading.mean(GAP, setting), -reading.mean(ACCURACY, setting)))
    if reading.chosen not in {accurate, even}:
        even = reading.chosen
    sides = [
        say(
            "choice.parts.side",
            title=METHODS[setting.mechanism].title,
            accuracy=reading.mean(ACCURACY, setting),
            gap=reading.mean(GAP, setting),
        )
        for setting in sorted(field, key=lambda setting: -reading.mean(ACCURACY, setting))
    ]
    slots = {"accurate": METHODS[accurate.mechanism].title, "even": METHODS[even.mechanism].title}
    return slots | {
        "sides": say("choice.parts.sides", sides="; ".join(sides)),
        "group": _group(reading, even),
    }


def _lead(reading: LearnReading, other: Setting, rival: Rival) -> dict[str, Any]:
    """Return in what another method is clearly ahead, and what it costs whom."""
    say, gains, intervals = reading.sentences.say, [], []
    for estimate, sign, word in ((rival.accuracy, -1, "more_accuracy"), (rival.gap, 1, "smaller_gap")):
        if clearly(estimate, sign):
            gains.append(say(f"choice.parts.{word}", amount=estimate))
            intervals.append(say("choice.parts.interval", amount=estimate))
    slots = {"other": METHODS[other.mechanism].title, "group": _group(reading, other)}
    slots |= {"paid": _paid(reading, other)}
    return slots | {"gains": listed(gains), "intervals": listed(intervals)}


def _paid(reading: LearnReading, other: Setting) -> str:
    """Return what another setting costs each group."""
    return classifier_answers.group_losses(replace(reading, chosen=other))
