"""Measures of other packages: their values, their standard errors and why they have none."""

import math

import numpy as np
import pytest

from evenhand.errors import UnknownNameError
from evenhand.measure import CountTable, GroupMeasure
from evenhand.measure.added import added_measure
from evenhand.measure.intervals import normal_quantile


def missed_difference(counts):
    shares = counts[:, 1, 0] / counts.sum(axis=(1, 2))
    return float(shares[0] - shares[1])


DIFFERENCE = GroupMeasure(name="missed", words="difference in missed people", value=missed_difference)
COUNTS = np.array([[[40, 10], [30, 20]], [[100, 50], [20, 30]]])


def test_the_interval_of_a_difference_of_shares_is_the_textbooks():
    """A wrong derivative would make every interval of every plugin too short or too long."""
    interval = DIFFERENCE.interval_of(CountTable(("a", "b"), COUNTS), 0.95)
    error = math.sqrt(0.3 * 0.7 / 100 + 0.1 * 0.9 / 200)
    reach = normal_quantile(0.05) * error

    assert interval.low == pytest.approx(0.2 - reach, rel=1e-6)
    assert interval.high == pytest.approx(0.2 + reach, rel=1e-6)
    assert (interval.method, interval.exact) == ("normal, delta method", False)


def test_equal_weights_change_no_share_and_widen_by_their_spread():
    """Weights of 3 on every row leave the same shares and the same standard error."""
    plain = DIFFERENCE.interval_of(CountTable(("a", "b"), COUNTS), 0.95)
    weighted = DIFFERENCE.interval_of(CountTable(("a", "b"), 3.0 * COUNTS, 9.0 * COUNTS), 0.95)
    uneven = DIFFERENCE.interval_of(CountTable(("a", "b"), 3.0 * COUNTS, 20.0 * COUNTS), 0.95)

    assert tuple(weighted) == pytest.approx(tuple(plain), rel=1e-6)
    assert uneven.low < plain.low


def test_a_cell_without_rows_moves_nothing():
    counts = np.array([[[40, 0], [30, 0]], [[10, 0], [0, 30]]])
    interval = DIFFERENCE.interval_of(CountTable(("a", "b"), counts), 0.9)

    assert math.isfinite(interval.low)
    assert interval.low < 3 / 7 < interval.high


def test_limits_of_its_own_are_taken():
    own = GroupMeasure(
        name="own", words="own", value=missed_difference, limits=lambda _, level: (-level, level)
    )
    interval = own.interval_of(CountTable(("a", "b"), COUNTS), 0.8)

    assert tuple(interval) == (-0.8, 0.8)
    assert interval.method == "limits of 'own'"


def test_without_labels_or_rows_it_says_why_it_has_no_value():
    unlabelled, empty = CountTable(("a", "b"), COUNTS, labelled=False), CountTable((), np.zeros((0, 2, 2)))
    undefined = GroupMeasure(name="no", words="no", value=lambda _: math.nan, needs_labels=False)

    assert math.isnan(DIFFERENCE.value_of(unlabelled))
    assert DIFFERENCE.reason_for(unlabelled) == "No true labels were given."
    assert DIFFERENCE.reason_for(empty) == "There are no rows."
    assert undefined.reason_for(unlabelled) == "The measure 'no' is undefined for these counts."
    assert DIFFERENCE.reason_for(CountTable(("a", "b"), COUNTS)) == ""


@pytest.mark.parametrize("name", ["nonsense", "", None, 3, ["acc"]])
def test_a_name_that_is_no_measure_is_refused(name):
    with pytest.raises(UnknownNameError, match="There are: acc, f1"):
        added_measure(name)


def test_evenhands_own_measures_are_none_of_these():
    assert added_measure("acc") is None
