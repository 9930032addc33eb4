"""Comparisons behind the claims on figures 5.1 to 5.10: which mechanism, which measure, which difference."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from evenhand.papers.ghoukasian2024_local.plans import way_of
from evenhand.study.plan.cells import Setting
from evenhand.study.results.estimates import estimated

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from evenhand.study.results.estimates import Estimated
    from evenhand.study.results.results import Results

    Runs = NDArray[np.float64]

__all__ = [
    "EO",
    "GAPS",
    "LARGE",
    "NONE",
    "SHARE",
    "SMALL",
    "UTILITY",
    "at",
    "epsilons",
    "mean_of",
    "smaller",
    "values",
    "widening",
]

EO = "eo"
"""The equal-opportunity gap: the largest difference of true positive rates between two groups."""

GAPS = ("sp_gap", EO)
UTILITY = ("acc", "f1")

NONE = "none"
"""No protection, as a mechanism among the others."""

SHARE = (0.0, 1.0)
"""Where accuracies and gaps lie."""

SMALL, LARGE = Fraction(1, 2), Fraction(4)
"""Up to and from which epsilon the thesis's words "smaller" and "larger" are taken to go."""


def epsilons(
    results: Results, *, least: Fraction | None = None, most: Fraction | None = None
) -> tuple[Fraction, ...]:
    """Return the epsilons of a study between two limits."""
    task: Any = results.plan.task
    return tuple(
        each
        for each in sorted(task.epsilons)
        if (least is None or each >= least) and (most is None or each <= most)
    )


def at(results: Results, way: str, epsilon: Fraction | None) -> Setting:
    """Return the setting of a mechanism at an epsilon; the unprotected one for :data:`NONE`."""
    if way == NONE:
        return Setting()
    return next(
        each
        for each in results.settings
        if each.is_protected and each.epsilon == epsilon and way_of(each) == way
    )


def values(results: Results, setting: Setting, measure: str) -> Runs:
    """Return a measure of a setting, one value per repeat; :data:`EO` is made of the groups' rates.

    In a repeat where a group has no positive label in the test rows, that gap is undefined.
    """
    arrays = results.arrays
    place = results.place(setting)
    if measure == EO:
        rates = arrays.of_groups[place, :, :, arrays.rates.index("tpr")]
        gap: Runs = rates.max(axis=1) - rates.min(axis=1)
        return gap
    found: Runs = arrays.of_measures[place, :, arrays.measures.index(measure)]
    return found


def mean_of(
    results: Results, runs: Runs, *, within: tuple[float, float] = (-math.inf, math.inf)
) -> Estimated:
    """Return the mean over repeats of a value per repeat, its interval cut to what is possible."""
    return estimated(results, runs, level=0.95, kind="student", owner="claim", within=within)


def smaller(
    results: Results,
    way: str,
    others: Sequence[str],
    measures: Sequence[str],
    *,
    least: Fraction | None = None,
    most: Fraction | None = None,
    times: float = 1.0,
    by: float = 0.0,
) -> list[Estimated]:
    """Return by how much measures of a mechanism are below `times` those of others, less `by`.

    There is one for each epsilon between the limits, other mechanism and measure.
    """
    return [
        mean_of(
            results,
            times * values(results, at(results, other, epsilon), measure)
            - values(results, at(results, way, epsilon), measure)
            - by,
        )
        for epsilon in epsilons(results, least=least, most=most)
        for other in others
        for measure in measures
    ]


def widening(results: Results, way: str, others: Sequence[str], measures: Sequence[str]) -> list[Estimated]:
    """Return by how much a mechanism's lead at each large epsilon is ahead of that at the smallest one."""
    first = epsilons(results)[0]

    def lead(epsilon: Fraction, other: str, measure: str) -> Runs:
        against, own = (values(results, at(results, each, epsilon), measure) for each in (other, way))
        return against - own

    return [
        mean_of(results, lead(epsilon, other, measure) - lead(first, other, measure))
        for epsilon in epsilons(results, least=LARGE)
        for other in others
        for measure in measures
        if first <= SMALL
    ]
