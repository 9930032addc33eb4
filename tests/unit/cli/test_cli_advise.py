"""evenhand advise: the same roles, a small study, and what follows under limits."""

import json
from importlib import import_module

import pytest

from unit._study_results import failed
from unit.cli.conftest import ROLES, finished

WHOLE = [*ROLES, "--sensitive", "sex", "--workers", 1]


@pytest.fixture(autouse=True)
def _no_profile(monkeypatch):
    """The made-up results are of other people than the file holds."""
    monkeypatch.setattr(import_module("evenhand.study.profile"), "profile", lambda prepared: None)


def test_a_small_study_is_run_and_the_advice_shown_with_its_caveat(call, file, fake):
    done = call("advise", file, *WHOLE, "--max-gap", 0.1)

    plan = fake[0]["plan"]
    assert done.exit_code == 0
    assert plan.repeats == 8
    assert str(fake[0]["out"]) == "advice"
    assert "No recommendation." in done.stdout
    assert "not covered by the guarantee" in " ".join(done.stdout.split())
    assert "Report   advice/report.html" in done.stdout


def test_the_largest_epsilon_limits_what_is_tried(call, file, fake):
    call("advise", file, *WHOLE, "--epsilon", 1.5, "--repeats", 3, "--rows", 100, "--seed", 4)

    plan = fake[0]["plan"]
    assert [float(each) for each in plan.collect.epsilons] == [0.5, 1, 1.5]
    assert (plan.repeats, plan.data.rows, plan.seed) == (3, 100, 4)


def test_the_advice_for_machines(call, file, fake):
    told = json.loads(call("advise", file, *WHOLE, "--json").stdout)

    assert told["command"] == "advise"
    assert told["recommendation"] is None
    assert told["caveats"]
    assert told["files"]["plan"].endswith("advice/plan.toml")


def test_a_schema_file_and_failed_cells(call, file, fake, monkeypatch):
    call("audit", file, *WHOLE)
    fake[0]["plan"].schema.save("schema.toml")
    monkeypatch.setattr(
        import_module("evenhand.study.run"), "run", lambda plan, **_: finished(failures=[(1, failed)])
    )
    (file.parent / "advice").mkdir()
    done = call("advise", file, "--schema", "schema.toml", "--quiet")

    assert done.exit_code == 1
    assert "learnt from the rows" not in done.stderr


def test_missing_roles_show_the_command_that_was_meant(call, file):
    assert "evenhand advise people.csv" in call("advise", file.name).stderr
