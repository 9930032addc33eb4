"""Whole numbers over 2**53: exact sums, exact privacy, and next to nothing lost."""

import random
from fractions import Fraction

import numpy as np
import pytest

from evenhand.collect.fairest.optimum import fairest_channel
from evenhand.collect.fairest.population import (
    _is_private,
    average_twins,
    channel_unfairness,
    dyadic_channel,
    population,
    printed_channel,
    repair,
)
from evenhand.collect.protocols.optimal_inputs import check_law
from evenhand.errors import GuaranteeError, InvalidParameterError
from property._channel_instances import GRID, grr_matrix, is_channel, keeps_privacy


@pytest.mark.parametrize("epsilon", [0.001, 0.5, 1, 3, 10, 20, 36, 60])
@pytest.mark.parametrize("k", [2, 3, 10])
def test_randomized_response_at_its_limit_stays_private(k, epsilon):
    """Every column is tight, so any rounding to the nearest would break about half of them."""
    matrix = grr_matrix(population([1 / k] * k, [0.5] * k, epsilon, owner="test"))
    rows = dyadic_channel(matrix, epsilon)

    assert keeps_privacy(rows, epsilon)
    assert np.abs(np.array(rows) / GRID - matrix).max() < 1e-12
    assert np.array_equal(check_law(rows, k, Fraction(str(epsilon))), rows)


@pytest.mark.parametrize("weights", [[0.5, 0.5], [0.7, 0.3], [0.1, 0.9]])
def test_the_printed_form_is_private(weights):
    """Its ratio is exactly e to the epsilon, before rounding."""
    for epsilon in (0.05, 1, 4, 20):
        rows = dyadic_channel(printed_channel(weights, epsilon), epsilon)

        assert keeps_privacy(rows, epsilon)


def test_next_to_no_fairness_is_lost():
    """What is drawn must be what was promised."""
    weights, rates = [0.5, 0.3, 0.2], [0.7, 0.4, 0.2]
    found = fairest_channel(weights, rates, 1)
    drawn = np.array(dyadic_channel(found.matrix, 1)) / GRID

    assert abs(channel_unfairness(drawn, weights, rates) - found.unfairness) < 1e-12


def test_a_matrix_that_sums_to_one_but_for_rounding_is_taken():
    """Somebody may have read it from a file with ten digits."""
    matrix = np.array([[0.6, 0.4], [0.4, 0.6]]) + 2e-10

    assert keeps_privacy(dyadic_channel(matrix, 1), 1)


def test_an_entry_of_zero_is_given_a_chance():
    """Without one, a report would prove who somebody is not."""
    rows = dyadic_channel([[0.5, 0.5 - 1e-17], [0.5, 0.5]], 40)
    certain = dyadic_channel([[1.0, 0.0], [0.0, 1.0]], 50)

    assert keeps_privacy(rows, 40)
    assert keeps_privacy(certain, 50)


@pytest.mark.parametrize("matrix", [[[0.9, 0.1], [0.1, 0.9]], [[1.0, 0.0], [0.0, 1.0]]])
def test_a_matrix_far_from_private_is_refused(matrix):
    """Mixing it until it is private would be another mechanism."""
    with pytest.raises(GuaranteeError, match="does not keep epsilon = 1"):
        dyadic_channel(matrix, 1)


@pytest.mark.parametrize(
    "matrix",
    [
        [[1.0]],
        [[0.5, 0.5]],
        [0.5, 0.5],
        [[0.5, 0.6], [0.5, 0.5]],
        [[1.5, -0.5], [0.5, 0.5]],
        [[np.nan, 1], [0, 1]],
    ],
)
def test_a_matrix_that_is_no_channel_is_refused(matrix):
    with pytest.raises(InvalidParameterError, match="'matrix' parameter of dyadic_channel"):
        dyadic_channel(matrix, 1)


@pytest.mark.parametrize(
    "rows",
    [
        [[GRID]],
        [[GRID // 2, GRID // 2]],
        [[GRID // 2, GRID // 2]] * 3,
        [[GRID // 2, GRID // 4, GRID // 4]] * 2,
        [[GRID // 2, GRID // 2], [GRID, 0]],
        [[GRID // 2, GRID // 2], [GRID // 2, GRID // 2 + 1]],
        [[0.5, 0.5], [0.5, 0.5]],
        [[GRID // 2, GRID // 2], [GRID // 2]],
        [[10**30, GRID], [GRID, 1]],
        [[GRID + 1, -1], [GRID // 2, GRID // 2]],
        None,
        "ab",
    ],
)
def test_rows_that_are_no_law_are_refused(rows):
    """A record that was tampered with must not become a protocol."""
    k = len(rows) if isinstance(rows, list) else 2
    with pytest.raises(InvalidParameterError, match="'law' parameter of Optimal"):
        check_law(rows, k, Fraction(1))


def test_rows_that_break_epsilon_are_refused():
    """The tie of two groups as it was once programmed has the ratio 2 e^eps - 1."""
    small = round(np.exp(-1) / 2 * GRID)
    rows = [[GRID - small, small], [small, GRID - small]]
    with pytest.raises(InvalidParameterError, match="keep the epsilon that is stated"):
        check_law(rows, 2, Fraction(1))


def test_privacy_is_decided_by_columns_entry_by_entry():
    """A report tells two people apart by the ratio within its column; rows say nothing about that."""
    draw = random.Random(5)
    found = set()
    for _ in range(300):
        k = draw.choice([2, 3, 4])
        ratio = Fraction(draw.randint(3, 12), draw.randint(1, 3))
        rows = np.array([[draw.randint(1, 6) for _ in range(k)] for _ in range(k)])
        expected = all(
            Fraction(int(rows[one, value]), int(rows[other, value])) <= ratio
            for one in range(k)
            for other in range(k)
            for value in range(k)
        )
        found.add(expected)

        assert _is_private(rows, ratio) == expected
    assert found == {True, False}


def test_many_groups_are_rounded_quickly():
    """The exact check looks at the largest and the smallest entry of a column, not at every pair."""
    k = 300
    matrix = grr_matrix(population([1 / k] * k, [0.5] * k, 1, owner="test"))
    rows = np.array(dyadic_channel(matrix, 1))

    assert (rows.sum(axis=1) == GRID).all()
    assert np.abs(rows / GRID / matrix - 1).max() < 1e-11


# --- From what a solver returns to a private matrix ---


def people(k=4, epsilon=1.0):
    return population([1 / k] * k, np.linspace(0.2, 0.8, k), epsilon, owner="test")


@pytest.mark.parametrize("epsilon", [0.001, 0.5, 3, 20])
@pytest.mark.parametrize("noise", [0, 1e-12, 1e-9, 1e-6])
def test_what_tolerances_broke_is_mended(epsilon, noise):
    """Feasible up to a tolerance is not private."""
    draw = np.random.default_rng(1)
    right = grr_matrix(people(4, epsilon))
    matrix = repair(right * (1 + noise * draw.uniform(-1, 1, (4, 4))), people(4, epsilon))

    assert is_channel(matrix, epsilon)
    assert np.abs(matrix - right).max() < max(20 * noise, 1e-14) * max(1, 1 / epsilon)


def test_a_private_matrix_stays_as_it_is():
    """Repair costs nothing where nothing is broken."""
    matrix = np.array([[0.5, 0.3, 0.2], [0.3, 0.5, 0.2], [0.3, 0.3, 0.4]])

    assert repair(matrix, people(3)) == pytest.approx(matrix, abs=1e-15)


def test_even_a_matrix_far_from_private_is_mended():
    """Mixing with the uniform matrix always ends."""
    matrix = repair(np.eye(3) + 1e-6, people(3, 0.1))

    assert (matrix.max(axis=0) / matrix.min(axis=0)).max() <= np.exp(0.1)
    assert matrix.sum(axis=1) == pytest.approx(1)


@pytest.mark.parametrize("epsilon", ["1e-300", "1e-16", "1e-12", "1e-3", 1, 800])
@pytest.mark.parametrize("k", [2, 3, 7])
def test_repair_ends_whatever_rounding_does(k, epsilon):
    """A share that rounding swallows would be mixed in for ever."""
    group = people(k, epsilon)
    uniform = np.full((k, k), 1 / k)

    assert repair(uniform, group) == pytest.approx(uniform, abs=1e-15)
    assert repair(np.eye(k) + 1e-9, group).sum(axis=1) == pytest.approx(1)


def test_averaging_twins_is_averaging_over_all_swaps():
    """The quick way uses sums over classes; the slow one swaps."""
    draw = np.random.default_rng(2)
    group = population([0.1, 0.2, 0.1, 0.2, 0.1, 0.3], [0.3, 0.5, 0.3, 0.5, 0.3, 0.3], 1, owner="test")
    matrix = draw.dirichlet(np.ones(6), size=6)
    orders = [
        [a, x, b, y, c, 5]
        for a, b, c in ((0, 2, 4), (0, 4, 2), (2, 0, 4), (2, 4, 0), (4, 0, 2), (4, 2, 0))
        for x, y in ((1, 3), (3, 1))
    ]
    slow = np.mean([matrix[np.ix_(order, order)] for order in orders], axis=0)

    assert average_twins(matrix, group) == pytest.approx(slow, abs=1e-14)


def test_groups_that_differ_are_left_alone():
    matrix = np.eye(4)

    assert average_twins(matrix, people()) is matrix
