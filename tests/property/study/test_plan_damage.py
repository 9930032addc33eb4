"""A damaged or hostile plan file gives a plan or one clear error that names the field."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.errors import PlanError
from evenhand.schema import Column, Domain, Schema
from evenhand.study.plan.plan import Plan
from evenhand.study.plan.source import DataSource
from evenhand.study.tasks.collect.task import CollectTask
from property._damage import TOKENS, VALUES, Damage

SCHEMA = Schema(
    [Column("sex", Domain.categorical(["f", "m"])), Column("paid", Domain.categorical([False, True]))],
    sensitive=["sex"],
    protected="sex",
    privileged="m",
    target="paid",
    positive=True,
)
WHOLE = Plan(
    data=DataSource(path="people.csv", rows=500),
    schema=SCHEMA,
    task=CollectTask(
        ["grr", {"name": "olh", "as_printed": True}],
        [1, "1/3"],
        splits=["uniform", "sample"],
        model="logistic",
        parameters={"C": 0.5},
        folds=5,
    ),
    measures=("acc", "sp_gap"),
    repeats=3,
    seed=7,
    name="a study",
    notes=("One note.",),
).to_toml()
DATASET = Plan(data=DataSource(dataset="causal", options={"n": 300}), name="another").to_toml()
STRANGE = [
    *VALUES, "own:", "own:Forest", "1/0", "1/3", "1e999999999", "-1/2", ["1/0"], ["1e-999999999"], [1, 1],
    [{"name": "olh", "as_printed": [1]}], [{"name": "olh", "as_printed": "no"}], [{"name": "grr", "k": 2}],
    [{"name": 1}], [{}], "gradient-boosting", "codes", "causal", "../x.csv", {"n": -1}, {"n": {}}, 1.0,
    [1e400], 10**400, 2**31 + 1,
]  # fmt: skip
KEYS = ["protocol", "path", "dataset", "options", "rows", "kind", "folds", "test", "parameters", "format", ""]


DAMAGE = Damage(
    wholes=[WHOLE, WHOLE, DATASET],
    values=STRANGE,
    keys=KEYS,
    read=Plan.from_toml,
    write=Plan.to_toml,
    compared=Plan.to_toml,
    error=PlanError,
    longest=6_000,
    inside=0.6,
    added=0.3,
)


def test_four_hundred_damaged_plans_give_a_plan_or_one_clear_error():
    DAMAGE.try_many(400)


@pytest.mark.nightly
def test_twenty_thousand_damaged_plans_give_a_plan_or_one_clear_error():
    DAMAGE.try_many(20_000)


@settings(max_examples=settings().max_examples // 2)
@given(st.text() | st.sampled_from(TOKENS))
def test_any_text_gives_a_plan_or_one_clear_error(text):
    DAMAGE.outcome(text)


def test_the_whole_plans_are_read():
    """Else every damage would be refused for a reason that was there before."""
    assert isinstance(DAMAGE.outcome(WHOLE), Plan)
    assert isinstance(DAMAGE.outcome(DATASET), Plan)
