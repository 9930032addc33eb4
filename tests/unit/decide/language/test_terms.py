"""Counts and ratios: exact arithmetic, comparisons that make rules, and what is refused."""

import itertools
import math
import operator
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from evenhand.decide.language.terms import FLIPPED, Ratio, Term, count, ratio, threshold
from evenhand.errors import InvalidParameterError

x, y, z = count("x"), count("y"), count("z")
NUMBERS = [1, 0.05, Fraction(1, 3), Decimal("0.1"), np.float64(0.05), np.int64(7), np.float32(0.5)]


@pytest.mark.parametrize(
    ("term", "text"),
    [
        (x, "x"),
        (-x, "-x"),
        (2 * x, "2*x"),
        (x * 2 - y / 4 + 5, "2*x - 0.25*y + 5"),
        (3 - x, "-x + 3"),
        (x + x, "2*x"),
        (x - x + y, "y"),
        (x - x, "0"),
        (x / 3, "1/3*x"),
        (-x / 3 - Fraction(1, 7), "-1/3*x - 1/7"),
        (count("or") + count("two words") + count("a`b"), "`or` + `two words` + `a``b`"),
        (x - (y - 2), "x - y + 2"),
        (x * (y - y + 3), "3*x"),
        ((y - y + 3) * x, "3*x"),
    ],
)
def test_terms_are_computed_exactly_and_print_as_they_are_read(term, text):
    assert repr(term) == text


@pytest.mark.parametrize(
    ("made", "text"),
    [
        (ratio("x", "y"), "x/y"),
        (x / y, "x/y"),
        (1 / y, "1/y"),
        (x / y / 2, "0.5*x/y"),
        (x / y * 2, "2*x/y"),
        (2 * (x / y), "2*x/y"),
        (-(x / y), "-x/y"),
        (x / (2 * y), "x/(2*y)"),
        ((x + z) / (y - 1), "(x + z)/(y - 1)"),
        (x / y + z / y, "(x + z)/y"),
        (x / y + 1, "(x + y)/y"),
        (1 - x / y, "(-x + y)/y"),
        (x / y - 1, "(x - y)/y"),
        (x / y - z / y, "(x - z)/y"),
        ((z - z + 1) + x / y, "(x + y)/y"),
        ((z - z + 1) - x / y, "(-x + y)/y"),
        ((z - z + 2) * (x / y), "2*x/y"),
        (ratio("x", "y", nonpositive="signed"), "signed(x/y)"),
        (ratio(x + 1, "y", nonpositive="signed") + 1, "signed((x + y + 1)/y)"),
    ],
)
def test_ratios_keep_one_line_between_two_terms(made, text):
    assert isinstance(made, Ratio)
    assert repr(made) == text


@pytest.mark.parametrize("number", NUMBERS, ids=lambda each: type(each).__name__)
def test_a_number_of_any_kind_is_the_decimal_that_it_prints(number):
    """0.05 is one twentieth; the binary number beside it would decide otherwise at the threshold."""
    value = Fraction(str(number))

    assert (x > number).predicates[0].bound == (x > value).predicates[0].bound
    assert (number < x) == (x > number)
    assert number * x == x * number == x * value
    assert number + x == x + value
    assert number - x == value - x


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (x > 3, "x > 3"),
        (x >= 3, "x >= 3"),
        (x < 3, "x < 3"),
        (x <= 3, "x <= 3"),
        (3 > x, "x < 3"),  # noqa: SIM300 - the turned one is what is tested
        (x > y, "x > y"),
        (x - x > y, "y < 0"),
        (0.05 < ratio("x", "y"), "x/y > 0.05"),  # noqa: SIM300 - the same
        (x - x + 1 <= ratio("x", "y"), "x/y >= 1"),
        (x / y > z / y, "(x - z)/y > 0"),
        (threshold("x", "1e4"), "x >= 10000"),
        (threshold("x", 2.5), "x >= 2.5"),
    ],
)
def test_a_comparison_makes_a_rule_that_prints(rule, text):
    assert repr(rule) == text


@pytest.mark.parametrize(
    "refused",
    [
        lambda: x * y,
        lambda: x * (x / y),
        lambda: (x / y) * x,
        lambda: (x / y) * (x / y),
        lambda: x / (x / y),
        lambda: (x / y) / x,
        lambda: (x / y) / (x / y),
        lambda: 1 / (x / y),
        lambda: x / y + x,
        lambda: x / y + x / z,
        lambda: x / y + ratio("x", "y", nonpositive="signed"),
        lambda: x / y > x,
        lambda: x > x / y,
        lambda: x / y > x / z,
        lambda: x / 0,
        lambda: x / y / 0,
        lambda: x > "3",
        lambda: x > None,
        lambda: x > True,
        lambda: x / y > None,
        lambda: x > math.nan,  # noqa: PLW0177 - it makes a rule, and is refused
        lambda: x > math.inf,
        lambda: x > 1e200,
        lambda: x * 1e99 * 1e99,
        lambda: x > x,
        lambda: x / x > 1,
        lambda: x * 1e60 > y * 1e-60,
        lambda: x * 1e100 > 1e-100,
        lambda: count(""),
        lambda: count(3),
        lambda: count("x" * 201),
        lambda: ratio("x", ""),
        lambda: ratio("x", x - x),
        lambda: ratio("x", "y", nonpositive="true"),
        lambda: threshold("x", None),
    ],
)
def test_what_is_not_linear_or_no_number_is_refused_in_our_words(refused):
    with pytest.raises(InvalidParameterError, match="must be"):
        refused()


@pytest.mark.parametrize(
    "refused",
    [
        lambda: x + "3",
        lambda: x - "3",
        lambda: x * "3",
        lambda: x / "3",
        lambda: "3" / x,
        lambda: x + True,
        lambda: x / y + "3",
        lambda: x / y - "3",
        lambda: x / y * "3",
        lambda: x / y / "3",
        lambda: "3" / (x / y),
    ],
)
def test_arithmetic_with_anything_else_is_a_type_error_as_in_python(refused):
    with pytest.raises(TypeError):
        refused()


def test_terms_are_values():
    """Rules are compared and kept in sets; a term that changed would change them."""
    assert count("x") + 1 == count("x") + 1
    assert len({x / y, x / y, x / z}) == 2
    assert Term.of({"x": Fraction(0)}, 3).is_number
    with pytest.raises(AttributeError):
        x.constant = 3


SIGNS = {">": operator.gt, ">=": operator.ge, "<": operator.lt, "<=": operator.le}


@pytest.mark.parametrize("sign", SIGNS)
def test_the_sign_turns_round_with_the_sides(sign):
    for left, right in itertools.product(range(3), repeat=2):
        assert SIGNS[sign](left, right) == SIGNS[FLIPPED[sign]](right, left)


@pytest.mark.parametrize("sign", SIGNS)
def test_the_two_predicates_of_a_signed_ratio_exclude_each_other(sign):
    """Their probabilities are added; if both could hold, the sum would count a case twice."""
    rule = ratio("x", "y", nonpositive="signed").compared_to(sign, 2)
    x, y = np.array(list(itertools.product(range(-6, 7), repeat=2))).T
    first, second = (each.holds({"x": x, "y": y}) for each in rule.comparison.predicates)

    assert not (first & second).any()
    assert first.any()
    assert second.any()


def test_how_many_half_spaces_decide():
    rules = (count("x") > 1, ratio("x", "y") > 1, ratio("x", "y", nonpositive="signed") > 1)

    assert [each.comparison.half_spaces for each in rules] == [1, 2, 4]
    assert [each.depth for each in rules] == [0, 1, 2]
    assert [len(each.linear().comparisons) for each in rules] == [1, 2, 4]
    assert rules[1].comparison.inputs == ("x", "y")
