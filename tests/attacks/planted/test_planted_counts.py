"""Bugs planted in the counting of people, each caught by the check that the right one passes.

Planted bug 7: counts cast to 32 bits. With it: sums as floats, and a cell that is there only if somebody is.
"""

import numpy as np
import pyarrow as pa
import pytest

from evenhand.release.table.histogram import Histogram
from evenhand.schema import Column, Domain, Schema

SCHEMA = Schema([Column("x", Domain.categorical(["a", "b"])), Column("y", Domain.integers(0, 2))])
EDGES = [2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**40 + 1, 2**53 + 1]


def assert_counts_survive(of):
    """Counts and their sums are those of Python's integers, up to and beyond 32 bits and a float's 53."""
    for first in EDGES:
        values = [first, 1, 0, 2, first, 3]
        table = of(values, SCHEMA)
        sums = [first + 1, first + 5]

        assert table.counts.ravel().tolist() == values, "a count has changed"
        assert table.people == sum(values), "people are lost"
        assert table.margin("x").counts.tolist() == sums, "a margin has changed"


def assert_cells_do_not_depend_on_people(count):
    """The same cells, empty ones too, for tables that differ in one person."""
    rows = {"x": ["a", "a", "b"], "y": [0, 1, 2]}
    frames = [count(pa.table(rows).slice(0, length), SCHEMA).to_frame("pyarrow") for length in range(4)]
    cells = {str(frame.drop(["count"]).to_pylist()) for frame in frames}

    assert len(cells) == 1, "a cell appears with a person"
    assert frames[0].num_rows == 6, "cells are missing"


class Narrow(Histogram):
    """Planted bug 7: counts of 32 bits."""

    @classmethod
    def of(cls, counts, schema):
        return Histogram.of(np.asarray(counts).astype(np.int32), schema)


class Unsigned(Histogram):
    """The same without a sign: it wraps at twice as many."""

    @classmethod
    def of(cls, counts, schema):
        return Histogram.of(np.asarray(counts).astype(np.uint32), schema)


class Floating(Histogram):
    """Margins by weights, which are floats: above 2**53 every other number is missing."""

    @classmethod
    def of(cls, counts, schema, columns=None, *, bound=None):
        return cls(schema=schema, counts=counts, bound=bound)

    def margin(self, columns):
        right = super().margin(columns)
        weights = np.asarray(self.counts).reshape(right.size, -1).ravel()
        cells = np.repeat(np.arange(right.size), self.size // right.size)
        return right.with_counts(np.bincount(cells, weights=weights).astype(np.int64))


class OnlyFilled(Histogram):
    """Planted bug 9, its second half: empty cells are dropped."""

    @classmethod
    def count(cls, df, schema):
        whole = Histogram.count(df, schema)
        filled = np.flatnonzero(whole.counts)
        return Histogram.of_cells(filled, whole.counts.ravel()[filled], schema)


def test_the_right_table_passes():
    """A check that nothing passes catches nothing."""
    assert_counts_survive(Histogram.of)
    assert_cells_do_not_depend_on_people(Histogram.count)


@pytest.mark.parametrize("mutant", [Narrow, Unsigned])
def test_counts_of_32_bits_are_caught(mutant):
    """Two billion people wrap to a negative count, or to none."""
    with pytest.raises(AssertionError, match="a count has changed"):
        assert_counts_survive(mutant.of)


def test_sums_of_floats_are_caught():
    """One person in nine quadrillion is one person."""
    with pytest.raises(AssertionError, match="a margin has changed"):
        assert_counts_survive(Floating.of)


def test_dropped_empty_cells_are_caught():
    """Whoever sees the list of cells sees who is not there."""
    with pytest.raises(AssertionError, match="a cell appears"):
        assert_cells_do_not_depend_on_people(OnlyFilled.count)
