"""Rates of several classes that agree: fewest changes, against brute force on small problems."""

import itertools

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment, linprog

from evenhand.errors import InvalidParameterError
from evenhand.learn.parity.closest import closest_rates
from evenhand.learn.parity.closest_classes import closest_class_rates


def grid(n, parts):
    """All shares of `n` classes in steps of one over `parts`."""
    return np.array(
        [
            np.diff((-1, *cuts, parts + n - 1)) - 1
            for cuts in itertools.combinations(range(parts + n - 1), n - 1)
        ]
    )


def problem(draws, groups, n, parts):
    points = grid(n, parts)
    return points[draws.integers(0, len(points), groups)], draws.integers(1, 5, groups).astype(float)


def apart(target):
    return (target.max(axis=0) - target.min(axis=0)).max()


@pytest.mark.parametrize(("groups", "n", "parts"), [(2, 3, 6), (3, 3, 5), (4, 3, 4), (3, 4, 4)])
@pytest.mark.parametrize("problems", [6, pytest.param(100, marks=pytest.mark.figures)])
def test_equal_rates_change_as_few_answers_as_the_best_of_all_rates_on_a_grid(groups, n, parts, problems):
    """With a gap of 0 the best rates lie on the grid of the given ones, so nothing between is missed."""
    draws, points = np.random.default_rng(1), grid(n, parts) / parts
    for _ in range(problems):
        counts, weights = problem(draws, groups, n, parts)
        closest = closest_class_rates(counts / parts, weights=weights)
        changed = 0.5 * np.abs(points[:, None, :] - counts / parts).sum(axis=2)

        assert closest.cost == pytest.approx((changed @ weights).min(), abs=1e-8)
        assert closest.lower_bound == pytest.approx(closest.cost, abs=1e-7)
        assert apart(closest.target) < 1e-8


def test_with_a_gap_no_pair_of_rates_on_a_grid_is_cheaper():
    draws, parts = np.random.default_rng(2), 12
    points = grid(3, parts) / parts
    for _ in range(6):
        counts, weights = problem(draws, 2, 3, parts)
        gap = draws.integers(1, 5) / parts
        allowed = (np.abs(points[:, None, :] - points[None, :, :]) <= gap + 1e-9).all(axis=2)
        changed = 0.5 * np.abs(points[None] - (counts / parts)[:, None]).sum(axis=2) * weights[:, None]
        best = np.where(allowed, changed[0][:, None] + changed[1][None, :], np.inf).min()
        closest = closest_class_rates(counts / parts, gap=gap, weights=weights)

        assert closest.cost == pytest.approx(best, abs=1e-8)
        assert apart(closest.target) <= gap + 1e-8


def test_costs_are_those_of_the_best_assignment_of_people():
    """Every common rate on the grid, with people assigned one by one to it as cheaply as can be."""
    draws, parts = np.random.default_rng(3), 4
    points = grid(3, parts)
    for _ in range(6):
        counts, weights = problem(draws, 2, 3, parts)
        costs = draws.integers(-2, 6, (2, 3, 3)).astype(float)
        best = np.inf
        for point in points:
            total = 0.0
            for group in range(2):
                people = np.repeat(np.arange(3), counts[group])
                prices = costs[group][np.ix_(people, np.repeat(np.arange(3), point))]
                total += weights[group] * prices[linear_sum_assignment(prices)].sum() / parts
            best = min(best, total)
        closest = closest_class_rates(counts / parts, weights=weights, costs=costs)

        assert closest.cost == pytest.approx(best, abs=1e-7)


def test_the_cost_is_that_of_another_program_by_another_method():
    """Probabilities of answers themselves as unknowns, and the gap written for every two groups."""
    draws = np.random.default_rng(4)
    for _ in range(6):
        rates, weights, gap = draws.dirichlet(np.ones(4), 3), draws.random(3), 0.1
        size = 3 * 16
        equal, sums = np.zeros((12, size)), np.ones(12)
        for row in range(12):
            equal[row, 4 * row : 4 * row + 4] = 1
        after = np.zeros((3, 4, size))
        for group, c, d in itertools.product(range(3), range(4), range(4)):
            after[group, d, 16 * group + 4 * c + d] = rates[group, c]
        pairs = [after[a, d] - after[b, d] for a, b in itertools.permutations(range(3), 2) for d in range(4)]
        prices = (weights[:, None, None] * rates[:, :, None] * (1 - np.eye(4))).ravel()
        other = linprog(
            prices, A_ub=pairs, b_ub=np.full(len(pairs), gap), A_eq=equal, b_eq=sums, method="highs-ipm"
        )

        assert closest_class_rates(rates, gap=gap, weights=weights).cost == pytest.approx(other.fun, abs=1e-7)


def test_two_classes_are_as_by_the_closed_form():
    draws = np.random.default_rng(5)
    for _ in range(10):
        positive, weights = draws.random(4).round(3), draws.integers(1, 9, 4)
        closed = closest_rates(positive, gap="0.1", weights=weights)
        general = closest_class_rates(np.stack([1 - positive, positive], axis=1), gap="0.1", weights=weights)

        assert general.cost == pytest.approx(closed.cost, abs=1e-8)


def test_the_same_number_of_changes_is_shared_by_the_groups():
    """Any rates between the two cost as much; nobody is to bear it alone."""
    closest = closest_class_rates([[0.6, 0.2, 0.2], [0.2, 0.4, 0.4]])

    assert 0.5 * np.abs(closest.target - closest.rates).sum(axis=1) == pytest.approx([0.2, 0.2], abs=1e-7)


def test_the_order_of_groups_and_the_names_of_classes_change_nothing():
    draws = np.random.default_rng(6)
    rates, weights = draws.dirichlet(np.ones(3), 5), draws.random(5)
    order = draws.permutation(5)
    one = closest_class_rates(rates, gap=0.05, weights=weights)
    other = closest_class_rates(rates[order], gap=0.05, weights=weights[order])

    assert np.array_equal(one.transition[order], other.transition)


def test_probabilities_add_up_and_a_class_without_predictions_stays():
    rates = np.array([[0.5, 0.5, 0.0], [0.2, 0.3, 0.5]])
    closest = closest_class_rates(rates)

    assert closest.transition.sum(axis=2) == pytest.approx(np.ones((2, 3)))
    assert closest.transition[0, 2].tolist() == [0, 0, 1]
    assert np.einsum("gc,gcd->gd", rates, closest.transition) == pytest.approx(closest.target)


@pytest.mark.parametrize(
    ("rates", "given", "told"),
    [
        ([0.5, 0.5], {}, "rates"),
        ([[0.5, 0.6]], {}, "rates"),
        ([[1.5, -0.5]], {}, "rates"),
        ([["a", "b"]], {}, "rates"),
        (np.full((10_001, 2), 0.5), {}, "rates"),
        ([[0.5, 0.5]], {"gap": 2}, "gap"),
        ([[0.5, 0.5]], {"weights": [0]}, "weights"),
        ([[0.5, 0.5]], {"weights": [1, 1]}, "weights"),
        ([[0.5, 0.5]], {"costs": [1, 1]}, "costs"),
        ([[0.5, 0.5]], {"costs": [[np.nan, 1], [1, 1]]}, "costs"),
    ],
)
def test_what_is_no_problem_is_refused_by_name(rates, given, told):
    with pytest.raises(InvalidParameterError, match=rf"The '{told}' parameter of closest_class_rates"):
        closest_class_rates(rates, **given)
