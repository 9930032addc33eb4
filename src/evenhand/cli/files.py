"""How a file is written: what was typed about it, and what was assumed."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from evenhand.cli.options import FORMAT_OPTIONS
from evenhand.study.intake.opening import open_data
from evenhand.table import FileFormat

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evenhand.cli.terminal.console import Terminal
    from evenhand.study.intake.opening import Opened


def typed_format(typed: Mapping[str, Any]) -> FileFormat | None:
    """Return what was typed about how the file is written; None if nothing was."""
    names = (*FORMAT_OPTIONS, "broken_rows")
    parts = {name: typed[name] for name in names if typed.get(name) is not None}
    return FileFormat(**parts) if parts else None


def open_typed(terminal: Terminal, data: str, file_format: FileFormat | None = None, **known: Any) -> Opened:
    """Return the rows of what was named; how a file was assumed to be written is said before they are read.

    What is known besides is what :func:`~evenhand.study.intake.opening.open_data` takes.
    """
    on_format = partial(report_format, terminal)
    return open_data(data, file_format=file_format, on_format=on_format, **known)


def report_format(terminal: Terminal, label: str, assumed: FileFormat | None) -> None:
    """Say how a file was assumed to be written; nothing if nothing was assumed."""
    if assumed is not None:
        terminal.say("Reading", f"{label} as {assumed}; --delimiter, --encoding, --decimal change it")
