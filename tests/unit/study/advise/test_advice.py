"""Advice says what to use and why, or why nothing, and always what it does not cover."""

import json

import numpy as np
import pytest

from evenhand.errors import InvalidParameterError
from evenhand.study.advise.advice import Advice, advise
from evenhand.study.advise.trial_plan import advice_plan
from evenhand.study.advise.wording import say
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

GRR, OUE = setting("grr", 1), setting("oue", 1)
BEFORE = {"sp_gap": 0.3, "acc": 0.8, "eo_gap": 0.2}
ONE_BETTER = {"all": BEFORE, GRR: {"sp_gap": 0.1}}
FIRST_CAVEAT = say("caveat.looking")


def advised(values, *, given=None, **limits):
    """Return the advice on made-up results."""
    return advise(results(values, **(given or {})), profile=made_profile(), **limits)


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

    assert any("With GRR, uniform split, ε = 1 the model" in each for each in alike.caveats)


def test_another_gap_that_grows_is_said():
    """A smaller gap in selection is not all there is to it."""
    grows = advised({**ONE_BETTER, GRR: {"sp_gap": 0.1, "eo_gap": 0.3}})
    stays = advised(ONE_BETTER)

    assert any("true or false positive rates grows by 10.0 points" in each for each in grows.caveats)
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


def test_runs_that_failed_or_were_not_run_are_counted():
    """Advice from half a study must say so."""
    advice = advised(ONE_BETTER, given={"leave_out": [OUE]})

    assert any("10 runs of the study failed or were not run" in each for each in advice.caveats)


def test_the_short_advice_tells_of_runs_that_failed():
    """The command ended with code 1, and nothing that it showed said why."""
    half, whole = advised(ONE_BETTER, given={"leave_out": [OUE]}), advised(ONE_BETTER)
    shown = half._repr_html_().partition("<details>")[0]

    assert "10 runs of the study failed or were not run" in str(half)
    assert "10 runs of the study failed or were not run" in shown
    assert half._repr_html_().count("failed or were not run") == 1
    assert "not run" not in str(whole)


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
    assert "Not predicted: At a large epsilon" in found.details
    assert len(found.predictions) == 7


def test_results_without_any_unprotected_run_still_give_advice():
    """A study that was stopped early is read as far as it goes."""
    made = results(ONE_BETTER, leave_out=[Setting()])
    found = advise(made)
    nothing = advise(Results(made.plan, facts(), []))

    assert (found.profile, found.predictions, found.outcome) == (None, (), "no-intervals")
    assert nothing.outcome == "no-intervals"
    assert "What the data lets expect" not in found.details
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
    made = with_runs(results({"all": BEFORE}), np.full((5, 10), np.nan), 0.8)
    written = json.dumps(advise(made, profile=made_profile()).to_dict(), allow_nan=False)

    assert json.loads(written)["predictions"][0]["estimate"]["value"] is None


def test_advice_fits_a_terminal_and_a_notebook():
    """Lines of at most 100 columns; no text of the data is markup."""
    made = made_profile()
    bad = type(made)(**{**vars(made), "protected": "<b>"})
    advice = advise(results(ONE_BETTER), profile=bad)

    assert max(len(line) for line in advice.details.splitlines()) <= 100
    assert repr(advice) == str(advice)
    assert "<b>Use GRR" in advice._repr_html_()
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
    assert set(small.task.splits) == {"uniform", "optimal"}
    assert small.repeats == 8
    assert small.data.rows == 20_000


def test_the_small_study_of_one_column_has_nothing_to_split():
    """One split, one strategy."""
    small = advice_plan(plan(roles={"sensitive": ["region"]}, repeats=3))

    assert small.task.splits == ("uniform",)
    assert small.task.strategies == ("independent",)
    assert (small.repeats, small.data) == (3, None)


def test_columns_with_too_many_combinations_are_not_combined():
    """At a tiny epsilon they cannot be told apart with 53 bits; the optimal channel takes minutes for 150."""
    few = {"sensitive": ["region", "job"]}
    tiny = advice_plan(plan(collect=CollectTask("grr", ["1e-14", 1]), roles=few))
    whole = advice_plan(plan(collect=CollectTask("grr", [1, 2]), roles=few))
    many = advice_plan(plan(collect=CollectTask("grr", [1, 2])))

    assert tiny.task.strategies == ("independent", "single")
    assert whole.task.strategies == ("independent", "single", "combined")
    assert many.task.strategies == ("independent", "single")


def test_the_small_study_tries_the_channel_that_keeps_the_gap_small_where_it_can():
    """It is the remedy that exists for reports, and it needs the protected column among them."""
    names = [
        [each.name for each in advice_plan(plan(roles={"sensitive": columns})).task.protocols]
        for columns in (["region"], ["region", "age"], ["age", "job"])
    ]

    assert names == [["grr", "oue", "optimal"], ["grr", "oue", "optimal"], ["grr", "oue"]]


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
    data = DataSource(dataset="causal", options={"n": 600})
    whole = Plan(data=data, task=CollectTask("grr", [1, 4], model="logistic"), repeats=7)
    rows = prepare(whole)
    made = run(advice_plan(whole, rows), workers=1, progress=False)
    advice = advise(made, profile=profile(rows), max_gap=0.9, max_accuracy_loss=0.5)

    assert not made.failures
    assert len(advice.predictions) == 7
    assert advice.outcome in {"chosen", "alike", "none"}
    assert {each.option("strategy") for each in advice.alternatives} <= {"independent", "combined"}
    assert json.dumps(advice.to_dict(), allow_nan=False)
