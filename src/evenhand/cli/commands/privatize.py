"""evenhand privatize: randomise the sensitive columns of a file, for release."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evenhand.cli import options as given
from evenhand.cli.terminal.console import Terminal, spelled, wrong_use
from evenhand.cli.terminal.refusals import refuse_empty, refuse_other_marks, refuse_overwritten

if TYPE_CHECKING:
    from evenhand.engine.privatize import Privatized
    from evenhand.schema import Schema

__all__ = ["privatize"]

EXAMPLE = """\
  evenhand privatize people.csv reports.csv --schema schema.toml --epsilon 1
  evenhand privatize people.parquet reports.parquet --schema schema.toml --epsilon 2 \\
      --protocol olh --columns race,age --only-reports
  evenhand privatize people.csv reports.csv --schema schema.toml --epsilon 1 \\
      --protocol optimal --outcomes census.toml --columns race
"""

_NO_SCHEMA = (
    "--schema is missing: a file that declares the values each column may have, from a code list or a "
    "questionnaire. Hint: write one, or in Python start from Schema.infer(frame).save('schema.toml') and "
    "replace what it read by what is public; --infer-schema takes the values of these rows, which leaks."
)

Source = Annotated[Path, typer.Argument(metavar="IN", help="A CSV or Parquet file, one row per person.")]
Target = Annotated[Path, typer.Argument(metavar="OUT", help="The file to write, by its name CSV or Parquet.")]
Epsilon = Annotated[str, typer.Option(metavar="NUMBER", help="Of a person's whole row, such as 1 or 1/2.")]
Protocol = Annotated[
    str,
    typer.Option(
        metavar="NAME", help="grr, blh, olh, rappor, oue, ss, the, best, optimal; or race=grr,age=oue."
    ),
]
Outcomes = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="For optimal: public weights and rates (TOML or JSON), with a source."),
]
Weights = Annotated[
    list[str] | None, typer.Option(metavar="LIST", help="For optimal: the public share of each group.")
]
Rates = Annotated[
    list[str] | None, typer.Option(metavar="LIST", help="For optimal: the public outcome rate of each group.")
]
Split = Annotated[str, typer.Option(metavar="NAME", help="uniform, k-based, optimal, or sample.")]
Strategy = Annotated[str, typer.Option(metavar="NAME", help="independent, combined, or single.")]
Columns = Annotated[
    list[str] | None, typer.Option(metavar="COLUMNS", help="What to randomise. [the schema's sensitive ones]")
]
Keep = Annotated[
    list[str] | None, typer.Option(metavar="COLUMNS", help="What to pass on in the clear. [all others]")
]
OnlyReports = Annotated[bool, typer.Option("--only-reports", help="Pass nothing on in the clear.")]
InferSchema = Annotated[
    bool, typer.Option("--infer-schema", help="Read the domains of --columns from the rows, which leaks.")
]
Simulate = Annotated[
    int | None, typer.Option(metavar="SEED", help="Draw with a seed: marked simulated, no guarantee.")
]
KeepOrder = Annotated[
    bool, typer.Option("--keep-order", help="Write people in the order of IN, which then is in the clear.")
]
Overwrite = Annotated[
    bool, typer.Option("--overwrite", help="Replace files and links that are there, also those beside OUT.")
]
BatchRows = Annotated[int | None, typer.Option(metavar="N", help="Rows at a time. [262144]")]


def privatize(  # noqa: PLR0913 - one option each
    source: Source,
    out: Target,
    *,
    epsilon: Epsilon,
    schema: given.SchemaFile = None,
    protocol: Protocol = "grr",
    outcomes: Outcomes = None,
    weights: Weights = None,
    rates: Rates = None,
    split: Split = "optimal",
    strategy: Strategy = "independent",
    columns: Columns = None,
    keep: Keep = None,
    only_reports: OnlyReports = False,
    infer_schema: InferSchema = False,
    simulate: Simulate = None,
    keep_order: KeepOrder = False,
    overwrite: Overwrite = False,
    batch_rows: BatchRows = None,
    as_json: given.AsJson = False,
    quiet: given.Quiet = False,
) -> None:
    """Randomise the sensitive columns of a file, for release.

    Each row is one person. Files of any length are read and written in batches, and people come out in a
    random order. OUT.schema.toml and OUT.guarantee.json stand beside the result; 'evenhand estimate' needs
    them.
    """
    from evenhand.cli.outcomes import outcomes_of, solving_told  # noqa: PLC0415 - used here alone
    from evenhand.cli.terminal.rows_progress import rows_followed  # noqa: PLC0415 - as above
    from evenhand.engine.privatize import privatize_file  # noqa: PLC0415 - starts numpy
    from evenhand.table.batches import BATCH_ROWS  # noqa: PLC0415 - as above
    from evenhand.table.side_files import side_files  # noqa: PLC0415 - as above

    terminal = Terminal(as_json=as_json, quiet=quiet)
    if only_reports and keep:
        wrong_use("--only-reports and --keep contradict each other.")
    refuse_empty({"columns": columns}, "columns")
    refuse_empty({"keep": keep}, "keep", hint="--only-reports passes nothing on in the clear.")
    _refuse_early(source, out, epsilon, overwrite=overwrite)
    chosen = given.listed(columns) or None
    refuse_overwritten({"--schema": schema, "--outcomes": outcomes}, (out, *side_files(out)), other="OUT")
    declared = _schema(source, schema, chosen, infer=infer_schema)
    public = outcomes_of(outcomes, weights, rates, protocol)
    with rows_followed(terminal, "Drawing") as progress:
        made = privatize_file(
            source,
            out,
            schema=declared,
            epsilon=epsilon,
            protocol=_protocol(protocol) if public is None else public,
            split=split,
            strategy=strategy,
            columns=chosen,
            keep=() if only_reports else given.listed(keep) or None,
            simulate=simulate,
            keep_order=keep_order,
            overwrite=overwrite,
            batch_rows=BATCH_ROWS if batch_rows is None else batch_rows,
            progress=progress,
            solving=None if public is None else solving_told(terminal, groups=public.k),
        )
    _tell(terminal, made)


def _refuse_early(source: Path, out: Path, epsilon: str, *, overwrite: bool) -> None:
    """Refuse what can be refused before the rows are read, which may take long."""
    from evenhand.engine.places import Places  # noqa: PLC0415 - starts numpy
    from evenhand.privacy.rational import exact  # noqa: PLC0415 - as above
    from evenhand.table.batches import STREAM_LIMITS, file_columns, file_form  # noqa: PLC0415 - as above

    file_form(out, owner="privatize_file", parameter="out")
    exact(epsilon, name="epsilon", owner="privatize_file", above=0, most=1_000_000)
    refuse_other_marks(source.name, file_columns(source, limits=STREAM_LIMITS))
    Places.of(out, taken_by=source, overwrite=overwrite)


def _schema(source: Path, path: Path | None, columns: tuple[str, ...] | None, *, infer: bool) -> Schema:
    """Return the schema that was declared or, if that was asked for, one that is read from the rows."""
    from evenhand.schema import Schema  # noqa: PLC0415 - starts numpy

    if path is not None and infer:
        wrong_use("--schema and --infer-schema contradict each other.")
    if path is not None:
        return Schema.load(path)
    if not infer:
        wrong_use(_NO_SCHEMA)
    if columns is None:
        wrong_use("--infer-schema needs --columns: what to randomise is for you to say.")
    from evenhand.table.read import read  # noqa: PLC0415 - as above

    rows = read(source, columns=columns)
    if not len(rows):
        wrong_use(f"{source.name} has column names and no rows. Hint: name a file with people in it.")
    return Schema.infer(rows, sensitive=columns)


def _protocol(text: str) -> Any:
    """Return the name of a protocol, or the names for single columns."""
    if "=" not in text:
        return text
    pairs = [each.partition("=") for each in given.listed([text])]
    return {column.strip(): name.strip() for column, _, name in pairs}


def _tell(terminal: Terminal, made: Privatized) -> None:
    from evenhand.report.words import epsilon_of  # noqa: PLC0415 - used here alone

    record = made.record
    if record.simulated:
        terminal.warn("These reports are simulated: drawn with a seed, so no guarantee holds for them.")
    if made.in_clear:
        terminal.warn(
            f"In the clear, and so not protected: {spelled(made.in_clear)}. They may tell what the reports "
            "hide. Hint: --only-reports leaves them out, --keep names those to pass on."
        )
    if made.keeps_order:
        terminal.warn(
            "The order of the rows is in the clear: where the input is sorted by what the reports hide, it "
            "tells nearly every value. Hint: without --keep-order people come out in a random order."
        )
    if made.follow_order:
        terminal.warn(
            f"The order of the input is in the clear: it can be read from {spelled(made.follow_order)}, so "
            "whoever sorts the reports by that has it back. Hint: leave it out, by --keep or --only-reports."
        )
    if made.left_out:
        terminal.say("Left out", spelled(made.left_out))
    terminal.fact("Reports", f"{made.rows:,} of {spelled(record.strategy.columns)}")
    for name in record.strategy.columns:
        law, part = record.strategy.protocols[name], record.strategy.epsilon_within_report(name)
        kind = "grr, combined" if record.strategy.name == "combined" else law.name
        terminal.fact("", f"{name}: {kind}, {law.k:,} values, epsilon {epsilon_of(part, 6)} within a row")
    if made.guarantee is not None:
        terminal.fact("Promise", str(made.guarantee))
    places = made.places
    terminal.files({"Wrote": str(places.out), "Schema": str(places.schema), "Terms": str(places.record)})
    terminal.object(
        {
            "command": "privatize",
            "out": str(places.out),
            "schema": str(places.schema),
            "guarantee": str(places.record),
            "rows": made.rows,
            "epsilon": str(record.strategy.epsilon),
            "simulated": record.simulated,
            "reported": list(record.strategy.columns),
            "in_clear": list(record.in_clear),
            "inferred": list(record.inferred),
            "left_out": list(made.left_out),
            "order": "kept" if made.keeps_order else "shuffled",
            "follow_order": list(made.follow_order),
            "exit": 0,
        }
    )
