"""The tables of fioretto2021, school districts and counties with their language groups, and its numbers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evenhand import datasets
from evenhand.datasets.entries.counties import covered
from evenhand.papers.stored import read_printed, read_toml

if TYPE_CHECKING:
    from numpy.typing import NDArray

_STUDY = read_toml(__package__, "paper.toml")["study"]

EPSILONS, LANGUAGE_EPSILONS = tuple(_STUDY["epsilons"]), tuple(_STUDY["language_epsilons"])
TABLES, AREAS, CHANCES, STRENGTHS = (
    tuple(_STUDY[key]) for key in ("tables", "areas", "chances", "strengths")
)
BUDGET, LEAST, STATE, YEAR = (_STUDY[key] for key in ("budget", "least", "state", "year"))
"""What the paper's figures are about; ``paper.toml`` says what each is."""

PLAIN, CLAMP, PROXY = "plain", "clamp", "proxy"
"""Ways to allot: noisy counts as they are, clamped at 0, and the linear proxy."""

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
    left_out: int = 0

    @property
    def total(self) -> float:
        """The normalising sum."""
        return float(np.sum(self.counts.astype(float) * self.weights))

    @property
    def shares(self) -> NDArray[np.float64]:
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
    return Districts(counts[known], weights[known], chosen[known], int((~known).sum()))


@lru_cache(maxsize=2)
def load_areas(name: str) -> Areas:
    """Return the entities of one of :data:`AREAS`."""
    frame = datasets.load("section203", version=name).frame
    columns = {column: np.asarray(frame[column], dtype=np.int64) for column in ("s", "sp", "spe")}
    drawn = np.asarray(frame["simulated"] if name == "simulated" else np.zeros(len(columns["s"])), dtype=bool)
    return Areas(np.asarray(frame["area"], dtype=object), columns, covered(**columns), drawn)
