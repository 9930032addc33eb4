"""Samples and reconstructed values follow the laws they claim; broken copies are seen."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom, norm

from evenhand.privacy.randomness import SeededSource
from evenhand.release.kanonymity.generalized import generalize
from evenhand.release.kanonymity.reconstruct import reconstruct
from evenhand.release.mechanisms.generalized_sampling import draw_sample
from evenhand.release.table.histogram import Histogram
from evenhand.schema import Column, Domain, Schema
from statistical._exact import ALPHA, CORRELATION, binomial_pvalue, exact_events_pvalue, worst_correlation

pytestmark = pytest.mark.statistical

PEOPLE = 1_000_000
RACE = Column("race", Domain.categorical(["a", "b", "c", "d", "e", "f", "g"]))
AGE = Column("age", Domain.integers(20, 39))


def _one_class(counts, *columns):
    """Return a generalised table in which everybody is in one class."""
    table = Histogram.of(counts, Schema(columns))
    return generalize(table, table.people)


@pytest.mark.parametrize("rate", ["1/8", "0.3934693402873665", "6321/10000"])
@pytest.mark.parametrize("cells", [1, 1_000])
def test_a_sample_takes_each_person_with_the_stated_probability(rate, cells):
    """With another probability the delta, which is this probability, would be another."""
    chance = Fraction(int(Fraction(rate) * 2**53), 2**53)
    counts = np.full(cells, PEOPLE // cells)
    drawn = draw_sample(counts, chance, source=SeededSource(3))
    law = float(chance)

    assert binomial_pvalue(drawn.sum(), PEOPLE, law) > ALPHA
    for wrong in (0.97 * law, 1.03 * law):
        assert binomial_pvalue(drawn.sum(), PEOPLE, wrong) < ALPHA
    if cells > 1:  # each cell's count is binomial
        probabilities = binom.pmf(np.arange(PEOPLE // cells + 1), PEOPLE // cells, law)
        assert exact_events_pvalue(drawn, probabilities / probabilities.sum()) > ALPHA


@pytest.mark.parametrize("seed", [1, 2])
def test_a_set_is_drawn_from_uniformly(seed):
    """Whoever reads the reconstructed counts takes them for a uniform draw from the published sets."""
    table = _one_class([PEOPLE - 5, 1, 1, 0, 1, 1, 1], RACE)
    made = reconstruct(table, source=SeededSource(seed)).counts
    law = np.array([1, 1, 1, 0, 1, 1, 1]) / 6
    codes = np.repeat(np.arange(7), made)

    assert exact_events_pvalue(codes, law) > ALPHA
    for wrong in ([1.03, 1, 1, 0, 1, 1, 0.97], [0.97, 1, 1, 0, 1, 1, 1.03]):
        assert exact_events_pvalue(codes, np.array(wrong) / 6) < ALPHA


def test_an_interval_is_drawn_from_uniformly_both_ends_included():
    """Leaving out an end, as a half-open range would, is seen at once."""
    counts = np.zeros(20, np.int64)
    counts[[3, 16]] = PEOPLE - 1, 1
    made = reconstruct(_one_class(counts, AGE), source=SeededSource(1)).counts
    law = np.zeros(20)
    law[3:17] = 1 / 14
    half_open = np.zeros(20)
    half_open[3:16] = 1 / 13
    codes = np.repeat(np.arange(20), made)

    assert exact_events_pvalue(codes, law) > ALPHA
    assert exact_events_pvalue(codes, half_open) < ALPHA


def test_the_printed_draw_is_a_rounded_normal_one():
    """The spread is a quarter of the interval; a third or a fifth is seen."""
    counts = np.zeros(20, np.int64)
    counts[[0, 12]] = PEOPLE - 1, 1
    made = reconstruct(_one_class(counts, AGE), source=SeededSource(1), how="as_printed").counts
    codes = np.repeat(np.arange(20), made)

    def law(spread):
        above = norm.cdf(np.arange(20) + 0.5, 6, spread)
        above[-1] = 1
        return np.diff(above, prepend=0)

    assert exact_events_pvalue(codes, law(3)) > ALPHA
    for wrong in (2.9, 3.1):
        assert exact_events_pvalue(codes, law(wrong)) < ALPHA


def test_the_values_of_two_columns_are_drawn_apart():
    """The paper draws each feature on its own; one draw for both would put everybody on the diagonal."""
    counts = np.zeros((7, 20), np.int64)
    counts[0, 0], counts[6, 19], counts[3, 7] = PEOPLE - 6, 3, 3
    counts[[1, 2, 4, 5], [1, 2, 4, 5]] = 0
    made = reconstruct(_one_class(counts, RACE, AGE), source=SeededSource(2)).counts
    people = np.repeat(np.argwhere(made >= 0), made.reshape(-1), axis=0)

    assert worst_correlation(people) < CORRELATION
    assert worst_correlation(np.stack([people[:, 0], people[:, 0]], axis=1)) > CORRELATION
