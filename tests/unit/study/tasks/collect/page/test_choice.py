"""The third sentence: what to choose, or that nothing can be told apart."""

import re

import pytest

from evenhand.study.page.page import answers
from evenhand.study.tasks.collect.task import CollectTask
from evenhand.study.tasks.shared.classifier import OpenLoss
from unit.study._golden_collect import alike, costs, with_people
from unit.study._page_studies import BEFORE, FULL, MEN, WOMEN, against, by_setting, two
from unit.study._page_studies import made as made_study

CHOICES = [
    ({}, "Use GRR, uniform split at ε = 1: none of the 5 other settings is clearly better."),
    (
        {(None, "k-based", 1): (0.31, 0.78)},
        "Use the uniform split: at ε = 1 every setting without it is worse, and the protocol hardly matters.",
    ),
    (
        {("oue", None, 1): (0.28, 0.77), ("ss", None, 1): (0.28, 0.77)},
        "Use GRR: at ε = 1 every other protocol is worse, and the split hardly matters.",
    ),
    (
        {("oue", "k-based", 1): (0.28, 0.77)},
        "Use GRR, uniform split: no other setting at ε = 1 does better, and 1 clearly does worse.",
    ),
    (
        {("oue", "k-based", 1): (0.22, 0.78)},
        r"Choose what matters more: OUE, k-based split has a gap [56]\.\d points smaller, but .*",
    ),
]
ONE = CollectTask(["grr", "oue", "ss"], 1, splits=["uniform", "k-based"])


def made(given, **options):
    """Return a study with as many repeats as it takes to say who pays; with fewer nothing is chosen."""
    return made_study(given, **{"repeats": 7, **options})


@pytest.mark.parametrize("repeats", [1, 2, 6])
@pytest.mark.parametrize("table", [table for table, _ in CHOICES])
def test_too_few_repeats_to_say_who_pays_recommend_nothing(table, repeats):
    """A heading of the same page says that fewer than 7 repeats cannot tell who moved."""
    third = answers(made(by_setting(table), collect=ONE, repeats=repeats))[2]

    assert third.finding == "Run more repeats before choosing."
    assert third.evidence == f"To say who pays takes 7 repeats or more; {repeats} gave a result."
    assert third.action == "evenhand audit collect --plan plan.toml --repeats 10"


@pytest.mark.parametrize(("table", "words"), CHOICES)
def test_what_to_choose_rests_on_paired_differences(table, words):
    third = answers(made(by_setting(table), collect=ONE))[2]

    assert re.fullmatch(words, third.finding)


def test_without_a_difference_the_size_of_a_report_decides():
    """The shortest report is recommended, whichever stands first in the plan."""
    third = answers(made(by_setting({}), collect=CollectTask(["oue", "grr"], 1, splits="uniform")))[2]

    assert third.finding.startswith("Use GRR, uniform split at ε = 1")
    assert third.endswith("GRR sends the shortest reports, 3 bits per person.")


def test_a_smaller_epsilon_that_costs_no_more_is_recommended():
    """With equal results the most private setting wins; a clear loss there keeps it from being named."""
    same = answers(made(by_setting({}), collect=FULL))[2]
    costly = answers(made(by_setting({(None, None, 0.5): (0.28, 0.75)}), collect=FULL))[2]

    assert same.finding == "Use ε = 0.5: no extra cost over ε = 1 is clear."
    assert (
        costly.finding == "Use GRR, uniform split at ε = 1: none of the 5 other settings is clearly better."
    )


def test_a_smaller_epsilon_is_not_recommended_while_it_may_cost_much():
    """ "Not clearly worse" is not "costs no more" where the interval reaches down to ten points."""
    third = answers(made(by_setting({}), collect=FULL, noise=0.02))[2]

    assert "costs no more" not in third


def test_a_split_that_matters_at_another_epsilon_only_is_said_with_its_numbers():
    most = {(None, None, 0.5): (0.28, 0.75)}
    third = answers(made(by_setting({**most, (None, "k-based", 4): (0.24, 0.81)}), collect=FULL, repeats=9))[
        2
    ]
    turned = answers(made(by_setting({**most, (None, "uniform", 4): (0.24, 0.81)}), collect=FULL))[2]

    assert third.finding == "Use GRR, uniform split at ε = 1: none of the 5 other settings is clearly better."
    assert re.search(
        r"At ε = 4, the k-based split is better than the uniform split: 1\.0 points more accuracy and a gap "
        r"3\.9 points smaller \(0\.\d to 1\.\d and 3\.\d to 4\.\d\)\.$",
        third,
    )
    assert "At ε = 4, the uniform split is better than the k-based split: " in turned


def test_a_setting_that_is_asked_for_and_beaten_is_not_recommended():
    results = made(by_setting({("oue", "k-based", 1): (0.22, 0.80)}), collect=ONE)
    third = answers(results, chosen="grr uniform 1")[2]

    assert re.fullmatch(
        r"Use OUE, k-based split instead of GRR, uniform split: it has a gap [56]\.\d points.*",
        third.finding,
    )


def test_a_setting_that_is_better_in_both_says_both():
    both = made(by_setting({("oue", "k-based", 1): (0.22, 0.84)}), collect=ONE)

    assert re.search(
        r"it has 4\.\d points more accuracy and a gap [56]\.\d points smaller\.",
        answers(both, chosen="grr uniform 1")[2].finding,
    )


def test_a_setting_is_not_called_worse_while_its_gap_may_be_smaller():
    """A level raised for many comparisons hides the other side of a trade: that needs no such proof."""
    results = made(by_setting({("oue", "k-based", 1): (0.28, 0.70)}), collect=ONE)
    swing = (0.02, 0.05, 0.10, 0.06, 0.11, 0.01, 0.12)
    for each in results.outcomes:
        where = each.cell.setting
        if (where.mechanism, where.option("split"), where.epsilon) == ("oue", "k-based", 1):
            each.measures["sp_gap"] -= swing[each.cell.repeat]
    third = answers(type(results)(results.plan, results.facts, results.outcomes), chosen="grr uniform 1")[2]

    assert re.fullmatch(
        r"Choose what matters more: OUE, k-based split has a gap \d\.\d points smaller, but \d+\.\d "
        r"points less accuracy\.",
        third.finding,
    )


def test_what_is_behind_and_what_is_a_trade_are_both_said():
    table = {("oue", "k-based", 1): (0.22, 0.78), ("ss", "k-based", 1): (0.33, 0.80)}
    third = answers(made(by_setting(table), collect=ONE))[2]

    assert (
        third.finding
        == "Use GRR, uniform split: no other setting at ε = 1 does better, and 1 clearly does worse."
    )
    assert re.search(r"Furthest behind is SS, k-based split, with a gap \d\.\d points wider", third)
    assert re.search(
        r"OUE, k-based split has a gap \d\.\d points smaller, but \d\.\d points less accuracy\.", third
    )
    assert third.endswith("3 others are not clearly worse.")


@pytest.mark.parametrize(
    ("accuracies", "words"),
    [
        (
            {0.5: 0.75, 1: 0.78, 4: 0.80},
            r"Every tested ε costs accuracy: at least [12]\.\d points, at ε = 4\.",
        ),
        (
            {0.5: 0.75, 1: 0.80, 4: 0.77},
            r"Every tested ε costs accuracy: at least [12]\.\d points, at ε = 1\.",
        ),
        ({0.5: 0.82, 1: 0.82, 4: 0.82}, r"Use ε = 0\.5: no extra cost over ε = 1 is clear\."),
        ({0.5: 0.75, 1: 0.79, 4: 0.82}, r"Use ε = 4: from there on no loss of accuracy is clear\."),
        ({0.5: 0.70, 1: 0.82, 4: 0.78}, r"No ε stands out: 2 of 3 clearly cost accuracy, and not in order\."),
    ],
)
def test_where_only_epsilon_varies_the_answer_is_about_epsilon(accuracies, words):
    table = {(None, None, epsilon): (0.28, accuracy) for epsilon, accuracy in accuracies.items()}
    third = answers(made(by_setting(table), collect=CollectTask("grr", [0.5, 1, 4], splits="uniform")))[2]

    assert re.fullmatch(words, third.finding)


def test_strategies_are_compared_like_splits():
    collect = CollectTask("grr", [1, 4], strategies=["independent", "combined", "single"], splits="uniform")
    table = {(None, "none", 4): (0.24, 0.82)}
    third = answers(made(by_setting(table), collect=collect))[2]

    assert "At ε = 4, 'combined' is better than the uniform split" in third


def test_strategies_with_other_protocols_are_compared_by_the_one_they_share():
    collect = CollectTask(["oue", "grr"], [1, 4], strategies=["single", "combined"], splits="uniform")
    third = answers(made(by_setting({}), collect=collect))[2]

    assert third.finding.startswith("Use GRR, ")
    assert third.finding.endswith(" at ε = 1: none of the 2 other settings is clearly better.")


def test_a_strategy_that_protects_less_is_said_to():
    """Fewer protected columns cost less; without this remark "single" would look like a better mechanism."""
    collect = CollectTask(["oue", "grr"], [1, 4], strategies=["independent", "single"], splits="uniform")
    third = answers(made(by_setting({}), collect=collect))[2]
    alone = answers(
        made(by_setting({}), collect=CollectTask(["oue", "grr"], 1, strategies="single", splits="uniform"))
    )[2]

    assert third.endswith("Of the sensitive columns “single” protects sex alone.")
    assert "“single” sends" not in third
    assert "alone" not in alone


def test_reports_of_one_size_are_no_reason_to_choose():
    third = answers(made(by_setting({}), collect=CollectTask("grr", 1, splits=["uniform", "k-based"])))[2]

    assert third.endswith("No difference in accuracy or gap is clear.")


@pytest.mark.parametrize(
    ("after", "noise", "finding"),
    [
        (two(0.3, 0.6, accuracy=(0.74, 0.77)), 0.001, "Compare GRR, uniform split, ε = 1 with .*"),  # falls
        (two(0.2, 0.6), 0.001, "Compare GRR, uniform split, ε = 1 with .*"),  # the gap grows
        (two(0.3, 0.6, accuracy=(0.79, 0.81)), 0.03, r"Run about \d+ repeats .* may lose 4\.6 points\."),
    ],
)
def test_a_setting_that_costs_or_may_cost_much_is_not_called_usable(after, noise, finding):
    """ "You can use it" below "a loss of 4.6 points cannot be ruled out" would contradict it."""
    third = answers(made(against(BEFORE, after), noise=noise, repeats=10))[2]

    assert re.fullmatch(finding, third.finding)
    assert third.evidence.endswith("other protocols, splits and values of ε may cost less.")


@pytest.mark.parametrize("study", [lambda: alike(0.06), lambda: costs(0.79, 0.81, noise=0.03)])
def test_nothing_is_recommended_as_harmless_while_a_group_may_lose_much(study):
    """Equal settings would be recommended though one group may lose many points with each of them."""
    who, _, choice = answers(study())

    assert "cannot be ruled out" in who.finding
    assert choice.finding.startswith("Run about ")
    assert choice.finding.split(": ")[1].split()[0] in {WOMEN, MEN}
    assert choice.action.startswith("evenhand audit collect --plan plan.toml --repeats ")
    assert int(choice.action.split()[-1]) > 10


@pytest.mark.parametrize(
    ("loss", "finding", "evidence", "action"),
    [
        (
            OpenLoss(WOMEN, 0.1, 40, 12.4),
            "Run about 40 repeats",
            ", or about 12 times as many people. ",
            True,
        ),
        (OpenLoss(WOMEN, 0.1, 40, None), "Run about 40 repeats", "That many should tell. ", True),
        (OpenLoss(WOMEN, 0.1, None, 3.26), "Collect more people", "About 3.3 times as many people", False),
        (OpenLoss(WOMEN, 0.1, None, None), "Collect more people", "It takes far more than these", False),
    ],
)
def test_it_is_said_what_would_tell(monkeypatch, loss, finding, evidence, action):
    monkeypatch.setattr("evenhand.study.tasks.collect.reading.CollectReading.open_loss", lambda *_: loss)
    choice = answers(alike(0.001))[2]

    assert choice.finding == f"{finding} before you choose: {WOMEN} may lose 10.0 points."
    assert evidence in choice.evidence
    assert "If you choose now: Use GRR" in choice.evidence
    assert bool(choice.action) == action


def test_a_setting_with_which_nobody_can_lose_much_is_recommended():
    """The twin of the test above."""
    assert answers(alike(0.001))[2].finding.startswith("Use ")


def test_a_loss_that_is_clear_does_not_ask_for_more_repeats():
    """It is told as the cost; what to use is then the least costly."""
    assert "Run about" not in answers(costs(0.70, 0.81, noise=0.02))[2].finding


def test_groups_that_are_too_small_are_told_how_many_people_it_takes():
    study = with_people(alike(0.001), {WOMEN: 12.0, MEN: 12.0})

    assert "It takes about 5,000 people in all" in answers(study)[2].evidence


def test_a_small_loss_is_not_told_as_one_that_cannot_be_ruled_out():
    """A long interval on the side of gains is no risk."""
    found = answers(alike(0.03))[0].finding

    assert found == "Nobody clearly pays: no group's loss reaches 1.9 points."
