"""Combined reports: the decoded columns have the law of the summed matrix, and the whole has epsilon."""

import math
from fractions import Fraction

import numpy as np
import pytest

from evenhand.collect.joint.combined import Combined, DecodedGRR
from evenhand.errors import InvalidParameterError, LimitExceededError
from property._joint_law import (
    all_pairs,
    assert_whole_report_is_private,
    combinations,
    joint_law,
    pairs_that_differ_in,
    within,
    worst_ratio,
)

PAIR = Combined({"a": 2, "b": 3}, 1)
SOME = [PAIR, Combined({"a": 2, "b": 2, "c": 3}, "1/2"), Combined({"a": 5}, 2), Combined({"b": 4, "a": 2}, 8)]


def test_the_figures_of_two_and_three_values():
    """Epsilon 1 over six combinations: figures worked out elsewhere."""
    assert [PAIR.epsilon_if_seen_alone(column) for column in "ab"] == pytest.approx(
        [0.45283242526394, 0.62011450695828], rel=1e-12
    )
    assert PAIR.joint_variance([[1, 0, 0], [0, 0, 0]])[1, 2] == pytest.approx(2.275461143562, rel=1e-11)
    assert [way.variance() for way in PAIR.protocols.values()] == pytest.approx(
        [4.794202106654, 3.873528512446], rel=1e-11
    )


@pytest.mark.parametrize("strategy", SOME, ids=repr)
def test_the_law_of_a_decoded_column_is_the_summed_matrix(strategy):
    """Exactly, in Fractions: estimates of a column have no bias only if p and q are these."""
    law, every = joint_law(strategy), combinations(strategy)
    for axis, (column, k) in enumerate(strategy.sizes.items()):
        decoded = strategy.protocols[column].matrix(exact=True)
        for held, row in zip(every, law, strict=True):
            summed = [sum(row[j] for j, sent in enumerate(every) if sent[axis] == v) for v in range(k)]

            assert summed == decoded[held[axis]].tolist()


@pytest.mark.parametrize("strategy", SOME, ids=repr)
def test_the_worst_ratio_of_whole_reports_is_epsilon(strategy):
    law = joint_law(strategy)

    assert_whole_report_is_private(strategy)
    assert math.log(worst_ratio(law, all_pairs(strategy))) == pytest.approx(
        float(strategy.epsilon), rel=1e-11
    )
    for column in strategy.columns:  # one column alone: no less
        ratio = worst_ratio(law, pairs_that_differ_in(strategy, column))

        assert strategy.epsilon_within_report(column) == strategy.epsilon
        assert within(ratio, strategy.epsilon)
        assert math.log(ratio) == pytest.approx(float(strategy.epsilon), rel=1e-11)


@pytest.mark.parametrize("strategy", SOME, ids=repr)
def test_the_epsilon_of_a_column_seen_alone_is_that_of_its_law(strategy):
    for column, way in strategy.protocols.items():
        law = way.matrix(exact=True)
        ratio = max(max(row) / min(row) for row in law)
        k, cells, raised = way.k, strategy.product.k, math.exp(float(strategy.epsilon))

        assert strategy.epsilon_if_seen_alone(column) == pytest.approx(math.log(ratio), rel=1e-12)
        assert strategy.epsilon_if_seen_alone(column) == pytest.approx(
            math.log(1 + (raised - 1) * k / cells), rel=1e-9
        )


def test_a_decoded_column_never_claims_the_smaller_figure():
    """Whoever sees the column sees the others too."""
    reports = PAIR.privatize({"a": [0, 1], "b": [2, 0]}, rng=3)

    assert reports["a"].protocol.guarantee.epsilon == 1
    assert reports["a"].protocol.claimed_epsilon == 1
    assert "epsilon = 1," in reports["a"].protocol.describe()
    assert PAIR.guarantee.epsilon == 1
    assert PAIR.guarantee.protects == ("a", "b")
    assert PAIR.guarantee.tight


def test_combinations_are_numbered_with_the_last_column_fastest():
    codes = {"b": np.array([0, 0, 1, 3]), "a": np.array([0, 1, 0, 1])}
    sure = Combined({"b": 4, "a": 2}, 30)  # so large that the truth is told

    with pytest.warns(UserWarning, match="epsilon"):
        assert sure.guarantee.epsilon <= 30
    reports = sure.privatize(codes, rng=3)

    assert reports.sent[0].values.tolist() == [0, 1, 2, 7]
    assert reports["b"].values.tolist() == [0, 0, 1, 3]
    assert reports["a"].values.tolist() == [0, 1, 0, 1]
    assert reports["a"].values.dtype == np.uint8


def test_joint_and_marginal_estimates_agree():
    """The law is symmetric, so summing the joint estimate gives the estimate of a column."""
    draws = np.random.default_rng(1)
    codes = {"a": draws.integers(2, size=500), "b": draws.integers(3, size=500)}
    reports = PAIR.privatize(codes, rng=3)
    joint, alone = PAIR.estimate_joint(reports), PAIR.estimate(reports)

    assert joint.values.sum(axis=1) == pytest.approx(alone["a"].values)
    assert joint.values.sum(axis=0) == pytest.approx(alone["b"].values)
    assert joint.standard_error.shape == (2, 3)
    assert (joint.n, joint.columns) == (500, ("a", "b"))


def test_large_codes_do_not_wrap():
    """A product of two small types must not be counted in the small type."""
    strategy = Combined({"a": 200, "b": 200}, 25)
    codes = {"a": np.array([199], dtype=np.uint8), "b": np.array([199], dtype=np.uint8)}

    assert strategy.privatize(codes, rng=3).sent[0].values.tolist() == [39_999]


# --- what is refused --------------------------------------------------------------------------------


def test_a_product_too_large_is_refused_with_the_numbers():
    with pytest.raises(LimitExceededError) as refusal:
        Combined({"zip": 40_000, "age": 100, "job": 500}, 1)

    for number in (
        "zip (40,000)",
        "age (100)",
        "job (500)",
        "2,000,000,000",
        "48,000,000,000 bytes",
        "50,000,000",
    ):
        assert number in str(refusal.value)
    assert refusal.value.limit == "most_cells"


def test_the_limit_can_be_set():
    with pytest.raises(LimitExceededError):
        Combined({"a": 2, "b": 3}, 1, most_cells=5)
    assert Combined({"a": 2, "b": 3}, 1, most_cells=6).product.k == 6
    with pytest.raises(InvalidParameterError, match="'most_cells' parameter of Combined"):
        Combined({"a": 2, "b": 3}, 1, most_cells=2**31)


def test_a_product_that_the_grid_cannot_serve_is_refused():
    with pytest.raises(InvalidParameterError, match=r"9,000,000 combinations of a \(3,000\) x b \(3,000\)"):
        Combined({"a": 3_000, "b": 3_000}, "1e-9")


@pytest.mark.parametrize("sizes", [{}, None, [2, 3], {"a": 1}, {"a": 2.5}, {5: 2}, {"": 2}])
def test_wrong_sizes_are_refused(sizes):
    with pytest.raises(InvalidParameterError, match="'sizes' parameter of Combined"):
        Combined(sizes, 1)


def test_a_decoded_column_needs_a_multiple_of_its_values():
    with pytest.raises(InvalidParameterError, match="a multiple of 4"):
        DecodedGRR(4, 1, cells=6)


def test_an_example_of_a_decoded_column_is_one_of_two():
    column = DecodedGRR.example(5, 2)

    assert column.cells == 10
    assert column.q_exact == 2 * column.whole.q_exact
    assert sum(column.matrix(exact=True)[0]) == Fraction(1)
    assert "cells=10" in repr(column)
