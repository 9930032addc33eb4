"""Comparisons within the repeats of a study: what most findings in words are made of."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from evenhand.study.results.estimates import estimated

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from evenhand.study.plan.cells import Setting
    from evenhand.study.results.estimates import Estimated
    from evenhand.study.results.results import Results

    Runs = NDArray[np.float64]

__all__ = ["group_rates", "mean_of", "values"]


def values(results: Results, setting: Setting, measure: str) -> Runs:
    """Return a measure of a setting, one value per repeat."""
    arrays = results.arrays
    found: Runs = arrays.of_measures[results.place(setting), :, arrays.measures.index(measure)]
    return found


def group_rates(results: Results, setting: Setting, rate: str) -> Runs:
    """Return a rate of every group, repeats x groups."""
    arrays = results.arrays
    found: Runs = arrays.of_groups[results.place(setting), :, :, arrays.rates.index(rate)]
    return found


def mean_of(
    results: Results, runs: Runs, *, within: tuple[float, float] = (-math.inf, math.inf)
) -> Estimated:
    """Return the mean over repeats of a value per repeat, its t interval cut to what is possible."""
    return estimated(results, runs, level=0.95, kind="student", owner="claim", within=within)
