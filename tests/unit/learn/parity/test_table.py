"""The table of predictions: counted right, noised by the stated law, and what is made of it."""

from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

from evenhand.learn.parity.table import (
    PredictionTable,
    bound_gaps,
    count_predictions,
    find_changes,
    find_rates,
    noisy_table,
    printed_table,
    true_table,
)
from evenhand.privacy.guarantees.units import Unit
from evenhand.privacy.randomness import SeededSource
from evenhand.privacy.sampling import discrete_laplace

COUNTS = np.array([[70, 30], [5, 5], [0, 12]])


def test_every_row_is_counted_in_one_cell():
    """A row counted twice would move two cells, and the noise would be half of what it must be."""
    draw = np.random.default_rng(1)
    groups, predicted, labels = draw.integers(0, 3, 50), draw.random(50) < 0.5, draw.random(50) < 0.4
    small = count_predictions(groups, predicted, n_groups=4)
    large = count_predictions(groups, predicted, n_groups=4, labels=labels)
    slow = np.zeros((4, 2, 2), dtype=int)
    for a, y, p in zip(groups, labels, predicted, strict=True):
        slow[a, int(y), int(p)] += 1

    assert np.array_equal(large, slow)
    assert np.array_equal(small, slow.sum(axis=1))


@pytest.mark.parametrize(("unit", "scale"), [("add or remove one", 2), ("replace one", 4)])
@pytest.mark.parametrize("shape", [(3, 2), (3, 2, 2), (3, 4), (3, 4, 4)])
def test_noise_of_the_stated_scale_is_added_to_every_cell(unit, scale, shape):
    """One person added moves one cell; one replaced moves two, and needs twice the noise."""
    counts = np.arange(np.prod(shape)).reshape(shape)
    table = noisy_table(counts, epsilon="1/2", unit=Unit(unit), source=SeededSource(3))
    noise = discrete_laplace(scale, size=shape, source=SeededSource(3))

    assert (table.scale, table.draws) == (Fraction(scale), counts.size)
    assert np.array_equal(table.counts, counts + noise)
    assert (table.guarantee.epsilon, str(table.guarantee.unit)) == (Fraction(1, 2), unit)
    assert ("label" in table.guarantee.protects) == (len(shape) == 3)
    assert table.guarantee.tight


def test_the_printed_table_leaves_sizes_as_they_are_and_says_so():
    """The thesis assumes that sizes are public; a guarantee that hid this would be a false one."""
    table = printed_table(COUNTS, epsilon="1/2", source=SeededSource(3))
    noise = discrete_laplace(2, size=3, source=SeededSource(3))

    assert table.counts.sum(axis=1).tolist() == [100, 10, 12]
    assert table.counts[:, 1].tolist() == np.clip(COUNTS[:, 1] + noise, 0, [100, 10, 12]).tolist()
    assert (table.scale, table.draws) == (Fraction(2), 3)
    assert "group" in table.guarantee.in_clear
    assert any("sizes are public" in each for each in table.guarantee.assumptions)
    assert "ghoukasian2024" in table.guarantee.proof


def test_counts_below_nought_are_held_at_it():
    """A negative count is no count: rates made from one would leave the unit interval."""
    table = true_table(np.array([[-4, 3], [2, -1]]))

    assert table.at_least_0.tolist() == [[0, 3], [2, 0]]
    assert table.sizes.tolist() == [3, 2]
    assert table.guarantee is None
    assert true_table(np.array([[[1, -2], [3, 4]]])).by_prediction.tolist() == [[4, 4]]


def given(**changed):
    usual = {"kind": "parity", "aim": "changes", "by_people": True, "gap": Fraction(0), "epsilon": None}
    return SimpleNamespace(**usual | {"as_printed": False} | changed)


def test_a_group_that_seems_empty_has_the_rate_of_all_and_no_weight():
    """Noise may leave nobody in a group; nothing is known of it then, and nothing is made up."""
    table = true_table(np.array([[-3, -1], [60, 40], [40, 60]]))
    found = find_rates(table, given())

    assert found.rates.tolist() == [0.5, 0.4, 0.6]
    assert find_changes(table, found, ("a", "b", "c")).shares.tolist() == [0, 0.5, 0.5]


@pytest.mark.parametrize("kind", ["parity", "odds"])
def test_an_empty_table_changes_nobody(kind):
    table = true_table(np.zeros((2, 2, 2), dtype=np.int64))
    found = find_rates(table, given(kind=kind))

    assert find_changes(table, found, ("a", "b")).overall == pytest.approx(0)


def test_the_costs_of_errors_are_what_changes_would_get_wrong():
    """Changing all positives of a group to negative adds the right ones to the wrong, less the wrong ones."""
    counts = np.array([[[40, 10], [20, 30]], [[70, 10], [5, 15]]])
    found = find_rates(true_table(counts), given(aim="accuracy"))
    wrong = counts[:, 0, 1] * found.keep + counts[:, 0, 0] * found.promote
    wrong = wrong + counts[:, 1, 1] * (1 - found.keep) + counts[:, 1, 0] * (1 - found.promote)
    before = counts[:, 0, 1] + counts[:, 1, 0]

    assert found.cost == pytest.approx((wrong.sum() - before.sum()) / counts.sum())
    assert np.ptp(found.target) == pytest.approx(0)


def test_a_group_without_positive_predictions_has_a_cost_all_the_same():
    counts = np.array([[[40, 0], [20, 0]], [[70, 10], [5, 15]]])

    assert np.ptp(find_rates(true_table(counts), given(aim="accuracy")).target) == pytest.approx(0)


@pytest.mark.parametrize(
    ("scale", "printed", "sizes"),
    [(None, False, "true"), (Fraction(2), False, "noisy"), (Fraction(2), True, "public")],
)
def test_the_bounds_say_which_sizes_they_come_from(scale, printed, sizes):
    table = PredictionTable(np.array([[60, 40], [40, 60]]), scale, 4, None)
    settings = given(as_printed=printed, epsilon=None if scale is None else Fraction(1, 2))
    made = bound_gaps(table, find_rates(table, settings), settings, groups=("a", "b"), confidence=0.9)

    assert made.sizes == sizes
    assert (made.parts[0].printed is None) == (scale is None)
    assert made.confidence == 0.9
