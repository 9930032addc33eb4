"""What a page on a collection says around its table: question, names, promise, commands."""

import re
import shlex
from dataclasses import replace

import pandas as pd
import pytest
from typer.testing import CliRunner

from evenhand.answer.compose import compose
from evenhand.cli.app import app
from evenhand.study.plan.facts import Leak
from evenhand.study.results.results import Results
from evenhand.study.tasks.collect.case import case
from evenhand.study.tasks.collect.task import CollectTask
from unit.study._page_studies import made, schema_of, two

pytestmark = pytest.mark.usefixtures("undrawn")

TASK = CollectTask(
    ["auto", "grr", "optimal"], [0.5, 1], splits=["optimal", "sample"], strategies=["independent", "combined"]
)


def rates(setting):
    """Return rates under which women pay, and pay less with the optimal protocol."""
    if not setting.is_protected:
        return two(0.30, 0.60)
    return two(0.29, 0.60) if setting.mechanism == "optimal" else two(0.18, 0.60, tpr=(0.4, 0.7))


def study(task=TASK, *, sensitive=("sex", "region"), **facts):
    """Return results of a study in which women pay."""
    return made(rates, collect=task, schema=schema_of(sensitive=sensitive), repeats=8, **facts)


def case_of(results, **asked):
    """Return the case of results."""
    return case(results.plan.task, results, **asked)


def words_of(found):
    """Return every text of a case that people read."""
    options = [part for option in found.options.values() for part in option]
    commands = [part for command in found.commands for part in (command.label, command.note)]
    facts = [part for fact in found.promise.facts for part in (fact.term, fact.text)]
    rows = [cell for table in found.evidence[0].tables for row in table.rows for cell in row]
    texts = [found.question, found.kind, found.meta, found.promise.text, *found.method, *found.limits]
    return [*options, *commands, *facts, *rows, *texts]


def test_the_question_names_the_answers_and_the_outcome():
    """People would read of roles and protocols and not of their columns."""
    assert case_of(study()).question == (
        "If people's answers to sex and region are randomised and a model then predicts hired, who pays?"
    )
    assert case_of(study(sensitive=("sex",))).question.startswith(
        "If people's answer to sex is randomised and"
    )


def test_options_are_called_by_what_differs_from_the_pages():
    """A page would say "AUTO, optimal split" of what is GRR."""
    options = case_of(study()).options
    at_one = {name: option.words for name, option in options.items() if name.endswith("ε = 1")}
    assert at_one == {
        "AUTO, optimal split, ε = 1": "GRR",
        "GRR, optimal split, ε = 1": "GRR",
        "OPTIMAL, optimal split, ε = 1": "Optimal",
        "AUTO, sample split, ε = 1": "one question per person",
        "GRR, sample split, ε = 1": "one question per person",
        "OPTIMAL, sample split, ε = 1": "Optimal, one question per person",
        "GRR, combined, ε = 1": "answers together",
        "OPTIMAL, combined, ε = 1": "Optimal, answers together",
    }
    assert options["OPTIMAL, optimal split, ε = 1/2".replace("1/2", "0.5")].words == "Optimal at ε = 0.5"
    assert options["GRR, combined, ε = 1"].use == "Randomise the answers together at the same ε"


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("sensitive", [("sex",), ("sex", "region")])
def test_no_name_of_the_command_line_reaches_a_person(language, sensitive):
    """Nobody knows what AUTO is, and one column has no split."""
    read = " ".join(words_of(case_of(study(sensitive=sensitive), language=language)))
    assert not re.search(r"AUTO|optimal split|k-based|independent|combined|\{|\}", read)
    if len(sensitive) == 1:
        assert "split" not in read


def test_a_setting_has_one_name_in_every_language():
    """Tables are keyed by it: a decimal comma would make another setting of it."""
    english, german = (case_of(study(), language=language) for language in ("en", "de"))
    assert list(english.options) == list(german.options)
    assert english.table.page == german.table.page


def test_the_promise_says_what_a_report_gives_away_and_what_is_open():
    """A guarantee without its number, or without what it leaves open, is no promise."""
    promise = case_of(study()).promise
    facts = {fact.term: fact.text for fact in promise.facts}
    assert "answers to sex and region by a factor of 2.72 at most. The outcome hired is not" in promise.text
    assert "Nobody needs to be trusted" in promise.text
    assert facts["Guarantee"].replace("\xa0", " ") == "ε = 1, δ = 0, local"
    assert facts["Not protected"] == "hired and job; people who are decided on later"


def test_counting_the_outcomes_is_part_of_the_promise():
    """Who counts sees the rows: nobody to trust would be false, and ε too small."""
    noisy = {"name": "optimal", "outcomes": "noisy", "budget": 0.5}
    found = case_of(study(CollectTask([noisy], [1], splits="uniform")))
    facts = {fact.term: fact.text.replace("\xa0", " ") for fact in found.promise.facts}
    assert facts["Guarantee"].startswith("ε = 1.5, δ = 0, central")
    assert "Nobody needs to be trusted" not in found.promise.text
    assert any(
        "counted in the training rows" in warned.text or "sees" in warned.text for warned in found.warnings
    )


def test_columns_that_give_a_secret_away_have_a_command_that_leaves_them_out():
    """The promise would be empty, and nobody would know what to type."""
    leak = Leak("sex", ("job",), guessed=1.0, base=0.5)
    commands = case_of(study(leaks=(leak,))).commands
    assert commands[0].label == "Leave out job"
    assert commands[0].line == "evenhand audit --plan plan.toml --drop job"
    assert not any(
        "--drop" in each.line for each in case_of(study(leaks=(replace(leak, guessed=0.6),))).commands
    )


def test_the_command_of_the_optimal_protocol_is_one_that_runs(tmp_path, monkeypatch):
    """A command that the program refuses helps nobody."""
    results = study()
    view = compose(case_of(results))
    command = next(each for each in view.commands if each.option == view.recommended)
    assert view.recommended == "OPTIMAL, optimal split, ε = 1"
    rows = {
        "sex": ["women", "men"] * 50,
        "region": ["north", "west"] * 50,
        "job": "a",
        "hired": ["no", "yes"] * 50,
    }
    pd.DataFrame(rows).to_csv(tmp_path / "people.csv", index=False)
    results.facts.schema.save(tmp_path / "schema.toml")
    text = 'weights = [0.5, 0.5]\nrates = [0.3, 0.6]\nsource = "census"\n'
    (tmp_path / "outcomes.toml").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, shlex.split(command.line)[1:])
    assert done.exit_code == 0, done.output
    assert (tmp_path / "reports.csv").exists()


def test_a_twin_of_the_page_is_in_no_curve_and_no_table():
    """GRR would stand beside GRR, a little better or worse by chance."""
    found = case_of(study(CollectTask(["auto", "grr", "oue"], [0.5, 1], splits="uniform")))
    curve = compose(found).curve
    assert [line.name for line in curve.lines] == ["GRR", "OUE"]
    assert [row[0] for row in found.evidence[0].tables[0].rows] == [
        "without protection",
        "GRR",
        "GRR",
        "OUE",
        "OUE",
    ]


def test_a_study_without_a_file_has_no_command():
    """A path that nobody typed would stand there."""
    results = study()
    bare = Results(replace(results.plan, data=None), results.facts, results.outcomes)
    assert not case_of(bare).commands


def test_two_ways_never_have_one_name():
    """Of two tables of public rates a page would name one, and nobody would know which."""
    tables = [{"weights": [0.5, 0.5], "rates": [0.2, rate]} for rate in (0.3, 0.4)]
    protocols = [{"name": "optimal", "outcomes": each} for each in tables]
    options = case_of(study(CollectTask(["grr", *protocols], [1], splits="uniform"))).options
    assert [option.words for option in options.values()] == [
        "without protection",
        "GRR",
        "Optimal (outcomes)",
        "Optimal (outcomes) (2)",
    ]
