"""What columns in the clear give away of a randomised one is measured on people who were held out."""

import time

import numpy as np
import pandas as pd
import pytest

from evenhand.cli.tasks.collect import CollectCommand
from evenhand.errors import SchemaError
from evenhand.schema import Column, Domain, Schema
from evenhand.study import CollectTask, DataSource, Plan, run
from evenhand.study.page.page import answers
from evenhand.study.plan.facts import Leak
from evenhand.study.results.results import Results
from evenhand.study.run.prepare import prepare
from evenhand.study.tasks.collect.leakage import leak_of

DRAWS = np.random.default_rng(3)
RACE = DRAWS.choice(3, size=2_000, p=[0.8, 0.12, 0.08])
WHITE, BLACK, HISPANIC = (group == RACE for group in range(3))
NOISE = DRAWS.integers(10, size=(2_000, 8))


def beside(**more):
    return {**{f"noise {at}": NOISE[:, at] for at in range(8)}, **more}


def test_columns_that_determine_the_secret_are_named_with_how_often_they_tell_it():
    """An audit that does not say this lets people think that randomising the column hides it."""
    found = leak_of("white", WHITE, beside(black=BLACK, hispan=HISPANIC))

    assert set(found.by) == {"black", "hispan"}
    assert found.guessed == 1.0
    assert found.base == pytest.approx(0.8, abs=0.03)


@pytest.mark.parametrize(
    "clear",
    [
        beside(),
        beside(person=np.arange(2_000)),
        {f"wide {at}": DRAWS.integers(1_000, size=2_000) for at in range(40)},
    ],
    ids=["noise", "identifier", "unique combinations"],
)
def test_combinations_that_one_person_has_are_no_leakage(clear):
    """Nearly everybody is unique in many columns; that tells nothing about somebody who was not seen."""
    assert leak_of("white", WHITE, clear) is None


def test_the_share_is_that_of_people_who_were_held_out():
    """On the rows it learnt from, a tree is right more often than it will ever be again."""
    half = np.where(DRAWS.random(2_000) < 0.5, WHITE, DRAWS.random(2_000) < 0.8)
    found = leak_of("white", WHITE, beside(hint=half))

    assert found is None or found.guessed < 0.95


def test_a_value_among_many_can_leak_too():
    towns = DRAWS.integers(60, size=2_000)
    found = leak_of("town", towns, {"area": towns // 2})

    assert found.by == ("area",)
    assert 0.05 < found.guessed < 0.5


def test_few_people_tell_nothing():
    assert leak_of("white", WHITE[:90], {"white too": WHITE[:90]}) is None


def test_a_wide_file_costs_little():
    rows = 5_000
    clear = {f"column {at}": DRAWS.integers(5, size=rows) for at in range(1_000)}
    began = time.perf_counter()
    leak_of("secret", DRAWS.integers(4, size=rows), clear)

    assert time.perf_counter() - began < 20


# --- where it is said -----------------------------------------------------------------------------


@pytest.fixture
def plan():
    bit = Domain.integers(0, 1)
    schema = Schema(
        [Column(name, bit) for name in ("white", "black", "hispan", "hired")],
        sensitive="white", protected="white", privileged=1, target="hired", positive=1,
    )  # fmt: skip
    return Plan(schema=schema, task=CollectTask("grr", 1, model="logistic"), repeats=2)


@pytest.fixture
def frame():
    hired = DRAWS.integers(2, size=2_000)
    return pd.DataFrame({"white": WHITE, "black": BLACK, "hispan": HISPANIC, "hired": hired}).astype(int)


def test_it_stands_in_the_warnings_of_the_report(plan, frame):
    results = run(plan, frame=frame, workers=1)
    [note] = [note for note in results.facts.notes if note.kind == "privacy"]
    warned = [note.text for note in plan.task.read(results).notes() if note.tone == "warn"]

    assert note.startswith("From 'black' and 'hispan' in the clear 'white' is guessed right for 100.0%")
    assert any("'hispan' in the clear" in text for text in warned)


def test_what_is_fully_given_away_stands_first_in_the_answers(plan, frame, tmp_path):
    """An empty guarantee comes before its cost, and the action says which columns to leave out."""
    run(plan, frame=frame, workers=1, out=tmp_path)
    results = Results.load(tmp_path)
    cost, _, choice = answers(results)

    assert cost.finding == (
        "Randomising white hides little: black and hispan in the clear tell it for 100.0% of people."
    )
    assert "saying" in cost.evidence  # what it costs stays below
    assert choice.finding.startswith("First leave out black and hispan (--drop), or randomise them too")
    assert choice.action == "evenhand audit collect --plan plan.toml --drop black,hispan"
    assert "Bis dahin" in answers(results, language="de")[2].evidence


def test_the_command_of_the_action_leaves_the_columns_out_of_the_plan(plan):
    """A command that the program refuses helps nobody."""
    typed = dict.fromkeys(("protocols", "epsilons", "splits", "strategies", "model", "encoder"))
    changed = CollectCommand().change_plan(plan, typed | {"drop": ["black,hispan"]})

    assert "drop" in CollectCommand.applied
    assert changed.schema.names == ("white", "hired")
    with pytest.raises(SchemaError, match="'white' has a role"):
        CollectCommand().change_plan(plan, typed | {"drop": ["white"]})


def test_advice_says_it_before_any_setting(plan, frame):
    """An empty guarantee comes before every setting; the action asks again without the columns."""
    results = run(plan, frame=frame, workers=1)
    answer = results.advise().answer
    named = Results(plan.with_(data=DataSource(path="people.csv")), results.facts, results.outcomes)

    assert answer.finding == "First leave out black and hispan (--drop), or randomise them too (--sensitive)."
    assert answer.evidence.startswith("In the clear they tell white for 100.0% of people, whatever ε")
    assert answer.action == ""
    assert named.advise(max_gap=0.1, folder="advice").answer.action == (
        "evenhand advise people.csv --schema advice/schema.toml --drop black,hispan --out advice-again "
        "--max-gap 0.1"
    )


@pytest.mark.parametrize(
    ("guessed", "base", "is_full"),
    [(1.0, 0.8, True), (0.96, 0.5, True), (0.94, 0.5, False), (0.97, 0.9, False), (0.99, 0.97, False)],
)
def test_a_leak_is_full_if_next_to_no_error_is_left(guessed, base, is_full):
    """Of a value that 97 % share, 99 % right still leaves a third of the others hidden."""
    assert Leak("white", ("black",), guessed, base).is_full is is_full


def test_a_partial_leak_stays_in_the_warnings_alone(plan, frame):
    some = frame.assign(black=frame["black"].where(DRAWS.random(2_000) < 0.7, 0))
    results = run(plan, frame=some, workers=1)

    assert results.facts.leaks
    assert not any("in the clear" in answer for answer in answers(results))


def test_the_columns_named_for_leaving_out_are_none_with_a_role(plan, frame):
    """A target that tells the secret cannot be left out, and a command that is refused helps nobody."""
    schema = plan.schema.with_roles(target="black", positive=1)
    results = run(plan.with_(schema=schema), frame=frame, workers=1)
    action = answers(results)[2].action

    assert "black" in results.facts.leaks[0].by
    assert action == "evenhand audit collect --plan plan.toml --drop hispan"


def test_it_is_gone_once_the_columns_are_randomised_too(plan, frame):
    safe = plan.with_(schema=plan.schema.with_roles(sensitive=["white", "black", "hispan"]))

    assert prepare(safe, frame=frame).facts.notes == ()
