import numpy as np
import pytest

from evenhand.measure.counts import Tables
from evenhand.measure.gaps import (
    COMPARED,
    DIFFERENCES,
    MEASURES,
    NO_DISPARITY,
    OVERALL,
    WORST_PAIR,
    limits,
    pair_blocks,
    pair_values,
    value,
)

FROM_COUNTS = [name for name in MEASURES if name != "auc"]


def test_the_measures_are_named_as_in_the_reproduction_tables():
    """Stored results and reports refer to these names."""
    assert set(MEASURES) == {
        "acc", "f1", "recall", "balanced_accuracy", "auc", "spd", "di", "eod", "ped", "oad", "prd",
        "sp_gap", "eo_gap", "meo_gap",
    }  # fmt: skip
    assert set(FROM_COUNTS) == {*OVERALL, *COMPARED, *WORST_PAIR}
    assert set(NO_DISPARITY) == {*COMPARED, *WORST_PAIR}
    assert set(DIFFERENCES) < set(COMPARED)


@pytest.mark.parametrize("name", [*COMPARED, *WORST_PAIR])
def test_equal_groups_have_the_value_that_means_no_disparity(name):
    tables = Tables(np.array([[4, 2, 1, 3], [8, 4, 2, 6], [4, 2, 1, 3]]), None, 1)

    assert value(name, tables) == pytest.approx(NO_DISPARITY[name], abs=1e-15)


@pytest.mark.parametrize("name", FROM_COUNTS)
def test_stacks_have_the_values_and_limits_of_each_table(name):
    cells = np.random.default_rng(8).integers(0, 6, (60, 3, 4))
    together, bounds = value(name, Tables(cells, None, 0)), limits(name, Tables(cells, None, 0), 0.9)

    for place, alone in enumerate(cells):
        single = Tables(alone, None, 0)
        np.testing.assert_array_equal(together[place], value(name, single))
        np.testing.assert_allclose([each[place] for each in bounds], limits(name, single, 0.9), rtol=1e-13)


@pytest.mark.parametrize("name", FROM_COUNTS)
def test_limits_are_defined_exactly_where_the_value_is_and_enclose_it(name):
    """Sizes 0 to 2 are where formulas divide by zero."""
    cells = np.random.default_rng(9).integers(0, 3, (3_000, 2, 4))
    tables = Tables(cells, None, 0)
    found, (low, high) = value(name, tables), limits(name, tables, 0.95)
    defined = ~np.isnan(found)

    assert (np.isnan(low) == ~defined).all()
    assert (np.isnan(high) == ~defined).all()
    assert (low[defined] <= found[defined] + 1e-12).all()
    assert (found[defined] <= high[defined] + 1e-12).all()


@pytest.mark.parametrize("name", FROM_COUNTS)
def test_limits_stay_within_what_the_measure_can_be(name):
    cells = np.random.default_rng(10).integers(0, 3, (3_000, 2, 4))
    low, high = limits(name, Tables(cells, None, 0), 0.95)
    smallest = -1 if name in DIFFERENCES else 0

    assert np.nanmin(low) >= smallest - 1e-12
    assert name == "di" or np.nanmax(high) <= 1 + 1e-12


@pytest.mark.parametrize("name", FROM_COUNTS)
def test_a_higher_level_gives_a_wider_interval(name):
    tables = Tables(np.array([[14, 5, 4, 9], [21, 2, 8, 7]]), None, 0)
    narrow, wide = limits(name, tables, 0.8), limits(name, tables, 0.99)

    assert wide[0] <= narrow[0]
    assert narrow[1] <= wide[1]
    assert wide != narrow


@pytest.mark.parametrize("name", WORST_PAIR)
def test_the_gap_is_the_largest_of_the_pairs(name):
    cells = np.random.default_rng(11).integers(1, 9, (100, 4, 4))
    tables = Tables(cells)

    (pairs,) = pair_blocks(4)

    np.testing.assert_allclose(pair_values(name, tables, pairs).max(axis=-1), value(name, tables), rtol=1e-13)


@pytest.mark.parametrize("name", WORST_PAIR)
def test_fewer_than_two_groups_have_no_gap(name):
    tables = Tables(np.ones((5, 1, 4), dtype=int))

    assert np.isnan(value(name, tables)).all()
    assert np.isnan(limits(name, tables, 0.95)[0]).all()
