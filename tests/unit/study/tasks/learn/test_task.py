"""The task of learning: what is trained, what is refused, and what a file holds."""

from fractions import Fraction
from pathlib import Path

import pytest

from evenhand.errors import InvalidParameterError, PlanError
from evenhand.study.plan.cells import Setting
from evenhand.study.plan.plan import Plan
from evenhand.study.plan.spec import Spec
from evenhand.study.results.lookup import setting_of
from evenhand.study.tasks.learn.methods import DEFAULT_METHODS, METHODS, method_named
from evenhand.study.tasks.learn.task import LearnTask


def test_every_way_has_each_epsilon_and_those_without_privacy_have_none():
    settings = list(LearnTask(["plain", "plain+parity", "dp", "local"], [1, "1/2"]).settings())

    assert settings == [
        Setting("plain+parity"),
        Setting("dp", Fraction(1)),
        Setting("dp", Fraction(1, 2)),
        Setting("local", Fraction(1)),
        Setting("local", Fraction(1, 2)),
    ]


def test_the_plain_way_is_part_of_every_study_and_never_twice():
    settings = Plan(task=LearnTask(["plain", "dp"], [1])).settings()

    assert settings == (Setting(), Setting("dp", Fraction(1)))


def test_local_reports_are_asked_for():
    """They take sensitive columns, which not every schema names."""
    assert set(METHODS) - set(DEFAULT_METHODS) == {"local"}


@pytest.mark.parametrize("typed", ["dp+parity", " DP + Parity", "dp +parity"])
def test_blanks_and_capitals_do_not_matter(typed):
    assert method_named(typed) == "dp+parity"


def test_a_setting_reads_as_its_way_and_is_found_by_what_it_reads():
    settings = Plan(task=LearnTask()).settings()
    for each in settings[1:]:
        assert setting_of(str(each), settings, owner="test") == each
    assert "Fermi + parity, ε = 3" in map(str, settings)


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        (
            {"methods": ["dp", "svm"]},
            "The 'methods' parameter of LearnTask must be of plain, plain+parity, dp",
        ),
        ({"methods": 3}, "Got 3 instead"),
        ({"methods": []}, "must be at least one. Got an empty list"),
        ({"methods": ["dp", "DP"]}, "must be distinct"),
        ({"epsilons": [0]}, "The 'epsilons' parameter of LearnTask must be"),
        ({"epsilons": ["one"]}, "The 'epsilons' parameter of LearnTask must be"),
        ({"epsilons": [1, 1.0]}, "must be distinct"),
        ({"delta": 0}, "The 'delta' parameter of LearnTask must be"),
        ({"delta": 0.01}, "must be a number > 0 and < 0.01, from which on nothing meaningful is promised"),
        ({"delta": 2}, "must be a number > 0 and < 0.01, from which on nothing meaningful is promised"),
        ({"gap": -0.1}, "The 'gap' parameter of LearnTask must be a number from 0 to 1"),
        ({"gap": True}, "The 'gap' parameter"),
        ({"gap": float("nan")}, "The 'gap' parameter"),
        ({"unit": "one row"}, "The 'unit' parameter of LearnTask"),
        ({"test": 1}, "The 'test' parameter of LearnTask must be between 0 and 1"),
        ({"holdout": 0.0}, "The 'holdout' parameter of LearnTask must be between 0 and 1"),
        ({"strength": -1}, "The 'strength' parameter"),
        ({"epochs": 0}, "The 'epochs' parameter"),
        ({"group_as_input": 1}, "The 'group_as_input' parameter of LearnTask must be true or false"),
    ],
)
def test_what_cannot_be_is_refused_by_name(parts, said):
    with pytest.raises(InvalidParameterError) as caught:
        LearnTask(**parts)

    assert said in str(caught.value)


@pytest.mark.parametrize(
    "task",
    [
        LearnTask(),
        LearnTask("dp", "1/3", delta="1e-6", gap=0.02, unit="replace one", holdout=0.4, test=0.3),
        LearnTask(["fermi"], [2], strength=5.0, epochs=7, group_as_input=True),
    ],
)
def test_a_plan_file_holds_all_of_it(task):
    plan = Plan(task=task)

    assert Plan.from_toml(plan.to_toml()) == plan
    assert plan.repeats == 10


def test_a_field_that_is_wrong_is_named_by_its_place():
    text = Plan(task=LearnTask("dp", 1)).to_toml().replace('"dp"', '"sgd"')
    with pytest.raises(PlanError, match=r"The plan field 'task.methods' must be of plain"):
        Plan.from_toml(text)


def test_the_grid_is_no_part_of_what_cells_share():
    """A study whose plan gains a way or an epsilon keeps every cell that is finished."""
    few, many = LearnTask("dp", 1), LearnTask(["dp", "fermi"], [1, 3])

    assert few.fixed == many.fixed
    assert few.fixed != LearnTask("dp", 1, gap=0.01).fixed
    assert few.fixed != LearnTask("dp", 1, epochs=10).fixed
    assert Spec({"task": few.fixed}).hash == Spec({"task": many.fixed}).hash


def test_only_private_training_needs_the_accountant():
    assert not LearnTask(["plain", "plain+parity", "local"]).needs_accounting
    assert LearnTask(["dp+projection"]).needs_accounting


def test_the_example_is_a_plan_that_can_be_run():
    plan = Plan.load(Path(__file__).parents[5] / "examples" / "learn.toml")

    assert plan.task.kind == "learn"
    assert set(plan.task.methods) == set(METHODS)
