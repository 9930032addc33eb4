"""Help reads the registries, sorts options into panels and shows only what applies."""

import re
import shlex
from pathlib import Path

import pytest
import typer

from evenhand.cli.app import COMMANDS, app
from evenhand.cli.options import PANELS, REGISTRIES, names_in
from evenhand.cli.tasks.registry import TASK_COMMANDS, load_task_command
from unit.cli.test_app import parse_names

ROOT = Path(__file__).parents[3]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
SHELL = re.compile(r"^```(?:sh|console|bash)\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINE = re.compile(r"^\s*(?:\$ )?evenhand (.+)$", re.MULTILINE)
KINDS = [f"audit {kind}" for kind in TASK_COMMANDS]


@pytest.mark.parametrize(
    ("registry", "commands"),
    [
        ("protocols", ["audit collect", "privatize"]),
        ("mechanisms", ["audit release", "release"]),
        ("datasets", ["audit collect", "audit release", "audit learn", "advise", "datasets show"]),
        ("mitigations", ["audit decide"]),
        ("methods", ["audit learn"]),
        ("papers", ["reproduce"]),
    ],
)
def test_what_is_added_to_a_registry_appears_in_help(call, monkeypatch, registry, commands):
    monkeypatch.setattr(REGISTRIES[registry].replace(":", "."), [*names_in(registry), "brandnew"])

    for command in commands:
        assert "brandnew" in call(*command.split(), "--help").stdout, command


@pytest.mark.parametrize("command", [*KINDS, "advise", "privatize", "release", "estimate"])
def test_options_stand_in_panels(call, command):
    shown = call(*command.split(), "--help").stdout
    titles = [title for title in re.findall(r"^(\w+):$", shown, re.MULTILINE) if title != "Example"]

    assert titles == [title for title in (*PANELS, "Options") if title in titles]
    assert len(titles) >= 4
    assert re.search(r"^Options:\n  -h, --help +Show this message and exit\.\n\n", shown, re.MULTILINE)
    assert "{" not in shown.partition("\n\n")[2]


@pytest.mark.parametrize("kind", TASK_COMMANDS)
def test_the_list_of_kinds_says_what_each_one_says_itself(call, kind):
    """The list is written by hand so that help is quick; it must not drift."""
    assert TASK_COMMANDS[kind].summary in " ".join(call("audit", "--help").stdout.split())
    assert TASK_COMMANDS[kind].summary in " ".join(call("audit", kind, "--help").stdout.split())
    assert f"Example: evenhand audit {kind}" in " ".join(call("audit", kind, "--help").stdout.split())
    assert load_task_command(kind).kind == kind


def test_a_kind_shows_no_option_of_another(call):
    shown = {kind: call("audit", kind, "--help").stdout for kind in TASK_COMMANDS}

    assert [kind for kind in shown if "--protocol" in shown[kind]] == ["collect"]
    assert [kind for kind in shown if "--columns COLUMNS" in shown[kind]] == ["release"]
    assert [kind for kind in shown if "--methods" in shown[kind]] == ["learn"]
    assert [kind for kind in shown if "--rule" in shown[kind]] == ["decide"]


def _command_lines():
    for page in PAGES:
        shells = "\n".join(SHELL.findall(page.read_text("utf-8"))).replace("\\\n", " ")
        for line in LINE.findall(shells):
            words = shlex.split(line, comments=True)
            if words[0] in COMMANDS:
                yield pytest.param(words, id=f"{page.relative_to(ROOT)}: {line[:40]}")


@pytest.mark.parametrize("words", list(_command_lines()))
def test_every_command_line_of_the_documentation_can_be_parsed(words):
    """An example that does not run is worse than none."""
    assert parse_names(typer.main.get_command(app), words)[0] == words[0]


@pytest.mark.parametrize("kind", TASK_COMMANDS)
def test_the_examples_of_a_kind_can_be_parsed(kind):
    examples = re.findall(r"evenhand (.*)", load_task_command(kind).example.replace("\\\n", " "))

    assert examples
    for example in examples:
        assert parse_names(typer.main.get_command(app), shlex.split(example)) == ["audit", kind]


def test_the_page_of_commands_states_the_defaults_of_the_help(call):
    """Who plans a study from the page must get the study that it describes."""
    part = (ROOT / "docs" / "command-line.md").read_text("utf-8").split("### What is run")[1].split("###")[0]
    stated = dict(re.findall(r"^\| `(--[a-z]+)` \| `([^`]+)`", part, re.MULTILINE))
    shown = " ".join(call("audit", "collect", "--help").stdout.split())
    defaults = {name: re.search(rf"{name}\b[^\[]*\[([^\]]*)\]", shown)[1] for name in stated}

    assert {"--epsilon", "--protocol", "--split", "--repeats"} <= set(stated)
    assert {name: default.split(";")[0] for name, default in defaults.items()} == stated
