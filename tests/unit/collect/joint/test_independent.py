"""Independent reports: the law of the whole is the product, and so is the claim."""

import math
from fractions import Fraction

import numpy as np
import pytest

from evenhand.collect.joint.independent import Independent, Single
from evenhand.collect.protocols.grr import GRR
from evenhand.collect.protocols.subset import SS
from evenhand.collect.protocols.thresholded import THE
from evenhand.collect.protocols.unary import OUE
from property._joint_law import (
    all_pairs,
    assert_parts_make_up_the_whole,
    assert_whole_report_is_private,
    joint_law,
    pairs_that_differ_in,
    within,
    worst_ratio,
)

PAIR = Independent({"a": GRR(2, "1/2"), "b": GRR(3, "1/2")})
SOME = [
    PAIR,
    Independent({"a": GRR(2, 1), "b": OUE(3, "1/4")}),
    Independent({"a": SS(4, 1), "b": GRR(2, 2)}),
    Independent({"a": GRR(2, "1/3"), "b": GRR(2, "1/3"), "c": GRR(2, "1/3")}),
    Single("a", SS(5, 1)),
]


def test_the_figures_of_two_and_three_values():
    """Half of epsilon 1 each: figures worked out elsewhere."""
    alone = [way.variance() for way in PAIR.protocols.values()]

    assert alone == pytest.approx([3.917698089033, 6.293902095529], rel=1e-11)
    assert math.prod(alone) == pytest.approx(24.657608212212, rel=1e-11)


def test_a_cell_that_nobody_shares_a_value_with_has_the_product_of_variances():
    everybody = np.zeros((2, 3))
    everybody[0, 0] = 1

    assert PAIR.joint_variance(everybody)[1, 1] == pytest.approx(24.657608212212, rel=1e-11)


@pytest.mark.parametrize("strategy", SOME, ids=repr)
def test_the_law_of_the_whole_is_the_kronecker_product(strategy):
    product = np.array([[Fraction(1)]], dtype=object)
    for way in strategy.protocols.values():
        product = np.kron(product, way.matrix(exact=True))
    law = joint_law(strategy)

    assert law.shape == product.shape
    assert (law == product).all()
    assert all(sum(row) == 1 for row in law)


@pytest.mark.parametrize("strategy", SOME, ids=repr)
def test_the_worst_ratio_of_whole_reports_is_the_sum_of_epsilons(strategy):
    """This is the promise: over all pairs of people and all reports."""
    ratio = worst_ratio(joint_law(strategy), all_pairs(strategy))

    assert_whole_report_is_private(strategy)
    assert_parts_make_up_the_whole(strategy)
    assert math.log(ratio) == pytest.approx(float(strategy.epsilon), rel=1e-12)
    assert strategy.guarantee.tight


@pytest.mark.parametrize("strategy", SOME, ids=repr)
def test_people_who_differ_in_one_column_are_told_apart_by_its_epsilon_alone(strategy):
    for column in strategy.columns:
        ratio = worst_ratio(joint_law(strategy), pairs_that_differ_in(strategy, column))
        claimed = strategy.epsilon_within_report(column)

        assert within(ratio, claimed)
        assert math.log(ratio) == pytest.approx(float(claimed), rel=1e-12)
        assert strategy.epsilon_if_seen_alone(column) == float(claimed)


def test_a_part_that_wastes_budget_makes_the_whole_claim_less():
    """A thresholded report has less than was asked for, and the whole says so."""
    strategy = Independent({"a": THE(4, 1), "b": GRR(2, 1)})

    assert strategy.epsilon == 2
    assert float(strategy.guarantee.epsilon) == pytest.approx(1.896, abs=1e-3)
    assert_parts_make_up_the_whole(strategy)


def test_the_proofs_of_all_parts_are_named():
    guarantee = SOME[1].guarantee

    assert "generalized randomized response" in guarantee.proof
    assert "optimized unary encoding" in guarantee.proof
    assert guarantee.protects == ("a", "b")


def test_a_single_column_is_reported_as_its_protocol_would():
    single = Single("a", SS(5, 1), in_clear=["b"])

    assert single.columns == ("a",)
    assert single.epsilon == 1
    assert single.guarantee == SS(5, 1).guarantee_for(protects=["a"], in_clear=["b"])
    assert single != Single("a", SS(5, 1))
    assert single != Independent({"a": SS(5, 1)}, in_clear=["b"])
