"""Intervals of ratios: Fieller's set, and distances from quadrics."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from evenhand.collect.estimates.ratio_limits import (
    distance,
    fieller_limits,
    find_limit,
    is_separated,
    rate_variance,
)
from evenhand.collect.protocols.channel import Channel
from evenhand.collect.protocols.registry import PROTOCOLS

Z = 1.96


def _limits(above, below, variance, *, known=True):
    low, high = fieller_limits(
        np.array([above]), np.array([below]), variance=np.array([variance]), known=np.array([known]), z=Z
    )
    return float(low[0]), float(high[0])


@given(
    st.floats(0, 0.3), st.floats(0.35, 1), st.floats(1e-6, 1e-3), st.floats(-0.9, 0.9), st.floats(1e-6, 1e-3)
)
def test_the_closed_form_is_the_set(above, below, of_above, correlation, of_below):
    """Look at every rate on a grid."""
    covariance = correlation * np.sqrt(of_above * of_below)
    grid = np.linspace(0, 1, 20_001)
    held = (above - grid * below) ** 2 <= Z**2 * (of_above - 2 * grid * covariance + grid**2 * of_below)
    low, high = _limits(above, below, [of_above, -2 * covariance, of_below])

    assert low == pytest.approx(grid[held].min(), abs=6e-5)
    assert high == pytest.approx(grid[held].max(), abs=6e-5)


def test_a_share_that_may_be_zero_gives_the_whole_interval():
    """The ratio of something to nothing can be anything; a bounded interval would be a lie."""
    assert _limits(0.1, 0.3, [1e-4, 0, 1e-4], known=False) == (0, 1)
    assert _limits(0.1, 0.01, [1e-4, 0, 1e-4]) == (0, 1)  # the set is unbounded although somebody said known


@pytest.mark.parametrize(("above", "edge"), [(-0.05, 0), (0.4, 1)])
def test_a_rate_outside_gets_the_interval_of_the_edge(above, edge):
    low, high = _limits(above, 0.3, [1e-4, 0, 1e-4])

    assert edge in (low, high)
    assert high - low > 0.02


def test_separation_needs_a_share_above_zero():
    found = is_separated(np.array([0.3, 0.3, -0.3]), np.array([0.01, 0.04, 0.01]), Z)

    assert found.tolist() == [True, False, False]


@pytest.mark.parametrize("name", [name for name in PROTOCOLS if name != "optimal"])
def test_the_variance_of_a_rate_is_that_of_the_scores(name):
    """Enumerate a person: in the group or not, with the outcome or not, report in support or not."""
    protocol = PROTOCOLS[name](k=3, epsilon=1)
    p, q = protocol.p, protocol.q
    share, rate, overall = 0.3, 0.4, 0.25
    cells = {
        (1, 1): share * rate,
        (1, 0): share * (1 - rate),
        (0, 1): overall - share * rate,
        (0, 0): 1 - share - overall + share * rate,
    }
    expected = sum(
        chance * (y - rate) ** 2 * ((own * (1 - q) ** 2 + (1 - own) * q**2) / (p - q) ** 2)
        for (member, y), chance in cells.items()
        for own in [p if member else q]
    )
    channel = Channel(protocol.p_exact, protocol.q_exact)
    constant, linear, square = rate_variance(
        np.array([share]), np.array([overall]), channel.mean_squares(np.empty(0))
    )[0]

    assert constant + linear * rate + square * rate**2 == pytest.approx(expected, rel=1e-9)


# --- quadrics -------------------------------------------------------------------------------------


def _slow_distance(point, covariance, quadratic, linear):
    """Minimise with the condition as a constraint, from several starting points."""
    inverse = np.linalg.inv(covariance)

    def far(m):
        return (m - point) @ inverse @ (m - point)

    def condition(m):
        return m @ quadratic @ m + linear @ m

    best = np.inf
    for shift in np.vstack([np.zeros_like(point), *(0.1 * np.eye(len(point)))]):
        constraint = {"type": "eq", "fun": condition}
        found = minimize(far, point + shift, constraints=[constraint], method="SLSQP", tol=1e-14)
        if found.success and abs(condition(found.x)) < 1e-8:
            best = min(best, found.fun)
    return best


@pytest.mark.parametrize("seed", range(8))
def test_the_distance_is_the_least(seed):
    """A point nearer than the one found would belong into the interval and be missing."""
    generator = np.random.default_rng(seed)
    point = generator.uniform(0.2, 0.8, size=4)
    mixed = generator.normal(size=(4, 4))
    covariance = 0.01 * (mixed @ mixed.T + 0.1 * np.eye(4))
    quadratic = np.zeros((4, 4))
    quadratic[0, 3] = quadratic[3, 0] = 0.5
    quadratic[1, 2] = quadratic[2, 1] = -0.5
    quadratic[1, 3] = quadratic[3, 1] = -generator.uniform(-0.5, 0.5)
    linear = generator.normal(size=4) * (seed % 2)

    fast = distance(point, np.linalg.cholesky(covariance), quadratic, linear)

    assert float(fast) == pytest.approx(_slow_distance(point, covariance, quadratic, linear), rel=1e-5)


def test_a_plane_is_a_quadric_too():
    root = np.diag([0.1, 0.2])

    found = distance(np.array([0.5, 0.7]), root, np.zeros((2, 2)), np.array([1.0, 0.0]))

    assert float(found) == pytest.approx(25)


def test_a_point_on_the_quadric_is_at_no_distance():
    quadratic = np.array([[0, 0.5], [0.5, 0]])

    assert float(distance(np.array([0.0, 0.3]), np.eye(2), quadratic, np.zeros(2))) == 0


def test_reach_finds_the_ends_of_a_fieller_interval():
    """With one ratio the equation is linear and the answer is known."""
    above, below, variance = 0.12, 0.4, 1e-4
    point, covariance = np.array([[above, below]]), variance * np.eye(2)[None]

    def equation(ratio):
        linear = np.stack([np.ones_like(ratio), -ratio], axis=-1)
        return np.zeros((*ratio.shape, 2, 2)), linear

    start = np.array([above / below])
    low, high = (
        float(find_limit(point, covariance, equation, start, np.array([end]), Z)[0]) for end in (0.0, 1.0)
    )

    assert (low, high) == pytest.approx(_limits(above, below, [variance, 0, variance]), abs=1e-10)


def test_reach_goes_no_further_than_it_should():
    point, covariance = np.array([[0.12, 0.4]]), 1e-4 * np.eye(2)[None]

    def equation(ratio):
        return np.zeros((*ratio.shape, 2, 2)), np.stack([np.ones_like(ratio), -ratio], axis=-1)

    assert find_limit(point, covariance, equation, np.array([0.3]), np.array([0.31]), Z).tolist() == [0.31]


def test_the_search_ends_in_any_case(monkeypatch):
    """Numbers that are no numbers never settle; the search must not go on for ever."""
    monkeypatch.setattr("evenhand.collect.estimates.ratio_limits._STEPS", 3)
    found = distance(np.array([np.nan, 0.7]), np.eye(2), np.array([[0, 0.5], [0.5, 0]]), np.zeros(2))

    assert np.isnan(found)


def test_the_search_for_an_end_stops_where_it_found_it():
    """Every look costs as much as the first, and there are as many searches as pairs of groups."""
    looks = []

    def equation(ratio):
        looks.append(ratio)
        return np.zeros((*ratio.shape, 2, 2)), np.stack([np.ones_like(ratio), -ratio], axis=-1)

    find_limit(np.array([[0.12, 0.4]]), 1e-4 * np.eye(2)[None], equation, np.array([0.3]), np.array([1.0]), Z)

    assert len(looks) < 20


def test_the_search_for_an_end_ends_in_any_case(monkeypatch):
    """Cut short, it still gives a value between where it began and where it was to go."""
    monkeypatch.setattr("evenhand.collect.estimates.ratio_limits._LOOKS", 1)

    def equation(ratio):
        return np.zeros((*ratio.shape, 2, 2)), np.stack([np.ones_like(ratio), -ratio], axis=-1)

    point, covariance = np.array([[0.12, 0.4]]), 1e-4 * np.eye(2)[None]

    assert 0.3 < find_limit(point, covariance, equation, np.array([0.3]), np.array([1.0]), Z)[0] < 1
