"""Rules with counts put in, as distances from borders."""

import numpy as np
import pytest

from evenhand.decide.exact.rule_probability import half_spaces, laws_of, truth_table
from evenhand.decide.language.terms import count, ratio
from evenhand.errors import InvalidParameterError, UnknownNameError
from evenhand.privacy.laws import DiscreteLaplace, Laplace

A, B = count("a"), count("b")


def test_distances_are_exact_whole_numbers():
    """Rounding here would decide ties: 0.3 a - 0.1 b at a = 1, b = 3 is 0, which floats miss."""
    rule = 0.3 * A - 0.1 * B > 0.5
    structure, state, _ = half_spaces(
        rule, {"a": [1, 5], "b": [3, 10]}, {"a": Laplace(1), "b": Laplace(1)}, least=0
    )

    assert state.thresholds[0].tolist() == [5, 0]
    assert structure.coefficients == (((0, 3), (1, -1)),)
    assert state.floors[0].tolist() == [-1, -5]
    assert structure.floored == {0, 1}


def test_a_bound_that_is_no_whole_number_is_multiplied_out():
    """The comparison of whole numbers needs a whole border."""
    rule = 2 * A + B > 0.25
    structure, state, shape = half_spaces(
        rule, {"a": 1, "b": 1}, {"a": DiscreteLaplace(1), "b": DiscreteLaplace(1)}, least=None
    )

    assert structure.coefficients == (((0, 8), (1, 4)),)
    assert state.thresholds[0].tolist() == [1 - 12]
    assert shape == ()
    assert state.floors == {}


def test_numbers_leave_64_bits_before_they_wrap_around():
    """A wrapped sum would be a wrong decision without an error."""
    laws = {"a": DiscreteLaplace(1), "b": DiscreteLaplace(1)}
    _, near, _ = half_spaces(A - B > 0, {"a": 2**59, "b": -(2**59)}, laws, least=None)
    _, far, _ = half_spaces(7 * A - B > 0, {"a": 2**61, "b": -(2**61)}, laws, least=None)

    assert near.thresholds[0].dtype == np.int64
    assert near.thresholds[0][0] == -(2**60)
    assert far.thresholds[0].dtype == object
    assert far.thresholds[0][0] == -(2**64)


def test_the_truth_table_has_a_bit_for_each_comparison():
    """A bit that stands for another comparison would exchange who gains and who loses."""
    rule = (ratio("a", "b") > 2).linear()
    names = [repr(each) for each in rule.predicates]

    assert names == ["a - 2*b > 0", "b > 0"]
    assert truth_table(rule).tolist() == [False, False, False, True]


def test_laws_are_one_for_all_or_one_by_name():
    """A missing one is named; anything else is refused."""
    one = Laplace(2)

    assert laws_of(one, ("a", "b"), owner="f") == {"a": one, "b": one}
    assert laws_of({"a": one, "c": None}, ("a",), owner="f") == {"a": one}
    with pytest.raises(UnknownNameError, match="'b'"):
        laws_of({"a": one}, ("a", "b"), owner="f")
    with pytest.raises(InvalidParameterError, match="The 'laws' parameter of f must be a law"):
        laws_of("laplace", ("a",), owner="f")
