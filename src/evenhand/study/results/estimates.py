"""Estimates of one setting, a mean over repeats or a change in the same repeats, and comparisons of two."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evenhand._validate import one_of
from evenhand.measure.repeat_means import estimate_rows
from evenhand.study.plan.cells import Setting
from evenhand.study.results.lookup import measure_named

if TYPE_CHECKING:
    from evenhand.measure.repeat_means import Arm, Estimated, Kind
    from evenhand.study.results.base import ResultData

_OWNER = "estimate"


def estimate(
    results: ResultData,
    setting: Setting,
    measure: str,
    *,
    group: str | None = None,
    against: Setting | None = None,
    level: float = 0.95,
    kind: Kind = "seeds",
) -> Estimated:
    """Return the mean of a measure over the repeats of a setting, or its change from the setting `against`.

    Of a `group` it is one of its rates, or how many ``"people"`` it has. A change is within the same repeats:
    settings share the rows for training and test and the model's random state in each, so that their
    difference varies less than either.
    """
    arrays, task = results.arrays, results.plan.task
    if group is None:
        name = measure_named(measure, arrays.measures, parameter="measure", owner=_OWNER)
        runs, described = arrays.of_measures[..., arrays.measures.index(name)], task.measure(name)
        spread = described.spread
    else:
        at = arrays.groups.index(one_of("group", group, arrays.groups, owner=_OWNER))
        of = arrays.rates.index(one_of("measure", measure, arrays.rates, owner=_OWNER))
        runs, described = arrays.of_groups[:, :, at, of], task.group_number(measure)
        alone: Arm = "unprotected" if setting == Setting() else "protected"
        spread = described.spread_of(alone if against is None else "change")
    values, within = runs[results.place(setting)], described.limits
    if against is not None:
        values, within = values - runs[results.place(against)], described.change_limits
    return estimate_rows(
        values[None],
        level=level,
        kind=kind,
        within=within,
        spread=spread,
        overlap=task.overlap,
        is_exact=task.is_exact,
        is_computed=setting == against,
    )[0]


# --- two settings, pair by pair -----------------------------------------------------------------------


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
    is_exact : bool
        Whether the study computes its results and does not draw them.
    """

    a: Setting
    b: Setting
    measure: str
    estimate: Estimated
    words: str = ""
    is_exact: bool = False

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
        """Return whether there is an interval and it excludes no difference."""
        return self.estimate.is_clear

    @property
    def sentence(self) -> str:
        """The comparison in words, with what the interval says about no difference."""
        measure = self.words or self.measure
        both = f"Between {self.a} and {self.b}"
        if not self.pairs:
            return f"{both}, the {measure} cannot be compared: no repeat has a value of both."
        change = self.estimate
        repeats = f"{self.pairs} paired repeat{'' if self.pairs == 1 else 's'}"
        if change.low is None or change.high is None:
            differs = f"{both}, the {measure} differs by {change.value:+.4f} in {repeats}"
            if self.is_exact:
                return f"{both}, the {measure} differs by {change.value:+.4f}. {change.note}"
            if self.pairs > 1:
                return f"{differs}, which may be chance. {change.note}"
            return f"{differs}; a single pair has no interval, so this may be chance."
        level = f"{100 * change.level:g} % interval"
        if self.is_clear:
            way = "higher" if change.value > 0 else "lower"
            near, far = sorted((abs(change.low), abs(change.high)))
            return (
                f"The {measure} is {way} with {self.a} than with {self.b}, by {abs(change.value):.4f} "
                f"({level} {near:.4f} to {far:.4f}, {repeats}, {change.kind}): "
                "the interval excludes no difference."
            )
        return (
            f"{both}, the {measure} does not differ clearly: {change.value:+.4f} "
            f"({level} {change.low:+.4f} to {change.high:+.4f}, {repeats}, {change.kind}), "
            "the interval includes no difference."
        )

    def __str__(self) -> str:
        return self.sentence
