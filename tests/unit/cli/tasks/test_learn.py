"""evenhand audit learn: a table, three sentences, a report; wrong use ends with 2 and says why."""

import csv
import json
import random

import pytest

from evenhand.cli.options import complete_name
from evenhand.cli.tasks import learn
from evenhand.report.drawing import Drawing
from evenhand.study.plan.plan import Plan
from evenhand.study.results.results import Results

PICTURE = '<svg width="10" height="10"><rect width="5" height="5" fill="#000"/></svg>'
ROLES = ["--target", "hired", "--positive", "yes", "--protected", "sex", "--privileged", "m"]
SMALL = ["--epsilon", "3", "--repeats", "2", "--workers", "1", "--yes"]


@pytest.fixture(autouse=True)
def _quick(request, monkeypatch):
    """Leave out pictures, and the page too unless a test looks at it: both have tests of their own."""
    monkeypatch.setattr(Drawing, "svg", lambda _: PICTURE)
    monkeypatch.setattr(Drawing, "_add", lambda *_, **__: None)
    if "whole_page" not in request.fixturenames:
        monkeypatch.setattr(Results, "report", lambda self, path, **_: path.write_text("page"))


@pytest.fixture
def whole_page():
    """Write the page itself."""


@pytest.fixture
def people(tmp_path):
    draw = random.Random(7)
    path = tmp_path / "people.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        lines = csv.writer(file)
        lines.writerow(["age", "sex", "town", "hired"])
        for _ in range(400):
            sex, age = draw.choice("fm"), draw.randint(18, 65)
            chance = 0.3 + 0.3 * (sex == "m") + 0.2 * (age > 40)
            lines.writerow([age, sex, draw.choice(["Ash", "Bay"]), "yes" if draw.random() < chance else "no"])
    return path


def said(done):
    return " ".join(done.output.split())


@pytest.mark.usefixtures("whole_page")
def test_a_file_and_its_roles_give_a_table_sentences_and_a_report(call, people, tmp_path):
    ways = ["--methods", "plain+parity,dp", "--methods", "dp + projection"]
    done = call("audit", "learn", people, *ROLES, *ways, *SMALL, "--out", "study")
    folder = tmp_path / "study"
    page = (folder / "report.html").read_text(encoding="utf-8")

    assert done.exit_code == 0, said(done)
    assert "target hired = yes; protected sex, privileged m" in said(done)
    assert "sensitive" not in said(done)
    assert "3 settings and the unprotected one, 2 repeats each: 8 runs, on 400 rows and 4 columns" in said(
        done
    )
    assert "If a model that predicts hired comes from private training, who pays?" in said(done)
    assert "projection (not private)" in page
    assert "Not for publication" in page
    assert Plan.load(folder / "plan.toml").task.methods == ("plain+parity", "dp", "dp+projection")
    assert (folder / "cells.csv").is_file()


def test_the_same_command_gives_the_same_bytes_and_resume_adds_to_them(call, people, tmp_path):
    typed = ["audit", "learn", people, *ROLES, "--methods", "dp", *SMALL]
    for folder in ("one", "two"):
        assert call(*typed, "--out", folder).exit_code == 0
    one, two = (Results.load(tmp_path / folder) for folder in ("one", "two"))
    more = call("audit", "--resume", "--out", "one", "--methods", "dp,plain+parity", "--workers", "1")

    assert one.canonical() == two.canonical()
    assert more.exit_code == 0, said(more)
    assert len(Results.load(tmp_path / "one")) == len(one) + 2


def test_machines_get_every_number_and_what_it_rests_on(call, people):
    typed = [*ROLES, "--methods", "dp+parity", *SMALL, "--json", "--delta", "1e-6"]
    done = call(
        "audit", "learn", people, *typed, "--gap", "0.02", "--group-as-input", "--unit", "replace one"
    )
    found = json.loads(done.stdout)
    plain, parity, step, fermi = found["summary"]

    assert found["exit"] == 0
    assert len(found["answers"]) == 3
    assert (plain["method"], plain["private"]) == ("plain", False)
    assert (parity["method"], parity["private"]) == ("dp+parity", True)
    assert [each["method"] for each in (step, fermi)] == ["dp", "fermi"]
    assert parity["delta"]["value"] == pytest.approx(1e-6)
    assert parity["assumptions"][0] == "unit: replace one"
    assert set(parity["groups"]["f"]) == {"selection", "changed", "promoted", "refused", "flipped"}


@pytest.mark.parametrize("method", ["dp", "local"])
def test_people_with_several_rows_are_promised_rows_unless_it_is_said_whose_they_are(call, tmp_path, method):
    """If this is false, a study of a panel promises a person what holds for one of their rows."""
    with (tmp_path / "panel.csv").open("w", newline="", encoding="utf-8") as file:
        lines = csv.writer(file)
        lines.writerow(["nr", "sex", "town", "hired"])
        for row in range(400):
            who = row // 4
            lines.writerow(
                [who * 31 % 401, "fm"[who % 2], "AB"[row * 7 % 3 % 2], ["yes", "no"][row * 5 % 7 % 2]]
            )
    sensitive = ["--sensitive", "town"] if method == "local" else []
    typed = ["panel.csv", *ROLES, *sensitive, "--methods", method, *SMALL, "--json"]
    asked, told = (
        call("audit", "learn", *typed, "--drop", "nr", "--anyway"),
        call("audit", "learn", *typed, "--person", "nr", "--anyway"),
    )
    rows, people = (json.loads(done.stdout)["summary"][1]["assumptions"] for done in (asked, told))

    assert "one person may have several rows, and is promised this for each of them" in rows
    assert "each person is one row" not in rows
    assert not any("several rows" in text for text in people)


def test_local_reports_take_sensitive_columns(call, people):
    typed = ["audit", "learn", people, *ROLES, "--methods", "local", *SMALL, "--out", "study"]
    missing, given = call(*typed), call(*typed, "--sensitive", "town")

    assert missing.exit_code == 2
    assert "--sensitive (the columns that people randomise" in said(missing)
    assert given.exit_code == 0, said(given)
    assert "sensitive town" in said(given)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--methods", "dp,svm"], "--methods must be of plain, plain+parity, dp, dp+parity, fermi"),
        (["--methods", ""], "--methods is empty"),
        (["--epsilon", "1,zero"], "--epsilon must be a number > 0"),
        (["--epsilons", "-1"], "--epsilon must be a number > 0"),
        (["--delta", "0.01"], "--delta must be a number > 0 and < 0.01, from which on nothing"),
        (["--delta", "tiny"], "--delta must be a number > 0 and < 0.01, from which on nothing"),
        (["--gap", "2"], "--gap must be a number from 0 to 1"),
        (["--protocol", "grr"], "No such option: --protocol"),
        (["--columns", "sex", "--k", "3"], "No such option: --columns"),
        (["--methods", "dp", "--sensitive", "age"], "--sensitive is of use to the method local only"),
        (["--unit", "one row"], "--unit must be one of"),
    ],
)
def test_wrong_words_are_refused_before_anything_runs(call, people, words, told):
    done = call("audit", "learn", people, *ROLES, *words)

    assert done.exit_code == 2
    assert told in said(done)


def test_roles_that_lack_are_asked_for_with_a_whole_command(call, people):
    done = call("audit", "learn", people, "--target", "hired", "--protected", "sex")

    assert done.exit_code == 2
    assert "--positive and --privileged must be given" in said(done)
    assert "evenhand audit learn" in said(done)
    assert "--sensitive" not in said(done)


def test_a_protected_column_with_one_group_is_refused(call, tmp_path):
    path = tmp_path / "alone.csv"
    path.write_text(
        "age,sex,hired\n" + "".join(f"{20 + i},f,{'yes' if i % 2 else 'no'}\n" for i in range(40))
    )
    roles = [*ROLES[:-1], "f"]
    done = call("audit", "learn", path, *roles)

    assert done.exit_code == 2
    assert "holds one value only" in said(done)


def test_a_missing_package_is_named_with_its_extra(call, people, monkeypatch):
    monkeypatch.setattr(learn, "find_spec", lambda _: None)
    done = call("audit", "learn", people, *ROLES, "--methods", "dp")

    assert done.exit_code == 2
    assert "pip install 'evenhand[dp]'" in said(done)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--methods", "dp"], "No such option: --methods"),
        (["--gap", "0"], "No such option: --gap"),
        (["--group-as-input"], "No such option: --group-as-input"),
    ],
)
def test_options_of_learning_belong_to_no_other_task(call, people, words, told):
    done = call("audit", people, *ROLES, *words)

    assert done.exit_code == 2
    assert told in said(done)


def test_help_shows_an_example(call):
    done = call("audit", "learn", "--help")

    assert "evenhand audit learn people.csv" in said(done)
    assert "--methods" in said(done)


def test_a_method_is_completed_after_a_comma():
    assert complete_name("methods")("dp,fer") == ["dp,fermi", "dp,fermi+parity"]
