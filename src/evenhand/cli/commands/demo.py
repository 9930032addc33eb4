"""evenhand demo: a tour on built-in data."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import Annotated

import typer

from evenhand._notes import Note
from evenhand.cli import options as shared  # noqa: TC001 - typer reads the annotations
from evenhand.cli.options import output_option
from evenhand.cli.study import check_folder, choose_folder, follow_run
from evenhand.cli.tasks.registry import load_task_command
from evenhand.cli.terminal.console import Terminal
from evenhand.study.plan.plan import Plan
from evenhand.study.plan.source import DataSource
from evenhand.study.run.duration import grid_size
from evenhand.study.tasks.collect.task import CollectTask

EXAMPLE = """\
  evenhand demo
  evenhand demo --out tour --no-open
"""

_PEOPLE = 40_000
_WIDTH = 12
_REPEATS = 30
_MODEL = "logistic"
_PROTOCOLS = ("grr", "oue", "ss", "olh", "rappor")
_EPSILONS = (0.5, 1, 4)
_STORY = (
    "Made-up people have a group A and two more attributes, C and M. A model learns from their answers who "
    "gets the good outcome Y. To protect them, each person randomises A, C and M on their own device before "
    "answering, so that nobody has to be trusted with the truth. Five protocols do this at three strengths: "
    "the smaller ε, the more private. Each time the model learns from the randomised answers and is then "
    "used on people as they are. Who gets the good outcome then, and how far apart are the groups?"
)
_CHOSEN = Note(
    "limit",
    "This study was chosen out of about ten because its answer is clear; others gave none, or another one. "
    "Its intervals do not cover that choice.",
)
"""What a reader of the terminal and of the report must know of the finding."""
_NEXT = {
    "What helps": "Neither another protocol nor a larger ε, up to 4, spares A = 0 here. Equal selection can "
    "be restored afterwards; this shows its price: evenhand audit learn causal --methods plain,plain+parity",
    "Your data": "evenhand audit people.csv --guess finds out what the columns of your file are for, and "
    "runs the same study on it",
    "By mouse": "evenhand serve opens the workbench in the browser",
    "Read on": "evenhand --help lists the commands; evenhand doctor says what is installed",
}
"""Where to go from here. A test runs the demo and compares the first sentence with its numbers."""


def demo(
    *,
    out: Annotated[Path | None, output_option("FOLDER", "Where results go. [evenhand-demo]")] = None,
    workers: shared.Workers = None,
    open_page: shared.OpenPage = True,
    language: shared.Language = None,
    as_json: shared.AsJson = False,
    quiet: shared.Quiet = False,
) -> None:
    """Take a tour on built-in data: five protocols, one report."""
    terminal = Terminal(as_json=as_json, quiet=quiet)
    command = load_task_command(CollectTask.kind)
    spoken = command.choose_language({"language": language})
    folder = check_folder(choose_folder(out, name="evenhand-demo"), workers=workers)
    plan = Plan(
        data=DataSource(dataset="causal", options={"n": _PEOPLE}),
        task=CollectTask(_PROTOCOLS, _EPSILONS, model=_MODEL),
        repeats=_REPEATS,
        name="The demo",
        notes=(_CHOSEN,),
    )
    terminal.say("Demo", f"{_STORY} {_CHOSEN}")
    terminal.say("Plan", f"{grid_size(plan)}, on {_PEOPLE:,} rows")
    results = follow_run(terminal, plan, frame=None, out=folder, workers=workers, resume=False)
    shown = open_page and terminal.is_interactive
    try:
        command.finish(terminal, results, command="demo", out=folder, open_page=shown, language=spoken)
    except typer.Exit as end:
        if not end.exit_code:
            terminal.show()
            for word, text in _NEXT.items():
                terminal.mark(word, text, style="bold", width=_WIDTH)
        raise
