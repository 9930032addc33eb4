"""evenhand audit release: from a file to a report on who is lost, in one command."""

import json
import os
import re
import shlex
from html import unescape
from pathlib import Path

import pyarrow.csv as csv
import pytest

from evenhand.schema import Column, Domain, Schema
from evenhand.study.plan.plan import Plan
from evenhand.study.results.results import Results

TABLE = ["--columns", "sex,job,hired", "--protected", "sex"]
QUICK = ["--repeats", "2", "--workers", "1", "--epsilon", "1", "--out", "study"]
MODEL = ["--target", "hired", "--positive", "yes", "--privileged", "male"]


@pytest.fixture
def no_page(monkeypatch):
    """Leave the drawing out, which has tests of its own."""
    monkeypatch.setattr(Results, "report", lambda self, path, **_: path.write_text("page"))


@pytest.mark.usefixtures("no_page")
def test_a_table_is_studied_and_what_came_of_it_is_shown(call, file, tmp_path):
    """The whole way, without a schema and without a model."""
    found = call(
        "audit", "release", file, *TABLE, *QUICK, "--mechanism", "laplace,suppression", "--threshold", "4"
    )
    plan = Plan.load(tmp_path / "study" / "plan.toml")

    assert found.exit_code == 0, found.output
    assert [each.name for each in plan.task.mechanisms] == ["laplace", "suppression"]
    assert plan.task.mechanisms[1].parameters == {"threshold": 4}
    assert not plan.task.classify
    assert "no model is trained" in " ".join(found.stderr.split())
    said = " ".join(found.stdout.split())
    assert "If we publish a table of sex, job and hired with noise, who is miscounted?" in said
    assert "Every group has cells that are far off" in said
    assert (tmp_path / "study" / "cells.csv").read_text().startswith('"mechanism"')


@pytest.mark.usefixtures("no_page")
def test_with_a_target_a_model_is_trained_and_a_plan_runs_again(call, file):
    words = [*TABLE, *MODEL, *QUICK, "--mechanism", "laplace", "--post", "nonnegative"]
    first = call("audit", "release", file, *words, "--json")
    told = json.loads(first.stdout)
    again = call("audit", "--plan", "study/plan.toml", "--out", "two", "--workers", "1", "--json")
    more = call(
        "audit", "--plan", "study/plan.toml", "--out", "three", "--workers", "1", "--epsilon", "2", "--json"
    )

    assert first.exit_code == again.exit_code == more.exit_code == 0, more.output
    assert "acc" in told["summary"][1]
    assert {row["group"] for row in told["answer"]["effects"]} == {"", "female", "male"}
    assert json.loads(again.stdout)["summary"] == told["summary"]
    assert {row["epsilon"] for row in json.loads(more.stdout)["summary"]} == {None, "2"}
    assert [row["setting"] for row in told["summary"]][2] == "Laplace noise, post=none, ε = 1"


@pytest.mark.usefixtures("no_page")
@pytest.mark.parametrize(
    "more", [[], ["--threshold", "3", "--unit", "add or remove one", "--post", "integral"]]
)
def test_the_command_that_a_study_ends_with_publishes_the_same_table(call, file, tmp_path, monkeypatch, more):
    """A command that cannot be typed as it stands helps nobody."""
    monkeypatch.chdir(tmp_path)
    words = [*TABLE, *QUICK, "--mechanism", "laplace,thresholded-laplace" if more else "laplace", *more]
    told = json.loads(call("audit", "release", file.name, *words, "--json").stdout)
    [typed] = told["next"]
    done = call(*shlex.split(typed)[1:])

    assert done.exit_code == 0, done.output
    assert typed.startswith("evenhand release people.csv --schema study/schema.toml --columns sex,job,hired")
    assert csv.read_csv(shlex.split(typed)[-1]).num_rows == 2 * 3 * 2


@pytest.mark.figures
@pytest.mark.parametrize("stand", [".", "elsewhere"])
def test_the_command_is_typed_where_people_stand_and_on_the_page_beside_it(
    call, file, tmp_path, monkeypatch, stand
):
    """A page that names a file without its folder sends people looking, or to another file."""
    rows = tmp_path / "rows"
    rows.mkdir()
    moved = file.rename(rows / "people.csv")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / stand)
    words = [*TABLE, *QUICK, "--mechanism", "laplace"]
    done = call("audit", "release", os.path.relpath(moved), *words, "--json")
    [typed] = json.loads(done.stdout)["next"]
    page = Path("study/report.html").read_text(encoding="utf-8")
    [marked] = re.findall(r">(evenhand release .*?)</code>", page, re.DOTALL)
    written = unescape(re.sub("<.*?>", "", marked))
    tested = Results.load("study").facts.schema

    for line, folder in ((typed, Path()), (written, Path("study"))):
        monkeypatch.chdir(folder)
        assert call(*shlex.split(line)[1:]).exit_code == 0, line
        terms = json.loads(Path("people-laplace.csv.json").read_text())
        assert terms["schema_sha256"] == tested.fingerprint


@pytest.mark.usefixtures("no_page")
def test_the_command_that_tests_a_guarantee_can_be_typed(call, file, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = [*TABLE, "--repeats", "2", "--workers", "1", "--out", "study", "--mechanism", "suppression"]
    [typed] = json.loads(call("audit", "release", file.name, *words, "--json").stdout)["next"]
    done = call(*shlex.split(typed)[1:], "--workers", "1", "--json")

    assert "--plan study/plan.toml" in typed
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)["answer"]
    assert told["page"] == "Laplace noise, ε = 1"
    assert told["state"] != "stop"


def test_mechanisms_are_chosen_by_whether_others_know_columns(call, file, fake):
    """Without quasi-identifiers nothing that needs them is tried by default."""
    call("audit", "release", file, *TABLE, *QUICK)
    call(
        "audit",
        "release",
        file,
        *TABLE,
        *QUICK[:-1],
        "two",
        "--quasi",
        "sex",
        "--bound",
        "500",
        "--unit",
        "replace one",
    )
    plain, known = (each["plan"].task for each in fake)

    assert "k-anonymity" not in [each.name for each in plain.mechanisms]
    assert "k-anonymity" in [each.name for each in known.mechanisms]
    assert known.bound == 500


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "--columns (what is crossed in the table, with commas) and --protected ("),
        (["--columns", "sex,jb"], "did you mean 'job'"),
        (["--columns", "sex,job"], "--protected (the column of the table whose groups are compared) must be"),
        (["--columns", "job", "--protected", "sex"], "not in --columns"),
        ([*TABLE, "--mechanism", "laplac"], "did you mean 'laplace'"),
        ([*TABLE, "--mechanism", "k-anonymity"], "--quasi is missing"),
        ([*TABLE, "--target", "hired"], "--positive and --privileged must be given"),
        ([*TABLE, *MODEL[:2], "--positive", "maybe", "--privileged", "male"], "Values of hired: no, yes"),
        ([*TABLE, "--protocol", "grr"], "No such option: --protocol"),
        ([*TABLE, "--epsilon", "0"], "--epsilon must be"),
        ([*TABLE, "--unit", "one row"], "--unit must be one of 'replace one', 'add or remove one'"),
        ([*TABLE, "--post", ","], "--post is empty"),
        ([*TABLE, "--compare-post", "nonnegativ"], "--compare-post must be 'none', or steps of nonnegative"),
        ([*TABLE, "--drop", "job"], "No such option: --drop"),
        ([*TABLE, "--fraction", "0.1"], "None of the chosen mechanisms takes --fraction"),
        ([*TABLE, "--mechanism", "laplace", "--threshold", "4"], "it belongs to suppression, noisy-supp"),
        (
            [*TABLE, "--mechanism", "suppression", "--epsilon", "1"],
            "None of the chosen mechanisms takes --epsilon",
        ),
    ],
)
def test_wrong_use_is_told_and_ends_with_two(call, file, words, said):
    found = call("audit", "release", file, *words)

    assert found.exit_code == 2
    assert said in " ".join(found.stderr.split())


def test_a_plan_of_a_release_refuses_what_it_says_already(call, file, fake):
    call("audit", "release", file, *TABLE, *QUICK)
    path = "study/plan.toml"
    wrong = [
        (["--columns", "sex"], "cannot be given with a plan"),
        (["--model", "logistic"], "No such option: --model"),
    ]
    for words, said in wrong:
        found = call("audit", "--plan", path, "--out", "other", *words)
        assert found.exit_code == 2
        assert said in " ".join(found.stderr.split())
    changed = call(
        "audit", "--plan", path, "--out", "other", "--mechanism", "suppression", "--threshold", "2"
    )

    assert changed.exit_code == 0
    assert fake[-1]["plan"].task.mechanisms[0].parameters == {"threshold": 2}


def test_a_parameter_for_no_mechanism_is_refused_with_a_plan_too(call, file, fake):
    """To pass it over would run the plan's own threshold under another name."""
    call("audit", "release", file, *TABLE, *QUICK, "--mechanism", "suppression,laplace")
    fake[0]["plan"].save("plan.toml")
    alone = call("audit", "--plan", "plan.toml", "--out", "two", "--threshold", "3")
    named = call("audit", "--plan", "plan.toml", "--out", "two", "--threshold", "3", "--mechanism", "laplace")

    assert (alone.exit_code, named.exit_code) == (2, 2)
    changed = "--threshold changes no mechanism of a plan unless --mechanism names one"
    assert changed in " ".join(alone.stderr.split())
    assert "None of the chosen mechanisms takes --threshold" in " ".join(named.stderr.split())


def test_a_file_of_no_people_is_refused(call, tmp_path):
    (tmp_path / "empty.csv").write_text("sex,job,hired\n")

    assert call("audit", "release", "empty.csv", *TABLE).exit_code == 2


@pytest.mark.parametrize("columns", ["sex,job", "job,sex,hired"])
def test_a_schema_may_have_roles_outside_the_table(call, file, fake, columns):
    """A schema describes a whole file, a table some of its columns; without a target no model is trained."""
    values = {"sex": ["female", "male"], "job": ["clerk", "nurse", "cook"], "hired": ["no", "yes"]}
    roles = {"sensitive": ["sex", "hired"], "target": "hired", "positive": "yes"}
    quasi = {"protected": "sex", "privileged": "male", "quasi_identifiers": ["job", "hired"]}
    Schema([Column(name, Domain.categorical(each)) for name, each in values.items()], **roles, **quasi).save(
        "s.toml"
    )
    words = [
        "--schema",
        "s.toml",
        "--columns",
        columns,
        "--yes",
        "--mechanism",
        "laplace",
    ]
    done = call("audit", "release", file, *words)
    plan = fake[0]["plan"]

    assert "is to be left out too" not in done.stderr
    assert set(plan.schema.names) == set(columns.split(","))
    assert plan.task.classify == ("hired" in columns)
    assert plan.schema.quasi_identifiers == (("job", "hired") if "hired" in columns else ("job",))


def test_a_target_that_was_typed_must_be_in_the_table(call, file):
    """The twin: what a person asks for is not passed over."""
    words = ["--columns", "sex,job", "--protected", "sex", "--target", "hired"]
    done = call("audit", "release", file, *words)

    assert done.exit_code == 2
    assert "--target names hired, which is not in --columns" in " ".join(done.stderr.split())


def test_a_column_that_is_typed_twice_is_said_to_be(call, file):
    """If not, the message speaks of too few columns, and a schema file would not help."""
    done = call("audit", "release", file, "--columns", "sex,sex", "--protected", "sex")

    assert done.exit_code == 2
    assert "holds one column twice" in done.stderr
