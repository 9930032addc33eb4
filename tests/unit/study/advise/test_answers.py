"""What advice says to use, what it would take where nothing can be used, and the command for it."""

import re

import numpy as np
import pytest

from evenhand.study.advise.advice import advise
from evenhand.study.plan.cells import Setting
from evenhand.study.plan.source import DataSource
from evenhand.study.results.results import Results
from evenhand.study.tasks.collect.wording import setting_name
from unit.study._advice_cases import grid, made_profile, results, setting, with_runs

GRR, OUE, WIDE = setting("grr", 1), setting("oue", 1), setting("grr", 4)
BEFORE = {"sp_gap": 0.3, "acc": 0.8, "eo_gap": 0.2}
ONE_BETTER = {"all": BEFORE, GRR: {"sp_gap": 0.1}}


def advised(values, *, given=None, **limits):
    """Return the advice on made-up results."""
    return advise(results(values, **(given or {})), profile=made_profile(), **limits)


def said(advice):
    """Return the answer and all reasons as one text."""
    return " ".join([advice.answer.finding, advice.answer.evidence, *advice.reasons])


# --- a setting to use -----------------------------------------------------------------------------


def test_a_recommendation_comes_with_its_figures():
    """Each reason must be checked against the results by a reader."""
    advice = advised(ONE_BETTER, max_gap=0.2, max_accuracy_loss=0.02)

    assert (advice.recommendation, advice.outcome, advice.alternatives) == (GRR, "chosen", ())
    assert "no other setting at this ε is sure to keep your limits" in advice.answer.finding
    assert "within your limits of 20 points and 2 points" in said(advice)
    assert "The selection gap narrows from 30.0 to 10.0 points" in said(advice)
    assert "it does most: OUE with the uniform split leaves 20.0 points more" in said(advice)
    assert "4 settings holds together: each interval behind it has a level of 99.58%" in advice.details
    assert str(advice).startswith("Use GRR with the uniform split at ε = 1:")


def test_of_equal_settings_the_one_with_the_shortest_report_is_recommended_and_the_others_are_named():
    """Four of four questions once ended without a recommendation, because settings did equally well."""
    advice = advised({"all": BEFORE})

    assert (advice.recommendation, advice.outcome, advice.alternatives) == (GRR, "alike", (OUE,))
    assert "costs no more than ε = 4" in advice.answer.finding
    assert "OUE with the uniform split does as well there" in advice.answer.evidence
    assert "shortest reports, 4 bits per person" in advice.answer.evidence
    assert "better" not in said(advice)


def test_the_shortest_report_is_taken_wherever_it_stands_in_the_plan():
    """The order of a plan is no reason."""
    advice = advised({"all": BEFORE}, given={"collect": grid(["oue", "grr"])}, max_gap=0.4)

    assert advice.recommendation == GRR
    assert "it keeps your limit, and OUE with the uniform split does as well" in advice.answer.finding


def test_several_that_do_as_well_are_counted():
    """Their names would make a list of the finding."""
    advice = advised({"all": BEFORE}, given={"collect": grid(["grr", "oue", "ss"])}, max_gap=0.4)

    assert "it keeps your limit, and 2 other settings do as well" in advice.answer.finding


def test_better_is_said_only_of_a_setting_that_is_singled_out():
    """The word has a bound on how often it is wrong; a tie has none."""
    better = advised({"all": BEFORE, OUE: {"sp_gap": 0.2}}, max_gap=0.4)
    tie = advised({"all": BEFORE}, max_gap=0.4)

    assert (better.recommendation, tie.recommendation) == (OUE, GRR)
    assert "is clearly better than GRR with the uniform split" in better.answer.finding
    assert "Its gap is smaller than that of GRR with the uniform split, by 10.0 points" in said(better)
    assert "better than" not in said(tie)


def test_with_gaps_alike_accuracy_is_what_is_named():
    """By gap where it is clear, else by accuracy."""
    collect = grid(["grr", "oue", "ss"])
    values = {**ONE_BETTER, setting("ss", 1): {"sp_gap": 0.1, "acc": 0.7}}
    advice = advised(values, given={"collect": collect}, max_gap=0.4)

    assert "Its gap is smaller than that of OUE with the uniform split, by 20.0" in said(advice)
    assert "It is more accurate than SS with the uniform split, by 10.0 points" in said(advice)
    assert "is clearly better than 2 other settings" in advice.answer.finding


def test_several_rivals_are_named_with_the_nearest():
    """The smallest difference is the one that matters."""
    values = {**ONE_BETTER, setting("ss", 1): {"sp_gap": 0.2}}
    advice = advised(values, given={"collect": grid(["grr", "oue", "ss"])})

    assert "OUE with the uniform split and SS with the uniform split, by 10.0 points" in said(advice)


@pytest.mark.parametrize(
    ("figures", "limits", "told"),
    [
        ({"sp_gap": 0.3}, {"max_gap": 0.2}, "with a gap of 30.0 points"),
        ({"acc": 0.7}, {"max_accuracy_loss": 0.02}, "a change of accuracy of −10.0"),
    ],
)
def test_why_no_smaller_epsilon(figures, limits, told):
    """The nearest of them is named, with its figures, where there is no gap to speak of before."""
    values = {"all": BEFORE, Setting(): {"sp_gap": 0.021}, GRR: figures, WIDE: {"sp_gap": 0.1, "acc": 0.8}}
    advice = advised(values, given={"collect": grid(["grr"])}, **limits)

    assert advice.recommendation == WIDE
    assert "At ε = 1 no setting is sure to keep your limit; nearest is GRR" in said(advice)
    assert told in said(advice)


def test_one_that_alone_keeps_the_limits_is_recommended_and_its_equals_are_named():
    """A reader may want it although it cannot be told from its equals."""
    values = {"all": BEFORE, GRR: {"sp_gap": 0.1}, OUE: {"sp_gap": 0.1012}}
    advice = advised(values, max_gap=0.1025)

    assert (advice.recommendation, advice.outcome, advice.alternatives) == (GRR, "alike", ())
    assert "OUE with the uniform split may do as well; these runs cannot tell" in said(advice)


def test_without_limits_the_smallest_epsilon_that_costs_no_more_is_recommended():
    """The smallest of all, whatever it costs, is nobody's choice."""
    dear = advised({"all": BEFORE, GRR: {"acc": 0.7}, OUE: {"acc": 0.75}})
    cheap = advised({"all": BEFORE})

    assert dear.recommendation == WIDE
    assert "no smaller ε that was tried is sure to cost as little" in dear.answer.finding
    assert "At ε = 1 accuracy differs by −10.0 points" in dear.answer.evidence
    assert cheap.recommendation == GRR


def test_a_model_that_gives_everyone_the_same_answer_is_never_recommended():
    """A dead model has no gap, keeps its accuracy where nearly all have the outcome, and is worth nothing."""
    base = {f"{group} base_rate": 0.8 for group in ("women", "men")}
    values = {"all": {**BEFORE, "acc": 0.9, **base}}
    dead = {"sp_gap": 0.0, "acc": 0.8}
    some = advised({**values, GRR: dead, OUE: dead}, max_gap=0.35)
    every = advised({**values, **dict.fromkeys((GRR, OUE, WIDE, setting("oue", 4)), dead)}, max_gap=0.35)
    none = advised({"all": {**BEFORE, **base}}, max_gap=0.35)

    assert some.recommendation == WIDE
    assert (every.recommendation, every.outcome) == (None, "useless")
    assert "No tested setting works: allow a larger ε than 4" in every.answer.finding
    assert (none.recommendation, none.outcome) == (None, "no-model")
    assert "First find a model that works without protection" in none.answer.finding


def test_below_the_epsilon_where_the_model_starts_to_work_it_is_said_to_be_dead():
    """Else a reader would take a smaller one."""
    base = {f"{group} base_rate": 0.7 for group in ("women", "men")}
    dead = {"sp_gap": 0.0, "acc": 0.7}
    advice = advised({"all": {**BEFORE, **base}, GRR: dead, OUE: dead})

    assert advice.recommendation == WIDE
    assert "below that the model is not clearly better than one answer for everyone" in advice.answer.finding


def test_a_group_that_is_too_small_does_not_carry_the_gap():
    """Six people decide nothing."""
    made = results({"all": BEFORE})
    for outcome in made.outcomes:
        outcome.groups["women"]["people"] = 6.0
    for limits in ({"max_gap": 0.2}, {}):
        advice = advise(made, **limits)

        assert (advice.recommendation, advice.outcome) == (None, "too-few")
        assert advice.answer.finding.endswith("too small to say who pays.")
        assert "A test has fewer than 30 people of women" in advice.answer.evidence
        assert "about 5,000 people in all" in advice.answer.evidence
        assert "gap 30.0" not in advice.details


def test_remedies_are_compared_where_a_gap_is_found():
    """Who finds a gap wants to know what narrows it."""
    best = advised(ONE_BETTER, max_gap=0.2)
    none = advised({"all": BEFORE}, max_gap=0.4)
    dear = advised({"all": BEFORE, OUE: {"sp_gap": 0.1, "acc": 0.7}}, max_accuracy_loss=0.05)
    even = advised({"all": {**BEFORE, "sp_gap": 0.01}}, max_gap=0.4)

    assert "Of what can narrow the gap at ε = 1, it does most" in said(best)
    assert "Nothing else that was tried at ε = 1 leaves a clearly smaller gap" in said(none)
    assert "evenhand audit learn" in said(none)
    assert "OUE with the uniform split leaves a gap 20.0 points smaller" in said(dear)
    assert "but it is not sure to keep your limit" in said(dear)
    assert "there is next to none to narrow" in said(even)


def test_there_are_three_reasons_at_most():
    """The short form is short; the rest is behind it."""
    for values in (ONE_BETTER, {"all": BEFORE}, {"all": {**BEFORE, "sp_gap": 0.01}}):
        for limits in ({}, {"max_gap": 0.4}, {"max_gap": 0.4, "max_accuracy_loss": 0.1}):
            advice = advised(values, **limits)

            assert 2 <= len(advice.reasons) <= 3
            assert "makhlouf2024" not in str(advice)
            assert "makhlouf2024" in advice.details


@pytest.mark.parametrize("limits", [{}, {"max_gap": 0.25}, {"max_accuracy_loss": 0.05}, {"max_gap": 0.1}])
@pytest.mark.parametrize(
    "values",
    [
        {},
        {GRR: {"sp_gap": 0.1}},
        {GRR: {"acc": 0.7}},
        {OUE: {"sp_gap": 0.2, "acc": 0.7}, WIDE: {"sp_gap": 0.05}},
        {each: {"acc": 0.6} for each in (GRR, OUE)},
    ],
)
def test_the_answer_never_contradicts_the_list_of_what_was_tried(values, limits):
    """What is recommended stands once in the list, and nothing with a smaller epsilon is as good there."""
    advice = advised({"all": BEFORE, **values}, **limits)
    lines = [line for line in advice.tried if line.endswith("; recommended")]
    as_good = [
        line
        for line in advice.tried
        if line.endswith(("; keeps the limits", "; costs no more than a larger ε"))
    ]

    if advice.recommendation is None:
        assert lines == as_good == []
        return
    assert len(lines) == 1
    assert lines[0].startswith(setting_name(advice.recommendation))
    smaller = [line for line in as_good if advice.recommendation == WIDE and "ε = 1" in line]
    assert smaller == []


# --- commands -------------------------------------------------------------------------------------


def test_a_recommendation_ends_with_the_command_that_uses_it():
    """Advice that a person cannot act on is none."""
    made = results({"all": BEFORE})
    data = Results(made.plan.with_(data=DataSource(path="people.csv")), made.facts, made.outcomes)
    advice = advise(data, folder="my advice")

    assert advice.answer.action == (
        "evenhand privatize people.csv reports.csv --schema 'my advice/schema.toml' "
        "--columns sex,age --epsilon 1 --protocol grr --split uniform"
    )
    assert f"\n  {advice.answer.action}\n" in str(advice)
    assert advise(data).answer.action == advise(made, folder="s").answer.action == ""


def test_more_repeats_come_with_the_command_that_runs_them():
    """With the limits, which the folder does not keep."""
    advice = advised({"all": BEFORE}, max_gap=0.3005, epsilon=4)
    again = advise(results({"all": BEFORE}), max_gap=0.3015, folder="advice")

    assert advice.answer.action == ""
    assert again.answer.action.startswith("evenhand advise --resume --out advice --max-gap 0.3015 --repeats ")


# --- nothing to use -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "limits", "told"),
    [
        ({}, {"max_gap": 0.2}, "No tested setting keeps your limit: a gap of 20 points."),
        (
            {each: {"acc": 0.7} for each in (GRR, OUE, WIDE, setting("oue", 4))},
            {"max_accuracy_loss": 0.01},
            "No tested setting keeps your limit: a loss of 1 point of accuracy.",
        ),
        (
            {each: {"acc": 0.7} for each in (GRR, OUE, WIDE, setting("oue", 4))},
            {"max_accuracy_loss": 0.01, "max_gap": 0.1},
            "No tested setting keeps your limits: a gap of 10 points and a loss of 1 point of accuracy.",
        ),
        (
            {GRR: {"acc": 0.7, "sp_gap": 0.1}},
            {"max_accuracy_loss": 0.05, "max_gap": 0.2},
            "No tested setting keeps your limits: a gap of 20 points and a loss of 5 points of accuracy.",
        ),
    ],
)
def test_no_is_said_with_the_limits_the_nearest_and_what_it_would_take(values, limits, told):
    """A no alone helps nobody."""
    advice = advised({"all": BEFORE, **values}, **limits)

    assert (advice.recommendation, advice.outcome, advice.alternatives) == (None, "none", ())
    assert advice.answer.finding == told
    assert "Closest is " in advice.answer.evidence
    assert "It would keep " in advice.answer.evidence


def test_a_gap_that_is_there_without_protection_is_not_blamed_on_epsilon():
    """A larger epsilon leads to the unprotected model, and so to its gap."""
    advice = advised({"all": BEFORE}, max_gap=0.2)

    assert "Without protection the gap is 30.0 points already" in advice.answer.evidence


def test_a_larger_epsilon_is_asked_for_where_the_unprotected_model_keeps_the_limits():
    """Epsilon is not extrapolated: only the direction is said."""
    losing = {each: {"acc": 0.7} for each in (GRR, OUE, WIDE, setting("oue", 4))}
    advice = advised({"all": BEFORE, **losing}, max_accuracy_loss=0.02)

    assert (
        "It would take a larger ε than 4, which was not tried: the unprotected model keeps your limit"
        in said(advice)
    )


def test_epsilon_is_interpolated_between_tested_ones_on_both_sides_of_the_limit():
    """Where a larger one than was accepted keeps the limits."""
    values = {"all": BEFORE, GRR: {"acc": 0.7}, OUE: {"acc": 0.6}}
    advice = advised(values, max_accuracy_loss=0.05, epsilon=2)

    assert "By interpolation between ε = 1 and ε = 4 it would take about ε = 2." in said(advice)


def test_repeats_and_people_are_asked_for_where_only_the_far_end_is_beyond_the_limit():
    """An interval on both sides of the limit is not a no."""
    advice = advised({"all": BEFORE}, max_gap=0.3015)

    assert "is sure to keep your limit" in advice.answer.finding
    assert re.search(r"About \d+ repeats would tell, or [\d.]+ times as many people", said(advice))


def test_as_many_repeats_as_were_asked_for_do_tell():
    """A number that does not help would be worse than none."""
    values, limits = {"all": BEFORE}, {"max_gap": 0.3015}
    asked = int(re.search(r"About (\d+) repeats", said(advised(values, **limits))).group(1))
    enough = advised(values, given={"repeats": asked}, **limits)

    assert asked > 10
    assert enough.recommendation is not None


def test_no_candidate_within_the_limit_of_epsilon():
    """The study says what it has."""
    advice = advised({"all": BEFORE}, epsilon=0.5)

    assert advice.outcome == "no-candidates"
    assert "Nothing was tried at ε = 0.5 or less: the smallest tested is ε = 1" in said(advice)


def test_a_single_repeat_recommends_nothing():
    """However much better one looks."""
    advice = advise(results(ONE_BETTER, repeats=1), max_gap=0.2, folder="advice")

    assert (advice.recommendation, advice.outcome) == (None, "no-intervals")
    assert "a single one says nothing about chance" in said(advice)
    assert advice.answer.action == "evenhand advise --resume --out advice --max-gap 0.2 --repeats 10"


def test_an_interval_that_says_nothing_recommends_nothing():
    """A gap between 5 and 100 points once made a recommendation."""
    wild = np.array([-0.2, 0.25, -0.05, 0.4])
    made = results({"all": {**BEFORE, "sp_gap": 0.5, "acc": 0.8}}, repeats=8, spread=wild)
    for outcome in made.outcomes:
        for rates in outcome.groups.values():
            rates["base_rate"] = 0.5
    accuracy = 0.8 + np.outer([1.0, 0.9, 1.1, 0.8, 1.2], np.arange(8)) * 0.001
    made = with_runs(made, made.arrays.of_measures[:, :, made.arrays.measures.index("sp_gap")], accuracy)
    for limits in ({}, {"max_accuracy_loss": 0.5}):
        advice = advise(made, folder="advice", **limits)

        assert (advice.recommendation, advice.outcome) == (None, "too-wide")
        assert "after 8 the numbers still vary too much" in advice.answer.finding
        assert re.search(r"About \d+ repeats would tell", advice.answer.evidence)
        assert "--repeats " in advice.answer.action


@pytest.mark.parametrize("repeats", [2, 3, 6])
@pytest.mark.parametrize("limits", [{}, {"max_gap": 0.4}, {"max_gap": 0.2}, {"max_accuracy_loss": 0.05}])
def test_too_few_repeats_to_say_who_pays_recommend_nothing(repeats, limits):
    """Three repeats and a gap between 5 and 100 points once made a recommendation."""
    advice = advise(results(ONE_BETTER, repeats=repeats), folder="advice", **limits)

    assert (advice.recommendation, advice.outcome) == (None, "few-repeats")
    assert advice.answer.finding == f"Run more repeats before choosing: {repeats} cannot say who pays."
    assert advice.answer.action.endswith(" --repeats 10")
    assert advise(results(ONE_BETTER, repeats=7), max_gap=0.4).recommendation is not None


def test_a_setting_of_which_too_few_repeats_are_left_is_not_recommended():
    made = results(ONE_BETTER)
    kept = [each for each in made.outcomes if each.cell.setting != GRR or each.cell.repeat < 6]
    best = advise(made, max_gap=0.2).recommendation

    assert best == GRR
    assert advise(Results(made.plan, made.facts, kept), max_gap=0.2).recommendation != GRR


def test_a_study_of_one_column_alone_says_that_nothing_protects_all():
    """Not that its epsilons are too large, which they are not."""
    given = {"collect": grid(["grr"], [1, 4], strategies=["single"])}
    for limits in ({}, {"epsilon": 2}):
        advice = advised({"all": BEFORE}, given=given, **limits)

        assert (advice.recommendation, advice.outcome) == (None, "no-candidates")
        assert "Nothing that was tried protects every sensitive column. Run" in said(advice)


def test_many_repeats_that_all_failed_are_not_called_a_single_one():
    """A reader would raise the repeats of a study whose runs fail."""
    protected = [setting(name, epsilon) for name in ("grr", "oue") for epsilon in (1, 4)]
    advice = advised({"all": BEFORE}, given={"leave_out": protected})

    assert advice.outcome == "no-intervals"
    assert "single" not in said(advice)
    assert "Runs failed, were not run" in said(advice)


def test_a_smaller_epsilon_that_failed_is_not_called_the_same():
    """What has no result is not compared."""
    advice = advised({"all": BEFORE, WIDE: {"sp_gap": 0.1}}, given={"leave_out": [GRR, OUE]})

    assert advice.recommendation == WIDE
    assert "the only ε to choose from" in advice.answer.finding


def test_a_setting_that_failed_in_some_repeats_is_named_with_how_many_are_left():
    """What fails may be what would have looked bad."""
    made = results(ONE_BETTER)
    kept = [each for each in made.outcomes if each.cell.setting != GRR or each.cell.repeat < 8]
    advice = advise(Results(made.plan, made.facts, kept), max_gap=0.2, profile=made_profile())

    assert advice.recommendation == GRR
    assert any("GRR, uniform split, ε = 1 rests on 8 of 10 repeats" in each for each in advice.caveats)
    assert not any("rests on" in each for each in advised(ONE_BETTER).caveats)


def test_without_a_gap_a_setting_is_recommended_all_the_same():
    """Obs8: protection may add one; that is a reason to say so, and none not to protect."""
    even = {"all": {"sp_gap": 0.01, "acc": 0.8}}
    alike = advised(even)
    one = advised({**even, OUE: {"sp_gap": 0.01, "acc": 0.85}})
    none = advised(even, max_accuracy_loss=0.0)

    assert [each.recommendation for each in (alike, one, none)] == [GRR, OUE, None]
    assert "there is next to none to narrow, and protection may add to it" in said(alike)
    assert "is sure to keep your limit: a loss of 0 points" in none.answer.finding


def test_a_gap_above_the_limit_is_one_to_narrow_however_small():
    """Who asks for half a point has a gap of one to narrow."""
    values = {"all": {"sp_gap": 0.01, "acc": 0.8}, GRR: {"sp_gap": 0.0, "acc": 0.8}}
    advice = advised(values, max_gap=0.005)

    assert advice.recommendation == GRR
    assert "next to none to narrow" not in said(advice)


def test_a_smaller_gap_of_a_model_that_is_of_no_use_is_said_to_be_that():
    """It is no remedy."""
    base = {f"{group} base_rate": 0.7 for group in ("women", "men")}
    dead = {"sp_gap": 0.0, "acc": 0.7}
    values = {"all": {**BEFORE, **base}, OUE: dead}
    beside = advised(values, max_gap=0.4)
    even = {**values, Setting(): {"sp_gap": 0.021}, GRR: dead}
    below = advised(even, max_gap=0.4)

    assert "but only with a model that is not clearly better than one answer for everyone" in said(beside)
    assert below.recommendation == WIDE
    assert "At ε = 1 no setting is clearly better than one answer for everyone" in said(below)


def test_repeats_are_asked_for_where_they_could_show_that_a_protected_model_is_of_use():
    """Not clear is not the same as dead."""
    made = results({"all": BEFORE}, repeats=8)
    accuracy = np.full((5, 8), 0.8)
    accuracy[1:] = [0.65, 0.4, 0.6, 0.45, 0.65, 0.6, 0.45, 0.64]
    made = with_runs(made, np.full((5, 8), 0.3) + np.arange(8) * 0.001, accuracy)
    advice = advise(made, folder="advice")

    assert (advice.recommendation, advice.outcome) == (None, "useless")
    assert "No tested setting is clearly better than one answer for everyone." in advice.answer.finding
    assert re.search(r"About \d+ repeats would tell", advice.answer.evidence)
