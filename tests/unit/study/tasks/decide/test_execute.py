"""Cells of a decision: what is stored is what the decisions say, and the same wherever it is computed."""

import math
import os
import pickle
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

from evenhand._shared_objects import SharedObject
from evenhand.answer.page import build_page
from evenhand.decide.allotment.allotment import Allotment
from evenhand.decide.language.parse import parse
from evenhand.decide.mitigate import payment
from evenhand.decide.result.bias import bias
from evenhand.decide.result.entities import Entities
from evenhand.decide.result.errors import entity_table
from evenhand.errors import PlanError
from evenhand.privacy.randomness import SeededSource
from evenhand.release.mechanisms.noise import Laplace
from evenhand.release.postprocess.steps import Nonnegative
from evenhand.report.drawing import Drawing
from evenhand.study.plan.cells import Cell, Setting
from evenhand.study.plan.draw_text import draw_text
from evenhand.study.plan.plan import Plan
from evenhand.study.plan.source import DataSource
from evenhand.study.results.results import Results
from evenhand.study.run.prepare import prepare
from evenhand.study.run.whole import run
from evenhand.study.store.canonical import outcome_from, result_text
from evenhand.study.tasks.decide.execute import claim_of, decide
from evenhand.study.tasks.decide.task import DecideTask
from unit.study._decide_studies import PLACES, RULE, done_besides, money_task, rule_task, study

LANGUAGE = "(sp/s > 0.05 or sp > 10000) and spe/sp > 0.0131"


def outcome_of(results, setting="laplace none 1"):
    wanted = results.setting({"epsilon": 1}) if setting == "laplace none 1" else setting
    return next(each for each in results.outcomes if each.cell.setting == wanted)


def test_a_rule_is_decided_as_the_decisions_say():
    found = outcome_of(study(rule_task(touches="one input")))
    entities = Entities.read(PLACES, name="town", counts=["poor", "people"], groups=["young", "old"])
    twin = bias(parse(RULE), entities, Laplace(1, unit="replace one"))

    told = dict(found.entities)
    assert found.failure is None
    assert found.measures["expected_wrong"] == pytest.approx(np.abs(twin.bias).sum(), abs=1e-12)
    assert [told[name]["bias"] for name in PLACES["town"]] == pytest.approx(twin.bias.tolist(), abs=1e-15)
    assert found.groups["young"]["refused"] == pytest.approx(twin.by("group")["young"].refused)
    assert found.notes[0] == "exact"


def test_an_allotment_is_decided_as_the_decisions_say():
    results = study(money_task(post="nonnegative"))
    entities = Entities.read(PLACES, name="town", counts=["poor"], groups=["young", "old"])
    problem = Allotment(PLACES["cost"], budget=1e6, count="poor")
    for named, post in (({}, None), ({"post": "nonnegative"}, Nonnegative())):
        found = outcome_of(results, results.setting({"epsilon": 1, **named}))
        twin = bias(problem, entities, Laplace(1, unit="replace one"), post=post)

        assert found.measures["cost_of_privacy"] == pytest.approx(twin.cost(), rel=1e-12)
        assert found.measures["alpha"] == pytest.approx(twin.alpha * 1e6)
        assert found.groups["old"]["gain_per_head"] == pytest.approx(twin.by("group")["old"].gain_per_head)


def test_the_county_of_the_literature_has_its_vector():
    """Discrete noise of scale 10 on 160 of 3,305: 15.4698191405 % of a wrong decision, by hand."""
    county = {"s": [3_305], "sp": [160], "spe": [3]}
    task = DecideTask(rule=LANGUAGE, epsilons=["0.1"], touches="one input", unit="add or remove one")
    found = study(task, frame=county).outcomes[1]

    assert found.measures["largest_flip"] == pytest.approx(0.154698191405, abs=1e-12)
    assert found.entities[0][1]["distance"] == pytest.approx(5.25)


def test_counts_that_one_person_is_in_share_epsilon():
    """With three nested counts at 0.3 in all, each has the noise of 0.1."""
    county = {"s": [3_305], "sp": [160], "spe": [3]}
    task = DecideTask(rule=LANGUAGE, epsilons=["0.3"], unit="add or remove one")
    found = study(task, frame=county).outcomes[1]

    assert found.measures["largest_flip"] == pytest.approx(0.154698191405, abs=1e-12)
    assert found.measures["claimed_epsilon"] == 0.3


@pytest.mark.parametrize("touches", ["every input", "one input"])
@pytest.mark.parametrize(
    "mechanism",
    ["laplace", {"name": "discrete-gaussian", "delta": 1e-6}, {"name": "discrete-gaussian", "rho": "1/8"}],
)
def test_the_claim_is_never_above_what_was_asked_for_and_hardly_below(mechanism, touches):
    task = rule_task(mechanisms=[mechanism], epsilons=[1], touches=touches)
    found = study(task).outcomes[1]
    epsilon, delta = found.measures["claimed_epsilon"], found.measures["delta"]

    if found.cell.setting.epsilon is not None:
        assert 0.999 < epsilon <= 1
        assert delta <= 1.001e-6
    else:
        assert delta == pytest.approx(1e-9)
        assert epsilon > 1


def test_gaussian_counts_share_rho_and_not_epsilon():
    """By parts of epsilon three counts would have three times the deviation, by parts of rho 1.7 times."""
    one, two = (
        task.noise_of_a_count(next(iter(task.settings()))).law.standard_deviation
        for task in (
            rule_task(mechanisms="discrete-gaussian", epsilons=[1], touches=touches)
            for touches in ("one input", "every input")
        )
    )

    assert 1.4 < two / one < 1.7


def test_nothing_is_claimed_where_nothing_is_promised():
    assert math.isnan(claim_of(None)[0])
    assert claim_of(None)[1] == 1.0


def test_the_true_counts_are_off_by_nothing():
    for task in (rule_task(), money_task()):
        first = study(task).outcomes[0]

        assert not first.cell.setting.is_protected
        assert first.measures["alpha"] == 0
        assert math.isnan(first.measures["claimed_epsilon"])


@pytest.mark.parametrize(
    ("task", "ways"),
    [
        (
            money_task,
            ["linear-proxy", "shrink", "fairness-payment", {"name": "sum-constraint", "total": 2_600}],
        ),
        (money_task, [{"name": "output-perturbation", "least_total": 1_000}]),
        (rule_task, ["shrink"]),
    ],
)
def test_every_mitigation_has_a_cell_with_its_promise(task, ways):
    results = study(task(mitigations=ways, epsilons=[1], draws=200))

    assert results.failures == ()
    for outcome in results.outcomes[1:]:
        if done_besides(outcome.cell.setting) == "fairness-payment":  # it pays by the true counts
            assert math.isnan(outcome.measures["claimed_epsilon"])
            assert outcome.measures["delta"] == 1.0
        else:
            assert 0.999 < outcome.measures["claimed_epsilon"] <= 1 + 1e-9
            assert outcome.measures["delta"] < 1e-8
        assert math.isfinite(outcome.measures["alpha"])


def test_a_payment_is_for_losses_after_the_steps(monkeypatch):
    """Whoever clamps pays for what the clamp does."""
    asked = []

    def pay(*_, **options):
        asked.append(options["post"])
        raise ZeroDivisionError

    monkeypatch.setattr(payment, "MITIGATION", replace(payment.MITIGATION, decide=pay))
    for post in ((), "nonnegative"):
        study(money_task(mitigations=["fairness-payment"], epsilons=[1], post=post))

    assert asked == [None, [Nonnegative()]]


def test_what_no_exact_method_covers_is_drawn_and_says_so():
    task = rule_task(rule="poor >= 20", post="nonnegative_sum_to=2639", epsilons=[0.05], draws=300)
    first, second = (study(task, seed=seed) for seed in (1, 1))
    found = first.outcomes[-1]

    assert found.measures["exact"] == 0.0
    assert found.notes[0].startswith("sampled")
    assert first.canonical() == second.canonical()
    assert first.canonical() != study(task, seed=2).canonical()


def test_an_outcome_with_entities_comes_back_to_the_bit():
    found = outcome_of(study(rule_task()))
    again = outcome_from(found.cell, result=result_text(found), seconds="{}")

    assert again.entities == found.entities
    assert again.notes == found.notes


def test_a_study_is_kept_and_read_again(tmp_path):
    path = tmp_path / "towns.csv"
    pa.csv.write_csv(pa.table(PLACES), path)
    plan = Plan(data=DataSource(path=path), task=money_task())
    results = run(plan, out=tmp_path / "study", workers=1, progress=False)
    again = Results.load(tmp_path / "study")

    assert again.digest == results.digest
    assert again.outcomes[1].entities == results.outcomes[1].entities
    assert again.facts.groups == ("young", "old")
    assert run(plan, out=tmp_path / "study", workers=1, resume=True, progress=False).digest == results.digest
    assert "alpha" in repr(again) or "bias of an entity" in repr(again)


def test_shared_entities_are_the_entities():
    """What worker processes map is what was prepared."""
    prepared = prepare(Plan(task=money_task()), frame=PLACES)
    shared = SharedObject(prepared)
    try:
        entities = pickle.loads(shared.message).entities
    finally:
        shared.close()

    assert entities.names == tuple(PLACES["town"])
    assert entities.counts["poor"].tolist() == PLACES["poor"]
    assert entities.weights.tolist() == PLACES["cost"]
    assert entities.populations.tolist() == [
        list(each) for each in zip(PLACES["young"], PLACES["old"], strict=True)
    ]


def test_a_product_of_public_columns_weighs():
    task = DecideTask(count="poor", weight="cost * young / 100", name="town")
    prepared = prepare(Plan(task=task), frame=PLACES)

    assert prepared.entities.weights == pytest.approx(
        [cost * young / 100 for cost, young in zip(PLACES["cost"], PLACES["young"], strict=True)]
    )
    assert prepare(Plan(task=DecideTask(count="poor")), frame=PLACES).entities.weights.tolist() == [1.0] * 5


def test_entities_without_names_are_numbered():
    prepared = prepare(Plan(task=DecideTask(count="poor")), frame=PLACES)

    assert prepared.entities.names == ("1", "2", "3", "4", "5")
    assert prepared.facts.groups == ()


# --- refusals ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("task", "field"),
    [
        (DecideTask(rule="rich > 3"), "task.rule"),
        (DecideTask(count="rich"), "task.count"),
        (DecideTask(count="poor", weight="rich"), "task.weight"),
        (DecideTask(count="poor", name="rich"), "task.name"),
        (DecideTask(count="poor", groups=["rich"]), "task.groups"),
        (DecideTask(count="poor", groups=["poor"]), "task.groups"),
        (DecideTask(count="poor", weight="town"), "task.weight"),
        (DecideTask(count="cost"), "data"),
        (DecideTask(count="town"), "data"),
    ],
)
def test_what_does_not_fit_the_data_is_refused_by_its_field(task, field):
    with pytest.raises(PlanError) as refused:
        prepare(Plan(task=task), frame=PLACES)

    assert refused.value.field == field
    assert "540" not in str(refused.value)
    assert "Cove" not in str(refused.value)


def test_a_total_of_nought_is_refused():
    frame = {"poor": [0, 5], "cost": [1.0, 0.0]}
    with pytest.raises(PlanError, match="a weighted total of 0"):
        prepare(Plan(task=DecideTask(count="poor", weight="cost")), frame=frame)


def test_data_must_be_named_or_given():
    with pytest.raises(PlanError, match="'data' is missing"):
        prepare(Plan(task=money_task()))


def test_a_part_of_the_rows_is_no_allotment():
    with pytest.raises(PlanError, match=r"data\.rows"):
        prepare(Plan(task=money_task(), data=DataSource(path="a.csv", rows=3)), frame=PLACES)


def test_a_data_set_brings_its_note():
    if not os.environ.get("EVENHAND_DATA"):
        pytest.skip("EVENHAND_DATA names no folder of data files")
    plan = Plan(
        data=DataSource(dataset="section203"), task=DecideTask(rule="sp > 10", name="area", epsilons=[1])
    )
    prepared = prepare(plan)

    assert prepared.facts.rows == 187
    assert prepared.facts.label == "section203"


# --- odd places -------------------------------------------------------------------------------------

ODD = {
    "one place": {"x": [40], "y": [90], "w": [1.0]},
    "nobody somewhere": {"x": [0, 40, 7], "y": [0, 90, 0], "w": [1.0, 2.0, 1.0]},
    "a weight of zero": {"x": [30, 40, 50], "y": [9, 90, 80], "w": [0.0, 2.0, 1.0]},
    "many people": {"x": [10**9, 3, 10**9], "y": [10**9, 5, 2 * 10**9], "w": [1.0, 2.0, 1.0]},
    "one name twice": {"x": [300, 40], "y": [900, 80], "w": [1.0, 1.0], "n": ["a", "a"]},
}


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("what", [{"count": "x", "weight": "w"}, {"rule": "x/y > 0.5 and x >= 30"}])
def test_odd_places_are_decided_on_and_reported(odd, what, monkeypatch):
    monkeypatch.setattr(Drawing, "svg", lambda _: "")
    frame = ODD[odd]
    name = {"name": "n"} if "n" in frame else {}
    results = study(DecideTask(**what, **name, epsilons=[1], draws=200), frame=frame)

    assert results.failures == ()
    assert results.view().verdict
    assert build_page(results.view()).question
    assert len(results.entities("pyarrow")) == 2 * len(frame["x"])


def test_names_that_several_rows_have_are_said_to_weaken_the_promise():
    """A file with a row for each year counts a person many times, and the promise is about one row."""
    task = DecideTask(rule="x > 50", name="n", epsilons=[1])
    yearly = {"x": [40, 300, 80], "n": ["a", "a", "b"]}
    [note] = prepare(Plan(task=task), frame=yearly).facts.notes

    assert note.kind == "privacy"
    assert note.startswith("Names of 'n' repeat, and each row counts as a place of its own.")
    assert prepare(Plan(task=task), frame={"x": [40, 300], "n": ["a", "b"]}).facts.notes == ()
    assert prepare(Plan(task=DecideTask(rule="x > 50", epsilons=[1])), frame=yearly).facts.notes == ()


# --- the whole table --------------------------------------------------------------------------------


def table_of(plan, setting, prepared):
    """Return the table of every entity under a setting."""
    source = SeededSource(plan.seed).for_cell(draw_text(Cell(setting, 0)))
    decided, *_ = decide(setting, task=plan.task, prepared=prepared, source=source)
    return entity_table(decided, rule=plan.task.parsed() if plan.task.is_rule else None)


def test_the_whole_table_is_what_the_cell_computed(tmp_path):
    plan = Plan(task=money_task(epsilons=[1], post="nonnegative"))
    setting = Setting("laplace", Fraction(1), {"post": "nonnegative"})
    results = run(plan, frame=PLACES, workers=1, progress=False)
    prepared = prepare(plan, frame=PLACES)
    table = table_of(plan, setting, prepared)
    told = dict(next(each for each in results.outcomes if each.cell == Cell(setting, 0)).entities)
    plan.task.write_more(results, tmp_path, frame=PLACES)
    text = (tmp_path / "entities.csv").read_text()

    assert table["entity"] == PLACES["town"]
    assert table["bias"].tolist() == [told[name]["bias"] for name in PLACES["town"]]
    assert table["bias_in_money"].tolist() == [1e6 * told[name]["bias"] for name in PLACES["town"]]
    assert text.splitlines()[0].startswith('"entity","poor","truth","bias","error"')


def test_the_whole_table_of_a_rule_has_chances_and_distances():
    plan = Plan(task=rule_task(post="nonnegative_sum_to=2600", draws=200))
    prepared = prepare(plan, frame=PLACES)
    exact, drawn = (
        table_of(plan, Setting("laplace", Fraction(1), options), prepared)
        for options in ({}, {"post": "nonnegative_sum_to=2600"})
    )

    assert {"flip", "distance", "error_bound", "people", "poor"} <= set(exact)
    assert "standard_error" in drawn
    named = prepare(Plan(task=DecideTask(count="bias")), frame={"bias": [3, 4]})
    assert "counted bias" in table_of(Plan(task=DecideTask(count="bias")), Setting(), named)
    assert "bias_in_money" not in exact
