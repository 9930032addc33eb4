"""evenhand reproduce: a paper's claims beside our numbers."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evenhand import papers
from evenhand._validate import one_of
from evenhand.cli import options as shared  # noqa: TC001 - typer reads the annotations
from evenhand.cli.options import DATA, argument, complete_name, design_option, output_option, split_list
from evenhand.cli.terminal.console import Column, Terminal, wrong_use
from evenhand.cli.terminal.ending import FAILED, stop_code
from evenhand.cli.terminal.progress import follow_study
from evenhand.papers.paper import read_designs
from evenhand.study.page.wording import counted
from evenhand.study.tasks.shared.fields import typed_list

if TYPE_CHECKING:
    from evenhand.papers.claims import ClaimRow
    from evenhand.papers.reproduction import Reproduction

EXAMPLE = """\
  evenhand reproduce
  evenhand reproduce arcolezi2023
  evenhand reproduce makhlouf2024 --full --out makhlouf2024
"""
_STYLES = {"agrees": "green", "contradicted": "red", "cannot be checked": "dim"}
_COLUMNS = (
    Column("statement"),
    Column("where", wraps=True),
    Column("paper", wraps=True),
    Column("ours", wraps=True),
    Column("verdict"),
)


def reproduce(
    paper: Annotated[
        str | None,
        argument(DATA, "PAPER", "Of {papers}; without one they are listed.", complete_name("papers")),
    ] = None,
    *,
    full: Annotated[
        bool, design_option("", "The whole design: hours, and it goes on where it stopped.", "--full")
    ] = False,
    design: Annotated[
        str | None, design_option("NAME", "Of {designs}. [the first]", choices="designs")
    ] = None,
    only: Annotated[list[str] | None, design_option("STUDIES", "Some studies of the design. [all]")] = None,
    out: Annotated[Path | None, output_option("FOLDER", "Where results go. [the paper]", "--out")] = None,
    workers: shared.Workers = None,
    as_json: shared.AsJson = False,
    quiet: shared.Quiet = False,
) -> None:
    """Run a paper's study and show its claims beside our numbers.

    Finished cells are kept in the folder, and the same command goes on where it was stopped.
    """
    terminal = Terminal(as_json=as_json, quiet=quiet)
    if paper is None:
        _list_papers(terminal)
        return
    folder = Path(paper) if out is None else out
    studies = split_list(only)
    wanted: dict[str, Any] = {"full": full, "design": design, "only": studies or None}
    chosen = design or ("full" if full else papers.DESIGNS[0])
    one_of("design", chosen, papers.DESIGNS, owner="reproduce")
    if full and chosen != "full":
        wrong_use(f"--full and --design {chosen} contradict each other. Hint: leave one of them out.")
    terminal.say("Design", f"{chosen}. {read_designs(paper).get(chosen, '')}")
    try:
        with follow_study(terminal) as follow:
            reproduction = papers.reproduce(paper, **wanted, out=folder, workers=workers, progress=follow)
    except KeyboardInterrupt:
        typed = ["--full"] if full else ["--design", design] if design else []
        typed += ["--only", typed_list(studies)] if studies else []
        again = shlex.join(["evenhand", "reproduce", paper, *typed, "--out", str(folder)])
        terminal.say("Stopped", f"finished runs are kept. Go on with: {again}")
        terminal.object({"stopped": True, "resume": again, "exit": stop_code()})
        sys.exit(stop_code())
    reproduction.write(folder)
    _show(terminal, paper, reproduction, folder)


def _list_papers(terminal: Terminal) -> None:
    """Show every paper with its designs, and how long each takes."""
    designs = {name: read_designs(name) for name in papers.PAPERS}
    terminal.object({"command": "reproduce", "papers": dict(papers.PAPERS), "designs": designs, "exit": 0})
    for name, title in papers.PAPERS.items():
        terminal.sentence(f"**{name}**  {title}")
        for design, words in designs[name].items():
            terminal.sentence(f"{design}: {words}", indent="  ")


def _show(terminal: Terminal, paper: str, reproduction: Reproduction, folder: Path) -> None:
    """Show every claim with its place, both values and the verdict."""
    failed = sum(len(results.failures) for results in reproduction.studies.values())
    code = FAILED if failed else 0
    files = {"Claims": folder / "claims.md", "Table": folder / "claims.csv"}
    terminal.object(
        {
            "command": "reproduce",
            "paper": paper,
            "design": reproduction.design,
            "summary": reproduction.summary,
            "claims": [vars(claim) for claim in reproduction.claims],
            "counts": reproduction.counts,
            "missing": dict(reproduction.missing),
            "failed": failed,
            "files": {word.lower(): str(path.resolve()) for word, path in files.items()},
            "exit": code,
        }
    )
    terminal.show()
    terminal.sentence(f"**{reproduction.summary}**")
    terminal.sentence(f"This is the {reproduction.design} design; the reasons are in {files['Claims']}.")
    terminal.show()
    terminal.table(_COLUMNS, [_table_cells(row) for row in reproduction.claims])
    terminal.show()
    for name, why in reproduction.missing.items():
        terminal.warn(f"{name} was not run. {why}")
    if failed:
        terminal.warn(f"{counted(failed, 'run')} failed; claims are checked with the others.")
    terminal.files({word: str(path) for word, path in files.items()})
    raise typer.Exit(code)


def _table_cells(row: ClaimRow) -> list[tuple[str, str]]:
    """Return the cells of a claim, each with its style."""
    texts = (row.id, row.where, row.paper, row.value_text)
    return [*((text, "") for text in texts), (row.verdict, _STYLES.get(row.verdict, "yellow"))]
