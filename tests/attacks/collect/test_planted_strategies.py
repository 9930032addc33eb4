"""Bugs planted in strategies for several attributes, each caught by a check that all of them go through."""

import math

import numpy as np
import pytest

from attacks.planted._strategy_mutants import AskedByValue, DrawnWithAll, FullEpsilonEach, OneStream
from evenhand.collect.joint.build import strategy_for
from evenhand.collect.joint.independent import Independent, Sampled
from evenhand.collect.protocols.grr import GRR
from evenhand.collect.protocols.subset import SS
from evenhand.collect.protocols.unary import OUE
from evenhand.errors import InvalidParameterError
from property._joint_law import (
    all_pairs,
    assert_parts_make_up_the_whole,
    assert_whole_report_is_private,
    joint_law,
    worst_ratio,
)
from statistical._joint_draws import assert_who_is_asked_tells_nothing, assert_whole_reports_follow_the_law

SIZES = {"a": 2, "b": 3}

# --- planted bug 4: full epsilon spent on each attribute instead of a share ---------------------------


@pytest.mark.parametrize("protocol", [GRR, OUE, SS])
def test_full_epsilon_on_each_column_is_caught_by_the_law_of_the_whole_report(protocol):
    """Two questions at epsilon 1 are epsilon 2: the worst report of all shows it, exactly."""
    mutant = FullEpsilonEach(SIZES, 1, protocol)
    ratio = worst_ratio(joint_law(mutant), all_pairs(mutant))

    assert math.log(ratio) == pytest.approx(2)
    with pytest.raises(AssertionError, match="more is told than the whole report claims"):
        assert_whole_report_is_private(mutant)


@pytest.mark.parametrize("protocol", [GRR, OUE, SS])
def test_full_epsilon_on_each_column_is_caught_by_composition(protocol):
    with pytest.raises(AssertionError, match="the whole claims less than its parts"):
        assert_parts_make_up_the_whole(FullEpsilonEach(SIZES, 1, protocol))


@pytest.mark.parametrize("protocol", [GRR, OUE, SS])
def test_a_share_on_each_column_passes_both(protocol):
    """The twin: what should have been done."""
    right = strategy_for(SIZES, epsilon=1, protocol=protocol)

    assert_whole_report_is_private(right)
    assert_parts_make_up_the_whole(right)


def test_full_epsilon_on_each_column_cannot_be_asked_for():
    full = {column: GRR(k, 1) for column, k in SIZES.items()}
    with pytest.raises(InvalidParameterError, match=r"at most 1, the whole. Got a sum of 2"):
        strategy_for(SIZES, epsilon=1, protocol=full)


@pytest.mark.statistical
def test_full_epsilon_in_the_draws_alone_is_caught():
    """The claim is right and the code is not: only the draws can tell."""
    shares = {"a": GRR(2, "1/2"), "b": GRR(3, "1/2")}
    assert_whole_reports_follow_the_law(Independent(shares), (1, 2), n=20_000, seed=4)
    with pytest.raises(AssertionError, match="not drawn as stated"):
        assert_whole_reports_follow_the_law(DrawnWithAll(shares), (1, 2), n=20_000, seed=4)


# --- planted bug 5, between columns -------------------------------------------------------------------


@pytest.mark.statistical
def test_columns_that_share_a_stream_are_caught():
    """Each column alone looks right; together they tell when both tell the truth, so they are refused."""
    same = {"a": GRR(3, 1), "b": GRR(3, 1)}
    assert_whole_reports_follow_the_law(Independent(same), (1, 1), n=20_000, seed=4)
    with pytest.raises(InvalidParameterError, match="share every flip"):
        assert_whole_reports_follow_the_law(OneStream(same), (1, 1), n=20_000, seed=4)


# --- who is asked must not depend on the answer -------------------------------------------------------


def test_a_lot_that_looks_at_the_values_is_caught():
    protocols = {"a": GRR(2, 1), "b": GRR(2, 1)}
    codes = {"a": np.arange(100) % 2, "b": np.arange(100) % 2}
    assert_who_is_asked_tells_nothing(Sampled(protocols), codes)
    with pytest.raises(AssertionError, match="being asked is an answer"):
        assert_who_is_asked_tells_nothing(AskedByValue(protocols), codes)
