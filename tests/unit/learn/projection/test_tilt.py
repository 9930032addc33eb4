"""Tilted scores: published vectors, derivatives by differences, and the slow way to find them."""

import numpy as np
import pytest
from scipy.optimize import minimize

from evenhand.learn.projection import problem
from evenhand.learn.projection.problem import DIVERGENCES, _reach, divergence_sum, tilt


def column(*values):
    return np.array(values, dtype=float)[:, None]


@pytest.mark.parametrize(
    ("divergence", "h", "a", "q", "phi"),
    [
        ("ce", (0.3, 0.7), (0.2, -0.1), (0.2445729008882, 0.7554270991118), 0.018689479535),
        (
            "ce",
            (0.2, 0.5, 0.3),
            (0.4, -0.3, 0.1),
            (0.13264407047878, 0.61896930426293, 0.24838662525829),
            0.075749904084,
        ),
        (
            "kl",
            (0.2, 0.5, 0.3),
            (0.4, -0.3, 0.1),
            (0.12408225691686, 0.62467745203844, 0.25124029104470),
            0.077372658638,
        ),
    ],
)
def test_the_vectors_come_out_to_their_last_digit(divergence, h, a, q, phi):
    made = tilt(column(*h), column(*a), divergence)

    assert made.q.ravel() == pytest.approx(q, abs=1e-13)
    assert made.phi == pytest.approx(phi, abs=1e-12)


@pytest.mark.parametrize("divergence", DIVERGENCES)
@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_the_tilt_is_the_best_of_the_simplex(divergence, n_classes):
    """The slow way: minimise divergence plus price over the simplex."""
    generator = np.random.default_rng(n_classes)
    h, a = generator.dirichlet(np.ones(n_classes)), generator.normal(size=n_classes)

    def cost(q):
        return divergence_sum(q[:, None], h[:, None], divergence) + a @ q

    sums = {"type": "eq", "fun": lambda q: q.sum() - 1}
    bounds = [(1e-9, 1)] * n_classes
    slow = minimize(cost, h, constraints=sums, bounds=bounds, options={"ftol": 1e-15, "maxiter": 500})
    made = tilt(column(*h), column(*a), divergence)

    assert made.q.ravel() == pytest.approx(slow.x, abs=2e-6)
    assert made.phi == pytest.approx(-slow.fun, abs=1e-9)


@pytest.mark.parametrize("divergence", DIVERGENCES)
@pytest.mark.parametrize("n_classes", [2, 4])
def test_the_derivatives_are_those_of_the_function(divergence, n_classes):
    generator = np.random.default_rng(1)
    h, a = generator.dirichlet(np.ones(n_classes)), generator.normal(size=n_classes)
    made = tilt(column(*h), column(*a), divergence)
    w = made.w.ravel()
    total = 1.0 if made.total is None else float(made.total[0])
    hessian = np.diag(w) - np.outer(w, w) / total
    for c in range(n_classes):
        step = np.zeros(n_classes)
        step[c] = 1e-6
        up, down = (tilt(column(*h), column(*(a + sign * step)), divergence) for sign in (1, -1))

        assert (up.phi - down.phi) / 2e-6 == pytest.approx(-made.q[c, 0], abs=1e-8)
        assert (down.q - up.q).ravel() / 2e-6 == pytest.approx(hessian[c], abs=1e-8)


def test_two_classes_in_closed_form_are_the_search():
    generator = np.random.default_rng(2)
    positive = generator.beta(0.3, 0.3, 2_000) * (1 - 2e-4) + 1e-4
    h = np.array([1 - positive, positive])
    for spread in (1e-9, 0.1, 1, 30, 1e4):
        a = generator.normal(scale=spread, size=h.shape)
        q = tilt(h, a, "ce").q
        searched = h / _reach(h, a)

        assert q.sum(axis=0) == pytest.approx(1, abs=1e-12)
        assert np.abs(q - searched / searched.sum(axis=0)).max() < 1e-9


def test_a_search_that_is_cut_short_stays_on_its_side(monkeypatch):
    """Every step goes right and none goes too far: what is reached is never past the root."""
    generator = np.random.default_rng(5)
    h, a = generator.dirichlet(np.ones(4), 200).T, generator.normal(size=(4, 200))
    full = _reach(h, a)
    for steps in (1, 2):
        monkeypatch.setattr(problem, "_MOST_STEPS", steps)
        short = _reach(h, a)

        assert (short > 0).all()
        assert (short <= full + 1e-12).all()


@pytest.mark.parametrize("divergence", DIVERGENCES)
def test_no_price_means_no_change(divergence):
    h = np.random.default_rng(3).dirichlet(np.ones(4), 50).T
    made = tilt(h, np.zeros_like(h), divergence)

    assert made.q == pytest.approx(h, abs=1e-15)
    assert made.phi == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("divergence", DIVERGENCES)
def test_huge_prices_stay_finite(divergence):
    h = np.array([[1e-4, 0.5, 0.9999], [0.9999, 0.5, 1e-4]])
    for price in (-1e5, 1e5):
        made = tilt(h, np.array([[0.0], [price]]), divergence)

        assert np.isfinite(made.q).all()
        assert np.isfinite(made.phi)
        assert made.q.sum(axis=0) == pytest.approx(1, abs=1e-12)


def test_one_price_for_all_rows_is_that_price_in_each():
    h = np.random.default_rng(4).dirichlet(np.ones(3), 20).T
    a = column(0.3, -0.2, 1.0)
    for divergence in DIVERGENCES:
        one, each = tilt(h, a, divergence), tilt(h, np.tile(a, (1, 20)), divergence)

        assert one.q == pytest.approx(each.q, abs=1e-15)
        assert one.phi == pytest.approx(each.phi, abs=1e-12)


def test_a_score_of_nothing_adds_no_divergence():
    assert divergence_sum(np.array([[0.0], [1.0]]), np.array([[0.5], [0.5]]), "kl") == pytest.approx(
        np.log(2)
    )
