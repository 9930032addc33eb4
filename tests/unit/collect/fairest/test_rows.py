"""Rows of a linear program, and the lower bound that any duals give."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog

from evenhand.collect.fairest.program import Program, Rows, stacked


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
    factors = np.array([1.0, -2.0, 0.0, 3.0])

    assert program.rows.reduced(program.cost, factors) == pytest.approx(program.cost - factors @ dense)


def slow_bound(program, duals):
    """The bound that the duals give, in fractions; every row and every variable has finite limits."""
    rows, value = program.rows, Fraction(0)
    reduced = [Fraction(each) for each in program.cost]
    entries = iter(zip(rows.columns, rows.values, strict=True))
    for dual, size, least, most in zip(duals, rows.sizes, rows.least, rows.most, strict=True):
        value += Fraction(dual) * Fraction(least if dual > 0 else most)
        for column, entry in (next(entries) for _ in range(size)):
            reduced[column] -= Fraction(dual) * Fraction(entry)
    limits = zip(reduced, program.least, program.most, strict=True)
    return value + sum(min(each * Fraction(low), each * Fraction(high)) for each, low, high in limits)


@pytest.mark.parametrize("seed", range(10))
def test_large_duals_that_cancel_cost_no_digits(seed):
    """With duals of millions, what rounding might have done was larger than the gap to be proved."""
    draw = np.random.default_rng(seed)
    table = draw.random((6, 30))
    duals = 1e6 * draw.normal(size=6)
    blocks = [
        Rows.table(np.arange(30)[None, :], table[[i]], least=table[i].sum() / 2, most=table[i].sum() / 2)
        for i in range(6)
    ]
    program = Program(
        cost=duals @ table + draw.normal(size=30), least=np.zeros(30), most=np.ones(30), rows=stacked(blocks)
    )
    gap = slow_bound(program, duals) - Fraction(program.lower_bound(duals))
    allowed = np.abs(duals) @ (program.rows.most + 1) + np.abs(duals @ table).sum()

    assert 0 <= gap <= 2 * np.finfo(float).eps * allowed
