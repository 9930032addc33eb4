r"""The fairest channel within an error budget, by a few linear programs and with a certificate.

For a fixed limit :math:`t` the channels with :math:`|n_a| \le t\, m_a` are a polytope, so the unfairness is
quasi-convex and every local optimum is global. The limit comes down by Dinkelbach's method in the scaling
of Crouzeix, Ferland and Schaible, which converges faster than linearly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evenhand.collect.fairest.highs import SIMPLEX_GROUPS

if TYPE_CHECKING:
    from evenhand.collect.fairest.highs import Solver
    from evenhand.collect.fairest.population import Matrix, Vector
    from evenhand.collect.fairest.program import ChannelProgram, Tilt
    from evenhand.collect.fairest.rows import Program

__all__ = ["Extremes", "Found", "extremes", "least_limit", "sides", "start", "step_bound", "tilted"]

_STEPS = 40
_ENOUGH = 1e-10
_IGNORED = 1e-8
_FAR = 1e-7
_BY_POINTS, _BY_CORNERS = SIMPLEX_GROUPS, 60


@dataclass(frozen=True, eq=False)
class Extremes:
    """The most truthful channel of all, and the most truthful one without unfairness, with their errors.

    `solves` says how many linear programs both took.
    """

    truthful: Matrix
    least: float
    fair: Matrix
    fair_error: float
    solves: int


@dataclass(frozen=True, eq=False)
class Found:
    """A channel, its limit in units of the program, and a certified lower bound of the least limit."""

    matrix: Matrix
    limit: float
    bound: float


def extremes(program: ChannelProgram, solver: Solver, *, owner: str) -> Extremes:
    """Return both ends of the range of errors that matters."""
    before = solver.solves
    first = solver.solve(program.truthful(), owner=owner)
    least = 1 + first.objective
    truthful = program.matrix(first.values)
    if program.scale == 0:
        return Extremes(truthful, least, truthful, least, solver.solves - before)
    second = solver.attempt(program.truthful(program.fair()))
    if second is None:  # parts of very different sizes; what is left out is far below any tolerance
        second = solver.solve(program.truthful(program.fair(ignoring=_IGNORED)), owner=owner)
    fair_error = max(1 + second.objective, least)
    return Extremes(truthful, least, program.matrix(second.values), fair_error, solver.solves - before)


def start(ends: Extremes, budget: float) -> Matrix:
    """Return the mixture of both ends that uses up the budget."""
    share = (budget - ends.least) / (ends.fair_error - ends.least)
    share = min(max(share, 0.0), 1.0)
    return (1 - share) * ends.truthful + share * ends.fair


def least_limit(
    program: ChannelProgram,
    solver: Solver,
    first: Matrix,
    budget: float,
    *,
    tilt: Tilt = (1.0, 1.0),
    owner: str,
) -> Found:
    r"""Return the channel with the least :math:`\max_a \max(n_a / H m_a, -n_a / L m_a)`, from `first` on.

    `tilt` is :math:`(H, L)`; with (1, 1) this is the largest :math:`|n_a| / m_a`.
    """
    best, bound, basis, corner = first, 0.0, None, False
    limit = tilted(sides(program, first), tilt)
    made = program.values(first)[1]
    for _ in range(_STEPS):
        step = program.fairness(budget, limit, made, tilt)
        answer = solver.solve(step, basis=basis, corner=corner, owner=owner)
        basis = answer.basis
        bound = max(bound, step_bound(step, answer.duals, limit, program.fewest_made(budget) / made))
        matrix = program.matrix(answer.values)
        made = program.values(matrix)[1]
        reached = tilted(sides(program, matrix), tilt)
        progress = limit - reached
        if progress > 0:
            best, limit = matrix, reached
        if progress <= _ENOUGH * max(limit, _ENOUGH) or limit - bound <= _ENOUGH * limit:
            if corner or limit - bound <= _FAR * limit or not _BY_POINTS < program.people.k <= _BY_CORNERS:
                break
            corner = True  # the interior point method was too coarse to prove it
    return Found(best, limit, min(bound, limit))


def sides(program: ChannelProgram, matrix: Matrix) -> Tilt:
    """Return how far the reports of a group are above the mean at most, and how far below."""
    apart, made = program.values(matrix)
    return float((apart / made).max()), float((-apart / made).max())


def tilted(limits: Tilt, tilt: Tilt) -> float:
    """Return the least limit that covers both sides where they are weighed by `tilt`."""
    return max(limits[0] / tilt[0], limits[1] / tilt[1], 0.0)


def step_bound(step: Program, duals: Vector, limit: float, least: Vector) -> float:
    r"""Return a lower bound of the least limit, from the duals of one step.

    With duals :math:`\lambda_a \ge 0` of the fairness rows that sum to one and the safe value :math:`s` of
    the step, every channel has :math:`\sum \lambda_a (\pm n_a - t m_a) / g_a \ge s`, hence a limit of at
    least :math:`t + s / \sum_a \lambda_a m_a / g_a`; `least` holds lower bounds of :math:`m_a / g_a`.
    """
    duals = duals.copy()
    shares = np.minimum(duals[-2 * len(least) :], 0.0)
    total = -float(shares.sum())
    if total <= 0:
        return 0.0
    duals[-2 * len(least) :] = shares
    value = min(step.lower_bound(duals / total), 0.0)
    return limit + value * total / float(-shares @ np.tile(least, 2))
