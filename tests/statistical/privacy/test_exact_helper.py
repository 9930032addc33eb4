"""The tool that judges samplers is itself judged: it accepts the right law and sees a wrong one."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom

from evenhand.privacy.laws import DiscreteGaussian, DiscreteLaplace
from evenhand.privacy.randomness import SeededSource
from statistical._exact import (
    ALPHA,
    CORRELATION,
    MOST_EVENTS,
    Event,
    binomial_pvalue,
    events_of,
    exact_events_pvalue,
    worst_correlation,
)

pytestmark = [pytest.mark.statistical, pytest.mark.figures]

LAWS = [
    DiscreteLaplace("1/2"),
    DiscreteLaplace(10),
    DiscreteLaplace(300),
    DiscreteGaussian(1),
    [0.2, 0.3, 0.5],
]


@pytest.fixture
def generator():
    return SeededSource(20261101, cell="the helper").generator()


def _slow_pvalue(count, n, probability):
    p = Fraction(probability)
    masses = [math.comb(n, j) * p**j * (1 - p) ** (n - j) for j in range(n + 1)]
    return min(Fraction(1), 2 * min(sum(masses[: count + 1]), sum(masses[count:])))


@pytest.mark.parametrize("n", [1, 7, 40])
@pytest.mark.parametrize("probability", [0.0, 0.125, 0.5, 0.9375, 1.0])
def test_the_pvalue_is_that_of_the_binomial_law(n, probability):
    for count in range(n + 1):
        expected = float(_slow_pvalue(count, n, probability))

        assert math.isclose(binomial_pvalue(count, n, probability), expected, rel_tol=1e-9, abs_tol=1e-300)


def test_the_pvalue_is_right_where_it_is_tiny():
    """At 1e-9 and below an approximation would decide over green and red."""
    assert math.isclose(binomial_pvalue(80, 80, 0.5), 2 * 0.5**80, rel_tol=1e-12)
    assert math.isclose(binomial_pvalue(0, 80, 0.5), 2 * 0.5**80, rel_tol=1e-12)


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_the_events_are_at_most_64_and_their_probabilities_are_right(law):
    events = events_of(law)
    if isinstance(law, list):
        support, masses = np.arange(len(law)), np.array(law)
    else:
        reach = int(40 * law.standard_deviation) + 5
        support = np.arange(-reach, reach + 1)
        masses = law.pmf(support)

    assert 5 <= len(events) <= MOST_EVENTS
    for event in events:
        assert math.isclose(math.fsum(masses[event.holds(support)]), event.probability, rel_tol=1e-9)


def test_many_codes_are_put_into_blocks():
    events = events_of(np.full(1000, 1 / 1000))

    assert len(events) == MOST_EVENTS - 1
    assert math.isclose(sum(each.probability for each in events[:-3]), 1)


def test_pvalues_of_a_right_law_are_not_too_small(generator):
    """If they were, right programs would fail; the count of small ones has a binomial law too."""
    pvalues = [
        exact_events_pvalue(generator.choice(3, size=500, p=[0.2, 0.3, 0.5]), [0.2, 0.3, 0.5])
        for _ in range(2_000)
    ]

    for level in (0.5, 0.1, 0.01):
        small = sum(each <= level for each in pvalues)

        assert binom.sf(small - 1, len(pvalues), level) > ALPHA


def test_pvalues_of_one_event_are_nearly_uniform(generator):
    """If they were all near 1, nothing would ever be seen."""
    heads = Event(lambda x: x > 0, 0.5)
    pvalues = np.array(
        [exact_events_pvalue(generator.integers(0, 2, 20_000), events=[heads]) for _ in range(2_000)]
    )

    for level in (0.1, 0.25, 0.5, 0.75):
        assert binomial_pvalue(int((pvalues <= level).sum()), 2_000, level) > ALPHA
        assert binomial_pvalue(int((pvalues <= level).sum()), 2_000, 0.5 * level) < ALPHA


def test_three_percent_is_seen_every_time(generator):
    """The figure promised for every sampler, here with numpy's geometric law in its place."""
    law, wider, narrower = DiscreteLaplace(10), DiscreteLaplace("10.3"), DiscreteLaplace("9.7")
    stop = -math.expm1(-1 / 10)
    for _ in range(20):
        draws = generator.geometric(stop, 200_000) - generator.geometric(stop, 200_000)

        assert exact_events_pvalue(draws, law) > ALPHA
        assert exact_events_pvalue(draws, wider) < ALPHA
        assert exact_events_pvalue(draws, narrower) < ALPHA


def test_a_code_outside_the_list_is_impossible():
    assert exact_events_pvalue([0, 1, 2], [0.5, 0.5]) == 0
    assert exact_events_pvalue([-1], [0.5, 0.5]) == 0


@pytest.mark.parametrize(
    ("draws", "arguments", "message"),
    [
        ([], {"law": [1.0]}, "no draws"),
        ([0], {"law": [0.5, 0.4]}, "add up"),
        ([0], {"events": []}, "0 events"),
        ([0], {"events": [Event(np.isfinite, 1.0)] * 65}, "65 events"),
        ([0], {"events": [Event(np.isfinite, 1.5)]}, "not a probability"),
    ],
)
def test_a_test_that_would_mean_nothing_is_refused(draws, arguments, message):
    with pytest.raises(ValueError, match=message):
        exact_events_pvalue(draws, **arguments)


def test_correlation_tells_equal_columns_from_independent_ones(generator):
    columns = generator.normal(size=(5_000, 20))
    repeated = columns.copy()
    repeated[:, 7] = repeated[:, 3]

    assert worst_correlation(columns) < CORRELATION
    assert worst_correlation(repeated) > CORRELATION
