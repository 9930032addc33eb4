"""The table at the end: changes with intervals, as much as the terminal has room for."""

import io
import re

from rich.console import Console

from evenhand.cli.tasks.collect import CollectCommand, choose_settings
from evenhand.cli.terminal.console import Terminal
from evenhand.report.language import written_in
from evenhand.report.words import number
from evenhand.study.plan.plan import Plan
from evenhand.study.tasks.collect.task import CollectTask
from unit.cli.conftest import finished
from unit.study._golden_collect import with_people


def whole(results, width=100, encoding="utf-8"):
    terminal = Terminal()
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    terminal.results = Console(file=stream, width=width, color_system=None)
    CollectCommand().show_table(terminal, results)
    stream.flush()
    return stream.buffer.getvalue().decode(encoding)


def shown(results, width=100, encoding="utf-8"):
    lines = whole(results, width, encoding).splitlines()
    heads = [place for place, line in enumerate(lines) if line.startswith("Protocol")]
    return "\n".join(lines[heads[0] :])


def test_a_wide_terminal_has_intervals_and_groups():
    text = shown(finished())

    assert text.split("\n")[0].split() == [
        "Protocol",
        "ε",
        "Accuracy",
        "Gap",
        *["sex", "=", "women"],
        *["sex", "=", "men"],
    ]
    assert "−1.0  −1.2 to −0.9" in text or "−1.0  −1.3 to −0.8" in text or " to −" in text
    assert len(text.splitlines()) == 5


def test_a_narrow_terminal_drops_groups_and_then_puts_intervals_below():
    medium, narrow = shown(finished(), width=70), shown(finished(), width=50)

    assert "women" not in medium
    assert max(map(len, narrow.splitlines())) <= 50
    assert len(narrow.splitlines()) > len(medium.splitlines())


def test_without_greek_it_reads_the_same():
    text = shown(finished(), encoding="ascii")

    assert "eps" in text
    assert "-1." in text


def test_splits_have_a_column_if_there_are_several():
    grid = CollectTask(["grr"], [1], splits=["uniform", "k-based"], strategies=["independent", "combined"])
    text = shown(finished(Plan(task=grid, repeats=2)))

    assert "k-based" in text
    assert "combined" in text


def test_what_is_undefined_says_so():
    results = finished(undefined=True)

    assert shown(results).count("undefined") == 4


def test_one_repeat_has_no_interval():
    text = shown(finished(Plan(task=CollectTask(["grr"], [1]), repeats=1)))

    assert " to " not in text


def test_many_settings_are_cut_to_the_middle_epsilon_and_that_is_said():
    plan = Plan(task=CollectTask(["grr", "oue", "ss"], [0.25, 0.5, 1, 2, 4, 5, 6, 7, 8]), repeats=2)
    settings = choose_settings(finished(plan))

    assert {float(each.epsilon) for each in settings} == {1.0}
    text = " ".join(whole(finished(plan)).split())
    assert "3 of 27 settings are shown; the report has all" in text
    assert "settings are shown" not in whole(finished())


def test_long_names_of_groups_make_no_columns():
    """They would push the numbers off the screen."""
    results = finished(groups=("women and girls of all ages", "men"))

    assert "girls" not in shown(results)


def test_mechanisms_of_one_name_are_told_apart_by_their_parameters():
    """Three rows that all read OPTIMAL 1 tell nobody which is which."""
    ways = [{"name": "optimal", "error": each} for each in ("minimum", 0.45)]
    results = finished(Plan(task=CollectTask(["optimal", *ways], [1], strategies="single"), repeats=2))
    wide, narrow = shown(results, width=120), shown(results, width=70)

    assert "OPTIMAL (error minimum)" in wide
    assert "OPTIMAL (error 0.45)" in wide
    assert "minimum" in narrow
    assert max(map(len, narrow.splitlines())) <= 70


def test_a_group_of_six_people_is_named_as_too_few_and_has_no_number():
    """Its share jumps with each of them, and the gap hung on it."""
    results = with_people(finished(groups=("women", "men", "other")), {"other": 6.0})
    rows = shown(results, width=120).splitlines()

    assert rows[0].endswith("other")
    assert all(row.endswith("too few") for row in rows[1:])
    gaps = [results.plan.task.read(results).change("sp_gap", setting) for setting in choose_settings(results)]
    assert all(number(100 * gap.value, sign=True) in row for gap, row in zip(gaps, rows[1:], strict=True))


def test_the_table_is_german_if_that_is_asked_for():
    with written_in("de"):
        text = whole(with_people(finished(), {"men": 6.0}), width=120)

    assert "Änderung gegen keinen Schutz, in Prozentpunkten" in text
    assert "zu wenige" in text
    assert re.search(r"−1,\d  −1,\d bis −", text)
    assert not re.search(r"\d\.\d| to ", text)
