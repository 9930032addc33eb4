"""evenhand estimate: frequencies and group gaps from randomised reports."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evenhand.cli import options as given
from evenhand.cli.terminal.console import Terminal, fit, wrong_use

if TYPE_CHECKING:
    from evenhand.collect.estimates.group_rates import GroupRates
    from evenhand.engine.estimates import FileEstimates

__all__ = ["estimate"]

EXAMPLE = """\
  evenhand estimate reports.csv
  evenhand estimate reports.parquet --column race --by hired --positive yes --csv shares.csv
"""

_MOST_ROWS = 40

Reports = Annotated[Path, typer.Argument(metavar="REPORTS", help="A file that 'evenhand privatize' wrote.")]
GuaranteeFile = Annotated[
    Path | None, typer.Option("--guarantee", metavar="FILE", help="[REPORTS.guarantee.json]")
]
SchemaFile = Annotated[Path | None, typer.Option("--schema", metavar="FILE", help="[REPORTS.schema.toml]")]
Column = Annotated[
    list[str] | None, typer.Option(metavar="COLUMNS", help="Estimate these alone. [all that are reported]")
]
By = Annotated[str | None, typer.Option(metavar="COLUMN", help="An outcome in the clear: its rate by group.")]
Positive = Annotated[str | None, typer.Option(metavar="VALUE", help="The outcome that counts. [1]")]
Level = Annotated[float, typer.Option(metavar="LEVEL", help="The level of intervals.")]
Consistent = Annotated[
    bool, typer.Option("--consistent", help="Also show shares from 0 to 1 that add up to one.")
]
Simulated = Annotated[bool, typer.Option("--simulated", help="Estimate from simulated reports too.")]
CsvOut = Annotated[Path | None, typer.Option("--csv", metavar="FILE", help="Write the table to a CSV file.")]
BatchRows = Annotated[int | None, typer.Option(metavar="N", help="Rows at a time. [262144]")]


def estimate(  # noqa: PLR0913 - one option each
    reports: Reports,
    *,
    guarantee: GuaranteeFile = None,
    schema: SchemaFile = None,
    column: Column = None,
    by: By = None,
    positive: Positive = None,
    privileged: given.Privileged = None,
    level: Level = 0.95,
    consistent: Consistent = False,
    simulated: Simulated = False,
    csv: CsvOut = None,
    batch_rows: BatchRows = None,
    as_json: given.AsJson = False,
    quiet: given.Quiet = False,
) -> None:
    """Estimate frequencies and group gaps from randomised reports.

    Shows the share of people with each value, with intervals; with --by also the rate of an outcome in each
    true group. Files of any length are read in batches.
    """
    from evenhand.cli.terminal.rows_progress import rows_followed  # noqa: PLC0415 - used here alone
    from evenhand.engine.estimates import estimate_file  # noqa: PLC0415 - starts numpy
    from evenhand.table.read import BATCH_ROWS  # noqa: PLC0415 - as above

    terminal = Terminal(as_json=as_json, quiet=quiet)
    _refuse_inputs(csv, reports, guarantee, schema)
    with rows_followed(terminal, "Counting") as progress:
        found = estimate_file(
            reports,
            guarantee=guarantee,
            schema=schema,
            columns=given.listed(column) or None,
            by=by,
            positive=positive,
            privileged=privileged,
            level=level,
            simulated="allow" if simulated else "refuse",
            batch_rows=BATCH_ROWS if batch_rows is None else batch_rows,
            progress=progress,
        )
    _show(terminal, found, consistent=consistent)
    written = _write(found, csv)
    terminal.files(written)
    terminal.object(_object(found, written))


def _refuse_inputs(csv: Path | None, reports: Path, guarantee: Path | None, schema: Path | None) -> None:
    """Refuse to write a table over what is read, and over reports and tables that are no estimates."""
    from evenhand.table import side_files as beside  # noqa: PLC0415 - starts numpy

    if csv is None:
        return
    rates = beside.rates_path(csv)
    read = (reports, guarantee or beside.record_path(reports), schema or beside.schema_path(reports))
    if {file.resolve() for file in read} & {file.resolve() for file in (csv, rates)}:
        wrong_use("--csv is a file that is read, which would be written over. Hint: choose another name.")
    for file in beside.side_files(csv):
        if file != rates and os.path.lexists(file):  # a link that leads nowhere too
            said = f"There is a file {file} already, which belongs to a table that --csv would write over."
            wrong_use(f"{said} Hint: choose another name.")
    beside.refuse_tables_beside(csv)


def _show(terminal: Terminal, found: FileEstimates, *, consistent: bool) -> None:
    from evenhand.privacy.guarantees.in_clear import leak_of_domains  # noqa: PLC0415 - used here alone
    from evenhand.report.words import epsilon_of  # noqa: PLC0415 - as above

    if found.record.simulated:
        terminal.warn("These reports are simulated: drawn with a seed. Nobody sent them.")
    if found.record.inferred:
        leak = leak_of_domains(found.record.inferred)
        terminal.warn(f"{leak[0].upper()}{leak[1:]}.")
    for name, shares in found.shares.items():
        law = shares.protocol
        terminal.sentence(
            f"**{name}**: {shares.n:,} reports by {law.title}, {law.k:,} values, "
            f"epsilon {epsilon_of(law.epsilon, 6)}"
        )
        terminal.show(_shares_table(terminal, found, name, consistent=consistent))
        if len(shares) > _MOST_ROWS:
            terminal.sentence(f"The first {_MOST_ROWS} of {len(shares):,} values; --csv writes them all.")
        terminal.sentence(
            "Intervals are about the people who reported. "
            "Estimates have no bias, so small ones may be below 0."
        )
        if consistent:
            terminal.sentence(shares.consistent().note)
        if name in found.rates:
            terminal.show()
            terminal.sentence(f"**{found.outcome}** by true group of **{name}**")
            terminal.show(_rates_table(terminal, found.rates[name]))
            for line in _rate_notes(found.rates[name]):
                terminal.sentence(line)
        terminal.show()
    for name, why in found.refused.items():
        terminal.sentence(f"**{name}**: {why}")
        terminal.show()


def _table(terminal: Terminal, heads: list[str], rows: list[list[str]]) -> Any:
    from rich.table import Table  # noqa: PLC0415 - rich loads when a command speaks
    from rich.text import Text  # noqa: PLC0415 - as above

    table = Table(box=None, pad_edge=False, header_style="dim")
    for place, head in enumerate(heads):
        table.add_column(Text(head), justify="left" if place == 0 else "right", overflow="fold")
    for row in rows:
        table.add_row(*(Text(fit(cell, terminal.results.encoding)) for cell in row))
    return table


def _shares_table(terminal: Terminal, found: FileEstimates, name: str, *, consistent: bool) -> Any:
    shares, labels = found.shares[name], found.labels(name)
    low, high = shares.interval(found.level)
    heads = ["value", "share", "std. error", f"{100 * found.level:.10g} % interval"]
    rows = []
    better = shares.consistent().values if consistent else None
    for code in range(min(len(shares), _MOST_ROWS)):
        row = [str(labels[code]), _number(shares.values[code]), _number(shares.standard_error[code])]
        row.append(_limits(low[code], high[code]))
        rows.append(row if better is None else [*row, _number(better[code])])
    return _table(terminal, heads if better is None else [*heads, "consistent"], rows)


def _rates_table(terminal: Terminal, rates: GroupRates) -> Any:
    compared = rates.privileged is not None
    heads = ["group", "share", "rate", f"{100 * rates.level:.10g} % interval"]
    heads += [f"{rates.privileged} minus this", "interval"] if compared else []
    rows = []
    for label in rates.labels[:_MOST_ROWS]:
        row = [str(label), _number(rates.shares[label]), _number(rates.rates[label])]
        row.append(_limits(*rates.interval(label)))
        if compared:
            same = label == rates.privileged
            limits = "" if same else _limits(*rates.interval(rates.privileged, against=label))
            row += ["" if same else _number(rates.gaps[label]), limits]
        rows.append(row)
    return _table(terminal, heads, rows)


def _rate_notes(rates: GroupRates) -> list[str]:
    unknown = [str(label) for label, known in rates.separated.items() if not known]
    lines = [f"Overall rate: {float(rates.overall):.3f}."]
    if unknown and rates.n:
        shown = ", ".join(unknown[:3]) + (f" and {len(unknown) - 3} more" if len(unknown) > 3 else "")
        lines.append(f"Not separated from a share of 0, so the rate may be anything: {shown}.")
    lines.append(
        "These are rates of the true groups only if the outcome does not depend on the reports, "
        "as an observed outcome does not."
    )
    return lines


def _write(found: FileEstimates, path: Path | None) -> dict[str, str]:
    """Write the tables, if that was asked for; the rates go beside the shares, and old rates are removed."""
    if path is None or not found.shares:
        return {}
    from evenhand.table.side_files import rates_path  # noqa: PLC0415 - starts numpy
    from evenhand.table.write import replacing_together, write_csv_into  # noqa: PLC0415 - starts Arrow

    tables, rates = {"Shares": (path, found.table())}, rates_path(path)
    if found.rates:
        tables["Rates"] = (rates, found.rates_table())
    with replacing_together(*(place for place, _ in tables.values()), remove=[rates]) as files:
        for file, (_, table) in zip(files, tables.values(), strict=True):
            write_csv_into(table, file)
    return {word: str(place) for word, (place, _) in tables.items()}


def _object(found: FileEstimates, written: dict[str, str]) -> dict[str, Any]:
    columns = {}
    for name, shares in found.shares.items():
        rows = [row for row in found.table().to_pylist() if row.pop("column") == name]
        columns[name] = {"reports": shares.n, "protocol": shares.protocol.name, "values": rows}
    rates = {
        name: [row for row in found.rates_table().to_pylist() if row.pop("column") == name]
        for name in found.rates
    }
    return {
        "command": "estimate",
        "rows": found.record.rows,
        "simulated": found.record.simulated,
        "inferred": list(found.record.inferred),
        "level": found.level,
        "columns": columns,
        "outcome": found.outcome,
        "rates": rates,
        "refused": found.refused,
        "files": list(written.values()),
        "exit": 0,
    }


def _number(value: float) -> str:
    return "undefined" if value != value else f"{float(value):.3f}"  # noqa: PLR0124 - NaN


def _limits(low: float, high: float) -> str:
    return "undefined" if low != low else f"{float(low):.3f} to {float(high):.3f}"  # noqa: PLR0124 - NaN
