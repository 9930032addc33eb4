"""evenhand demo: a tour on built-in data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from evenhand.cli import options as given  # noqa: TC001 - typer reads the annotations
from evenhand.cli.terminal.console import Terminal

__all__ = ["demo"]

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

Out = Annotated[Path | None, typer.Option(metavar="FOLDER", help="Where results go. [evenhand-demo]")]


def demo(
    *,
    out: Out = None,
    workers: given.Workers = None,
    open_page: given.OpenPage = True,
    as_json: given.AsJson = False,
    quiet: given.Quiet = False,
) -> None:
    """Take a tour on built-in data: five protocols, one report."""
    from evenhand.cli.conduct import checked, conduct, finish, free_folder  # noqa: PLC0415 - starts numpy
    from evenhand.study.plan.plan import Plan  # noqa: PLC0415 - as above
    from evenhand.study.plan.source import DataSource  # noqa: PLC0415 - as above
    from evenhand.study.tasks.collect.task import CollectTask  # noqa: PLC0415 - as above

    terminal = Terminal(as_json=as_json, quiet=quiet)
    folder = checked(free_folder(out, name="evenhand-demo"), workers=workers)
    plan = Plan(
        data=DataSource(dataset="causal", options={"n": _PEOPLE}),
        task=CollectTask(_PROTOCOLS, _EPSILONS),
        repeats=_REPEATS,
        name="The demo",
    )
    terminal.say("Demo", _STORY)
    cells = len(plan.cells())
    terminal.say(
        "Plan", f"{len(plan.settings())} settings x {_REPEATS} repeats = {cells} cells, under a minute"
    )
    results = conduct(terminal, plan, frame=None, out=folder, workers=workers, resume=False)
    shown = open_page and terminal.is_interactive
    finish(terminal, results, command="demo", out=folder, open_page=shown)
