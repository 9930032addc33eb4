"""The fairest channel is the fairest, and it is private: against slow solvers, random channels and itself.

Every random instance asks for four things: whole numbers that keep epsilon, decided exactly; an unfairness
and an error as stated; no unfairness below the certified bound; and a bound that is close.
"""

from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import minimize

from contract._protocol_claims import exp_below
from evenhand.collect.fairest import optimum as channel_fairest
from evenhand.collect.fairest.optimum import clear_channels, error_range, fairest_channel
from evenhand.collect.fairest.population import dyadic_channel
from evenhand.collect.fairest.search import SearchResult, largest_deviations, least_limit
from evenhand.collect.protocols.optimal_inputs import check_law
from evenhand.errors import GuaranteeError, InvalidParameterError
from property._channel_instances import (
    GRID,
    groups,
    is_channel,
    keeps_privacy,
    random_channel,
    slow_error,
    slow_unfairness,
)

pytestmark = pytest.mark.figures

CLOSE = 1e-8  # of the unfairness before
FRESH = 1_000_000, 1_010_000
LARGE_DUALS = 1_000_915


def solved(case, **options):
    spread = error_range(case.weights, case.rates, case.epsilon)
    error = case.name or spread.least + case.share * (spread.fair - spread.least)
    return fairest_channel(case.weights, case.rates, case.epsilon, error=error, **options)


def faults(case, found, close=CLOSE):
    """Return what is wrong with a channel that was found, in words."""
    rows = dyadic_channel(found.matrix, case.epsilon)
    drawn = np.array(rows) / GRID
    near = close * found.unfairness_before
    stated = slow_unfairness(found.matrix, case.weights, case.rates, found.kind)
    claims = {
        "not private": keeps_privacy(rows, case.epsilon),
        "not a channel": is_channel(found.matrix, case.epsilon),
        "rounding costs": np.abs(drawn - found.matrix).max() < 1e-12,
        "wrong unfairness": abs(stated - found.unfairness) <= 1e-9 * (1 + found.unfairness_before),
        "wrong error": abs(slow_error(found.matrix, case.weights) - found.error) < 1e-12,
        "over budget": found.error <= found.error_budget + 3e-9,
        "below its bound": found.unfairness >= found.bound,
        "bound far": found.unfairness - found.bound <= near + 1e-12,
        "less fair than the truth": found.unfairness <= found.unfairness_before * (1 + 1e-9) + 1e-12,
    }
    return [fault for fault, holds in claims.items() if not holds]


def all_faults(first, last):
    found = {}
    for seed in range(first, last):
        case = groups(seed)
        wrong = faults(case, solved(case))
        if wrong:
            found[seed] = wrong
    return found


def test_300_random_instances_are_private_and_optimal():
    """One matrix that breaks epsilon, or one that is not optimal, and the headline is false."""
    assert all_faults(0, 300) == {}


@pytest.mark.nightly
def test_10000_random_instances_are_private_and_optimal():
    """What happens once in a thousand instances happens to somebody.

    The solver was written without a look at these seeds. When they were first run one of them failed, the one
    of the next test, and the sums of the bound were made exact because of it.
    """
    assert all_faults(*FRESH) == {}


def test_a_bound_is_close_where_a_tiny_group_makes_the_duals_large():
    """Epsilon 18.8, a weight of 5e-7, an error of 3e-8: duals of 2e6 must not cost the proof its digits."""
    case = groups(LARGE_DUALS)
    found = solved(case)

    assert case.weights.min() < 1e-6
    assert found.error_budget < 1e-7
    assert faults(case, found) == []
    assert found.unfairness - found.bound < found.unfairness_before * CLOSE / 2


@pytest.mark.slow
def test_instances_with_many_groups_are_private_and_nearly_optimal():
    """Above 20 groups another method solves the programs, without corners."""
    wrong = {}
    for seed in range(40):
        case = groups(seed, least=21, most=40)
        fault = faults(case, solved(case), close=1e-5)
        if fault:
            wrong[seed] = fault

    assert wrong == {}


@pytest.mark.parametrize("seed", range(8))
def test_a_difference_is_private_and_within_a_percent_of_its_bound(seed):
    """The difference has a search along a line; its certificate says how far from the best it may be."""
    case = groups(seed, most=5)
    found = solved(case, kind="difference")

    assert faults(case, found, close=1e-2) == []


@pytest.mark.parametrize("seed", range(6))
def test_no_random_channel_of_the_same_error_is_fairer(seed):
    """The optimum is a minimum over all channels, not over those that a solver happened to visit."""
    draw = np.random.default_rng(seed)
    case = groups(seed, most=20 if seed < 2 else 8)
    k = len(case.weights)
    for _ in range(4):
        other = random_channel(draw, k, case.epsilon)
        error = min(slow_error(other, case.weights), 1.0)
        found = fairest_channel(case.weights, case.rates, case.epsilon, error=error)

        assert is_channel(other, case.epsilon, tolerance=1e-12)
        assert slow_unfairness(other, case.weights, case.rates) >= found.bound - 1e-9
        assert found.unfairness <= slow_unfairness(other, case.weights, case.rates) + 1e-8


@pytest.mark.parametrize("seed", range(6))
def test_no_step_toward_another_channel_makes_it_fairer(seed):
    """Random channels are far from the optimum; the ones next to it are the test."""
    draw = np.random.default_rng(seed)
    case = groups(100 + seed, most=20 if seed < 2 else 8)
    found = solved(case)
    for length in (0.3, 0.01, 1e-4):
        other = random_channel(draw, len(case.weights), case.epsilon)
        mixed = (1 - length) * found.matrix + length * other
        if slow_error(mixed, case.weights) <= found.error_budget:
            assert slow_unfairness(mixed, case.weights, case.rates) >= found.bound - 1e-9


def slow_optimum(case, error, *, kind, starts, seed=0):
    """Return the least unfairness that a general solver finds from several beginnings."""
    k, weights, rates = len(case.weights), case.weights, case.rates
    mean, ratio = weights @ rates, np.exp(case.epsilon)
    pairs = [(i, j, other) for j in range(k) for i in range(k) for other in range(k) if i != other]

    def reported(x):
        matrix = x[: k * k].reshape(k, k)
        return (weights * rates) @ matrix, weights @ matrix

    def fair(x):
        outcome, made = reported(x)
        if kind == "ratio":
            return np.concatenate([x[-1] * mean * made - sign * (outcome - mean * made) for sign in (1, -1)])
        return np.concatenate([(x[-2] + x[-1]) * made - outcome, outcome - x[-2] * made])

    def rest(x):
        matrix = x[: k * k].reshape(k, k)
        private = [ratio * matrix[other, j] - matrix[i, j] for i, j, other in pairs]
        top = np.diagonal(matrix)
        return np.concatenate(
            [
                private,
                (top[None, :] - matrix).ravel(),
                (top[:, None] - matrix).ravel(),
                [weights @ top - 1 + error],
            ]
        )

    draw, least = np.random.default_rng(seed), np.inf
    for _ in range(starts):
        first = random_channel(draw, k, case.epsilon)
        extra = [slow_unfairness(first, weights, rates, kind)]
        if kind == "difference":
            extra = [min(reported(first.ravel())[0] / reported(first.ravel())[1]), *extra]
        found = minimize(
            lambda x: x[-1],
            np.append(first.ravel(), extra),
            method="SLSQP",
            constraints=[
                {"type": "ineq", "fun": fair},
                {"type": "ineq", "fun": rest},
                {"type": "eq", "fun": lambda x: x[: k * k].reshape(k, k).sum(axis=1) - 1},
            ],
            options={"maxiter": 300, "ftol": 1e-12},
        )
        violated = min(rest(found.x).min(), fair(found.x).min())
        if found.success and violated > -1e-9:
            least = min(least, found.x[-1])
    return least


def ordinary(seed, k):
    draw = np.random.default_rng([seed, k])
    case = groups(0)
    weights = draw.dirichlet(np.full(k, 2.0))
    return type(case)(weights, 0.1 + 0.8 * draw.random(k), float(draw.uniform(0.3, 3)), 0.0, "")


def against_slsqp(k, seed, *, kind="ratio", starts=3):
    case = ordinary(seed, k)
    spread = error_range(case.weights, case.rates, case.epsilon)
    error = spread.least + 0.4 * (spread.fair - spread.least)
    found = fairest_channel(case.weights, case.rates, case.epsilon, error=error, kind=kind)
    return found, slow_optimum(case, error, kind=kind, starts=starts, seed=seed)


@pytest.mark.parametrize("k", [2, 3])
def test_a_general_solver_finds_the_same_optimum(k):
    """SLSQP knows nothing of quasi-convexity, of our variables or of HiGHS."""
    found, slow = against_slsqp(k, 0)

    assert abs(found.unfairness - slow) < 1e-7


@pytest.mark.slow
@pytest.mark.parametrize("k", [2, 3, 4])
@pytest.mark.parametrize("seed", range(1, 5))
def test_a_general_solver_finds_the_same_optimum_in_more_instances(k, seed):
    """Twelve instances, as in the check of the formulas."""
    found, slow = against_slsqp(k, seed, starts=6)

    assert abs(found.unfairness - slow) < 1e-7


@pytest.mark.slow
@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_a_general_solver_finds_no_smaller_difference(k, seed):
    """The search along the line might have stopped in the wrong valley."""
    found, slow = against_slsqp(k, seed, kind="difference", starts=12)

    assert found.unfairness <= slow + 1e-7
    assert slow >= found.bound - 1e-9


def test_the_tie_of_two_groups_as_once_programmed_is_rejected():
    """Twin: with both groups at 1 - e^-eps/2 the ratio is 2 e^eps - 1, which the exact check must see."""
    keep = 1 - np.exp(-1) / 2
    matrix = [[keep, 1 - keep], [1 - keep, keep]]
    rows = [[round(entry * GRID) for entry in row] for row in matrix]

    assert not keeps_privacy(rows, 1.0)
    with pytest.raises(GuaranteeError):
        dyadic_channel(matrix, 1)
    with pytest.raises(InvalidParameterError, match="keep the epsilon"):
        check_law(rows, 2, Fraction(1))


def test_one_unit_over_the_ratio_is_rejected():
    """Twin: the check is exact, so the least step beyond e^eps is too much."""
    ratio = exp_below(Fraction(1))
    small = (GRID // (1 + ratio)).__floor__() + 1
    rows = [[GRID - small, small], [small, GRID - small]]
    over = [[GRID - small + 1, small - 1], [small - 1, GRID - small + 1]]

    assert np.array_equal(check_law(rows, 2, Fraction(1)), rows)
    with pytest.raises(InvalidParameterError, match="keep the epsilon"):
        check_law(over, 2, Fraction(1))


def broken(monkeypatch, name, value):
    monkeypatch.setattr(channel_fairest, name, value)
    clear_channels()
    try:
        return [fault for seed in range(12) for fault in faults(groups(seed), solved(groups(seed)))]
    finally:
        clear_channels()


def test_a_solver_without_repair_is_caught(monkeypatch):
    """Twin: a solver breaks privacy by its tolerances; the checks must see a matrix that was not repaired."""
    wrong = broken(monkeypatch, "repair", lambda matrix, people: matrix * (1 + 1e-9 * np.eye(people.k)))

    assert "not a channel" in wrong


def at_the_start(program, solver, first, budget, *, owner):
    """A search with the wrong sign: it ends where it began, and says that this is the best."""
    right = least_limit(program, solver, first, budget, owner=owner)
    limit = max(largest_deviations(program, first))
    return SearchResult(first, limit, right.bound if owner == "fairest_channel" else limit)


def test_a_solver_that_goes_up_is_caught(monkeypatch):
    """Twin: with the wrong sign the search ends where it began; only the certificate tells."""
    wrong = broken(monkeypatch, "least_limit", at_the_start)

    assert "bound far" in wrong


def test_a_bound_that_is_too_high_is_caught(monkeypatch):
    """Twin: a certificate that promises too much is refuted by a fairer channel of the same error."""
    groups_of_three = ([0.5, 0.3, 0.2], [0.7, 0.4, 0.2], 1)
    right = fairest_channel(*groups_of_three, error=0.45)
    monkeypatch.setattr(
        channel_fairest, "least_limit", lambda *args, owner: at_the_start(*args, owner=f"{owner}, wrong")
    )
    clear_channels()
    wrong = fairest_channel(*groups_of_three, error=0.45)
    clear_channels()

    assert slow_unfairness(right.matrix, *groups_of_three[:2]) < wrong.bound - 1e-3
