"""evenhand datasets: list the data sets, show one, or fetch one."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from evenhand.cli import options as given  # noqa: TC001 - typer reads the annotations
from evenhand.cli.terminal.console import Terminal, fit

__all__ = ["app"]

EXAMPLE = """\
  evenhand datasets
  evenhand datasets show adult
  evenhand datasets fetch compas
"""
_PLACES = (
    "Files are looked for in the folder named by EVENHAND_DATA, then in the cache (EVENHAND_CACHE, or the "
    "usual folder for caches), and are then downloaded where their source is online."
)

app = typer.Typer(
    add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False, no_args_is_help=False
)


def _named(incomplete: str) -> list[str]:
    from evenhand.datasets import DATASETS  # noqa: PLC0415 - starts numpy

    return [name for name in DATASETS if name.startswith(incomplete)]


OnlyNames = Annotated[bool, typer.Option("--quiet", "-q", help="Only the names.")]
Name = Annotated[str, typer.Argument(metavar="NAME", help="A data set.", autocompletion=_named)]


@app.callback(invoke_without_command=True, epilog=f"\b\nExample:\n{EXAMPLE}")
def datasets(context: typer.Context, *, as_json: given.AsJson = False, quiet: OnlyNames = False) -> None:
    """List the data sets, show one, or fetch one."""
    if context.invoked_subcommand is not None:
        return
    from evenhand.datasets import DATASETS  # noqa: PLC0415 - starts numpy

    terminal = Terminal(as_json=as_json, quiet=quiet)
    rows = [{"name": name, "title": title, "where": _where(name)} for name, title in DATASETS.items()]
    terminal.object({"command": "datasets", "datasets": rows, "places": _PLACES, "exit": 0})
    if quiet and not as_json:
        for row in rows:
            terminal.results.print(row["name"])
    terminal.show(_table(terminal, rows))
    terminal.show()
    terminal.sentence(_PLACES)


@app.command(epilog="\b\nExample:\n  evenhand datasets show adult")
def show(name: Name, *, as_json: given.AsJson = False) -> None:
    """Say what a data set is, its options, its files and whom to cite."""
    from evenhand.datasets import describe  # noqa: PLC0415 - starts numpy

    terminal = Terminal(as_json=as_json)
    found = describe(name)
    terminal.object(
        {
            "command": "datasets",
            "name": found.name,
            "title": found.title,
            "about": found.about,
            "citation": found.citation,
            "options": [str(each) for each in found.options],
            "files": [str(each) for each in found.files],
            "departures": list(found.departures),
            "where": _where(name),
            "exit": 0,
        }
    )
    terminal.sentence(f"**{found.name}**: {found.title}")
    terminal.sentence(found.about)
    terminal.show()
    for word, texts in (
        ("Cite", [found.citation]),
        ("Option", found.options),
        ("File", found.files),
        ("Differs", found.departures),
        ("Here", [_where(name)]),
    ):
        for text in texts:
            terminal.fact(word, str(text))


@app.command(epilog="\b\nExample:\n  evenhand datasets fetch compas")
def fetch(name: Name, *, as_json: given.AsJson = False, quiet: given.Quiet = False) -> None:
    """Download what a data set needs, check it, and keep it in the cache."""
    from evenhand.datasets import load  # noqa: PLC0415 - starts numpy

    terminal = Terminal(as_json=as_json, quiet=quiet)
    terminal.say("Fetching", name)
    found = load(name, backend="pyarrow")
    files = [each.name for each in found.provenance.files]
    rows = found.provenance.rows
    licence = found.provenance.licence
    terminal.object(
        {"command": "datasets", "name": name, "rows": rows, "files": files, "licence": licence, "exit": 0}
    )
    terminal.fact("Ready", f"{name}, {rows:,} rows, checked; licence: {licence}")


def _where(name: str) -> str:
    """Say whether the files of a data set are on this machine."""
    from evenhand.datasets import describe  # noqa: PLC0415 - starts numpy
    from evenhand.datasets.download.files import places  # noqa: PLC0415 - as above

    found = describe(name)
    if found.built_in:
        return "built in"
    folders = [place.folder for place in places(None)]
    here = [
        any((folder / f"{file.stem}{end}").is_file() for folder in folders for end in (".csv.gz", ".csv"))
        for file in found.files
    ]
    if all(here):
        return "on this machine"
    if any(here):
        return "partly on this machine"
    return "downloaded when asked for" if any(file.download for file in found.files) else "to be got by hand"


def _table(terminal: Terminal, rows: list[dict[str, str]]) -> Any:
    from rich.table import Table  # noqa: PLC0415 - rich loads when a command speaks

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for title in ("Name", "What it is", "Where"):
        table.add_column(title, no_wrap=title != "What it is")
    for row in rows:
        table.add_row(*(fit(row[key], terminal.results.encoding) for key in ("name", "title", "where")))
    return table
