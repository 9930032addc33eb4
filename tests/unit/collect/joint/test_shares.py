"""Parts of a whole stay within the whole, whatever is rounded."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from evenhand.collect.joint.split import decimal_parts, dyadic_shares, float_below

amounts = st.lists(st.floats(1e-12, 1e12), min_size=1, max_size=8)
totals = st.fractions(min_value=Fraction(1, 10**6), max_value=700, max_denominator=10**6)


@given(amounts)
def test_dyadic_shares_sum_to_one_and_none_is_nought(given):
    shares = dyadic_shares([Fraction(each) for each in given])

    assert sum(shares) == 1
    assert all(share > 0 and (share * 2**53).denominator == 1 for share in shares)


def test_a_share_too_small_for_the_grid_gets_one_unit():
    assert dyadic_shares([Fraction(1), Fraction(1, 10**30)])[1] == Fraction(1, 2**53)


@given(totals, amounts)
def test_decimal_parts_never_exceed_the_total_and_lose_next_to_nothing(total, given):
    parts = decimal_parts(total, given)

    assert 0 <= total - sum(parts) <= total / 10**15
    assert all(part > 0 for part in parts)


def test_a_part_too_small_for_the_unit_is_lifted_and_the_total_kept():
    parts = decimal_parts(Fraction(700), [1.0, 1e-30])

    assert parts[1] > 0
    assert sum(parts) <= 700


def test_a_large_total_of_few_parts_needs_no_fractions():
    assert sum(decimal_parts(Fraction(10**25), [1.0, 1.0])) <= 10**25


@given(totals)
def test_the_float_below_reads_as_no_more(total):
    """A budget written with a float must not grow when it is read back."""
    found = float_below(total)

    assert Fraction(repr(found)) <= total
    assert float(total) - found <= 1e-15 * float(total)
