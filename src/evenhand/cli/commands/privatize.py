"""evenhand privatize: randomise the sensitive columns of a file, for release."""

from __future__ import annotations

import json
import math
import time
from dataclasses import asdict
from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import TYPE_CHECKING, Annotated, Any

from evenhand.cli import options as shared  # noqa: TC001 - typer reads the annotations
from evenhand.cli.files import report_format, typed_format
from evenhand.cli.options import (
    DATA,
    OUTPUT,
    argument,
    data_option,
    design_option,
    output_option,
    protection_option,
    split_list,
    warn_of_other_packages,
)
from evenhand.cli.passphrases import load_key
from evenhand.cli.roles import read_bands
from evenhand.cli.terminal.console import Terminal, quote_names, wrong_use
from evenhand.cli.terminal.progress import follow_rows
from evenhand.cli.terminal.refusals import (
    refuse_bands,
    refuse_empty,
    refuse_missing_schema,
    refuse_overwritten,
)
from evenhand.collect import GroupOutcomes
from evenhand.collect.protocols.homes import CLASSES
from evenhand.engine.places import FolderPlaces, Places, goes_into_folder
from evenhand.engine.privatize import Privatized, privatize_file
from evenhand.engine.row_order import GIVES_BACK
from evenhand.privacy.guarantees.units import Unit
from evenhand.privacy.rational import exact
from evenhand.report.words import epsilon_of
from evenhand.schema import Schema
from evenhand.schema.toml import MAX_BYTES, parse_toml, read_text
from evenhand.table.limits import STREAM_LIMITS
from evenhand.table.parts import find_parts, names_several
from evenhand.table.read import ENDINGS, detect_file_format, file_form, read
from evenhand.table.side_files import side_files

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from evenhand.engine.promise import Linkability
    from evenhand.table import FileFormat

EXAMPLE = """\
  evenhand privatize people.csv reports.csv --schema schema.toml --epsilon 1
  evenhand privatize people.parquet reports.parquet --schema schema.toml --epsilon 2 \\
      --protocol olh --columns race,age --keep hired
  evenhand privatize people/ reports/ --schema schema.toml --epsilon 1 --resume
  evenhand privatize people.csv reports.csv --schema schema.toml --epsilon 1 \\
      --protocol optimal --outcomes census.toml --columns race
"""

_DEFAULTS: dict[str, Any] = privatize_file.__kwdefaults__ or {}
_OPTIMAL = "optimal"
_MANY_GROUPS = 30  # from which on the linear programs take seconds
_PAUSE = 2.0  # seconds between two lines about them
_NEEDED = (
    "--protocol optimal needs the share and the outcome rate of each group, and they must be public: these "
    "rows are private. Hint: --outcomes FILE with weights, rates and source; or --weights 0.7,0.3 --rates "
    "0.2,0.6; in the order of the schema's values. In Python, GroupOutcomes also takes a pilot's reports or "
    "a budget."
)


def privatize(  # noqa: PLR0913 - one option each
    source: Annotated[
        Path,
        argument(DATA, "IN", "A CSV, Excel or Parquet file, a folder or a 'pattern*'; one row per person."),
    ],
    out: Annotated[
        Path,
        argument(OUTPUT, "OUT", "The file to write, by its name CSV or Parquet; or a folder, of several."),
    ],
    *,
    epsilon: Annotated[str, protection_option("NUMBER", "Of a person's whole row, such as 1 or 1/2.")],
    schema: shared.SchemaFile = None,
    delimiter: shared.Delimiter = None,
    encoding: shared.Encoding = None,
    decimal: shared.Decimal = None,
    sheet: shared.Sheet = None,
    protocol: Annotated[
        str,
        protection_option(
            "NAME", "{protocols}, or auto: the least variance; or race=grr,age=oue.", choices="protocols"
        ),
    ] = _DEFAULTS["protocol"],
    outcomes: Annotated[
        Path | None,
        protection_option("FILE", "For optimal: public weights and rates (TOML or JSON), with a source."),
    ] = None,
    weights: Annotated[
        list[str] | None, protection_option("LIST", "For optimal: the public share of each group.")
    ] = None,
    rates: Annotated[
        list[str] | None, protection_option("LIST", "For optimal: the public outcome rate of each group.")
    ] = None,
    split: Annotated[str, protection_option("NAME", "Of {splits}.", choices="splits")] = _DEFAULTS["split"],
    strategy: Annotated[
        str, protection_option("NAME", "Of {strategies}.", choices="strategies")
    ] = "independent",
    columns: Annotated[
        list[str] | None, data_option("COLUMNS", "What to randomise. [the schema's sensitive ones]")
    ] = None,
    keep: Annotated[
        list[str] | None, data_option("COLUMNS", "Columns to pass on in the clear. [none]")
    ] = None,
    only_reports: Annotated[
        bool, data_option("", "Pass no column on in the clear, as without --keep.", "--only-reports")
    ] = False,
    linkable: Annotated[
        bool,
        data_option("", "Write it even if more than 5 % of rows are unique on --keep columns.", "--linkable"),
    ] = False,
    infer_schema: shared.InferSchema = False,
    band: shared.Band = None,
    simulate: Annotated[
        int | None, design_option("SEED", "Draw with a seed: marked simulated, no guarantee.")
    ] = None,
    keep_order: Annotated[
        bool,
        output_option("", "Write people in the order of IN, which then is in the clear.", "--keep-order"),
    ] = False,
    ledger: shared.LedgerFile = None,
    purpose: shared.Purpose = None,
    sign: shared.SignFile = None,
    overwrite: Annotated[
        bool,
        output_option("", "Replace files and links that are there, also those beside OUT.", "--overwrite"),
    ] = False,
    batch_rows: Annotated[int, design_option("N", "Rows at a time.")] = _DEFAULTS["batch_rows"],
    workers: shared.FileWorkers = None,
    resume: Annotated[
        bool,
        design_option(
            "", "Keep what is drawn, and its key, if interrupted; the same command goes on.", "--resume"
        ),
    ] = False,
    as_json: shared.AsJson = False,
    quiet: shared.Quiet = False,
) -> None:
    """Randomise the sensitive columns of a file, for release.

    Each row is one report, and a person with several rows is promised epsilon for each. Files of any length
    are read and written in batches, and people come out in a random order. OUT.schema.toml and
    OUT.guarantee.json stand beside the result; 'evenhand estimate' needs them. Of a folder, or of a pattern
    in quotation marks, OUT.parquet gets all people; OUT without an ending becomes a folder with a file of
    reports for each file.
    """
    terminal = Terminal(as_json=as_json, quiet=quiet)
    asked = typed_format(locals())
    if only_reports and keep:
        wrong_use("--only-reports and --keep contradict each other. Hint: leave one of them out.")
    refuse_empty({"--columns": columns})
    refuse_empty({"--keep": keep}, hint="without it nothing is passed on in the clear.")
    _refuse_early(source, out, epsilon, overwrite=overwrite or resume)
    chosen = split_list(columns) or None
    read_files = {"--schema": schema, "--outcomes": outcomes, "--sign": sign}
    refuse_overwritten(read_files, (out, *side_files(out)), other="OUT")
    key = load_key(terminal, sign)
    file_format = _file_format(terminal, source, asked)
    bands = read_bands(band)
    declared = _schema(source, schema, chosen, infer=infer_schema, bands=bands, file_format=file_format)
    public = read_outcomes(outcomes, weights, rates, protocol)
    with follow_rows(terminal, "Drawing") as progress:
        privatized = privatize_file(
            source,
            out,
            schema=declared,
            epsilon=epsilon,
            protocol=_protocol(protocol) if public is None else public,
            split=split,
            strategy=strategy,
            columns=chosen,
            keep=split_list(keep),
            linkable=linkable,
            simulate=simulate,
            file_format=file_format,
            keep_order=keep_order,
            overwrite=overwrite,
            batch_rows=batch_rows,
            progress=progress,
            ledger=ledger,
            purpose=purpose,
            sign=key,
            solving=None if public is None else report_solving(terminal, groups=public.k),
            workers=workers,
            resume=resume,
            measured=lambda links: _warn_of_links(terminal, links, split_list(keep)),
        )
    names = _protocol(protocol)
    warn_of_other_packages(terminal, CLASSES, names.values() if isinstance(names, dict) else [names])
    _report(terminal, privatized, signed=sign is not None)


def _refuse_early(source: Path, out: Path, epsilon: str, *, overwrite: bool) -> None:
    """Refuse what can be refused before the rows are read, which may take long."""
    exact(epsilon, name="epsilon", owner="privatize_file", above=0, most=1_000_000)
    parts = find_parts(source, endings=ENDINGS)
    if goes_into_folder(parts, out):
        FolderPlaces.of(out, parts, overwrite=overwrite)
        return
    file_form(out, owner="privatize_file", parameter="out")
    Places.of(out, taken_by=parts.files, overwrite=overwrite)


def _file_format(terminal: Terminal, source: Path, asked: FileFormat | None) -> FileFormat:
    """Return how the rows are written, and say what was assumed."""
    file_format = detect_file_format(source, asked, limits=STREAM_LIMITS)
    report_format(terminal, source.name, file_format.assumed_beside(asked))
    return file_format


def _schema(
    source: Path,
    path: Path | None,
    columns: tuple[str, ...] | None,
    *,
    infer: bool,
    bands: Mapping[str, str] | None = None,
    file_format: FileFormat | None = None,
) -> Schema:
    """Return the schema that was declared or, if that was asked for, one that is read from the rows."""
    refuse_missing_schema(path, infer=infer)
    refuse_bands(bands or {}, infer=infer)
    if path is not None:
        return Schema.load(path)
    if columns is None:
        wrong_use("--infer-schema needs --columns: what to randomise is for you to say.")
    if names_several(source):
        wrong_use("--infer-schema reads one file. Hint: declare the values with --schema.")
    rows = read(source, columns=columns, file_format=file_format)
    if not len(rows):
        wrong_use(f"{source.name} has column names and no rows. Hint: name a file with people in it.")
    return Schema.infer(rows, sensitive=columns, bands=bands)


def _protocol(text: str) -> Any:
    """Return the name of a protocol, or the names for single columns."""
    if "=" not in text:
        return text
    pairs = [pair.rpartition("=") for pair in split_list([text])]
    return {column.strip(): name.strip() for column, _, name in pairs}


def read_outcomes(
    path: Path | None, weights: list[str] | None, rates: list[str] | None, protocol: str
) -> GroupOutcomes | None:
    """Return what the optimal channel is made from; None where another protocol is asked for."""
    typed = [name for name, words in (("--weights", weights), ("--rates", rates)) if words]
    options = [*(["--outcomes"] if path is not None else []), *typed]
    if protocol.lower() != _OPTIMAL:
        if options:
            wrong_use(f"{' and '.join(options)}: only --protocol optimal takes them.")
        return None
    if path is not None and typed:
        wrong_use(
            "--outcomes and --weights or --rates contradict each other. Hint: leave out one or the other."
        )
    if path is None and len(typed) != 2:
        wrong_use(_NEEDED)
    if path is not None:
        return GroupOutcomes.from_table(_read_table(path), source=path.name)
    table = {"weights": _read_numbers("--weights", weights), "rates": _read_numbers("--rates", rates)}
    return GroupOutcomes.from_table(table, source="as given on the command line")


def _read_numbers(option: str, words: list[str] | None) -> list[float]:
    try:
        return [float(word) for word in split_list(words)]
    except ValueError:
        wrong_use(f"{option} must be numbers with commas between them.")


def _read_table(path: Path) -> Any:
    """Return what a TOML or JSON file holds."""
    text = read_text(path, max_bytes=MAX_BYTES, what="table of outcomes")
    if path.suffix.lower() != ".json":
        return parse_toml(text, max_bytes=MAX_BYTES, what="table of outcomes")
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        wrong_use(f"{path.name} is not valid JSON.")


def report_solving(terminal: Terminal, *, groups: int) -> Callable[[int, int], None] | None:
    """Return what says now and then how far the programs are; None for few groups, or if nobody watches."""
    if groups < _MANY_GROUPS or terminal.quiet or terminal.as_json or not terminal.notices.is_terminal:
        return None
    last = -math.inf

    def report(done: int, about: int) -> None:
        nonlocal last
        if time.monotonic() - last >= _PAUSE:
            last = time.monotonic()
            terminal.say("Solving", f"{groups} groups: {done} of about {max(done, about)} linear programs")

    return report


def _warn_of_links(terminal: Terminal, links: Linkability, columns: Sequence[str]) -> None:
    """Say how many rows link to one person each, to whoever holds them, before anything is written."""
    if links.unique_share:
        terminal.warn(links.describe(columns))
    else:
        terminal.say("Links", links.describe(columns))


def _warn(terminal: Terminal, privatized: Privatized) -> None:
    """Say what the reports do not hide, and which tell hardly anything."""
    record = privatized.record
    if record.simulated:
        terminal.warn("These reports are simulated: drawn with a seed, so no guarantee holds for them.")
    if privatized.guarantee is not None and privatized.guarantee.unit is Unit.ONE_REPORT:
        terminal.warn(
            "One person seems to have several rows, or the schema says so: what is promised is promised for "
            "one row, not for one person. Hint: the promise names the column."
        )
    if privatized.in_clear:
        terminal.warn(
            f"In the clear, and so not protected: {quote_names(privatized.in_clear)}. They may tell what the "
            "reports hide. Hint: without --keep nothing is passed on."
        )
    if privatized.keeps_order:
        terminal.warn(
            "The order of the rows is in the clear: where the input is sorted by what the reports hide, it "
            "tells nearly every value. Hint: without --keep-order people come out in a random order."
        )
    _warn_of_order(terminal, privatized)
    if record.strategy.rarely_true:
        shares = [f"{name} {100 * share:.2g} %" for name, share in record.strategy.rarely_true.items()]
        terminal.warn(
            f"Less than 5 % of the reports are true: {', '.join(shares)}. Shares of many people can be "
            "estimated from them, and little else. Hint: fewer values, fewer columns, or a larger epsilon."
        )


def _warn_of_order(terminal: Terminal, privatized: Privatized) -> None:
    """Say which columns in the clear tell something of the order of the input, and how much."""
    relations, hint = privatized.order_relations, "Hint: leave it out of --keep."
    giving = [name for name, relation in relations.items() if relation == GIVES_BACK]
    others = [name for name in relations if name not in giving]
    if giving:
        terminal.warn(
            f"The order of the input is in the clear: whoever sorts the reports by {quote_names(giving)} has "
            f"it back, or nearly so. {hint}"
        )
    if others:
        found = [privatized.order_correlations.get(name) for name in others]
        figures = ", ".join("not measured" if value is None else f"{value:.2f}" for value in found)
        terminal.warn(
            f"Associated with the order of the input, of which they tell something: {quote_names(others)} "
            f"(rank correlation {figures}). {hint}"
        )


def _report(terminal: Terminal, privatized: Privatized, *, signed: bool) -> None:
    record = privatized.record
    _warn(terminal, privatized)
    if privatized.left_out:
        terminal.say("Left out", quote_names(privatized.left_out))
    terminal.fact("Reports", f"{privatized.rows:,} of {quote_names(record.strategy.columns)}")
    for name in record.strategy.columns:
        law, part = record.strategy.protocols[name], record.strategy.epsilon_within_report(name)
        kind = "grr, combined" if record.strategy.name == "combined" else law.name
        terminal.fact("", f"{name}: {kind}, {law.k:,} values, epsilon {epsilon_of(part, 6)} within a row")
    if privatized.guarantee is not None:
        terminal.fact("Promise", str(privatized.guarantee))
    if privatized.charge is not None:
        terminal.fact("Charged", str(privatized.charge))
    places = privatized.places
    if privatized.parts == 1:
        files = {"Wrote": str(places.out), "Schema": str(places.schema), "Terms": str(places.record)}
        terminal.files(files | ({"Signed": str(places.signature)} if signed else {}))
    else:
        beside = "its schema, its terms and their signature" if signed else "its schema and its terms"
        terminal.files({"Wrote": str(places.out)})
        terminal.fact("", f"{privatized.parts:,} files of reports, each with {beside} beside it")
    terminal.object(
        {
            "command": "privatize",
            "out": str(places.out),
            "schema": str(places.schema),
            "guarantee": str(places.record),
            "signature": str(places.signature) if signed else None,
            "rows": privatized.rows,
            "parts": privatized.parts,
            "epsilon": str(record.strategy.epsilon),
            "simulated": record.simulated,
            "ledger_entry": None if privatized.charge is None else privatized.charge.reference(),
            "reported": list(record.strategy.columns),
            "in_clear": list(record.in_clear),
            "linkable": None if record.linkability is None else asdict(record.linkability),
            "inferred": list(record.inferred),
            "rarely_true": record.strategy.rarely_true,
            "left_out": list(privatized.left_out),
            "order": "kept" if privatized.keeps_order else "shuffled",
            "follow_order": list(privatized.follow_order),
            "exit": 0,
        }
    )
