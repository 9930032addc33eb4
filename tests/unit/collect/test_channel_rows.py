"""Rows of a linear program, and the lower bound that any duals give."""

import numpy as np
import pytest
from scipy.optimize import linprog

from evenhand.collect.channel_rows import Program, Rows, stacked


def random_program(seed):
    draw = np.random.default_rng(seed)
    dense = draw.normal(size=(4, 5))
    point = draw.random(5)
    least = np.where(draw.random(4) < 0.5, -np.inf, dense @ point - draw.random(4))
    most = np.where(np.isinf(least), dense @ point + draw.random(4), np.inf)
    blocks = [Rows.table(np.arange(5)[None, :], dense[[i]], least=least[i], most=most[i]) for i in range(4)]
    return dense, Program(cost=draw.normal(size=5), least=np.zeros(5), most=np.ones(5), rows=stacked(blocks))


@pytest.mark.parametrize("seed", range(10))
def test_no_duals_give_more_than_the_optimum(seed):
    """A certificate must hold whatever a solver returns for duals, nonsense included."""
    dense, program = random_program(seed)
    upper = np.isfinite(program.rows.most)
    found = linprog(
        program.cost,
        A_ub=np.where(upper[:, None], dense, -dense),
        b_ub=np.where(upper, program.rows.most, -program.rows.least),
        bounds=(0, 1),
    )
    duals = np.where(upper, 1, -1) * found.ineqlin.marginals
    draw = np.random.default_rng(seed)

    assert program.lower_bound(duals) == pytest.approx(found.fun, abs=1e-9)
    for size in (1e-3, 1.0, 100.0):
        assert program.lower_bound(duals + size * draw.normal(size=4)) <= found.fun + 1e-12


def test_a_violation_is_the_largest_of_all_limits():
    """What a solver calls feasible is measured again."""
    dense, program = random_program(1)
    inside = np.random.default_rng(1)
    for values in inside.normal(size=(5, 5)):
        sums = dense @ values
        over = [*(program.rows.least - sums), *(sums - program.rows.most), *-values, 0]

        assert program.violation(values) == pytest.approx(max(over))


def test_rows_are_weighed_like_a_matrix():
    """Sparse and dense must be the same matrix."""
    dense, program = random_program(0)
    factors = np.array([1.0, -2.0, 0.5, 3.0])

    assert program.rows.weighed(factors, 5) == pytest.approx(factors @ dense)
