"""The words of a rule's text."""

from fractions import Fraction

import pytest

from evenhand.decide.language.tokens import (
    Token,
    check_input_name,
    exact_number,
    quote_name,
    refuse_text,
    tokenize,
    within_limits,
    write_number,
)
from evenhand.errors import InvalidParameterError, RuleError


def test_a_text_falls_into_words_with_their_places():
    found = tokenize("`a b`>= 1_0.5e2 AND(x)")

    assert [(each.kind, each.text, each.place) for each in found] == [
        ("name", "a b", 0),
        ("sign", ">=", 5),
        ("number", "10.5e2", 8),
        ("word", "and", 16),
        ("sign", "(", 19),
        ("name", "x", 20),
        ("sign", ")", 21),
        ("end", "", 22),
    ]


@pytest.mark.parametrize("space", ["\u00a0", "\u2003", "\x0b", "\x00", "\ufeff", "\u200b"])
def test_spaces_that_look_like_spaces_are_refused(space):
    """Two rules that look alike must not be read differently."""
    with pytest.raises(RuleError):
        tokenize(f"x{space}> 3")


@pytest.mark.parametrize("digit", ["٣", "３", "²", "½", "x²"])
def test_digits_are_the_ten_on_the_keyboard(digit):
    """Others look like them in some fonts and not in others."""
    with pytest.raises(RuleError) as caught:
        tokenize(f"x > {digit}")

    assert caught.value.column == 5


def test_a_token_is_shown_short():
    assert Token("name", "x" * 100, 0).message_text == f"'{'x' * 34}'"
    assert Token("end", "", 0).message_text == "the end"
    assert not Token("name", "and", 0).is_("and")


def test_the_message_stands_alone():
    with pytest.raises(RuleError) as caught:
        refuse_text("x > 3", 2, expected="y", got="'>'", hint="think.")

    assert str(caught.value) == (
        "The rule cannot be read at column 3: expected y, got '>'. Hint: think.\n    x > 3\n      ^"
    )


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
    assert write_number(value) == text
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
    assert quote_name(name) == text


def test_limits_of_numbers_and_names():
    assert within_limits(Fraction(0))
    assert within_limits(Fraction(10**100))
    assert not within_limits(Fraction(10**100 + 1))
    assert not within_limits(Fraction(1, 10**101))
    assert not within_limits(1 + Fraction(1, 2**1024))
    assert check_input_name("x" * 200, parameter="name", owner="count") == "x" * 200
    with pytest.raises(InvalidParameterError, match="1 to 200 characters"):
        check_input_name("x" * 201, parameter="name", owner="count")
    with pytest.raises(InvalidParameterError, match="1e-100 to 1e100"):
        exact_number(Fraction(1, 10**101), parameter="level", owner="threshold")
