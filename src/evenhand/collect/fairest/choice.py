"""Which of the equally fair channels: the most truthful, then one by a fixed rule, the same for everybody."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evenhand.collect.fairest.highs import SIMPLEX_GROUPS

if TYPE_CHECKING:
    from evenhand.collect.fairest.highs import Solver
    from evenhand.collect.fairest.population import Matrix, Vector
    from evenhand.collect.fairest.program import ChannelProgram
    from evenhand.collect.fairest.rows import Rows

__all__ = ["choose"]

_GOLDEN = 0.6180339887498949
_SLACK = 1e-9
_LESS = 1e-4  # weight of the rule where it cannot have a program of its own


def choose(
    program: ChannelProgram, solver: Solver, blocks: list[Rows], found: Matrix, *, error: float | None = None
) -> Matrix:
    """Return one channel among those that keep all `blocks` of rows; `found` if the programs cannot say.

    Most truthful first; among those, most truthful for groups that nobody is in; among those, the one with
    the least sum of entries under fixed weights. With `error`, `found` is known to be the most truthful.
    With many groups one program minimises all three at once, weighed: an interior point method needs a set
    with an inside.
    """
    if error is not None:
        blocks = [*blocks, program.budget_row(error + _SLACK)]
    if program.people.k > SIMPLEX_GROUPS:
        return _at_once(program, solver, blocks, found)
    weights = program.people.weights
    aims = [weights] if error is None else []
    if not weights.all():
        aims.append((weights == 0).astype(float))
    for aim in aims:
        cost = -_diagonal(program, aim)
        answer = solver.attempt(program.within(cost, *blocks))
        if answer is None:
            return found
        found = program.matrix(answer.values)
        blocks = [*blocks, program.diagonal_row(aim, -answer.objective - _SLACK)]
    last = solver.attempt(program.within(_rule(program), *blocks))
    return found if last is None else program.matrix(last.values)


def _at_once(program: ChannelProgram, solver: Solver, blocks: list[Rows], found: Matrix) -> Matrix:
    weights = program.people.weights
    empty = (weights == 0).astype(float) / program.people.k
    cost = _LESS * _rule(program) / program.people.k - _diagonal(program, weights + 10 * _LESS * empty)
    answer = solver.attempt(program.within(cost, *blocks))
    return found if answer is None else program.matrix(answer.values)


def _diagonal(program: ChannelProgram, values: Vector) -> Vector:
    return np.append(values, np.zeros(program.size - len(values)))


def _rule(program: ChannelProgram) -> Vector:
    """Return the cost of each variable if entry (i, j) costs the fraction of (ik + j + 1) golden ratios."""
    people, k = program.people, program.people.k
    price = ((np.arange(k * k) + 1) * _GOLDEN % 1).reshape(k, k)
    np.fill_diagonal(price, 0.0)
    return np.append(people.floor * price.sum(axis=0), people.width * price[program.row, program.column])
