"""What the three sentences of a study of classifiers say, and which setting they are about."""

import math

import pytest

from evenhand.errors import InvalidParameterError
from evenhand.study.page.page import answers, page_of
from evenhand.study.tasks.learn.reading import LearnReading
from unit.study._learn_studies import JITTER, made, measures, sections, usual


def test_three_sentences_say_cost_gap_and_choice():
    cost, gap, choice = answers(made(usual))

    assert cost.startswith("**DP at ε = 1 costs 1.0 points (")
    assert "85.0% of the test rows are right without privacy and 84.0% with." in cost
    assert gap.startswith("**Fermi + parity at ε = 1 narrows the gap by 18.8 points (")
    assert "20.0 points for the plain classifier and 1.2 for this one" in gap
    assert "cannot be told from the 1.0 points that equal rates would show by chance" in gap
    assert "at most 2.0 points on average, and at most 4.0 points with 95% (means over repeats)." in gap
    assert choice.startswith(
        "**Fermi + parity is more accurate than DP + parity, with no clear difference of gaps**: DP (84.0%,"
    )
    assert "is more accurate with a wider gap; Fermi + parity needs everybody's group" in choice


def test_a_difference_that_is_not_clear_is_not_claimed():
    def noisy(setting, repeat):
        if not setting.is_protected:
            return measures(0.85, 0.2)
        sign = (-1) ** repeat
        return measures(0.85 + 0.02 * sign, 0.2 + 0.03 * sign, epsilon=float(setting.epsilon))

    cost, gap, choice = answers(made(noisy, methods=["dp", "fermi"], repeats=4))

    assert "DP at ε = 1 does not clearly change accuracy" in cost
    assert "a change of" in cost
    assert "DP at ε = 1 does not clearly change the gap" in gap
    assert "Accuracy does not clearly change." in gap
    assert "Nothing bounds the gap of other people." in gap
    assert choice == "**No private way at this ε clearly does better than DP**: Fermi cannot be told from it."


def test_privacy_that_changes_nothing_is_said_to():
    def same(setting, _):
        return measures(0.85, 0.2, epsilon=None if setting.epsilon is None else float(setting.epsilon))

    assert answers(made(same, methods=["dp"]))[0] == (
        "**DP at ε = 1 is as accurate as the plain classifier, in every repeat**: 85.0% of the test rows are "
        "right without privacy and 85.0% with."
    )


def test_one_repeat_claims_nothing():
    results = made(usual, repeats=1)
    cost, gap, choice = answers(results)
    page = page_of(results)

    assert cost.startswith("**One repeat cannot tell what DP at ε = 1 costs**")
    assert gap.startswith("**One repeat cannot tell what DP at ε = 1 does to the gap**")
    assert ", to be compared with the 1.0 points" in gap
    assert choice.startswith("**One repeat cannot tell which private way does better.**")
    assert any("A single repeat has no intervals" in note.text for note in page.notes)
    assert sections(page)["changes"].heading == "One repeat cannot tell whose predictions DP at ε = 1 changes"
    assert sections(page)["epsilons"].heading == "One repeat cannot tell what a larger ε buys DP"


def test_a_wider_gap_and_a_gain_are_called_so():
    def other(setting, repeat):
        if not setting.is_protected:
            return measures(0.8, 0.1)
        return measures(0.82 + JITTER[repeat % 3], 0.15 + JITTER[repeat % 3], epsilon=float(setting.epsilon))

    cost, gap, choice = answers(made(other, methods=["dp"]))

    assert "DP at ε = 1 gains 2.0 points" in cost
    assert "widens the gap by 5.0 points" in gap
    assert "clearly more than the 1.0 points" in gap
    assert "It gains 2.0 points" in gap
    assert choice.startswith("**No recommendation: DP is the only private way at its ε.**")


def test_a_gap_below_that_of_equal_rates_is_said_to_be():
    def less(setting, repeat):
        return {**usual(setting, repeat)[0], "fair_gap": 0.5}

    assert ", less than the 50.0 points" in answers(made(less))[1]


def test_without_two_groups_in_a_test_equal_rates_are_not_spoken_of():
    def alone(setting, repeat):
        return {**usual(setting, repeat)[0], "fair_gap": math.nan}

    assert "equal rates" not in answers(made(alone))[1]


def test_better_rivals_are_named_where_another_setting_is_asked_for():
    _, _, choice = answers(made(usual), chosen="dp+parity 1")

    assert choice.startswith(
        "**Fermi + parity is more accurate than DP + parity, with no clear difference of gaps**"
    )
    assert "DP (84.0%, gap 21.0) is more accurate with a wider gap" in choice
    trade = answers(made(usual), chosen="dp 1")[2]
    assert "DP + parity (80.0%, gap 1.2) and Fermi + parity (83.0%, gap 1.2) are less accurate" in trade


def test_what_promises_nothing_recommends_nothing():
    results = made(usual, methods=["plain+parity", "dp+projection"])
    cost, gap, choice = answers(results)

    assert cost.startswith("**No way with privacy alone was trained**")
    assert gap.startswith("**Plain + parity narrows the gap")
    assert choice.startswith("**This way promises nothing to anybody**")


# --- the rule ---------------------------------------------------------------------------------------


def test_the_page_is_about_the_private_way_that_no_other_beats():
    assert str(LearnReading.of(made(usual)).chosen) == "Fermi + parity, ε = 1"
    assert str(LearnReading.of(made(usual, methods=["dp", "fermi"])).chosen) == "Fermi, ε = 1"
    assert str(LearnReading.of(made(usual, epsilons=(3, 9))).chosen) == "Fermi + parity, ε = 3"


def test_a_way_that_voids_its_promise_is_never_chosen_over_a_private_one():
    assert str(LearnReading.of(made(usual, methods=["dp+projection", "dp"])).chosen) == "DP, ε = 1"


def test_a_setting_that_is_not_there_is_refused():
    with pytest.raises(InvalidParameterError):
        page_of(made(usual), chosen="local 1")
