"""The third sentence: what to choose, or that nothing can be told apart."""

import re

import pytest

from evenhand.study.page.page import answers
from evenhand.study.tasks.collect.task import CollectTask
from unit.study._page_studies import FULL, by_setting, headline, made

CHOICES = [
    ({}, "No recommendation between the 6 settings at ε = 1:"),
    ({(None, "k-based", 1): (0.31, 0.78)}, "Choose the split, not the protocol:"),
    ({("oue", None, 1): (0.28, 0.77), ("ss", None, 1): (0.28, 0.77)}, "Choose the protocol, not the split:"),
    (
        {("oue", "k-based", 1): (0.28, 0.77)},
        "Choose GRR, uniform split, or one of the 4 that do not differ clearly from it:",
    ),
    (
        {("oue", "k-based", 1): (0.22, 0.78)},
        "No recommendation: at ε = 1 less gap is paid for with accuracy.",
    ),
]


@pytest.mark.parametrize(("table", "words"), CHOICES)
def test_what_to_choose_rests_on_paired_differences(table, words):
    third = answers(made(by_setting(table), collect=FULL))[2]

    assert headline(third) == words


def test_without_a_difference_the_size_of_a_report_decides():
    third = answers(made(by_setting({}), collect=FULL))[2]

    assert third.endswith("Choose by message size: GRR and SS send 3 bits per person, the fewest.")


def test_a_split_that_matters_at_another_epsilon_only_is_said_with_its_numbers():
    third = answers(made(by_setting({(None, "k-based", 4): (0.24, 0.81)}), collect=FULL))[2]
    turned = answers(made(by_setting({(None, "uniform", 4): (0.24, 0.81)}), collect=FULL))[2]

    assert headline(third) == "No recommendation between the 6 settings at ε = 1:"
    assert re.search(
        r"At ε = 4, the k-based split is better than the uniform split by 1\.0 points of accuracy "
        r"\(0\.\d to 2\.\d\) and 3\.9 points of gap \(3\.\d to 4\.\d\)\.$",
        third,
    )
    assert "At ε = 4, the uniform split is better than the k-based split by " in turned


def test_a_setting_that_is_asked_for_and_beaten_is_not_recommended():
    results = made(by_setting({("oue", "k-based", 1): (0.22, 0.80)}), collect=FULL)
    third = answers(results, chosen="grr uniform 1")[2]

    assert headline(third) == "Prefer OUE, k-based split to GRR, uniform split:"
    assert third.endswith(", and the accuracy does not differ clearly.")


def test_a_setting_beaten_in_accuracy_alone_says_that_the_gap_does_not_differ():
    results = made(by_setting({("oue", "k-based", 1): (0.28, 0.84)}), collect=FULL)
    both = made(by_setting({("oue", "k-based", 1): (0.22, 0.84)}), collect=FULL)

    assert answers(results, chosen="grr uniform 1")[2].endswith(", and the gap does not differ clearly.")
    assert re.search(
        r"points of accuracy \(.*\) and .* points of gap \(", answers(both, chosen="grr uniform 1")[2]
    )


def test_a_setting_is_not_called_worse_while_its_gap_may_be_smaller():
    """A level raised for many comparisons hides the other side of a trade: that needs no such proof."""
    results = made(by_setting({("oue", "k-based", 1): (0.28, 0.70)}), collect=FULL)
    swing = (0.02, 0.05, 0.10, 0.06, 0.11)
    for each in results.outcomes:
        where = each.cell.setting
        if (where.mechanism, where.option("split"), where.epsilon) == ("oue", "k-based", 1):
            each.measures["sp_gap"] -= swing[each.cell.repeat]
    third = answers(type(results)(results.plan, results.facts, results.outcomes), chosen="grr uniform 1")[2]

    assert headline(third) == "No recommendation: at ε = 1 less gap is paid for with accuracy."
    assert re.search(r"OUE, k-based split is less accurate, by .*, and its gap is smaller, by \d", third)


def test_what_is_behind_and_what_is_a_trade_are_both_said():
    table = {("oue", "k-based", 1): (0.22, 0.78), ("ss", "k-based", 1): (0.33, 0.80)}
    third = answers(made(by_setting(table), collect=FULL))[2]

    assert headline(third).startswith("Choose GRR, uniform split, or one of the 3")
    assert "1 of the 5 others is worse; SS, k-based split is furthest behind" in third
    assert "OUE, k-based split is less accurate, by " in third
    assert ", and its gap is smaller, by " in third


@pytest.mark.parametrize(
    ("accuracies", "words"),
    [
        (
            {0.5: 0.78, 1: 0.79, 4: 0.80},
            "No recommendation: only ε was varied, and every value costs accuracy.",
        ),
        (
            {0.5: 0.82, 1: 0.82, 4: 0.82},
            "No recommendation: only ε was varied, and no value clearly costs accuracy.",
        ),
        ({0.5: 0.78, 1: 0.79, 4: 0.82}, "No recommendation: only ε was varied."),
        ({0.5: 0.82, 1: 0.82, 4: 0.78}, "No recommendation: only ε was varied."),
    ],
)
def test_where_only_epsilon_varies_the_answer_is_about_epsilon(accuracies, words):
    table = {(None, None, epsilon): (0.28, accuracy) for epsilon, accuracy in accuracies.items()}
    third = answers(made(by_setting(table), collect=CollectTask("grr", [0.5, 1, 4], splits="uniform")))[2]

    assert headline(third) == words
    if accuracies == {0.5: 0.78, 1: 0.79, 4: 0.82}:
        assert "from which on no loss of accuracy is clear is ε = 4: " in third
    if accuracies == {0.5: 0.82, 1: 0.82, 4: 0.78}:
        assert third.endswith("1 of 3 values of ε clearly cost accuracy, and not in order.")


def test_two_settings_are_both_and_one_other_is_the_other():
    collect = CollectTask(["grr", "oue"], 1, splits="uniform")
    same = answers(made(by_setting({}), collect=collect))[2]
    worse = answers(made(by_setting({("oue", None, 1): (0.28, 0.77)}), collect=collect))[2]

    assert headline(same) == "No recommendation between both settings at ε = 1:"
    assert "at ε = 1, the other one is worse" in worse
    assert headline(worse) == "Choose GRR, uniform split:"


def test_strategies_are_compared_like_splits():
    collect = CollectTask("grr", [1, 4], strategies=["independent", "combined", "single"], splits="uniform")
    table = {(None, "none", 4): (0.24, 0.82)}
    third = answers(made(by_setting(table), collect=collect))[2]

    assert "At ε = 4, 'combined' is better than the uniform split" in third


def test_strategies_with_other_protocols_are_compared_by_the_one_they_share():
    collect = CollectTask(["oue", "grr"], [1, 4], strategies=["single", "combined"], splits="uniform")
    third = answers(made(by_setting({}), collect=collect))[2]

    assert headline(third) == "No recommendation between the 3 settings at ε = 1:"


def test_a_strategy_that_protects_less_is_said_to():
    """Fewer protected columns cost less; without this remark "single" would look like a better mechanism."""
    collect = CollectTask(["oue", "grr"], [1, 4], strategies=["independent", "single"], splits="uniform")
    third = answers(made(by_setting({}), collect=collect))[2]
    alone = answers(
        made(by_setting({}), collect=CollectTask(["oue", "grr"], 1, strategies="single", splits="uniform"))
    )[2]

    assert third.endswith("Of the sensitive columns 'single' protects sex alone.")
    assert "Choose by message size: GRR, uniform split sends" not in third
    assert "alone" not in alone


def test_reports_of_one_size_are_no_reason_to_choose():
    third = answers(made(by_setting({}), collect=CollectTask("grr", 1, splits=["uniform", "k-based"])))[2]

    assert third.endswith("from GRR, uniform split, in accuracy or gap.")
