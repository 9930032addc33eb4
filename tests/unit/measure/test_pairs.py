import math

import numpy as np
import pytest
from scipy.stats import norm, studentized_range

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
from evenhand.measure.intervals import clopper_pearson, share_difference


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
    exact = clopper_pearson(*tables.groups.of("selection"), 1 - each_tail(0.95, 3, 2))
    low, high = pair_differences(tables.groups, "selection", pairs, exact)
    tukey = studentized_range.ppf(1 - 0.05 / 2, 3, math.inf) / math.sqrt(2)
    expected = share_difference(5, 15, 2, 22, 1 - 2 * norm.sf(tukey))

    assert (low[0], high[0]) == pytest.approx(expected)
    assert low.shape == (3,)


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.999999])
@pytest.mark.parametrize("n_groups", [3, 12, 60])
def test_the_quantile_of_all_pairs_is_that_of_the_range(level, n_groups):
    """scipy integrates the same law in another way."""
    z = norm.isf(each_tail(level, n_groups, 1) / 2)

    assert z == pytest.approx(studentized_range.ppf(level, n_groups, math.inf) / math.sqrt(2), abs=1e-8)


@pytest.mark.parametrize("level", [0.9, 0.95, 1 - 1e-10, 1 - 1e-12])
def test_pairs_never_need_more_than_their_number(level):
    """Bonferroni is the ceiling, also where the integral is lost in rounding, and one pair stands alone."""
    for n_groups in (3, 30, 1000):
        assert each_tail(level, n_groups, 1) >= (1 - level) / (n_groups * (n_groups - 1) / 2) * (1 - 1e-9)
    assert each_tail(level, 2, 1) == 1 - level


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
