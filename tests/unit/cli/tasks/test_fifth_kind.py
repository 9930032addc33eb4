"""A kind of study that is registered from outside has its sub-command, from plan to report."""

import json
import re

import pytest

from evenhand.cli.tasks.registry import TASK_COMMANDS, TaskEntry
from evenhand.study.plan.plan import Plan
from evenhand.study.tasks.registry import KINDS
from unit.cli.conftest import ROLES


@pytest.fixture(autouse=True)
def _registered(monkeypatch):
    monkeypatch.setitem(KINDS, "toy", "unit.cli.tasks._toy_task:ToyTask")
    monkeypatch.setitem(
        TASK_COMMANDS, "toy", TaskEntry("unit.cli.tasks._toy_task:ToyCommand", "What rounding costs.")
    )


def test_a_file_becomes_a_report_with_a_section_of_its_own(call, file, tmp_path):
    done = call("audit", "toy", file, *ROLES, "--workers", 1, "--out", "s")
    page = (tmp_path / "s" / "report.html").read_text("utf-8")

    assert done.exit_code == 0, done.output
    assert "What does rounding cost?" in done.stdout
    assert "How the share was rounded" in page
    assert "evenhand audit --plan plan.toml" in re.sub(r"<[^>]+>", "", page)
    assert Plan.load(tmp_path / "s" / "plan.toml").task.steps == 4


def test_its_plan_runs_again_without_naming_the_kind(call, file, tmp_path):
    call("audit", "toy", file, *ROLES, "--workers", 1, "--out", "s")
    again = call("audit", "--plan", "s/plan.toml", "--steps", 3, "--workers", 1, "--out", "t", "--json")
    resumed = call("audit", "--resume", "--out", "s", "--workers", 1, "--quiet")
    told = json.loads(again.stdout)

    assert (again.exit_code, resumed.exit_code) == (0, 0), again.output
    assert (told["command"], told["task"], told["people"], told["cells"]) == ("audit", "toy", 120, 2)
    assert told["summary"][1]["error"]["value"] == pytest.approx(abs(2 / 3 - 0.55), abs=0.02)
    assert Plan.load(tmp_path / "t" / "plan.toml").task.steps == 3


def test_without_an_entry_of_its_own_its_plans_run_all_the_same(call, file, tmp_path, monkeypatch):
    """A kind that was registered for Python alone has no options, and needs none to run a plan."""
    call("audit", "toy", file, *ROLES, "--workers", 1, "--out", "s")
    monkeypatch.delitem(TASK_COMMANDS, "toy")
    done = call("audit", "--plan", "s/plan.toml", "--workers", 1, "--out", "t", "--json")

    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["task"] == "toy"
    assert (tmp_path / "t" / "report.html").read_bytes() == (tmp_path / "s" / "report.html").read_bytes()


def test_help_lists_it_and_shows_its_options(call):
    assert "toy      What rounding costs." in call("audit", "--help").stdout
    assert "--steps N  Steps of the rounding. [4]" in call("audit", "toy", "--help").stdout


def test_an_option_that_its_plan_says_is_refused(call, file):
    call("audit", "toy", file, *ROLES, "--workers", 1, "--out", "s")
    done = call("audit", "--plan", "s/plan.toml", "--target", "job", "--out", "t")

    assert done.exit_code == 2
    assert "--target cannot be given with a plan" in done.stderr
