"""The settings of a study as options of a table of effects, and which of them the page is about."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.answer.effects import Observation, Option
from evenhand.study.plan.cells import Setting

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from evenhand.study.results.base import ResultData

    Runs = NDArray[np.float64]

BASELINE = Setting()


def options_of(
    results: ResultData,
    page: Setting,
    *,
    reference: Callable[[Setting], Setting] = lambda _: BASELINE,
    is_remedy: Callable[[Setting], bool],
    simplicity: Callable[[Setting], int] | None = None,
) -> tuple[Option, ...]:
    """Return every setting as an option, the unprotected one first.

    By default, what the plan names earlier is simpler. A step of which no run is finished yet is none.
    """
    plain = str(BASELINE)
    options = [Option(plain)]
    for place, setting in enumerate(each for each in results.settings if each.is_protected):
        step = reference(setting)
        step = step if results.arrays.done[results.place(step)].any() else BASELINE
        options.append(
            Option(
                str(setting),
                plain if step == setting else str(step),
                epsilon=math.inf if setting.epsilon is None else float(setting.epsilon),
                delta=float(np.nan_to_num(largest_run(results, setting, "delta"))),
                method=setting.label,
                is_remedy=setting != page and is_remedy(setting),
                simplicity=place if simplicity is None else simplicity(setting),
            )
        )
    return tuple(options)


def see(
    setting: Setting, group: str, effect: str, after: Runs, due: Runs, people: float, **more: Any
) -> Observation:
    """Return an observation of a setting; nothing is stored of it where it has no value in any repeat."""
    if not (np.isfinite(after) & np.isfinite(due)).any():
        after = due = np.array([])
    return Observation(str(setting), group, effect, after, due, people, **more)


def mean_of(values: Runs) -> float:
    """Return the mean of what is defined; NaN where nothing is."""
    return float(np.nanmean(values)) if np.isfinite(values).any() else math.nan


def measure_runs(results: ResultData, setting: Setting, measure: str) -> Runs:
    """Return a measure of a setting in each repeat."""
    arrays = results.arrays
    runs: Runs = arrays.of_measures[results.place(setting), :, arrays.measures.index(measure)]
    return runs


def group_runs(results: ResultData, setting: Setting, group: str, rate: str) -> Runs:
    """Return a number of a group under a setting in each repeat; NaN before any run has told it."""
    arrays = results.arrays
    if group not in arrays.groups or rate not in arrays.rates:
        return np.full(arrays.of_groups.shape[1], np.nan)
    at = arrays.groups.index(group), arrays.rates.index(rate)
    runs: Runs = arrays.of_groups[results.place(setting), :, at[0], at[1]]
    return runs


def largest_run(results: ResultData, setting: Setting, measure: str) -> float:
    """Return the largest value of a measure in any repeat; NaN where there is none."""
    if measure not in results.arrays.measures:
        return math.nan
    runs = measure_runs(results, setting, measure)
    return float(np.nanmax(runs)) if np.isfinite(runs).any() else math.nan
