"""A scale is rounded up, never down, and the guarantee is that of the rounded scale."""

import math
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import InvalidParameterError
from evenhand.privacy import scales
from evenhand.privacy.scales import LARGEST, gaussian_noise, laplace_noise, representable

positive = st.fractions(min_value=Fraction(1, 10**12), max_value=LARGEST)


def _slow_next(wanted, largest):
    """Try every denominator."""
    tops = ((math.ceil(wanted * bottom), bottom) for bottom in range(1, largest + 1))
    return min(Fraction(top, bottom) for top, bottom in tops if 0 < top <= largest)


@given(st.integers(1, 60), st.fractions(min_value=Fraction(1, 500), max_value=60))
def test_the_result_is_the_smallest_one_that_is_large_enough(largest, wanted):
    """With a small limit every candidate can be tried."""
    wanted = min(wanted, Fraction(largest))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scales, "LARGEST", largest)
        found = representable(wanted)

    assert found == _slow_next(wanted, largest)


@given(positive)
def test_a_scale_is_never_rounded_down_and_hardly_up(wanted):
    """Rounding down would be less noise than the guarantee was computed from."""
    found = representable(wanted)

    assert found >= wanted
    assert max(found.numerator, found.denominator) < 2**31
    assert found <= max(wanted * (1 + Fraction(1, 2**30)), Fraction(1, LARGEST))


@given(st.integers(1, LARGEST), st.integers(1, LARGEST))
def test_a_scale_that_fits_is_kept(top, bottom):
    assert representable(Fraction(top, bottom)) == Fraction(top, bottom)


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (0.1, Fraction(1, 10)),
        ("1e-30", Fraction(1, LARGEST)),
        (Fraction(1, 2**31), Fraction(1, LARGEST)),
        (Fraction(2**40 + 1, 2**40), Fraction(LARGEST, LARGEST - 1)),
        (Fraction(2**31 - 1) - Fraction(1, 10**9), LARGEST),
        (Fraction(2**30) + Fraction(1, 3), 2**30 + 1),
        (Decimal("0.333333333333333333333"), Fraction(1, 3)),
    ],
)
def test_known_scales(wanted, expected):
    assert representable(wanted) == expected


@pytest.mark.parametrize("scale", [2**31, 1e300, 0, -1, float("nan"), "x", None])
def test_a_scale_that_cannot_be_reached_is_refused(scale):
    with pytest.raises(
        InvalidParameterError, match="The 'scale' parameter of representable must be a number > 0"
    ):
        representable(scale)


@given(st.fractions(min_value=Fraction(1, 10**6), max_value=LARGEST), st.integers(1, 1_000))
def test_laplace_noise_never_gives_more_epsilon_than_asked(epsilon, sensitivity):
    noise = laplace_noise(epsilon, sensitivity=sensitivity)

    assert noise.epsilon <= epsilon
    assert noise.epsilon * noise.scale == sensitivity
    assert representable(noise.scale) == noise.scale


@given(st.fractions(min_value=Fraction(1, 10**5), max_value=LARGEST), st.integers(1, 1_000))
def test_gaussian_noise_never_gives_more_rho_than_asked(rho, squared):
    noise = gaussian_noise(rho, squared_sensitivity=squared)

    assert noise.rho <= rho
    assert 2 * noise.rho * noise.variance == squared
    assert representable(noise.variance) == noise.variance


def test_rounding_shows_in_the_guarantee():
    """Epsilon 3.1415926535 needs a scale that does not fit: the guarantee is a little smaller."""
    noise = laplace_noise("3.141592653589793", sensitivity=1)

    assert noise.scale > 1 / Fraction("3.141592653589793")
    assert noise.epsilon < Fraction("3.141592653589793")
    assert float(noise.epsilon) == pytest.approx(3.141592653589793, rel=2**-30)


def test_the_vectors_of_a_table():
    assert laplace_noise(1, sensitivity=2) == (2, 1)
    assert gaussian_noise("1/25", squared_sensitivity=2) == (25, Fraction(1, 25))


@pytest.mark.parametrize("wrong", [0, -1, "x", None])
def test_budgets_and_sensitivities_are_positive_numbers(wrong):
    for call in (
        lambda: laplace_noise(wrong, sensitivity=1),
        lambda: laplace_noise(1, sensitivity=wrong),
        lambda: gaussian_noise(wrong, squared_sensitivity=1),
        lambda: gaussian_noise(1, squared_sensitivity=wrong),
    ):
        with pytest.raises(InvalidParameterError, match="must be a number > 0"):
            call()
