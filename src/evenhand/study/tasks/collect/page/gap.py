"""The second answer: what happens to the gap between groups, and who moved."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from evenhand.study.page.wording import amount, change, epsilon_text, is_nothing, outcome_name, points
from evenhand.study.tasks.collect.page.reading import GAP, UNPROTECTED_SETTING

if TYPE_CHECKING:
    from evenhand.study.results.estimates import Estimated
    from evenhand.study.tasks.collect.page.reading import Reading

__all__ = ["gap_answer"]


def gap_answer(reading: Reading) -> str:
    """Return what happens to the gap, in terms of who moved."""
    said = _gap(reading)
    asides = [each for each in (_privileged_below(reading), _other_pair(reading)) if each]
    return " ".join([said, *asides])


def _gap(reading: Reading) -> str:
    (before, after), moved = reading.pair(GAP), reading.change(GAP)
    if not math.isfinite(moved.value):
        return (
            "**What happens to the gap between groups cannot be told:** in selection rates it is "
            f"{_size(before)} unprotected and {_size(after)} at ε = {epsilon_text(reading.chosen)}."
        )
    pair = f"between {reading.named(reading.high)} and {reading.named(reading.low)}"
    if len(reading.groups) > 2:
        pair = f"between any two of the {len(reading.groups)} groups"
    sizes = f"{points(before.value)} points become {points(after.value)}"
    if not moved.has_interval:
        return (
            f"**One repeat cannot tell what happens to the {_which(reading)} {pair}:** in it, {sizes} at ε = "
            f"{epsilon_text(reading.chosen)}, and without an interval that may be chance."
        )
    return _between(reading, pair, sizes) if len(reading.groups) == 2 else _widest(reading, pair, sizes)


def _between(reading: Reading, pair: str, sizes: str) -> str:
    """Return what happens to the gap between two groups."""
    moved = reading.change(GAP)
    apart, apart_after = reading.apart(UNPROTECTED_SETTING), reading.apart(reading.chosen)
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


def _widest(reading: Reading, pair: str, sizes: str) -> str:
    """Return what happens to the widest gap of several groups, which need not be between the same two."""
    moved = reading.change(GAP)
    verb = "widens" if moved.value > 0 else "narrows"
    unclear = "" if moved.is_clear else f", a change of {change(moved, unit=' points')}, which may be none"
    if is_nothing(moved):
        verb, unclear = "does not change", ""
    elif not moved.is_clear:
        verb = "does not clearly change"
    apart, apart_after = reading.apart(UNPROTECTED_SETTING), reading.apart(reading.chosen)
    said = f"**The widest gap {pair} {verb}:** {sizes}, on average over repeats{unclear}"
    if not (apart.has_interval and apart_after.has_interval):
        return f"{said}{_who(reading, '; ')}."
    by = f"by {amount(apart)}" if apart.is_clear else f"not clearly, {change(apart)}"
    return (
        f"{said}. Furthest apart unprotected are {reading.named(reading.high)} and "
        f"{reading.named(reading.low)}, {by}; protected, it is {change(apart_after, unit=' points')} between "
        f"these two{_who(reading)}."
    )


def _turned(reading: Reading, apart: Estimated, apart_after: Estimated) -> str:
    high, low = reading.named(reading.high), reading.named(reading.low)
    return (
        f"**The gap turns round:** unprotected, {high} is predicted {_outcome(reading)} more often than "
        f"{low}, by {amount(apart)}; protected, less often, by {amount(apart_after)}{_who(reading)}."
    )


def _unclear(reading: Reading, pair: str, sizes: str) -> str:
    moved, apart = reading.change(GAP), reading.apart(UNPROTECTED_SETTING)
    if is_nothing(moved):
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


def _who(reading: Reading, word: str = ", as ") -> str:
    """Return how the two groups moved, each by the test of its own change, after a word that links it."""
    low, high = (reading.moved(group, "selection") for group in (reading.low, reading.high))
    if not any(each.is_clear or is_nothing(each) or not each.has_interval for each in (low, high)):
        return (
            f"; neither group's share predicted {_outcome(reading)} clearly moves by itself, "
            f"{reading.named(reading.low)} {change(low)} and {reading.named(reading.high)} {change(high)}"
        )
    first = f"{word}the share of {reading.named(reading.low)} predicted {_outcome(reading)} {_movement(low)}"
    return f"{first}, and that of {reading.named(reading.high)} {_movement(high)}"


def _movement(moved: Estimated) -> str:
    if not math.isfinite(moved.value):
        return "is not known"
    if is_nothing(moved):
        return "does not move"
    if not moved.is_clear:
        return f"does not clearly move, {change(moved)}"
    return f"{'rises' if moved.value > 0 else 'falls'} by {amount(moved).replace(' points', '')}"


def _privileged_below(reading: Reading) -> str:
    """Return a remark if the group declared as privileged is the one that is selected least."""
    privileged = reading.groups[reading.results.facts.privileged]
    apart = reading.apart(UNPROTECTED_SETTING)
    if privileged != reading.low or not (apart.is_clear and apart.value > 0):
        return ""
    which = "less" if len(reading.groups) == 2 else "least"
    return (
        f"The group declared as privileged, {reading.named(privileged)}, is the one selected {which} often."
    )


def _other_pair(reading: Reading) -> str:
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


def _which(reading: Reading) -> str:
    return "gap" if len(reading.groups) == 2 else "widest gap"


def _size(found: Estimated) -> str:
    return f"{points(found.value)} points" if math.isfinite(found.value) else "undefined"


def _outcome(reading: Reading) -> str:
    return outcome_name(reading.results.facts.schema)
