"""evenhand release: count people into a table and publish it by a mechanism."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evenhand.cli import options as given
from evenhand.cli.terminal.console import Terminal, spelled, wrong_use
from evenhand.cli.terminal.refusals import refuse_empty, refuse_other_marks, refuse_overwritten

if TYPE_CHECKING:
    from evenhand.release.mechanisms.mechanism import ReleaseMechanism
    from evenhand.release.table.histogram import Histogram
    from evenhand.release.table.released import Release
    from evenhand.schema import Schema
    from evenhand.study.intake.opening import Opened

__all__ = ["release"]

EXAMPLE = """\
  evenhand release people.csv --schema schema.toml --columns county,sex,job \\
      --mechanism laplace --epsilon 1 --post nonnegative --out table.csv
  evenhand release people.csv --schema schema.toml --columns county,sex,job \\
      --mechanism thresholded-laplace --epsilon 1 --threshold 10 --out table.parquet
  evenhand release people.csv --schema schema.toml --columns county,sex,job \\
      --mechanism discrete-gaussian --epsilon 1 --delta 1e-9 --out table.csv
"""

_NO_SCHEMA = (
    "--schema is missing: a file that declares the values each column may have, from a code list or a "
    "questionnaire. Hint: write one, or in Python start from Schema.infer(frame).save('schema.toml') and "
    "replace what it read by what is public; --infer-schema takes the values of these rows, which leaks."
)
_INFERRED = (
    "The values of the columns were read from the rows, not from a public list: that somebody has a value "
    "shows in the table, and the guarantee does not cover it."
)
_ENDINGS = (".csv", ".parquet")
COUNT = "count"
"""How the column of counts is called in the table."""

Source = Annotated[str, typer.Argument(metavar="IN", help="A CSV or Parquet file, one row per person.")]
Target = Annotated[Path, typer.Option("--out", metavar="FILE", help="Where to: .csv or .parquet.")]
Epsilon = Annotated[str | None, typer.Option(metavar="NUMBER", help="Of the whole table, such as 1 or 1/2.")]
Columns = Annotated[list[str], typer.Option(metavar="COLUMNS", help="What is crossed, with commas.")]
InferSchema = Annotated[
    bool, typer.Option("--infer-schema", help="Read the domains of --columns from the rows, which leaks.")
]
Overwrite = Annotated[
    bool, typer.Option("--overwrite", help="Replace files and links that are there, also those beside FILE.")
]


def release(  # noqa: PLR0913 - one option each
    source: Source,
    *,
    mechanism: given.OneMechanism,
    columns: Columns,
    out: Target,
    epsilon: Epsilon = None,
    schema: given.SchemaFile = None,
    unit: given.UnitOfPrivacy = "replace one",
    threshold: given.Threshold = None,
    k: given.SmallestGroup = None,
    fraction: given.Fraction = None,
    delta: given.Delta = None,
    rho: given.Rho = None,
    bound: given.Bound = None,
    post: given.Post = None,
    quasi: given.Quasi = None,
    infer_schema: InferSchema = False,
    overwrite: Overwrite = False,
    as_json: given.AsJson = False,
    quiet: given.Quiet = False,
) -> None:
    """Publish a table of counts, with what it promises.

    Every declared cell is counted, empty ones too. Draws from the system's secure source, and writes the
    table and beside it FILE.json, which says what is promised. No true count is written or shown.
    """
    terminal = Terminal(as_json=as_json, quiet=quiet)
    typed = dict(locals())
    refuse_empty(typed, "columns", "post", "quasi")
    made = _mechanism(typed)
    steps = _steps(post)
    if COUNT in given.listed(columns):
        said = f"--columns names '{COUNT}', as the column of counts is called in the table."
        wrong_use(f"{said} Hint: rename it in the file and in the schema.")
    _refuse_early(source, schema, out, overwrite=overwrite)
    opened, declared = _opened(terminal, typed)
    histogram = _counted(opened, declared, typed)
    published = made.release(histogram, post=steps)
    published.write(out, warnings=[_INFERRED] if declared.inferred else [])
    _tell(terminal, published, out)


def _mechanism(typed: dict[str, Any]) -> ReleaseMechanism:
    """Return the mechanism that was asked for; what it lacks, and what does not go with it, is refused."""
    from evenhand.cli.tasks.release_options import parameters_of  # noqa: PLC0415 - starts numpy
    from evenhand.privacy.rational import exact  # noqa: PLC0415 - as above
    from evenhand.study.tasks.shared.table_mechanisms import TableMechanism  # noqa: PLC0415 - as above

    name = typed["mechanism"].strip().lower()
    parameters = parameters_of(name, typed)
    chosen = TableMechanism(name, parameters)
    epsilon = typed["epsilon"]
    if chosen.takes_epsilon and epsilon is None:
        wrong_use(f"--epsilon is missing: how much {name} may give away about a person, such as 1.")
    if not chosen.takes_epsilon and epsilon is not None:
        wrong_use(f"--epsilon does not go with {name}{' and --rho' if 'rho' in parameters else ''}.")
    amount = None if epsilon is None else exact(epsilon, name="epsilon", owner=name, above=0, most=1_000_000)
    return chosen.build(epsilon=amount, unit=typed["unit"])


def _steps(post: list[str] | None) -> list[Any]:
    from evenhand.study.tasks.shared.steps import checked_step, steps_of  # noqa: PLC0415 - starts numpy

    return steps_of([checked_step(step) for step in given.listed(post)])


def _refuse_early(source: str, schema: Path | None, out: Path, *, overwrite: bool) -> None:
    """Refuse what can be refused before the rows are read, which may take long."""
    from evenhand.table.side_files import refuse_tables_beside, side_files  # noqa: PLC0415 - starts numpy

    if out.suffix.lower() not in _ENDINGS:
        wrong_use(f"--out must end with {' or '.join(_ENDINGS)}. Got {out.name!r} instead.")
    written = (out, *side_files(out))
    refuse_overwritten({"--schema": schema}, written, other="--out")
    if Path(source).exists() and Path(source).resolve() in {file.resolve() for file in written}:
        wrong_use("--out is IN, which would be written over. Hint: choose another name.")
    if not out.absolute().parent.is_dir():
        wrong_use(f"The folder {out.parent} is not there. Hint: make it, or name another place with --out.")
    there = [file for file in written if os.path.lexists(file)]  # a link that leads nowhere too
    if there and not overwrite:
        said = f"There is a file {there[0]} already."
        wrong_use(f"{said} Hint: choose another name, or replace it with --overwrite.")
    refuse_tables_beside(out)


def _opened(terminal: Terminal, typed: dict[str, Any]) -> tuple[Opened, Schema]:
    """Return the rows, and the schema that was declared or, if that was asked for, is read from them."""
    from evenhand.schema import Schema  # noqa: PLC0415 - starts numpy
    from evenhand.study.intake.opening import open_data  # noqa: PLC0415 - as above

    path, infer = typed["schema"], typed["infer_schema"]
    if path is not None and infer:
        wrong_use("--schema and --infer-schema contradict each other.")
    if path is None and not infer and Path(typed["source"]).exists():
        wrong_use(_NO_SCHEMA)  # a data set brings its own
    declared = None if path is None else Schema.load(path)
    if declared is not None:
        declared = declared.select(given.listed(typed["columns"], declared.names))
    opened = open_data(typed["source"], schema=declared)
    refuse_other_marks(opened.source.label, opened.names)
    terminal.say("Reading", f"{opened.source.label}, {spelled(opened.names)}")
    found = opened.schema if declared is None and not infer else declared
    names = given.listed(typed["columns"], opened.names)
    if found is None:
        from evenhand.schema.infer import open_frame  # noqa: PLC0415 - as above

        if not opened.rows:
            wrong_use(f"{opened.source.label} has column names and no rows.")
        found = Schema.infer(open_frame(opened.frame).select(list(names)).to_native())
    return opened, found.select(names)


def _counted(opened: Opened, schema: Schema, typed: dict[str, Any]) -> Histogram:
    from evenhand.release.table.histogram import Histogram  # noqa: PLC0415 - starts numpy

    quasi = given.listed(typed["quasi"], schema.names)
    if quasi:
        schema = schema.with_roles(quasi_identifiers=quasi)
    return Histogram.count(opened.frame, schema, bound=typed["bound"])


def _tell(terminal: Terminal, published: Release, out: Path) -> None:
    from evenhand.study.page.wording import counted, delta_text  # noqa: PLC0415 - as above
    from evenhand.study.tasks.shared.claims import rounded_up  # noqa: PLC0415 - as above
    from evenhand.study.tasks.shared.table_mechanisms import NO_GUARANTEE, title_of  # noqa: PLC0415 - starts numpy

    guarantee, histogram, name = published.guarantee, published.histogram, published.mechanism.name
    nothing = str(guarantee.trust) == "none" or guarantee.delta >= NO_GUARANTEE
    delta = rounded_up(guarantee.delta)
    if nothing:
        terminal.warn(
            f"No meaningful guarantee: delta = {delta_text(delta)}. With about this chance the "
            "table tells one person's record from another's, whatever epsilon says."
        )
    if guarantee.in_clear and not nothing:
        said = f"In the clear, and so not protected: {spelled(guarantee.in_clear)}."
        terminal.warn(said)
    columns = " x ".join(spelled([each]) for each in histogram.columns)
    cells = counted(histogram.size, "cell")
    terminal.fact("Table", f"{columns}: {cells}, by {title_of(name)}")
    if published.postprocessing:
        terminal.fact("Then", "; ".join(published.postprocessing))
    terminal.fact("Promise", str(guarantee))
    note = _told_files(terminal, published, out)
    terminal.object(
        {
            "command": "release",
            "out": str(out),
            "note": str(note),
            "mechanism": published.mechanism.to_dict(),
            "columns": list(histogram.columns),
            "cells": histogram.size,
            "epsilon": None if guarantee.epsilon is None else str(guarantee.epsilon),
            "delta": delta,
            "rho": None if guarantee.rho is None else str(guarantee.rho),
            "unit": str(guarantee.unit),
            "meaningful": not nothing,
            "postprocessing": list(published.postprocessing),
            "simulated": published.simulated,
            "exit": 0,
        }
    )


def _told_files(terminal: Terminal, published: Release, out: Path) -> Path:
    """Tell which files were written, and return where the terms are."""
    from evenhand.table.side_files import classes_path, note_path  # noqa: PLC0415 - starts numpy

    note = note_path(out)
    files = {"Wrote": str(out), "Terms": str(note)}
    if published.classes is not None:
        files["Classes"] = str(classes_path(out))
    terminal.files(files)
    return note
