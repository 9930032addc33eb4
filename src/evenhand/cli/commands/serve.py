"""evenhand serve: the workbench in the browser."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import Annotated

from evenhand.cli.options import data_option, design_option, output_option
from evenhand.cli.terminal.console import Terminal, wrong_use
from evenhand.errors import MissingExtraError

EXAMPLE = """\
  evenhand serve
  evenhand serve --port 9000 --no-browser
  evenhand serve --report study
"""


def serve(
    *,
    folder: Annotated[
        Path | None, data_option("FOLDER", "Where studies are kept. [the folder for your data]", "--folder")
    ] = None,
    report: Annotated[
        Path | None, data_option("FOLDER", "Only show the finished study in it, read only.", "--report")
    ] = None,
    port: Annotated[
        int | None, design_option("N", "Where it listens. [8421, or the next free one]", min=1, max=65535)
    ] = None,
    browser: Annotated[
        bool, output_option("", "Open it in the browser.", "--browser/--no-browser", show_default=False)
    ] = True,
) -> None:
    """Open the workbench: from a file to an answer, in the browser.

    It listens on this machine alone. The address that it prints opens it once, in one browser.
    """
    if folder is not None and report is not None:
        wrong_use(
            "--folder and --report contradict each other: a finished study is only shown. "
            "Hint: leave one of them out."
        )
    if find_spec("shiny") is None:
        raise MissingExtraError("shiny", feature="The workbench", extra="app")
    from evenhand.app import server  # noqa: PLC0415 - Shiny, which other commands do without
    from evenhand.app.state.workbench import Workbench  # noqa: PLC0415 - the same

    terminal = Terminal()
    workbench = Workbench.open(folder) if report is None else Workbench.show(report)
    server.serve(workbench, port=port, browser=browser, say=terminal.say)
    terminal.say("Stopped", "the workbench is closed; finished runs are kept.")
