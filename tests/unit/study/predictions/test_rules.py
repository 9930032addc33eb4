"""Rules such as the 80% rule: how they are written, and the three verdicts."""

import math

import pytest

from evenhand.errors import RuleError, UnknownNameError
from evenhand.measure.disparities import Disparity
from evenhand.study.predictions.rules import Rule


def measured(name, low, high):
    return Disparity(name, (low + high) / 2, low, high, "selection")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("80%", ("selection_ratio", ">=", 0.8)),
        (" 80 % rule ", ("selection_ratio", ">=", 0.8)),
        ("selection_gap <= 0.05", ("selection_gap", "<=", 0.05)),
        ("selection-gap<=.05", ("selection_gap", "<=", 0.05)),
        ("tpr ratio > 0.9", ("tpr_ratio", ">", 0.9)),
        ("equalized_odds_difference < 0.1", ("odds_gap", "<", 0.1)),
    ],
)
def test_a_rule_is_a_comparison_a_sign_and_a_number(text, expected):
    rule = Rule.parse(text)

    assert (rule.comparison, rule.sign, rule.limit) == expected


@pytest.mark.parametrize(
    "text",
    ["", "0.8", "selection_gap", "selection_gap <=", "<= 0.1", "selection_gap + 0.1", "selection_gap <= 5",
     "selection_gap <= 5%", "selection_gap = 0.1", "selection_gap <= 0.1 and 80%", "0.1 >= selection_gap"],
)  # fmt: skip
def test_another_text_is_refused_with_its_place(text):
    with pytest.raises(RuleError, match="cannot be read at column"):
        Rule.parse(text)


def test_an_unknown_comparison_is_refused_with_a_guess():
    with pytest.raises(UnknownNameError, match="tpr_gap"):
        Rule.parse("tpr_gab <= 0.1")


@pytest.mark.parametrize(
    ("rule", "low", "high", "expected"),
    [
        ("80%", 0.8, 0.95, "pass"),
        ("80%", 0.7, 0.79, "fail"),
        ("80%", 0.7, 0.9, "unclear"),
        ("80%", 0.7, 0.8, "unclear"),
        ("selection_gap <= 0.05", 0.0, 0.05, "pass"),
        ("selection_gap < 0.05", 0.0, 0.05, "unclear"),
        ("selection_gap <= 0.05", 0.051, 0.2, "fail"),
        ("selection_gap <= 0.05", 0.0, 0.2, "unclear"),
        ("80%", math.nan, math.nan, "unclear"),
        ("selection_gap <= 0.05", math.nan, math.nan, "unclear"),
    ],
)
def test_only_a_whole_interval_keeps_or_breaks_a_rule(rule, low, high, expected):
    """An interval across the limit is no pass: the true value may be on either side."""
    parsed = Rule.parse(rule)

    assert parsed.judge(measured(parsed.comparison, low, high)) == expected
