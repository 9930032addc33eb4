"""What the command line shows and writes of an answer."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from evenhand.answer.case import Command
from evenhand.cli.tasks.base import TaskCommand
from evenhand.cli.terminal.console import Terminal
from unit.answer._terminal_views import view


def tell(terminal, **more):
    """Return what is told of a study, whose plan stands in another folder."""
    results = SimpleNamespace(view=lambda **_: view(**more))
    place = {"out": Path("study"), "data": "people.csv", "plan": "--plan study/plan.toml", "language": "en"}
    return TaskCommand("collect")._tell(terminal, results, **place)


def test_the_terminal_shows_the_answer_no_wider_than_80_columns(capsys):
    """If not, somebody at the command line would read other words than on the page."""
    tell(Terminal())

    lines = capsys.readouterr().out.splitlines()
    assert "  Women pay, and most of it can be undone." in lines
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize("asked", [{"as_json": True}, {"quiet": True}])
def test_nothing_is_shown_where_a_program_reads(asked, capsys):
    """If a picture stood before the object, no program could read it."""
    tell(Terminal(**asked))

    assert capsys.readouterr().out == ""


def test_a_program_gets_the_answer_with_its_sentences_and_commands():
    """If one were missing, a program would have to read the page."""
    command = Command("Again", "", "evenhand audit --plan plan.toml")
    told = json.loads(json.dumps(tell(Terminal(as_json=True), commands=(command,))))

    assert told["answer"]["verdict"] == "Women pay, and most of it can be undone."
    assert told["answers"][0] == told["answer"]["sentences"]["who"]["text"]
    assert told["next"] == ["evenhand audit --plan study/plan.toml"]
    assert told["answer"]["commands"][0]["line"] == told["next"][0]
