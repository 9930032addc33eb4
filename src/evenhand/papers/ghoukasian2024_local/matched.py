"""Reading the trials of tables 5.1 to 5.4: OPT beside the point of a curve that has the same gap."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.study.results.estimates import Estimated
from evenhand.study.results.intervals import means

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    Runs = NDArray[np.float64]
    Records = Mapping[int, Mapping[str, Any]]

__all__ = ["Matched", "estimated", "matched_on_test", "matched_on_training", "of_none", "of_opt", "seconds"]

_LEVEL = 0.95


@dataclass(frozen=True, eq=False)
class Matched:
    """A point of Fair Projection's curve in every split.

    Parameters
    ----------
    acc, gap : array
        Accuracy and gap on the test rows, a value per split.
    tolerance : array
        Where on the curve; the same in all splits if it was chosen for all together.
    seconds : array
        CPU time of a projection there, with the decisions of all rows.
    """

    acc: Runs
    gap: Runs
    tolerance: Runs
    seconds: Runs


def estimated(values: Runs) -> Estimated:
    """Return the mean of one value per split, with its t interval.

    >>> estimated(np.array([0.1, 0.3])).value
    0.2
    """
    found = means(np.asarray(values, dtype=float), level=_LEVEL, extra=0.0)
    value, error, low, high = (float(each) for each in found[:4])
    runs = int(found.runs)
    left = len(values) - runs
    if runs < 2:
        return Estimated(value, None, None, runs, left)
    return Estimated(value, low, high, runs, left, _LEVEL, "seeds", error)


def _column(records: Records, *path: str) -> Runs:
    found = []
    for record in records.values():
        value: Any = record
        for key in path:
            value = value[key]
        found.append(value)
    return np.asarray(found, dtype=float)


def of_none(records: Records, measure: str) -> Runs:
    """Return a measure on the test rows without any intervention, a value per split."""
    return _column(records, "none", "test", measure)


def of_opt(records: Records, epsilon: str, measure: str, *, part: str = "test") -> Runs:
    """Return a measure of OPT, a value per split."""
    return _column(records, "opt", epsilon, part, measure)


def seconds(records: Records, epsilon: str) -> Runs:
    """Return the CPU time that OPT takes before training: finding the mechanism and drawing all reports."""
    return _column(records, "opt", epsilon, "seconds", "protect")


def _curve(records: Records, kind: str, divergence: str, column: str) -> Runs:
    """Return a column of the curves, splits x tolerances."""
    return _column(records, "projection", kind, divergence, column)


def matched_on_test(records: Records, kind: str, divergence: str, target: float) -> Matched:
    """Return the point at which the mean gap of the test rows is the target: the thesis's way.

    One tolerance serves all splits: the largest at which the mean gap is the target, between two tolerances
    that were computed in proportion. Where the target is beyond the curve, its end is taken.
    """
    tolerances = _curve(records, kind, divergence, "tolerance")[0]
    gaps, acc, took = (
        _curve(records, kind, divergence, column) for column in (f"test_{kind}", "test_acc", "seconds")
    )
    left, share = _crossing(gaps.mean(axis=0), target)
    right = min(left + 1, len(tolerances) - 1)
    between = [(1 - share) * each[:, left] + share * each[:, right] for each in (acc, gaps, took)]
    tolerance = (1 - share) * tolerances[left] + share * tolerances[right]
    return Matched(between[0], between[1], np.full(len(acc), tolerance), between[2])


def _crossing(curve: Runs, target: float) -> tuple[int, float]:
    """Return the last place where a curve crosses a target, and how far it is to the next place."""
    above = curve >= target
    crossings = np.flatnonzero(above[1:] != above[:-1])
    if not len(crossings):
        return (0, 0.0) if above.all() else (len(curve) - 1, 0.0)
    left = int(crossings[-1])
    rise = curve[left + 1] - curve[left]
    return left, float((target - curve[left]) / rise)


def matched_on_training(records: Records, kind: str, divergence: str, epsilon: str) -> Matched:
    """Return the point that each split's own training rows choose: no test row is looked at.

    It is the largest tolerance at which the gap of the training rows is not above that of OPT there; the
    smallest gap where there is none.
    """
    targets = of_opt(records, epsilon, kind, part="train")
    tolerances = _curve(records, kind, divergence, "tolerance")
    train = _curve(records, kind, divergence, f"train_{kind}")
    places = []
    for gaps, target in zip(train, targets, strict=True):
        fit = np.flatnonzero(gaps <= target)
        places.append(int(fit[-1]) if len(fit) else int(gaps.argmin()))
    at = np.arange(len(places)), np.asarray(places)
    acc, gap, took = (
        _curve(records, kind, divergence, column)[at] for column in ("test_acc", f"test_{kind}", "seconds")
    )
    return Matched(acc, gap, tolerances[at], took)
