"""The SQLite file of a study: how it is made, opened and checked, and what is said when that fails."""

from __future__ import annotations

import sqlite3
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from evenhand.errors import StudyStoreError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from os import PathLike

__all__ = [
    "APPLICATION",
    "FILE",
    "FORMAT",
    "connected",
    "is_empty",
    "path_of",
    "place_of",
    "telling",
    "transaction",
]

FILE = "study.db"
"""The name of the file in the folder of a study."""

FORMAT = 2
"""The layout of the file; a later evenhand may write a later one."""

APPLICATION = 0x65766E68
"""Marks the file as ours: 'evnh'."""

TABLES = (
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL, checksum TEXT NOT NULL)",
    "CREATE TABLE versions (hash TEXT PRIMARY KEY, versions TEXT NOT NULL)",
    """CREATE TABLE cells (
        spec TEXT NOT NULL,
        cell TEXT NOT NULL,
        state TEXT NOT NULL CHECK (state IN ('done', 'failed')),
        result TEXT NOT NULL,
        seconds TEXT NOT NULL,
        seed INTEGER NOT NULL,
        rng TEXT NOT NULL,
        versions TEXT NOT NULL REFERENCES versions (hash),
        finished TEXT NOT NULL,
        checksum TEXT NOT NULL,
        PRIMARY KEY (spec, cell)
    )""",
)

_OLD_FORMAT = 1
_BUSY_SECONDS = 10.0
_REASONS = {
    sqlite3.SQLITE_CANTOPEN: "cannot be opened. Hint: check that the folder is there and may be read",
    sqlite3.SQLITE_READONLY: "may not be written. Hint: check its permissions, or choose another folder",
    sqlite3.SQLITE_PERM: "may not be opened. Hint: check its permissions, or choose another folder",
    sqlite3.SQLITE_FULL: "cannot grow, the disk is full. Every cell that was stored is kept. "
    "Hint: make room and resume",
    sqlite3.SQLITE_BUSY: "is locked by another process. "
    "Hint: wait until it is done, or choose another folder",
    sqlite3.SQLITE_IOERR: "cannot be read or written, the disk reports an error. "
    "Hint: copy it to another disk",
    sqlite3.SQLITE_NOTADB: "is not a study's store, or its beginning is damaged. "
    "Hint: choose another folder, or put a copy of the file back",
}
_DAMAGED = "is damaged. Hint: put a copy of the file back, or run the study again in another folder"


def path_of(folder: str | PathLike[str]) -> Path:
    """Return the path of the store in a folder; the store itself may be named too."""
    path = Path(folder)
    return path if path.name == FILE and not path.is_dir() else path / FILE


def place_of(path: Path) -> tuple[int, int] | None:
    """Return what tells a file from every other on this machine, whatever its name; None if it is gone."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


@contextmanager
def telling(path: Path) -> Iterator[None]:
    """Tell what SQLite refuses by the name of the file, without its folder."""
    try:
        yield
    except (sqlite3.Error, UnicodeDecodeError) as error:  # a damaged name may be in SQLite's own message
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT)
        reason = _REASONS.get(code & 0xFF, _DAMAGED)
        raise StudyStoreError(f"The store '{path.name}' {reason}.") from None


def connected(path: Path, *, write: bool) -> sqlite3.Connection:
    """Return a connection to a store that is whole and ours, or to an empty file if `write`."""
    mode = "rwc" if write else "ro"
    connection = sqlite3.connect(
        f"{path.resolve().as_uri()}?mode={mode}",
        uri=True,
        timeout=_BUSY_SECONDS,
        isolation_level=None,
        check_same_thread=False,
    )
    try:
        connection.text_factory = _lenient
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("PRAGMA cell_size_check = ON")
        if not is_empty(connection):
            _check_ours(connection, path)
        if write:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA foreign_keys = ON")
    except BaseException:
        connection.close()
        raise
    return connection


def _lenient(text: bytes) -> str:
    """Return damaged text too: its checksum tells, and then the cell can be named."""
    return text.decode("utf-8", "replace")


def is_empty(connection: sqlite3.Connection) -> bool:
    """Whether nothing was ever stored: the file is new, or a run was killed as it was made."""
    tables = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]
    mark = connection.execute("PRAGMA application_id").fetchone()[0]
    return not tables and not mark


def _check_ours(connection: sqlite3.Connection, path: Path) -> None:
    mark = connection.execute("PRAGMA application_id").fetchone()[0]
    number = connection.execute("PRAGMA user_version").fetchone()[0]
    if mark != APPLICATION:
        raise StudyStoreError(
            f"The file '{path.name}' is a database, but not of a study. Hint: choose another folder."
        )
    if number == _OLD_FORMAT:
        raise StudyStoreError(
            f"The store '{path.name}' was written by an older evenhand, whose settings and plans had another "
            "form; it cannot be read or continued. Hint: run the study again in another folder."
        )
    if number != FORMAT:
        hint = "install a newer evenhand" if number > FORMAT else "put a copy of the file back"
        raise StudyStoreError(
            f"The store '{path.name}' has the format {number}; this evenhand knows the format {FORMAT}. "
            f"Hint: {hint}."
        )


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Make what is written within one transaction: all of it is stored, or nothing."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise
