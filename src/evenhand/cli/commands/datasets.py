"""evenhand datasets: list the data sets, show one, or fetch one."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from evenhand.cli import options as shared
from evenhand.cli.help import PanelCommand
from evenhand.cli.options import DATA, argument, complete_name
from evenhand.cli.terminal.console import Column, Terminal
from evenhand.datasets import DATASETS, describe, load
from evenhand.datasets.registry import describe_place

EXAMPLE = """\
  evenhand datasets
  evenhand datasets show adult
  evenhand datasets fetch compas
"""
_PLACES = (
    "Files are looked for in the folder named by EVENHAND_DATA, then in the cache (EVENHAND_CACHE, or the "
    "usual folder for caches), and are then downloaded where their source is online."
)


class _ByName(TyperGroup):
    """The commands of data sets; the name of one alone shows it."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        return super().resolve_command(ctx, ["show", *args] if args[0] in DATASETS else args)


app = typer.Typer(
    cls=_ByName,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    no_args_is_help=False,
)


OnlyNames = Annotated[bool, shared.output_option("", "Only the names.", "--quiet", "-q")]
Name = Annotated[str, argument(DATA, "NAME", "Of {datasets}.", complete_name("datasets"))]


@app.callback(invoke_without_command=True, epilog=f"\b\nExample:\n{EXAMPLE}")
def datasets(context: typer.Context, *, as_json: shared.AsJson = False, quiet: OnlyNames = False) -> None:
    """List the data sets, show one, or fetch one."""
    if context.invoked_subcommand is not None:
        return
    terminal = Terminal(as_json=as_json, quiet=quiet)
    rows = [{"name": name, "title": title, "where": describe_place(name)} for name, title in DATASETS.items()]
    terminal.object({"command": "datasets", "datasets": rows, "places": _PLACES, "exit": 0})
    if quiet and not as_json:
        for row in rows:
            terminal.results.print(row["name"])
    columns = [Column("Name"), Column("What it is", wraps=True), Column("Where")]
    terminal.table(columns, [[(row[key], "") for key in ("name", "title", "where")] for row in rows])
    terminal.show()
    terminal.sentence(_PLACES)


@app.command(cls=PanelCommand, epilog="\b\nExample:\n  evenhand datasets show adult")
def show(name: Name, *, as_json: shared.AsJson = False) -> None:
    """Say what a data set is, its options, its files and whom to cite."""
    terminal = Terminal(as_json=as_json)
    description = describe(name)
    terminal.object(
        {
            "command": "datasets",
            "name": description.name,
            "title": description.title,
            "about": description.about,
            "citation": description.citation,
            "options": [str(option) for option in description.options],
            "files": [str(file) for file in description.files],
            "departures": list(description.departures),
            "where": describe_place(name),
            "exit": 0,
        }
    )
    terminal.sentence(f"**{description.name}**: {description.title}")
    terminal.sentence(description.about)
    terminal.show()
    for word, texts in (
        ("Cite", [description.citation]),
        ("Option", description.options),
        ("File", description.files),
        ("Differs", description.departures),
        ("Here", [describe_place(name)]),
    ):
        for text in texts:
            terminal.fact(word, str(text))


@app.command(cls=PanelCommand, epilog="\b\nExample:\n  evenhand datasets fetch compas")
def fetch(name: Name, *, as_json: shared.AsJson = False, quiet: shared.Quiet = False) -> None:
    """Download what a data set needs, check it, and keep it in the cache."""
    terminal = Terminal(as_json=as_json, quiet=quiet)
    terminal.say("Fetching", name)
    dataset = load(name, backend="pyarrow")
    files = [file.name for file in dataset.provenance.files]
    rows = dataset.provenance.rows
    licence = dataset.provenance.licence
    terminal.object(
        {"command": "datasets", "name": name, "rows": rows, "files": files, "licence": licence, "exit": 0}
    )
    terminal.fact("Ready", f"{name}, {rows:,} rows, checked; licence: {licence}")
