"""Several protected columns on the command line: how they are typed, and what is refused in one sentence."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv
import pytest

from evenhand.study import Plan

ROLES = ["--target", "hired", "--positive", "yes", "--sensitive", "sex,race"]
FAST = ["--epsilon", "1", "--protocol", "grr", "--repeats", "1", "--workers", "1", "--yes"]


@pytest.fixture
def file(tmp_path):
    draws = np.random.default_rng(5)
    people = pa.table(
        {
            "sex": draws.choice(["female", "male"], 400),
            "race": draws.choice(["black", "white"], 400),
            "number": [str(place) for place in range(400)],
            "age": draws.integers(18, 80, 400),
            "predicted": draws.integers(0, 2, 400),
            "hired": draws.choice(["no", "yes"], 400),
        }
    )
    csv.write_csv(people, tmp_path / "people.csv")
    return tmp_path / "people.csv"


def typed(call, file, *words):
    return call("audit", "collect", file, *ROLES, *FAST, "--drop", "number,predicted", *words)


def test_columns_with_commas_are_crossed_and_stand_in_the_plan(call, file, fake):
    done = typed(call, file, "--protected", "sex,race", "--privileged", "male, white", "--pool-below", "9")
    plan = fake[0]["plan"]

    assert done.exit_code == 0, done.output
    assert "protected sex × race, privileged male, white" in " ".join(done.stderr.split())
    assert plan.schema.protected == ("sex", "race")
    assert plan.schema.privileged == ("male", "white")
    assert plan.schema.pool_below == 9
    assert Plan.from_toml(plan.to_toml()) == plan


def test_no_group_need_be_privileged(call, file, fake):
    done = typed(call, file, "--protected", "sex,race")

    assert done.exit_code == 0, done.output
    assert "the largest difference of any two is compared" in " ".join(done.stderr.split())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--protected", "sex,hired"], "is the target and protected too"),
        (["--protected", "sex,sex"], "hold one twice"),
        (["--protected", "sex,rase"], "did you mean 'race'"),
        (["--protected", "sex,race", "--privileged", "male"], "one value each of 'sex' and 'race'"),
        (["--protected", "sex,race", "--privileged", "male,green"], "is not one of column 'race'"),
        (["--protected", "sex,race", "--pool-below", "0"], "--pool-below must be a whole number"),
    ],
)
def test_what_does_not_fit_is_one_sentence(call, file, fake, words, message):
    done = typed(call, file, *words)

    assert done.exit_code == 2
    assert message in " ".join(done.stderr.split())
    assert "Traceback" not in done.output
    assert not fake


def test_predictions_are_measured_by_crossing(call, file):
    words = ["--prediction", "predicted", "--protected", "sex,race", "--privileged", "male,white"]
    done = call("measure", file, *words, "--json", "--out", "m.html")
    found = json.loads(done.stdout)

    assert done.exit_code == 0, done.output
    assert set(found["margins"]) == {"sex", "race"}
    assert found["reference"] == "male, white"
    assert len(found["groups"]) == 4


def test_the_release_of_a_table_needs_all_its_protected_columns(call, file):
    table = [
        "audit",
        "release",
        file,
        "--columns",
        "sex,hired",
        "--protected",
        "sex,race",
        *FAST[:2],
        "--yes",
    ]
    done = call(*table)

    assert done.exit_code == 2
    assert "--protected names race, which is not in --columns" in " ".join(done.stderr.split())


def test_a_schema_is_drafted_with_crossed_groups(call, file, tmp_path):
    done = call("schema", file, "--protected", "sex,race", "--yes", "--out", "s.toml")

    assert done.exit_code == 0, done.output
    assert 'protected = ["sex", "race"]' in (tmp_path / "s.toml").read_text()
