"""What an audit tests unless told is what `privatize` does unless told."""

import inspect
from fractions import Fraction

import pytest

from evenhand import LocalPrivatizer
from evenhand.collect import strategy_for
from evenhand.collect.protocols.registry import auto_name
from evenhand.engine import privatize_file
from evenhand.schema import Column, Domain, Schema
from evenhand.study import CollectTask, DataSource, Plan
from evenhand.study.tasks.collect.prepare import fit_protocols
from evenhand.study.tasks.shared.protection import strategy_of

SIZES = {"sex": 2, "age": 40}


def schema_of(sizes, sensitive=None):
    columns = [Column(name, Domain.integers(0, k - 1)) for name, k in sizes.items()]
    target = Column("hired", Domain.integers(0, 1))
    return Schema(
        [*columns, target], sensitive=sensitive or list(sizes), protected="sex", privileged=1, target="hired"
    )


@pytest.mark.parametrize("made", [strategy_for, LocalPrivatizer, privatize_file])
def test_every_way_to_privatize_has_the_same_defaults(made):
    """Otherwise an audit of the defaults says nothing about what is done by default."""
    given = inspect.signature(made).parameters
    task = CollectTask()

    assert given["protocol"].default == "auto"
    assert given["split"].default == "optimal"
    assert [mechanism.name for mechanism in task.protocols] == [given["protocol"].default]
    assert list(task.splits) == [given["split"].default]


@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(4)])
def test_a_study_of_the_defaults_reports_as_privatize_would(epsilon):
    [setting] = CollectTask(epsilons=epsilon).settings()

    assert strategy_of(setting, schema_of(SIZES)) == strategy_for(SIZES, epsilon=epsilon)


def test_each_column_has_the_protocol_of_least_variance():
    [setting] = CollectTask(epsilons=2).settings()
    protocols = strategy_of(setting, schema_of(SIZES)).protocols

    assert {name: law.name for name, law in protocols.items()} == {
        name: auto_name(law.k, float(law.epsilon)) for name, law in protocols.items()
    }
    assert protocols["age"].name == "ss"


def test_the_audit_tries_what_privatize_would_choose():
    assert "auto" in CollectTask.audit_mechanisms


def test_a_protocol_that_auto_stands_for_is_not_tried_twice():
    task = CollectTask(CollectTask.audit_mechanisms, [1, 4])
    few, many = (fit_protocols(task, schema_of(sizes)) for sizes in ({"sex": 2}, SIZES))

    assert [mechanism.name for mechanism in few.protocols] == ["auto", "oue", "optimal"]
    assert [mechanism.name for mechanism in many.protocols] == ["auto", "grr", "oue", "optimal"]


@pytest.mark.parametrize("sizes", [{"age": 40}, {"sex": 31}])
def test_optimal_is_left_out_where_it_does_not_fit(sizes):
    """It reports the protected column alone, and many groups take long."""
    task = fit_protocols(CollectTask("auto", 1), schema_of({"sex": 2} | sizes, sensitive=list(sizes)))

    assert [mechanism.name for mechanism in task.protocols] == ["auto"]


@pytest.mark.parametrize(("protocols", "expected"), [("auto", ["grr"]), (["auto", "grr"], ["grr"])])
def test_combinations_are_reported_by_grr_where_the_protocol_is_auto(protocols, expected):
    settings = CollectTask(protocols, 1, strategies="combined").settings()

    assert [setting.mechanism for setting in settings] == expected


def test_an_audit_trains_the_quick_model_unless_told():
    assert CollectTask().model == "quick-boosting"


def test_a_plan_file_that_names_no_model_means_what_it_meant_before_there_was_a_quick_one():
    """Otherwise a study that was written by hand gives other numbers after an update."""
    written = Plan(data=DataSource(dataset="causal"), task=CollectTask()).to_toml()
    older = written.replace('model = "quick-boosting"\n', "")

    assert older != written
    assert Plan.from_toml(older).task.model == "gradient-boosting"
    assert Plan.from_toml(written).task.model == "quick-boosting"
