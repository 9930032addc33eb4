r"""Data unfairness of the reports, exactly, for every mechanism and epsilon of ghoukasian2024, chapter 5.

With the share :math:`p_i` of people in group :math:`i`, their rate :math:`r_i` of positive labels and the
probability :math:`s_{ij}` that a report of group :math:`i` supports value :math:`j`, the rate among reports
that support :math:`j` is :math:`\sum_i p_i r_i s_{ij} / \sum_i p_i s_{ij}`.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evenhand.collect.fairest.optimum import fairest_channel
from evenhand.collect.fairest.population import printed_channel
from evenhand.collect.protocols.registry import protocol_named
from evenhand.papers.ghoukasian2024_local.plans import BUDGETED, DATA, EPSILONS, GRR, OPT, SS, population
from evenhand.papers.trials import Trials

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

MECHANISMS = "mechanisms"  # the name of the trials, and of their table


class Unfairness(NamedTuple):
    """Both measures of data unfairness: the thesis's Definition 10 and Definition 11."""

    ratio: float
    difference: float


def unfairness(matrix: ArrayLike, weights: ArrayLike, rates: ArrayLike) -> Unfairness:
    """Return the data unfairness of reports.

    `matrix` has the probability that a report of the group of the row supports the value of the column.
    Randomized response at epsilon 1:

    >>> keep = np.e / (1 + np.e)
    >>> found = unfairness([[keep, 1 - keep], [1 - keep, keep]], [0.7, 0.3], [0.2, 0.6])
    >>> round(found.difference, 10)
    0.1607644219
    """
    q, p, r = (np.asarray(each, dtype=float) for each in (matrix, weights, rates))
    total = p @ q
    seen = total > 0
    reported = (p * r) @ q[:, seen] / total[seen]
    return Unfairness(float(np.abs(reported / (p @ r) - 1).max()), float(reported.max() - reported.min()))


def support(way: str, k: int, epsilon: str) -> tuple[NDArray[np.float64], float | None]:
    """Return the matrix of GRR or SS, and how often a report is wrong; None where it is a set of values."""
    made: Any = protocol_named(way)(k, epsilon, **({"as_printed": True} if way == SS else {}))
    matrix = np.full((k, k), float(made.q))
    np.fill_diagonal(matrix, float(made.p))
    single = bool(abs(matrix.sum(axis=1) - 1).max() < 1e-9)
    return matrix, 1 - float(made.p) if single else None


def mechanism_trials(_design: str = "quick") -> Trials:
    """Return the trials: one for each experiment, at all epsilons, whatever the design."""
    return Trials(MECHANISMS, len(DATA), lambda number: experiment_record(tuple(DATA)[number]), "experiment")


def experiment_record(name: str) -> dict[str, Any]:
    """Return the record of one experiment: its people, and every mechanism at every epsilon."""
    people = population(name)
    weights, rates = people.weights, people.rates
    fairest_channel([0.6, 0.4], [0.25, 0.75], 1.5, error="grr")  # load the solver in nobody's time
    ways = {
        way: {epsilon: _of_mechanism(name, way, epsilon, weights, rates) for epsilon in EPSILONS}
        for way in (GRR, SS, OPT, BUDGETED)
    }
    return {
        "name": name,
        "values": list(people.values),
        "people": list(people.people),
        "weights": list(weights),
        "rates": list(rates),
        "true": unfairness(np.eye(len(weights)), weights, rates)._asdict(),
        "ways": ways,
    }


def _of_mechanism(
    name: str, way: str, epsilon: str, weights: Sequence[float], rates: Sequence[float]
) -> Mapping[str, Any]:
    start = time.process_time()
    if way in (GRR, SS):
        matrix, error = support(way, len(weights), epsilon)
    else:
        made: Any = printed_channel(weights, float(epsilon)) if way == OPT and DATA[name].is_binary else None
        if made is None:
            budget: Any = "minimum" if way == OPT else "grr"
            made = fairest_channel(weights, rates, float(epsilon), error=budget).matrix
        matrix = np.asarray(made, dtype=float)
        error = float(1 - np.asarray(weights) @ np.diag(matrix))
    seconds = time.process_time() - start
    marginal = np.asarray(weights) @ matrix
    return {
        **unfairness(matrix, weights, rates)._asdict(),
        "error": error,
        "marginal": (marginal / marginal.sum()).tolist(),
        "matrix": matrix.tolist(),
        "seconds": seconds,
    }
