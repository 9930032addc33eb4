"""Rules: truth tables, composition, the normal form, and limits."""

import copy
import itertools
import operator
import pickle
from fractions import Fraction

import numpy as np
import pytest

from evenhand.decide.language.rule import DEEPEST, MOST_COMPARISONS, Rule
from evenhand.decide.language.terms import count, ratio
from evenhand.errors import ColumnNotFoundError, InvalidParameterError, LimitExceededError

x, y = count("x") > 0, count("y") > 0
LANGUAGE = ((ratio("sp", "s") > 0.05) | (count("sp") > 10_000)) & (ratio("spe", "sp") > 0.0131)
BOTH = {"x": np.array([0, 0, 1, 1]), "y": np.array([0, 1, 0, 1])}


@pytest.mark.parametrize(
    ("rule", "truth"),
    [
        (x & y, [False, False, False, True]),
        (x | y, [False, True, True, True]),
        (x ^ y, [False, True, True, False]),
        (~x, [True, True, False, False]),
        (~(x & y), [True, True, True, False]),
        (~~x, [False, False, True, True]),
        (x & ~y, [False, False, True, False]),
        (x ^ y ^ x, [False, True, False, True]),
    ],
)
def test_truth_tables(rule, truth):
    assert rule.holds(BOTH).tolist() == truth


@pytest.mark.parametrize("names", [first + second for first in "&|^" for second in "&|^"])
def test_composition_of_three_follows_python(names):
    signs = {"&": operator.and_, "|": operator.or_, "^": operator.xor}
    first, second = (signs[name] for name in names)
    cube = np.array(list(itertools.product((0, 1), repeat=3))).T
    columns = dict(zip("xyz", cube, strict=True))
    rules = [count(name) > 0 for name in "xyz"]
    truths = [column > 0 for column in cube]

    left = second(first(rules[0], rules[1]), rules[2])
    right = first(rules[0], second(rules[1], rules[2]))
    assert (left.holds(columns) == second(first(truths[0], truths[1]), truths[2])).all()
    assert (right.holds(columns) == first(truths[0], second(truths[1], truths[2]))).all()


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (LANGUAGE, "(sp/s > 0.05 or sp > 10000) and spe/sp > 0.0131"),
        (x & y & x, "x > 0 and y > 0 and x > 0"),
        (x | (y & x), "x > 0 or y > 0 and x > 0"),
        ((x ^ y) & x, "(x > 0 xor y > 0) and x > 0"),
        (x ^ (y & x), "x > 0 xor y > 0 and x > 0"),
        ((x | y) ^ x, "(x > 0 or y > 0) xor x > 0"),
        (~(x | y), "not (x > 0 or y > 0)"),
        (~x & y, "not x > 0 and y > 0"),
        (~~x, "x > 0"),
    ],
)
def test_a_rule_prints_its_formula(rule, text):
    assert repr(rule) == str(rule) == text


def test_a_chain_of_one_operation_stays_flat():
    """Hundreds of places joined by 'or' must not be nested hundreds deep."""
    rule = x
    for _ in range(100):
        rule |= y

    assert rule.depth == 1
    assert len(rule.parts) == 101


def test_the_normal_form_is_linear_with_whole_coefficients():
    first, second, third = LANGUAGE.predicates

    assert LANGUAGE.inputs == ("sp", "s", "spe")
    assert (dict(first.coefficients), first.bound, first.strict) == ({"sp": 20, "s": -1}, 0, True)
    assert dict(first.needs_positive.coefficients) == {"s": 1}
    assert (dict(second.coefficients), second.bound, second.needs_positive) == ({"sp": 1}, 10_000, None)
    assert dict(third.coefficients) == {"spe": 10_000, "sp": -131}
    assert third.inputs == ("spe", "sp")


def test_a_predicate_that_occurs_twice_is_one():
    rule = ((count("x") > 3) & (2 * count("x") > 6)) | ~(count("x") > 3)

    assert len(rule.comparisons) == 3
    assert len(rule.predicates) == 1
    assert rule.evaluate([[True, False]]).tolist() == [True, True]


@pytest.mark.parametrize("compare", [operator.gt, operator.ge, operator.lt, operator.le])
@pytest.mark.parametrize("how", ["false", "signed"])
@pytest.mark.parametrize("level", ["1/2", "-1/2", "0"])
def test_ratios_with_any_denominator_are_as_documented(compare, how, level):
    """Noise makes denominators of 0 and less; what happens then must not depend on floating point."""
    level = Fraction(level)
    pairs = list(itertools.product(range(-3, 4), repeat=2))
    x, y = np.array(pairs).T
    rule = compare(ratio("x", "y", nonpositive=how), level)

    def said(above, below):
        allowed = below > 0 or (how == "signed" and below < 0)
        return allowed and compare(Fraction(int(above), int(below)), level)

    expected = [said(above, below) for above, below in pairs]
    assert rule.holds({"x": x, "y": y}).tolist() == expected
    assert rule.linear().holds({"x": x, "y": y}).tolist() == expected


def test_the_negation_of_a_ratio_is_not_the_opposite_comparison():
    """Where the denominator is 0 no comparison holds, so its negation does."""
    columns = {"x": [1], "y": [0]}

    assert (~(ratio("x", "y") > 0.5)).holds(columns).tolist() == [True]
    assert (ratio("x", "y") <= 0.5).holds(columns).tolist() == [False]


def test_linear_leaves_no_denominator_and_decides_the_same():
    rule = ~(LANGUAGE ^ (ratio("s", "spe", nonpositive="signed") <= 3))
    cube = np.array(list(itertools.product(range(-4, 5), repeat=3))).T
    columns = dict(zip(("s", "sp", "spe"), cube, strict=True))
    linear = rule.linear()

    assert all(each.needs_positive is None for each in linear.predicates)
    assert (linear.holds(columns) == rule.holds(columns)).all()
    assert linear.depth <= rule.depth


def test_draws_and_entities_broadcast():
    rule = count("x") > count("y")

    assert rule.holds({"x": np.arange(6).reshape(2, 3), "y": np.array([1, 1, 1])}).shape == (2, 3)
    assert rule.holds({"x": 3, "y": 2}).shape == ()
    assert rule.holds({"x": np.empty(0, int), "y": np.empty(0, int)}).shape == (0,)


@pytest.mark.parametrize(
    "columns",
    [
        {"x": [1, 2], "y": [1, 2, 3]},
        {"x": [1, None], "y": [1, 2]},
        {"x": [1.0, np.nan], "y": [1, 2]},
        {"x": [1.0, np.inf], "y": [1, 2]},
        {"x": ["1", "2"], "y": [1, 2]},
        {"x": [True, False], "y": [1, 2]},
        {"x": [[1], [2, 3]], "y": [1, 2]},
        {"x": [10**30], "y": [1]},
    ],
    ids=["lengths", "none", "nan", "infinite", "text", "bool", "ragged", "beyond 64 bits"],
)
def test_columns_that_are_no_numbers_are_refused_without_their_values(columns):
    with pytest.raises(InvalidParameterError, match=r"'columns' parameter of Rule\.holds") as caught:
        (x & y).holds(columns)

    assert not any(figure in str(caught.value) for figure in "0123456789")


@pytest.mark.parametrize("columns", [{"x": [1]}, [1, 2], None])
def test_a_column_that_is_missing_is_named(columns):
    with pytest.raises(ColumnNotFoundError, match="'y' is not among the columns"):
        (y & x).holds(columns)


@pytest.mark.parametrize("truths", [[], [[True], [True]], [[1]], [["yes"]]])
def test_truths_that_do_not_fit_the_predicates_are_refused(truths):
    with pytest.raises(InvalidParameterError, match="1 arrays of bool"):
        x.evaluate(truths)
    with pytest.raises(InvalidParameterError, match="2 arrays of bool of one shape"):
        (x & y).evaluate([[True, False], [True, False, True]])


@pytest.mark.parametrize(
    "mistake",
    [lambda: bool(x), lambda: x and y, lambda: not x, lambda: 0 < count("x") < 5],
    ids=["bool", "and", "not", "chain"],
)
def test_python_words_on_rules_are_refused_with_advice(mistake):
    """``rule_a and rule_b`` would quietly be rule_b alone."""
    with pytest.raises(InvalidParameterError, match=r"compose rules by & \| \^ ~"):
        mistake()


def test_rules_compose_with_rules_only():
    with pytest.raises(TypeError):
        _ = x & True
    with pytest.raises(TypeError):
        _ = x | "y > 0"


@pytest.mark.parametrize(
    "made",
    [
        lambda: Rule("nand", (x, y)),
        lambda: Rule("not", (x, y)),
        lambda: Rule("and", (x,)),
        lambda: Rule("compare"),
        lambda: Rule("and", (x, y), comparison=x.comparison),
        lambda: Rule("compare", (x,), comparison=x.comparison),
    ],
)
def test_a_rule_made_by_hand_must_hold_together(made):
    with pytest.raises(InvalidParameterError, match="'operation' parameter of Rule"):
        made()


def test_rules_that_are_too_deep_or_too_large_are_refused():
    """Otherwise printing one would end in Python's recursion limit."""
    deep = x
    for turn in range(DEEPEST):
        deep = deep & y if turn % 2 else deep | y

    assert deep.depth == DEEPEST
    with pytest.raises(LimitExceededError, match="nests at most") as caught:
        _ = ~deep
    assert caught.value.limit == "depth"
    wide = x
    for _ in range(8):
        wide |= wide
    with pytest.raises(LimitExceededError, match="comparisons") as caught:
        wide |= wide
    assert caught.value.limit == "comparisons"
    assert len(wide.comparisons) == 256 < MOST_COMPARISONS
    assert len(deep.linear().parts) == 2


def test_a_rule_at_its_limits_can_be_made_linear():
    rule = ratio("x", "y", nonpositive="signed") > 0
    for turn in range(DEEPEST - 2):
        rule = rule & x if turn % 2 else rule | x

    assert rule.depth == DEEPEST
    assert rule.linear().depth <= DEEPEST


def test_a_rule_survives_the_way_to_a_worker():
    assert pickle.loads(pickle.dumps(LANGUAGE)) == LANGUAGE
    assert copy.deepcopy(LANGUAGE).predicates == LANGUAGE.predicates


def test_rules_are_values():
    assert (x & y) == ((count("x") > 0) & (count("y") > 0))
    assert len({x & y, x & y, y & x}) == 2
    assert x != "x > 0"
