"""evenhand ledger: make a ledger, show what is left, and keep it whole."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from evenhand.cli import options as shared  # noqa: TC001 - typer reads the annotations
from evenhand.cli.help import PanelCommand
from evenhand.cli.options import DATA, argument, data_option, output_option, protection_option
from evenhand.cli.terminal.console import Column, Terminal, wrong_use
from evenhand.cli.terminal.refusals import refuse_overwritten
from evenhand.privacy.guarantees.guarantee import Guarantee
from evenhand.privacy.guarantees.units import Unit
from evenhand.privacy.ledger import Amount, Entry, Ledger, export_ledger, find_ledger, import_ledger
from evenhand.privacy.ledger.budget import PERIODS
from evenhand.privacy.rational import decimal_text
from evenhand.report import write
from evenhand.study.budget.page import build_budget_page
from evenhand.study.budget.reading import BudgetReading
from evenhand.study.page.wording import counted

EXAMPLE = """\
  evenhand ledger init ledger.db --epsilon 1 --delta 1e-6 --people "respondents of 2026"
  evenhand ledger show ledger.db
  evenhand ledger preview ledger.db --epsilon 1/2
"""

_MOST_PURPOSES = 20

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
)

File = Annotated[Path | None, argument(DATA, "FILE", "The ledger. [the one that EVENHAND_LEDGER names]")]
AnchorFile = Annotated[
    Path | None, data_option("FILE", "Where the anchor stands. [beside the ledger]", "--anchor")
]


@app.callback(epilog=f"\b\nExample:\n{EXAMPLE}")
def ledger() -> None:
    """Keep one privacy budget over time, in a file."""


@app.command(cls=PanelCommand, epilog="\b\nExample:\n  evenhand ledger init ledger.db --epsilon 1")
def init(
    file: Annotated[Path, argument(DATA, "FILE", "The ledger to make.")],
    *,
    epsilon: Annotated[str, protection_option("NUMBER", "The budget, such as 1 or 1/2.")],
    delta: Annotated[str, protection_option("NUMBER", "The budget of delta, below 0.01.")] = "0",
    unit: Annotated[
        str, protection_option("WORDS", f"The change that it is about: {', '.join(Unit)}.")
    ] = Unit.REPLACE_ONE.value,
    people: Annotated[str, protection_option("TEXT", "Whom it is about.")] = "",
    period: Annotated[str, protection_option("NAME", "year or month: so much for each. [for all time]")] = "",
    anchor: AnchorFile = None,
    as_json: shared.AsJson = False,
) -> None:
    """Make a ledger with a budget.

    The budget does not change afterwards. Beside FILE stands its anchor, FILE.anchor: it says how many
    entries there are, so that an older copy is noticed.
    """
    terminal = Terminal(as_json=as_json)
    if file.exists():
        wrong_use(f"There is a file {file} already. Hint: choose another name.")
    if period not in PERIODS:
        wrong_use(f"--period must be one of year, month. Got {period!r} instead.")
    made = Ledger(file, epsilon=epsilon, delta=delta, unit=unit, people=people, period=period, anchor=anchor)
    terminal.fact("Budget", f"{made.budget.amount}{_per(made)}, unit '{made.budget.unit}'")
    terminal.files({"Wrote": str(file), "Anchor": str(made.anchor)})
    terminal.object(_described(made) | {"exit": 0})


@app.command(
    cls=PanelCommand,
    epilog="\b\nExample:\n  evenhand ledger show ledger.db\n  evenhand ledger show --html budget.html",
)
def show(
    file: File = None,
    *,
    anchor: AnchorFile = None,
    html: Annotated[
        Path | None,
        output_option("FILE", "Write a page with pictures too: over time and by purpose.", "--html"),
    ] = None,
    overwrite: shared.Overwrite = False,
    open_page: shared.OpenPage = False,
    as_json: shared.AsJson = False,
) -> None:
    """Show what was spent and what is left.

    Where the budget is for each year or month, that is of the present one. Below the sum stand smaller totals
    that hold if no amount was chosen after seeing earlier results.
    """
    terminal, opened = Terminal(as_json=as_json), _open(file, anchor)
    _refuse_page(html, opened, overwrite=overwrite)
    total, budget = opened.total(), opened.budget
    when = f", in {total.period}" if total.period else ""
    tighter, by_purpose = opened.tighter(period=total.period), opened.by_purpose(period=total.period)
    for number in total.unbounded:
        terminal.warn(f"Unbounded: entry {number} has no meaningful guarantee, so neither has the total.")
    terminal.fact("Budget", f"{budget.amount}{_per(opened)}, unit '{budget.unit}'")
    if budget.people:
        terminal.fact("People", budget.people)
    terminal.fact("Spent", f"{total.spent}, in {counted(total.charges, 'charge')}{when}")
    for composition in tighter:
        terminal.fact("", str(composition))
    terminal.fact("Left", f"{total.remaining}{when}")
    for purpose, amount in list(by_purpose.items())[:_MOST_PURPOSES]:
        terminal.fact("For", f"{purpose}: {amount if any(amount) else 'no epsilon or delta'}")
    if len(by_purpose) > _MOST_PURPOSES:
        others = counted(
            len(by_purpose) - _MOST_PURPOSES, "purpose that costs less", "purposes that cost less"
        )
        terminal.fact("", f"and {others}; --json and --html have all")
    written = {} if html is None else _write_page(terminal, opened, html, open_page=open_page and not as_json)
    terminal.object(
        _described(opened)
        | written
        | {
            "spent": _amounts(total.spent),
            "remaining": _amounts(total.remaining),
            "charges": total.charges,
            "current_period": total.period,
            "unbounded": list(total.unbounded),
            "by_purpose": {purpose: _amounts(amount) for purpose, amount in by_purpose.items()},
            "tighter": {composition.name: _amounts(composition.amount) for composition in tighter},
            "exit": 0,
        }
    )


@app.command(cls=PanelCommand, epilog="\b\nExample:\n  evenhand ledger preview ledger.db --epsilon 1/2")
def preview(
    file: File = None,
    *,
    epsilon: Annotated[str, protection_option("NUMBER", "The epsilon of the release, such as 1/2.")],
    delta: Annotated[str, protection_option("NUMBER", "The delta of the release.")] = "0",
    unit: Annotated[
        str | None,
        protection_option("WORDS", f"The unit of its guarantee: {', '.join(Unit)}. [the ledger's]"),
    ] = None,
    anchor: AnchorFile = None,
    as_json: shared.AsJson = False,
) -> None:
    """Say what a release would cost. Nothing is spent.

    The cost is that of the guarantee, read for the unit of the ledger, and whether it would be granted now.
    """
    terminal, opened = Terminal(as_json=as_json), _open(file, anchor)
    asked = Guarantee(epsilon=epsilon, delta=delta, unit=unit or opened.budget.unit, trust="central")
    cost = opened.preview(asked)
    terminal.sentence(str(cost))
    terminal.object(
        {
            "command": "ledger",
            "charge": None if cost.charge is None else _amounts(cost.charge),
            "remaining": _amounts(cost.remaining),
            "fits": cost.fits,
            "exit": 0,
        }
    )


@app.command(cls=PanelCommand, epilog="\b\nExample:\n  evenhand ledger history ledger.db")
def history(file: File = None, *, anchor: AnchorFile = None, as_json: shared.AsJson = False) -> None:
    """List all entries in order, the oldest first."""
    terminal, opened = Terminal(as_json=as_json), _open(file, anchor)
    entries = opened.history()
    columns = [
        Column("No."),
        Column("Time"),
        Column("Epsilon"),
        Column("Delta"),
        Column("Purpose", wraps=True),
    ]
    terminal.table(columns, [[(text, "") for text in _row(entry)] for entry in entries])
    written = [entry.to_dict() for entry in entries]
    terminal.object({"command": "ledger", "entries": written, "exit": 0})


@app.command(cls=PanelCommand, epilog="\b\nExample:\n  evenhand ledger verify ledger.db")
def verify(file: File = None, *, anchor: AnchorFile = None, as_json: shared.AsJson = False) -> None:
    """Check every entry and the anchor.

    Each entry has a hash over its text and the entry before, and the anchor has that of the last. If anything
    was changed or is missing, the command says what and ends with 2.
    """
    terminal, opened = Terminal(as_json=as_json), _open(file, anchor)
    entries = opened.verify()
    head = opened.history()[-1].hash
    count = counted(entries, "entry", "entries")
    terminal.fact("Whole", f"{count}, each fits the one before, and the anchor fits the last: {head}")
    terminal.object({"command": "ledger", "entries": entries, "head": head, "exit": 0})


@app.command(cls=PanelCommand, epilog="\b\nExample:\n  evenhand ledger retire ledger.db 4 --purpose deleted")
def retire(
    file: Annotated[Path, argument(DATA, "FILE", "The ledger.")],
    entry: Annotated[int, argument(DATA, "ENTRY", "The number of an unbounded entry.")],
    *,
    purpose: Annotated[str, protection_option("TEXT", "Why, such as when the data was deleted.")],
    anchor: AnchorFile = None,
    as_json: shared.AsJson = False,
) -> None:
    """Declare that the data of an unbounded entry is used no more.

    The total is then bounded again. Entries that have a bound cannot be retired: what was told stays told.
    """
    terminal, opened = Terminal(as_json=as_json), _open(file, anchor)
    made = opened.retire(entry, purpose=purpose)
    terminal.fact("Retired", f"entry {entry}: {purpose}")
    terminal.object({"command": "ledger", "ledger_entry": made.reference(), "exit": 0})


@app.command(cls=PanelCommand, epilog="\b\nExample:\n  evenhand ledger export ledger.db --out ledger.json")
def export(
    file: File = None,
    *,
    out: Annotated[Path, output_option("FILE", "The JSON file to write.", "--out")],
    anchor: AnchorFile = None,
    as_json: shared.AsJson = False,
) -> None:
    """Write all entries with their hashes to a JSON file.

    'evenhand ledger import' makes a ledger of it again, as long as the anchor is not newer.
    """
    terminal = Terminal(as_json=as_json)
    export_ledger(_open(file, anchor), out)
    terminal.files({"Wrote": str(out)})
    terminal.object({"command": "ledger", "out": str(out), "exit": 0})


@app.command(
    name="import", cls=PanelCommand, epilog="\b\nExample:\n  evenhand ledger import ledger.json ledger.db"
)
def import_(
    source: Annotated[Path, argument(DATA, "EXPORT", "What 'ledger export' wrote.")],
    file: Annotated[Path, argument(DATA, "FILE", "The ledger to make.")],
    *,
    anchor: AnchorFile = None,
    as_json: shared.AsJson = False,
) -> None:
    """Make a ledger again from an export.

    An export that is older than the anchor is refused. Without an anchor nobody knows what was spent after
    the export, so the ledger gets an entry that is unbounded.
    """
    terminal = Terminal(as_json=as_json)
    made = import_ledger(source, file, anchor=anchor)
    total = made.total()
    if total.unbounded:
        terminal.warn("What was spent after the export is not known, so the total is unbounded.")
    terminal.fact("Spent", str(total.spent))
    terminal.files({"Wrote": str(file), "Anchor": str(made.anchor)})
    terminal.object(_described(made) | {"unbounded": list(total.unbounded), "exit": 0})


def _refuse_page(html: Path | None, opened: Ledger, *, overwrite: bool) -> None:
    """Refuse a page that would be written over the ledger, or over another file unless that is meant."""
    if html is None:
        return
    if html.suffix.lower() != ".html":
        wrong_use(f"--html must end with .html. Got {html.name!r} instead.")
    refuse_overwritten({"FILE": opened.path, "--anchor": opened.anchor}, (html,), other="--html")
    if os.path.lexists(html) and not overwrite:
        hint = "Hint: choose another name, or replace it with --overwrite."
        wrong_use(f"There is a file {html} already. {hint}")


def _write_page(terminal: Terminal, opened: Ledger, html: Path, *, open_page: bool) -> dict[str, str]:
    command = shlex.join(["evenhand", "ledger", "show", opened.name, "--html", html.name, "--overwrite"])
    write(build_budget_page(BudgetReading.of(opened), command=command), html)
    terminal.files({"Page": str(html)})
    if open_page:
        typer.launch(str(html.resolve()))
    return {"page": str(html)}


def _open(file: Path | None, anchor: Path | None) -> Ledger:
    if file is not None:
        return Ledger(file, anchor=anchor)
    found = find_ledger(None, anchor=anchor)
    if found is None:
        wrong_use("FILE is missing. Hint: name a ledger, or set EVENHAND_LEDGER.")
    return found


def _described(opened: Ledger) -> dict[str, Any]:
    return {"command": "ledger", "ledger": str(opened.path), **opened.budget.to_terms()}


def _per(opened: Ledger) -> str:
    return f" per {opened.budget.period}" if opened.budget.period else ""


def _amounts(amount: Amount) -> dict[str, str]:
    return {"epsilon": str(amount.epsilon), "delta": str(amount.delta)}


def _row(entry: Entry) -> list[str]:
    if entry.kind != "spend":
        happened = {"open": "opened", "retire": f"entry {entry.terms.get('entry')} retired"}
        told = happened.get(entry.kind, "unbounded")
        return [str(entry.number), entry.time, "", "", ": ".join(filter(None, (told, entry.purpose)))]
    unbounded = entry.is_unbounded
    amounts = ["unbounded", ""] if unbounded else [decimal_text(entry.epsilon), decimal_text(entry.delta)]
    return [str(entry.number), entry.time, *amounts, entry.purpose]
