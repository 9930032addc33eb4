r"""The fairest channel within an error budget, by a few linear programs and with a certificate.

For a fixed limit :math:`t` the channels with :math:`|n_a| \le t\, m_a` are a polytope, so the unfairness is
quasi-convex and every local optimum is global. The limit comes down by Dinkelbach's method in the scaling
of Crouzeix, Ferland and Schaible, which converges faster than linearly.

The least difference between the outcomes of two reports takes one search along a line more, with a
certificate too.
The difference is the sum of how far a report is above the mean, :math:`g`, and how far below, :math:`f`.
For a fixed share :math:`\theta` of the part below,
:math:`\psi(\theta) = \min_Q \max(f / \theta, g / (1 - \theta))` is found exactly, as for the ratio, because
the maximum is quasi-convex in the channel. The least difference is the least :math:`\psi(\theta)`. Along
:math:`\theta` nothing is convex, but a channel that serves one share serves another almost as well:

.. math:: \psi(\theta) \ge \psi(\theta_0)\, \theta_0 / \theta \quad (\theta \ge \theta_0), \qquad
          \psi(\theta) \ge \psi(\theta_1)\, (1 - \theta_1) / (1 - \theta) \quad (\theta \le \theta_1).

Between two shares the least difference is hence at least
:math:`\psi(\theta_0) \theta_0 + \psi(\theta_1) (1 - \theta_1)`. The search always looks next where this bound
is least, as Piyavskii's method does, and then goes downhill from the best channel, both sides moving
freely.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from evenhand.collect.fairest.highs import SIMPLEX_GROUPS

if TYPE_CHECKING:
    from evenhand.collect.fairest.highs import Solver
    from evenhand.collect.fairest.population import Matrix, Vector
    from evenhand.collect.fairest.program import ChannelProgram, Program, Rows, Tilt

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
class SearchResult:
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


def mix_extremes(ends: Extremes, budget: float) -> Matrix:
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
) -> SearchResult:
    r"""Return the channel with the least :math:`\max_a \max(n_a / H m_a, -n_a / L m_a)`, from `first` on.

    `tilt` is :math:`(H, L)`; with (1, 1) this is the largest :math:`|n_a| / m_a`.
    """
    best, bound, basis, corner = first, 0.0, None, False
    limit = weighted_limit(largest_deviations(program, first), tilt)
    made = program.values(first)[1]
    for _ in range(_STEPS):
        step = program.fairness(budget, limit, made, tilt)
        answer = solver.solve(step, basis=basis, corner=corner, owner=owner)
        basis = answer.basis
        bound = max(bound, step_bound(step, answer.duals, limit, program.fewest_made(budget) / made))
        matrix = program.matrix(answer.values)
        made = program.values(matrix)[1]
        reached = weighted_limit(largest_deviations(program, matrix), tilt)
        progress = limit - reached
        if progress > 0:
            best, limit = matrix, reached
        if progress <= _ENOUGH * max(limit, _ENOUGH) or limit - bound <= _ENOUGH * limit:
            if corner or limit - bound <= _FAR * limit or not _BY_POINTS < program.people.k <= _BY_CORNERS:
                break
            corner = True  # the interior point method was too coarse to prove it
    return SearchResult(best, limit, min(bound, limit))


def largest_deviations(program: ChannelProgram, matrix: Matrix) -> Tilt:
    """Return how far the reports of a group are above the mean at most, and how far below."""
    apart, made = program.values(matrix)
    return float((apart / made).max()), float((-apart / made).max())


def weighted_limit(limits: Tilt, tilt: Tilt) -> float:
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


_EDGE = 1e-4
_CLOSE = 1e-3  # relative distance of bound and best at which the search along the line ends
_LOOKS = 24
_LOOKS_MANY_GROUPS = 10
_MANY_GROUPS = 20
_DOWNHILL = 30
_ENOUGH_DOWNHILL = 1e-10


def least_difference(
    program: ChannelProgram,
    solver: Solver,
    first: Matrix,
    budget: float,
    *,
    looks: int | None = None,
    owner: str,
) -> SearchResult:
    """Return the channel with the least difference that was found, and a certified lower bound.

    `looks` is how many shares are tried at most.
    """
    if looks is None:
        looks = _LOOKS if program.people.k <= _MANY_GROUPS else _LOOKS_MANY_GROUPS
    best = _descend(program, solver, first, budget, owner=owner)
    seen: list[tuple[float, float]] = []  # shares that were tried, rising, and the bound at each
    above, below = largest_deviations(program, best)
    bound, share = 0.0, min(max(below / (above + below), _EDGE), 1 - _EDGE)
    for _ in range(looks):
        tilt = (1 - share, share)
        result = least_limit(program, solver, best, budget, tilt=tilt, owner=owner)
        seen = sorted([*seen, (share, result.bound)])
        if _difference(program, result.matrix) < _difference(program, best):
            best = result.matrix
        bound, share = _find_weakest(seen)
        if bound >= _difference(program, best) * (1 - _CLOSE) or share in dict(seen):
            break
    best = _descend(program, solver, best, budget, owner=owner)
    limit = _difference(program, best)
    return SearchResult(best, limit, min(bound, limit))


def _find_weakest(seen: list[tuple[float, float]]) -> tuple[float, float]:
    """Return the least lower bound along the line, and the share where to look next."""
    (first, first_bound), (last, last_bound) = seen[0], seen[-1]
    places = [
        (first_bound * (1 - first), max(_EDGE, first / 3)),
        (last_bound * last, min(1 - _EDGE, 1 - (1 - last) / 3)),
    ]
    for (left, left_bound), (right, right_bound) in pairwise(seen):
        low, high = left_bound * left, right_bound * (1 - right)
        crossing = low / (low + high) if low + high > 0 else 0.5
        width = right - left
        inner = min(max(crossing, left + width / 10), right - width / 10)
        places.append((low + high, inner))
    return min(places)


def _descend(program: ChannelProgram, solver: Solver, matrix: Matrix, budget: float, *, owner: str) -> Matrix:
    """Return a channel from which no small step makes the difference less."""
    value, basis = _difference(program, matrix), None
    for _ in range(_DOWNHILL):
        step = program.descent(budget, largest_deviations(program, matrix), program.values(matrix)[1])
        answer = solver.solve(step, basis=basis, owner=owner)
        basis = answer.basis
        target = program.matrix(answer.values)
        lengths = 0.5 ** np.arange(12)
        tries = [_difference(program, (1 - length) * matrix + length * target) for length in lengths]
        least = int(np.argmin(tries))
        if value - tries[least] <= _ENOUGH_DOWNHILL * max(value, _ENOUGH_DOWNHILL):
            break
        matrix, value = (1 - lengths[least]) * matrix + lengths[least] * target, tries[least]
    return matrix


def _difference(program: ChannelProgram, matrix: Matrix) -> float:
    return sum(largest_deviations(program, matrix))


_GOLDEN = 0.6180339887498949
_CHOICE_SLACK = 1e-9
_LESS = 1e-4  # weight of the rule where it cannot have a program of its own


def choose(
    program: ChannelProgram,
    solver: Solver,
    blocks: list[Rows],
    channel: Matrix,
    *,
    error: float | None = None,
) -> Matrix:
    """Return one channel among those that keep all `blocks` of rows; `channel` if the programs cannot say.

    Most truthful first; among those, most truthful for groups that nobody is in; among those, the one with
    the least sum of entries under fixed weights. With `error`, `channel` is known to be the most truthful.
    With many groups one program minimises all three at once, weighed: an interior point method needs a set
    with an inside.
    """
    if error is not None:
        blocks = [*blocks, program.budget_row(error + _CHOICE_SLACK)]
    if program.people.k > SIMPLEX_GROUPS:
        return _choose_at_once(program, solver, blocks, channel)
    weights = program.people.weights
    aims = [weights] if error is None else []
    if not weights.all():
        aims.append((weights == 0).astype(float))
    for aim in aims:
        cost = -program.on_diagonal(aim)
        answer = solver.attempt(program.within(cost, *blocks))
        if answer is None:
            return channel
        channel = program.matrix(answer.values)
        blocks = [*blocks, program.diagonal_row(aim, -answer.objective - _CHOICE_SLACK)]
    last = solver.attempt(program.within(_rule_cost(program), *blocks))
    return channel if last is None else program.matrix(last.values)


def _choose_at_once(program: ChannelProgram, solver: Solver, blocks: list[Rows], channel: Matrix) -> Matrix:
    weights = program.people.weights
    empty = (weights == 0).astype(float) / program.people.k
    cost = _LESS * _rule_cost(program) / program.people.k - program.on_diagonal(weights + 10 * _LESS * empty)
    answer = solver.attempt(program.within(cost, *blocks))
    return channel if answer is None else program.matrix(answer.values)


def _rule_cost(program: ChannelProgram) -> Vector:
    """Return the cost of each variable if entry (i, j) costs the fraction of (ik + j + 1) golden ratios."""
    people, k = program.people, program.people.k
    price = ((np.arange(k * k) + 1) * _GOLDEN % 1).reshape(k, k)
    np.fill_diagonal(price, 0.0)
    return np.append(people.floor * price.sum(axis=0), people.width * price[program.row, program.column])
