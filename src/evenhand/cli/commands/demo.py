"""evenhand demo: a tour on built-in data."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import Annotated

from evenhand.cli import options as shared  # noqa: TC001 - typer reads the annotations
from evenhand.cli.options import output_option
from evenhand.cli.study import check_folder, choose_folder, follow_run, grid_size
from evenhand.cli.tasks.registry import load_task_command
from evenhand.cli.terminal.console import Terminal
from evenhand.study.plan.plan import Plan
from evenhand.study.plan.source import DataSource
from evenhand.study.tasks.collect.task import CollectTask

EXAMPLE = """\
  evenhand demo
  evenhand demo --out tour --no-open
"""

_PEOPLE = 40_000
_REPEATS = 10
_PROTOCOLS = ("grr", "oue", "ss", "olh", "rappor")
_EPSILONS = (0.5, 1, 4)
_STORY = (
    "Made-up people have a group A and two more attributes, C and M; a model learns from them who gets the "
    "good outcome Y. Before they answer, each of them randomises A, C and M on their own device, so that "
    "nobody has to be trusted with the truth. Five protocols do that at three strengths (a smaller ε is more "
    "private). Each time the model is trained on the randomised answers and used on people as they are: who "
    "is predicted the good outcome then, and how far apart are the groups?"
)


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
        task=CollectTask(_PROTOCOLS, _EPSILONS),
        repeats=_REPEATS,
        name="The demo",
    )
    terminal.say("Demo", _STORY)
    terminal.say("Plan", f"{grid_size(plan)}, under a minute")
    results = follow_run(terminal, plan, frame=None, out=folder, workers=workers, resume=False)
    shown = open_page and terminal.is_interactive
    command.finish(terminal, results, command="demo", out=folder, open_page=shown, language=spoken)
