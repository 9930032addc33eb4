"""Studies with survey weights, and of rows of which several are of one person."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from evenhand.errors import OutsideDomainError, PlanError, SchemaError
from evenhand.schema import Column, Domain, Schema
from evenhand.study import CollectTask, DecideTask, LearnTask, Plan, ReleaseTask
from evenhand.study.intake.opening import open_data
from evenhand.study.intake.setup import RoleOptions, set_up
from evenhand.study.run.prepare import prepare
from evenhand.study.tasks.shared.parts import parts
from evenhand.study.tasks.shared.protection import promise_of
from evenhand.study.tasks.shared.rows import _people_of

N = 400
I = np.arange(N)  # noqa: E741 - the number of each row
SEX, JOB = np.where(I % 3 == 0, "f", "m"), np.where((I * 7) % 11 < 5, "a", "b")
HIRED = np.where(6 + (SEX == "m") > (I * 5) % 13, "yes", "no")
WEIGHTS = 0.5 + (I % 7) / 2
FRAME = pa.table({"sex": SEX, "job": JOB, "hired": HIRED, "w": WEIGHTS, "id": I // 3})
PLAIN = Schema(
    [
        Column("sex", Domain.categorical(["f", "m"])),
        Column("job", Domain.categorical(["a", "b"])),
        Column("hired", Domain.categorical(["no", "yes"])),
    ],
    sensitive="sex",
    protected="sex",
    privileged="m",
    target="hired",
    positive="yes",
)
WEIGHTED = PLAIN.with_roles(weight="w")
BY_PERSON = PLAIN.with_roles(person="id")


def _first(plan, frame=FRAME):
    prepared = prepare(plan, frame=frame)
    return plan.task.execute(plan.cells()[0], plan=plan, prepared=prepared), prepared


@pytest.mark.parametrize("task", [CollectTask(["grr"], [1]), LearnTask(["dp"], [1])])
def test_measures_are_weighted_and_people_are_counted(task):
    plan = Plan(schema=WEIGHTED, task=task)
    weighted, prepared = _first(plan)
    plain, _ = _first(plan.with_(schema=PLAIN))
    equal, _ = _first(plan, FRAME.set_column(3, "w", pa.array(np.full(N, 2.5))))

    assert prepared.survey_weights.tolist() == WEIGHTS.tolist()
    assert weighted.measures["acc"] != plain.measures["acc"]
    assert equal.measures["acc"] == pytest.approx(plain.measures["acc"], rel=1e-12)
    assert equal.measures["sp_gap"] == pytest.approx(plain.measures["sp_gap"], rel=1e-12)
    for label in ("f", "m"):
        assert weighted.groups[label]["people"] == plain.groups[label]["people"]
        assert weighted.groups[label]["base_rate"] != plain.groups[label]["base_rate"]


def test_the_rate_of_a_group_is_the_weighted_share_of_its_test_rows():
    plan = Plan(schema=WEIGHTED, task=CollectTask(["grr"], [1]), seed=3)
    outcome, prepared = _first(plan)
    [(_, test)] = parts(prepared.target, test=plan.task.test, seed=3)
    women = test[SEX[test] == "f"]

    expected = WEIGHTS[women] @ (HIRED[women] == "yes") / WEIGHTS[women].sum()
    assert outcome.groups["f"]["base_rate"] == pytest.approx(expected, rel=1e-12)


def test_whose_rows_they_are_is_part_of_the_fingerprint():
    """If this is false, a study goes on where the same rows belong to other people, and trains on both."""
    schema = PLAIN.with_roles(person="id", rows_per_person=2)
    plan = Plan(schema=schema, task=LearnTask(["dp"], [1]))
    facts, again, other = (
        prepare(plan, frame=FRAME.set_column(4, "id", pa.array(people))).facts
        for people in (I // 2, I // 2, (I + 1) // 2)
    )

    assert facts.fingerprint == again.fingerprint != other.fingerprint


def test_weights_stand_among_notes_the_fingerprint_and_the_plan():
    plan = Plan(schema=WEIGHTED, task=CollectTask(["grr"], [1]))
    facts = prepare(plan, frame=FRAME).facts
    other = prepare(plan, frame=FRAME.set_column(3, "w", pa.array(WEIGHTS + 1))).facts

    assert "Rates and measures are weighted by 'w'; models are trained without." in map(str, facts.notes)
    assert "Not weighted: disparities of the labels, true, reported and tested." in map(str, facts.notes)
    assert facts.fingerprint != other.fingerprint
    assert Plan.from_toml(plan.to_toml()) == plan


@pytest.mark.parametrize(
    ("task", "kept"),
    [
        (CollectTask(["grr"], [1]), ()),
        (LearnTask(["plain+parity"], [1]), ("changed", "flipped", "fair_gap", "bound", "bound_95")),
    ],
)
def test_numbers_that_a_note_calls_not_weighted_are_the_same_without_weights(task, kept):
    found = {}
    for schema in (WEIGHTED, PLAIN):
        plan = Plan(schema=schema, task=task)
        prepared = prepare(plan, frame=FRAME)
        outcome = task.execute(plan.cells()[-1], plan=plan, prepared=prepared)
        told = f"Not weighted: {task.unweighted}." in map(str, prepared.facts.notes)
        found[schema.weight] = told, outcome
    (told, weighted), (told_without, plain) = found["w"], found[None]

    assert (told, told_without) == (True, False)
    assert weighted.data == plain.data
    assert [weighted.measures[name] for name in kept] == [plain.measures[name] for name in kept]
    assert weighted.measures["acc"] != plain.measures["acc"]


def test_weights_that_give_away_what_is_randomised_are_told():
    telling = np.where(SEX == "f", 1.0, 2.5)
    frame = FRAME.set_column(3, "w", pa.array(telling))
    prepared = prepare(Plan(schema=WEIGHTED, task=CollectTask(["grr"], [1])), frame=frame)

    assert [leak.by for leak in prepared.facts.leaks] == [("w",)]


@pytest.mark.parametrize("bad", [-1.0, None, float("nan"), float("inf")])
def test_bad_weights_are_refused_without_a_value(bad):
    weights = pa.array([bad, *WEIGHTS[1:].tolist()])
    with pytest.raises(OutsideDomainError, match="give every row a number of at least 0") as caught:
        prepare(
            Plan(schema=WEIGHTED, task=CollectTask(["grr"], [1])), frame=FRAME.set_column(3, "w", weights)
        )

    assert str(caught.value).startswith("Column 'w' holds weights, of which one is negative, missing or no")


def test_rows_that_are_drawn_keep_their_weights():
    prepared = prepare(Plan(schema=WEIGHTED, task=CollectTask(["grr"], [1])), frame=FRAME).subset(100)

    assert len(prepared.survey_weights) == 100


def test_one_row_of_each_person_trains_and_the_promise_is_to_people():
    plan = Plan(schema=BY_PERSON, task=LearnTask(["dp", "dp+parity"], [1], unit="replace one"))
    prepared = prepare(plan, frame=FRAME)

    assert prepared.facts.rows == len(np.unique(I // 3))
    assert "Of each 'id' one row drawn at random counts." in map(str, prepared.facts.notes)
    for cell in plan.cells()[1:3]:
        notes = [*map(str, plan.task.execute(cell, plan=plan, prepared=prepared).notes)]
        assert notes[0] == "one person"
        assert any("'id' are those of one person, of whom one row" in note for note in notes)
        assert "each person is one row" not in notes


def test_without_a_person_every_promise_assumes_one_row_each():
    plan = Plan(schema=PLAIN, task=LearnTask(["dp", "fermi", "dp+parity", "local"], [1], group_as_input=True))
    prepared = prepare(plan, frame=FRAME)

    for cell in plan.cells()[1:5]:
        outcome = plan.task.execute(cell, plan=plan, prepared=prepared)
        assert "each person is one row" in map(str, outcome.notes), str(cell.setting)
    setting = CollectTask(["grr"], [1]).settings().__next__()
    assert "each person is one row" in promise_of(setting, PLAIN).assumptions


def test_the_table_of_a_study_has_noise_for_all_rows_of_a_person():
    task = ReleaseTask(["sex", "job"], ["laplace"], [1], classify=False)
    errors = {}
    for most in (1, 3):
        plan = Plan(schema=BY_PERSON.with_roles(rows_per_person=most), task=task)
        prepared = prepare(plan, frame=FRAME)
        outcome = plan.task.execute(plan.cells()[1], plan=plan, prepared=prepared)
        errors[most] = outcome.measures["l1_error"]
        assert outcome.measures["claimed_epsilon"] == pytest.approx(1)

    assert errors[3] == pytest.approx(3 * errors[1], rel=0.05)


def test_a_column_has_one_use(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("sex,job\nf,1\nm,2\n")
    with pytest.raises(SchemaError, match="Column 'sex' has a role and holds weights or persons too"):
        set_up(open_data(path), RoleOptions(protected="sex", weight="sex"))


@pytest.mark.parametrize(
    ("schema", "task", "field"),
    [
        (
            BY_PERSON.with_roles(rows_per_person=2),
            CollectTask(["grr"], [1]),
            "schema.roles.rows_per_person",
        ),
        (BY_PERSON.with_roles(rows_per_person=101), LearnTask(["dp"], [1]), "schema.roles.rows_per_person"),
        (
            BY_PERSON.with_roles(rows_per_person=2, sensitive=["job"]),
            LearnTask(["local"], [1]),
            "schema.roles.rows_per_person",
        ),
        (
            BY_PERSON.with_roles(rows_per_person=2),
            ReleaseTask(["sex", "job"], ["suppression"], [1], classify=False),
            "schema.roles.rows_per_person",
        ),
        (WEIGHTED, DecideTask(rule="sex > 3"), "schema.roles.weight"),
        (BY_PERSON, DecideTask(rule="sex > 3"), "schema.roles.person"),
        (WEIGHTED, ReleaseTask(["sex", "job"], ["laplace"], [1], classify=False), "schema.roles.weight"),
    ],
)
def test_a_study_refuses_a_role_that_it_cannot_keep(schema, task, field):
    with pytest.raises(PlanError) as caught:
        prepare(Plan(schema=schema, task=task), frame=FRAME)

    assert caught.value.field == field


def test_nobody_trains_and_is_tested_where_several_rows_are_of_one_person():
    """A person on both sides would be recognised, and the test would flatter the model."""
    prepared = prepare(
        Plan(schema=BY_PERSON.with_roles(rows_per_person=2), task=LearnTask(["dp"], [1])), frame=FRAME
    )
    [(train, test)] = parts(prepared.target, test=0.25, seed=1, people=prepared.people)
    apart = parts(prepared.target, test=0.25, seed=1)[0]

    assert not set(prepared.people[train]) & set(prepared.people[test])
    assert sorted([*train, *test]) == list(range(prepared.facts.rows))
    assert set(prepared.people[apart[0]]) & set(prepared.people[apart[1]])  # as rows alone are split


@pytest.mark.parametrize("method", ["dp", "fermi", "dp+parity"])
def test_a_study_of_training_promises_to_people_with_noise_for_their_rows(method):
    """The twin: with one row of each the same epsilon needs far less noise."""
    outcomes = []
    for most in (1, 2):
        schema = BY_PERSON.with_roles(rows_per_person=most)
        plan = Plan(schema=schema, task=LearnTask([method], [3], unit="replace one", epochs=2))
        prepared = prepare(plan, frame=FRAME)
        outcomes.append(plan.task.execute(plan.cells()[1], plan=plan, prepared=prepared))
    one, two = outcomes
    notes = {note.kind: str(note) for note in two.notes if note.kind != "assumption"}
    assumed = [str(note) for note in two.notes if note.kind == "assumption"]

    assert two.measures["claimed_epsilon"] == one.measures["claimed_epsilon"] == 3
    assert two.measures["noise"] > 1.3 * one.measures["noise"]
    assert notes["unit"] == "one person"
    assert [*map(str, one.notes)][2] == (
        "how many rows are left, one of each person, is treated as public, and one person can change it"
    )
    assert assumed[0] == "how many rows all people have is treated as public, and one person can change it"
    assert sum("at most 2 rows drawn at random count" in text for text in assumed) == 1
    assert any("rows with the same 'id'" in text for text in assumed)
    assert not any("each person is one row" in text for text in assumed)


def test_people_are_numbered_in_the_order_of_their_ids_and_spelled_in_any_way():
    """If this is false a seed splits people otherwise than before, or one person trains and is tested."""
    schema = PLAIN.with_roles(person="id", rows_per_person=3)
    numbers = (I * 37) % 100
    ids = np.array([f"p{number}" for number in numbers])
    plain = _people_of(FRAME.set_column(4, "id", pa.array(ids)), schema, None)
    spelled = np.where(I % 200 < 100, numbers.astype(str), [f" 0{number}.0" for number in numbers])
    found = _people_of(FRAME.set_column(4, "id", pa.array(spelled)), schema, None)

    assert plain.tolist() == np.unique(ids, return_inverse=True)[1].tolist()
    assert len(np.unique(spelled)) == 200
    assert len(np.unique(found)) == len({*zip(found.tolist(), numbers.tolist(), strict=True)}) == 100
