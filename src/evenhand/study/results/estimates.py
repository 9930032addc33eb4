"""Estimates of one setting: a mean over repeats, or a change in the same repeats, with its interval."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evenhand._validate import one_of
from evenhand.measure.intervals import check_level
from evenhand.study.plan.cells import Setting
from evenhand.study.results.intervals import check_kind, kind_words, means_of
from evenhand.study.results.measure_names import ALIASES, measure_named
from evenhand.study.results.spreads import why_no_interval

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray

    from evenhand.study.results.base import ResultData
    from evenhand.study.results.intervals import Kind
    from evenhand.study.results.spreads import Spread

__all__ = [
    "Estimated",
    "data_change",
    "data_estimate",
    "estimate",
    "group_change",
    "group_estimate",
    "paired_change",
]

_UNPROTECTED = Setting()
_ANYTHING = (-math.inf, math.inf)


@dataclass(frozen=True)
class Estimated:
    """A mean over repeats, or a mean of differences within repeats, with its interval.

    Parameters
    ----------
    value : float
        NaN if it is defined in no repeat.
    low, high : float or None
        The limits; None where there are fewer than two repeats, and for what has none, see
        :mod:`evenhand.study.results.spreads`.
    runs : int
        Repeats that are in the mean: those that were run, did not fail and have a defined value; for a
        change, in both settings.
    left_out : int
        Repeats of the plan that are not in it.
    level : float
    kind : {"seeds", "corrected", "student"}
        What the interval covers, see :mod:`evenhand.study.results.intervals`.
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
        """Whether there is an interval and it excludes nought: for changes, that there is one."""
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
    results: ResultData, setting: Setting, measure: str, *, level: float = 0.95, kind: Kind = "seeds"
) -> Estimated:
    """Return the mean of a measure over the repeats of a setting."""
    runs = _measure(results, setting, measure, "estimate")
    described = results.plan.task.measure(ALIASES.get(measure, measure))
    return estimated(
        results,
        runs,
        level=level,
        kind=kind,
        owner="estimate",
        within=described.limits,
        spread=described.spread,
    )


def paired_change(
    results: ResultData,
    setting: Setting,
    measure: str,
    *,
    against: Setting = _UNPROTECTED,
    level: float = 0.95,
    kind: Kind = "seeds",
) -> Estimated:
    """Return how much a measure changes from `against` to `setting`, within the same repeats.

    Settings share the rows for training and test and the model's random state in each repeat, so that their
    difference varies less than either.
    """
    owner = "paired_change"
    after, before = (_measure(results, each, measure, owner) for each in (setting, against))
    described = results.plan.task.measure(ALIASES.get(measure, measure))
    return estimated(
        results,
        after - before,
        level=level,
        kind=kind,
        owner=owner,
        within=described.change_limits,
        spread=described.spread,
    )


def group_estimate(
    results: ResultData, setting: Setting, group: str, rate: str, *, level: float = 0.95, kind: Kind = "seeds"
) -> Estimated:
    """Return the mean of a rate of one group, or of its ``"people"``, over the repeats of a setting."""
    owner = "group_estimate"
    runs = _group(results, setting, group, rate, owner)
    described = results.plan.task.group_number(rate)
    return estimated(
        results,
        runs,
        level=level,
        kind=kind,
        owner=owner,
        within=described.limits,
        spread=described.spread_of("unprotected" if setting == _UNPROTECTED else "protected"),
    )


def group_change(
    results: ResultData,
    setting: Setting,
    group: str,
    rate: str,
    *,
    against: Setting = _UNPROTECTED,
    level: float = 0.95,
    kind: Kind = "seeds",
) -> Estimated:
    """Return how much a rate of one group changes from `against` to `setting`, within the same repeats."""
    owner = "group_change"
    after, before = (_group(results, each, group, rate, owner) for each in (setting, against))
    described = results.plan.task.group_number(rate)
    return estimated(
        results,
        after - before,
        level=level,
        kind=kind,
        owner=owner,
        within=described.change_limits,
        spread=described.spread_of("change"),
    )


def data_estimate(
    results: ResultData, setting: Setting, name: str, *, level: float = 0.95, kind: Kind = "seeds"
) -> Estimated:
    """Return the mean disparity of the training labels: ``"true"`` or ``"reported"``."""
    runs = _data(results, setting, name, "data_estimate")
    return estimated(results, runs, level=level, kind=kind, owner="data_estimate")


def data_change(
    results: ResultData, setting: Setting, *, level: float = 0.95, kind: Kind = "seeds"
) -> Estimated:
    """Return how far the reported disparity of the training labels is from the true one, within repeats."""
    owner = "data_change"
    after, before = (_data(results, setting, name, owner) for name in ("reported", "true"))
    return estimated(results, after - before, level=level, kind=kind, owner=owner)


def estimated(
    results: ResultData,
    values: NDArray[np.float64],
    *,
    level: float,
    kind: Kind,
    owner: str,
    within: tuple[float, float] = _ANYTHING,
    spread: Spread = "even",
) -> Estimated:
    """Return the estimate from one value per repeat of the plan, NaN where there is none.

    Limits are cut to the values that are possible, which leaves out no true mean. How the values are spread
    says how far limits reach, see :mod:`evenhand.study.results.spreads`.
    """
    level = check_level(level, owner=owner)
    kind = check_kind(kind, owner=owner)
    found = means_of(values, task=results.plan.task, kind=kind, level=level, spread=spread).within(*within)
    value, error, low, high = (float(each) for each in found[:4])
    runs = int(found.runs)
    left_out = len(values) - runs
    why = "" if kind == "student" else why_no_interval(spread, runs, error=error)
    note = note_of(runs, left_out, error=error, why=why)
    if runs < 2 or why:
        return Estimated(value, None, None, runs, left_out, level, kind, error if runs > 1 else None, note)
    return Estimated(value, low, high, runs, left_out, level, kind, error, note)


def note_of(runs: int, left_out: int, *, error: float, why: str = "") -> str:
    """Return what a reader must know about a mean of so many runs; `why` says why it has no interval."""
    if not runs:
        return "It has no defined value in any repeat."
    notes = []
    if runs == 1:
        notes.append("There is a single repeat, so nothing is known about the spread: no interval.")
    elif error == 0:
        notes.append("All repeats gave the same value.")
    if why:
        notes.append(why)
    if left_out:
        total = runs + left_out
        notes.append(f"{left_out} of {total} repeats have no value (not run, failed or undefined).")
    return " ".join(notes)


def _measure(results: ResultData, setting: Setting, measure: str, owner: str) -> NDArray[np.float64]:
    arrays = results.arrays
    name = measure_named(measure, arrays.measures, parameter="measure", owner=owner)
    runs: NDArray[np.float64] = arrays.of_measures[results.place(setting), :, arrays.measures.index(name)]
    return runs


def _group(results: ResultData, setting: Setting, group: str, rate: str, owner: str) -> NDArray[np.float64]:
    arrays = results.arrays
    at = arrays.groups.index(one_of("group", group, arrays.groups, owner=owner))
    of = arrays.rates.index(one_of("rate", rate, arrays.rates, owner=owner))
    runs: NDArray[np.float64] = arrays.of_groups[results.place(setting), :, at, of]
    return runs


def _data(results: ResultData, setting: Setting, name: str, owner: str) -> NDArray[np.float64]:
    arrays = results.arrays
    at = arrays.data.index(one_of("name", name, arrays.data, owner=owner))
    runs: NDArray[np.float64] = arrays.of_data[results.place(setting), :, at]
    return runs
