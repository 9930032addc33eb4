"""The first answer: what protection costs in accuracy, and whom."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from evenhand.study.page.wording import amount, change, counted, epsilon_text, is_nothing, listed, percent
from evenhand.study.tasks.collect.page.reading import ACCURACY

if TYPE_CHECKING:
    from evenhand.study.results.estimates import Estimated
    from evenhand.study.tasks.collect.page.reading import Reading

__all__ = ["LITTLE", "accuracy_answer", "missing_words"]

LITTLE = 0.02
"""A loss is called little if its whole interval is under two points, and that of every group named."""


def accuracy_answer(reading: Reading) -> str:
    """Return what the chosen setting costs in accuracy."""
    said = _cost(reading)
    missing = missing_words(reading)
    return f"{said} {missing}" if missing else said


def missing_words(reading: Reading) -> str:
    """Return how many cells have no result, or nothing if all have one."""
    results = reading.results
    total = len(results.outcomes) + len(results.missing)
    parts = []
    if results.failures:
        parts.append(f"{len(results.failures):,} of {counted(total, 'cell')} failed")
    if results.missing:
        verb = "was" if len(results.missing) == 1 else "were"
        parts.append(f"{len(results.missing):,} of {counted(total, 'cell')} {verb} not run")
    return f"{listed(parts).capitalize()}, and these are missing from every number." if parts else ""


def _cost(reading: Reading) -> str:
    at = f"ε = {epsilon_text(reading.chosen)}"
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
    if is_nothing(lost):
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


def _payers(reading: Reading, lost: Estimated) -> str:
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


def _exceptions(reading: Reading) -> str:
    """Return what of the groups the words before do not say."""
    losers, winners = losing(reading), gaining(reading)
    if len(losers) == len(reading.groups):
        return ""
    if winners:
        return _group_words(reading, (*losers, *winners))
    if not losers:
        return "; no group's own change is clear"
    others = [group for group in reading.groups if group not in losers]
    moved = ", ".join(f"{reading.named(group)} {_shown(reading, group)}" for group in others[:3])
    return (
        f"; not clear for {moved}" if len(others) < 4 else f"; not clear for the {len(others)} other groups"
    )


def _apart_from_that(reading: Reading) -> str:
    return _group_words(reading, (*losing(reading), *gaining(reading)))


def _group_words(reading: Reading, groups: tuple[str, ...]) -> str:
    if not groups:
        return ""
    words = [
        f"{reading.named(group)} {'gains' if moved.value > 0 else 'loses'} {amount(moved)}"
        for group in groups[:3]
        for moved in (reading.moved(group, "accuracy"),)
    ]
    return f"; {listed(words)}"


def _shown(reading: Reading, group: str) -> str:
    moved = reading.moved(group, "accuracy")
    return change(moved) if moved.has_interval else "(no interval)"


def losing(reading: Reading, rate: str = "accuracy") -> tuple[str, ...]:
    """Return the groups whose rate clearly falls."""
    return tuple(group for group in reading.groups if _way(reading, group, rate) < 0)


def gaining(reading: Reading, rate: str = "accuracy") -> tuple[str, ...]:
    """Return the groups whose rate clearly rises."""
    return tuple(group for group in reading.groups if _way(reading, group, rate) > 0)


def _way(reading: Reading, group: str, rate: str) -> float:
    moved = reading.moved(group, rate)
    return moved.value if moved.is_clear else 0.0
