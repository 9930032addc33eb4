"""The solver of a projection: published vectors to their digits, brute force on tiny ones, and refusals."""

import itertools

import numpy as np
import pytest
from scipy.optimize import minimize

from evenhand.errors import InvalidParameterError
from evenhand.learn.projection import solver as projection_solver
from evenhand.learn.projection.problem import DIVERGENCES, KINDS, Problem, ScoredRows, divergence_sum
from evenhand.learn.projection.solver import solve
from unit.learn._projection_cases import (
    GROUPS,
    LABELS,
    SCORES,
    problem_of,
    random_case,
    shares_of,
    slow_matrix,
)

TOLERANCES = (0.0, 0.05, 0.1, 0.2)
VECTORS = {
    ("parity", "kl"): (
        (0.034788383536, 0.1685365394, 0.4011876256),
        (0.022861503868, 0.1499671847, 0.4230255155),
        (0.013388327080, 0.1343899308, 0.4481357040),
        (0.002018156108, 0.1108179684, 0.5071128689),
    ),
    ("parity", "ce"): (
        (0.033819946275, 0.1878636803, 0.4106279540),
        (0.022297475576, 0.1597740412, 0.4294201220),
        (0.013110749394, 0.1387377607, 0.4518591423),
        (0.001998408204, 0.1111805112, 0.5075819384),
    ),
    ("odds", "kl"): (
        (0.141423056576, 0.3392939722, 0.2680403459),
        (0.110491801033, 0.3200796708, 0.2932203884),
        (0.084207841149, 0.3049788764, 0.3177367838),
        (0.044957090809, 0.2391960349, 0.3590640997),
    ),
    ("odds", "ce"): (
        (0.133968022274, 0.4481047461, 0.3077272618),
        (0.105203609652, 0.4121431805, 0.3249459878),
        (0.080008071001, 0.3823893989, 0.3436948982),
        (0.043045246247, 0.3070692732, 0.3783343552),
    ),
}
PRINTED = [
    ("parity", "kl", False, 0.009541196171, 0.1206010962),
    ("parity", "ce", False, 0.009499638011, 0.1224717444),
    ("odds", "kl", False, 0.045543582920, 0.1602055036),
    ("odds", "ce", False, 0.045162705006, 0.1776916642),
    ("parity", "kl", True, 0.046607943952, 0.1500546037),
    ("odds", "kl", True, 0.056161279084, 0.1676738130),
]


@pytest.mark.parametrize(("kind", "divergence"), list(VECTORS))
def test_the_vectors_come_out_to_their_last_digit(kind, divergence):
    problem = problem_of(kind, divergence)
    for tolerance, (objective, first, sixth) in zip(TOLERANCES, VECTORS[kind, divergence], strict=True):
        found = solve(problem, tolerance)
        q = problem.rows.tilted(found.prices, divergence)[:, 1]

        assert found.objective == pytest.approx(objective, abs=1e-12)
        assert (q[0], q[5]) == pytest.approx((first, sixth), abs=1e-10)
        assert found.residual < 1e-11
        assert abs(found.gap) < 1e-11


@pytest.mark.parametrize(("kind", "divergence", "stray", "value", "first"), PRINTED)
def test_the_printed_form_comes_out_to_its_last_digit(kind, divergence, stray, value, first):
    problem = problem_of(kind, divergence)
    found = solve(problem, 0.05, ridge=10**-0.5, stray=stray)

    assert found.objective == pytest.approx(value, abs=1e-12)
    assert problem.rows.tilted(found.prices, divergence)[0, 1] == pytest.approx(first, abs=1e-10)


def test_the_printed_form_does_not_meet_its_constraints():
    """Why it is not the default."""
    problem = problem_of("parity", "kl")
    printed = problem.rows.tilted(solve(problem, 0.05, ridge=10**-0.5).prices, "kl")
    exact = problem.rows.tilted(solve(problem, 0.05).prices, "kl")

    assert np.abs(exact[:5].mean(axis=0) / exact.mean(axis=0) - 1).max() == pytest.approx(0.05, abs=1e-9)
    assert np.abs(printed[:5].mean(axis=0) / printed.mean(axis=0) - 1).max() > 0.1


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("divergence", DIVERGENCES)
@pytest.mark.parametrize("tolerance", [0.0, 0.1])
@pytest.mark.parametrize("shared", [False, True])
def test_brute_force_on_the_scores_finds_nothing_better(kind, divergence, tolerance, shared):
    """The primal problem itself, by sequential quadratic programming, with the constraints written out."""
    scores, groups, labels = random_case(11, n=9, n_classes=2, k=2, shared=shared)
    shares = shares_of(scores, groups, labels, kind, 2, calibrated=True)
    problem = problem_of(kind, divergence, scores=scores, groups=groups, labels=labels, calibrated=True)
    found = solve(problem, tolerance)
    flat = slow_matrix(scores, groups, shares, kind, tolerance)
    flat = flat.transpose(2, 0, 1).reshape(flat.shape[2], -1) / len(scores)

    def both(x):
        return np.column_stack([1 - x, x])

    rule = {"type": "ineq", "fun": lambda x: -flat @ both(x).ravel()}
    if tolerance == 0:  # a half of the constraints, as equalities, without those that follow from others
        used = [0, 2] if kind == "odds" else [0]
        rule = {"type": "eq", "fun": lambda x: (flat @ both(x).ravel())[used]}
    slow = minimize(
        lambda x: divergence_sum(both(x).T, scores.T, divergence) / len(x),
        scores[:, 1],
        constraints=rule,
        bounds=[(1e-6, 1 - 1e-6)] * len(scores),
        options={"ftol": 1e-13, "maxiter": 1_000},
    )
    q = problem.rows.tilted(found.prices, divergence)

    assert slow.success
    assert found.objective == pytest.approx(slow.fun, abs=1e-7)
    assert q[:, 1] == pytest.approx(slow.x, abs=1e-3)
    assert (flat @ q.ravel()).max() < 1e-9


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize(("n_classes", "k"), [(2, 4), (3, 3)])
def test_any_number_of_classes_and_groups(n_classes, k, shared):
    for kind in KINDS:
        for divergence in DIVERGENCES:
            scores, groups, labels = random_case(12, n=120, n_classes=n_classes, k=k, shared=shared)
            given = {"scores": scores, "groups": groups, "labels": labels, "k": k, "calibrated": True}
            problem = problem_of(kind, divergence, **given)
            largest = problem.largest_tolerance()
            for share in (0, 1e-5, 0.5, 0.999999):
                found = solve(problem, share * largest)
                room = problem.terms(found.prices.ravel()).gradient @ problem.columns(share * largest)

                assert room.min() > -1e-9
                assert abs(found.gap) < 1e-8
                assert found.steps < 60


def test_a_step_that_goes_too_far_is_taken_back():
    """Single rows with scores near 0 and 1: Newton's first step at tolerance 0 overshoots by far."""
    near = np.array([0.9642, 0.9996, 0.4240, 0.0001, 0.9923, 0.0006, 0.9649, 0.9999, 0.0001])
    scores = np.column_stack([1 - near, near])
    groups = np.array([0, 1, 2, 3, 2, 3, 1, 1, 3])
    given = {"scores": scores, "groups": groups, "labels": groups % 2, "k": 4}
    for divergence in DIVERGENCES:
        found = solve(problem_of("parity", divergence, **given), 0.0)
        near_nothing = solve(problem_of("parity", divergence, **given), 1e-6)

        assert found.residual < 1e-11
        assert found.objective == pytest.approx(near_nothing.objective, abs=1e-5)


def test_nothing_is_done_where_nothing_is_asked():
    for kind in KINDS:
        problem = problem_of(kind, "kl")
        found = solve(problem, problem.largest_tolerance() * (1 + 1e-12))

        assert not found.multipliers.any()
        assert not found.prices.any()
        assert found.objective == pytest.approx(0, abs=1e-15)
        assert solve(problem, problem.largest_tolerance() * (1 - 1e-6)).multipliers.any()


def test_a_tolerance_too_small_to_tell_from_nothing_is_nothing():
    problem = problem_of("odds", "ce")

    assert solve(problem, 1e-12).objective == solve(problem, 0.0).objective


def contradicted():
    """One group of two has twice the rows of either class, say the labels, and half of all, say the rows."""
    shares = np.array([[1, 2], [1, 2]]) / 6
    rows = ScoredRows(np.full((20, 2), 0.5), np.repeat([0, 1], 10), 2, "odds")
    return {divergence: Problem.of(rows, divergence, marginals=shares) for divergence in DIVERGENCES}


@pytest.mark.parametrize("divergence", DIVERGENCES)
@pytest.mark.parametrize("tolerance", [0.0, 0.01, 0.2])
def test_what_no_scores_can_meet_is_refused(divergence, tolerance):
    """To meet both classes, scores of one row would have to add up to more than one."""
    with pytest.raises(InvalidParameterError, match="marginals='calibrated'"):
        solve(contradicted()[divergence], tolerance)


def test_a_solution_that_is_not_exact_is_refused(monkeypatch):
    """A projection that quietly misses its constraints would be worse than none."""
    monkeypatch.setattr(projection_solver, "_MOST_STEPS", 2)
    monkeypatch.setattr(projection_solver, "_polish", lambda dual, x, z: x)
    for tolerance in (0.0, 0.05):
        with pytest.raises(InvalidParameterError, match="can be computed to within 1e-08"):
            solve(problem_of("odds", "ce"), tolerance)


def test_a_search_without_progress_ends_and_is_refused(monkeypatch):
    numbers = itertools.count()
    monkeypatch.setattr(projection_solver, "_merit", lambda first, second: next(numbers))
    monkeypatch.setattr(projection_solver, "_polish", lambda dual, x, z: x)
    with pytest.raises(InvalidParameterError, match="can be computed to within"):
        solve(problem_of("parity", "kl"), 0.05)


def test_multipliers_without_end_mean_that_nothing_meets_the_tolerance():
    with pytest.raises(InvalidParameterError, match="marginals='calibrated' takes the shares"):
        projection_solver._refuse_infeasible(np.array([1.0, 2e6]))
    with pytest.raises(InvalidParameterError, match="one that some scores can meet"):
        projection_solver._refuse_infeasible(np.array([np.nan]))


def test_rows_in_another_order_have_the_same_projection():
    order = np.random.default_rng(13).permutation(len(SCORES))
    for kind in KINDS:
        for divergence in DIVERGENCES:
            problem = problem_of(kind, divergence)
            mixed = problem_of(
                kind, divergence, scores=SCORES[order], groups=GROUPS[order], labels=LABELS[order]
            )
            one, other = solve(problem, 0.1), solve(mixed, 0.1)

            assert one.objective == pytest.approx(other.objective, abs=1e-13)
            assert mixed.rows.tilted(other.prices, divergence) == pytest.approx(
                problem.rows.tilted(one.prices, divergence)[order], abs=1e-12
            )
