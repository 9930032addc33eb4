"""Probabilities are rounded toward privacy, and the comparison with e to the epsilon has no rounding."""

import math
from fractions import Fraction

import mpmath
import pytest

from evenhand.collect.protocols.probabilities import (
    GRID,
    exp_above,
    exp_below,
    realised_epsilon,
    require_private,
    round_down,
    round_up,
)
from evenhand.errors import GuaranteeError

PROBABILITIES = [Fraction(1, 3), Fraction(2, 3), Fraction(1, 2), Fraction(1, 10**30), 1 - Fraction(1, 10**30)]


@pytest.mark.parametrize("probability", PROBABILITIES)
def test_rounding_goes_the_way_it_says_by_less_than_one_step(probability):
    low, high = round_down(probability), round_up(probability)

    assert (low * GRID).denominator == (high * GRID).denominator == 1
    assert low <= probability <= high
    assert high - low <= Fraction(1, GRID)


def test_no_probability_is_ever_zero_or_one():
    """A bit that is never flipped would tell everything."""
    assert round_up(Fraction(0)) == Fraction(1, GRID)
    assert round_down(Fraction(1)) == 1 - Fraction(1, GRID)


def test_a_multiple_stays_where_it_is():
    assert round_up(Fraction(3, 8)) == round_down(Fraction(3, 8)) == Fraction(3, 8)


@pytest.mark.parametrize(
    "exponent", [Fraction(1), Fraction(-1), Fraction(1, 1000), Fraction(50), Fraction(-50)]
)
def test_bounds_of_the_exponential_enclose_it(exponent):
    with mpmath.workdps(100):
        truth = mpmath.exp(mpmath.mpf(exponent.numerator) / exponent.denominator)
        below, above = (
            mpmath.mpf(bound.numerator) / bound.denominator
            for bound in (exp_below(exponent), exp_above(exponent))
        )

        assert below < truth < above
        assert above / below - 1 < 1e-37


def test_a_ratio_within_epsilon_is_returned():
    assert require_private(Fraction(271, 100), Fraction(1), owner="x") == Fraction(271, 100)


@pytest.mark.parametrize("digits", [3, 30, 45, 100, 300])
def test_ratios_on_both_sides_of_e_are_told_apart(digits):
    """The grid is fine enough that a rounding error of a float would decide here."""
    with mpmath.workdps(digits + 20):
        scaled = int(mpmath.floor(mpmath.e * mpmath.mpf(10) ** digits))

    assert require_private(Fraction(scaled, 10**digits), Fraction(1), owner="x")
    with pytest.raises(GuaranteeError, match="The probabilities of Broken do not keep epsilon = 1"):
        require_private(Fraction(scaled + 1, 10**digits), Fraction(1), owner="Broken")


def test_a_ratio_that_cannot_be_told_from_e_is_refused():
    """Whatever is in doubt is refused, and the comparison ends."""
    with mpmath.workdps(1_000):
        scaled = int(mpmath.floor(mpmath.e * mpmath.mpf(10) ** 900))

    with pytest.raises(GuaranteeError):
        require_private(Fraction(scaled, 10**900), Fraction(1), owner="x")


@pytest.mark.parametrize("ratio", [Fraction(1), Fraction(3), 1 + Fraction(1, GRID), Fraction(GRID - 1)])
def test_realised_epsilon_is_the_logarithm_rounded_up(ratio):
    with mpmath.workdps(100):
        truth = mpmath.log(mpmath.mpf(ratio.numerator) / ratio.denominator)
        found = realised_epsilon(ratio)
        told = mpmath.mpf(found.numerator) / found.denominator

        assert truth <= told <= truth * (1 + mpmath.mpf(10) ** -35)


def test_realised_epsilon_of_three():
    assert math.isclose(realised_epsilon(Fraction(3)), math.log(3), rel_tol=1e-15)
