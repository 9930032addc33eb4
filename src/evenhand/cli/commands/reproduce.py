"""evenhand reproduce: a paper's claims beside our numbers."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evenhand.cli import options as given  # noqa: TC001 - typer reads the annotations
from evenhand.cli.terminal.console import FAILED, Terminal
from evenhand.cli.terminal.ending import stop_code

if TYPE_CHECKING:
    from evenhand.papers.reproduction import Reproduction

__all__ = ["reproduce"]

EXAMPLE = """\
  evenhand reproduce
  evenhand reproduce arcolezi2023
  evenhand reproduce makhlouf2024 --full --out makhlouf2024
"""
_STYLES = {"agrees": "green", "differs": "yellow", "cannot be checked": "dim"}


def _named(incomplete: str) -> list[str]:
    from evenhand.papers import PAPERS  # noqa: PLC0415 - starts numpy

    return [name for name in PAPERS if name.startswith(incomplete)]


Paper = Annotated[
    str | None,
    typer.Argument(metavar="PAPER", help="A paper; without one they are listed.", autocompletion=_named),
]
Full = Annotated[
    bool, typer.Option("--full", help="The whole design: hours, and it goes on where it stopped.")
]
Design = Annotated[str | None, typer.Option(metavar="NAME", help="quick, reduced or full. [quick]")]
Only = Annotated[list[str] | None, typer.Option(metavar="STUDIES", help="Some studies of the design. [all]")]
Folder = Annotated[Path | None, typer.Option("--out", metavar="FOLDER", help="Where results go. [the paper]")]


def reproduce(
    paper: Paper = None,
    *,
    full: Full = False,
    design: Design = None,
    only: Only = None,
    out: Folder = None,
    workers: given.Workers = None,
    as_json: given.AsJson = False,
    quiet: given.Quiet = False,
) -> None:
    """Run a paper's study and show its claims beside our numbers.

    Finished cells are kept in the folder, and the same command goes on where it was stopped.
    """
    from evenhand import papers  # noqa: PLC0415 - starts numpy
    from evenhand.cli.options import listed  # noqa: PLC0415 - a list
    from evenhand.cli.terminal.progress import followed  # noqa: PLC0415 - only where something runs

    terminal = Terminal(as_json=as_json, quiet=quiet)
    if paper is None:
        terminal.object({"command": "reproduce", "papers": dict(papers.PAPERS), "exit": 0})
        for name, title in papers.PAPERS.items():
            terminal.sentence(f"**{name}**  {title}")
        return
    folder = Path(paper) if out is None else out
    wanted: dict[str, Any] = {"full": full, "design": design, "only": listed(only) or None}
    try:
        with followed(terminal) as follow:
            found = papers.reproduce(paper, **wanted, out=folder, workers=workers, progress=follow)
    except KeyboardInterrupt:
        design_typed = ["--full"] if full else ["--design", design] if design else []
        again = shlex.join(["evenhand", "reproduce", paper, *design_typed, "--out", str(folder)])
        terminal.say("Stopped", f"finished cells are kept. Go on with: {again}")
        terminal.object({"stopped": True, "resume": again, "exit": stop_code()})
        sys.exit(stop_code())
    found.write(folder)
    _told(terminal, paper, found, folder)


def _told(terminal: Terminal, paper: str, found: Reproduction, folder: Path) -> None:
    """Show every claim with its verdict and the numbers behind it."""
    failed = sum(len(results.failures) for results in found.studies.values())
    code = FAILED if failed else 0
    files = {"Claims": folder / "claims.md", "Table": folder / "claims.csv"}
    terminal.object(
        {
            "command": "reproduce",
            "paper": paper,
            "design": found.design,
            "claims": [vars(each) for each in found.claims],
            "counts": found.counts,
            "missing": dict(found.missing),
            "failed": failed,
            "files": {word.lower(): str(path.resolve()) for word, path in files.items()},
            "exit": code,
        }
    )
    terminal.show()
    for row in found.claims:
        terminal.mark(row.verdict, f"{row.claim} {row.why}", style=_STYLES[row.verdict], width=18)
    terminal.show()
    for name, why in found.missing.items():
        terminal.warn(f"{name} was not run. {why}")
    if failed:
        terminal.warn(f"{failed:,} cells failed; claims are checked with the others.")
    terminal.sentence(f"**{_counted(found.counts)}** in the {found.design} design.")
    terminal.show()
    terminal.files({word: str(path) for word, path in files.items()})
    raise typer.Exit(code)


def _counted(counts: dict[str, int]) -> str:
    return "Claims: " + ", ".join(f"{number} {verdict}" for verdict, number in counts.items())
