"""A damaged or hostile plan file gives a plan or one clear error that names the field."""

import random
import time
import tomllib
from contextlib import suppress

import pytest
import tomli_w
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.errors import PlanError
from evenhand.schema import Column, Domain, Schema
from evenhand.study.classify import Classify
from evenhand.study.grid import Collect
from evenhand.study.plan import Plan
from evenhand.study.source import DataSource
from property.test_schema_mutations import TOKENS, VALUES, _damage_text, _nodes

SEED = 20_261_115
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
    collect=Collect(["grr", {"name": "olh", "as_printed": True}], [1, "1/3"], splits=["uniform", "sample"]),
    task=Classify(model="logistic", parameters={"C": 0.5}, folds=5),
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


def _damage_document(text, rng):
    """Put something else, or nothing, where a value or a table stands."""
    document = tomllib.loads(text)
    *parents, last = rng.choice([path for path in _nodes(document) if path])
    owner = document
    for key in parents:
        owner = owner[key]
    value = rng.choice(STRANGE)
    if value is None:
        del owner[last]
    elif isinstance(owner, dict) and rng.random() < 0.3:
        owner[rng.choice(KEYS)] = value
    else:
        owner[last] = value
    return tomli_w.dumps(document)


def _damaged(rng):
    text = rng.choice([WHOLE, WHOLE, DATASET])
    with suppress(ValueError):  # a number of more digits than Python writes
        text = _damage_document(text, rng) if rng.random() < 0.6 else text
    for _ in range(rng.choice([0, 1, 1, 2, 4])):
        text = _damage_text(text or " ", rng)
    return text


def _outcome(text):
    """Read `text`; return the plan, or the field at fault; anything else is a failure."""
    try:
        plan = Plan.from_toml(text)
    except PlanError as caught:
        field, message = caught.field, str(caught)
    else:
        assert Plan.from_toml(plan.to_toml()).to_toml() == plan.to_toml()
        return plan
    assert isinstance(field, str)
    assert field
    assert len(message) < 6_000
    return field


def _try_many(count):
    rng = random.Random(SEED)
    outcomes = []
    for _ in range(count):
        text = _damaged(rng)
        start = time.perf_counter()
        outcomes.append(_outcome(text))
        assert time.perf_counter() - start < 2
    fields = [each for each in outcomes if isinstance(each, str)]

    assert len(outcomes) - len(fields) > count / 50  # some damage is harmless,
    assert len(fields) > count / 2  # most is not,
    assert len(set(fields)) > 30  # and the field at fault is told, not just that there is one
    return fields


def test_four_hundred_damaged_plans_give_a_plan_or_one_clear_error():
    _try_many(400)


@pytest.mark.nightly
def test_twenty_thousand_damaged_plans_give_a_plan_or_one_clear_error():
    _try_many(20_000)


@settings(max_examples=settings().max_examples // 2)
@given(st.text() | st.sampled_from(TOKENS))
def test_any_text_gives_a_plan_or_one_clear_error(text):
    _outcome(text)


def test_the_whole_plans_are_read():
    """Else every damage would be refused for a reason that was there before."""
    assert isinstance(_outcome(WHOLE), Plan)
    assert isinstance(_outcome(DATASET), Plan)
