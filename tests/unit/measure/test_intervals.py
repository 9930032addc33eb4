import math

import numpy as np
import pytest
from scipy.stats import binom, binomtest

from evenhand.errors import InvalidParameterError
from evenhand.measure import (
    Interval,
    clopper_pearson,
    mean_of_shares,
    newcombe,
    share_difference,
    share_ratio,
    wilson,
)

TWO_SHARES = [newcombe, share_difference, share_ratio, mean_of_shares]


@pytest.mark.parametrize("method", ["exact", "wilson"])
@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_intervals_of_a_share_equal_those_of_scipy(method, level):
    function = {"exact": clopper_pearson, "wilson": wilson}[method]
    for trials in (1, 2, 7, 30):
        successes = np.arange(trials + 1)
        low, high = function(successes, trials, level)
        for x in successes:
            expected = binomtest(int(x), trials).proportion_ci(level, method=method)
            assert (low[x], high[x]) == pytest.approx((expected.low, expected.high), abs=1e-10)


def test_the_exact_interval_covers_for_every_rate():
    """Summed over all outcomes, not simulated: never below the level."""
    for trials in (1, 2, 5, 30):
        low, high = clopper_pearson(np.arange(trials + 1), trials, 0.9)
        for rate in np.linspace(0, 1, 101):
            inside = (low <= rate) & (rate <= high)
            assert binom.pmf(np.arange(trials + 1), trials, rate)[inside].sum() >= 0.9 - 1e-12


# Newcombe (1998), table II: 56/70 - 48/80, 9/10 - 3/10, 6/7 - 2/7, 5/56 - 0/29, 0/10 - 0/20, 0/10 - 0/10,
# 10/10 - 0/20, 10/10 - 0/10, method 10.
PUBLISHED = [
    ((56, 70, 48, 80), (0.0524, 0.3339)),
    ((9, 10, 3, 10), (0.1705, 0.8090)),
    ((6, 7, 2, 7), (0.0582, 0.8062)),
    ((5, 56, 0, 29), (-0.0381, 0.1926)),
    ((0, 10, 0, 20), (-0.1611, 0.2775)),
    ((0, 10, 0, 10), (-0.2775, 0.2775)),
    ((10, 10, 0, 20), (0.6791, 1.0)),
    ((10, 10, 0, 10), (0.6075, 1.0)),
]


@pytest.mark.parametrize(("shares", "expected"), PUBLISHED)
def test_differences_have_the_published_intervals(shares, expected):
    low, high = newcombe(*shares)

    assert (round(float(low), 4), round(float(high), 4)) == expected


@pytest.mark.parametrize("function", [newcombe, share_difference])
def test_swapping_the_shares_mirrors_the_difference(function):
    low, high = function(3, 11, 8, 17)
    mirrored_low, mirrored_high = function(8, 17, 3, 11)

    assert (-mirrored_high, -mirrored_low) == pytest.approx((low, high))


def test_swapping_the_shares_inverts_the_ratio():
    """Fails for intervals that treat numerator and denominator differently."""
    low, high = share_ratio(3, 11, 8, 17)
    inverse_low, inverse_high = share_ratio(8, 17, 3, 11)

    assert (1 / inverse_high, 1 / inverse_low) == pytest.approx((low, high))


def test_the_ratio_limits_solve_the_equation_they_come_from():
    """R is a limit if the interval of p1 - R p2, by the same recovery of variances, just reaches 0."""
    first, second, n1, n2 = 0.3, 0.6, 100, 50
    low, high = share_ratio(30, n1, 30, n2)
    (l1, u1), (l2, u2) = clopper_pearson(30, n1), clopper_pearson(30, n2)

    assert first - low * second == pytest.approx(math.hypot(first - l1, low * (u2 - second)))
    assert high * second - first == pytest.approx(math.hypot(u1 - first, high * (second - l2)))


@pytest.mark.parametrize("function", TWO_SHARES)
def test_the_smallest_samples_have_limits(function):
    for n1 in (1, 2):
        for n2 in (1, 2):
            for x1 in range(n1 + 1):
                for x2 in range(1, n2 + 1):
                    low, high = function(x1, n1, x2, n2)
                    assert low <= high
                    assert np.isfinite([low, high]).all()


def test_a_ratio_of_nothing_starts_at_0_and_ends_somewhere():
    low, high = share_ratio(0, 10, 5, 10)

    assert low == 0
    assert 0 < high < math.inf


def test_a_ratio_over_nothing_has_no_limits():
    low, high = share_ratio(5, 10, 0, 10)

    assert math.isnan(low)
    assert math.isnan(high)


@pytest.mark.parametrize("function", [clopper_pearson, wilson])
def test_no_trials_have_no_interval(function):
    low, high = function([0, 1], [0, 2])

    assert math.isnan(low[0])
    assert math.isnan(high[0])
    assert not np.isnan(low[1])


@pytest.mark.parametrize("function", TWO_SHARES)
def test_no_trials_on_a_side_have_no_interval(function):
    for shares in ((0, 0, 1, 2), (1, 2, 0, 0)):
        assert np.isnan(function(*shares)).all()


@pytest.mark.parametrize("function", TWO_SHARES)
def test_functions_broadcast(function):
    low, _ = function(np.arange(1, 4)[:, None], 5, np.arange(1, 6), 5)

    assert low.shape == (3, 5)
    assert low[2, 3] == function(3, 5, 4, 5)[0]


@pytest.mark.parametrize("function", [clopper_pearson, wilson])
@pytest.mark.parametrize("level", [0.0, 1.0, 2, -1, "x", None])
def test_levels_outside_0_and_1_are_refused(function, level):
    with pytest.raises(InvalidParameterError, match=f"'level' parameter of {function.__name__}"):
        function(1, 2, level)


def test_an_interval_unpacks_and_contains():
    interval = Interval(0.25, 0.5, 0.95, "test", exact=True)
    low, high = interval

    assert (low, high) == (0.25, 0.5)
    assert 0.25 in interval
    assert 0.6 not in interval


def test_an_undefined_interval_contains_nothing():
    assert 0 not in Interval(math.nan, math.nan, 0.95, "none", exact=False, reason="There are no rows.")


def test_large_counts_keep_their_precision():
    low, high = clopper_pearson(500_000_000, 1_000_000_000)

    assert high - low == pytest.approx(2 * 1.959964 * math.sqrt(0.25e-9), rel=1e-3)
