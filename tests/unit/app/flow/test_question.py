"""The question page without a browser: the plan, its cost, its promise, and the command that repeats it."""

import shlex
import shutil
import subprocess
import sys
from fractions import Fraction

import pytest

from evenhand.app.flow.data import choose_dataset
from evenhand.app.flow.opening import open_written_plan
from evenhand.app.flow.question import ask, make_plan, write_plan
from evenhand.app.state.record import StudyRecord
from evenhand.study.plan.plan import Plan
from evenhand.study.results.results import Results

pytestmark = pytest.mark.figures  # real processes, which take a while

PROGRAM = "from evenhand.cli import main; main()"
KINDS = ["collect", "release", "learn", "decide"]


@pytest.mark.parametrize("kind", KINDS)
def test_the_shown_command_repeats_the_plan_and_its_numbers(study, tmp_path, kind):
    """If this is false, what somebody saw in the workbench cannot be checked by anybody else."""
    made = study(kind)
    question = ask(made.folder, made.record)
    mine = made.run()
    home = tmp_path / "home"
    home.mkdir()
    label = made.record.data.label
    shutil.copy(made.folder / "data" / made.record.data.file, home / label)
    if (made.folder / "schema.toml").exists():
        shutil.copy(made.folder / "schema.toml", home)
    words = shlex.split(question.command)[1:]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *words, "--out", "study", "--workers", "1", "--quiet"],
        cwd=home, capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
    theirs = Results.load(home / "study")
    assert mine.canonical() == theirs.canonical()
    assert (home / "study" / "plan.toml").read_text().replace(f"../{label}", label) == (
        made.folder / "study" / "plan.toml"
    ).read_text()
    assert (home / "study" / "cells.csv").read_bytes() == (made.folder / "study" / "cells.csv").read_bytes()


@pytest.mark.parametrize("kind", KINDS)
def test_the_shown_plan_is_the_one_that_runs_and_names_the_persons_own_file(study, kind):
    """If this is false, files that people take along name something that only the workbench knows."""
    made = study(kind)
    question = ask(made.folder, made.record)
    write_plan(made.folder, made.record)
    written = (made.folder / "plan.toml").read_text()
    plan, opened = open_written_plan(made.folder)

    assert question.error == ""
    assert written == question.plan_toml
    assert made.record.data.file not in written
    assert str(made.folder) not in question.plan_toml + question.command + question.python
    assert plan == make_plan(made.folder, made.record).plan
    assert plan.data.label == made.record.data.label
    assert opened.rows == (40 if kind == "decide" else 400)
    compile(question.python, "study.py", "exec")


def test_the_question_says_runs_time_promise_and_odds(study):
    made = study(form={"collect": {"protocols": ["grr"], "epsilons": "0.5, 1, 12", "repeats": "3"}})
    question = ask(made.folder, made.record)

    assert question.runs == (
        "3 settings and the unprotected one, 3 repeats each: 12 runs. Remedies: GRR, combined; "
        "OPTIMAL, optimal split; GRR, optimal split, parity: 9 runs; "
        "what helps most is run again on fresh draws"
    )
    assert question.count == 21
    assert "by at most a factor of 2.72 (epsilon = 1" in question.promise
    assert "job and hired" in question.promise_more
    assert [odds.epsilon for odds in question.odds] == ["0.5", "1", "12"]
    assert "at most a factor of 2.7" in question.odds[1].words
    assert question.odds[2].tone == "bad"
    assert question.odds[0].place < question.odds[1].place < question.odds[2].place
    assert "rule of thumb" in question.minutes_words
    assert question.seconds[0] < question.seconds[1]


def test_what_lacks_is_said_with_the_page_where_it_is_answered(study):
    made = study(roles={})
    question = ask(made.folder, made.record)

    assert question.error.startswith("Say on the page before which column is predicted")
    assert question.field == "roles.target"
    assert question.fields


@pytest.mark.parametrize(
    ("kind", "answers", "field"),
    [
        ("collect", {"epsilons": "0"}, "epsilons"),
        ("collect", {"epsilons": "much"}, "epsilons"),
        ("collect", {"repeats": "two"}, "repeats"),
        ("release", {"columns": ["race"]}, "columns"),
        ("release", {"mechanisms": ["k-anonymity"]}, "quasi"),
        ("release", {"columns": ["sex", "race"], "threshold": "5", "mechanisms": ["laplace"]}, "threshold"),
        ("learn", {"gap": "3"}, "gap"),
        ("decide", {"follows": "right", "rule": ""}, "rule"),
        ("decide", {"follows": "right", "rule": "rich > 3"}, "rule"),
        ("decide", {"follows": "money", "count": ""}, "count"),
        ("decide", {"follows": "money", "allot": "people + poor"}, "allot"),
    ],
)
def test_an_answer_that_cannot_be_is_refused_at_its_question(study, kind, answers, field):
    made = study(kind)
    question = ask(made.folder, made.change(form={kind: answers}).record)

    assert question.error
    assert question.field == field
    assert question.fields


def test_a_rule_that_cannot_be_read_is_marked_at_the_place(study):
    made = study("decide")
    rule = {"follows": "right", "rule": "poor/people >> 0.2"}
    question = ask(made.folder, made.change(form={"decide": rule}).record)

    assert (question.field, question.place) == ("rule", 14)
    assert "expected a number" in question.error


def test_a_built_in_data_set_needs_no_schema_file(tmp_path):
    record = StudyRecord(id="0" * 16, name="", created=0.0).with_(**choose_dataset("causal"))
    question = ask(tmp_path, record)

    assert question.error == ""
    assert question.command == "evenhand audit --plan plan.toml"
    assert Plan.from_toml(question.plan_toml).data.options == {"n": 10_000}

    plain = record.with_(**choose_dataset("counties"))
    assert ask(tmp_path, plain).command.startswith("evenhand audit decide counties --rule ")


def test_crossed_groups_need_no_privileged_one(study):
    made = study()
    roles = {**made.record.roles, "protected": ["sex", "race"], "privileged": None}
    question = ask(made.folder, made.change(roles=roles).record)

    assert question.error == ""
    assert Plan.from_toml(question.plan_toml).schema.protected == ("sex", "race")


def test_epsilons_stay_exact(study):
    made = study(form={"collect": {"protocols": ["grr"], "epsilons": "1/3"}})
    plan = make_plan(made.folder, made.record).plan

    assert plan.task.epsilons == (Fraction(1, 3),)
    assert "--epsilon 1/3" in ask(made.folder, made.record).command
