"""evenhand release: count people into a table and publish it by a mechanism."""

from __future__ import annotations

import math
import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from evenhand.cli import options as shared
from evenhand.cli.files import open_typed, report_format, typed_format
from evenhand.cli.mechanisms import require_parameters
from evenhand.cli.options import (
    DATA,
    argument,
    data_option,
    output_option,
    protection_option,
    split_list,
    warn_of_other_packages,
)
from evenhand.cli.passphrases import load_key
from evenhand.cli.roles import beside_options, read_bands, with_roles_beside
from evenhand.cli.terminal.console import Terminal, quote_names, wrong_use
from evenhand.cli.terminal.refusals import (
    refuse_bands,
    refuse_empty,
    refuse_missing_schema,
    refuse_overwritten,
)
from evenhand.privacy.guarantees.in_clear import READ_FROM_ROWS
from evenhand.privacy.ledger import find_ledger
from evenhand.privacy.rational import exact, float_above
from evenhand.release import Histogram, Laplace, Release, ReleaseMechanism
from evenhand.release.mechanisms.registry import MECHANISMS, TableMechanism
from evenhand.release.postprocess.registry import checked_step, steps_of
from evenhand.release.table.released import COUNT, SUPPRESSED
from evenhand.report.words import number
from evenhand.schema import Schema
from evenhand.schema.infer import open_frame
from evenhand.schema.text import visible
from evenhand.schema.typed_values import label_values
from evenhand.study.intake.setup import column_named
from evenhand.study.page.wording import counted, delta_text
from evenhand.study.tasks.shared.fields import typed_list
from evenhand.study.tasks.shared.table_mechanisms import NO_GUARANTEE, UNITS, title_of
from evenhand.table.limits import STREAM_LIMITS
from evenhand.table.parts import find_parts, names_several, would_be_read
from evenhand.table.read import ENDINGS, detect_file_format, file_columns
from evenhand.table.side_files import (
    classes_path,
    note_path,
    refuse_tables_beside,
    side_files,
    signature_path,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand.study.intake.opening import Opened

EXAMPLE = """\
  evenhand release people.csv --schema schema.toml --columns county,sex,job \\
      --mechanism laplace --epsilon 1 --post nonnegative --out table.csv
  evenhand release people.csv --schema schema.toml --columns county,sex,job \\
      --mechanism thresholded-laplace --epsilon 1 --threshold 10 --out table.parquet
  evenhand release people.csv --schema schema.toml --columns county,sex,job \\
      --mechanism discrete-gaussian --epsilon 1 --delta 1e-9 --out table.csv
"""

_INFERRED = (
    "The values of the columns were read from the rows, not from a public list: that somebody has a value "
    "shows in the table, and the guarantee does not cover it."
)
_WEIGHT = (
    "--weight does not go with release, which counts people: with a weight one person could move a count by "
    "more than the promise covers. Hint: leave it out; audit and measure take weights."
)
_LINES = (
    "Each line of the file was taken for one row, and one that could not be read for a row of values outside "
    "their domains; with persons it was left out. A cell that holds a line end is several rows, which the "
    "guarantee takes for those of several people."
)
_REPEATED = (
    "Values of '{column}' repeat while other columns stay the same within each: one person may have several "
    "rows. What is promised is promised for one row, not for one person. Hint: if '{column}' says whose row "
    "it is, name it with --person."
)
_ENDINGS = (".csv", ".parquet")
_USUAL_EPSILON = "1"
_INSTEAD = {
    True: "noise first, then the threshold, gives a guarantee; a count is off by {error} people on average, "
    "and small cells stay blank",
    False: "Laplace noise gives a guarantee; a count is off by {error} people on average",
}
"""What to do instead and its cost, which no row tells, by whether the mechanism suppresses cells."""


def release(  # noqa: PLR0913 - one option each
    source: Annotated[
        str,
        argument(
            DATA,
            "IN",
            "A CSV, Excel or Parquet file, a folder or a 'pattern*'; one row per person without --person.",
        ),
    ],
    *,
    mechanism: Annotated[
        str, protection_option("NAME", "Of {mechanisms}.", "--mechanism", choices="mechanisms")
    ],
    columns: Annotated[list[str], data_option("COLUMNS", "What is crossed, with commas.")],
    out: Annotated[Path, output_option("FILE", "Where to: .csv or .parquet.", "--out")],
    epsilon: Annotated[
        str | None, protection_option("NUMBER", "Of the whole table, such as 1 or 1/2.")
    ] = None,
    schema: shared.SchemaFile = None,
    delimiter: shared.Delimiter = None,
    encoding: shared.Encoding = None,
    decimal: shared.Decimal = None,
    sheet: shared.Sheet = None,
    broken_rows: Annotated[
        str | None,
        data_option(
            "RULE",
            "Rows that cannot be read: refuse the file, or other: by the rules of the columns. [refuse]",
            "--broken-rows",
        ),
    ] = None,
    unit: Annotated[str, protection_option("WORDS", "Of {units}.")] = UNITS[0],
    threshold: shared.Threshold = None,
    fill: shared.Fill = None,
    k: shared.SmallestGroup = None,
    fraction: shared.Fraction = None,
    delta: shared.Delta = None,
    rho: shared.Rho = None,
    bound: shared.Bound = None,
    post: shared.Post = None,
    quasi: shared.Quasi = None,
    weight: Annotated[
        str | None, shared.role_option("COLUMN", "Refused with a reason.", "--weight", hidden=True)
    ] = None,
    person: shared.Person = None,
    rows_per_person: shared.RowsPerPerson = None,
    infer_schema: shared.InferSchema = False,
    band: shared.Band = None,
    labels: shared.Labels = None,
    ledger: shared.LedgerFile = None,
    purpose: shared.Purpose = None,
    sign: shared.SignFile = None,
    overwrite: Annotated[
        bool,
        output_option("", "Replace files and links that are there, also those beside FILE.", "--overwrite"),
    ] = False,
    as_json: shared.AsJson = False,
    quiet: shared.Quiet = False,
) -> None:
    """Publish a table of counts, with what it promises.

    Every declared cell is counted, empty ones too. Draws from the system's secure source, and writes the
    table and beside it FILE.json, which says what is promised, and the labels of values. No count
    is written or shown but those that the mechanism publishes; suppression publishes true ones.
    """
    terminal = Terminal(as_json=as_json, quiet=quiet)
    typed = dict(locals())
    refuse_empty({"--columns": columns, "--post": post, "--quasi": quasi})
    if weight is not None:
        wrong_use(_WEIGHT)
    chosen = _mechanism(typed)
    steps = steps_of([checked_step(step) for step in split_list(post)])
    taken = {COUNT: "of counts"} | ({SUPPRESSED: "of suppressed cells"} if chosen.suppresses else {})
    for name in taken.keys() & set(split_list(columns)):
        message = f"--columns names '{name}', as the column {taken[name]} is called in the table."
        wrong_use(f"{message} Hint: rename it in the file and in the schema.")
    _refuse_early(source, {"--schema": schema, "--sign": sign}, out, overwrite=overwrite)
    key = load_key(terminal, sign)
    histogram, declared = _count_people(terminal, typed)
    charged = _find_ledger(ledger, source)
    warnings = []
    if histogram.repeats is not None:
        warnings.append(_REPEATED.format(column=visible(histogram.repeats)))
        terminal.warn(warnings[0])
    published = chosen.release(histogram, post=steps, ledger=charged, purpose=purpose)
    warnings += warn_of_other_packages(terminal, MECHANISMS, [chosen.name])
    warnings += [_INFERRED] if declared.inferred else []
    warnings += [_LINES] if broken_rows == "other" else []
    published.write(out, warnings=warnings, sign=key)
    _report(terminal, published, typed)


def _mechanism(typed: dict[str, Any]) -> ReleaseMechanism:
    """Return the mechanism that was asked for; what it lacks, and what does not go with it, is refused."""
    name = typed["mechanism"].strip().lower()
    parameters = require_parameters(name, typed)
    chosen = TableMechanism(name, parameters)
    epsilon = typed["epsilon"]
    if chosen.takes_epsilon and epsilon is None:
        wrong_use(f"--epsilon is missing: how much {name} may give away about a person, such as 1.")
    if not chosen.takes_epsilon and epsilon is not None:
        wrong_use(f"--epsilon does not go with {name}{' and --rho' if 'rho' in parameters else ''}.")
    amount = None if epsilon is None else exact(epsilon, name="epsilon", owner=name, above=0, most=1_000_000)
    return chosen.build(epsilon=amount, unit=typed["unit"])


def _refuse_early(source: str, read: dict[str, Path | None], out: Path, *, overwrite: bool) -> None:
    """Refuse what can be refused before the rows are read, which may take long."""
    if out.suffix.lower() not in _ENDINGS:
        wrong_use(f"--out must end with {' or '.join(_ENDINGS)}. Got {out.name!r} instead.")
    written = (out, *side_files(out))
    refuse_overwritten(read, written, other="--out")
    if Path(source).exists() and Path(source).resolve() in {file.resolve() for file in written}:
        wrong_use("--out is IN, which would be written over. Hint: choose another name.")
    if would_be_read(source, out):
        wrong_use("--out is among the files of IN, of which it would be one. Hint: choose another folder.")
    if not out.absolute().parent.is_dir():
        wrong_use(f"The folder {out.parent} is not there. Hint: make it, or name another place with --out.")
    there = [file for file in written if os.path.lexists(file)]  # a link that leads nowhere too
    if there and not overwrite:
        message = f"There is a file {there[0]} already."
        wrong_use(f"{message} Hint: choose another name, or replace it with --overwrite.")
    refuse_tables_beside(out)


def _find_ledger(ledger: Any, source: str) -> Any:
    """Return the ledger to charge; of several files one beside them, or beside their folder."""
    if not names_several(source):
        return find_ledger(ledger, data=source)
    beside = find_ledger(ledger, data=find_parts(source, endings=ENDINGS).files[0])
    return find_ledger(ledger, data=source) if beside is None else beside


def _count_people(terminal: Terminal, typed: dict[str, Any]) -> tuple[Histogram, Schema]:
    """Return the table, and the schema it was counted by; declared files are read in batches."""
    source = typed["source"]
    if names_several(source) and typed["infer_schema"]:
        wrong_use("--infer-schema reads one file. Hint: declare the values with --schema.")
    is_declared = typed["schema"] is not None and not typed["infer_schema"]
    if typed["broken_rows"] == "other" and not is_declared:
        wrong_use("--broken-rows other needs the columns with their rules. Hint: declare them with --schema.")
    if not is_declared or not (Path(source).is_file() or names_several(source)):
        opened, schema = _open_table(terminal, typed)
        return Histogram.count(opened.frame, _with_quasi(schema, typed), bound=typed["bound"]), schema
    asked = typed_format(typed)
    refuse_missing_schema(typed["schema"], infer=typed["infer_schema"])
    refuse_bands(read_bands(typed["band"]), infer=typed["infer_schema"])
    declared = _declared_schema(typed)
    written = detect_file_format(source, asked, limits=STREAM_LIMITS)
    report_format(terminal, Path(source).name, written.assumed_beside(asked))
    names = file_columns(source, limits=STREAM_LIMITS, file_format=written)
    chosen = split_list(typed["columns"], names)
    terminal.say("Reading", f"{Path(source).name}: {quote_names(chosen)}")
    schema = label_values(declared.select(chosen), typed["labels"] or ())
    schema = schema.with_roles(**_roles_of_people(names, declared, typed))
    table = Histogram.count(source, _with_quasi(schema, typed), bound=typed["bound"], file_format=written)
    return table, schema


def _declared_schema(typed: dict[str, Any]) -> Schema:
    declared = with_roles_beside(Schema.load(typed["schema"]), typed)
    if declared.weight is not None:
        wrong_use(_WEIGHT.replace("--weight", "The role weight"))
    return declared.select(split_list(typed["columns"], declared.names))


def _open_table(terminal: Terminal, typed: dict[str, Any]) -> tuple[Opened, Schema]:
    """Return the rows, and the schema that was declared or, if that was asked for, is read from them."""
    path, infer = typed["schema"], typed["infer_schema"]
    if path is not None or infer or Path(typed["source"]).exists() or names_several(typed["source"]):
        refuse_missing_schema(path, infer=infer)  # a data set brings its own
    bands = read_bands(typed["band"])
    refuse_bands(bands, infer=infer)
    declared = None if path is None else _declared_schema(typed)
    opened = open_typed(terminal, typed["source"], typed_format(typed), schema=declared)
    schema = opened.schema if declared is None and not infer else declared
    names = split_list(typed["columns"], opened.names)
    terminal.say("Reading", f"{opened.source.label}: {quote_names(names)}")
    if schema is None:
        if not opened.rows:
            wrong_use(f"{opened.source.label} has column names and no rows.")
        rows = open_frame(opened.frame).select(list(names)).to_native()
        schema = Schema.infer(rows, sensitive=names, bands=bands).with_roles(sensitive=None)
    labelled = label_values(schema.select(names), typed["labels"] or ())
    return opened, labelled.with_roles(**_roles_of_people(opened.names, schema, typed))


def _roles_of_people(names: Sequence[str], schema: Schema, typed: dict[str, Any]) -> dict[str, Any]:
    """Return who the person of a row is, where that was typed and no declared schema has it already."""
    beside = beside_options(typed)
    if beside["person"] is None or schema.person is not None:
        return {}
    person = column_named(beside["person"], names)
    return {"person": person, "rows_per_person": beside["rows_per_person"]}


def _with_quasi(schema: Schema, typed: dict[str, Any]) -> Schema:
    quasi = split_list(typed["quasi"], schema.names)
    return schema.with_roles(quasi_identifiers=quasi) if quasi else schema


def _report(terminal: Terminal, published: Release, typed: dict[str, Any]) -> None:
    out = typed["out"]
    guarantee, histogram, name = published.guarantee, published.histogram, published.mechanism.name
    meaningless = str(guarantee.trust) == "none" or guarantee.delta >= NO_GUARANTEE
    delta = float_above(guarantee.delta)
    if meaningless:
        terminal.warn(
            f"No meaningful guarantee: delta = {delta_text(delta)}. With about this chance the "
            "table tells one person's record from another's, whatever epsilon says."
        )
    warned = (READ_FROM_ROWS,) if typed["infer_schema"] else ()  # by the inference itself
    in_clear = [name for name in guarantee.in_clear if name not in warned]
    if in_clear and not meaningless:
        terminal.warn(f"In the clear, and so not protected: {quote_names(in_clear)}.")
    columns = " x ".join(quote_names([column]) for column in histogram.columns)
    cells = counted(histogram.size, "cell")
    terminal.fact("Table", f"{columns}: {cells}, by {title_of(name)}")
    if MECHANISMS[name].suppresses and not histogram.is_sparse:
        terminal.fact("Blanks" if published.fill is None else "Filled", _suppressed_text(published))
    if published.postprocessing:
        terminal.fact("Then", "; ".join(published.postprocessing))
    terminal.fact("Promise", str(guarantee))
    if published.charge is not None:
        terminal.fact("Charged", str(published.charge))
    instead = _instead(published, typed) if meaningless else ""
    if instead:
        terminal.fact("Instead", _INSTEAD[MECHANISMS[name].suppresses].format(error=_error_of_noise(typed)))
        terminal.show(f"  {instead}")
    files = _report_files(terminal, published, typed)
    terminal.object(
        {
            "command": "release",
            "out": str(out),
            "note": files["Terms"],
            "signature": files.get("Signed"),
            "mechanism": published.mechanism.to_dict(),
            "columns": list(histogram.columns),
            "cells": histogram.size,
            "epsilon": None if guarantee.epsilon is None else str(guarantee.epsilon),
            "delta": delta,
            "rho": None if guarantee.rho is None else str(guarantee.rho),
            "unit": str(guarantee.unit),
            "meaningful": not meaningless,
            "postprocessing": list(published.postprocessing),
            "simulated": published.simulated,
            "ledger_entry": None if published.charge is None else published.charge.reference(),
            "next": [instead] if instead else [],
            "exit": 0,
        }
    )


def _instead(published: Release, typed: dict[str, Any]) -> str:
    """Return the command that publishes the same table with a guarantee, in its place."""
    threshold = (
        getattr(published.mechanism, "threshold", None)
        if MECHANISMS[published.mechanism.name].suppresses
        else None
    )
    options: dict[str, object] = {
        "--schema": typed["schema"],
        "--columns": typed_list(published.histogram.columns),
        "--mechanism": "laplace" if threshold is None else "thresholded-laplace",
        "--epsilon": _USUAL_EPSILON,
        "--threshold": threshold,
        "--unit": None if typed["unit"] == UNITS[0] else typed["unit"],
        "--bound": typed["bound"],
        "--post": ",".join(split_list(typed["post"])) or None,
        "--out": typed["out"],
    }
    words = [word for name, value in options.items() if value is not None for word in (name, str(value))]
    words += ["--infer-schema"] if typed["infer_schema"] else []
    return shlex.join(["evenhand", "release", typed["source"], *words, "--overwrite"])


def _error_of_noise(typed: dict[str, Any]) -> str:
    """Return by how much Laplace noise moves a count on average."""
    scale = Laplace(epsilon=_USUAL_EPSILON, unit=typed["unit"]).law.scale
    return number(1 / math.sinh(1 / float(scale)), 2)


def _suppressed_text(published: Release) -> str:
    """Return what stands in the suppressed cells of the table."""
    filled = "have no count" if published.fill is None else f"hold {published.fill:g}, which nobody counted"
    return f"suppressed cells {filled}; the column '{SUPPRESSED}' marks them"


def _report_files(terminal: Terminal, published: Release, typed: dict[str, Any]) -> dict[str, str]:
    """Say which files were written, and return them by the word that stands before each."""
    out, note = typed["out"], note_path(typed["out"])
    files = {"Wrote": str(out), "Terms": str(note)}
    if published.classes is not None:
        files["Classes"] = str(classes_path(out))
    if typed["sign"] is not None:
        files["Signed"] = str(signature_path(note))
    terminal.files(files)
    return files
