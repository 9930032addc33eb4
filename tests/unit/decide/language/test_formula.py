"""General formulas: shares and second derivatives."""

import numpy as np
import pytest

from evenhand.decide.allotment.allotment import Allotment, Formula
from evenhand.errors import InvalidParameterError

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


def test_rows_of_counts_give_rows_of_shares():
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
def test_what_does_not_fit_is_refused(refused):
    with pytest.raises(InvalidParameterError, match="of Formula must be"):
        refused()
