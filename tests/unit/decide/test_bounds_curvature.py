"""Theorem 3 with its constant: half the variance times the curvature, exact for quadratic formulas."""

import math

import numpy as np
import pytest

from evenhand.decide.bounds_curvature import (
    allotment_trace,
    curvature,
    ratio_trace,
    second_order_alpha,
    second_order_bias,
)
from evenhand.errors import InvalidParameterError
from evenhand.privacy.laws import DiscreteLaplace, Gaussian, Laplace

WEIGHTS, COUNTS = np.array([1, 2, 1.5]), np.array([30, 50, 80])
EXACT = np.array([-1.6604364767317e-05, -1.4155275772298e-04, 1.5815712249151e-04])


def expectation(function, laws, point, nodes=40):
    """The expectation of a polynomial of two noisy inputs, by Gauss's rules, which are exact for it."""
    grids = []
    for law in laws:
        if isinstance(law, Gaussian):
            places, weights = np.polynomial.hermite_e.hermegauss(nodes)
            grids.append((places * law.standard_deviation, weights / math.sqrt(2 * math.pi)))
        else:
            places, weights = np.polynomial.laguerre.laggauss(nodes)
            scale = float(law.scale)
            grids.append((np.r_[places, -places] * scale, np.r_[weights, weights] / 2))
    (x, wx), (y, wy) = grids
    return float(wx @ function(point[0] + x[:, None], point[1] + y) @ wy)


def test_the_vector_of_three_districts():
    found = second_order_bias(allotment_trace(WEIGHTS, COUNTS), Laplace(2))

    assert found == pytest.approx([-1.664e-05, -1.408e-04, 1.5744e-04], abs=1e-12)
    assert found == pytest.approx(EXACT, rel=0.01)


def test_the_factor_n_as_printed_is_off_by_the_number_of_districts():
    """(4g) as printed is three times too much here, and 16,441 times too much for all districts."""
    trace = allotment_trace(WEIGHTS, COUNTS)
    right, printed = (
        second_order_bias(trace, Laplace(2)),
        second_order_bias(trace, Laplace(2), as_printed=True),
    )

    assert printed == pytest.approx(3 * right)
    assert not np.allclose(printed, EXACT, rtol=0.5)
    assert second_order_alpha(trace, Laplace(2)) == pytest.approx(2.9824e-04)
    assert second_order_alpha(trace, Laplace(2), as_printed=True) == pytest.approx(6 * 2.9824e-04)


def test_quadratic_formulas_have_exactly_this_bias():
    """Theorem 3's condition, a constant Hessian, makes this exact; with the printed factor it is wrong."""
    laws = [Laplace(2), Gaussian(5)]
    quadratic = lambda x, y: 3 * x**2 - 2 * x * y + y**2 / 2 + x  # noqa: E731 - a formula
    bias = expectation(quadratic, laws, (7, 4)) - quadratic(7, 4)

    assert second_order_bias([[6.0, 1.0]], laws) == pytest.approx([bias])
    assert second_order_bias([[6.0, 1.0]], laws, as_printed=True) != pytest.approx([bias])


def test_equal_traces_are_fair_for_gaussian_noise_and_not_for_laplace_noise():
    """Corollary 2 is exact only where harmonic functions keep their mean."""
    harmonic = lambda x, y: x**4 - 6 * x**2 * y**2 + y**4  # noqa: E731 - its Hessian has trace 0 everywhere
    gaussian = expectation(harmonic, [Gaussian(4)] * 2, (3, 5)) - harmonic(3, 5)
    laplace = expectation(harmonic, [Laplace(2)] * 2, (3, 5)) - harmonic(3, 5)

    assert gaussian == pytest.approx(0, abs=1e-9)
    assert laplace == pytest.approx(24 * 2**4, rel=1e-9)


def test_equal_ratios_curve_differently():
    """Corollary 5: Loving county errs most, though its ratio is that of Terrell county."""
    loving, terrell, union = second_order_bias(ratio_trace([4, 30, 160], [80, 600, 3305]), Laplace(10))

    assert loving > terrell > union > 0
    assert loving == pytest.approx(200 * 4 / 80**3)


def test_traces_agree_with_differences():
    """Example 1's trace, beside second differences of the shares."""

    def shares(x):
        return WEIGHTS * x / (WEIGHTS @ x)

    total = np.zeros(3)
    for place in range(3):
        step = np.eye(3)[place] * 0.05
        total += (shares(COUNTS + step) - 2 * shares(COUNTS) + shares(COUNTS - step)) / 0.05**2

    assert allotment_trace(WEIGHTS, COUNTS) == pytest.approx(total, rel=1e-4)


def test_huge_counts_keep_their_digits():
    assert allotment_trace([1, 1], [10**9, 3 * 10**9]) == pytest.approx([-6.25e-20, 6.25e-20])


@pytest.mark.parametrize(
    ("diagonal", "linear", "constant", "equal", "said"),
    [
        (lambda x: np.zeros((2, 2)), True, True, True, "no bias"),
        (lambda x: np.diag([2.0, 2.0]), False, True, True, "Corollary 2"),
        (lambda x: np.diag([2.0, 4.0]), False, True, False, "Theorem 3"),
        (lambda x: np.diag([x[0], x[1]]), False, False, False, "Corollary 4"),
    ],
)
def test_hessians_show_which_formulas_are_fair(diagonal, linear, constant, equal, said):
    found = curvature(diagonal, [[1, 2], [5, 3]])

    assert (found.linear, found.constant, found.equal_traces) == (linear, constant, equal)
    assert said in found.words
    assert (found.spread > 0) == (not equal)


def test_laws_may_differ_by_input():
    found = second_order_bias([[2.0, 0.0], [0.0, 2.0]], [Laplace(1), DiscreteLaplace(1)])

    assert found == pytest.approx([2.0, DiscreteLaplace(1).variance])
    assert second_order_bias([[2.0, 1.0]], Laplace(1)) == pytest.approx([3.0])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: second_order_bias([1.0, 2.0], [Laplace(1), Laplace(1)]), "one law, or one for each column"),
        (lambda: second_order_bias([[1.0, 2.0]], [Laplace(1)]), "one law, or one for each column"),
        (lambda: second_order_bias(np.zeros((0, 2)), Laplace(1)), "one number, or one row"),
        (lambda: second_order_bias([np.nan], Laplace(1)), "finite numbers"),
        (lambda: allotment_trace([1, 1], [1, 2, 3]), "one number for each weight"),
        (lambda: allotment_trace([1, 1], [0, 0]), "is not 0"),
        (lambda: ratio_trace([1], [0]), "other than 0"),
        (lambda: curvature(lambda x: np.zeros((2, 2)), []), "at least one data set"),
        (lambda: curvature(lambda x: np.zeros(2), [[1, 2]]), "one row for each entity"),
    ],
)
def test_invalid_arguments_are_refused(call, message):
    with pytest.raises(InvalidParameterError, match=message):
        call()
