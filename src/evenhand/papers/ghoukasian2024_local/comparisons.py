"""Comparisons behind the claims on figures 5.1 to 5.10: which mechanism, which measure, which difference.

And how far the data unfairness of reports predicts the gaps of a classifier that is trained on them.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evenhand.papers import comparisons
from evenhand.papers.comparisons import group_rates, mean_of, rank_correlation
from evenhand.papers.ghoukasian2024_local.mechanisms import MECHANISMS
from evenhand.papers.ghoukasian2024_local.plans import BUDGETED, GRR, LABELS, OPT, SS, way_of
from evenhand.study.plan.cells import Setting

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evenhand.papers.claims import Evidence
    from evenhand.papers.comparisons import Runs
    from evenhand.study.results.estimates import Estimated
    from evenhand.study.results.results import Results

EO = "eo"  # the equal-opportunity gap: the largest difference of true positive rates between two groups

GAPS = ("sp_gap", EO)
UTILITY = ("acc", "f1")

NONE = "none"  # no protection, as a mechanism among the others
SHARE = (0.0, 1.0)  # where accuracies and gaps lie
# Up to and from which epsilon the thesis's words "smaller" and "larger" are taken to go
SMALL, LARGE = Fraction(1, 2), Fraction(4)


def epsilons(
    results: Results, *, least: Fraction = Fraction(0), most: Fraction | float = math.inf
) -> tuple[Fraction, ...]:
    """Return the epsilons of a study between two limits."""
    task: Any = results.plan.task
    return tuple(each for each in sorted(task.epsilons) if least <= each <= most)


def limits(results: Results, which: str) -> dict[str, Any]:
    """Return the limits of all, small, large or only the last epsilons of a study."""
    every = {"small": {"most": SMALL}, "large": {"least": LARGE}, "last": {"least": epsilons(results)[-1]}}
    return every.get(which, {})


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
    if measure == EO:
        rates = group_rates(results, setting, "tpr")
        gap: Runs = rates.max(axis=1) - rates.min(axis=1)
        return gap
    return comparisons.values(results, setting, measure)


def smaller(
    results: Results,
    way: str,
    others: Sequence[str],
    measures: Sequence[str],
    *,
    times: float = 1.0,
    by: float = 0.0,
    **limits: Fraction,
) -> list[Estimated]:
    """Return by how much measures of a mechanism are below `times` those of others, less `by`.

    There is one for each epsilon between the limits, other mechanism and measure.
    """

    def runs(each: str, epsilon: Fraction, measure: str) -> Runs:
        return values(results, at(results, each, epsilon), measure)

    return [
        mean_of(results, times * runs(other, epsilon, measure) - runs(way, epsilon, measure) - by)
        for epsilon in epsilons(results, **limits)
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


# The gaps: of predicted positives, and of true or false positive rates, whichever is larger
PREDICTED = {"sp_gap": "Statistical-parity gap", "eo_gap": "Equalised-odds gap"}

_FEWEST = 4


class Predicted(NamedTuple):
    """One setting: the data unfairness of its reports, and the gaps after training."""

    way: str
    epsilon: float | None
    unfairness: float
    runs: Runs

    @property
    def words(self) -> str:
        """What the setting is, for the tip of a mark."""
        if self.epsilon is None:
            return "unprotected"
        return f"{LABELS[self.way]}, \N{GREEK SMALL LETTER EPSILON} = {self.epsilon:g}"


def record_of(evidence: Evidence, name: str) -> Mapping[str, Any] | None:
    """Return the record of an experiment's mechanisms, or None if it was not made."""
    found = evidence.trials.get(MECHANISMS, {}).values()
    return next((record for record in found if record["name"] == name), None)


def predictions(results: Results, record: Mapping[str, Any], measure: str) -> list[Predicted]:
    """Return every setting of a study, the unprotected one first."""
    ways = [(NONE, None), *((way, each) for way in (GRR, SS, OPT, BUDGETED) for each in epsilons(results))]
    found = []
    for way, epsilon in ways:
        amount = None if epsilon is None else float(epsilon)
        told = record["true"] if amount is None else record["ways"][way][f"{amount:g}"]
        runs = values(results, at(results, way, epsilon), measure)
        found.append(Predicted(way, amount, told["ratio"], runs))
    return found


def correlation(results: Results, record: Mapping[str, Any], measure: str) -> Estimated:
    """Return the rank correlation of data unfairness and gap over all settings, averaged over repeats.

    Each repeat has its own correlation, so that the interval covers what repeats vary. NaN where there are
    fewer than four settings.
    """
    listed = predictions(results, record, measure)
    across = [each.unfairness for each in listed]
    gaps = np.array([each.runs for each in listed])
    found = np.full(gaps.shape[1], np.nan)
    for repeat, gap in enumerate(gaps.T):
        if len(listed) >= _FEWEST and np.isfinite(gap).all() and np.ptp(gap) > 0:
            found[repeat] = rank_correlation(across, gap)
    return mean_of(results, found, within=(-1.0, 1.0))
