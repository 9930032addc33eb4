"""Moved thresholds: whoever has a right loses it with at most the stated chance, wherever the counts are."""

import itertools

import numpy as np
import pytest

from evenhand.decide.exact.rule_probability import rule_probability
from evenhand.decide.language.parse import parse
from evenhand.decide.mitigate import margin, move_thresholds
from evenhand.errors import InvalidParameterError
from evenhand.privacy.laws import DiscreteGaussian, DiscreteLaplace, Laplace

RULES = {
    "a > 5": 12,
    "a >= 7/2": 12,
    "not a > 3": 8,
    "a < 4 or b > 4": 9,
    "a > 2 and b > 3": 9,
    "a/b > 0.5": 9,
    "2*a - 3*b >= -1": 9,
    "(a/b > 0.3 or a > 5) and b > 2": 9,
    "a > 3 xor b > 4": 9,
}


def worst_refusals(decides, rule, law, most):
    """Return the largest exact chance of a refusal over all counts that have the right, by listing them."""
    names = rule.inputs
    grid = np.array(list(itertools.product(range(most + 1), repeat=len(names)))).T
    counts = dict(zip(names, grid, strict=True))
    due = rule.holds(counts)
    granted = rule_probability(decides, counts, dict.fromkeys(names, law))
    return float((1 - granted[due]).max())


@pytest.mark.parametrize("law", [DiscreteLaplace(2), DiscreteLaplace("7/2"), DiscreteGaussian(9)])
@pytest.mark.parametrize("text", RULES)
def test_nobody_with_the_right_loses_it_more_often_than_stated(text, law):
    """A margin that holds on average only would leave those at the threshold without their right."""
    rule, most = parse(text), RULES[text]

    for chance in (0.01, 0.05, 0.3):
        moved = move_thresholds(rule, dict.fromkeys(rule.inputs, law), chance)

        assert worst_refusals(moved, rule, law, most) <= chance + 1e-9


@pytest.mark.parametrize("text", RULES)
def test_without_a_margin_somebody_loses_the_right_more_often(text):
    """The twin: else the test above would pass for any rule."""
    rule = parse(text)

    assert worst_refusals(rule, rule, DiscreteLaplace(2), RULES[text]) > 0.05


@pytest.mark.parametrize(("text", "least"), [("x >= 100", 100), ("x > 100", 101)])
def test_one_person_less_of_a_margin_breaks_the_chance(text, least):
    """A wider margin than it takes would give rights to more people by error."""
    law = DiscreteLaplace(10)
    moved = move_thresholds(parse(text), {"x": law})
    [predicate] = moved.predicates
    lost, nearly = (float(law.cdf(float(predicate.bound) + more - least)) for more in (-1, 0))
    if predicate.strict:
        lost, nearly = (float(law.cdf(float(predicate.bound) + more - least)) for more in (0, 1))

    assert lost <= 0.01 < nearly


@pytest.mark.parametrize("text", RULES)
def test_all_who_have_the_right_have_it_under_the_moved_rule(text):
    """A moved rule that took anybody's right without noise would be no margin."""
    rule = parse(text)
    moved = move_thresholds(rule, dict.fromkeys(rule.inputs, DiscreteLaplace(2)))
    grid = np.array(list(itertools.product(range(-3, 12), repeat=len(rule.inputs)))).T
    counts = dict(zip(rule.inputs, grid, strict=True))

    assert not (rule.holds(counts) & ~moved.holds(counts)).any()


def test_figures_are_those_of_the_rule_that_was_asked_for():
    """What is lost and gained must be told against the true rule, not against the moved one."""
    rule, law = parse("x > 50"), DiscreteLaplace(4)
    data = {"x": [51, 49, 500, 0]}
    made = margin(rule, data, law, unit="add or remove one")
    moved = move_thresholds(rule, {"x": law})

    assert made.decided.truth.tolist() == [True, False, True, False]
    assert made.bias == pytest.approx(rule_probability(moved, data, law) - rule.holds(data), abs=1e-12)
    assert made.decided.problem == "x > 50"
    assert made.decided.method == "exact"
    assert float(made.guarantee.epsilon) == pytest.approx(1 / 4)


def test_real_noise_has_a_margin_too():
    moved = move_thresholds(parse("x >= 0"), {"x": Laplace(10)})

    assert repr(moved) == "x >= -40"  # 10 ln 50 = 39.1


@pytest.mark.parametrize("chance", [0, 0.5, 1, -0.1, float("nan")])
def test_a_chance_that_is_none_is_refused(chance):
    with pytest.raises(InvalidParameterError, match="chance"):
        move_thresholds(parse("x > 1"), {"x": DiscreteLaplace(1)}, chance)
