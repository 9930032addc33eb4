"""The programs of a channel, against the plain matrix."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog

from evenhand.collect.fairest.highs import Solver
from evenhand.collect.fairest.population import population
from evenhand.collect.fairest.program import (
    ChannelProgram,
    Program,
    Rows,
    exact_products,
    stacked,
    sums_by_place,
)
from evenhand.collect.fairest.search import choose
from property._channel_instances import groups, random_channel, slow_error


def as_variables(program, matrix):
    people = program.people
    top = np.diagonal(matrix)
    inner = (matrix - people.floor * top[None, :]) / people.width
    return np.append(top, inner[program.row, program.column])


def dense(rows, size):
    table = np.zeros((len(rows.sizes), size))
    at = np.repeat(np.arange(len(rows.sizes)), rows.sizes)
    np.add.at(table, (at, rows.columns), rows.values)
    return table


@pytest.mark.parametrize("seed", range(8))
def test_a_channel_is_feasible_and_comes_back_as_it_was(seed):
    """If the variables described other matrices, every optimum would be of another problem."""
    case = groups(seed)
    program = ChannelProgram(population(case.weights, case.rates, case.epsilon, owner="test"))
    matrix = random_channel(np.random.default_rng(seed), len(case.weights), case.epsilon)
    variables = as_variables(program, matrix)
    rows = program.truthful(program.budget_row(slow_error(matrix, case.weights))).rows
    table = dense(rows, program.size) @ variables

    assert program.matrix(variables) == pytest.approx(matrix, abs=1e-12)
    assert (table >= rows.least - 1e-9).all()
    assert (table <= rows.most + 1e-9).all()
    assert (program.values(matrix)[1] >= program.fewest_made(slow_error(matrix, case.weights)) - 1e-12).all()


@pytest.mark.parametrize("seed", range(4))
def test_the_limits_are_those_of_the_rates(seed):
    """A limit of t means that no report is further than t from the mean."""
    case = groups(seed + 50)
    program = ChannelProgram(population(case.weights, case.rates, case.epsilon, owner="test"))
    matrix = random_channel(np.random.default_rng(seed), len(case.weights), case.epsilon)
    variables = as_variables(program, matrix)
    apart, made = program.values(matrix)
    rows = program.limits((0.3, 0.7), made)
    expected = np.append(apart / made - 0.3, -apart / made - 0.7)

    assert dense(rows, program.size) @ variables == pytest.approx(expected, abs=1e-9)
    reported = (case.weights * (case.rates - case.weights @ case.rates)) @ matrix / (case.weights @ matrix)
    assert program.people.width * program.scale * apart / made == pytest.approx(reported, abs=1e-12)


def test_small_parts_can_be_ignored_without_losing_the_uniform_channel():
    """Parts of very different sizes are hard on a solver."""
    people = population([0.6, 0.4 - 1e-12, 1e-12], [0.2, 0.6, 0.9], 1, owner="test")
    program = ChannelProgram(people)
    rows = program.fair(ignoring=1e-8)
    uniform = np.append(np.full(3, 1 / 3), np.full(6, 1 / 3))

    assert dense(rows, 9) @ uniform == pytest.approx(0, abs=1e-15)
    assert not dense(rows, 9)[0, program._place[2, 0]]


def test_a_choice_that_fails_leaves_what_was_found():
    """The rule among equals is a nicety: without an answer the channel stays as it is."""

    class Failing(Solver):
        def __init__(self, after):
            super().__init__()
            self.after = after

        def attempt(self, program):
            self.after -= 1
            return super().attempt(program) if self.after >= 0 else None

    small = ChannelProgram(population([0.5, 0.3, 0.2], [0.7, 0.4, 0.2], 1, owner="test"))
    large = ChannelProgram(population([1 / 21] * 21, [0.5] * 21, 1, owner="test"))
    found, many = np.full((3, 3), 1 / 3), np.full((21, 21), 1 / 21)

    assert choose(small, Failing(0), [], found) is found
    assert choose(large, Failing(0), [], many) is many
    assert np.diagonal(choose(small, Failing(1), [], found))[0] > 0.6


# --- Rows of a linear program, and the lower bound that any duals give ---


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


# --- Sums of products without a lost digit, against fractions ---


def wide(draw, size):
    return draw.normal(size=size) * 10.0 ** draw.uniform(-40, 40, size)


@pytest.mark.parametrize("seed", range(5))
def test_a_product_and_its_rest_are_exact(seed):
    """The rest is what a certificate would otherwise have to allow for."""
    left, right = wide(np.random.default_rng(seed), (2, 200))
    product, rest = exact_products(left, right)

    for one, other, rounded, lost in zip(left, right, product, rest, strict=True):
        assert Fraction(rounded) + Fraction(lost) == Fraction(one) * Fraction(other)


@pytest.mark.parametrize("seed", range(5))
def test_sums_are_rounded_once(seed):
    """Large parts that cancel must leave the small ones whole."""
    draw = np.random.default_rng(seed)
    parts, places = wide(draw, 100), draw.integers(0, 7, 100)
    parts = np.concatenate([parts, -parts, draw.normal(size=20)])
    places = np.concatenate([places, places, draw.integers(0, 7, 20)])
    found = sums_by_place(places, parts, 9)
    slow = [sum(map(Fraction, parts[places == place]), Fraction(0)) for place in range(9)]

    assert found.tolist() == [float(each) for each in slow]
    assert np.bincount(places, parts, minlength=9).tolist() != found.tolist()  # the quick way is another


def test_no_parts_sum_to_zero():
    """Duals may all be zero."""
    assert sums_by_place(np.array([], dtype=int), np.array([]), 2).tolist() == [0, 0]
    assert sums_by_place(np.array([1, 1]), np.array([0.0, 0.0]), 2).tolist() == [0, 0]
