"""What is refused before any work: options with nothing in them, files without commas between the fields."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evenhand.cli.options import listed
from evenhand.cli.terminal.console import wrong_use

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

__all__ = ["refuse_empty", "refuse_other_marks", "refuse_overwritten"]

_OTHER_MARKS = ";\t|"


def refuse_empty(typed: Mapping[str, Any], *names: str, hint: str = "leave it out, or say what.") -> None:
    """Refuse an option that was typed and names nothing, such as a variable of a script that was never set.

    It would count as left out, and then other columns are passed on, or other settings tried, than meant.
    """
    for name in names:
        if typed[name] and not listed(typed[name]):
            wrong_use(f"--{name} is empty. Hint: {hint}")


def refuse_other_marks(label: str, names: Sequence[str]) -> None:
    """Refuse a file that seems to have one column because its fields are separated by something else."""
    if len(names) == 1 and any(mark in names[0] for mark in _OTHER_MARKS):
        said = f"{label} has one column, and its name looks like several with other marks between them."
        wrong_use(f"{said} Hint: save the file with commas between the fields, and points in numbers.")


def refuse_overwritten(read: Mapping[str, Path | None], written: Iterable[Path], *, other: str) -> None:
    """Refuse an option that names a file which would be replaced or removed; `other` says what to change."""
    places = {file.resolve() for file in written}
    for option, file in read.items():
        if file is not None and file.resolve() in places:
            said = f"{option} is {file.name}, which would be written over or removed."
            wrong_use(f"{said} Hint: choose another {other}.")
