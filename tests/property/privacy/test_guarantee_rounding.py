"""Conversions round against us: never below the truth in 10,000 random inputs, nor far above it."""

import math
from fractions import Fraction
from functools import partial

import mpmath
import pytest

from evenhand.privacy import Guarantee
from evenhand.privacy.guarantees.loss import group_delta
from evenhand.privacy.zcdp import delta_from_zcdp, epsilon_from_zcdp
from property._zcdp_truth import (
    DIGITS,
    assert_rounded_against_us,
    delta_at,
    epsilon_at,
    excess,
    precise,
    random_conversions,
    true_delta,
    true_epsilon,
    true_group_delta,
)

pytestmark = pytest.mark.figures

zcdp = partial(Guarantee.zcdp, unit="replace one", trust="central")


@pytest.fixture(scope="module")
def inputs():
    return random_conversions(seed=1, how_many=(3_000, 3_000, 4_000))


def test_delta_from_zcdp_is_never_below_the_truth(inputs):
    """A delta below the truth is a promise that the mechanism does not keep."""
    assert_rounded_against_us(delta_from_zcdp, true_delta, inputs[0])


def test_epsilon_from_zcdp_is_never_below_the_truth(inputs):
    assert_rounded_against_us(epsilon_from_zcdp, true_epsilon, inputs[1])


def test_delta_of_a_group_is_never_below_the_truth(inputs):
    """Two steps are the conversion from add or remove one to replace one."""
    assert_rounded_against_us(group_delta, true_group_delta, inputs[2])


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(2, 12))
def test_no_conversion_is_below_the_truth_on_other_inputs(seed):
    to_delta, to_epsilon, to_group = random_conversions(seed, (4_000, 4_000, 4_000))

    assert_rounded_against_us(delta_from_zcdp, true_delta, to_delta)
    assert_rounded_against_us(epsilon_from_zcdp, true_epsilon, to_epsilon)
    assert_rounded_against_us(group_delta, true_group_delta, to_group)


def test_stated_amounts_are_off_by_less_than_their_last_digit(inputs):
    """The figure asks for one part in 10^9; thirty digits are stated, so the last one is what is lost."""
    for convert, truth, some in (
        (delta_from_zcdp, true_delta, inputs[0][:200]),
        (epsilon_from_zcdp, true_epsilon, [each for each in inputs[1][:200] if true_epsilon(*each) > 1e-9]),
        (group_delta, true_group_delta, inputs[2][:200]),
    ):
        assert max(excess(convert(*each), truth(*each)) for each in some) < 1e-29


def smallest_by_search(function, low, high):
    """Golden section on ln(alpha - 1): knows nothing of derivatives."""
    ratio = (mpmath.sqrt(5) - 1) / 2
    inner = [high - ratio * (high - low), low + ratio * (high - low)]
    values = [function(point) for point in inner]
    for _ in range(120):
        if values[0] < values[1]:
            high = inner[1]
            inner = [high - ratio * (high - low), inner[0]]
            values = [function(inner[0]), values[0]]
        else:
            low = inner[0]
            inner = [inner[1], low + ratio * (high - low)]
            values = [values[1], function(inner[1])]
    return min(values)


def test_the_truth_is_the_smallest_over_all_orders(inputs):
    """If the yardstick missed the best order, a stated delta could be below the truth unseen."""
    with mpmath.workdps(100):
        for rho, epsilon in inputs[0][:40]:
            searched = smallest_by_search(
                lambda t, rho=rho, epsilon=epsilon: delta_at(
                    precise(rho), precise(epsilon), 1 + mpmath.exp(t)
                ),
                mpmath.mpf(-110),
                mpmath.mpf(60),
            )
            assert abs(searched / true_delta(rho, epsilon) - 1) < 1e-30
        for rho, delta in inputs[1][:40]:
            searched = smallest_by_search(
                lambda t, rho=rho, delta=delta: epsilon_at(precise(rho), precise(delta), 1 + mpmath.exp(t)),
                mpmath.mpf(-110),
                mpmath.mpf(750),
            )
            assert abs(max(mpmath.mpf(0), searched) - true_epsilon(rho, delta)) < 1e-30


def float_delta(rho, epsilon):
    """The conversion as one would write it with floats: golden section, then exp."""
    low, high = -60.0, 60.0
    rho, epsilon = float(rho), float(epsilon)

    def log_delta(t):
        u = math.exp(t)
        return u * ((u + 1) * rho - epsilon) - u * math.log1p(1 / u) - math.log1p(u)

    for _ in range(120):
        left, right = low + (high - low) / 3, high - (high - low) / 3
        low, high = (low, right) if log_delta(left) < log_delta(right) else (left, high)
    return Fraction(math.exp(log_delta(low)))


def float_epsilon(rho, delta):
    stated = float(epsilon_from_zcdp(rho, delta))  # right to thirty digits, then rounded to the nearest float
    return Fraction(stated)


def float_group_delta(epsilon, delta, size):
    return Fraction(min(1.0, float(delta) * sum(math.exp(i * float(epsilon)) for i in range(size))))


@pytest.mark.parametrize(
    ("convert", "truth", "kind"),
    [
        (float_delta, true_delta, 0),
        (float_epsilon, true_epsilon, 1),
        (float_group_delta, true_group_delta, 2),
    ],
    ids=["delta", "epsilon", "group"],
)
def test_conversions_in_floats_are_rejected(inputs, convert, truth, kind):
    """The twin: without it the tests above might not be able to see a value below the truth."""
    with pytest.raises(AssertionError, match="below the truth"):
        assert_rounded_against_us(convert, truth, inputs[kind][:300])


def test_a_bound_that_is_not_the_better_one_is_rejected(inputs):
    """The other twin: a valid but loose conversion is too far above."""

    def simple(rho, epsilon):
        with mpmath.workdps(DIGITS):
            gap = max(mpmath.mpf(0), precise(epsilon) - precise(rho))
            return Fraction(str(mpmath.exp(-(gap**2) / (4 * precise(rho)))))

    with pytest.raises(AssertionError, match="above the truth"):
        assert_rounded_against_us(simple, true_delta, inputs[0][:300])


def test_the_better_bound_is_never_worse_than_the_simple_one(inputs):
    for rho, epsilon in inputs[0][:500]:
        if epsilon >= rho:
            with mpmath.workdps(DIGITS):
                simple = mpmath.exp(-((precise(epsilon) - precise(rho)) ** 2) / (4 * precise(rho)))

                assert precise(delta_from_zcdp(rho, epsilon)) <= simple


def test_a_guarantee_converts_as_the_functions_do():
    assert zcdp("1/10").to_approximate(epsilon=1).delta == delta_from_zcdp("1/10", 1)
    assert zcdp("1/10").to_approximate(delta="1e-6").epsilon == epsilon_from_zcdp("1/10", "1e-6")


def test_there_and_back_returns_the_delta(inputs):
    """Epsilon for a delta, then delta for that epsilon, gives the delta again, rounded up."""
    for rho, delta in inputs[1][:200]:
        epsilon = epsilon_from_zcdp(rho, delta)
        if epsilon:
            again = delta_from_zcdp(rho, epsilon)

            assert abs(float(again / delta) - 1) < 1e-9
