"""The third answer: what to choose, or that nothing can be told apart."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from evenhand.report.words import epsilon_words
from evenhand.study.page.comparing import Rival, strict
from evenhand.study.page.reading import ACCURACY, CHANGE, GAP
from evenhand.study.page.wording import amount, change, counted, listed, plain
from evenhand.study.tasks.collect.wording import protocol_name, setting_name, the_way, way_name
from evenhand.study.tasks.shared.protection import strategy_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from evenhand.study.plan.cells import Setting
    from evenhand.study.tasks.collect.reading import CollectReading

__all__ = ["choice_answer", "shortest_reports", "ways_apart"]


def choice_answer(reading: CollectReading) -> str:
    """Return what to choose, or that nothing can be told apart."""
    if len(reading.protected) == 1:
        return (
            "**No recommendation: one setting was tested.** Try other protocols, splits or values of ε to "
            "have something to choose from."
        )
    if not reading.has_intervals:
        return (
            "**No recommendation: there are no intervals.** A setting needs at least two repeats with a "
            "result to be told from another; ten or more are better."
        )
    if not reading.rivals:
        return _by_epsilon(reading)
    fewer = _protects_fewer(reading)
    return f"{_among(reading)} {fewer}" if fewer else _among(reading)


def _protects_fewer(reading: CollectReading) -> str:
    """Say that a strategy beside the others protects one column only, and so is no equal choice."""
    schema = reading.results.facts.schema
    strategies = {setting.option("strategy") for setting in reading.beside}
    if "single" not in strategies or len(strategies) == 1 or len(schema.sensitive) == 1:
        return ""
    return f"Of the sensitive columns 'single' protects {plain(schema.protected)} alone."


def _among(reading: CollectReading) -> str:
    """Say how the settings at the chosen epsilon compare with the chosen one."""
    at = reading.at
    found = {word: [rival for rival in reading.rivals if rival.verdict == word] for word in _VERDICTS}
    if found["better"]:
        first = found["better"][0]
        return (
            f"**Prefer {setting_name(first.setting, epsilon=False)} to "
            f"{setting_name(reading.chosen, epsilon=False)}:** at {at} it is better by "
            f"{_gains(first, -1)}{_other_side(first)}."
        )
    if found["worse"]:
        return _ahead(reading, found["worse"], found["trade"], at)
    if found["trade"]:
        return _trade(reading, found["trade"], at)
    return _no_difference(reading, at)


_VERDICTS = ("better", "worse", "trade", "same")


# --- settings at one epsilon ----------------------------------------------------------------------


def _no_difference(reading: CollectReading, at: str) -> str:
    """Say that no setting differs, how else to choose, and whether it matters at another epsilon."""
    count, name = len(reading.rivals) + 1, setting_name(reading.chosen, epsilon=False)
    what, who = f"the {count} settings", "none differs"
    if count == 2:
        what, who = (
            "both settings",
            f"{setting_name(reading.rivals[0].setting, epsilon=False)} does not differ",
        )
    said = f"**No recommendation between {what} at {at}:** {who} clearly from {name}, in accuracy or gap."
    apart = ways_apart(reading)
    if apart is not None:
        return (
            f"{said} At {epsilon_words(apart.better.epsilon)}, {the_way(apart.better)} is better than "
            f"{the_way(apart.worse)} by {_gains(apart.rival, 1)}."
        )
    shortest = shortest_reports(reading)
    return f"{said} Choose by message size: {shortest}" if shortest else said


def _ahead(reading: CollectReading, worse: Sequence[Rival], trade: Sequence[Rival], at: str) -> str:
    """Say what the chosen setting is clearly better than."""
    chosen = reading.chosen
    most = max(worse, key=_distance)
    example = (
        f"{setting_name(most.setting, epsilon=False)} is furthest behind "
        f"{setting_name(chosen, epsilon=False)}, by {_gains(most, 1)}"
    )
    others = [rival.setting for rival in worse]
    same_way = [rival.setting for rival in reading.rivals if way_name(rival.setting) == way_name(chosen)]
    same_protocol = [
        rival.setting for rival in reading.rivals if protocol_name(rival.setting) == protocol_name(chosen)
    ]
    ways, protocols = (
        {way_name(setting) for setting in reading.beside},
        {protocol_name(setting) for setting in reading.beside},
    )
    if not trade and len(ways) > 1 and len(protocols) > 1:
        if {*others} == {rival.setting for rival in reading.rivals} - {*same_way}:
            return (
                f"**Choose the split, not the protocol:** at {at} no protocol differs clearly from "
                f"{protocol_name(chosen)} with {the_way(chosen)}, but every setting without it is "
                f"worse; {example}."
            )
        if {*others} == {rival.setting for rival in reading.rivals} - {*same_protocol}:
            return (
                f"**Choose the protocol, not the split:** at {at} the split makes no clear difference to "
                f"{protocol_name(chosen)}, but every setting with another protocol is worse; {example}."
            )
    rest = len(reading.rivals) - len(worse) - len(trade)
    besides = f", or one of the {rest} that do not differ clearly from it" if rest > 1 else ""
    besides = ", or the one that does not differ clearly from it" if rest == 1 else besides
    trades = f" {_traded(trade[0])}" if trade else ""
    return (
        f"**Choose {setting_name(chosen, epsilon=False)}{besides}:** at {at}, "
        f"{_part(len(worse), len(reading.rivals))} worse; {example}.{trades}"
    )


def _trade(reading: CollectReading, trade: Sequence[Rival], at: str) -> str:
    return (
        f"**No recommendation: at {at} less gap is paid for with accuracy.** Against "
        f"{setting_name(reading.chosen, epsilon=False)}: {_traded(trade[0])}"
    )


def _traded(found: Rival) -> str:
    accuracy, gap = found.stated_estimates
    more = "more" if accuracy.value < 0 else "less"
    wider = "smaller" if gap.value > 0 else "wider"
    return (
        f"{setting_name(found.setting, epsilon=False)} is {more} accurate, by {amount(accuracy)}, and "
        f"its gap is {wider}, by {amount(gap)}."
    )


def _gains(found: Rival, sign: int) -> str:
    """Return by how much one is ahead, where that is clear."""
    parts = []
    if found.accuracy.is_clear and found.accuracy.value * sign > 0:
        parts.append(amount(found.accuracy, unit=" points of accuracy"))
    if found.gap.is_clear and found.gap.value * sign < 0:
        parts.append(amount(found.gap, unit=" points of gap"))
    return listed(parts)


def _other_side(found: Rival) -> str:
    if found.accuracy.is_clear and found.gap.is_clear:
        return ""
    return (
        ", and the accuracy does not differ clearly"
        if found.gap.is_clear
        else ", and the gap does not differ clearly"
    )


def _distance(found: Rival) -> float:
    return max(abs(each.value) if each.is_clear else 0.0 for each in (found.accuracy, found.gap))


def _part(some: int, every: int) -> str:
    if some == every:
        return "the other one is" if every == 1 else f"all {every} others are"
    return f"{some} of the {every} others {'is' if some == 1 else 'are'}"


# --- epsilon --------------------------------------------------------------------------------------


def _by_epsilon(reading: CollectReading) -> str:
    """Say what epsilon buys, where nothing else can be compared."""
    chosen = reading.chosen
    series = [
        setting
        for setting in reading.protected
        if protocol_name(setting) == protocol_name(chosen) and way_name(setting) == way_name(chosen)
    ]
    known = [
        (each, reading.change(ACCURACY, each)) for each in sorted(series, key=lambda each: each.epsilon or 0)
    ]
    known = [(each, lost) for each, lost in known if lost.has_interval]
    start = "**No recommendation: only ε was varied"
    if len(known) < 2:
        return (
            "**No recommendation: there is nothing to compare it with.** No other setting has enough results."
        )
    clear = [lost.is_clear and lost.value < 0 for _, lost in known]
    if all(clear):
        last, lost = known[-1]
        return (
            f"{start}, and every value costs accuracy.** Even {epsilon_words(last.epsilon)}, the largest "
            f"tested, loses {amount(lost)}."
        )
    if not any(clear):
        first, lost = known[0]
        return (
            f"{start}, and no value clearly costs accuracy.** At {epsilon_words(first.epsilon)}, the most "
            f"private one tested, the change is {change(lost, unit=' points')}."
        )
    threshold = clear[::-1].index(True)
    if threshold:
        first, lost = known[len(known) - threshold]
        return (
            f"{start}.** The smallest value from which on no loss of accuracy is clear is "
            f"{epsilon_words(first.epsilon)}: {change(lost, unit=' points')}."
        )
    values = f"{sum(clear)} of {counted(len(known), 'value')} of ε"
    return f"{start}.** {values} clearly cost accuracy, and not in order."


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
            found = _main_effect(reading, at, better, worse, level)
            if found.verdict == "worse":
                better_one = next(setting for setting in at if way_name(setting) == better)
                return Apart(better_one, found.setting, found)
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
    """Return which settings at the chosen epsilon send the fewest bits; an empty text if all send as many.

    Settings that ask each person one column, or protect one column alone, are not compared by that.
    """
    schema = reading.results.facts.schema
    bits = {
        setting: math.fsum(sender.bits_per_report for sender in strategy_of(setting, schema).senders)
        for setting in reading.beside
        if setting.option("split") != "sample" and setting.option("strategy") != "single"
    }
    if len(set(bits.values())) < 2:
        return ""
    fewest = min(bits.values())
    longer = {protocol_name(each) for each, count in bits.items() if count > fewest}
    who = [
        setting_name(each, epsilon=False) if protocol_name(each) in longer else protocol_name(each)
        for each, count in bits.items()
        if count == fewest
    ]
    who = list(dict.fromkeys(who))
    verb = "sends" if len(who) == 1 else "send"
    return f"{listed(who, most=3)} {verb} {counted(int(fewest), 'bit')} per person, the fewest."
