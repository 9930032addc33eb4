"""The third answer: what to do, which setting is best, or where the model starts to work."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.report.page import Answer
from evenhand.report.words import epsilon_of, epsilon_words, listed, number, plain
from evenhand.study.page.comparing import ENOUGH_REPEATS, Rival, clearly, strict
from evenhand.study.page.reading import ACCURACY, BASELINE, CHANGE, GAP, mean_of
from evenhand.study.tasks.collect.wording import protocol_name, the_way, way_name
from evenhand.study.tasks.shared.classifier import AUC, LITTLE
from evenhand.study.tasks.shared.optimal_setting import NAME
from evenhand.study.tasks.shared.protection import strategy_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from evenhand.study.plan.cells import Setting
    from evenhand.study.tasks.collect.reading import CollectReading
    from evenhand.study.tasks.shared.classifier import OpenLoss


COMMAND = "evenhand audit collect --plan plan.toml"
"""Runs the study again, with what is added to it."""

_MANY = 10
"""From so many times as many people on, tenths say nothing."""

_AGAIN = {"repeats": f"{COMMAND} --repeats 10", "unfinished": COMMAND}


def choice_answer(reading: CollectReading) -> Answer:
    """Return what to do: the setting to use, or what would let one choose."""
    key, slots, setting = _choice(reading)
    said = reading.sentences.answer(f"choice.{key}", **slots)
    public = setting is not None and setting.mechanism == NAME
    needs = reading.sentences.say("choice.parts.public") if public else ""
    evidence = f"{said.evidence}{needs}{_protects_fewer(reading)}".strip()
    if setting is None:
        return Answer(said.finding, evidence, _AGAIN.get(key, ""))
    loss = None if key == "works_from" else _open_loss(reading, setting)
    if loss is not None:
        now = "" if key == "only" else reading.sentences.say("choice.parts.now", choice=said.finding)
        return _wait(reading, loss, f"{now} {evidence}".strip())
    return Answer(said.finding, evidence, reading.next_command(setting))


def _open_loss(reading: CollectReading, setting: Setting) -> OpenLoss | None:
    """Return the large loss that a setting may have; told of the chosen one where the two are alike."""
    loss = reading.open_loss(setting)
    alike = loss is not None and setting.epsilon == reading.chosen.epsilon
    return (reading.open_loss(reading.chosen) or loss) if alike else loss


def _wait(reading: CollectReading, loss: OpenLoss, choice: str) -> Answer:
    """Return what would tell whether a group loses much, with what one would choose without knowing it."""
    slots: dict[str, Any] = {"group": reading.named(loss.group), "most": loss.most, "repeats": loss.repeats}
    slots["factor"] = "" if loss.factor is None else number(loss.factor, int(loss.factor < _MANY))
    part = ("or" if loss.repeats else "people") if loss.factor else ("" if loss.repeats else "far")
    slots["takes"] = reading.sentences.say(f"choice.parts.takes_{part}", **slots) if part else ""
    key = "open_repeats" if loss.repeats else "open_people"
    said = reading.sentences.answer(f"choice.{key}", **slots, choice=choice)
    return Answer(said.finding, said.evidence, f"{COMMAND} --repeats {loss.repeats}" if loss.repeats else "")


def recommended(reading: CollectReading) -> Setting | None:
    """Return the setting that the third answer names; None where it names none."""
    return _choice(reading)[2]


def _choice(reading: CollectReading) -> tuple[str, dict[str, Any], Setting | None]:
    """Return which sentence is true, its slots, and the setting it recommends."""
    if obstacle := _obstacle(reading):
        slots: dict[str, Any] = {"repeats": reading.change(ACCURACY).runs, "enough": ENOUGH_REPEATS}
        if obstacle == "too_few":
            slots = {"people": reading.people_for_two_groups}
        return obstacle, slots, None
    if not reading.is_useful():
        return _works_from(reading)
    if len(reading.protected) == 1:
        key = "only_fine" if reading.costs_little() else "only"
        return key, {"chosen": reading.setting_name(reading.chosen)}, reading.chosen
    if smaller := _smaller_epsilon(reading):
        return smaller
    rivals = [rival for rival in reading.rivals if reading.has_enough_repeats(rival.setting)]
    return _among(reading, rivals) if rivals else _by_epsilon(reading)


def _obstacle(reading: CollectReading) -> str:
    """Return what keeps one from choosing at all: no run, no model, few people or repeats."""
    known = math.isfinite(reading.change(ACCURACY).value)
    if not known or reading.usefulness(BASELINE) == "useless":
        return "no_model" if known else "no_results"
    if len(reading.judged) < 2:
        return "too_few"
    if not reading.has_enough_repeats():
        return "repeats"
    return "unproved" if "unproved" in {reading.usefulness(BASELINE), reading.usefulness()} else ""


# --- where the model starts to work ---------------------------------------------------------------


def _works_from(reading: CollectReading) -> tuple[str, dict[str, Any], Setting | None]:
    """Return the smallest epsilon of which a setting is of use, and the best setting there."""
    base = mean_of(reading.same_answer_runs)
    known = [each for each in reading.protected if math.isfinite(reading.mean(ACCURACY, each))]
    useful = [each for each in known if reading.is_useful(each) and reading.has_enough_repeats(each)]
    if not useful:
        best = max(known, key=lambda setting: reading.mean(ACCURACY, setting))
        largest = epsilon_of(max(reading.epsilons))
        slots = {"largest": largest, "at": epsilon_words(best.epsilon), "base": base}
        return "nothing_works", slots | {"after": reading.mean(ACCURACY, best)}, None
    least = min(setting.epsilon for setting in useful if setting.epsilon is not None)
    there = [setting for setting in useful if setting.epsilon == least]
    best = max(there, key=lambda setting: reading.mean(ACCURACY, setting))
    auc = reading.mean(AUC, best)
    ranking = reading.sentences.say("choice.ranking.auc", auc=auc) if math.isfinite(auc) else ""
    slots = {"at": epsilon_words(least), "name": reading.setting_name(best, epsilon=False), "base": base}
    return "works_from", slots | {"after": reading.mean(ACCURACY, best), "ranking": ranking}, best


# --- a smaller epsilon ----------------------------------------------------------------------------


def _smaller_epsilon(reading: CollectReading) -> tuple[str, dict[str, Any], Setting] | None:
    """Return the smallest epsilon that costs no more than the chosen setting, if there is one.

    It costs no more if it is of use, neither accuracy nor gap is clearly worse than with the chosen setting
    or can be worse by more than :data:`LITTLE`, and it has no clear loss that the chosen setting has not.
    """
    chosen = reading.chosen
    series = [setting for setting in _series(reading) if (setting.epsilon or 0) < (chosen.epsilon or 0)]
    for setting in series:
        accuracy, gap = (
            reading.change(name, setting, against=chosen, comparisons=2 * len(series))
            for name in (ACCURACY, GAP)
        )
        costs = clearly(reading.change(ACCURACY, setting), -1) and not clearly(reading.change(ACCURACY), -1)
        worse = clearly(accuracy, -1) or clearly(gap, 1) or costs or not reading.is_useful(setting)
        worse = worse or not reading.has_enough_repeats(setting)
        if worse or accuracy.low is None or accuracy.low < -LITTLE or gap.high is None or gap.high > LITTLE:
            continue
        beside = reading.with_values(setting.epsilon)
        slots = {
            "smaller": epsilon_words(setting.epsilon),
            "at": reading.at,
            "change": accuracy,
            "shortest": _shortest(reading, beside),
        }
        return "smaller", slots, setting
    return None


def _series(reading: CollectReading) -> list[Setting]:
    """Return the settings that differ from the chosen one in epsilon alone, the most private first."""
    chosen = reading.chosen
    same = [
        setting
        for setting in reading.protected
        if protocol_name(setting) == protocol_name(chosen) and way_name(setting) == way_name(chosen)
    ]
    return sorted(same, key=lambda setting: setting.epsilon or 0)


def _by_epsilon(reading: CollectReading) -> tuple[str, dict[str, Any], Setting | None]:
    """Return what epsilon buys, where it alone was varied."""
    known = [(setting, reading.change(ACCURACY, setting)) for setting in _series(reading)]
    known = [(setting, lost) for setting, lost in known if lost.runs >= ENOUGH_REPEATS]
    if len(known) < 2:
        return "unfinished", {"chosen": reading.setting_name(reading.chosen)}, None
    clear = [clearly(lost, -1) for _, lost in known]
    if all(clear):
        setting, lost = max(known, key=lambda pair: pair[1].value)
        return "larger", {"at": epsilon_words(setting.epsilon), "loss": lost}, None
    threshold = clear[::-1].index(True) if any(clear) else len(known)
    if threshold:
        setting, lost = known[len(known) - threshold]
        return "from", {"at": epsilon_words(setting.epsilon), "change": lost}, setting
    return "not_in_order", {"count": sum(clear), "total": len(known)}, None


# --- settings at one epsilon ----------------------------------------------------------------------


def _among(reading: CollectReading, rivals: Sequence[Rival]) -> tuple[str, dict[str, Any], Setting | None]:
    """Return how some settings at the chosen epsilon compare with the chosen one."""
    by_verdict = {
        word: [rival for rival in rivals if rival.verdict == word]
        for word in ("better", "worse", "trade", "same")
    }
    chosen = reading.setting_name(reading.chosen, epsilon=False)
    slots: dict[str, Any] = {"at": reading.at, "chosen": chosen}
    if better := by_verdict["better"]:
        name = reading.setting_name(better[0].setting, epsilon=False)
        return "better", slots | {"better": name, **_lead(reading, better[0], -1)}, better[0].setting
    if worse := by_verdict["worse"]:
        return _best(reading, worse, by_verdict["trade"], slots, same=len(by_verdict["same"]))
    if trades := by_verdict["trade"]:
        return "trade", slots | _trade(reading, trades[0]), None
    beside = [reading.chosen, *(rival.setting for rival in rivals)]
    bits = _bits(reading, beside)
    pick = min(bits, key=lambda setting: bits[setting], default=reading.chosen)
    others = [reading.setting_name(setting, epsilon=False) for setting in beside if setting != pick]
    slots |= {"chosen": reading.setting_name(pick, epsilon=False), "count": len(others), "other": others[0]}
    slots |= {"shortest": _shortest(reading, reading.beside), "apart": _apart(reading)}
    return "alike_one" if len(others) == 1 else "alike", slots, pick


def _best(
    reading: CollectReading,
    worse: Sequence[Rival],
    trades: Sequence[Rival],
    slots: dict[str, Any],
    *,
    same: int,
) -> tuple[str, dict[str, Any], Setting]:
    """Return what the chosen setting is clearly better than."""
    chosen = reading.chosen
    most = max(worse, key=_distance)
    slots |= {
        "worst": reading.setting_name(most.setting, epsilon=False),
        **_lead(reading, most, -1, behind=True),
    }
    slots |= {"shortest": _shortest(reading, reading.beside)}
    behind = {rival.setting for rival in worse}
    if not trades:
        for key, name, kinds in (("split", way_name, protocol_name), ("protocol", protocol_name, way_name)):
            varied = (
                len({name(each) for each in reading.beside})
                > 1
                < len({kinds(each) for each in reading.beside})
            )
            if varied and behind == {each for each in reading.beside if name(each) != name(chosen)}:
                return (
                    key,
                    slots | {"way": the_way(chosen), "protocol": reading.protocol_name(chosen)},
                    chosen,
                )
    rest = "" if not same else "choice.parts.rest_one" if same == 1 else "choice.parts.rest_many"
    slots |= {
        "count": len(worse),
        "do": reading.sentences.say(f"choice.parts.do_{'one' if len(worse) == 1 else 'many'}"),
        "rest": reading.sentences.say(rest, count=same) if rest else "",
        "trades": reading.sentences.say("choice.parts.trade", **_trade(reading, trades[0])) if trades else "",
    }
    return "best", slots, chosen


def _lead(reading: CollectReading, rival: Rival, sign: int, *, behind: bool = False) -> dict[str, str]:
    """Return in what another setting is ahead, or behind, where that is clear, and the intervals."""
    say = reading.sentences.say
    gains, intervals = [], []
    forward = -sign if behind else sign
    words = ("less_accuracy", "wider_gap") if behind else ("more_accuracy", "smaller_gap")
    for estimate, direction, word in ((rival.accuracy, 1, words[0]), (rival.gap, -1, words[1])):
        if clearly(estimate, forward * direction):
            gains.append(say(f"choice.parts.{word}", amount=estimate))
            intervals.append(say("choice.parts.interval", amount=estimate))
    return {"gains": listed(gains), "intervals": listed(intervals)}


def _trade(reading: CollectReading, rival: Rival) -> dict[str, str]:
    say = reading.sentences.say
    accuracy, gap = rival.stated_estimates
    first = say(f"choice.parts.{'more' if accuracy.value < 0 else 'less'}_accuracy", amount=accuracy)
    second = say(f"choice.parts.{'smaller' if gap.value > 0 else 'wider'}_gap", amount=gap)
    gains, losses = (first, second) if accuracy.value < 0 else (second, first)
    limits = [say("choice.parts.interval", amount=estimate) for estimate in (accuracy, gap)]
    other = reading.setting_name(rival.setting, epsilon=False)
    return {"other": other, "gains": gains, "losses": losses, "intervals": listed(limits)}


def _distance(rival: Rival) -> float:
    return max(abs(each.value) if each.is_clear else 0.0 for each in (rival.accuracy, rival.gap))


def _protects_fewer(reading: CollectReading) -> str:
    """Return that a strategy beside the others protects one column only, and so is no equal choice."""
    schema = reading.results.facts.schema
    strategies = {setting.option("strategy") for setting in reading.beside}
    if "single" not in strategies or len(strategies) == 1 or len(schema.sensitive) == 1:
        return ""
    return reading.sentences.say("choice.parts.fewer", column=plain(schema.protected_name))


def _apart(reading: CollectReading) -> str:
    """Return whether a split or strategy matters at another epsilon."""
    apart = ways_apart(reading)
    if apart is None:
        return ""
    slots = {"better": the_way(apart.better), "worse": the_way(apart.worse)}
    return reading.sentences.say(
        "choice.parts.apart",
        at=epsilon_words(apart.better.epsilon),
        **slots,
        **_lead(reading, apart.rival, 1),
    )


# --- ways to report, over all protocols -----------------------------------------------------------


@dataclass(frozen=True)
class Apart:
    """At the most private epsilon at which one way to split or combine is clearly better than another.

    Parameters
    ----------
    better, worse : Setting
        One setting of each way.
    rival : Rival
        How far the first way is ahead, over all protocols.
    """

    better: Setting
    worse: Setting
    rival: Rival


def ways_apart(reading: CollectReading) -> Apart | None:
    """Return where one way is better than another, by the mean over the protocols that both have."""
    compared = [
        (epsilon, first, second)
        for epsilon in sorted(
            {setting.epsilon for setting in reading.protected if setting.epsilon is not None}
        )
        for first, second in combinations(
            dict.fromkeys(way_name(setting) for setting in reading.protected), 2
        )
        if epsilon != reading.chosen.epsilon
    ]
    level = strict(2 * len(compared))
    for epsilon, first, second in compared:
        at = [setting for setting in reading.protected if setting.epsilon == epsilon]
        for better, worse in ((first, second), (second, first)):
            effect = _main_effect(reading, at, better, worse, level)
            if effect.verdict == "worse":
                better_one = next(setting for setting in at if way_name(setting) == better)
                return Apart(better_one, effect.setting, effect)
    return None


def _main_effect(
    reading: CollectReading, at: Sequence[Setting], first: str, second: str, level: float
) -> Rival:
    """Return how far the first way is ahead of the second, averaged over protocols within each repeat.

    Any two ways have a protocol in common: only GRR goes with "combined", and then the plan has it.
    """
    by_way = {
        way: {protocol_name(each): each for each in at if way_name(each) == way} for way in (first, second)
    }
    shared = [name for name in by_way[first] if name in by_way[second]]
    found = []
    for measure in (ACCURACY, GAP):
        runs: NDArray[np.float64] = np.mean(
            [
                reading.runs(by_way[first][name], measure) - reading.runs(by_way[second][name], measure)
                for name in shared
            ],
            axis=0,
        )
        spread = reading.task.measure(measure).spread
        found.append(reading.tested(runs, within=CHANGE, level=level, spread=spread))
    return Rival(by_way[second][shared[0]], found[0], found[1])


# --- message size ---------------------------------------------------------------------------------


def shortest_reports(reading: CollectReading) -> str:
    """Return which settings at the chosen epsilon send the fewest bits; an empty text if all send as many."""
    return _shortest(reading, reading.beside).strip()


def _shortest(reading: CollectReading, settings: Sequence[Setting]) -> str:
    bits = _bits(reading, settings)
    if len(set(bits.values())) < 2:
        return ""
    fewest = min(bits.values())
    longer = {reading.protocol_name(setting) for setting, count in bits.items() if count > fewest}
    who = [
        reading.setting_name(setting, epsilon=False)
        if reading.protocol_name(setting) in longer
        else reading.protocol_name(setting)
        for setting, count in bits.items()
        if count == fewest
    ]
    who = list(dict.fromkeys(who))
    key = f"choice.parts.shortest_{'one' if len(who) == 1 else 'many'}"
    return reading.sentences.say(key, who=who, bits=int(fewest))


def _bits(reading: CollectReading, settings: Sequence[Setting]) -> dict[Setting, float]:
    """Return how many bits a person sends; those that ask for one column are left out."""
    schema = reading.results.facts.schema
    return {
        setting: math.fsum(sender.bits_per_report for sender in strategy_of(setting, schema).senders)
        for setting in settings
        if setting.option("split") != "sample" and setting.option("strategy") != "single"
    }
