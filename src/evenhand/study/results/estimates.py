"""Estimates of one setting, a mean over repeats or a change in the same repeats, and comparisons of two."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evenhand._validate import one_of
from evenhand.measure.intervals import check_level
from evenhand.measure.repeat_means import check_kind, kind_words, means_of, why_no_interval
from evenhand.study.plan.cells import Setting
from evenhand.study.results.lookup import measure_named

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from evenhand.measure.repeat_means import Arm, Kind, Spread
    from evenhand.study.results.base import ResultData
    from evenhand.study.tasks.base import Task

_OWNER = "estimate"


@dataclass(frozen=True)
class Estimated:
    """A mean over repeats, or a mean of differences within repeats, with its interval.

    Parameters
    ----------
    value : float
        NaN if it is defined in no repeat.
    low, high : float or None
        The limits; None where there are fewer than two repeats, and for what has none, see
        :mod:`evenhand.measure.repeat_means`.
    runs : int
        Repeats that are in the mean: those that were run, did not fail and have a defined value; for a
        change, in both settings.
    left_out : int
        Repeats of the plan that are not in it.
    level : float
    kind : {"seeds", "corrected", "student"}
        What the interval covers, see :mod:`evenhand.measure.repeat_means`.
    standard_error : float or None
    note : str
        What a reader must know: why there is no interval, how many repeats were left out.

    Examples
    --------
    >>> change = Estimated(-0.02, -0.03, -0.01, runs=5)
    >>> change.is_clear, 0 in change
    (True, False)
    """

    value: float
    low: float | None = None
    high: float | None = None
    runs: int = 1
    left_out: int = 0
    level: float = 0.95
    kind: Kind = "seeds"
    standard_error: float | None = None
    note: str = ""

    @property
    def has_interval(self) -> bool:
        """Whether there are limits."""
        return self.low is not None and self.high is not None

    @property
    def is_clear(self) -> bool:
        """Whether there is an interval and it excludes zero: for changes, that there is one."""
        return self.low is not None and self.high is not None and not self.low <= 0 <= self.high

    @property
    def words(self) -> str:
        """What the interval is, for captions."""
        return kind_words(self.kind, self.level)

    def __contains__(self, value: float) -> bool:
        return self.low is not None and self.high is not None and self.low <= value <= self.high

    def __iter__(self) -> Iterator[float | None]:
        yield self.low
        yield self.high


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
    how = {"level": level, "kind": kind, "within": within, "is_computed": setting == against}
    return estimate_rows(values[None], task, spread=spread, **how)[0]  # type: ignore[arg-type]


def estimate_rows(
    values: NDArray[np.float64],
    task: Task,
    *,
    level: float,
    kind: Kind,
    within: tuple[float, float] = (-math.inf, math.inf),
    spread: Spread = "even",
    is_computed: bool | NDArray[np.bool_] = False,
    owner: str = _OWNER,
) -> list[Estimated]:
    """Return an estimate of each row of values, one per repeat of the plan, NaN where there is none.

    Limits are cut to the values that are possible, which leaves out no true mean. How the values are spread
    says how far limits reach, see :mod:`evenhand.measure.repeat_means`. Values that are computed, such as
    the difference of a setting to itself, are their own interval where they are equal.
    """
    level, kind = check_level(level, owner=owner), check_kind(kind, owner=owner)
    is_exact = np.asarray(is_computed) | task.is_exact
    found = means_of(
        values, overlap=task.overlap, kind=kind, level=level, spread=spread, is_exact=is_exact
    ).within(*within)
    estimates = []
    for value, error, low, high, runs, tied in zip(*(part.tolist() for part in found), strict=True):
        limits, why = (low, high), ""
        if math.isnan(low):
            limits, why = (None, None), why_no_interval(spread, runs, tied=tied)
        left_out = values.shape[-1] - runs
        note = _note_of(runs, left_out, error=error, why=why, is_exact=task.is_exact)
        known = error if runs > 1 else None
        estimates.append(Estimated(value, *limits, runs, left_out, level, kind, known, note))
    return estimates


def _note_of(runs: int, left_out: int, *, error: float, why: str = "", is_exact: bool = False) -> str:
    """Return what a reader must know about a mean of so many runs; `why` says why it has no interval."""
    if not runs:
        return "It has no defined value in any repeat."
    notes = []
    if runs == 1 and is_exact:
        notes.append("It was computed once and nothing was repeated: no interval.")
    elif runs == 1:
        notes.append("There is a single repeat, so nothing is known about the spread: no interval.")
    elif error == 0 and not why:
        notes.append("All repeats gave the same value.")
    if why:
        notes.append(why)
    if left_out:
        repeats = f"{left_out} of {runs + left_out} repeats {'has' if left_out == 1 else 'have'}"
        notes.append(f"{repeats} no value (not run, failed or undefined).")
    return " ".join(notes)


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
        """Whether there is an interval and it excludes no difference."""
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
