"""Files of people, a way to run commands, and a study that is done already."""

import csv
import math
import types

import pytest
from typer.testing import CliRunner

from evenhand.cli.app import app
from evenhand.cli.tasks.base import TaskCommand
from evenhand.cli.tasks.collect import CollectCommand
from evenhand.cli.tasks.decide import DecideCommand
from evenhand.study.plan.plan import Plan
from evenhand.study.results.results import Results
from evenhand.study.tasks.collect.task import CollectTask
from unit._study_results import facts, outcome

ROLES = ["--target", "hired", "--positive", "yes", "--protected", "sex", "--privileged", "male"]


def people(path, rows=120):
    """Write a small file in which everything has a use."""
    with path.open("w", newline="", encoding="utf-8") as file:
        lines = csv.writer(file)
        lines.writerow(["id", "sex", "age", "job", "hired"])
        for row in range(rows):
            sex = "male" if row % 2 else "female"
            hired = "yes" if row // 2 % 10 < (7 if row % 2 else 4) else "no"
            lines.writerow([row, sex, 20 + row % 40, ("clerk", "nurse", "cook")[row % 3], hired])
    return path


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    """Work in an empty folder, with a terminal of no colour and no width of its own."""
    monkeypatch.chdir(tmp_path)
    for name in ("FORCE_COLOR", "COLUMNS", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def file(tmp_path):
    return people(tmp_path / "people.csv")


@pytest.fixture
def call():
    """Return a function that runs a command line."""

    def run(*arguments, **options):
        return CliRunner().invoke(app, [str(each) for each in arguments], prog_name="evenhand", **options)

    return run


def finished(plan=None, failures=(), groups=("women", "men"), *, undefined=False):
    """Return results whose numbers are made up: each protected cell loses a point."""
    plan = plan or Plan(task=CollectTask(["grr", "oue"], ["1/2", 1]), repeats=3)
    made = []
    for at, cell in enumerate(plan.cells()):
        loss = 0.01 * cell.setting.is_protected + 0.001 * (at % 2) + 0.0001 * (at * at % 7)
        made.append(
            outcome(cell, groups=groups, acc=0.8 - loss, sp_gap=math.nan if undefined else 0.3 + loss)
        )
    for place, failure in failures:
        made[place] = failure(made[place].cell)
    return Results(plan, facts(groups), made)


@pytest.fixture
def fake(monkeypatch):
    """Put a run and a page in place of the real ones; return what the run was called with.

    The results are those of a collection, so that studies of other kinds end after the run.
    """
    calls = []

    def run(plan, **options):
        calls.append({"plan": plan, **options})
        options["out"].mkdir(parents=True, exist_ok=True)
        plan.save(options["out"] / "plan.toml")
        options["progress"](types.SimpleNamespace(done=0, failed=0, total=4))
        options["progress"](types.SimpleNamespace(done=4, failed=0, total=4))
        return finished()

    quick = types.SimpleNamespace(workers=1, seconds=lambda rows=None: 42, rows_within=lambda _: None)
    monkeypatch.setattr("evenhand.cli.study.duration", lambda *_, **__: quick)
    monkeypatch.setattr("evenhand.cli.study.run_cells", run)
    monkeypatch.setattr(DecideCommand, "write_more", lambda *_, **__: {})
    finish = TaskCommand.finish

    def finish_what_was_collected(self, terminal, results, **options):
        if isinstance(self, CollectCommand):
            finish(self, terminal, results, **options)

    monkeypatch.setattr(TaskCommand, "finish", finish_what_was_collected)
    monkeypatch.setattr(Results, "report", lambda self, path, **_: path.write_text("page"), raising=False)
    monkeypatch.setattr("evenhand.study.tasks.shared.side_by_side._draw", lambda *_: ())  # for the page alone
    monkeypatch.setattr(Results, "to_csv", lambda self, path, **_: path.write_text("cells"), raising=False)
    return calls
