"""The first two answers: what protection costs in accuracy and whom, and what happens to the gap.

The third, what to choose, stands in :mod:`evenhand.study.tasks.collect.choice`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from evenhand.study.page.comparing import ENOUGH_REPEATS, groups_by_sign
from evenhand.study.page.reading import ACCURACY, BASELINE, GAP
from evenhand.study.page.wording import amount, change, is_exactly_zero, listed, outcome_name, percent, points

if TYPE_CHECKING:
    from evenhand.study.results.estimates import Estimated
    from evenhand.study.tasks.collect.reading import CollectReading

__all__ = ["LITTLE", "accuracy_answer", "gaining", "gap_answer", "losing"]

LITTLE = 0.02
"""A loss is called little if its whole interval is under two points, and that of every group named."""


def accuracy_answer(reading: CollectReading) -> str:
    """Return what the chosen setting costs in accuracy."""
    said, missing = _cost(reading), reading.missing_cells()
    return f"{said} {missing}, and these are missing from every number." if missing else said


def _cost(reading: CollectReading) -> str:
    at = reading.at
    (before, after), lost = reading.pair(ACCURACY), reading.change(ACCURACY)
    if not math.isfinite(lost.value):
        told = [
            f"{percent(each.value)} {word}" for each, word in ((before, "unprotected"), (after, f"at {at}"))
        ]
        return f"**What protection costs in accuracy cannot be told:** it is {listed(told)}."
    shares = f"at {at} the model is right for {percent(after.value)} of people"
    if not lost.has_interval:
        return (
            f"**One repeat cannot tell what protection costs in accuracy:** in it, {shares} and unprotected "
            f"for {percent(before.value)}, and without an interval that difference may be chance."
        )
    if is_exactly_zero(lost):
        aside = _apart_from_that(reading)
        return f"**No cost in accuracy:** {shares}, and as many unprotected, in every repeat{aside}."
    if not lost.is_clear:
        return (
            f"**No clear cost in accuracy:** {shares} and unprotected for {percent(before.value)}, a change "
            f"of {change(lost, unit=' points')}, which may be none{_apart_from_that(reading)}."
        )
    if lost.value > 0:
        return (
            f"**Accuracy rises:** {shares} instead of {percent(before.value)}, a gain of "
            f"{amount(lost)}{_apart_from_that(reading)}."
        )
    return (
        f"**{_payers(reading, lost)}:** {shares} instead of {percent(before.value)}, a loss of "
        f"{amount(lost)}{_exceptions(reading)}."
    )


def _payers(reading: CollectReading, lost: Estimated) -> str:
    """Return who pays, as far as each group's own change is clear."""
    losers, winners = losing(reading), gaining(reading)
    paid = [lost, *(reading.moved(group, "accuracy") for group in losers)]
    little = "a little " if all(each.low is not None and -each.low < LITTLE for each in paid) else "in "
    if len(losers) == len(reading.groups):
        return f"Everyone pays {little}accuracy"
    if winners and losers:
        return "Accuracy falls, but not for everyone"
    if losers:
        verb = "pays" if len(losers) == 1 else "pay"
        return f"{listed([reading.named(group) for group in losers])} {verb} {little}accuracy"
    return "Accuracy falls"


def _exceptions(reading: CollectReading) -> str:
    """Return what of the groups the words before do not say."""
    losers, winners = losing(reading), gaining(reading)
    if len(losers) == len(reading.groups):
        return ""
    if winners:
        return _group_words(reading, (*losers, *winners))
    if not losers:
        return _no_losers(reading)
    others = {group: reading.moved(group, "accuracy") for group in reading.groups if group not in losers}
    unclear = [
        f"{reading.named(group)} {change(moved)}" for group, moved in others.items() if moved.has_interval
    ]
    bare = [reading.named(group) for group, moved in others.items() if not moved.has_interval]
    said = _few_or_counted("not clear for", unclear) if unclear else ""
    return f"{said}{_few_or_counted('without an interval for', bare)}" if bare else said


def _few_or_counted(words: str, groups: list[str]) -> str:
    return f"; {words} {', '.join(groups) if len(groups) < 4 else f'the {len(groups)} other groups'}"


def _no_losers(reading: CollectReading) -> str:
    """Return that no group's change is clear, or that none has an interval."""
    if any(reading.moved(group, "accuracy").has_interval for group in reading.groups):
        return "; no group's own change is clear"
    return f"; no group's own change has an interval, which takes {ENOUGH_REPEATS} repeats or more"


def _apart_from_that(reading: CollectReading) -> str:
    return _group_words(reading, (*losing(reading), *gaining(reading)))


def _group_words(reading: CollectReading, groups: tuple[str, ...]) -> str:
    if not groups:
        return ""
    words = [
        f"{reading.named(group)} {'gains' if moved.value > 0 else 'loses'} {amount(moved)}"
        for group in groups[:3]
        for moved in (reading.moved(group, "accuracy"),)
    ]
    return f"; {listed(words)}"


def losing(reading: CollectReading, rate: str = "accuracy") -> list[str]:
    """Return the groups whose rate clearly falls."""
    return groups_by_sign({group: reading.moved(group, rate) for group in reading.groups})[1]


def gaining(reading: CollectReading, rate: str = "accuracy") -> list[str]:
    """Return the groups whose rate clearly rises."""
    return groups_by_sign({group: reading.moved(group, rate) for group in reading.groups})[0]


# --- the gap --------------------------------------------------------------------------------------


def gap_answer(reading: CollectReading) -> str:
    """Return what happens to the gap, in terms of who moved."""
    said = _gap(reading)
    asides = [each for each in (_privileged_below(reading), _other_pair(reading)) if each]
    return " ".join([said, *asides])


def _gap(reading: CollectReading) -> str:
    (before, after), moved = reading.pair(GAP), reading.change(GAP)
    if not math.isfinite(moved.value):
        return (
            "**What happens to the gap between groups cannot be told:** in selection rates it is "
            f"{_size(before)} unprotected and {_size(after)} at {reading.at}."
        )
    pair = f"between {reading.named(reading.high)} and {reading.named(reading.low)}"
    if len(reading.groups) > 2:
        pair = f"between any two of the {len(reading.groups)} groups"
    sizes = f"{points(before.value)} points become {points(after.value)}"
    if not moved.has_interval:
        return (
            f"**One repeat cannot tell what happens to the {_which(reading)} {pair}:** in it, {sizes} at "
            f"{reading.at}, and without an interval that may be chance."
        )
    return _between(reading, pair, sizes) if len(reading.groups) == 2 else _widest(reading, pair, sizes)


def _between(reading: CollectReading, pair: str, sizes: str) -> str:
    """Return what happens to the gap between two groups."""
    moved = reading.change(GAP)
    apart, apart_after = reading.apart(BASELINE), reading.apart(reading.chosen)
    if apart.is_clear and apart_after.is_clear and apart.value * apart_after.value < 0:
        return _turned(reading, apart, apart_after)
    if not moved.is_clear:
        return _unclear(reading, pair, sizes)
    if moved.value > 0 and not apart.is_clear and apart_after.is_clear:
        return (
            f"**Protection opens a gap {pair}:** unprotected they do not differ clearly, "
            f"{change(apart, unit=' points')}; protected, by {amount(apart_after)}{_who(reading)}."
        )
    left = "" if apart_after.is_clear else f", or with its sign {change(apart_after)}"
    return f"**The gap {pair} {_verb(moved, apart_after)}:** {sizes}{left}{_who(reading)}."


def _widest(reading: CollectReading, pair: str, sizes: str) -> str:
    """Return what happens to the widest gap of several groups, which need not be between the same two."""
    moved = reading.change(GAP)
    verb = "widens" if moved.value > 0 else "narrows"
    unclear = "" if moved.is_clear else f", a change of {change(moved, unit=' points')}, which may be none"
    if is_exactly_zero(moved):
        verb, unclear = "does not change", ""
    elif not moved.is_clear:
        verb = "does not clearly change"
    apart, apart_after = reading.apart(BASELINE), reading.apart(reading.chosen)
    said = f"**The widest gap {pair} {verb}:** {sizes}, on average over repeats{unclear}"
    if not (apart.has_interval and apart_after.has_interval):
        return f"{said}{_who(reading, '; ')}."
    by = f"by {amount(apart)}" if apart.is_clear else f"not clearly, {change(apart)}"
    return (
        f"{said}. Furthest apart unprotected are {reading.named(reading.high)} and "
        f"{reading.named(reading.low)}, {by}; protected, it is {change(apart_after, unit=' points')} between "
        f"these two{_who(reading)}."
    )


def _turned(reading: CollectReading, apart: Estimated, apart_after: Estimated) -> str:
    high, low = reading.named(reading.high), reading.named(reading.low)
    return (
        f"**The gap turns round:** unprotected, {high} is predicted {_outcome(reading)} more often than "
        f"{low}, by {amount(apart)}; protected, less often, by {amount(apart_after)}{_who(reading)}."
    )


def _unclear(reading: CollectReading, pair: str, sizes: str) -> str:
    moved, apart = reading.change(GAP), reading.apart(BASELINE)
    if is_exactly_zero(moved):
        size = points(reading.value(GAP).value)
        return f"**The gap {pair} does not change:** it is {size} points in both{_who(reading, '; ')}."
    if not apart.is_clear:
        return (
            f"**No clear gap {pair}, and none clearly made:** in being predicted {_outcome(reading)} they "
            f"are {change(apart, unit=' points')} apart unprotected and "
            f"{change(reading.apart(reading.chosen))} protected."
        )
    return (
        f"**The gap {pair} does not clearly change:** {sizes}, a change of {change(moved, unit=' points')}, "
        f"which may be none{_who(reading, '; ')}."
    )


def _verb(moved: Estimated, apart_after: Estimated) -> str:
    if moved.value > 0:
        return "widens"
    return "narrows and stays open" if apart_after.is_clear else "narrows, and what is left may be none"


def _who(reading: CollectReading, word: str = ", as ") -> str:
    """Return how the two groups moved, each by the test of its own change, after a word that links it."""
    low, high = (reading.moved(group, "selection") for group in (reading.low, reading.high))
    if all(_lacks_repeats(each) for each in (low, high)):
        first = f"on average the share of {reading.named(reading.low)} predicted {_outcome(reading)}"
        return (
            f"; {first} changes by {change(low)} and that of {reading.named(reading.high)} by {change(high)}"
            f", without an interval, which takes {ENOUGH_REPEATS} repeats or more"
        )
    if not any(each.is_clear or is_exactly_zero(each) or not each.has_interval for each in (low, high)):
        return (
            f"; neither group's share predicted {_outcome(reading)} clearly moves by itself, "
            f"{reading.named(reading.low)} {change(low)} and {reading.named(reading.high)} {change(high)}"
        )
    first = f"{word}the share of {reading.named(reading.low)} predicted {_outcome(reading)} {_movement(low)}"
    return f"{first}, and that of {reading.named(reading.high)} {_movement(high)}"


def _lacks_repeats(moved: Estimated) -> bool:
    """Return whether a change has no interval because more repeats are needed for one."""
    return math.isfinite(moved.value) and not moved.has_interval


def _movement(moved: Estimated) -> str:
    if not math.isfinite(moved.value):
        return "is not known"
    if is_exactly_zero(moved):
        return "does not move"
    if _lacks_repeats(moved):
        return f"changes by {change(moved)}, without an interval"
    if not moved.is_clear:
        return f"does not clearly move, {change(moved)}"
    return f"{'rises' if moved.value > 0 else 'falls'} by {amount(moved, unit='')}"


def _privileged_below(reading: CollectReading) -> str:
    """Return a remark if the group declared as privileged is the one that is selected least."""
    privileged = reading.groups[reading.results.facts.privileged]
    apart = reading.apart(BASELINE)
    if privileged != reading.low or not (apart.is_clear and apart.value > 0):
        return ""
    which = "less" if len(reading.groups) == 2 else "least"
    return (
        f"The group declared as privileged, {reading.named(privileged)}, is the one selected {which} often."
    )


def _other_pair(reading: CollectReading) -> str:
    """Return a remark if there are more than two groups and others are furthest apart afterwards."""
    if len(reading.groups) == 2 or not reading.change(GAP).has_interval:
        return ""
    rates = {group: reading.rate(group, "selection").value for group in reading.groups}
    known = {group: value for group, value in rates.items() if math.isfinite(value)}
    if len(known) < 2:
        return ""
    top, bottom = max(known, key=lambda group: known[group]), min(known, key=lambda group: known[group])
    if {top, bottom} == {reading.high, reading.low} or known[top] == known[bottom]:
        return ""
    return f"Protected, {reading.named(top)} and {reading.named(bottom)} are furthest apart, by the means."


def _which(reading: CollectReading) -> str:
    return "gap" if len(reading.groups) == 2 else "widest gap"


def _size(found: Estimated) -> str:
    return f"{points(found.value)} points" if math.isfinite(found.value) else "undefined"


def _outcome(reading: CollectReading) -> str:
    return outcome_name(reading.results.facts.schema)
