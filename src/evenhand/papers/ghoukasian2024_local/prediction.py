"""How far the data unfairness of reports predicts the gaps of a classifier that is trained on them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evenhand.papers.ghoukasian2024_local.checks import NONE, at, epsilons, mean_of, values
from evenhand.papers.ghoukasian2024_local.mechanisms import MECHANISMS
from evenhand.papers.ghoukasian2024_local.plans import BUDGETED, GRR, OPT, SS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from evenhand.papers.claims import Evidence
    from evenhand.study.results.estimates import Estimated
    from evenhand.study.results.results import Results

__all__ = ["PREDICTED", "Predicted", "correlation", "predictions", "record_of"]

PREDICTED = {"sp_gap": "Statistical-parity gap", "eo_gap": "Equalised-odds gap"}
"""The gaps: of predicted positives, and of true or false positive rates, whichever is larger."""

_FEWEST = 4


class Predicted(NamedTuple):
    """One setting: the data unfairness of its reports, and the gaps after training."""

    way: str
    epsilon: float | None
    unfairness: float
    runs: NDArray[np.float64]


def record_of(evidence: Evidence, name: str) -> Mapping[str, Any] | None:
    """Return the record of an experiment's mechanisms, or None if it was not made."""
    found = evidence.trials.get(MECHANISMS, {}).values()
    return next((record for record in found if record["name"] == name), None)


def predictions(results: Results, record: Mapping[str, Any], measure: str) -> list[Predicted]:
    """Return every setting of a study, the unprotected one first."""
    found = [
        Predicted(NONE, None, record["true"]["ratio"], values(results, at(results, NONE, None), measure))
    ]
    for way in (GRR, SS, OPT, BUDGETED):
        for epsilon in epsilons(results):
            told = record["ways"][way][f"{float(epsilon):g}"]["ratio"]
            runs = values(results, at(results, way, epsilon), measure)
            found.append(Predicted(way, float(epsilon), told, runs))
    return found


def correlation(results: Results, record: Mapping[str, Any], measure: str) -> Estimated:
    """Return the rank correlation of data unfairness and gap over all settings, averaged over repeats.

    Each repeat has its own correlation, so that the interval covers what repeats vary. NaN where there are
    fewer than four settings.
    """
    listed = predictions(results, record, measure)
    across = _ranks(np.array([each.unfairness for each in listed]))
    gaps = np.array([each.runs for each in listed])
    found = np.full(gaps.shape[1], np.nan)
    for repeat, gap in enumerate(gaps.T):
        if len(listed) >= _FEWEST and np.isfinite(gap).all() and np.ptp(gap) > 0:
            found[repeat] = np.corrcoef(across, _ranks(gap))[0, 1]
    return mean_of(results, found, within=(-1.0, 1.0))


def _ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the place of each value in order, the mean place for equal ones.

    >>> _ranks(np.array([0.3, 0.1, 0.3, 0.2])).tolist()
    [3.5, 1.0, 3.5, 2.0]
    """
    _, place, number = np.unique(values, return_inverse=True, return_counts=True)
    found: NDArray[np.float64] = (np.cumsum(number) - (number - 1) / 2)[place]
    return found
