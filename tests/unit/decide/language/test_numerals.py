"""Numbers and names as rules write them."""

from fractions import Fraction

import pytest

from evenhand.decide.language.numerals import checked_name, number, numeral, quoted, within_limits
from evenhand.errors import InvalidParameterError


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Fraction(0), "0"),
        (Fraction(-7), "-7"),
        (Fraction(1, 20), "0.05"),
        (Fraction(-5, 4), "-1.25"),
        (Fraction(131, 10_000), "0.0131"),
        (Fraction(1, 2**18), "0.000003814697265625"),
        (Fraction(1, 2**19), "1/524288"),
        (Fraction(2, 3), "2/3"),
        (Fraction(10**30), "1" + "0" * 30),
    ],
)
def test_a_number_is_written_exactly(value, text):
    assert numeral(value) == text
    assert Fraction(text) == value


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("sp", "sp"),
        ("_1", "_1"),
        ("été", "été"),
        ("1st", "`1st`"),
        ("a b", "`a b`"),
        ("NOT", "`NOT`"),
        ("Signed", "`Signed`"),
        ("`", "````"),
        ("a-b", "`a-b`"),
        ("m²", "`m²`"),
    ],
)
def test_a_name_stands_in_backquotes_where_it_is_odd(name, text):
    assert quoted(name) == text


def test_limits_of_numbers_and_names():
    assert within_limits(Fraction(0))
    assert within_limits(Fraction(10**100))
    assert not within_limits(Fraction(10**100 + 1))
    assert not within_limits(Fraction(1, 10**101))
    assert not within_limits(1 + Fraction(1, 2**1024))
    assert checked_name("x" * 200, parameter="name", owner="count") == "x" * 200
    with pytest.raises(InvalidParameterError, match="1 to 200 characters"):
        checked_name("x" * 201, parameter="name", owner="count")
    with pytest.raises(InvalidParameterError, match="1e-100 to 1e100"):
        number(Fraction(1, 10**101), parameter="level", owner="threshold")
