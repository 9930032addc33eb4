"""evenhand audit decide: three sentences and a report; wrong use ends with 2 and says what to do."""

import csv
import json
import re

import pytest

from evenhand.app.tasks.decide import DecideForm
from evenhand.cli.tasks.decide import read_mitigations
from evenhand.report.drawing import Drawing
from evenhand.study.plan.plan import Plan
from evenhand.study.results.results import Results
from evenhand.study.tasks.decide import execute
from evenhand.study.tasks.decide.task import DecideTask

ROWS = {
    "town": ["Ash", "Bay", "Cove", "Dale", "Elm"],
    "people": [100, 400, 2_500, 90, 12_000],
    "poor": [21, 60, 540, 18, 2_000],
    "cost index": [1.0, 2.0, 1.5, 1.0, 1.25],
    "young": [40, 100, 900, 50, 3_000],
    "old": [60, 300, 1_600, 40, 9_000],
}
RULE = ["--rule", "poor/people > 0.2 and poor >= 20"]
MONEY = ["--count", "poor", "--weight", "cost index", "--budget", "1e6"]
SHRINK = {"name": "shrink", "temperature": 2.5}
PICTURE = '<svg width="10" height="10"><rect width="5" height="5" fill="#000"/></svg>'


@pytest.fixture(autouse=True)
def _quick(request, monkeypatch):
    """Leave out pictures, and the page too unless a test looks at it: both have tests of their own."""
    monkeypatch.setattr(Drawing, "svg", lambda _: PICTURE)
    if "whole_page" not in request.fixturenames:
        monkeypatch.setattr(Results, "report", lambda self, path, **_: path.write_text("page"))


@pytest.fixture
def whole_page():
    """Write the page itself."""


@pytest.fixture
def towns(tmp_path):
    path = tmp_path / "towns.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        lines = csv.writer(file)
        lines.writerow(ROWS)
        lines.writerows(zip(*ROWS.values(), strict=True))
    return path


def said(done):
    return " ".join(done.output.split())


# --- decide -----------------------------------------------------------------------------------------


@pytest.mark.usefixtures("whole_page")
def test_a_rule_is_answered_in_three_sentences_with_a_report(call, towns, tmp_path):
    done = call("audit", "decide", towns, *RULE, "--name", "town", "--groups", "young,old", "--out", "study")
    folder = tmp_path / "study"

    assert done.exit_code == 0, done.output
    assert "Ash is refused a right in 42 of 100 releases" in said(done)
    assert "Report study/report.html" in said(done)
    assert {each.name for each in folder.iterdir()} >= {
        "report.html", "entities.csv", "cells.csv", "plan.toml", "study.db",
    }  # fmt: skip
    assert "Not for publication" in (folder / "report.html").read_text()
    assert len((folder / "entities.csv").read_text().splitlines()) == 6


@pytest.mark.usefixtures("whole_page")
def test_the_plan_of_the_folder_runs_again(call, towns, tmp_path):
    """What a report says makes it again must do so."""
    assert call("audit", "decide", towns, *RULE, "--epsilon", "1", "--out", "study").exit_code == 0
    plan = tmp_path / "study" / "plan.toml"
    again = call("audit", "--plan", plan, "--out", "again", "--workers", "1", "--json")
    changed = call("audit", "--plan", plan, "--epsilon", "2", "--out", "third", "--workers", "1")
    refused = call("audit", "--plan", plan, "--count", "poor", "--out", "fourth")
    resumed = call("audit", "--resume", "--out", "study", "--workers", "1", "--quiet")

    assert again.exit_code == 0, again.output
    assert json.loads(again.stdout)["command"] == "audit"
    page = re.sub(r"<[^>]+>", "", (tmp_path / "study" / "report.html").read_text())
    assert "evenhand audit --plan plan.toml" in page
    assert (refused.exit_code, resumed.exit_code) == (2, 0)
    assert "--count cannot be given with a plan, which says it already" in said(refused)
    assert changed.exit_code == 0, changed.output
    assert {each.epsilon for each in Plan.load(tmp_path / "third" / "plan.toml").settings()} == {None, 2}


def test_json_is_one_object(call, towns):
    done = call(
        "audit", "decide", towns, *RULE, "--name", "town", "--groups", "young", "--epsilon", "0.5", "--json"
    )
    told = json.loads(done.stdout)

    assert (told["command"], told["task"]) == ("audit", "decide")
    assert told["entities"] == 5
    assert "people" not in told
    assert told["summary"][0]["notes"] == []
    assert len(told["answers"]) == 3
    assert [row["setting"].replace("Laplace noise, ", "") for row in told["summary"]] == [
        "ε = 0.5", "shrink, ε = 0.5", "margin, ε = 0.5", "chance=0.05, margin, ε = 0.5",
        "chance=0.1, margin, ε = 0.5",
    ]  # fmt: skip
    assert told["summary"][1]["method"] == "Cut of small counts"
    assert told["summary"][0]["computed_by"] == "exact"
    assert told["summary"][0]["groups"]["young"]["people"] == 4_090
    assert told["summary"][0]["most_affected"][0]["name"] in ROWS["town"]
    assert told["files"]["entities"].endswith("entities.csv")
    assert told["exit"] == 0


def test_a_total_that_may_be_nought_is_told_with_its_chance(call, tmp_path):
    """Where the noise can swallow the total, shares mean nothing, whatever their averages are."""
    path = tmp_path / "few.csv"
    path.write_text("town,poor\nAsh,2\nBay,1\n")
    done = call("audit", "decide", path, "--count", "poor", "--epsilon", "0.5,20", "--out", "study")
    many = call("audit", "decide", path, "--count", "poor", "--epsilon", "0.5,0.6,0.7,0.8,0.9", "--json")
    told = json.loads(many.stdout)

    assert "Warning Laplace noise, ε = 0.5: The noisy total is 0 or less with probability 0.3" in said(done)
    assert said(done).count("The noisy total is 0 or less") == 1
    assert "and so in 2 other settings." in said(many)
    assert told["summary"][0]["notes"][0].startswith("The noisy total is 0 or less with probability 0.3")


def test_quiet_prints_paths_alone(call, towns):
    done = call("audit", "decide", towns, *RULE, "--out", "study", "--quiet")

    assert done.stdout.split()[0] == "study/report.html"
    assert all("study/" in line for line in done.stdout.split())


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], "--rule (who has the right; where money follows, give --allot, or --count and --weight) must"),
        (["--rule", " "], "--rule is missing"),
        (["--rule", "rich > 3"], "--rule: Column 'rich' is not in the data"),
        (["--rule", "Poor > 3"], "'Poor'"),
        ([*RULE, "--name", "twon"], "--name: Column 'twon' is not in the data. Hint: did you mean 'town'?"),
        ([*RULE, "--groups", "rich"], "--groups: Column 'rich'"),
        ([*RULE, "--groups", ","], "--groups is empty"),
        ([*RULE, "--mechanism", "suppression"], "--mechanism must be of laplace, discrete-gaussian"),
        ([*RULE, "--delta", "1e-6"], "--delta belongs to discrete-gaussian"),
        ([*RULE, "--epsilon", "0"], "--epsilon must be"),
        ([*RULE, "--touches", "two"], "--touches must be one of"),
        ([*RULE, "--post", "smooth"], "--post must be steps of"),
        ([*RULE, "--mitigate", "hope"], "--mitigate must be one of"),
        ([*RULE, "--mitigate", "linear-proxy"], "--mitigate must be ones that fit"),
        ([*RULE, "--mitigate", "sum-constraint=many"], "--mitigate must have a number after '='"),
        (["--rule", "town > 3"], "cannot be decided on"),
    ],
)
def test_wrong_use_says_which_option(call, towns, words, expected):
    done = call("audit", "decide", towns, *words, "--out", "study")

    assert done.exit_code == 2, done.output
    assert expected in said(done)
    assert "Cove" not in done.output


def test_a_rule_that_cannot_be_read_is_pointed_at(call, towns):
    done = call("audit", "decide", towns, "--rule", "(poor/people > 0.2 and poor >= 20")
    lines = done.output.splitlines()
    caret = next(line for line in lines if line.strip() == "^")
    line = lines[lines.index(caret) - 1]

    assert done.exit_code == 2
    assert "at column 34" in said(done)
    assert line.rstrip().endswith("poor >= 20")
    assert caret.index("^") == len(line.rstrip())


def test_blanks_around_a_name_in_the_file_are_told(call, tmp_path):
    """A name that looks the same and is not found would puzzle anybody."""
    path = tmp_path / "blanks.csv"
    path.write_text("people, poor\n10,3\n")

    assert "--rule: write ` poor`" in said(call("audit", "decide", path, "--rule", "poor > 3"))


def test_a_folder_with_a_study_is_not_written_over(call, towns):
    assert call("audit", "decide", towns, *RULE, "--epsilon", "1", "--out", "study").exit_code == 0
    done = call("audit", "decide", towns, *RULE, "--epsilon", "1", "--out", "study")

    assert done.exit_code == 2
    assert "There is a study in study already" in said(done)


def test_a_file_without_rows_is_refused(call, tmp_path):
    path = tmp_path / "empty.csv"
    path.write_text("poor,people\n")

    assert "has column names and no rows" in said(call("audit", "decide", path, *RULE))


def test_runs_that_fail_end_with_one(call, towns, monkeypatch):
    """Whoever runs this in a script must see it."""

    def fail(*_, **__):
        raise ZeroDivisionError

    monkeypatch.setattr(execute, "claim_of", fail)
    done = call("audit", "decide", towns, *RULE, "--out", "study")

    assert done.exit_code == 1
    assert "8 of 9 runs failed: ZeroDivisionError" in said(done)
    assert "entities.csv" not in done.output


# --- money ------------------------------------------------------------------------------------------


def test_money_is_answered_in_three_sentences_with_a_report(call, towns):
    words = ["--name", "town", "--groups", "young,old", "--mitigate", "sum-constraint=2639", "--out", "study"]
    done = call("audit", "decide", towns, *MONEY, *words)

    assert done.exit_code == 0, done.output
    assert "Nobody pays more than $0.0" in said(done)
    assert "Report study/report.html" in said(done)


@pytest.mark.parametrize(
    ("words", "count", "weight"),
    [
        (["--count", "poor"], "poor", None),
        (["--count", "poor", "--weight", "cost index"], "poor", "`cost index`"),
        (["--allot", "poor"], "poor", None),
        (["--allot", "poor * `cost index` / 100"], "poor", "`cost index` / 100"),
        (["--allot", "`cost index` * poor", "--count", "poor"], "poor", "`cost index`"),
        (
            ["--allot", "(poor + poor / 2) * (`cost index` + people)"],
            "poor",
            "(`cost index` + people) * (1 + 0.5)",
        ),
        (["--allot", "100 / people * poor"], "poor", "100 / people"),
    ],
)
def test_the_share_is_a_count_and_a_weight_or_a_formula(call, towns, tmp_path, words, count, weight):
    done = call(
        "audit", "decide", towns, *words, "--epsilon", "1", "--currency", "EUR", "--mitigate", "none",
        "--out", "study",
    )  # fmt: skip
    plan = Plan.load(tmp_path / "study" / "plan.toml")

    assert done.exit_code == 0, done.output
    assert plan.task == DecideTask(count=count, weight=weight, epsilons=[1], currency="EUR")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (
            ["--budget", "5"],
            "--count (the column of counts that money follows; where a right follows, give --rule instead)",
        ),
        (["--count", "rich"], "--count: Column 'rich'"),
        (["--count", "poor", "--weight", "rich"], "--weight: Column 'rich'"),
        (["--allot", "poor", "--weight", "people"], "has the weight in it. Hint: leave --weight out."),
        (["--allot", "poor + people"], "--allot must be one column of counts times a public weight"),
        (["--allot", "poor + 5"], "a count with a number added, has to be a column of its own"),
        (["--allot", "poor * max(people)"], "column 11 must hold one of + - * /, or the end"),
        (["--allot", "poor * (people"], "column 15 must hold one of + - * /, or )"),
        (["--allot", "rich * poor"], "--allot: Column 'rich'"),
        (["--allot", "poor * poor"], "--allot must be one column of counts times"),
        (["--allot", "poor / poor"], "--allot must be one column of counts times"),
        (["--allot", "1 / poor"], "--allot must be one column of counts times"),
        (["--allot", "people", "--count", "poor"], "--allot must be a column of counts, poor, times"),
        (["--count", "poor", "--budget", "much"], "--budget must be a number"),
        (["--count", "poor", "--budget", "-5"], "--budget must be a number > 0"),
        (["--count", "poor", "--weight", "town"], "cannot weigh the entities"),
        (
            ["--count", "poor", "--mitigate", "output-perturbation"],
            "--mitigate must be given with a public least total for 'output-perturbation'",
        ),
        (
            ["--count", "poor", "--mitigate", "output-perturbation=-3"],
            "'least_total' must be a finite number > 0",
        ),
        (
            ["--count", "poor", "--mitigate", "sum-constraint"],
            "--mitigate must be given with the public total of the counts for 'sum-constraint'",
        ),
    ],
)
def test_wrong_use_of_allocate_says_which_option(call, towns, words, expected):
    done = call("audit", "decide", towns, *words, "--out", "study")

    assert done.exit_code == 2, done.output
    assert expected in said(done)


def test_a_gaussian_may_have_its_delta(call, towns, tmp_path):
    words = ["--mechanism", "discrete-gaussian", "--delta", "1e-9", "--epsilon", "1", "--out", "study"]
    assert call("audit", "decide", towns, *MONEY, *words).exit_code == 0

    [mechanism] = Plan.load(tmp_path / "study" / "plan.toml").task.mechanisms
    assert mechanism.parameters == {"delta": "1e-9"}


def test_what_follows_a_mitigation_is_its_number():
    found = read_mitigations(["piecewise-proxy=5", "fairness-payment=3", "linear-proxy"])

    assert found == [{"name": "piecewise-proxy", "groups": 5}, "fairness-payment=3", "linear-proxy"]


def test_without_a_word_what_needs_nothing_is_compared(call, towns, tmp_path):
    """Who finds that somebody loses must read what would help, without knowing the names of mitigations."""

    def compared(*words):
        out = tmp_path / "-".join(words)
        done = call("audit", "decide", towns, *words, "--epsilon", "1", "--out", out)
        assert done.exit_code == 0, done.output
        return [mitigation.name for mitigation in Plan.load(out / "plan.toml").task.mitigations]

    assert compared(*MONEY) == ["shrink", "linear-proxy", "fairness-payment"]
    assert compared(*RULE) == ["shrink", "margin"]  # five towns are too few to learn a proxy from
    assert compared(*RULE, "--mitigate", "none") == []


@pytest.mark.parametrize(
    "parts",
    [
        {"rule": "poor/people > 0.2 and poor >= 20", "touches": "one input", "name": "town"},
        {"count": "poor", "weight": "`cost index` / 100 + people", "budget": 6_500_000.5, "currency": "EUR"},
        {"count": "poor", "weight": "`cost index`", "groups": ["young", "old"], "draws": 500},
        {"count": "poor", "mechanisms": ["laplace", "discrete-gaussian"], "unit": "add or remove one"},
        {"count": "poor", "post": ["nonnegative", "integral"], "mitigations": ["shrink", "linear-proxy"]},
    ],
)
def test_the_command_of_the_workbench_makes_the_same_plan(call, towns, tmp_path, parts):
    """A command that is copied and fails, or studies something else, is worse than none."""
    task = DecideTask(epsilons=["0.1", "1/3"], **parts)
    done = call("audit", "decide", towns, *DecideForm().options(task), "--out", "study")

    assert done.exit_code == 0, done.output
    assert Plan.load(tmp_path / "study" / "plan.toml").task == task


# --- found by trying to break it ---------------------------------------------------------------------


@pytest.mark.parametrize("word", ["piecewise-proxy=inf", "piecewise-proxy=2.7", "shrink=nan", "shrink=1e999"])
def test_a_number_of_a_mitigation_must_be_one(call, towns, word):
    """What cannot be computed with is wrong use, not a fault of the program; 2.7 groups are not 2."""
    done = call("audit", "decide", towns, *RULE, "--mitigate", word, "--out", "study")

    assert done.exit_code == 2, done.output
    assert "--mitigate must have a" in said(done)


@pytest.mark.parametrize("budget", ["6,5", "1,2,3", "1_0,00", ",5", "1e30"])
def test_a_budget_that_may_mean_something_else_is_refused(call, towns, budget):
    """In much of the world 6,5 is six and a half: to read 65 is to be wrong without a word."""
    done = call("audit", "decide", towns, "--count", "poor", "--budget", budget, "--out", "study")

    assert done.exit_code == 2, done.output
    assert "--budget must be" in said(done)


@pytest.mark.parametrize("budget", ["6,500,000.5", "6_500_000.5", "6500000.5", "6.5000005e6"])
def test_a_budget_may_have_marks_between_thousands(call, towns, budget, tmp_path):
    done = call("audit", "decide", towns, "--count", "poor", "--budget", budget, "--out", "study")

    assert done.exit_code == 0, done.output
    assert Plan.load(tmp_path / "study" / "plan.toml").task.budget == 6_500_000.5


def test_a_folder_with_a_study_is_met_with_how_to_go_on(call, towns, tmp_path):
    (tmp_path / "study").mkdir()
    (tmp_path / "study" / "study.db").write_text("a store that cannot be read")
    done = call("audit", "decide", towns, *RULE, "--out", "study")

    assert done.exit_code == 2
    assert "go on with it (--resume)" in said(done)


def test_one_entity_is_one(call, tmp_path):
    (tmp_path / "one.csv").write_text("town,poor\nAsh,10\n")
    done = call("audit", "decide", "one.csv", "--count", "poor", "--epsilon", "1", "--out", "study")

    assert done.exit_code == 0, done.output
    assert "4 settings for 1 entity" in said(done)
