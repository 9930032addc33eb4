"""evenhand schema: draft a schema file from rows, or check one against a file."""

from __future__ import annotations

import shlex
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evenhand._part_files import put_in_place, resolve_folder, sweep
from evenhand.cli import options as shared  # noqa: TC001 - typer reads the annotations
from evenhand.cli.asking import AMOUNT, ask_roles
from evenhand.cli.files import typed_format
from evenhand.cli.options import DATA, argument, complete_data, data_option, output_option
from evenhand.cli.roles import (
    open_people,
    read_role_options,
    refuse_empty_table,
    repeat_options,
    report_guesses,
    report_inferred,
    with_choices,
    with_roles_beside,
)
from evenhand.cli.terminal.console import Terminal, quote_names, wrong_use
from evenhand.cli.terminal.ending import FAILED
from evenhand.cli.terminal.refusals import refuse_existing
from evenhand.errors import SchemaError
from evenhand.schema import Schema
from evenhand.schema.infer import open_frame
from evenhand.schema.toml import MAX_BYTES
from evenhand.study.intake.guess import guess
from evenhand.study.intake.opening import open_data
from evenhand.study.intake.schema_file import check_schema, draft_text
from evenhand.study.intake.setup import Setup, missing_roles, set_up
from evenhand.table.encode import read_weights

if TYPE_CHECKING:
    from evenhand.study.intake.opening import Opened
    from evenhand.study.intake.schema_file import Misfit

EXAMPLE = """\
  evenhand schema people.csv
  evenhand schema people.csv --target hired --protected sex --label sex=1:Women --out people.toml
  evenhand schema people.csv --delimiter semicolon --band birth=10y --weight wgt --person id
  evenhand schema people.csv --check schema.toml
"""


def schema(  # noqa: PLR0913 - one option each
    data: Annotated[
        str, argument(DATA, "DATA", "A CSV, Excel or Parquet file, or a data set.", complete_data)
    ],
    *,
    check: Annotated[
        Path | None, data_option("SCHEMA", "Write nothing: say what of a schema does not fit.", "--check")
    ] = None,
    delimiter: shared.Delimiter = None,
    encoding: shared.Encoding = None,
    decimal: shared.Decimal = None,
    sheet: shared.Sheet = None,
    band: shared.Band = None,
    target: shared.Target = None,
    positive: shared.Positive = None,
    protected: shared.Protected = None,
    privileged: shared.Privileged = None,
    sensitive: shared.Sensitive = None,
    drop: shared.Drop = None,
    missing_group: shared.MissingGroup = False,
    labels: shared.Labels = None,
    weight: shared.Weight = None,
    person: shared.Person = None,
    rows_per_person: shared.RowsPerPerson = None,
    pool_below: shared.PoolBelow = None,
    yes: shared.Yes = False,
    out: Annotated[Path, output_option("FILE", "Where the draft goes.", "--out")] = Path("schema.toml"),
    overwrite: shared.Overwrite = False,
    as_json: shared.AsJson = False,
    quiet: shared.Quiet = False,
) -> None:
    """Draft a schema file, or check one against a file.

    Reads types, domains and missing values from the rows, guesses the roles that were not given, and writes
    the reasons into the file as comments. What was read from rows is marked there and should be replaced by
    public lists. On a terminal it asks for roles that could not be guessed.
    With --check it lists by column what does not fit, without a value: exit code 0 if the schema can be used
    with the file, 1 if it cannot.
    """
    terminal = Terminal(as_json=as_json, quiet=quiet)
    typed: dict[str, Any] = {**locals(), "schema": None}
    if check is not None:
        _check(terminal, typed)
    _refuse_early(out, overwrite=overwrite)
    opened = open_people(terminal, typed)
    refuse_empty_table(opened)
    setup, reasons = _draft(terminal, opened, typed)
    text = draft_text(setup, data=opened.source.label, reasons=reasons)
    if len(text.encode()) > MAX_BYTES:
        wrong_use("The draft is larger than a schema file may be. Hint: leave columns out with --drop.")
    place = resolve_folder(out)
    sweep(place.parent)
    with put_in_place(place) as file:
        file.write(text.encode())
    _report(terminal, setup, reasons, typed)


def _refuse_early(out: Path, *, overwrite: bool) -> None:
    """Refuse before the rows are read what can be refused without them."""
    if out.suffix.lower() != ".toml":
        wrong_use(f"--out must end with .toml. Got {out.name!r} instead.")
    if not out.absolute().parent.is_dir():
        wrong_use(f"The folder {out.parent} is not there. Hint: make it, or name another place with --out.")
    refuse_existing(out, overwrite=overwrite)


def _draft(terminal: Terminal, opened: Opened, typed: dict[str, Any]) -> tuple[Setup, tuple[str, ...]]:
    """Return the schema with the roles that were given, guessed or answered, and why they were guessed."""
    words = read_role_options(opened, typed)
    guessed = guess(opened, words)
    report_guesses(terminal, guessed)
    words = guessed.words
    missing = missing_roles(words, opened)
    if missing and terminal.is_interactive and not typed["yes"]:
        words = ask_roles(terminal, opened, words, missing, optional=True)
    try:
        setup = set_up(opened, words)
    except SchemaError as error:
        wrong_use(with_choices(opened, words, error))
    if setup.schema.weight is not None:
        read_weights(open_frame(opened.frame), setup.schema.weight)
    report_inferred(terminal, setup, is_draft=True)
    return setup, guessed.reasons


def _report(terminal: Terminal, setup: Setup, reasons: tuple[str, ...], typed: dict[str, Any]) -> None:
    """Say what was drafted and what to do next."""
    out, drafted = str(typed["out"]), setup.schema
    asked = typed_format(typed)
    data, file = shlex.join([typed["data"], *(asked.options if asked else ())]), shlex.quote(out)
    missing = [
        role for role in ("target", "positive", "protected", "privileged") if getattr(drafted, role) is None
    ]
    terminal.fact("Schema", f"{len(drafted)} columns, {len(drafted.inferred)} of them read from the rows")
    if missing:
        terminal.fact("Missing", f"{quote_names(missing)}: add to [roles] what a study needs, or type it")
    if "positive" in missing and drafted.target and drafted[drafted.target].domain.kind == "binned":
        again = shlex.join([typed["data"], *repeat_options(typed), "--target", drafted.target])
        terminal.show(f"  evenhand schema {again} --positive {shlex.quote(AMOUNT)} --out {file} --overwrite")
    terminal.files({"Wrote": out})
    terminal.fact("Next", "replace what is marked 'inferred' by public lists, then type:")
    terminal.show(f"  evenhand schema {data} --check {file}")
    terminal.show(f"  evenhand audit {data} --schema {file}")
    terminal.object(
        {
            "command": "schema",
            "out": out,
            "columns": [
                {"name": column.name, "kind": column.domain.kind, "inferred": column.inferred}
                for column in drafted
            ],
            "roles": {
                role: getattr(drafted, role)
                for role in ("target", "protected", "sensitive", "quasi_identifiers", "weight", "person")
            },
            "missing": missing,
            "reasons": list(reasons),
            "left_out": dict(setup.left_out),
            "exit": 0,
        }
    )


def _check(terminal: Terminal, typed: dict[str, Any]) -> None:
    """List by column what does not fit, and end with the exit code."""
    if typed["band"]:
        wrong_use("--band goes with a draft, not with --check: the schema declares its bands.")
    declared = with_roles_beside(Schema.load(typed["check"]), typed)
    opened = open_people(terminal, typed)
    read = partial(_read_with, opened, typed["data"])
    misfits = check_schema(declared, opened, read)
    problems = [misfit for misfit in misfits if misfit.is_problem]
    columns: dict[tuple[bool, str], list[str]] = {}
    for misfit in misfits:  # those of which the same is to be said stand in one line
        columns.setdefault((misfit.is_problem, misfit.sentence), []).append(misfit.column)
    for (is_problem, sentence), names in columns.items():
        terminal.mark(
            "misfit" if is_problem else "note",
            f"{quote_names(names)}: {sentence}",
            style="bold red" if is_problem else "dim",
            width=9,
        )
    count = len({misfit.column for misfit in problems})
    fits = (
        "The schema fits the file."
        if not count
        else f"{count} of {len(declared)} columns {'does' if count == 1 else 'do'} not fit."
    )
    terminal.sentence(fits)
    if declared.inferred:
        terminal.warn(f"Read from rows, and not declared: {quote_names(declared.inferred)}.")
    code = FAILED if problems else 0
    terminal.object(
        {
            "command": "schema",
            "fits": not problems,
            "misfits": [_as_json(misfit) for misfit in misfits],
            "inferred": list(declared.inferred),
            "exit": code,
        }
    )
    raise typer.Exit(code)


def _as_json(misfit: Misfit) -> dict[str, Any]:
    return {**vars(misfit), "problem": misfit.is_problem}


def _read_with(opened: Opened, data: str, declared: Schema) -> Any:
    return open_data(data, schema=declared, file_format=opened.source.file_format).frame
