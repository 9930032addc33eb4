"""What columns in the clear give away of a randomised one stands in the warnings, with a command."""

import numpy as np
import pandas as pd
import pytest

from evenhand.cli.study import change_schema
from evenhand.errors import SchemaError
from evenhand.schema import Column, Domain, Schema
from evenhand.study import CollectTask, DataSource, Plan, run
from evenhand.study.results.results import Results
from evenhand.study.run.prepare import prepare

DRAWS = np.random.default_rng(3)
RACE = DRAWS.choice(3, size=2_000, p=[0.8, 0.12, 0.08])
WHITE, BLACK, HISPANIC = (group == RACE for group in range(3))


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


def with_file(results):
    """Return results as of a file that has a name."""
    return Results(results.plan.with_(data=DataSource(path="people.csv")), results.facts, results.outcomes)


def left_out(results):
    """Return the commands of the page that leave columns out."""
    return [command.line for command in results.view().commands if "--drop" in command.line]


def test_it_stands_in_the_warnings_of_the_report(plan, frame):
    results = run(plan, frame=frame, workers=1)
    [note] = [note for note in results.facts.notes if note.kind == "privacy"]
    warned = [warning.text for warning in results.view().warnings]

    assert note.startswith("Randomising 'white' hides little: 'black' and 'hispan' in the clear tell it")
    assert any("'hispan' in the clear" in text for text in warned)


def test_what_is_fully_given_away_has_a_command_that_leaves_it_out(plan, frame, tmp_path):
    """The guarantee is empty until then, and nobody would know what to type."""
    run(plan, frame=frame, workers=1, out=tmp_path)
    results = with_file(Results.load(tmp_path))
    second = results.view().warnings[1]

    assert second.text.startswith("Randomising 'white' hides little: 'black' and 'hispan' in the clear tell")
    assert left_out(results) == ["evenhand audit --plan plan.toml --drop black,hispan"]


def test_the_command_of_the_action_leaves_the_columns_out_of_the_plan(plan):
    """A command that the program refuses helps nobody."""
    changed = change_schema(plan, {"drop": ["black,hispan"]})

    assert changed.schema.names == ("white", "hired")
    with pytest.raises(SchemaError, match="'white' has a role"):
        change_schema(plan, {"drop": ["white"]})


def test_advice_says_it_before_any_setting(plan, frame):
    """An empty guarantee comes before every setting, however wide the limits are."""
    advice = run(plan, frame=frame, workers=1).advise(max_gap=1.0)

    assert advice.recommendation is None
    assert advice.view.verdict == "First leave out black and hispan, or randomise them too."
    assert advice.view.state == "stop"


def test_a_partial_leak_stays_in_the_warnings_alone(plan, frame):
    some = frame.assign(black=frame["black"].where(DRAWS.random(2_000) < 0.7, 0))
    results = run(plan, frame=some, workers=1)

    assert results.facts.leaks
    assert left_out(with_file(results)) == []
    assert "in part" in results.view().warnings[1].text


def test_the_columns_named_for_leaving_out_are_none_with_a_role(plan, frame):
    """A target that tells the secret cannot be left out, and a command that is refused helps nobody."""
    schema = plan.schema.with_roles(target="black", positive=1)
    results = run(plan.with_(schema=schema), frame=frame, workers=1)

    assert "black" in results.facts.leaks[0].by
    assert left_out(with_file(results)) == ["evenhand audit --plan plan.toml --drop hispan"]


def test_it_is_gone_once_the_columns_are_randomised_too(plan, frame):
    safe = plan.with_(schema=plan.schema.with_roles(sensitive=["white", "black", "hispan"]))

    assert prepare(safe, frame=frame).facts.notes == ()
