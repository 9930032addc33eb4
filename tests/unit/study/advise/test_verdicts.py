"""A prediction holds, does not hold or cannot be told, by a paired interval that was fixed beforehand."""

import pytest

from evenhand.study.advise.predictions import predict
from evenhand.study.advise.verdicts import HOLDS, HOLDS_NOT, UNTOLD, checked, full_settings
from evenhand.study.results.estimates import paired_change
from unit.study._advice_cases import NOTHING, grid, made_profile, results, setting

ALL = grid(["grr"], [1, 4], strategies=["independent", "single", "combined"])
NOISY = [-0.3, 0.2, 0.3, -0.1, -0.1]


def verdicts(values, *, profile=None, collect=ALL, level=0.95, **given):
    """Return verdict and check by what the prediction is about."""
    made = results({"all": {"sp_gap": 0.3, "acc": 0.8}, **values}, collect=collect, **given)
    found = checked(predict(profile or made_profile()), made, level=level)
    return {each.prediction.about: each for each in found}


def protected(figures, epsilon=1):
    """Return the same figures for all ways to report every column by GRR at an epsilon."""
    ways = [setting("grr", epsilon), setting("grr", epsilon, strategy="combined")]
    return dict.fromkeys(ways, figures)


@pytest.mark.parametrize(("gap", "verdict"), [(0.2, HOLDS), (0.4, HOLDS_NOT), (0.3, UNTOLD)])
def test_the_gap_narrows_widens_or_cannot_be_told(gap, verdict):
    """Obs1, against the change from unprotected."""
    found = verdicts(protected({"sp_gap": gap}))["gap"]

    assert found.verdict == verdict
    assert found.estimate.value == pytest.approx(gap - 0.3, abs=0.002)
    assert "at ε = 1 (mean of 2 settings, 10 repeats)" in found.finding


@pytest.mark.parametrize(("gap", "verdict"), [(0.2, HOLDS_NOT), (0.4, HOLDS)])
def test_a_gap_that_is_created_is_the_mirror_of_one_that_narrows(gap, verdict):
    """Obs8 expects the opposite."""
    fair = made_profile(men=0.9, women=0.895, reach=0.005)

    assert verdicts(protected({"sp_gap": gap}), profile=fair)["gap"].verdict == verdict


def test_what_was_not_predicted_has_no_verdict():
    """A claim that was not made can neither hold nor fail."""
    unsure = made_profile(men=0.9, women=0.885, reach=0.01)
    found = verdicts(protected({"sp_gap": 0.2}), profile=unsure)["gap"]

    assert found.verdict == UNTOLD
    assert found.estimate.is_clear


def test_one_repeat_tells_nothing():
    """Without a spread there is no interval."""
    found = verdicts(protected({"sp_gap": 0.1}), repeats=1)["gap"]

    assert found.verdict == UNTOLD
    assert "There is no interval" in found.finding


@pytest.mark.parametrize(("reported", "verdict"), [(0.05, HOLDS), (-0.05, HOLDS), (0.3, HOLDS_NOT)])
def test_reports_are_compared_by_size_whichever_group_is_ahead(reported, verdict):
    """A disparity that changes its sign is not small for that."""
    assert verdicts(protected({"reported": reported}))["reports"].verdict == verdict


@pytest.mark.parametrize(
    ("true", "told"), [(0.01, "too small to shrink"), (float("nan"), "no defined value in any repeat")]
)
def test_reports_of_labels_without_a_gap_tell_nothing(true, told):
    """The size of a difference of noise is always above zero; what is not known is not small."""
    found = verdicts({"all": {"sp_gap": 0.3, "acc": 0.8, "true": true}})["reports"]

    assert found.verdict == UNTOLD
    assert told in found.finding


@pytest.mark.parametrize(
    ("men", "women", "verdict"), [(0.49, 0.40, HOLDS), (0.40, 0.49, HOLDS_NOT), (0.45, 0.45, UNTOLD)]
)
def test_the_group_that_loses_more_accuracy(men, women, verdict):
    """Statement 1, with mostly positive labels: women should lose more."""
    figures = {"men accuracy": men, "women accuracy": women}

    assert verdicts(protected(figures))["accuracy"].verdict == verdict


def test_the_verdict_on_accuracy_turns_with_the_labels():
    """The same runs, mostly negative labels: now men should lose more."""
    seldom = made_profile(men=0.3, women=0.1, share=0.2)
    figures = {"men accuracy": 0.49, "women accuracy": 0.40}

    assert verdicts(protected(figures), profile=seldom)["accuracy"].verdict == HOLDS_NOT


@pytest.mark.parametrize(
    ("men", "women", "mostly", "seldom"),
    [
        (0.49, 0.6, HOLDS, HOLDS_NOT),  # women rise more than men fall
        (0.4, 0.51, HOLDS_NOT, HOLDS),  # men fall more than women rise
        (0.45, 0.55, UNTOLD, UNTOLD),  # both alike
        (0.6, 0.4, HOLDS_NOT, HOLDS_NOT),  # they move apart
        (0.6, 0.6, UNTOLD, UNTOLD),  # the gap stays
    ],
)
def test_whose_selection_rate_moves_more(men, women, mostly, seldom):
    """Statement 2: the gap must narrow, and mostly by the group that is named."""
    runs = protected({"men selection": men, "women selection": women})

    assert verdicts(runs)["rates"].verdict == mostly
    assert verdicts(runs, profile=made_profile(men=0.3, women=0.1, share=0.2))["rates"].verdict == seldom


@pytest.mark.parametrize(("alone", "verdict"), [(0.4, HOLDS), (0.2, HOLDS_NOT), (0.3, UNTOLD)])
def test_several_columns_rather_than_one(alone, verdict):
    """Obs2, over all epsilons of both."""
    single = [setting("grr", epsilon, strategy="single") for epsilon in (1, 4)]
    found = verdicts({each: {"sp_gap": alone} for each in single})["several"]

    assert found.verdict == verdict
    assert "mean over ε = 1, 4" in found.finding


@pytest.mark.parametrize(
    ("gap", "strong", "weak"), [(0.2, HOLDS, HOLDS_NOT), (0.4, HOLDS_NOT, HOLDS), (0.3, UNTOLD, UNTOLD)]
)
def test_combined_or_independent_at_a_large_epsilon(gap, strong, weak):
    """Obs4: which of the two narrows more turns with dependence."""
    runs = {setting("grr", 4, strategy="combined"): {"sp_gap": gap}}

    assert verdicts(runs)["combined"].verdict == strong
    assert verdicts(runs, profile=made_profile(strongest=0.1))["combined"].verdict == weak


@pytest.mark.parametrize(
    ("gap", "spread", "verdict"),
    [(0.3, None, HOLDS), (0.4, None, HOLDS_NOT), (0.2, None, HOLDS_NOT), (0.3, NOISY, UNTOLD)],
)
def test_alike_at_a_small_epsilon_needs_the_whole_interval_near_nought(gap, spread, verdict):
    """An interval that merely includes zero shows no likeness."""
    runs = {setting("grr", 1, strategy="combined"): {"sp_gap": gap}}
    given = {} if spread is None else {"spread": spread}

    assert verdicts(runs, **given)["small-epsilon"].verdict == verdict


@pytest.mark.parametrize(
    ("collect", "about"),
    [
        (grid(["grr"], [1, 4]), ("several", "combined", "small-epsilon")),
        (grid(["grr"], [2], strategies=["independent", "combined"]), ("combined", "small-epsilon")),
        (grid(["oue"], [1, 4]), ("several", "combined", "small-epsilon")),
    ],
)
def test_what_the_study_does_not_try_cannot_be_told(collect, about):
    """It says what is missing."""
    found = verdicts({}, collect=collect)

    for each in about:
        assert found[each].verdict == UNTOLD
        assert found[each].finding.startswith("The study does not try")
        assert found[each].estimate is None


def test_claims_about_grr_are_checked_with_grr_if_it_is_there():
    """The paper tried no other protocol."""
    collect = grid(["grr", "oue"], [1, 4])
    values = {setting("oue", 1): {"sp_gap": 0.1}}

    assert verdicts(values, collect=collect)["gap"].verdict == UNTOLD
    assert "mean of 1 setting," in verdicts(values, collect=collect)["gap"].finding
    assert verdicts(values, collect=grid(["oue"], [1]))["gap"].verdict == HOLDS


def test_verdicts_hold_together():
    """Seven intervals at 95 % each would err in every third study."""
    made = results({"all": {"sp_gap": 0.3, "acc": 0.8}}, collect=grid(["grr"], [1]))
    found = checked(predict(made_profile()), made, level=0.95)[0]
    alone = paired_change(made, setting("grr", 1), "sp_gap", level=1 - 0.05 / 7)

    assert (found.estimate.low, found.estimate.high) == pytest.approx((alone.low, alone.high))


def test_reporting_one_of_several_columns_is_not_full_protection():
    """Its epsilon is about less than that of the others."""
    made = results({}, collect=ALL)
    one = results({}, collect=grid(["grr"], [1], strategies=["single"]), columns=1)

    assert {each.option("strategy") for each in full_settings(made)} == {"independent", "combined"}
    assert [each.option("strategy") for each in full_settings(one)] == ["single"]
    assert NOTHING not in full_settings(made)
