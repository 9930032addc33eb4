"""Allotments: shares of weighted counts."""

import pickle
from fractions import Fraction

import numpy as np
import pytest

from evenhand.decide.allotment.allotment import Allotment, Formula
from evenhand.errors import InvalidParameterError


def test_shares_are_weighted_counts_over_their_total():
    allotment = Allotment([1, 2, 1.5], budget="1000.5", count="poor children")

    shares = allotment.shares([30, 50, 80])

    assert shares == pytest.approx([0.12, 0.4, 0.48], abs=1e-15)
    assert allotment.total([30, 50, 80]) == 250
    assert allotment.inputs == ("poor children",)
    assert allotment.budget == Fraction(2001, 2)
    assert allotment.formula == "weight*`poor children`/sum(weight*`poor children`)"
    assert repr(allotment).endswith("of 1000.5 among 3 entities")


def test_rows_of_counts_give_rows_of_shares():
    allotment = Allotment([1, 1])

    made = allotment.shares([[1, 3], [2, 2], [-1, 3]])

    assert made.tolist() == [[0.25, 0.75], [0.5, 0.5], [-0.5, 1.5]]
    assert allotment.total([[1, 3], [2, 2]]).tolist() == [4, 4]


def test_without_a_total_there_are_no_shares():
    """A share of nothing is not 0: the money would be gone."""
    allotment = Allotment([1, 0, 1])

    assert np.isnan(allotment.shares([0, 5, 0])).all()
    assert np.isnan(allotment.shares([[1, 0, -1], [1, 0, 1]])).tolist() == [[True] * 3, [False] * 3]


def test_one_entity_gets_all_and_weight_zero_gets_no_share():
    assert Allotment([7]).shares([3]).tolist() == [1.0]
    assert Allotment([0, 2]).shares([10**9, 10**9]).tolist() == [0.0, 1.0]
    assert repr(Allotment([7])) == "weight*x/sum(weight*x) among 1 entity"


def test_counts_of_a_thousand_million_add_up():
    counts = np.full(20_000, 10**9)

    assert Allotment(np.ones(20_000)).shares(counts).sum() == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize(
    "weights", [[], [0, 0], [-1, 2], [np.nan, 1], [np.inf, 1], [1e51], [1e-51], ["1"], [[1]], 3, [True], None]
)
def test_weights_that_cannot_share_are_refused(weights):
    with pytest.raises(InvalidParameterError, match="'weights' parameter of Allotment"):
        Allotment(weights)


@pytest.mark.parametrize(
    "counts", [[1], [1, 2, 3], 3, ["1", "2"], [1, np.nan], [1, np.inf], [True, False], [[1], [2]]]
)
def test_counts_that_do_not_fit_are_refused(counts):
    with pytest.raises(InvalidParameterError, match="'counts' parameter of Allotment"):
        Allotment([1, 2]).shares(counts)


@pytest.mark.parametrize(
    "asked", [{"budget": 0}, {"budget": -1}, {"budget": "a lot"}, {"count": ""}, {"count": 3}]
)
def test_a_budget_is_above_zero_and_a_column_has_a_name(asked):
    with pytest.raises(InvalidParameterError, match=r"'(budget|count)' parameter of Allotment"):
        Allotment([1, 2], **asked)


def test_the_weights_are_kept_as_they_were():
    given = np.array([1.0, 2.0])
    allotment = Allotment(given)
    given[0] = 5

    assert allotment.weights.tolist() == [1, 2]
    assert allotment.size == 2
    with pytest.raises(ValueError, match="read-only"):
        allotment.weights[0] = 5


def test_an_allotment_survives_the_way_to_a_worker():
    twin = pickle.loads(pickle.dumps(Allotment([1, 2], budget="1/3", count="poor")))

    assert (twin.weights.tolist(), twin.budget, twin.count) == ([1, 2], Fraction(1, 3), "poor")
    assert not twin.weights.flags.writeable


COUNTS, WEIGHTS = np.array([30.0, 50, 80]), np.array([1, 2, 1.5])
VARIANCE = 8.0  # of Laplace noise of scale 2


def shares(counts):
    return WEIGHTS * counts / (WEIGHTS * counts).sum()


def hessian(counts):
    """The second derivative of share i by count j, from the quotient rule."""
    total = (WEIGHTS * counts).sum()
    made = 2 * np.outer(WEIGHTS * counts, WEIGHTS**2) / total**3
    return made - 2 * np.diag(WEIGHTS**2) / total**2


@pytest.mark.parametrize("given", [None, hessian], ids=["differences", "given"])
def test_half_the_trace_is_that_of_the_allotment(given):
    """The known bias of second order; with the factor n that is printed it would be three times that."""
    formula = Formula(shares, hessian_diagonal=given)

    bias = formula.second_order_bias(COUNTS, variances=VARIANCE)

    assert formula.shares(COUNTS) == pytest.approx(Allotment(WEIGHTS).shares(COUNTS), abs=1e-15)
    assert bias == pytest.approx([-1.664e-05, -1.408e-04, 1.5744e-04], rel=1e-6)
    assert bias.sum() == pytest.approx(0, abs=1e-11)
    assert formula.second_derivatives(COUNTS) == pytest.approx(hessian(COUNTS), rel=1e-5, abs=1e-12)


def test_variances_may_differ_by_entity():
    variances = np.array([1.0, 0.0, 3.0])
    exact = hessian(COUNTS) @ variances / 2

    for given in (None, hessian):
        made = Formula(shares, hessian_diagonal=given).second_order_bias(COUNTS, variances=variances)
        assert made == pytest.approx(exact, rel=1e-6, abs=1e-12)


def test_large_counts_keep_their_digits():
    """A fixed step of 1 would drown in rounding at a thousand million."""
    counts = COUNTS * 1e8

    made = Formula(shares).second_order_bias(counts, variances=VARIANCE)

    assert made == pytest.approx(hessian(counts).sum(axis=1) * VARIANCE / 2, rel=1e-5)


def test_rows_of_counts_give_rows_of_shares_by_a_formula():
    rows = np.array([[1, 1, 1], [2, 0, 0]])

    assert Formula(shares).shares(rows) == pytest.approx(np.array([shares(each) for each in rows]))


def test_a_function_cannot_change_the_counts():
    def greedy(counts):
        counts *= 0
        return np.ones(2)

    counts = np.array([1.0, 2.0])
    Formula(greedy).shares(counts)

    assert counts.tolist() == [1, 2]


def test_a_formula_says_what_it_is():
    assert repr(Formula(shares, count="poor")) == "Formula(shares, count='poor')"
    assert Formula(shares).inputs == ("x",)
    assert Formula(np.vectorize(abs)).formula


@pytest.mark.parametrize(
    "refused",
    [
        lambda: Formula(None),
        lambda: Formula("x"),
        lambda: Formula(shares, hessian_diagonal=3),
        lambda: Formula(shares, count=""),
        lambda: Formula(lambda _: 3).shares(COUNTS),
        lambda: Formula(lambda _: ["a", "b", "c"]).shares(COUNTS),
        lambda: Formula(shares, hessian_diagonal=lambda _: np.ones(3)).second_derivatives(COUNTS),
        lambda: Formula(shares).shares([]),
        lambda: Formula(shares).shares(3),
        lambda: Formula(shares).shares([1, 2, np.nan]),
        lambda: Formula(shares).second_derivatives([[1, 2, 3]]),
    ],
)
def test_arguments_that_do_not_fit_are_refused(refused):
    with pytest.raises(InvalidParameterError, match="of Formula must be"):
        refused()
