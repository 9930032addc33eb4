"""Linear predicates: one normal form for what says the same."""

from fractions import Fraction

import pytest

from evenhand.decide.language.predicates import Predicate
from evenhand.decide.language.terms import count


def test_a_predicate_has_whole_coefficients_without_a_common_divisor():
    half, third = Fraction(1, 2), Fraction(1, 3)

    made = Predicate.of({"x": half, "y": -third, "z": Fraction(0)}, third, strict=False)

    assert made.terms == (("x", 3), ("y", -2))
    assert made.bound == 2
    assert all(isinstance(each, Fraction) for each in (*made.coefficients.values(), made.bound))
    assert repr(made) == "3*x - 2*y >= 2"


@pytest.mark.parametrize("factor", [2, Fraction(1, 7), 0.05])
def test_a_positive_factor_changes_nothing(factor):
    """A rule that says a thing twice must not be taken for two independent events."""
    one = count("x") - 2 * count("y") > 3

    assert (
        (one.predicates[0])
        == ((count("x") - 2 * count("y")) * factor > 3 * Fraction(str(factor))).predicates[0]
    )


def test_less_is_written_as_more():
    assert repr((count("x") < 3).predicates[0]) == "-x > -3"
    assert repr((count("x") <= count("y")).predicates[0]) == "-x + y >= 0"


def test_the_half_space_leaves_the_denominator_out():
    (made,) = (count("x") / count("y") > 0.5).predicates

    assert repr(made) == "2*x - y > 0 and y > 0"
    assert repr(made.half_space) == "2*x - y > 0"
    assert made.numbers == (2, -1, 0, 1, 0)
    with pytest.raises(TypeError):
        made.coefficients["x"] = 3


def test_nothing_to_weigh_prints_as_nought():
    assert repr(Predicate.of({"x": 0}, 1, strict=True)) == "0 > 1"
