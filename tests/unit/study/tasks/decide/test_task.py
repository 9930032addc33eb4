"""The task of a decision: what it holds, what it refuses, and how a plan file keeps it."""

import math
from fractions import Fraction

import numpy as np
import pytest

from evenhand.decide.mitigate.registry import NamedMitigation
from evenhand.errors import InvalidParameterError, PlanError, RuleError
from evenhand.study.plan.cells import Cell, Setting
from evenhand.study.plan.plan import Plan
from evenhand.study.plan.spec import Spec
from evenhand.study.tasks.decide.task import (
    ENTITY_SIZES,
    DecideTask,
    entity_size_of,
    method_of,
    method_title,
)
from evenhand.study.tasks.release.task import ReleaseTask
from unit.study._decide_studies import RULE, done_besides, money_task, rule_task


def test_a_rule_names_its_counts_and_stays_the_text_it_is():
    task = DecideTask(rule="sp/s > 5e-2 or sp>10_000")

    assert task.inputs == ("sp", "s")
    assert task.is_rule
    assert task.rule == "sp/s > 0.05 or sp > 10000"
    assert DecideTask(rule=task.rule) == task


def test_an_allotment_has_one_count():
    task = money_task()

    assert task.inputs == ("poor",)
    assert task.formula == "poor * cost"
    assert DecideTask(count="poor").formula == "poor"
    assert task.counts_touched == 1


def test_the_counts_of_a_rule_share_epsilon_unless_it_is_said_otherwise():
    """Nested counts tell about one person three times; to count one of them promises too much."""
    assert rule_task().counts_touched == 2
    assert rule_task(touches="one input").counts_touched == 1


def test_settings_are_the_plain_release_then_steps_then_mitigations():
    task = money_task(post=["nonnegative", "integral"], mitigations=["linear_proxy", {"name": "shrink"}])

    found = [(done_besides(each), each.epsilon) for each in task.settings()]
    assert found == [
        (way, epsilon)
        for way in ("none", "nonnegative+integral", "linear-proxy", "shrink")
        for epsilon in (Fraction(1, 2), Fraction(1))
    ]


def test_a_mechanism_without_epsilon_is_run_once():
    mechanism = {"name": "discrete-gaussian", "rho": "1/10"}

    assert [each.epsilon for each in money_task(mechanisms=[mechanism]).settings()] == [None]


def test_parameters_of_a_mitigation_are_part_of_the_setting():
    """Two public totals are two cells."""
    first, second = (
        next(
            each
            for each in money_task(mitigations={"name": "sum-constraint", "total": total}).settings()
            if done_besides(each) == "sum-constraint"
        )
        for total in (10, 20)
    )

    assert first != second
    assert money_task(mitigations=[NamedMitigation("shrink")]) == money_task(mitigations="shrink")
    assert method_of(first) == ((), NamedMitigation("sum-constraint", {"total": 10}))
    assert Cell.from_id(Cell(first, 0).id) == Cell(first, 0)


@pytest.mark.parametrize(
    ("options", "title"),
    [
        ({}, "Plain release"),
        (
            {"post": "nonnegative_sum_to=50+integral"},
            "Shifted to a total, none below 0, rounded at random",
        ),
        ({"post": "shrink=2.5"}, "Small counts lowered"),
        ({"mitigation": "shrink"}, "Cut of small counts"),
    ],
)
def test_every_way_has_words(options, title):
    assert method_title(Setting("laplace", options=options)) == title


def test_steps_are_read_in_the_order_in_which_they_are_done():
    setting = Setting("laplace", options={"post": "nonnegative+integral"})

    assert method_of(setting) == (("nonnegative", "integral"), None)


def test_every_count_is_in_the_class_that_says_so():
    """If classes overlapped or left one out, a place would stand twice in a table or not at all."""
    counts = np.array([0, 1, 2, 3, 299, 300, 999_999, 1_000_000, 2_500_000])
    for count, at in zip(counts, entity_size_of(counts), strict=True):
        [place] = [
            place
            for place, size in enumerate(ENTITY_SIZES)
            if size.least <= count <= (math.inf if size.most is None else size.most)
        ]
        assert at == place


# --- refusals -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parts", "parameter"),
    [
        ({}, "rule"),
        ({"rule": RULE, "count": "x"}, "rule"),
        ({"rule": 3}, "rule"),
        ({"rule": RULE, "weight": "w"}, "weight"),
        ({"rule": RULE, "budget": 5}, "budget"),
        ({"count": ""}, "count"),
        ({"count": "x", "name": 3}, "name"),
        ({"count": "x", "groups": ["a", "a"]}, "groups"),
        ({"count": "x", "groups": [4]}, "groups"),
        ({"count": "x", "weight": "a +"}, "weight"),
        ({"count": "x", "budget": 0}, "budget"),
        ({"count": "x", "budget": True}, "budget"),
        ({"count": "x", "budget": float("inf")}, "budget"),
        ({"count": "x", "epsilons": []}, "epsilons"),
        ({"count": "x", "epsilons": [0]}, "epsilons"),
        ({"count": "x", "epsilons": [1, "1"]}, "epsilons"),
        ({"count": "x", "mechanisms": ["suppression"]}, "mechanisms"),
        ({"count": "x", "touches": "two"}, "touches"),
        ({"count": "x", "unit": "somebody"}, "unit"),
        ({"count": "x", "post": "smooth"}, "post"),
        ({"count": "x", "post": [3]}, "post"),
        ({"count": "x", "post": ["nonnegative", "smooth"]}, "post"),
        ({"count": "x", "mitigations": [3]}, "mitigations"),
        ({"count": "x", "mitigations": ["shrink", "shrink"]}, "mitigations"),
        ({"count": "x", "mitigations": [{"name": "shrink", "power": 3}]}, "mitigations"),
        ({"count": "x", "mitigations": ["piecewise-proxy"]}, "mitigations"),
        ({"rule": RULE, "mitigations": ["linear-proxy"]}, "mitigations"),
        ({"count": "x", "mitigations": ["output-perturbation"]}, "mitigations"),
        ({"count": "x", "mitigations": ["sum-constraint"]}, "mitigations"),
        ({"count": "x", "mitigations": [{"name": "output-perturbation", "least_total": -1}]}, "mitigations"),
        ({"count": "x", "mitigations": [{"name": "output-perturbation", "least_part": 0.9}]}, "mitigations"),
        (
            {
                "count": "x",
                "mechanisms": ["laplace", "discrete-gaussian"],
                "mitigations": [{"name": "output-perturbation", "least_total": 5}],
            },
            "mitigations",
        ),
        ({"count": "x", "draws": 3}, "draws"),
        ({"count": "x", "currency": " "}, "currency"),
        ({"count": "x", "currency": "guldenmarks"}, "currency"),
    ],
)
def test_what_cannot_be_is_refused_by_name(parts, parameter):
    with pytest.raises(InvalidParameterError) as refused:
        DecideTask(**parts)

    assert refused.value.parameter == parameter
    assert refused.value.owner == "DecideTask"


def test_a_rule_that_cannot_be_read_is_pointed_at():
    with pytest.raises(RuleError) as refused:
        DecideTask(rule="sp > > 3")

    assert refused.value.column == 6


def test_a_mitigation_that_does_not_exist_is_refused_with_a_list():
    with pytest.raises(InvalidParameterError, match=r"one of 'shrink', .*'linear-proxy'"):
        money_task(mitigations="linear-proxi")


# --- plans ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "task",
    [
        rule_task(),
        money_task(),
        DecideTask(count="odd name", weight="2 * `odd weight` / 100"),
        DecideTask(count="x", weight="(a + 2 * b) / (c + 1)"),
        money_task(
            mechanisms=["laplace", {"name": "discrete-gaussian", "delta": 1e-9}],
            epsilons=["1/3", 2],
            post=["nonnegative", "sum_to=500"],
            mitigations=["fairness-payment", {"name": "sum-constraint", "total": 100.0}],
            unit="add or remove one",
            currency="EUR",
            draws=500,
        ),
        money_task(mitigations=[{"name": "output-perturbation", "least_total": 100.0}]),
        rule_task(touches="one input", mitigations=["shrink"], groups=(), name=None),
    ],
)
def test_a_plan_file_keeps_the_task(task):
    plan = Plan(task=task, name="towns")

    assert Plan.from_toml(plan.to_toml()) == plan
    assert Plan.from_toml(plan.to_toml()).cells() == plan.cells()


def test_results_are_exact_so_that_one_repeat_is_enough():
    assert Plan(task=money_task()).repeats == 1
    assert Plan(task=money_task(), repeats=10).repeats == 10
    assert Plan.from_toml('format = 1\n[task]\nkind = "decide"\ncount = "x"').repeats == 1
    assert Plan().repeats == 10
    assert Plan(task=ReleaseTask("race", classify=False)).repeats == 10


def test_measures_are_those_of_the_task():
    assert Plan(task=rule_task()).measures == tuple(rule_task().measures)
    assert Plan(task=money_task(), measures=("alpha",)).measures == ("alpha",)
    with pytest.raises(InvalidParameterError, match="measures"):
        Plan(task=money_task(), measures=("acc",))


def test_collect_does_not_go_with_a_decision():
    with pytest.raises(PlanError) as refused:
        Plan.from_toml('format = 1\n[collect]\nprotocols=["grr"]\n[task]\nkind = "decide"\ncount = "x"')

    assert refused.value.field == "collect"


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ('rule = "sp > > 3"', "task.rule"),
        ("count = 3", "task.count"),
        ('count = "x"\ncolumns = ["a"]', "task.columns"),
        ('count = "x"\nbudget = -1', "task.budget"),
        ('count = "x"\nmitigations = ["nothing"]', "task.mitigations"),
        ("", "task.rule"),
    ],
)
def test_a_fault_of_a_plan_file_names_its_field(text, field):
    with pytest.raises(PlanError) as refused:
        Plan.from_toml(f'format = 1\n[task]\nkind = "decide"\n{text}')

    assert refused.value.field == field


def test_money_that_is_written_otherwise_is_the_same_study():
    """A resumed study must not be refused for the sign before an amount; another budget is another study."""
    facts = type("Facts", (), {"fingerprint": "a", "schema": type("S", (), {"fingerprint": "b"})})
    spec = {sign: Spec.of(Plan(task=money_task(currency=sign)), facts) for sign in ("$", "EUR")}
    other = Spec.of(Plan(task=money_task(budget=2e6)), facts)

    assert spec["$"] == spec["EUR"]
    assert spec["$"].differences(other) == ("task",)


def test_the_words_that_every_task_has():
    task = money_task()

    assert task.kind == "decide"
    assert task.is_exact


def test_a_mitigation_with_a_number_that_is_none_is_refused():
    """A plan file may hold nan, which no cell can be called by."""
    for value in (math.nan, math.inf):
        with pytest.raises(InvalidParameterError, match="finite"):
            DecideTask(rule="x > 1", mitigations=[{"name": "shrink", "temperature": value}])
