"""People who do not state their group are listed apart, and in no gap, unless somebody asks for them."""

import math

import numpy as np
import pandas as pd
import pytest

from evenhand.errors import InvalidParameterError, SchemaError
from evenhand.schema import Column, Domain, Schema
from evenhand.study import CollectTask, LearnTask, Plan, ReleaseTask, run
from evenhand.study.run.prepare import prepare
from evenhand.study.tasks.shared.reported import label_disparities

pytestmark = pytest.mark.figures

TASKS = {
    "collect": CollectTask("grr", 1, model="logistic"),
    "learn": LearnTask(["dp", "dp+parity", "fermi"], [1]),
    "release": ReleaseTask(["sex", "skill", "hired"], classify=True, mechanisms=["laplace"], epsilons=[1]),
}


def schema(**roles):
    sexes = Domain.categorical(["f", "m"])
    columns = (
        Column("sex", sexes, nulls="other"),
        Column("skill", Domain.integers(0, 4)),
        Column("hired", Domain.integers(0, 1)),
    )
    given = {"sensitive": "sex", "protected": "sex", "privileged": "m", "target": "hired", "positive": 1}
    return Schema(columns, **(given | roles))


def people(*, missing):
    """Return 600 people of whom some do not state their sex; all of those, and no others, are hired."""
    rows = np.arange(600)
    sex = np.where(rows % 2 == 0, "f", "m").astype(object)
    apart = rows % 10 == 0 if missing else rows < 0
    sex[apart] = None
    hired = np.where(apart, 1, (rows // 5 + rows % 3) % 2)
    return pd.DataFrame({"sex": sex, "skill": rows // 7 % 5, "hired": hired})


@pytest.mark.parametrize("kind", TASKS)
def test_nobody_is_compared_who_states_no_group(kind):
    """Otherwise the widest gap is often one with people of whom nothing is known in common."""
    plan = Plan(schema=schema(), task=TASKS[kind], repeats=2)
    results = run(plan, frame=people(missing=True), workers=1)

    assert results.facts.groups == ("f", "m")
    assert results.facts.not_stated == 60
    assert set(results.outcomes[0].groups) == {"f", "m"}
    assert not results.failures
    assert any("60 people do not state 'sex'" in note for note in results.facts.notes)
    gap = results.outcomes[0].measures["sp_gap"]
    rates = [results.outcomes[0].groups[group]["selection"] for group in ("f", "m")]
    assert gap == pytest.approx(abs(rates[0] - rates[1]))


@pytest.mark.parametrize("kind", TASKS)
def test_they_are_a_group_where_somebody_asks_for_it(kind):
    plan = Plan(schema=schema(missing_group=True), task=TASKS[kind], repeats=2)
    results = run(plan, frame=people(missing=True), workers=1)

    assert results.facts.groups == ("f", "m", "not stated")
    assert results.facts.not_stated == 0
    assert not results.failures


def test_they_are_counted_apart_on_the_page():
    results = run(
        Plan(schema=schema(), task=TASKS["collect"], repeats=2), frame=people(missing=True), workers=1
    )

    assert "not stated: 60" in results.report()


def test_nothing_is_said_where_everybody_states_a_group():
    facts = prepare(Plan(schema=schema(), task=TASKS["collect"]), frame=people(missing=False)).facts

    assert (facts.not_stated, facts.compared) == (0, None)
    assert not any("state" in note for note in facts.notes)


def test_values_outside_the_domain_that_are_pooled_stay_a_group():
    """Missing values cannot be told from them then, and a declared rule is not passed over."""
    declared = schema().with_columns(
        Column("sex", Domain.categorical(["f", "m"]), outside="other", nulls="other")
    )

    assert declared.not_stated is None
    assert prepare(Plan(schema=declared, task=TASKS["collect"]), frame=people(missing=True)).facts.groups == (
        "f",
        "m",
        "other",
    )


def test_disparities_of_labels_leave_them_out_on_both_sides():
    target, group = np.array([1, 1, 0, 1, 1], np.uint8), np.array([1, 1, 0, 0, 2])
    indicators = np.eye(3, dtype=np.uint8)[group]

    for reported in (group, indicators):
        found = label_disparities(target, group, privileged=1, reported=reported, groups=2)
        assert found == {"true": 0.5, "reported": 0.5}
    everybody = label_disparities(target, group, privileged=1, reported=None)
    assert everybody["true"] == pytest.approx(1 / 3)
    assert math.isnan(everybody["reported"])


def test_the_role_is_kept_in_files_and_only_where_it_is_set():
    asked = schema(missing_group=True)

    assert Schema.from_toml(asked.to_toml()) == asked
    assert "missing_group" not in schema().to_toml()
    assert asked.with_roles(missing_group=False) == schema()
    assert not asked.select(["skill", "hired"]).missing_group
    with pytest.raises(InvalidParameterError, match="'missing_group' parameter of Schema"):
        schema(missing_group="yes")
    with pytest.raises(SchemaError, match=r"roles\.missing_group"):
        Schema.from_toml(asked.to_toml().replace("missing_group = true", 'missing_group = "yes"'))
