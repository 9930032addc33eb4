"""Advice says what to use and why, or why nothing, and always what it does not cover."""

import json

import numpy as np
import pytest

from evenhand.errors import InvalidParameterError
from evenhand.study.advise.advice import Advice, advice_plan, advise
from evenhand.study.advise.caveats import FIRST_CAVEAT
from evenhand.study.plan.cells import Setting
from evenhand.study.plan.plan import Plan
from evenhand.study.plan.source import DataSource
from evenhand.study.profile.profiling import profile
from evenhand.study.results.results import Results
from evenhand.study.run.prepare import prepare
from evenhand.study.run.whole import run
from evenhand.study.tasks.collect.task import CollectTask
from unit.study._advice_cases import facts, grid, made_profile, results, setting, with_runs
from unit.study._small_studies import plan

GRR, OUE, WIDE = setting("grr", 1), setting("oue", 1), setting("grr", 4)
BEFORE = {"sp_gap": 0.3, "acc": 0.8, "eo_gap": 0.2}
ONE_BETTER = {"all": BEFORE, GRR: {"sp_gap": 0.1}}


def advised(values, *, given=None, **limits):
    """Return the advice on made-up results."""
    return advise(results(values, **(given or {})), profile=made_profile(), **limits)


def said(advice):
    """Return all reasons as one text."""
    return " ".join(advice.reasons)


# --- every branch ---------------------------------------------------------------------------------


def test_a_recommendation_comes_with_its_figures():
    """Each reason must be checked against the results by a reader."""
    advice = advised(ONE_BETTER, max_gap=0.2, max_accuracy_loss=0.02)

    assert (advice.recommendation, advice.outcome, advice.alternatives) == (GRR, "chosen", ())
    assert "Its gap is 10.0 points" in said(advice)
    assert "without protection it is 30.0 points" in said(advice)
    assert "a gap of at most 20 points and a loss of accuracy of at most 2 points" in said(advice)
    assert "ε = 1 is the smallest that was tried." in said(advice)
    assert "not shown to meet the limits: OUE (uniform split)" in said(advice)
    assert "a level of 99.58 %, so that what is said of 4 candidates holds together" in said(advice)
    assert str(advice).startswith("Recommended: GRR, uniform split, ε = 1.")


def test_rivals_are_named_with_the_difference():
    """By gap where it is clear, else by accuracy."""
    by_gap = advised(ONE_BETTER)
    both = advised(
        {**ONE_BETTER, setting("ss", 1): {"sp_gap": 0.1, "acc": 0.7}},
        given={"collect": grid(["grr", "oue", "ss"])},
    )

    assert "its gap is clearly smaller than that of OUE (uniform split), by −20.0 points" in said(by_gap)
    assert "its gap is clearly smaller than that of OUE (uniform split)" in said(both)
    assert "cannot be told apart it is clearly more accurate than SS (uniform split), by +10.0" in said(both)


def test_several_rivals_are_named_with_the_nearest():
    """The smallest difference is the one that matters."""
    advice = advised(
        {**ONE_BETTER, setting("ss", 1): {"sp_gap": 0.2}}, given={"collect": grid(["grr", "oue", "ss"])}
    )

    assert "OUE (uniform split) and SS (uniform split), by at the least −10.0 points" in said(advice)


@pytest.mark.parametrize(
    ("figures", "limits", "told"),
    [
        ({"sp_gap": 0.3}, {"max_gap": 0.2}, "with a gap of 30.0 points"),
        ({"acc": 0.7}, {"max_accuracy_loss": 0.02}, "with a change of accuracy of −10.0 points"),
    ],
)
def test_why_no_smaller_epsilon(figures, limits, told):
    """The nearest of them is named, with what it breaks."""
    values = {"all": BEFORE, GRR: figures, WIDE: {"sp_gap": 0.1, "acc": 0.8}}
    advice = advised(values, given={"collect": grid(["grr"])}, **limits)

    assert advice.recommendation == WIDE
    assert "No setting with a smaller epsilon is shown to meet the limits" in said(advice)
    assert told in said(advice)
    assert "It is the only candidate at this epsilon." in said(advice)


def test_settings_that_cannot_be_told_apart_are_left_to_another_criterion():
    """No recommendation, and how to choose all the same."""
    advice = advised({"all": BEFORE})

    assert (advice.recommendation, advice.outcome) == (None, "alike")
    assert advice.alternatives == (GRR, OUE)
    assert "the smallest that was tried, GRR (uniform split) and OUE (uniform split) cannot be" in said(
        advice
    )
    assert "message size: GRR (uniform split) 4 bits and OUE (uniform split) 7 bits" in said(advice)
    assert str(advice).startswith("No recommendation.")


def test_one_that_alone_meets_the_limits_is_said_to():
    """A reader may want it although it cannot be told from its equals."""
    values = {"all": BEFORE, GRR: {"sp_gap": 0.1}, OUE: {"sp_gap": 0.1012}}
    advice = advised(values, max_gap=0.105)

    assert advice.outcome == "alike"
    assert "the smallest at which a setting meets the limits" in said(advice)
    assert "Shown to meet the limits is only GRR (uniform split)." in said(advice)


@pytest.mark.parametrize(
    ("values", "limits", "told"),
    [
        ({}, {"max_gap": 0.2}, "Of 4 candidates, none is shown to keep the limit on the gap, 20 points."),
        (
            {GRR: {"acc": 0.7}, OUE: {"acc": 0.7}, WIDE: {"acc": 0.7}, setting("oue", 4): {"acc": 0.7}},
            {"max_accuracy_loss": 0.01},
            "none is shown to lose at most 1 point of accuracy: that limit binds",
        ),
        (
            {GRR: {"acc": 0.7}, OUE: {"acc": 0.7}, WIDE: {"acc": 0.7}, setting("oue", 4): {"acc": 0.7}},
            {"max_accuracy_loss": 0.01, "max_gap": 0.1},
            "none is shown to keep the limit on the gap, 10 points, nor the limit on accuracy, 1 point",
        ),
        (
            {GRR: {"acc": 0.7, "sp_gap": 0.1}},
            {"max_accuracy_loss": 0.05, "max_gap": 0.2},
            "1 keeps the limit on the gap and 3 that on accuracy, but none keeps both: they bind together",
        ),
    ],
)
def test_the_limit_that_binds_is_named(values, limits, told):
    """And what comes nearest."""
    advice = advised({"all": BEFORE, **values}, **limits)

    assert (advice.recommendation, advice.outcome, advice.alternatives) == (None, "none", ())
    assert told in said(advice)
    assert "comes nearest: a gap of" in said(advice)
    assert "Each clearly breaks a limit: more repeats will not help" in said(advice)


def test_more_repeats_are_asked_for_where_they_could_tell():
    """An interval on both sides of the limit is not a no."""
    advice = advised({"all": BEFORE}, max_gap=0.301)

    assert "4 of them may keep the limits: more repeats would tell" in said(advice)


def test_no_candidate_within_the_limit_of_epsilon():
    """The study says what it has."""
    advice = advised({"all": BEFORE}, epsilon=0.5)

    assert advice.outcome == "no-candidates"
    assert "at ε = 0.5 or less: its smallest epsilon is 1" in said(advice)


def test_a_single_repeat_recommends_nothing():
    """However much better one looks."""
    advice = advised(ONE_BETTER, given={"repeats": 1}, max_gap=0.2)

    assert (advice.recommendation, advice.outcome) == (None, "no-intervals")
    assert "A single repeat says nothing about chance" in said(advice)


def test_a_study_of_one_column_alone_says_that_nothing_protects_all():
    """Not that its epsilons are too large, which they are not."""
    given = {"collect": grid(["grr"], [1, 4], strategies=["single"])}
    for limits in ({}, {"epsilon": 2}):
        advice = advised({"all": BEFORE}, given=given, **limits)

        assert (advice.recommendation, advice.outcome) == (None, "no-candidates")
        assert "no setting that protects every sensitive column. Run it with" in said(advice)


def test_many_repeats_that_all_failed_are_not_called_a_single_one():
    """A reader would raise the repeats of a study whose cells fail."""
    protected = [setting(name, epsilon) for name in ("grr", "oue") for epsilon in (1, 4)]
    advice = advised({"all": BEFORE}, given={"leave_out": protected})

    assert advice.outcome == "no-intervals"
    assert "A single repeat" not in said(advice)
    assert "cells failed, were not run" in said(advice)


def test_a_smaller_epsilon_that_failed_was_tried():
    """Else advice would say of a larger epsilon that it is the smallest."""
    alike = advised({"all": BEFORE}, given={"leave_out": [GRR, OUE]})
    one = advised({"all": BEFORE, WIDE: {"sp_gap": 0.1}}, given={"leave_out": [GRR, OUE]})

    assert one.recommendation == WIDE
    for advice in (alike, one):
        assert "the smallest of the settings that have intervals" in said(advice)
        assert "that was tried" not in said(advice)


def test_a_setting_that_failed_in_some_repeats_is_named_with_how_many_are_left():
    """What fails may be what would have looked bad."""
    made = results(ONE_BETTER)
    kept = [each for each in made.outcomes if each.cell.setting != GRR or each.cell.repeat < 3]
    advice = advise(Results(made.plan, made.facts, kept), profile=made_profile())

    assert advice.recommendation == GRR
    assert any("GRR, uniform split, ε = 1 rests on 3 of 5 repeats" in each for each in advice.caveats)
    assert not any("rests on" in each for each in advised(ONE_BETTER).caveats)


def test_without_a_gap_there_is_none_to_reduce():
    """Obs8: protection may add one."""
    even = {"all": {"sp_gap": 0.01, "acc": 0.8}}
    alike = advised(even)
    one = advised({**even, GRR: {"sp_gap": 0.01, "acc": 0.85}})
    none = advised(even, max_accuracy_loss=0.0)

    assert {each.outcome for each in (alike, one, none)} == {"no-gap"}
    assert {each.recommendation for each in (alike, one, none)} == {None}
    assert "there is next to none to reduce, and protection may add to it" in said(alike)
    assert "GRR (uniform split) and OUE (uniform split) keep within your limits" in said(alike)
    assert (one.alternatives, "GRR (uniform split) keeps within" in said(one)) == ((GRR,), True)
    assert "No setting keeps within your limits" in said(none)


def test_a_gap_above_the_limit_is_one_to_reduce_however_small():
    """Who asks for half a point has a gap of one to reduce."""
    values = {"all": {"sp_gap": 0.01, "acc": 0.8}, GRR: {"sp_gap": 0.0, "acc": 0.8}}

    assert advised(values, max_gap=0.005).outcome != "no-gap"


# --- caveats --------------------------------------------------------------------------------------


@pytest.mark.parametrize("limits", [{}, {"max_gap": 0.2}, {"epsilon": 0.5}, {"max_gap": 0.0}])
def test_the_first_caveat_is_always_that_looking_is_not_covered(limits):
    """Choosing by private rows spends privacy that no guarantee counts."""
    advice = advised(ONE_BETTER, **limits)

    assert advice.caveats[0] == FIRST_CAVEAT
    assert "pilot" in FIRST_CAVEAT
    assert "not covered by the guarantee" in str(advice).replace("\n    ", " ")


def test_a_gap_that_is_small_because_all_get_the_same_answer_is_said():
    """Nobody should be told to use a model that says yes to everybody."""
    same = {"women selection": 0.999, "men selection": 0.999}
    none = {"women selection": 0.001, "men selection": 0.001}

    for rates, sure in ((same, True), (none, True), ({}, False)):
        advice = advised({"all": BEFORE, GRR: {"sp_gap": 0.1, **rates}})

        assert any("nearly everybody the same answer" in each for each in advice.caveats) == sure
    alike = advised({"all": {**BEFORE, **same}})

    assert any("With GRR, uniform split, ε = 1 and OUE" in each for each in alike.caveats)


def test_another_gap_that_grows_is_said():
    """A smaller gap in selection is not all there is to it."""
    grows = advised({**ONE_BETTER, GRR: {"sp_gap": 0.1, "eo_gap": 0.3}})
    stays = advised(ONE_BETTER)

    assert any("true or false positive rates grows by +10.0 points" in each for each in grows.caveats)
    assert not any("grows by" in each for each in stays.caveats)


def test_what_contradicts_the_literature_is_said():
    """The study is about these data, the literature is not."""
    advice = advised({"all": BEFORE, GRR: {"sp_gap": 0.5}})

    assert any("go by the study: about the gap." in each for each in advice.caveats)


def test_columns_in_the_clear_that_reveal_the_group_are_named():
    """Protection of a column that another gives away protects little."""
    made = results(ONE_BETTER)
    found = advise(made, profile=made_profile(clear=0.6))
    weak = advise(made, profile=made_profile(clear=0.1))

    assert any("may reveal sex: job (Cramer's V 0.60" in each for each in found.caveats)
    assert not any("may reveal" in each for each in weak.caveats)


def test_cells_that_failed_or_were_not_run_are_counted():
    """Advice from half a study must say so."""
    advice = advised(ONE_BETTER, given={"leave_out": [OUE]})

    assert any("5 cells of the study failed or were not run" in each for each in advice.caveats)


def test_reports_of_one_column_are_no_candidates():
    """Their epsilon is about less."""
    single = setting("grr", 1, strategy="single")
    collect = grid(["grr"], [1], strategies=["independent", "single"])
    advice = advised({"all": BEFORE, single: {"sp_gap": 0.01}}, given={"collect": collect})

    assert advice.recommendation == GRR
    assert any("leaves the others in the clear" in each for each in advice.caveats)


# --- what goes in and comes out -------------------------------------------------------------------


def test_predictions_come_with_verdicts_also_without_a_profile():
    """Results alone know the shares of labels, and not how columns depend on each other."""
    found = advise(results(ONE_BETTER))
    about = {each.prediction.about: each.prediction for each in found.predictions}

    assert not found.profile.has_rows
    assert not about["combined"].is_sure
    assert "Not predicted: At a large epsilon" in str(found)
    assert len(found.predictions) == 7


def test_results_without_any_unprotected_run_still_give_advice():
    """A study that was stopped early is read as far as it goes."""
    made = results(ONE_BETTER, leave_out=[Setting()])
    found = advise(made)
    nothing = advise(Results(made.plan, facts(), []))

    assert (found.profile, found.predictions, found.outcome) == (None, (), "no-intervals")
    assert nothing.outcome == "no-intervals"
    assert "What the data lets expect" not in str(found)
    assert "What the data lets expect" not in found._repr_html_()
    assert found.to_dict()["profile"] is None


@pytest.mark.parametrize("limits", [{}, {"max_gap": 0.2}, {"epsilon": "1/3"}])
def test_advice_is_written_for_machines(limits):
    """Every part of it, in JSON's types."""
    advice = advised(ONE_BETTER, **limits)
    written = json.loads(json.dumps(advice.to_dict(), allow_nan=False))

    assert written["outcome"] == advice.outcome
    assert written["caveats"][0] == FIRST_CAVEAT
    assert written["private"] is False
    assert [each["verdict"] for each in written["predictions"]] == [
        each.verdict for each in advice.predictions
    ]
    if advice.recommendation:
        assert written["recommendation"]["name"] == "GRR, uniform split, ε = 1"
        assert written["recommendation"]["bits_per_report"] == 4


def test_undefined_estimates_are_null():
    """JSON has no NaN."""
    made = with_runs(results({"all": BEFORE}), np.full((5, 5), np.nan), 0.8)
    written = json.dumps(advise(made, profile=made_profile()).to_dict(), allow_nan=False)

    assert json.loads(written)["predictions"][0]["estimate"]["value"] is None


def test_advice_fits_a_terminal_and_a_notebook():
    """Lines of at most 100 columns; no text of the data is markup."""
    made = made_profile()
    bad = type(made)(**{**vars(made), "protected": "<b>"})
    advice = advise(results(ONE_BETTER), profile=bad)

    assert max(len(line) for line in str(advice).splitlines()) <= 100
    assert repr(advice) == str(advice)
    assert "<b>Recommended" in advice._repr_html_()
    assert "<b>:" not in advice._repr_html_()
    assert "not private and not for publication" in advice._repr_html_()


def test_results_have_advice_as_a_method():
    """The short way."""
    advice = results(ONE_BETTER).advise(max_gap=0.2)

    assert isinstance(advice, Advice)
    assert advice.limits.max_gap == 0.2


@pytest.mark.parametrize(
    ("made", "given", "message"),
    [
        ("results", {}, "'results' parameter of advise must be Results"),
        (None, {"profile": 1}, "'profile' parameter of advise must be a Profile"),
        (None, {"level": 2}, "'level' parameter of advise must be"),
        (None, {"max_gap": 10}, "'max_gap' parameter of advise must be a share"),
    ],
)
def test_wrong_parameters_are_refused(made, given, message):
    """With the name of the parameter."""
    with pytest.raises(InvalidParameterError, match=message):
        advise(results({"all": BEFORE}) if made is None else made, **given)


# --- the small study ------------------------------------------------------------------------------


def test_the_small_study_tries_what_the_predictions_are_about():
    """Every check needs its runs."""
    small = advice_plan(Plan(data=DataSource(dataset="causal", options={"n": 500})))
    kinds = {(each.mechanism, each.option("strategy")) for each in small.task.settings()}

    assert {("grr", each) for each in ("single", "independent", "combined")} < kinds
    assert ("oue", "independent") in kinds
    assert small.task.epsilons == (1, 4)
    assert set(small.task.splits) == {"uniform", "k-based"}
    assert small.repeats == 8
    assert small.data.rows == 20_000


def test_the_small_study_of_one_column_has_nothing_to_split():
    """One split, one strategy."""
    small = advice_plan(plan(roles={"sensitive": ["region"]}, repeats=3))

    assert small.task.splits == ("uniform",)
    assert small.task.strategies == ("independent",)
    assert (small.repeats, small.data) == (3, None)


def test_columns_with_too_many_combinations_are_not_combined():
    """At a tiny epsilon 150 combinations cannot be told apart with 53 bits."""
    tiny = advice_plan(plan(collect=CollectTask("grr", ["1e-14", 1])))
    whole = advice_plan(plan(collect=CollectTask("grr", [1, 2])))

    assert tiny.task.strategies == ("independent", "single")
    assert whole.task.strategies == ("independent", "single", "combined")


def test_a_protected_column_that_is_not_sensitive_is_not_reported_alone():
    """There would be nothing to report."""
    small = advice_plan(plan(roles={"sensitive": ["age", "job"]}))

    assert "single" not in small.task.strategies


def test_many_epsilons_are_thinned_with_both_ends_kept():
    """A small study is small."""
    small = advice_plan(plan(collect=CollectTask("grr", [8, 0.1, 1, 2, 3, 4, 0.5])))

    assert [float(each) for each in small.task.epsilons] == [0.1, 1.0, 3.0, 8.0]


def test_few_rows_are_all_used():
    """Rows are drawn only where there are many."""
    data = DataSource(dataset="causal", options={"n": 500})
    whole = Plan(data=data, task=CollectTask(model="logistic"))
    small = advice_plan(whole, prepare(whole))

    assert small.data.rows is None


def test_only_a_plan_is_taken():
    """A path is a likely slip."""
    with pytest.raises(InvalidParameterError, match="'plan' parameter of advice_plan must be a Plan"):
        advice_plan("plan.toml")


def test_a_small_study_from_beginning_to_end():
    """Rows, profile, small study, advice: everything fits together."""
    data = DataSource(dataset="causal", options={"n": 300})
    whole = Plan(data=data, task=CollectTask("grr", [1, 4], model="logistic"), repeats=2)
    rows = prepare(whole)
    made = run(advice_plan(whole, rows), workers=1, progress=False)
    advice = advise(made, profile=profile(rows), max_gap=0.9, max_accuracy_loss=0.5)

    assert not made.failures
    assert len(advice.predictions) == 7
    assert advice.outcome in {"chosen", "alike", "none"}
    assert {each.option("strategy") for each in advice.alternatives} <= {"independent", "combined"}
    assert json.dumps(advice.to_dict(), allow_nan=False)
