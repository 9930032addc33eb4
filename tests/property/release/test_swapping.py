"""What swapping leaves as it is, for any table."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from evenhand.release.mechanisms.random_swapping import RandomSwapping, RecordSwapping
from evenhand.release.mechanisms.swapping import Swapping
from unit.release._slow_swapping import small_table

SHAPES = hnp.array_shapes(min_dims=2, max_dims=4, min_side=2, max_side=4)
TABLES = SHAPES.flatmap(lambda shape: hnp.arrays(np.int64, shape, elements=st.integers(0, 6)))
FRACTIONS = st.fractions(0, 1, max_denominator=20)


@st.composite
def tables(draw):
    """A table whose first columns are quasi-identifiers and some of whose columns are numbers."""
    counts = draw(TABLES)
    quasi = draw(st.integers(1, counts.ndim))
    ordered = draw(st.sets(st.integers(0, counts.ndim - 1)))
    return small_table(counts, quasi, ordered=tuple(ordered)), quasi


def _margins(counts, quasi):
    axes = tuple(range(counts.ndim))
    return counts.sum(axis=axes[quasi:]), counts.sum(axis=axes[:quasi])


@settings(max_examples=40)
@given(tables(), FRACTIONS, st.sampled_from(["nearest", "discrepancy"]), st.integers(0, 2**32))
def test_swapping_people_keeps_both_margins_and_the_number_of_people(table, fraction, pairing, seed):
    """If false, people would have been made, lost or given other incomes."""
    histogram, quasi = table
    made = Swapping(fraction, pairing).release(histogram, rng=seed).histogram.counts

    for before, after in zip(_margins(histogram.counts, quasi), _margins(made, quasi), strict=True):
        assert (before == after).all()
    assert made.min() >= 0
    assert np.abs(made - histogram.counts).sum() <= 4 * int(fraction * histogram.people / 2)


@settings(max_examples=25)
@given(
    tables(),
    st.sampled_from([RandomSwapping("1/2"), RecordSwapping("1/2"), Swapping(1, records="cells")]),
    st.integers(0, 2**32),
)
def test_the_other_columns_and_the_number_of_people_are_published_as_they_are(table, mechanism, seed):
    """That is why these columns are declared to be in the clear."""
    histogram, quasi = table
    made = mechanism.release(histogram, rng=seed).histogram.counts

    assert (_margins(histogram.counts, quasi)[1] == _margins(made, quasi)[1]).all()
    assert made.min() >= 0


@settings(max_examples=15)
@given(tables(), st.sampled_from(["nearest", "discrepancy"]), st.sampled_from(["people", "cells"]))
def test_a_fraction_of_nought_changes_nothing(table, pairing, records):
    histogram, _ = table
    made = Swapping(0, pairing, records=records).release(histogram, rng=1)

    assert (made.histogram.counts == histogram.counts).all()


@settings(max_examples=15)
@given(tables(), st.integers(0, 2**32))
def test_the_same_seed_gives_the_same_table(table, seed):
    """A study that cannot be repeated cannot be checked."""
    histogram, _ = table
    for mechanism in (Swapping(1), Swapping(1, "discrepancy"), RandomSwapping(1), RecordSwapping(1)):
        first, again = (mechanism.release(histogram, rng=seed).histogram.counts for _ in range(2))

        assert (first == again).all()


@settings(max_examples=20)
@given(tables(), st.sampled_from(["1/10", 1, 5]))
def test_estimates_keep_the_margin_of_the_other_columns(table, epsilon):
    histogram, quasi = table
    mechanism = RecordSwapping(epsilon)
    found = mechanism.estimate(mechanism.release(histogram, rng=3)).values

    assert _margins(found, quasi)[1] == pytest.approx(_margins(histogram.counts, quasi)[1], abs=1e-6)
