"""The files that stand beside a table: their names, and what must not be written over or left behind."""

from __future__ import annotations

import os
from pathlib import Path

from evenhand.errors import UnwritableFileError
from evenhand.table.source import own_name


def record_path(path: str | os.PathLike[str]) -> Path:
    """Return where the guarantee of a file of reports stands.

    >>> record_path("reports.csv").name
    'reports.csv.guarantee.json'
    """
    return Path(f"{os.fspath(path)}.guarantee.json")


def folder_note_path(folder: str | os.PathLike[str]) -> Path:
    """Return where the note of a folder of reports stands, in the folder.

    >>> folder_note_path("reports").name
    'folder.guarantee.json'
    """
    return Path(folder, "folder.guarantee.json")


def note_path(path: str | os.PathLike[str]) -> Path:
    """Return where the note of a release stands, beside its table.

    >>> note_path("table.csv").name
    'table.csv.json'
    """
    return Path(f"{os.fspath(path)}.json")


def signature_path(note: str | os.PathLike[str]) -> Path:
    """Return where the signature of a note or a guarantee stands.

    >>> signature_path(note_path("table.csv")).name
    'table.csv.json.sig'
    """
    return Path(f"{os.fspath(note)}.sig")


def schema_path(path: str | os.PathLike[str]) -> Path:
    """Return where the schema of a file of reports stands.

    >>> schema_path("reports.csv").name
    'reports.csv.schema.toml'
    """
    return Path(f"{os.fspath(path)}.schema.toml")


def classes_path(path: str | os.PathLike[str]) -> Path:
    """Return where the classes of a k-anonymous release stand, beside its table.

    >>> classes_path("table.csv").name
    'table.classes.csv'
    """
    return _with_word(path, "classes")


def rates_path(path: str | os.PathLike[str]) -> Path:
    """Return where estimated rates of groups stand, beside the shares.

    >>> rates_path("shares.csv").name
    'shares.rates.csv'
    """
    return _with_word(path, "rates")


def _with_word(path: str | os.PathLike[str], word: str) -> Path:
    place = Path(path)
    return place.with_name(f"{place.stem}.{word}{place.suffix}")


def side_files(path: str | os.PathLike[str]) -> tuple[Path, ...]:
    """Return every file that a writer of ours may leave beside a table, in the order to remove them.

    A writer that replaces a table removes those that it does not write anew: they would speak of a table
    that is gone. The guarantee and the note go first, so that a kill never leaves one of them beside files
    that it does not describe.

    >>> [file.name for file in side_files("t.csv")]
    ['t.csv.guarantee.json', 't.csv.json', 't.csv.schema.toml', 't.csv.guarantee.json.sig', 't.csv.json.sig',
     't.classes.csv', 't.rates.csv']
    """
    signatures = (signature_path(record_path(path)), signature_path(note_path(path)))
    return (*_descriptions(path), *signatures, classes_path(path), rates_path(path))


def refuse_tables_beside(path: str | os.PathLike[str]) -> None:
    """Refuse a name of a table whose side files would replace or remove another table of ours.

    ``t.rates.csv`` may hold rates that belong to ``t.csv``, or reports that have a guarantee of their own.

    Raises
    ------
    UnwritableFileError
        If what would stand beside the table has a guarantee, a note or a schema of its own.
    """
    for place in (classes_path(path), rates_path(path)):
        for description in _descriptions(place):
            if os.path.lexists(place) and os.path.lexists(description):
                raise UnwritableFileError(
                    f"{own_name(path)} was not written: {own_name(place)}, which would be replaced or "
                    f"removed with it, is a table of its own, as {own_name(description)} beside it says. "
                    "Hint: choose another name."
                )


def _descriptions(path: str | os.PathLike[str]) -> tuple[Path, Path, Path]:
    """Return the files that say what a table is."""
    return record_path(path), note_path(path), schema_path(path)
