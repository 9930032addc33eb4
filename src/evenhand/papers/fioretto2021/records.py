"""Reading the trials of fioretto2021, and the rule for its numbers."""

from __future__ import annotations

from functools import reduce
from operator import getitem
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.papers.claims import AGREES, CONTRADICTED, INDISTINCT, Checked
from evenhand.papers.fioretto2021.data import AREAS, CHANCES, TABLES
from evenhand.papers.fioretto2021.trials import ALLOTMENT, DRAWS, LANGUAGE, PROXIES
from evenhand.papers.stored import fill
from evenhand.study.results.estimates import Estimated

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from evenhand.papers.claims import Evidence

    Values = NDArray[np.float64]

ALLOWED = 0.05
"""What a printed amount of money may be off, as a share of it."""


def allotment(evidence: Evidence, name: str = "students") -> Mapping[str, Any]:
    """Return what is known exactly about one of the allotments."""
    return evidence.trials[ALLOTMENT][TABLES.index(name)]


def of_allotment(
    evidence: Evidence, epsilon: str, way: str, measure: str, *, name: str = "students"
) -> float:
    """Return a number about a way to allot at an epsilon."""
    return float(allotment(evidence, name)["epsilons"][epsilon]["summary"][way][measure])


def biases(evidence: Evidence, epsilon: str, way: str) -> Values:
    """Return the exact bias of each district of New York."""
    return np.asarray(allotment(evidence)["epsilons"][epsilon]["bias"][way])


def of_draws(evidence: Evidence, trials: str, epsilon: str, *path: str) -> Values:
    """Return what was drawn at an epsilon, a row for each trial, by the names under which a record has it."""
    records = evidence.trials[trials].values()
    return np.array([reduce(getitem, path, each["epsilons"][epsilon]) for each in records])


def drawn_biases(evidence: Evidence, epsilon: str, way: str) -> Values:
    """Return the average error of each district of New York, over all repetitions that were drawn."""
    return np.asarray(of_draws(evidence, DRAWS, epsilon, way, "bias").mean(axis=0))


def drawn_errors(evidence: Evidence, epsilon: str, way: str, *, place: str = "all") -> Values:
    """Return mean absolute errors of shares, one for each part of the simulation."""
    return of_draws(evidence, DRAWS, epsilon, way, "error" if place == "all" else "error, New York")


def of_proxies(evidence: Evidence, epsilon: str, model: str, measure: str) -> Values:
    """Return a number about a model in figure 7, groupings x groups."""
    groupings = [each["epsilons"][epsilon] for each in evidence.trials[PROXIES].values()]
    return np.array([[row[model][measure] for row in rows] for rows in groupings])


def language(evidence: Evidence, name: str = "determined") -> Mapping[str, Any]:
    """Return what is known exactly about one of the tables of areas."""
    return evidence.trials[LANGUAGE][AREAS.index(name)]


def area_errors(
    evidence: Evidence, epsilon: str, part: str, *, name: str = "determined", touches: str = "1"
) -> Values:
    """Return how often noise turns a part of the rule round, for each area."""
    return np.asarray(language(evidence, name)["errors"][touches][epsilon][part])


def margins(record: Mapping[str, Any]) -> Values:
    """Return how far each area is from being refused, as a part of the threshold that decides.

    >>> margins({"s": [1000], "sp": [60], "spe": [6]}).round(3).tolist()
    [0.2]
    """
    s, sp, spe = (np.asarray(record[column], dtype=float) for column in ("s", "sp", "spe"))
    share, number, schooling = CHANCES
    many = np.maximum(sp / s / share, sp / number)
    little = spe / np.maximum(sp, 1.0) / schooling
    return np.asarray(np.minimum(many, little) - 1.0)


def by_truth(
    record: Mapping[str, Any], errors: Values, first: str, second: str
) -> dict[tuple[bool, bool], tuple[float, int]]:
    """Return the mean error of areas by the true answers of two parts, and how many areas there are."""
    one, two = (np.asarray(record["truth"][part], dtype=bool) for part in (first, second))
    found = {}
    for pair in ((True, True), (True, False), (False, True), (False, False)):
        inside = (one == pair[0]) & (two == pair[1])
        if inside.any():
            found[pair] = float(errors[inside].mean()), int(inside.sum())
    return found


def check_number(ours: float, paper: str) -> Checked:
    """Check a number against the printed one: it must round to it.

    >>> check_number(0.00305, "0.003").verdict, check_number(0.0035001, "0.003").verdict
    ('agrees', 'contradicted')
    """
    unit = 10.0 ** -len(paper.partition(".")[2])
    same_as_nothing = INDISTINCT if float(paper) <= unit / 2 else AGREES
    verdict = same_as_nothing if abs(ours - float(paper)) <= unit / 2 * (1 + 1e-9) else CONTRADICTED
    why = f"Ours is {ours:.3g}; without noise it is 0."
    return Checked(verdict, why, Estimated(ours), paper, float(paper))


def check_amount(ours: float, paper: float) -> Checked:
    """Check an amount in dollars: it may be off by :data:`ALLOWED` of the printed one."""
    off = ours / paper - 1
    sentence = "Ours is ${ours:,.0f}, off by {off:+.1%}, allowed {most:.0%}."
    why = fill(sentence, ours=ours, off=off, most=ALLOWED)
    printed = f"${paper:,.1f}".removesuffix(".0")
    return Checked(AGREES if abs(off) <= ALLOWED else CONTRADICTED, why, Estimated(ours), printed, paper)
