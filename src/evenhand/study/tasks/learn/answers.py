"""The three sentences of a study of classifiers: who pays, what becomes of the gap, what to choose.

Who pays is told as for every classifier; here are the proved bound beside the gap, and the choice among
private methods.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from evenhand.report.page import Answer
from evenhand.report.words import epsilon_of, epsilon_words
from evenhand.study.page.comparing import Rival, clearly
from evenhand.study.page.reading import ACCURACY, BASELINE, GAP, mean_of
from evenhand.study.page.wording import amount, listed
from evenhand.study.tasks.learn.methods import METHODS
from evenhand.study.tasks.shared import classifier_answers
from evenhand.study.tasks.shared.classifier import LITTLE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evenhand.study.plan.cells import Setting
    from evenhand.study.tasks.learn.reading import LearnReading

__all__ = ["choice_answer", "cost_answer", "gap_answer", "gap_heading", "rivals_of"]


def cost_answer(reading: LearnReading) -> Answer:
    """Return who pays for the chosen method, group by group."""
    if reading.chosen.is_protected:
        return classifier_answers.cost_answer(reading)
    base = mean_of(reading.same_answer_runs)
    slots: dict[str, Any] = {"after": reading.value(ACCURACY), "answer": reading.same_answer, "base": base}
    return reading.sentences.answer("cost.plain", **slots)


# --- the gap --------------------------------------------------------------------------------------


def gap_answer(reading: LearnReading) -> Answer:
    """Return what becomes of the gap, beside what equal rates would show and what bounds it."""
    if not reading.chosen.is_protected:
        return reading.sentences.answer("gap.plain", after=reading.value(GAP), equal=_equal(reading))
    said = classifier_answers.gap_answer(reading)
    if not (reading.is_useful() and math.isfinite(reading.value(GAP).value)):
        return said
    return Answer(said.finding, f"{said.evidence}{_equal(reading)}{_bounded(reading)}")


def gap_heading(reading: LearnReading) -> str:
    """Return which way the gap goes, as far as it is clear, as a heading."""
    moved, name = reading.change(GAP), reading.name()
    if reading.constant():
        return f"{name} selects {reading.constant()} in any test, so that its gap of 0 says nothing"
    if not moved.has_interval:
        return f"One repeat cannot tell what {name} does to the gap"
    if not moved.is_clear:
        return f"{name} does not clearly change the gap"
    return f"{name} {'narrows' if moved.value < 0 else 'widens'} the gap by {amount(moved)}"


def _equal(reading: LearnReading) -> str:
    """Return how the gap compares with that of equal rates; only where that covers the groups judged."""
    fair, beyond = reading.value("fair_gap").value, reading.beyond_equal()
    if not math.isfinite(fair) or reading.too_few:
        return ""
    part = "unclear" if not beyond.is_clear else "more" if beyond.value > 0 else "less"
    return reading.sentences.say(f"gap.parts.equal_{part}", fair=fair)


def _bounded(reading: LearnReading) -> str:
    """Return the smaller of the two proved bounds on the gap: one on its mean, and one with 95%."""
    bounds = [reading.bound(name) for name in ("bound", "bound_95")]
    known = [bound for bound in bounds if math.isfinite(bound)]
    if not known:
        return reading.sentences.say("gap.parts.no_bound")
    return reading.sentences.say("gap.parts.bound", bound=min(known))


# --- the choice -----------------------------------------------------------------------------------


def choice_answer(reading: LearnReading) -> Answer:
    """Return which private method to use, or what would let one choose."""
    key, slots = _choice(reading)
    return reading.sentences.answer(f"choice.{key}", **slots)


def _choice(reading: LearnReading) -> tuple[str, dict[str, Any]]:
    title = reading.way().title
    if not reading.chosen.is_protected or not reading.is_private(reading.chosen):
        return "not_private", {"title": title}
    if reading.usefulness(BASELINE) == "useless":
        return "no_model", {}
    if not reading.is_useful():
        return _works(reading)
    if reading.repeats == 1:
        return "repeats", {}
    return _smaller_epsilon(reading) or _among(reading, rivals_of(reading))


def _works(reading: LearnReading) -> tuple[str, dict[str, Any]]:
    """Return the first private setting that is of use: at the same epsilon, or else at the next larger."""
    base = mean_of(reading.same_answer_runs)
    private = [setting for setting in reading.protected if reading.is_private(setting)]
    useful = [setting for setting in private if reading.is_useful(setting)]
    if not useful:
        accuracy = max(reading.mean(ACCURACY, setting) for setting in private)
        largest = epsilon_of(max(reading.epsilons, default=None))
        return "nothing_works", {"largest": largest, "after": accuracy, "base": base}
    least = min(setting.epsilon or 0 for setting in useful)
    there = [setting for setting in useful if (setting.epsilon or 0) == least]
    best = max(there, key=lambda setting: reading.mean(ACCURACY, setting))
    gap = reading.mean(GAP, best)
    told = reading.sentences.say("choice.works_gap.text", gap=gap) if math.isfinite(gap) else ""
    slots = {"name": reading.name(best), "after": reading.mean(ACCURACY, best), "base": base, "gap": told}
    return "works", slots


def _smaller_epsilon(reading: LearnReading) -> tuple[str, dict[str, Any]] | None:
    """Return the smallest epsilon of the chosen method that costs no more, if there is one."""
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
        if worse or accuracy.low is None or accuracy.low < -LITTLE:
            continue
        slots = {"title": reading.way().title, "smaller": epsilon_words(setting.epsilon), "change": accuracy}
        return "smaller", slots | {"at": reading.at, "group": _group(reading, chosen)}
    return None


def _among(reading: LearnReading, rivals: Mapping[Setting, Rival]) -> tuple[str, dict[str, Any]]:
    """Return how the chosen method compares with the other private ones at its epsilon."""
    by_verdict = {
        word: [setting for setting, rival in rivals.items() if rival.verdict == word]
        for word in ("better", "worse", "trade", "same")
    }
    slots: dict[str, Any] = {"title": reading.way().title, "total": len(rivals), "but": _but(reading)}
    if not rivals:
        return "only", slots | {"group": _group(reading, reading.chosen)}
    if better := by_verdict["better"]:
        return "better", slots | _lead(reading, better[0], rivals[better[0]])
    slots |= {"worse": _titles(by_verdict["worse"]), "do": _do(by_verdict["worse"])}
    slots |= {"same": _same(reading, by_verdict["same"])}
    if trades := by_verdict["trade"]:
        behind = reading.sentences.say("choice.parts.worse", **slots) if by_verdict["worse"] else ""
        return "trade", slots | _sides(reading, trades[0]) | {"behind": behind}
    return "best" if by_verdict["worse"] else "alike", slots


def rivals_of(reading: LearnReading) -> Mapping[Setting, Rival]:
    """Return how the chosen method stands against each other private one at the epsilon that is of use."""
    others = [
        setting for setting in reading.private if setting != reading.chosen and reading.is_useful(setting)
    ]
    rivals = {}
    for other in others:
        accuracy, gap = (
            reading.change(name, against=other, comparisons=2 * len(others)) for name in (ACCURACY, GAP)
        )
        rivals[other] = Rival(other, accuracy, gap)
    return rivals


def _titles(settings: list[Setting]) -> list[str]:
    return [METHODS[setting.mechanism].title for setting in settings]


def _do(settings: list[Setting]) -> str:
    return "does" if len(settings) == 1 else "do"


def _but(reading: LearnReading) -> str:
    return reading.sentences.say("choice.parts.but_group") if reading.way().needs_group else ""


def _group(reading: LearnReading, setting: Setting) -> str:
    method = METHODS[setting.mechanism]
    return reading.sentences.say("choice.parts.group", title=method.title) if method.needs_group else ""


def _same(reading: LearnReading, settings: list[Setting]) -> str:
    if not settings:
        return ""
    return reading.sentences.say("choice.parts.same", titles=_titles(settings), do=_do(settings))


def _sides(reading: LearnReading, other: Setting) -> dict[str, Any]:
    """Return the two sides of a trade: the more accurate method, and the one with the smaller gap."""
    accurate, even = sorted(
        (reading.chosen, other), key=lambda setting: reading.mean(ACCURACY, setting), reverse=True
    )
    slots: dict[str, Any] = {"group": _group(reading, even)}
    for name, setting in (("accurate", accurate), ("even", even)):
        slots[name] = METHODS[setting.mechanism].title
        slots |= {
            f"{name}_accuracy": reading.mean(ACCURACY, setting),
            f"{name}_gap": reading.mean(GAP, setting),
        }
    return slots


def _lead(reading: LearnReading, other: Setting, rival: Rival) -> dict[str, Any]:
    """Return in what another method is clearly ahead."""
    say, gains, intervals = reading.sentences.say, [], []
    for estimate, sign, word in ((rival.accuracy, -1, "more_accuracy"), (rival.gap, 1, "smaller_gap")):
        if clearly(estimate, sign):
            gains.append(say(f"choice.parts.{word}", amount=estimate))
            intervals.append(say("choice.parts.interval", amount=estimate))
    slots = {"other": METHODS[other.mechanism].title, "group": _group(reading, other)}
    return slots | {"gains": listed(gains), "intervals": listed(intervals)}
