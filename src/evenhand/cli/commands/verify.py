"""evenhand verify: whether a release is what was written and signed."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import Annotated

import typer

from evenhand import engine
from evenhand.cli import options as shared  # noqa: TC001 - typer reads the annotations
from evenhand.cli.options import DATA, argument, data_option
from evenhand.cli.terminal.console import Terminal
from evenhand.cli.terminal.ending import FAILED

EXAMPLE = """\
  evenhand verify table.csv --key office.key.pub
  evenhand verify reports/ --key office.key.pub
  evenhand verify reports.parquet --key office.key.pub --ledger ledger.db --schema schema.toml
"""
_WIDTH = 12
_MARKS = {True: ("Passed", "green"), False: ("Failed", "red")}


def verify(
    release: Annotated[
        Path, argument(DATA, "RELEASE", "A released table, a privatised file or folder, or its note.")
    ],
    *,
    key: Annotated[
        Path | None, data_option("FILE", "The public key of whoever should have signed it.", "--key")
    ] = None,
    ledger: Annotated[
        Path | None, data_option("FILE", "The ledger that was charged, or an export of it.", "--ledger")
    ] = None,
    schema: Annotated[
        Path | None, data_option("FILE", "The schema that the columns should have.", "--schema")
    ] = None,
    as_json: shared.AsJson = False,
) -> None:
    """Check that a release is what was written and signed.

    Compares the table and the files beside it with the note, the note with its signature, and with --ledger
    the entry that was charged. Of a folder, every file that its note lists must be there, and no other. Ends
    with 0 only if everything that was checked holds.
    """
    terminal = Terminal(as_json=as_json)
    result = engine.verify(release, key=key, ledger=ledger, schema=schema)
    word, style = _MARKS[result.passed]
    terminal.mark(word, result.summary, style=style, width=_WIDTH)
    for check in result.checks:
        word, style = _MARKS[check.passed]
        terminal.mark(word, check.text, style=style, width=_WIDTH)
    for text in result.not_checked:
        terminal.mark("Not checked", text, style="yellow", width=_WIDTH)
    code = 0 if result.passed else FAILED
    terminal.object({"command": "verify", **result.to_dict(), "exit": code})
    if code:
        raise typer.Exit(code)
