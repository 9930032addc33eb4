"""Comparisons within the repeats of a study: what most findings in words are made of."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import rankdata

from evenhand.papers.rules import RULES
from evenhand.study.results.estimates import estimated

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from evenhand.papers.claims import Checked, Evidence
    from evenhand.study.plan.cells import Setting
    from evenhand.study.results.estimates import Estimated
    from evenhand.study.results.results import Results

    Runs = NDArray[np.float64]


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


def of_each(compare: Callable[[Results, Setting, str], Runs]) -> Callable[..., list[Runs]]:
    """Return a comparison of many settings and measures, made of one that compares a single setting."""

    def comparison(results: Results, settings: Sequence[Setting], measures: Sequence[str]) -> list[Runs]:
        return [compare(results, setting, measure) for setting in settings for measure in measures]

    return comparison


def rank_correlation(first: Any, second: Any) -> float:
    """Return the rank correlation, ties sharing their rank.

    >>> round(rank_correlation([1, 2, 3], [9, 4, 1]), 9)
    -1.0
    """
    return float(np.corrcoef(rankdata(first), rankdata(second))[0, 1])


def check_finding(
    comparisons: Mapping[str, Callable[..., list[Runs]]],
    choose: Callable[..., list[Setting]],
    evidence: Evidence,
    *,
    studies: Sequence[str],
    compare: str,
    of: Sequence[str],
    rule: str = "mostly",
    settings: Mapping[str, Any] | None = None,
    options: Mapping[str, Any] | None = None,
    **of_rule: Any,
) -> Checked:
    """Check by a rule comparisons that are made in each study and judged together.

    A comparison takes results, settings and what `of` names, the measures or rates, and returns differences,
    one value per repeat. `choose` takes results and what `settings` has; `options` are of the comparison.
    """
    found = []
    for name in studies:
        results = evidence.studies[name]
        chosen = choose(results, **(settings or {}))
        found += [
            mean_of(results, runs) for runs in comparisons[compare](results, chosen, of, **(options or {}))
        ]
    return RULES[rule](found, **of_rule)
