"""What is refused before any work: empty lists, missing schemas, files to write over."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from evenhand.cli.options import split_list
from evenhand.cli.terminal.console import wrong_use

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path


def refuse_empty(lists: Mapping[str, Any], *, hint: str = "leave it out, or say what.") -> None:
    """Refuse a list that was typed and is empty, such as a variable of a script that was never set.

    The lists are given by how their options are typed.

    It would count as left out, and then other columns are passed on, or other settings tried, than meant.
    """
    for flag, words in lists.items():
        if words and not split_list(words):
            wrong_use(f"{flag} is empty. Hint: {hint}")


def refuse_missing_schema(path: Path | None, *, infer: bool) -> None:
    """Refuse rows whose values nobody declared, unless they are to be read from the rows themselves."""
    if path is not None and infer:
        wrong_use("--schema and --infer-schema contradict each other. Hint: leave one of them out.")
    if path is None and not infer:
        wrong_use(
            "--schema is missing: a file that declares the values each column may have, from a code list or "
            "a questionnaire. Hint: draft one with 'evenhand schema FILE' and replace what it read by what "
            "is public; --infer-schema takes the values of these rows, which leaks."
        )


def refuse_overwritten(read: Mapping[str, Path | None], written: Iterable[Path], *, other: str) -> None:
    """Refuse an option that names a file which would be replaced or removed; `other` says what to change."""
    places = {file.resolve() for file in written}
    for option, file in read.items():
        if file is not None and file.resolve() in places:
            message = f"{option} is {file.name}, which would be written over or removed."
            wrong_use(f"{message} Hint: choose another {other}.")


def refuse_existing(out: Path, *, overwrite: bool) -> None:
    """Refuse to replace a file that is there, or a link, unless it is forced."""
    if os.path.lexists(out) and not overwrite:
        hint = "Hint: choose another name with --out, or replace it with --overwrite."
        wrong_use(f"There is a file {out} already. {hint}")


def refuse_bands(bands: Mapping[str, str], *, infer: bool) -> None:
    """Refuse bands of columns that are declared: their schema says it already."""
    if bands and not infer:
        message = "--band goes with --infer-schema: a schema declares the bands of its columns."
        wrong_use(f"{message} Hint: declare them there, or give --infer-schema.")
