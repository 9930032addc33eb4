"""The tables of fioretto2021, school districts and counties with their language groups, and its numbers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evenhand import datasets
from evenhand.datasets.entries.counties import covered
from evenhand.measure.repeat_means import Estimated
from evenhand.papers.claims import AGREES, CONTRADICTED, INDISTINCT, Checked
from evenhand.papers.paper import fill, read_printed, read_toml
from evenhand.papers.trials import read_path

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from evenhand.papers.claims import Evidence
    from evenhand.papers.trials import Values

_STUDY = read_toml(__package__, "paper.toml")["study"]

EPSILONS, LANGUAGE_EPSILONS = tuple(_STUDY["epsilons"]), tuple(_STUDY["language_epsilons"])
TABLES, AREAS, CHANCES, STRENGTHS = (
    tuple(_STUDY[key]) for key in ("tables", "areas", "chances", "strengths")
)
BUDGET, LEAST, STATE, YEAR = (_STUDY[key] for key in ("budget", "least", "state", "year"))
"""What the paper's figures are about; ``paper.toml`` says what each is."""

PLAIN, CLAMP, PROXY = "plain", "clamp", "proxy"
"""Ways to allot: noisy counts as they are, clamped at 0, and the linear proxy."""

ALLOTMENT, LANGUAGE = "allotment", "language"
DRAWS, LANGUAGE_DRAWS, COUNTY_DRAWS, PROXIES = "draws", "language-draws", "counties", "proxies"
"""The trials by name."""

BOUNDS = {row["epsilon"]: row["bound"] for row in read_printed(__package__, "example-1")}
AVERAGE = {row["epsilon"]: row["average"] for row in read_printed(__package__, "example-1")}
"""Fairness bounds and average misallocations of Example 1 in dollars, by the epsilon they are printed for."""


class County(NamedTuple):
    """One of the three counties of figure 4: sp and s as printed."""

    name: str
    sp: int
    s: int

    @property
    def ratio(self) -> float:
        """The share as it is."""
        return self.sp / self.s


COUNTIES = tuple(
    County(row["county"], int(row["sp"]), int(row["s"])) for row in read_printed(__package__, "counties")
)
"""The counties of figure 4, left and middle."""


@dataclass(frozen=True, eq=False)
class Districts:
    """An allotment's entities; New York's are chosen, and those with nobody to count are left out."""

    counts: NDArray[np.int64]
    weights: NDArray[np.int64]
    chosen: NDArray[np.bool_]

    @property
    def total(self) -> float:
        """The normalising sum."""
        return float(np.sum(self.counts.astype(float) * self.weights))

    @property
    def shares(self) -> Values:
        """The true allotment."""
        return self.counts.astype(float) * self.weights / self.total


@dataclass(frozen=True, eq=False)
class Areas:
    """The rule's entities, what the rule says of them, and whose counts are simulated.

    The columns are citizens `s`, those with limited English `sp`, and those of them with little schooling.
    """

    names: NDArray[Any]
    columns: dict[str, NDArray[np.int64]]
    covered: NDArray[np.bool_]
    drawn: NDArray[np.bool_]


@lru_cache(maxsize=3)
def load_districts(name: str) -> Districts:
    """Return the entities of one of :data:`TABLES`."""
    poor = name == "poverty"
    options: dict[str, Any] = {"state": "all" if name == "students" else STATE}
    frame = datasets.load("title1", **({"version": "saipe", "year": YEAR} if poor else options)).frame
    counts = np.asarray(frame["poverty_5_17" if poor else "num_students"], dtype=np.int64)
    known = counts > 0
    weights = np.asarray(frame["exp_index"], dtype=np.int64)
    chosen = np.asarray(np.asarray(frame["state"], dtype=object) == STATE, dtype=bool)
    return Districts(counts[known], weights[known], chosen[known])


@lru_cache(maxsize=2)
def load_areas(name: str) -> Areas:
    """Return the entities of one of :data:`AREAS`."""
    frame = datasets.load("section203", version=name).frame
    columns = {column: np.asarray(frame[column], dtype=np.int64) for column in ("s", "sp", "spe")}
    drawn = np.asarray(frame["simulated"] if name == "simulated" else np.zeros(len(columns["s"])), dtype=bool)
    return Areas(np.asarray(frame["area"], dtype=object), columns, covered(**columns), drawn)


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
    return read_path(evidence.trials[trials], "epsilons", epsilon, *path)


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
    sentence = "Ours is ${ours:,.0f}, off by {off:+.1%}, allowed {most:.0%}; without noise it is $0."
    why = fill(sentence, ours=ours, off=off, most=ALLOWED)
    printed = f"${paper:,.1f}".removesuffix(".0")
    return Checked(AGREES if abs(off) <= ALLOWED else CONTRADICTED, why, Estimated(ours), printed, paper)
