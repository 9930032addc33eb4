import numpy as np
import pytest

from evenhand.measure.rates import RATES, Shares, Tables, why_undefined


def test_stacked_tables_are_measured_as_each_alone():
    """A bootstrap and a simulation run on stacks; a report on one."""
    cells = np.random.default_rng(2).integers(0, 9, (50, 3, 4))
    stacked = Tables(cells, None, 1)

    for place, alone in enumerate(cells):
        single = Tables(alone, None, 1)
        for part in ("groups", "overall", "privileged_side", "other_side"):
            np.testing.assert_array_equal(getattr(stacked, part).values[place], getattr(single, part).values)


def test_without_a_privileged_group_both_sides_are_empty():
    tables = Tables(np.ones((2, 4), dtype=int))

    assert np.isnan(tables.privileged_side.values).all()
    assert np.isnan(tables.other_side.values).all()


def test_the_effective_size_is_that_of_kish():
    weights = np.array([1.0, 2.0, 5.0])
    tables = Tables(np.array([[0, 0, 0, weights.sum()]]), np.array([[0, 0, 0, (weights**2).sum()]]))
    successes, trials = tables.groups.of("tpr")

    assert trials[0] == pytest.approx(weights.sum() ** 2 / (weights**2).sum())
    assert successes[0] == pytest.approx(trials[0])


def test_equal_weights_have_the_effective_size_of_their_number():
    tables = Tables(np.array([[6.0, 3.0, 0.0, 0.0]]), np.array([[18.0, 9.0, 0.0, 0.0]]))

    assert tables.groups.of("selection")[1][0] == pytest.approx(3)


@pytest.mark.parametrize("rate", RATES)
def test_a_defined_rate_needs_no_excuse(rate):
    shares = Tables(np.ones((1, 4), dtype=int)).overall

    assert why_undefined("There are", rate, shares, labelled=True) == ""


def test_shares_divide_only_where_there_are_trials():
    shares = Shares(np.array([1, 0]), np.array([2, 0]), np.array([2, 0]))

    assert shares.values.tolist()[0] == 0.5
    assert np.isnan(shares.values[1])
