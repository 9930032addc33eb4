import numpy as np
import pytest

from evenhand.measure.counts import Tables
from evenhand.measure.gaps import (
    WORST_PAIR,
    difference_range,
    each_tail,
    limits,
    pair_blocks,
    pair_differences,
    value,
    worst_members,
)
from evenhand.measure.intervals import newcombe, wilson


@pytest.mark.parametrize("n_groups", [0, 1, 2, 5, 256, 257, 300])
def test_every_pair_occurs_once(n_groups):
    """Many groups are compared in blocks; no pair may fall between two of them."""
    found = [pair for block in pair_blocks(n_groups) for pair in zip(*block, strict=True)]

    assert len(set(found)) == len(found) == n_groups * (n_groups - 1) // 2
    assert all(first < second for first, second in found)


def test_the_error_is_shared_by_all_comparisons():
    """Each pair alone at 95 % would miss a true zero far too often with many groups."""
    cells = np.array([[10, 5, 0, 0], [20, 2, 0, 0], [7, 7, 0, 0]])
    tables, (pairs,) = Tables(cells), pair_blocks(3)
    scores = wilson(*tables.groups.of("selection"), 1 - each_tail(0.95, 3, 2))
    low, high = pair_differences(tables.groups, "selection", pairs, scores)
    expected = newcombe(5, 15, 2, 22, 1 - 0.05 / 6)

    assert (low[0], high[0]) == pytest.approx(expected)
    assert low.shape == (3,)


def test_hundreds_of_groups_have_the_limits_of_all_their_pairs(monkeypatch):
    cells = np.random.default_rng(1).integers(1, 9, (40, 4))
    together = [(value(name, Tables(cells)), *limits(name, Tables(cells), 0.9)) for name in WORST_PAIR]
    members = [worst_members(name, Tables(cells)) for name in WORST_PAIR]
    monkeypatch.setattr("evenhand.measure.gaps._PAIRS_AT_ONCE", 100)
    in_blocks = [(value(name, Tables(cells)), *limits(name, Tables(cells), 0.9)) for name in WORST_PAIR]

    np.testing.assert_array_equal(in_blocks, together)
    assert [worst_members(name, Tables(cells)) for name in WORST_PAIR] == members


@pytest.mark.parametrize(
    ("signed", "expected"),
    [((-0.3, 0.1), (0, 0.3)), ((0.1, 0.4), (0.1, 0.4)), ((-0.4, -0.1), (0.1, 0.4)), ((0, 0.2), (0, 0.2))],
)
def test_the_absolute_difference_is_as_near_and_as_far_as_the_signed_one(signed, expected):
    low, high = difference_range((np.array(signed[0]), np.array(signed[1])))

    assert (float(low), float(high)) == expected
