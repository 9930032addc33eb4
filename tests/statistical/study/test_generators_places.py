"""The synthetic districts and counties follow the laws their pages state."""

import math

import numpy as np
import pytest
from scipy.stats import norm

from evenhand.datasets import load
from evenhand.datasets.draws import Draws
from evenhand.datasets.entries.school_districts import sizes
from statistical._exact import ALPHA, Event, exact_events_pvalue

pytestmark = pytest.mark.statistical

N = 200_000


def larger_than(students, *, exponent=1.75, spread=1.58):
    """Return the chance that a district has more students: the slow way, from the stated law."""
    joint = math.exp(6.72 + spread * norm.ppf(0.988))
    if students < joint:
        return norm.sf((math.log(students) - 6.72) / spread)
    return 0.012 * (joint / students) ** exponent


def size_events(**law):
    places = [10, 50, 100, 300, 800, 2_000, 5_000, 10_000, 20_000, 30_000, 60_000, 120_000, 300_000]
    # A size is rounded down, so it is at least a whole number where the law is.
    return [Event(lambda x, t=t: x >= t, larger_than(t, **law)) for t in places]


@pytest.fixture(scope="module")
def students():
    return load("school_districts", n=N, seed=5).frame["num_students"].to_numpy()


def test_sizes_follow_the_stated_law(students):
    assert exact_events_pvalue(students, events=size_events()) > ALPHA
    for wrong in ({"spread": 1.63}, {"spread": 1.53}, {"exponent": 1.4}, {"exponent": 2.2}):
        assert exact_events_pvalue(students, events=size_events(**wrong)) < ALPHA  # the twins


def test_a_log_normal_without_the_tail_is_told_apart():
    """Two million districts, since only the largest few in a million tell."""
    many = sizes(Draws("tail", 5).uniform(2_000_000))
    with_tail = [Event(lambda x, t=t: x >= t, larger_than(t)) for t in (300_000, 1_000_000)]
    without = [
        Event(holds, norm.sf((math.log(t) - 6.72) / 1.58))
        for (holds, _), t in zip(with_tail, (3e5, 1e6), strict=True)
    ]

    assert exact_events_pvalue(many, events=with_tail) > ALPHA
    assert exact_events_pvalue(many, events=without) < ALPHA  # the twin


def county_events(*, spread=1.47, share=-5.1):
    """Events of the citizens of a county, and of the expected share of its language group."""
    citizens = [
        Event(lambda x, t=t: x[:, 0] > t, norm.sf((math.log(t) - 9.98) / spread))
        for t in (2e3, 8e3, 2e4, 5e4, 3e5)
    ]
    # In large counties the binomial draw moves the share little, so the law of the share shows.
    wide = math.hypot(0.2, 1.2)
    shares = [
        Event(lambda x, t=t: x[:, 1] > t * x[:, 0], norm.sf((math.log(t) - share) / wide))
        for t in (0.05, 0.02)
    ]
    return [*citizens, *shares]


@pytest.fixture(scope="module")
def counties():
    frame = load("counties", n=50_000, seed=5, near_per_mille=0).frame
    return np.stack([frame["s"], frame["sp"], frame["spe"]], axis=1)


def test_counties_follow_the_stated_law(counties):
    assert exact_events_pvalue(counties, events=county_events()) > ALPHA
    for wrong in ({"spread": 1.57}, {"spread": 1.37}, {"share": -5.0}, {"share": -5.2}):
        assert exact_events_pvalue(counties, events=county_events(**wrong)) < ALPHA  # the twins


def test_little_schooling_follows_the_stated_law(counties):
    """In large groups the share with little schooling is close to its log-normal law."""
    large = counties[counties[:, 1] > 1_000]
    share = large[:, 2] / large[:, 1]

    def events(middle):
        return [
            Event(lambda x, t=t: x > t, norm.sf((math.log(t) - middle) / 0.485)) for t in (0.08, 0.157, 0.25)
        ]

    assert exact_events_pvalue(share, events=events(-1.85)) > ALPHA
    for wrong in (-1.75, -1.95):
        assert exact_events_pvalue(share, events=events(wrong)) < ALPHA  # the twins
