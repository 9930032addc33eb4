"""What fairness costs in truthfulness: the range of errors that matters, and the unfairness along it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from evenhand._validate import integer, one_of
from evenhand.collect.fairest.highs import Solver
from evenhand.collect.fairest.optimum import LEAST_SLACK, extremes_of, unfairness_unit
from evenhand.collect.fairest.population import (
    KINDS,
    channel_error,
    population,
    read_only,
    require_outcome,
    unfairness_of,
)
from evenhand.collect.fairest.program import ChannelProgram
from evenhand.collect.fairest.rounding import repair
from evenhand.collect.fairest.search import largest_deviations, least_difference, least_limit, mix_extremes

if TYPE_CHECKING:
    import numpy.typing as npt

    from evenhand.collect.fairest.optimum import Progress
    from evenhand.collect.fairest.population import Kind, Matrix, Vector
    from evenhand.collect.fairest.search import Extremes, SearchResult

__all__ = ["ErrorRange", "Frontier", "error_range", "frontier"]

_LOOKS = 6
_PER_POINT: dict[Kind, int] = {"ratio": 4, "difference": 30}


class ErrorRange(NamedTuple):
    """Error probabilities that matter at one epsilon.

    Attributes
    ----------
    least : float
        The smallest that any channel has.
    grr : float
        That of generalized randomized response.
    fair : float
        The smallest that a channel without unfairness has.
    """

    least: float
    grr: float
    fair: float


@dataclass(frozen=True, eq=False)
class Frontier:
    """The least unfairness for each of several error budgets, from the least error to no unfairness.

    Attributes
    ----------
    errors : ndarray
        Error budgets, rising.
    unfairnesses : ndarray
        Unfairness of the best channel found for each, which never rises.
    bounds : ndarray
        Certified lower bounds of the least unfairness.
    kind : {"ratio", "difference"}
        Which unfairness is meant.
    """

    errors: Vector
    unfairnesses: Vector
    bounds: Vector
    kind: Kind


def error_range(weights: npt.ArrayLike, rates: npt.ArrayLike, epsilon: object) -> ErrorRange:
    """Return the smallest error of all, that of generalized randomized response, and the smallest fair one.

    Parameters
    ----------
    weights, rates : array-like of shape (k,)
        Share of each group, and share with outcome 1 in it.
    epsilon : number
        Privacy parameter, > 0.

    Examples
    --------
    >>> least, grr, fair = error_range([0.5, 0.3, 0.2], [0.7, 0.4, 0.2], epsilon=1)
    >>> print(f"{least:.4f} {grr:.4f} {fair:.4f}")
    0.4202 0.4239 0.5777
    """
    owner = "error_range"
    people = population(weights, rates, epsilon, owner=owner).rounded
    ends = extremes_of(people, Solver(), owner=owner)
    return ErrorRange(ends.least, people.grr_error, ends.fair_error)


def frontier(
    weights: npt.ArrayLike,
    rates: npt.ArrayLike,
    epsilon: object,
    *,
    points: int = 20,
    kind: Kind = "ratio",
    progress: Progress | None = None,
) -> Frontier:
    """Return the least unfairness for error budgets from the least feasible one to the fair one.

    Parameters
    ----------
    weights, rates : array-like of shape (k,)
        Share of each group, and share with outcome 1 in it.
    epsilon : number
        Privacy parameter, > 0.
    points : int, default 20
        How many error budgets, at least 2, equally spaced.
    kind : {"ratio", "difference"}, default "ratio"
        Which unfairness to minimise.
    progress : callable, optional
        Called after each linear program with how many were solved and about how many there will be.

    Examples
    --------
    >>> found = frontier([0.7, 0.3], [0.2, 0.6], epsilon=1, points=4)
    >>> found.errors.round(3), found.unfairnesses.round(3)
    (array([0.269, 0.346, 0.423, 0.5  ]), array([0.298, 0.167, 0.068, 0.   ]))
    """
    owner = "frontier"
    people = population(weights, rates, epsilon, owner=owner).rounded
    points = integer("points", points, owner=owner, low=2)
    kind = one_of("kind", kind, KINDS, owner=owner)
    if kind == "ratio":
        require_outcome(people, owner=owner)
    solver = Solver(progress, expected=2 + points * _PER_POINT[kind])
    ends = extremes_of(people, solver, owner=owner)
    program, errors = ChannelProgram(people), np.linspace(ends.least, ends.fair_error, points)
    unfairnesses, bounds, before = [], [], ends.truthful
    for budget in errors[:-1]:
        spent = max(float(budget), ends.least + LEAST_SLACK)
        if spent >= ends.fair_error:  # every channel is fair
            unfairnesses.append(0.0)
            bounds.append(0.0)
            continue
        best = _point(program, solver, _beginning(program, ends, before, spent), spent, kind)
        unfairnesses.append(unfairness_of(repair(best.matrix, people), people, kind, owner=owner))
        bounds.append(unfairness_unit(program, kind) * best.bound)
        before = best.matrix
    falling = np.minimum.accumulate([*unfairnesses, 0.0])
    return Frontier(
        read_only(errors), read_only(falling), read_only(np.minimum([*bounds, 0.0], falling)), kind
    )


def _point(program: ChannelProgram, solver: Solver, first: Matrix, budget: float, kind: Kind) -> SearchResult:
    if kind == "ratio":
        return least_limit(program, solver, first, budget, owner="frontier")
    return least_difference(program, solver, first, budget, looks=_LOOKS, owner="frontier")


def _beginning(program: ChannelProgram, ends: Extremes, before: Matrix, budget: float) -> Matrix:
    """Return the better of two mixtures that use up the budget: with the point before, or both ends."""
    spent = channel_error(before, program.people)
    share = min(max((budget - spent) / max(ends.fair_error - spent, LEAST_SLACK), 0.0), 1.0)
    mixed = (1 - share) * before + share * ends.fair
    return min(
        (mixed, mix_extremes(ends, budget)), key=lambda matrix: max(largest_deviations(program, matrix))
    )
