r"""The least difference between the outcomes of two reports: one search along a line, with a certificate.

The difference is the sum of how far a report is above the mean, :math:`g`, and how far below, :math:`f`.
For a fixed share :math:`\theta` of the part below,
:math:`\psi(\theta) = \min_Q \max(f / \theta, g / (1 - \theta))` is found exactly, as for the ratio, because
the maximum is quasi-convex in the channel. The least difference is the least :math:`\psi(\theta)`. Along
:math:`\theta` nothing is convex, but a channel that serves one share serves another almost as well:

.. math:: \psi(\theta) \ge \psi(\theta_0)\, \theta_0 / \theta \quad (\theta \ge \theta_0), \qquad
          \psi(\theta) \ge \psi(\theta_1)\, (1 - \theta_1) / (1 - \theta) \quad (\theta \le \theta_1).

Between two shares the least difference is hence at least
:math:`\psi(\theta_0) \theta_0 + \psi(\theta_1) (1 - \theta_1)`. The search always looks next where this bound
is least, as Piyavskii's method does, and then goes downhill from the best channel, both sides moving freely.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from evenhand.collect.fairest.search import Found, least_limit, sides

if TYPE_CHECKING:
    from evenhand.collect.fairest.highs import Solver
    from evenhand.collect.fairest.population import Matrix
    from evenhand.collect.fairest.program import ChannelProgram

__all__ = ["least_difference"]

_EDGE = 1e-4
_CLOSE = 1e-3  # relative distance of bound and best at which the search along the line ends
_LOOKS = 24
_LOOKS_MANY_GROUPS = 10
_MANY_GROUPS = 20
_DOWNHILL = 30
_ENOUGH = 1e-10


@dataclass(frozen=True, eq=False)
class _Look:
    share: float
    bound: float


def least_difference(
    program: ChannelProgram,
    solver: Solver,
    first: Matrix,
    budget: float,
    *,
    looks: int | None = None,
    owner: str,
) -> Found:
    """Return the channel with the least difference that was found, and a certified lower bound.

    `looks` is how many shares are tried at most.
    """
    if looks is None:
        looks = _LOOKS if program.people.k <= _MANY_GROUPS else _LOOKS_MANY_GROUPS
    best = _downhill(program, solver, first, budget, owner=owner)
    seen: list[_Look] = []
    bound, share = 0.0, _inside(_share(program, best))
    for _ in range(looks):
        tilt = (1 - share, share)
        found = least_limit(program, solver, best, budget, tilt=tilt, owner=owner)
        seen = sorted([*seen, _Look(share, found.bound)], key=lambda look: look.share)
        if _difference(program, found.matrix) < _difference(program, best):
            best = found.matrix
        bound, share = _weakest(seen)
        if bound >= _difference(program, best) * (1 - _CLOSE) or share in {look.share for look in seen}:
            break
    best = _downhill(program, solver, best, budget, owner=owner)
    limit = _difference(program, best)
    return Found(best, limit, min(bound, limit))


def _weakest(seen: list[_Look]) -> tuple[float, float]:
    """Return the least lower bound along the line, and the share where to look next."""
    first, last = seen[0], seen[-1]
    places = [
        (first.bound * (1 - first.share), max(_EDGE, first.share / 3)),
        (last.bound * last.share, min(1 - _EDGE, 1 - (1 - last.share) / 3)),
    ]
    for left, right in pairwise(seen):
        low, high = left.bound * left.share, right.bound * (1 - right.share)
        crossing = low / (low + high) if low + high > 0 else 0.5
        width = right.share - left.share
        inner = min(max(crossing, left.share + width / 10), right.share - width / 10)
        places.append((low + high, inner))
    return min(places)


def _downhill(
    program: ChannelProgram, solver: Solver, matrix: Matrix, budget: float, *, owner: str
) -> Matrix:
    """Return a channel from which no small step makes the difference less."""
    value, basis = _difference(program, matrix), None
    for _ in range(_DOWNHILL):
        step = program.descent(budget, sides(program, matrix), program.values(matrix)[1])
        answer = solver.solve(step, basis=basis, owner=owner)
        basis = answer.basis
        target = program.matrix(answer.values)
        lengths = 0.5 ** np.arange(12)
        tries = [_difference(program, (1 - length) * matrix + length * target) for length in lengths]
        least = int(np.argmin(tries))
        if value - tries[least] <= _ENOUGH * max(value, _ENOUGH):
            break
        matrix, value = (1 - lengths[least]) * matrix + lengths[least] * target, tries[least]
    return matrix


def _difference(program: ChannelProgram, matrix: Matrix) -> float:
    return sum(sides(program, matrix))


def _share(program: ChannelProgram, matrix: Matrix) -> float:
    above, below = sides(program, matrix)
    return below / (above + below)


def _inside(share: float) -> float:
    return min(max(share, _EDGE), 1 - _EDGE)
