"""What people write becomes one rational, and e^x and ln x lie between their bounds."""

import math
import time
from decimal import Decimal
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import InvalidParameterError, LimitExceededError
from evenhand.privacy.rational import (
    as_text,
    exact,
    exp_bounds,
    leading_zeros,
    log_bounds,
    round_down,
    round_up,
    text_above,
    text_below,
)


def read(value, **limits):
    return exact(value, name="epsilon", owner="Example", **limits)


def precise(value):
    return mpmath.mpf(value.numerator) / value.denominator


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (0.1, Fraction(1, 10)),
        (1, Fraction(1)),
        (-2, Fraction(-2)),
        (1e-300, Fraction(1, 10**300)),
        ("0.1", Fraction(1, 10)),
        ("1/10", Fraction(1, 10)),
        (" 2/6 ", Fraction(1, 3)),
        ("1e-6", Fraction(1, 10**6)),
        ("1E+2", Fraction(100)),
        (Decimal("0.3"), Fraction(3, 10)),
        (Decimal("1e-400"), Fraction(1, 10**400)),
        (Fraction(2, 7), Fraction(2, 7)),
        (np.float64(0.1), Fraction(1, 10)),
        (np.float32(0.1), Fraction(1, 10)),
        (np.int8(3), Fraction(3)),
    ],
)
def test_a_number_means_what_it_prints(given, expected):
    """If 0.1 meant the binary number beside it, ten tenths would not be a budget of one."""
    assert read(given) == expected
    assert type(read(given).numerator) is int


@pytest.mark.parametrize(
    "given",
    [
        True, None, "", "x", "1/0", "1_000", "nan", "inf", "-inf", "1e999", "1e-0401", "1e99999999999",
        "1e5/3", "1/1e5", "1 /  2 3", math.nan, math.inf, -math.inf, Decimal("nan"), Decimal("inf"),
        Decimal("1e401"), Decimal("1e-401"), 1j, [1], b"1", "9" * 8_001, "1/" + "9" * 5_000,
        np.float64("nan"), np.bool_(1),
    ],
)  # fmt: skip
def test_anything_else_is_refused(given):
    with pytest.raises(
        InvalidParameterError, match=r"The 'epsilon' parameter of Example must be a number\. Got "
    ):
        read(given)


class Odd(float):
    """A float that prints something else."""

    def __str__(self):
        return "odd"

    __repr__ = __str__


def test_a_class_made_from_float_is_read_as_the_float_it_is():
    assert read(Odd(0.1)) == Fraction(1, 10)


TOO_LONG = {
    "digits": "9" * 4_200,
    "whole": 10**401,
    "negative": -(10**401),
    "very long": 10**5_000,
    "small": Fraction(1, 10**401),
    "very small": Fraction(1, 10**20_000),
    "long ratio": Fraction(10**1_000_000 + 1, 3),
    "long but ordinary": Fraction(10**4_000 + 1, 10**4_000),
    "places": "0." + "9" * 4_200,
    "decimal": Decimal("0." + "1" * 400_000),
    "extended": np.longdouble("1e401"),
}


@pytest.mark.parametrize("given", TOO_LONG.values(), ids=TOO_LONG)
def test_what_no_budget_can_be_is_refused_at_once(given):
    """One such number in a file would hold up every sum, comparison and sentence that it gets into."""
    begun = time.process_time()
    with pytest.raises(InvalidParameterError, match=r"'epsilon' parameter of Example must be a number"):
        read(given)

    assert time.process_time() - begun < 0.5


@pytest.mark.parametrize("given", [10**400, "1e-400", Fraction(10**3_899 + 1, 10**3_899), "0." + "1" * 3_899])
def test_what_is_just_within_the_limits_is_read(given):
    assert read(given) == Fraction(given)


def test_the_limits_are_told_to_who_gives_a_number_beyond_them():
    """'Must be a number' alone would puzzle: it is one."""
    with pytest.raises(InvalidParameterError, match=r"Hint: 0, or 10\*\*-400 to 10\*\*400, in 3,900 digits"):
        read(Fraction(1, 10**401))
    with pytest.raises(InvalidParameterError) as caught:
        read(-1, least=0)

    assert "Hint" not in str(caught.value)


def test_a_long_refused_text_is_cut_in_the_message():
    with pytest.raises(InvalidParameterError) as caught:
        read("x" * 9_000)

    assert len(str(caught.value)) < 200


@pytest.mark.parametrize(
    ("limits", "inside", "outside", "words"),
    [
        ({"above": 0}, "1e-400", 0, "a number > 0"),
        ({"least": 0}, 0, "-1e-400", "a number >= 0"),
        ({"most": 1}, 1, "1.0000001", "a number <= 1"),
        ({"least": 0, "most": 1}, "1/2", 2, "a number >= 0 and <= 1"),
    ],
)
def test_limits_are_exact_and_named(limits, inside, outside, words):
    assert read(inside, **limits) == Fraction(inside)
    with pytest.raises(InvalidParameterError, match=f"must be {words}. Got"):
        read(outside, **limits)


@given(st.fractions())
def test_text_reads_back_as_the_same_number(value):
    """A ledger that reads back another number than it wrote miscounts."""
    assert read(as_text(value)) == value


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_float_reads_as_its_own_decimal(value):
    assert float(read(value)) == value
    assert read(value) == read(repr(value))


def test_long_numbers_read_back_and_longer_ones_are_refused():
    long = Fraction(7**4_000, 10**3_500)
    longer = Fraction(1, 10**4_000)

    assert read(as_text(long)) == long
    with pytest.raises(LimitExceededError, match="more than 3,900 digits") as caught:
        as_text(longer)
    assert caught.value.limit == "digits"


@given(st.fractions(min_value=0), st.integers(1, 50))
def test_rounding_up_never_goes_down_and_keeps_its_digits(value, digits):
    rounded = round_up(value, digits=digits)

    assert value <= rounded <= value * (1 + Fraction(10) ** (1 - digits))
    assert round_up(rounded, digits=digits) == rounded


@given(st.fractions(min_value=Fraction(1, 10**60), max_value=10**60))
def test_leading_zeros_are_never_too_few(value):
    assert value * 10 ** leading_zeros(value) >= 1


@given(st.fractions(-2_000, 2_000), st.sampled_from([5, 20, 40, 60]))
def test_the_exponential_lies_between_its_bounds(exponent, digits):
    """If the upper bound were below e^x, a delta made with it would be below the truth."""
    low, high = exp_bounds(exponent, digits=digits)
    with mpmath.workdps(250):
        truth = mpmath.exp(precise(exponent))

        assert precise(low) < truth < precise(high)
        assert precise(high) - precise(low) < truth * mpmath.mpf(10) ** (2 - digits)


def test_far_exponents_are_bounded_or_refused():
    low, high = exp_bounds(Fraction(-(10**9)))

    assert low == 0
    assert 0 < high < Fraction(1, 10**434_294)
    with pytest.raises(InvalidParameterError, match="must be at most 1,000,000"):
        exp_bounds(Fraction(10**400))


near_one = st.integers(1, 150).flatmap(
    lambda places: st.sampled_from([1 + Fraction(3, 10**places), 1 - Fraction(3, 10 ** (places + 1))])
)


@given(st.fractions(Fraction(1, 10**300), 10**300) | near_one, st.sampled_from([5, 20, 40, 60]))
def test_the_logarithm_lies_between_its_bounds(value, digits):
    low, high = log_bounds(value, digits=digits)
    with mpmath.workdps(500):
        truth = mpmath.log(precise(value))

        assert precise(low) <= truth <= precise(high)
        assert precise(high) - precise(low) <= abs(truth) * mpmath.mpf(10) ** (3 - digits)


def test_the_logarithm_of_one_is_zero_and_of_zero_is_refused():
    assert log_bounds(Fraction(1)) == (0, 0)
    with pytest.raises(InvalidParameterError, match=r"must be a number > 0\. Got"):
        log_bounds(Fraction(0))


@pytest.mark.parametrize("exponent", [Fraction(1), Fraction(-7, 3)])
def test_bounds_do_not_depend_on_the_callers_decimal_settings(exponent):
    import decimal

    expected = exp_bounds(exponent), log_bounds(Fraction(7, 3))
    with decimal.localcontext() as context:
        context.prec, context.rounding, context.Emax, context.Emin = 3, decimal.ROUND_UP, 5, -5
        context.traps[decimal.Inexact] = True

        assert (exp_bounds(exponent), log_bounds(Fraction(7, 3))) == expected


AMOUNTS = st.fractions(min_value=0, max_value=1000) | st.floats(0, 1e300, allow_subnormal=False).map(Fraction)


@given(AMOUNTS, st.integers(1, 15))
def test_a_text_above_is_never_below_and_a_text_below_never_above(value, digits):
    """An epsilon that is shown smaller than it is promises what nobody proved."""
    above, below = (Fraction(write(value, digits=digits)) for write in (text_above, text_below))

    assert below <= value <= above
    assert above == round_up(value, digits=digits)
    assert below == round_down(value, digits=digits)
    assert above - below <= Fraction(10) ** (1 - digits) * value


@given(AMOUNTS)
def test_a_number_of_few_digits_is_written_as_it_is(value):
    """Rounding the right way must not change what needs no rounding."""
    short = float(f"{float(value):.6g}")

    assert text_above(Fraction(repr(short))) == text_below(Fraction(repr(short))) == f"{short:.6g}"


@pytest.mark.parametrize(
    ("value", "above", "below"),
    [
        (Fraction(0), "0", "0"),
        (Fraction(20), "20", "20"),
        (Fraction("0.1"), "0.1", "0.1"),
        (Fraction("1.0000001"), "1.00001", "1"),
        (Fraction(10**7, 3), "3.33334e+06", "3.33333e+06"),
        (Fraction(1, 3 * 10**5), "3.33334e-06", "3.33333e-06"),
        (Fraction(10**350), "1e+350", "1e+350"),
        (Fraction(1, 3 * 10**350), "3.33334e-351", "3.33333e-351"),
    ],
)
def test_a_number_is_rounded_the_way_it_is_meant(value, above, below):
    """Nearest is wrong half of the time, whichever way is meant."""
    assert (text_above(value), text_below(value)) == (above, below)
