"""Pieces that the sections of a page share: axes, captions, and measures in the words of charts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evenhand.report.marks import Axis
from evenhand.study.page.wording import counted, plain, way_name
from evenhand.study.plan.cells import UNPROTECTED
from evenhand.study.tasks.collect.page.reading import LEVEL

if TYPE_CHECKING:
    from evenhand.study.tasks.collect.page.reading import Reading

__all__ = ["Shown", "caption", "repeats_words", "shown_measures", "way_words"]


@dataclass(frozen=True)
class Shown:
    """A measure as charts and tables show it."""

    measure: str
    title: str
    unit: str

    @property
    def axis(self) -> Axis:
        """The axis of its values, in percent or points."""
        return Axis(self.title, self.unit, 100.0)


def shown_measures(reading: Reading) -> tuple[Shown, ...]:
    """Return the measures of the small multiples: accuracy, and the gaps that may be undefined."""
    facts = reading.results.facts
    others = "the others" if len(facts.groups) > 2 else _other(reading)
    privileged = plain(reading.named(facts.groups[facts.privileged]), longest=14)
    signed = f"points, {privileged} − {others}"
    return (
        Shown("acc", "accuracy", "%; higher is better"),
        Shown("sp_gap", "selection gap", "points; 0 = no gap"),
        Shown("eod", "true-positive gap", signed),
        Shown("oad", "accuracy gap", signed),
    )


def repeats_words(reading: Reading) -> str:
    """Return over what intervals are."""
    return counted(reading.results.plan.repeats, "repeat")


def caption(reading: Reading, what: str, rest: str = "", *, together: int = 1) -> str:
    """Return a caption that begins in bold with what the bars are, and with how many they hold together."""
    if reading.results.plan.repeats > 1:
        joint = f", widened to hold for all {together} groups at once" if together > 2 else ""
        joint = ", widened to hold for both groups at once" if together == 2 else joint
        start = f"**{what}: {LEVEL:.0%} interval over {repeats_words(reading)}{joint}.**"
    else:
        start = "**One repeat, so there are no intervals.**"
    return f"{start} {rest}".strip()


def way_words(reading: Reading) -> str:
    """Return what settings differ in beside protocol and epsilon: a split, a strategy, or nothing."""
    ways = {(each.option("split") == UNPROTECTED, way_name(each)) for each in reading.protected}
    if len(ways) < 2:
        return ""
    kinds = {is_strategy for is_strategy, _ in ways}
    return "split or strategy" if len(kinds) > 1 else "strategy" if True in kinds else "split"


def _other(reading: Reading) -> str:
    facts = reading.results.facts
    other = next(each for place, each in enumerate(facts.groups) if place != facts.privileged)
    return plain(reading.named(other), longest=14)
