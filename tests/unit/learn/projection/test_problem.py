"""The dual function of a projection, against the same with a matrix for each row."""

import numpy as np
import pytest

from evenhand.learn.projection import problem as projection_problem
from evenhand.learn.projection.problem import DIVERGENCES, KINDS, ScoredRows, marginals_of, tilt
from unit.learn._projection_cases import (
    GROUPS,
    LABELS,
    SCORES,
    problem_of,
    random_case,
    shares_of,
    slow_matrix,
)

BOTH = pytest.mark.parametrize("kind", KINDS)
EACH = pytest.mark.parametrize("divergence", DIVERGENCES)


def slow_dual(G, scores, multipliers, divergence):  # noqa: N803 - as in the formulas
    """Return value and gradient, row by row."""
    value, gradient = 0.0, np.zeros(G.shape[2])
    for matrix, h in zip(G, scores, strict=True):
        made = tilt(h[:, None], (matrix @ multipliers)[:, None], divergence)
        value += made.phi
        gradient -= matrix.T @ made.q.ravel()
    return value / len(scores), gradient / len(scores)


@BOTH
@EACH
@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("at_once", [7, 1 << 13])
def test_it_is_the_same_with_a_matrix_for_each_row(kind, divergence, shared, at_once, monkeypatch):
    """Everything about the rows passes through one small table; if that loses something, this sees it."""
    monkeypatch.setattr(projection_problem, "_AT_ONCE", at_once)
    scores, groups, labels = random_case(1, shared=shared)
    given = {"scores": scores, "groups": groups, "labels": labels, "k": 3, "calibrated": True}
    problem = problem_of(kind, divergence, **given)
    shares = shares_of(scores, groups, labels, kind, 3, calibrated=True)
    G = slow_matrix(scores, groups, shares, kind, 0.07)
    multipliers = np.random.default_rng(2).exponential(0.3, G.shape[2])
    columns = problem.columns(0.07)
    made = problem.terms(columns @ multipliers, with_value=True)
    value, gradient = slow_dual(G, scores, multipliers, divergence)

    assert made.value == pytest.approx(value, abs=1e-12)
    assert made.gradient @ columns == pytest.approx(gradient, abs=1e-12)


@BOTH
@EACH
@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_hessian_is_the_derivative_of_the_gradient(kind, divergence, shared, n_classes):
    scores, groups, labels = random_case(3, n_classes=n_classes, shared=shared)
    problem = problem_of(kind, divergence, scores=scores, groups=groups, labels=labels, k=3)
    prices = np.random.default_rng(4).normal(size=3 * n_classes)
    hessian = problem.terms(prices).hessian
    for place in range(len(prices)):
        step = np.zeros(len(prices))
        step[place] = 1e-6
        slope = (problem.terms(prices + step).gradient - problem.terms(prices - step).gradient) / 2e-6

        assert slope == pytest.approx(hessian[place], abs=1e-8)


@BOTH
@EACH
def test_certain_probabilities_of_groups_are_the_groups(kind, divergence):
    scores, groups, labels = random_case(5)
    one_hot = np.eye(3)[groups]
    per_class = np.broadcast_to(one_hot, (3, *one_hot.shape))
    prices = np.random.default_rng(6).normal(size=9)
    known = problem_of(kind, divergence, scores=scores, groups=groups, labels=labels, k=3)
    for given in (one_hot, per_class):
        same = problem_of(kind, divergence, scores=scores, groups=given, labels=labels, k=3)
        made, wanted = same.terms(prices, with_value=True), known.terms(prices, with_value=True)

        assert made.value == pytest.approx(wanted.value, abs=1e-13)
        assert made.gradient == pytest.approx(wanted.gradient, abs=1e-13)
        assert made.hessian == pytest.approx(wanted.hessian, abs=1e-13)
        assert same.rows.tilted(same.table(prices), divergence) == pytest.approx(
            known.rows.tilted(known.table(prices), divergence), abs=1e-13
        )
        for ours, theirs in zip(same.rows.ridge(), known.rows.ridge(), strict=True):
            assert ours == pytest.approx(theirs, abs=1e-13)


@BOTH
def test_the_ridge_is_the_mean_of_squared_prices(kind):
    scores, groups, labels = random_case(7)
    problem = problem_of(kind, "kl", scores=scores, groups=groups, labels=labels, k=3)
    prices = np.random.default_rng(8).normal(size=9)
    a = problem.table(prices)[groups] * (scores if kind == "odds" else 1)
    square, line = problem.rows.ridge()

    assert prices @ square @ prices == pytest.approx((a**2).sum() / len(a))
    assert line @ prices == pytest.approx((np.log(scores) * a).sum() / len(a))


def test_tilted_scores_keep_the_order_of_the_rows():
    scores, groups, _ = random_case(9)
    prices = np.random.default_rng(10).normal(size=(3, 3))
    made = ScoredRows(scores, groups, 3, "parity").tilted(prices, "kl")
    slow = [tilt(h[:, None], prices[s][:, None], "kl").q.ravel() for h, s in zip(scores, groups, strict=True)]

    assert made == pytest.approx(np.array(slow), abs=1e-15)


def test_shares_of_class_and_group_are_counted():
    counted = marginals_of(np.eye(2)[LABELS], GROUPS, 2)

    assert counted.tolist() == [[0.2, 0.2], [0.3, 0.3]]
    assert marginals_of(np.eye(2)[LABELS], np.eye(2)[GROUPS], 2) == pytest.approx(counted)
    assert marginals_of(SCORES, GROUPS, 2)[1, 0] == pytest.approx(0.225)


@pytest.mark.parametrize(("kind", "largest"), [("parity", 0.264367816092), ("odds", 0.449246231156)])
def test_the_largest_tolerance_has_a_closed_form(kind, largest):
    for divergence in DIVERGENCES:
        assert problem_of(kind, divergence).largest_tolerance() == pytest.approx(largest, abs=1e-12)
