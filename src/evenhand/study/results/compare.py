"""Two settings, pair by pair: the difference, its interval, and what may be said of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evenhand.study.results.estimates import paired_change
from evenhand.study.results.lookup import setting_of
from evenhand.study.results.measure_names import measure_named

if TYPE_CHECKING:
    from evenhand.study.plan.cells import Setting
    from evenhand.study.results.base import ResultData
    from evenhand.study.results.estimates import Estimated
    from evenhand.study.results.intervals import Kind

__all__ = ["Comparison", "compare"]


@dataclass(frozen=True)
class Comparison:
    """The difference `a` minus `b` of a measure within the same repeats.

    Parameters
    ----------
    a, b : Setting
    measure : str
    estimate : Estimated
        The mean difference and its interval.
    words : str
        The measure in a few words, as inside a sentence; by default its name.
    """

    a: Setting
    b: Setting
    measure: str
    estimate: Estimated
    words: str = ""

    @property
    def difference(self) -> float:
        """The mean of `a` minus `b`."""
        return self.estimate.value

    @property
    def low(self) -> float | None:
        """The lower limit, None without an interval."""
        return self.estimate.low

    @property
    def high(self) -> float | None:
        """The upper limit, None without an interval."""
        return self.estimate.high

    @property
    def pairs(self) -> int:
        """Repeats in which both settings have a defined value."""
        return self.estimate.runs

    @property
    def is_clear(self) -> bool:
        """Whether there is an interval and it excludes no difference."""
        return self.estimate.is_clear

    @property
    def sentence(self) -> str:
        """The comparison in words, with what the interval says about no difference."""
        measure = self.words or self.measure
        both = f"Between {self.a} and {self.b}"
        if not self.pairs:
            return f"{both}, the {measure} cannot be compared: no repeat has a value of both."
        found = self.estimate
        repeats = f"{self.pairs} paired repeat{'' if self.pairs == 1 else 's'}"
        if found.low is None or found.high is None:
            differs = f"{both}, the {measure} differs by {found.value:+.4f} in {repeats}"
            if self.pairs > 1:
                return f"{differs}, which may be chance. {found.note}"
            return f"{differs}; a single pair has no interval, so this may be chance."
        level = f"{100 * found.level:g} % interval"
        if self.is_clear:
            way = "higher" if found.value > 0 else "lower"
            near, far = sorted((abs(found.low), abs(found.high)))
            return (
                f"The {measure} is {way} with {self.a} than with {self.b}, by {abs(found.value):.4f} "
                f"({level} {near:.4f} to {far:.4f}, {repeats}, {found.kind}): "
                "the interval excludes no difference."
            )
        return (
            f"{both}, the {measure} does not differ clearly: {found.value:+.4f} "
            f"({level} {found.low:+.4f} to {found.high:+.4f}, {repeats}, {found.kind}), "
            "the interval includes no difference."
        )

    def __str__(self) -> str:
        return self.sentence


def compare(
    results: ResultData,
    a: object,
    b: object,
    *,
    measure: str = "sp_gap",
    level: float = 0.95,
    kind: Kind = "seeds",
) -> Comparison:
    """Return the difference of `a` minus `b`, each a setting or what stands for one."""
    owner = "compare"
    first, second = (
        setting_of(given, results.settings, owner=owner, parameter=name)
        for name, given in (("a", a), ("b", b))
    )
    name = measure_named(measure, results.arrays.measures, parameter="measure", owner=owner)
    found = paired_change(results, first, name, against=second, level=level, kind=kind)
    return Comparison(first, second, name, found, results.plan.task.measure(name).words)
