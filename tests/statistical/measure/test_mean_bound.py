"""The bound of a mean of which nothing is known but how far it can go: how often it holds.

Worlds with rare differences: a repeat differs from 0 with a small probability, by amounts of several laws. A
bound is looked at only where some repeats differ and more than half do not, as in a table of effects.
"""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta, binom, t

from evenhand.measure.repeat_means import bound_mean

SEED = 20_261_118
STUDIES = 200
REPEATS, SHARES = (5, 10, 30), (0.02, 0.1, 0.3, 0.45)
LAWS = {  # a law of what differs, of at most 1, and its mean
    "alike": (lambda rng, n: np.full(n, 0.2), 0.2),
    "any": (lambda rng, n: rng.uniform(size=n), 0.5),
    "mostly small": (lambda rng, n: np.where(rng.uniform(size=n) < 0.1, 1.0, 0.05), 0.145),
    "tailed": (lambda rng, n: rng.beta(0.2, 2.0, size=n), 0.2 / 2.2),
    "either way": (lambda rng, n: np.where(rng.uniform(size=n) < 0.2, 0.9, -0.1), 0.1),
}  # fmt: skip


def student_bound(values, *, most):
    """Return what Student's t gives for the same values."""
    return values.mean() + t.ppf(0.95, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values))


def count_misses(rng, repeats, share, law, bound=bound_mean):
    """Return in what share of studies a bound is shown and ends below the true mean."""
    draw, mean = LAWS[law]
    missed = 0
    for _ in range(STUDIES):
        differs = rng.uniform(size=repeats) < share
        if 0 < differs.sum() < repeats / 2:
            values = np.zeros(repeats)
            values[differs] = draw(rng, differs.sum())
            missed += bound(values, most=1.0) < share * mean
    return missed / STUDIES


@pytest.mark.statistical
def test_the_bound_holds_in_worlds_with_rare_differences():
    """If not, a group that is rarely hit, and hard, would pass for one that loses less than another."""
    rng = np.random.default_rng(SEED)
    missed = [count_misses(rng, *world) for world in product(REPEATS, SHARES, LAWS)]

    assert np.mean(missed) <= 0.02
    assert max(missed) <= 0.06


@pytest.mark.statistical
def test_student_is_seen_to_end_before_the_mean():
    """The twin: the spread of a few repeats says nothing about a large loss that is rare."""
    rng = np.random.default_rng(SEED)

    assert count_misses(rng, 30, 0.1, "mostly small", student_bound) > 0.06


@pytest.mark.parametrize("repeats", [5, 10, 30, 100])
def test_of_values_that_are_0_or_the_most_it_is_that_of_clopper_and_pearson(repeats):
    """There it is exact: it misses with 5 % at most, whatever the share is."""
    counts = np.arange(repeats)
    bounds = [bound_mean(np.arange(repeats) < count, most=1.0) for count in counts]

    np.testing.assert_allclose(bounds, beta.ppf(0.95, counts + 1, repeats - counts), rtol=1e-9)
    for share in np.linspace(0.01, 0.99, 99):
        assert binom.pmf(counts[np.array(bounds) < share], repeats, share).sum() <= 0.05


def test_it_is_the_quantile_of_randomly_weighted_values():
    """The slow and obvious version: weights as long as the gaps between places on a line."""
    rng = np.random.default_rng(SEED)
    values = np.array([0.0] * 12 + [-30.0, 40.0, 41.0])
    weighted = rng.dirichlet(np.ones(16), size=400_000) @ np.append(values, 500.0)

    assert bound_mean(values, most=500.0) == pytest.approx(np.quantile(weighted, 0.95), rel=0.01)


@given(
    values=st.lists(st.floats(-1e3, 1e3) | st.sampled_from([0.0, 0.1, 69.97448685264877]), max_size=40),
    most=st.floats(0, 2e3) | st.just(np.nextafter(69.97448685264877, 99)),
)
def test_any_repeats_have_a_bound(values, most):
    """If not, a study would end in an error because two numbers are nearly equal."""
    bound = bound_mean(np.array(values, dtype=float), most=most)

    assert np.mean(values or [-1e3]) - 1e-9 <= bound <= max([most, *values])


def test_it_is_no_less_than_the_mean_and_no_more_than_is_possible():
    assert bound_mean(np.full(4, 7.0), most=7.0) == 7.0
    assert bound_mean(np.full(4, 8.0), most=7.0) == 8.0
    assert bound_mean(np.full(10, 0.3), most=0.1 + 0.2) == pytest.approx(0.3)
    assert 3.0 < bound_mean(np.array([1.0, 5.0, np.nan]), most=7.0) < 7.0
    assert bound_mean(np.array([]), most=7.0) == 7.0
