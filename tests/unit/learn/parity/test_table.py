"""The table of predictions: counted right, noised by the stated law, and promising what it says."""

from fractions import Fraction

import numpy as np
import pytest

from evenhand.learn.parity.table import count_predictions, noisy_table, printed_table, true_table
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
@pytest.mark.parametrize("shape", [(3, 2), (3, 2, 2)])
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
