"""From the table to probabilities: what is made of counts, of empty groups and of errors."""

from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

from evenhand.learn.parity.fitting import bounds_from, changes_from, rates_from
from evenhand.learn.parity.table import PredictionTable, true_table


def given(**changed):
    usual = {"kind": "parity", "aim": "changes", "by_people": True, "gap": Fraction(0), "epsilon": None}
    return SimpleNamespace(**usual | {"as_printed": False} | changed)


def test_a_group_that_seems_empty_has_the_rate_of_all_and_no_weight():
    """Noise may leave nobody in a group; nothing is known of it then, and nothing is made up."""
    table = true_table(np.array([[-3, -1], [60, 40], [40, 60]]))
    found = rates_from(table, given())

    assert found.rates.tolist() == [0.5, 0.4, 0.6]
    assert changes_from(table, found, ("a", "b", "c")).shares.tolist() == [0, 0.5, 0.5]


@pytest.mark.parametrize("kind", ["parity", "odds"])
def test_an_empty_table_changes_nobody(kind):
    table = true_table(np.zeros((2, 2, 2), dtype=np.int64))
    found = rates_from(table, given(kind=kind))

    assert changes_from(table, found, ("a", "b")).overall == pytest.approx(0)


def test_the_costs_of_errors_are_what_changes_would_get_wrong():
    """Changing all positives of a group to negative adds the right ones to the wrong, less the wrong ones."""
    counts = np.array([[[40, 10], [20, 30]], [[70, 10], [5, 15]]])
    found = rates_from(true_table(counts), given(aim="accuracy"))
    wrong = counts[:, 0, 1] * found.keep + counts[:, 0, 0] * found.promote
    wrong = wrong + counts[:, 1, 1] * (1 - found.keep) + counts[:, 1, 0] * (1 - found.promote)
    before = counts[:, 0, 1] + counts[:, 1, 0]

    assert found.cost == pytest.approx((wrong.sum() - before.sum()) / counts.sum())
    assert np.ptp(found.target) == pytest.approx(0)


def test_a_group_without_positive_predictions_has_a_cost_all_the_same():
    counts = np.array([[[40, 0], [20, 0]], [[70, 10], [5, 15]]])

    assert np.ptp(rates_from(true_table(counts), given(aim="accuracy")).target) == pytest.approx(0)


@pytest.mark.parametrize(
    ("scale", "printed", "sizes"),
    [(None, False, "true"), (Fraction(2), False, "noisy"), (Fraction(2), True, "public")],
)
def test_the_bounds_say_which_sizes_they_come_from(scale, printed, sizes):
    table = PredictionTable(np.array([[60, 40], [40, 60]]), scale, 4, None)
    settings = given(as_printed=printed, epsilon=None if scale is None else Fraction(1, 2))
    made = bounds_from(table, rates_from(table, settings), settings, groups=("a", "b"), confidence=0.9)

    assert made.sizes == sizes
    assert (made.parts[0].printed is None) == (scale is None)
    assert made.confidence == 0.9
