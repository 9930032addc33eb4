"""evenhand estimate: frequencies and group gaps from randomised reports."""

from __future__ import annotations

import os
from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import TYPE_CHECKING, Annotated, Any

from evenhand.cli import options as shared  # noqa: TC001 - typer reads the annotations
from evenhand.cli.options import (
    DATA,
    argument,
    data_option,
    design_option,
    output_option,
    role_option,
    split_list,
)
from evenhand.cli.terminal.console import Column, Terminal, wrong_use
from evenhand.cli.terminal.progress import follow_rows
from evenhand.collect.estimates.aggregate_files import ENDINGS
from evenhand.collect.estimates.group_rates_views import HIDDEN, possible_gap, rate_text
from evenhand.engine.estimates import FileEstimates, estimate_file
from evenhand.measure.report_text import group_text
from evenhand.privacy.guarantees.in_clear import leak_of_domains
from evenhand.report.words import epsilon_of
from evenhand.table import side_files as beside
from evenhand.table.parts import would_be_read
from evenhand.table.write import replacing_together, write_csv_into

if TYPE_CHECKING:
    from evenhand.collect.estimates.group_rates import GroupRates

EXAMPLE = """\
  evenhand estimate reports.csv
  evenhand estimate reports.parquet --column race --by hired --positive yes --csv shares.csv
  evenhand estimate reports.parquet --by hired --positive yes --protected sex,race \\
      --privileged m,white
  evenhand estimate north/reports.parquet --aggregate sums/north.json
  evenhand estimate sums
"""

_MOST_ROWS = 40
_DEFAULTS: dict[str, Any] = estimate_file.__kwdefaults__ or {}


def estimate(  # noqa: PLR0913 - one option each
    reports: Annotated[
        Path,
        argument(
            DATA, "REPORTS", "What 'evenhand privatize' or --aggregate wrote: a file, a folder, a 'pattern*'."
        ),
    ],
    *,
    guarantee: Annotated[Path | None, data_option("FILE", "[REPORTS.guarantee.json]", "--guarantee")] = None,
    schema: Annotated[Path | None, data_option("FILE", "[REPORTS.schema.toml]", "--schema")] = None,
    columns: Annotated[
        list[str] | None, data_option("COLUMNS", "Estimate these alone. [all that are reported]", "--column")
    ] = None,
    by: Annotated[str | None, data_option("COLUMN", "An outcome in the clear: its rate by group.")] = None,
    positive: Annotated[str | None, data_option("VALUE", "The outcome that counts. [1]")] = None,
    protected: Annotated[
        str | None,
        role_option(
            "COLUMNS", "Whose groups have rates; several, with commas, are crossed. [each by itself]"
        ),
    ] = None,
    privileged: shared.Privileged = None,
    level: Annotated[float, design_option("LEVEL", "The level of intervals.")] = _DEFAULTS["level"],
    consistent: Annotated[
        bool, design_option("", "Also show shares from 0 to 1 that add up to one.", "--consistent")
    ] = False,
    simulated: Annotated[
        bool, design_option("", "Estimate from simulated reports too.", "--simulated")
    ] = False,
    csv: Annotated[Path | None, output_option("FILE", "Write the table to a CSV file.", "--csv")] = None,
    aggregate: Annotated[
        Path | None,
        output_option("FILE", "Write the sum of the reports (.json, .parquet), to be merged with others."),
    ] = None,
    workers: shared.FileWorkers = None,
    batch_rows: Annotated[int, design_option("N", "Rows at a time.")] = _DEFAULTS["batch_rows"],
    as_json: shared.AsJson = False,
    quiet: shared.Quiet = False,
) -> None:
    """Estimate frequencies and group gaps from randomised reports.

    Shows the share of people with each value, with intervals; with --by also the rate of an outcome in each
    true group, and with --protected in each combination of several columns. Files of any length are read in
    batches. A folder, or a pattern in quotation marks such as 'reports/*.parquet', is counted as one; saved
    sums are merged, and none is counted twice.
    """
    terminal = Terminal(as_json=as_json, quiet=quiet)
    _refuse_among_inputs(reports, {"--csv": csv, "--aggregate": aggregate})
    _refuse_inputs(csv, reports, guarantee, schema)
    _refuse_taken(aggregate)
    groups = () if protected is None else split_list([protected])
    with follow_rows(terminal, "Counting") as progress:
        estimates = estimate_file(
            reports,
            guarantee=guarantee,
            schema=schema,
            columns=split_list(columns) or None,
            by=by,
            positive=positive,
            protected=groups or None,
            privileged=privileged if len(groups) < 2 or privileged is None else split_list([privileged]),
            level=level,
            simulated="allow" if simulated else "refuse",
            batch_rows=batch_rows,
            progress=progress,
            workers=workers,
        )
    _show(terminal, estimates, consistent=consistent)
    written = _write(estimates, csv)
    if aggregate is not None:  # last, for it is never written over: after a kill the same command goes on
        estimates.aggregate.save(aggregate)
        written["Sum"] = str(aggregate)
    terminal.files(written)
    terminal.object(_object(estimates, written))


def _refuse_among_inputs(reports: Path, outputs: dict[str, Path | None]) -> None:
    """Refuse to write among the files of a folder or a pattern, of which it would be one the next time."""
    for flag, place in outputs.items():
        if place is not None and would_be_read(reports, place):
            why = f"{flag} is among the files of REPORTS, of which it would be one."
            wrong_use(f"{why} Hint: choose another folder.")


def _refuse_inputs(csv: Path | None, reports: Path, guarantee: Path | None, schema: Path | None) -> None:
    """Refuse to write a table over what is read, and over reports and tables that are no estimates."""
    if csv is None:
        return
    rates = beside.rates_path(csv)
    read = (reports, guarantee or beside.record_path(reports), schema or beside.schema_path(reports))
    if {file.resolve() for file in read} & {file.resolve() for file in (csv, rates)}:
        wrong_use("--csv is a file that is read, which would be written over. Hint: choose another name.")
    for file in beside.side_files(csv):
        if file != rates and os.path.lexists(file):  # a link that leads nowhere too
            message = f"There is a file {file} already, which belongs to a table that --csv would write over."
            wrong_use(f"{message} Hint: choose another name.")
    beside.refuse_tables_beside(csv)


def _refuse_taken(aggregate: Path | None) -> None:
    """Refuse a place for the sum that is taken, or a name that says no form, before anything is counted."""
    if aggregate is None:
        return
    if not aggregate.name.lower().endswith(ENDINGS):
        wrong_use(f"--aggregate must end with {' or '.join(ENDINGS)}. Got {aggregate.name!r} instead.")
    if os.path.lexists(aggregate):
        wrong_use(f"There is a file {aggregate} already. Hint: choose another name for --aggregate.")
    if not aggregate.absolute().parent.is_dir():
        wrong_use(f"The folder {aggregate.parent} is not there. Hint: make it, or name another place.")


def _show(terminal: Terminal, estimates: FileEstimates, *, consistent: bool) -> None:
    if estimates.aggregate.simulated:
        terminal.warn("These reports are simulated: drawn with a seed. Nobody sent them.")
    if estimates.aggregate.inferred:
        leak = leak_of_domains(estimates.aggregate.inferred)
        terminal.warn(f"{leak[0].upper()}{leak[1:]}.")
    for name, shares in estimates.shares.items():
        law = shares.protocol
        terminal.sentence(
            f"**{name or 'value'}**: {shares.n:,} reports by {law.title}, {law.k:,} values, "
            f"epsilon {epsilon_of(law.epsilon, 6)}"
        )
        _show_shares(terminal, estimates, name, consistent=consistent)
        if len(shares) > _MOST_ROWS:
            terminal.sentence(f"The first {_MOST_ROWS} of {len(shares):,} values; --csv writes them all.")
        terminal.sentence(
            "Intervals are about the people who reported. "
            "Estimates have no bias, so small ones may be below 0."
        )
        if consistent:
            terminal.sentence(shares.consistent().note)
        if name in estimates.rates:
            terminal.show()
            _show_outcome(terminal, estimates, name)
        terminal.show()
    for name in estimates.rates:
        if name not in estimates.shares:  # of crossed columns
            _show_outcome(terminal, estimates, name)
            terminal.show()
    for name, why in estimates.refused.items():
        terminal.sentence(f"**{name}**: {why}")
        terminal.show()


def _show_table(terminal: Terminal, heads: list[str], rows: list[list[str]]) -> None:
    columns = [Column(head, numeric=place > 0, wraps=True) for place, head in enumerate(heads)]
    terminal.table(columns, [[(cell, "") for cell in row] for row in rows], header_style="dim")


def _show_shares(terminal: Terminal, estimates: FileEstimates, name: str, *, consistent: bool) -> None:
    shares, labels = estimates.shares[name], estimates.labels(name)
    low, high = shares.interval(estimates.level)
    heads = ["value", "share", "std. error", f"{100 * estimates.level:.10g} % interval"]
    rows = []
    better = shares.consistent().values if consistent else None
    for code in range(min(len(shares), _MOST_ROWS)):
        row = [str(labels[code]), _number(shares.values[code]), _number(shares.standard_error[code])]
        row.append(_limits(low[code], high[code]))
        rows.append(row if better is None else [*row, _number(better[code])])
    _show_table(terminal, heads if better is None else [*heads, "consistent"], rows)


def _show_outcome(terminal: Terminal, estimates: FileEstimates, name: str) -> None:
    terminal.sentence(f"**{estimates.outcome}** by true group of **{name}**")
    _show_rates(terminal, estimates.rates[name])
    for line in _rate_notes(estimates.rates[name]):
        terminal.sentence(line)


def _show_rates(terminal: Terminal, rates: GroupRates) -> None:
    compared = rates.privileged is not None
    heads = ["group", "share", "rate", f"{100 * rates.level:.10g} % interval"]
    heads += [f"{group_text(rates.privileged)} minus this", "interval"] if compared else []
    rows = []
    for label in rates.labels[:_MOST_ROWS]:
        row = [group_text(label), _number(rates.shares[label]), rate_text(rates.possible_rates[label])]
        row.append(_limits(*rates.interval(label)))
        if compared:
            same = label == rates.privileged
            limits = "" if same else _limits(*rates.interval(rates.privileged, against=label))
            row += ["" if same else rate_text(possible_gap(rates, label)), limits]
        rows.append(row)
    _show_table(terminal, heads, rows)


def _rate_notes(rates: GroupRates) -> list[str]:
    unknown = [group_text(label) for label, known in rates.separated.items() if not known]
    lines = [f"Overall rate: {_number(rates.overall)}."]
    if unknown and rates.n:
        shown = ", ".join(unknown[:3]) + (f" and {len(unknown) - 3} more" if len(unknown) > 3 else "")
        lines.append(f"Not separated from a share of 0, so that the rate cannot be estimated: {shown}.")
    if rates.is_hidden():
        lines.append(HIDDEN)
    lines.append(
        "These are rates of the true groups only if the outcome does not depend on the reports, "
        "as an observed outcome does not."
    )
    return lines


def _write(estimates: FileEstimates, path: Path | None) -> dict[str, str]:
    """Write the tables, if that was asked for; the rates go beside the shares, and old rates are removed."""
    if path is None or not estimates.shares:
        return {}
    tables, rates = {"Shares": (path, estimates.table())}, beside.rates_path(path)
    if estimates.rates:
        tables["Rates"] = (rates, estimates.rates_table())
    with replacing_together(*(place for place, _ in tables.values()), remove=[rates]) as files:
        for file, (_, table) in zip(files, tables.values(), strict=True):
            write_csv_into(table, file)
    return {word: str(place) for word, (place, _) in tables.items()}


def _object(estimates: FileEstimates, written: dict[str, str]) -> dict[str, Any]:
    columns = {}
    for name, shares in estimates.shares.items():
        rows = [row for row in estimates.table().to_pylist() if row.pop("column") == name]
        columns[name] = {"reports": shares.n, "protocol": shares.protocol.name, "values": rows}
    rates = {
        name: [row for row in estimates.rates_table().to_pylist() if row.pop("column") == name]
        for name in estimates.rates
    }
    return {
        "command": "estimate",
        "rows": estimates.rows,
        "simulated": estimates.aggregate.simulated,
        "inferred": list(estimates.aggregate.inferred),
        "level": estimates.level,
        "columns": columns,
        "outcome": estimates.outcome,
        "rates": rates,
        "refused": estimates.refused,
        "files": list(written.values()),
        "exit": 0,
    }


def _number(value: float) -> str:
    return "undefined" if value != value else f"{float(value):.3f}"  # noqa: PLR0124 - NaN


def _limits(low: float, high: float) -> str:
    return "undefined" if low != low else f"{float(low):.3f} to {float(high):.3f}"  # noqa: PLR0124 - NaN
