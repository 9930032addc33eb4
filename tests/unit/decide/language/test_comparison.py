"""One comparison and the predicates that decide it."""

import itertools
import operator

import numpy as np
import pytest

from evenhand.decide.language.comparison import FLIPPED
from evenhand.decide.language.terms import count, ratio

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
