"""Pieces that the sections of a page share: axes, captions, and measures in the words of charts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evenhand.report.marks import Axis
from evenhand.study.findings_reading import LEVEL
from evenhand.study.wording import counted, plain

if TYPE_CHECKING:
    from evenhand.study.findings_reading import Reading

__all__ = ["Shown", "caption", "repeats_words", "shown_measures"]


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
    signed = f"points, {_short(facts.groups[facts.privileged])} − {others}"
    return (
        Shown("acc", "accuracy", "%; higher is better"),
        Shown("sp_gap", "selection gap", "points; 0 = no gap"),
        Shown("eod", "true-positive gap", signed),
        Shown("oad", "accuracy gap", signed),
    )


def repeats_words(reading: Reading) -> str:
    """Return over what intervals are."""
    return counted(reading.results.plan.repeats, "repeat")


def caption(reading: Reading, what: str, rest: str = "") -> str:
    """Return a caption that begins in bold with what the bars are."""
    if reading.results.plan.repeats > 1:
        start = f"**{what}: {LEVEL:.0%} t-interval over {repeats_words(reading)}.**"
    else:
        start = "**One repeat, so there are no intervals.**"
    return f"{start} {rest}".strip()


def _other(reading: Reading) -> str:
    facts = reading.results.facts
    return _short(next(each for place, each in enumerate(facts.groups) if place != facts.privileged))


def _short(label: str) -> str:
    return plain(label, longest=14)
