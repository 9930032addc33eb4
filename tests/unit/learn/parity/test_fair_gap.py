"""The gap that is left where every group is selected at the same rate."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.learn.parity.fair_gap import fair_gap


def test_the_gap_of_two_equal_rates_has_its_formula():
    spread = math.sqrt(0.16 * (1 / 7_600 + 1 / 3_700))

    assert fair_gap([7_600, 3_700], 0.2) == pytest.approx(math.sqrt(2 / math.pi) * spread, rel=1e-12)


@given(st.lists(st.integers(3_000, 10**6), min_size=3, max_size=3), st.floats(0.01, 0.99))
def test_three_groups_have_the_mean_range_of_three_normals(sizes, rate):
    """That is the sum of the three standard deviations of differences over the root of two pi."""
    spread = [math.sqrt(rate * (1 - rate) / size) for size in sizes]
    pairs = [(0, 1), (0, 2), (1, 2)]
    expected = sum(math.hypot(spread[a], spread[b]) for a, b in pairs) / math.sqrt(2 * math.pi)

    assert fair_gap(sizes, rate) == pytest.approx(min(expected, 1.0), rel=2e-3)


@pytest.mark.parametrize(
    ("sizes", "rate"), [([300, 900, 60], 0.35), ([225, 124, 101, 40, 6, 3], 0.07), ([20_000, 4], 0.03)]
)
def test_it_is_what_equal_rates_show_when_they_are_drawn(sizes, rate):
    """Small groups are not normal: taken as such they would excuse gaps twice as wide as chance makes."""
    sizes = np.array(sizes)
    drawn = np.random.default_rng(5).binomial(sizes, rate, size=(40_000, len(sizes))) / sizes
    found = np.ptp(drawn, axis=1)

    assert fair_gap(sizes, rate) == pytest.approx(found.mean(), abs=6 * found.std() / 200)


@pytest.mark.parametrize(
    ("sizes", "rate", "expected"),
    [([10, 10], 0.0, 0.0), ([10, 10, 10], 1.0, 0.0), ([1, 1, 1, 1, 1], 0.5, 15 / 16)],
)
def test_the_ends_are_as_they_must_be(sizes, rate, expected):
    assert fair_gap(sizes, rate) == pytest.approx(expected)


@pytest.mark.parametrize(("sizes", "rate"), [([5], 0.5), ([], 0.5), ([5, 0], 0.5), ([5, 5], math.nan)])
def test_without_two_groups_there_is_no_gap(sizes, rate):
    assert math.isnan(fair_gap(sizes, rate))
