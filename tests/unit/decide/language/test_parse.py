"""Rules from text: what is read, how closely words bind, and where an error points."""

import sys
from fractions import Fraction

import numpy as np
import pytest

from evenhand.decide.language.parse import DEEPEST_TEXT, parse
from evenhand.decide.language.terms import count, ratio
from evenhand.decide.language.tokens import LONGEST_TEXT
from evenhand.errors import InvalidParameterError, LimitExceededError, RuleError

x, y, z = count("x"), count("y"), count("z")
LANGUAGE = ((ratio("sp", "s") > 0.05) | (count("sp") > 10_000)) & (ratio("spe", "sp") > 0.0131)


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("(sp/s > 0.05 or sp > 10000) and spe/sp > 0.0131", LANGUAGE),
        ("((sp / s)>5e-2 OR sp>1_0_000)\n\tAND (spe/sp > .0131)", LANGUAGE),
        ("x > 3", x > 3),
        ("x>=3", x >= 3),
        ("3 < x", x > 3),
        ("3 >= x", x <= 3),
        ("x > 1.", x > 1),
        ("x > 1E+2", x > 100),
        ("x > -+-3", x > 3),
        ("-x > --3", -x > 3),
        ("x > 1/3", x > Fraction(1, 3)),
        ("2*x + y/4 - 1 <= z", 2 * x + y / 4 - 1 <= z),
        ("x - (y - 2) > 0", x - y + 2 > 0),
        ("x - y - z > 0", x - y - z > 0),
        ("2*(x + y)*3 > 1", 6 * x + 6 * y > 1),
        ("x/y/2 > 1", x / y / 2 > 1),
        ("1/3*x/(2*y + 1) <= 1/7", x / 3 / (2 * y + 1) <= Fraction(1, 7)),
        ("x/y > z/y", x / y > z / y),
        ("signed(x/y) > 1", ratio("x", "y", nonpositive="signed") > 1),
        ("SIGNED((x + 1)/y)*2 > 1", ratio(2 * x + 2, "y", nonpositive="signed") > 1),
        ("not x > 3", ~(x > 3)),
        ("not not x > 3", x > 3),
        ("not not not x > 3 and y > 1", ~(x > 3) & (y > 1)),
        ("not (x > 3 and y > 1)", ~((x > 3) & (y > 1))),
        ("x > 1 or y > 1 and z > 1", (x > 1) | ((y > 1) & (z > 1))),
        ("x > 1 xor y > 1 and z > 1", (x > 1) ^ ((y > 1) & (z > 1))),
        ("x > 1 or y > 1 xor z > 1", (x > 1) | ((y > 1) ^ (z > 1))),
        ("x > 1 and y > 1 xor z > 1 or x > 1", (((x > 1) & (y > 1)) ^ (z > 1)) | (x > 1)),
        ("(((x))) > ((1))", x > 1),
        ("`two words` > `or`", count("two words") > count("or")),
        ("`a``b` > 1", count("a`b") > 1),
        ("`line\nbreak` > 1", count("line\nbreak") > 1),
        ("größe > 1 and 学生 > 2", (count("größe") > 1) & (count("学生") > 2)),
        ("x_1 > 1", count("x_1") > 1),
        ("android > 1", count("android") > 1),
        ("x > " + "0" * 300 + "1", x > 1),
    ],
)
def test_a_text_says_the_same_as_python(text, rule):
    assert repr(parse(text)) == repr(rule)
    assert parse(repr(rule)) == parse(text)


def test_a_text_decides_as_the_rule_does():
    columns = {"s": np.array([1000, 1000, 1000]), "sp": np.array([60, 60, 50]), "spe": np.array([6, 0, 5])}

    assert parse(repr(LANGUAGE)).holds(columns).tolist() == [True, False, False]


@pytest.mark.parametrize(
    ("text", "column", "words"),
    [
        ("", 1, "expected a number, a name or '(', got the end"),
        ("   ", 4, "got the end"),
        ("x", 2, "because a rule compares"),
        ("x + 3", 6, "because a rule compares"),
        ("sp/s > > 3", 8, "expected a number, a name or '(', got '>'"),
        ("x > ", 5, "got the end"),
        ("x > 3 4", 7, "expected 'and', 'or', 'xor' or the end, got '4'"),
        ("x y > 3", 3, "expected a sign such as"),
        ("3x > 4", 2, "got 'x'"),
        ("(x > 3", 7, "'(' was opened at column 1"),
        ("(x", 3, "expected a sign such as"),
        ("x > 3)", 6, "one ')' too many"),
        ("()", 2, "got ')'"),
        ("x & y", 3, "write 'and'"),
        ("x | y", 3, "write 'or'"),
        ("x ^ y", 3, "write 'xor'"),
        ("~x > 1", 1, "write 'not'"),
        ("x == 3", 3, "write '>', '>=', '<' or '<='"),
        ("x != 3", 3, "write 'not'"),
        ("x ≥ 3", 3, "write '>='"),
        ("x > 5%", 6, "0.05 for 5 percent"),
        ("x > 10,000", 7, "10000 or 10_000"),
        ("x['y'] > 3", 2, "write '('"),
        ('"x" > 3', 1, "backquotes around an odd name"),
        ("x.y > 3", 2, "got '.'"),
        ("x; y", 2, "got ';'"),
        ("x > 3 # why", 7, "got '#'"),
        ("x ** 2 > 1", 4, "got '*'"),
        ("x // 2 > 1", 4, "got '/'"),
        ("x > 1__0", 6, "got '__0'"),
        ("x > 0x10", 6, "got 'x10'"),
        ("`x > 3", 1, "a second backquote"),
        ("`` > 3", 1, "a name of 1 to 200 characters"),
        ("a" * 201 + " > 3", 1, "a name of 1 to 200 characters"),
        ("0 < x < 5", 7, "a < b and b < c"),
        ("3 < 4", 3, "leaves a count to compare"),
        ("x - x > 3", 7, "leaves a count to compare"),
        ("x*y > 3", 2, "rules are linear"),
        ("x/y/z > 3", 4, "rules are linear"),
        ("x/y > z", 5, "a ratio with the same denominator"),
        ("x/y + z > 1", 5, "a ratio with the same denominator"),
        ("x/0 > 3", 2, "a number other than 0 beside '/'"),
        ("x/(y - y) > 3", 2, "a number other than 0"),
        ("x > 3 and y", 11, "expected a comparison"),
        ("x and y > 3", 1, "expected a comparison"),
        ("not x", 5, "expected a comparison"),
        ("(x > 3) + 1 > 4", 1, "got a comparison"),
        ("1 + (x > 3) > 4", 5, "got a comparison"),
        ("-(x > 3) > 4", 2, "got a comparison"),
        ("(x > 3) > 4", 1, "got a comparison"),
        ("4 > (x > 3)", 5, "got a comparison"),
        ("x > and", 5, "a column of that name stands in backquotes"),
        ("or > 1", 1, "a column of that name stands in backquotes"),
        ("x > not 3", 5, "a column of that name stands in backquotes"),
        ("signed > 3", 8, "'(' after 'signed'"),
        ("signed(x) > 3", 7, "a ratio such as signed(x/y)"),
        ("signed(x > 3)", 7, "a ratio such as signed(x/y)"),
        ("x > 1e101", 5, "from 1e-100 to 1e100"),
        ("x > 1e-101", 5, "from 1e-100 to 1e100"),
        ("x > 1e99999999999", 5, "from 1e-100 to 1e100"),
        ("x > " + "9" * 5000, 5, "from 1e-100 to 1e100"),
        ("x*1e99*1e99 > 1", 7, "stay from 1e-100 to 1e100"),
        ("x*1e60 > y/1e60", 8, "whole coefficients"),
    ],
)
def test_an_error_points_at_its_column_and_says_what_was_expected(text, column, words):
    with pytest.raises(RuleError) as caught:
        parse(text)

    message, line, caret = str(caught.value).split("\n")
    assert caught.value.column == column
    assert f"at column {column}:" in message
    assert words in message
    assert caught.value.expected in message
    shown = caret.index("^")
    assert (line + " ")[shown] == (text.replace("\n", "?") + " ")[column - 1]


def test_a_long_text_is_shown_around_the_place():
    text = "x > 1 and " * 30 + "y >> 3" + " and x > 1" * 30

    with pytest.raises(RuleError) as caught:
        parse(text)

    _, line, caret = str(caught.value).split("\n")
    assert len(line) < 80
    assert line.strip().startswith("...")
    assert line.strip().endswith("...")
    assert line[caret.index("^")] == ">"


def test_what_does_not_print_is_shown_as_a_question_mark():
    """A message goes to terminals and pages; a text must not steer them."""
    with pytest.raises(RuleError) as caught:
        parse("x > 3 \u202e\x1b[31m\ud800 and")

    assert "???" not in str(caught.value).split("\n", maxsplit=1)[0]
    assert all(each.isprintable() or each == "\n" for each in str(caught.value))
    str(caught.value).encode()


@pytest.mark.parametrize("text", [None, 3, b"x > 3", ["x > 3"], count("x") > 3])
def test_what_is_no_text_is_refused(text):
    with pytest.raises(InvalidParameterError, match="the text of a rule"):
        parse(text)


def test_limits_on_length_and_depth():
    """A text that somebody sends must not use up the stack or the time."""
    assert parse("(" * DEEPEST_TEXT + "x > 3" + ")" * DEEPEST_TEXT) == (x > 3)
    with pytest.raises(LimitExceededError) as caught:
        parse("(" * (DEEPEST_TEXT + 1) + "x > 3" + ")" * (DEEPEST_TEXT + 1))
    assert caught.value.limit == "depth"
    with pytest.raises(LimitExceededError):
        parse("(" * LONGEST_TEXT)
    with pytest.raises(LimitExceededError) as caught:
        parse("x" * (LONGEST_TEXT + 1))
    assert caught.value.limit == "text"
    assert parse("not " * 4_000 + "x > 3") == (x > 3)
    assert parse("-" * 10_000 + "x > 3") == (x > 3)
    nested = "x > 1"
    for turn in range(35):
        nested = f"({nested}) {'and' if turn % 2 else 'or'} x > {turn}"
    with pytest.raises(LimitExceededError):
        parse(nested)
    with pytest.raises(LimitExceededError):
        parse(" or ".join(f"x > {each}" for each in range(450)))


def test_depth_fits_into_half_of_the_stack():
    """The deepest text, with every operation around each parenthesis, must not end in a RecursionError."""
    around = "x > 1 or x > 1 xor x > 1 and not x > 1 + 1 * -("
    deepest = depth = 0

    def watch(_frame, event, _argument):
        nonlocal deepest, depth
        depth += {"call": 1, "return": -1}.get(event, 0)
        deepest = max(deepest, depth)

    before = sys.getprofile()
    sys.setprofile(watch)
    try:
        parse(around * (DEEPEST_TEXT + 1))
    except LimitExceededError:
        pass
    finally:
        sys.setprofile(before)

    assert 300 < deepest < 600
