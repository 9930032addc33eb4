"""From what a solver returns to a private matrix."""

import numpy as np
import pytest

from evenhand.collect.fairest.measures import grr_matrix
from evenhand.collect.fairest.population import population
from evenhand.collect.fairest.rounding import average_twins, repair
from property._channel_instances import is_channel


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
