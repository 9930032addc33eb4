"""The SQLite file of a study: how it is made, locked, opened and checked, and what its rows hold.

A row has a cell's result beside what it was computed with, and a checksum over all of it.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand._formats import version_fault
from evenhand.errors import StudyStoreError
from evenhand.study.plan.cells import Cell, canonical
from evenhand.study.store.canonical import numbers_text, outcome_from, result_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from os import PathLike

    from evenhand.study.store.outcome import Outcome

FILE = "study.db"
"""The name of the file in the folder of a study."""

FORMAT = 2
"""The layout of the file; a later evenhand may write a later one."""

APPLICATION = 0x65766E68
"""Marks the file as ours: 'evnh'."""

_TYPES = {
    "spec": "TEXT NOT NULL",
    "cell": "TEXT NOT NULL",
    "state": "TEXT NOT NULL CHECK (state IN ('done', 'failed'))",
    "result": "TEXT NOT NULL",
    "seconds": "TEXT NOT NULL",
    "seed": "INTEGER NOT NULL",
    "rng": "TEXT NOT NULL",
    "versions": "TEXT NOT NULL REFERENCES versions (hash)",
    "finished": "TEXT NOT NULL",
    "checksum": "TEXT NOT NULL",
}
COLUMNS = tuple(_TYPES)
"""The columns of the table of cells; the last is the checksum of the others."""

TABLES = (
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL, checksum TEXT NOT NULL)",
    "CREATE TABLE versions (hash TEXT PRIMARY KEY, versions TEXT NOT NULL)",
    f"CREATE TABLE cells ({', '.join(map(' '.join, _TYPES.items()))}, PRIMARY KEY (spec, cell))",
)
"""The statements that make the tables of an empty file."""

RNG = "seeded"
"""The kind of random source that every cell of a study draws from."""

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
PUT_BACK = "Hint: put a copy of the file back, or run the study again in another folder"
"""What a message on a damaged file ends with."""


def path_of(folder: str | PathLike[str]) -> Path:
    """Return the path of the store in a folder; the store itself may be named too."""
    path = Path(folder)
    return path if path.name == FILE and not path.is_dir() else path / FILE


def place_of(path: Path) -> tuple[int, int] | None:
    """Return what tells a file from every other on this machine, whatever its name; None if it is gone."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


@contextmanager
def explain_errors(path: Path) -> Iterator[None]:
    """Explain what SQLite refuses by the name of the file, without its folder."""
    try:
        yield
    except (sqlite3.Error, UnicodeDecodeError) as error:  # a damaged name may be in SQLite's own message
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT)
        reason = _REASONS.get(code & 0xFF, f"is damaged. {PUT_BACK}")
        raise StudyStoreError(f"The store '{path.name}' {reason}.") from None


def connect_store(path: Path, *, write: bool) -> sqlite3.Connection:
    """Return a connection to a store that is whole and ours, or to an empty file if `write`."""
    mode = "rwc" if write else "ro"
    connection = sqlite3.connect(
        f"{path.resolve().as_uri()}?mode={mode}",
        uri=True,
        timeout=_BUSY_SECONDS,
        isolation_level=None,
        check_same_thread=False,
    )
    with call_on_error(connection.close):
        connection.text_factory = _lenient
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("PRAGMA cell_size_check = ON")
        if not is_empty(connection):
            _check_ours(connection, path)
        if write:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA foreign_keys = ON")
    return connection


@contextmanager
def call_on_error(release: Callable[[], None]) -> Iterator[None]:
    """Call a function if what is done within fails."""
    try:
        yield
    except BaseException:
        release()
        raise


def _lenient(text: bytes) -> str:
    """Return damaged text too: its checksum tells, and then the cell can be named."""
    return text.decode("utf-8", "replace")


def is_empty(connection: sqlite3.Connection) -> bool:
    """Return whether nothing was ever stored: the file is new, or a run was killed as it was made."""
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
    fault = version_fault(number, newest=FORMAT)
    if fault:
        raise StudyStoreError(f"The store '{path.name}' {fault}")


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


# --- rows -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Record:
    """A stored cell with what is needed to compute it again.

    `spec` is the hash of :class:`~evenhand.study.plan.spec.Spec`, `seed` that of the study, `rng` the kind of
    the random source; `versions` are those it was computed with, and `finished` is when, in UTC.
    """

    outcome: Outcome
    spec: str
    seed: int
    rng: str
    versions: Mapping[str, str]
    finished: str


def checksum(values: Sequence[Any]) -> str:
    """Return the SHA-256 of values, in hexadecimal.

    >>> checksum(["a", 1])[:16]
    '135f17a475a61afd'
    """
    return hashlib.sha256(canonical(list(values)).encode("ascii")).hexdigest()


def row_of(outcome: Outcome, *, spec: str, seed: int, versions: str, finished: str) -> tuple[Any, ...]:
    """Return the row of an outcome."""
    state = "done" if outcome.failure is None else "failed"
    texts = (result_text(outcome), numbers_text(outcome.seconds))
    values = (spec, outcome.cell.id, state, *texts, seed, RNG, versions, finished)
    return (*values, checksum(values))


def outcome_of(row: Sequence[Any], *, file: str, known: Mapping[str, Cell]) -> Outcome:
    """Return the outcome of a row of the cells that are `known` by name, or of another cell.

    A row that is not as it was written is refused, by its cell and the name of the file.
    """
    columns = dict(zip(COLUMNS, row, strict=True))
    outcome = None
    with suppress(ValueError, TypeError, KeyError, AttributeError):
        cell = known.get(columns["cell"]) or Cell.from_id(columns["cell"])
        whole = checksum(row[:-1]) == columns["checksum"]
        outcome = outcome_from(cell, result=columns["result"], seconds=columns["seconds"]) if whole else None
    if outcome is None:
        where = _cell_words(columns["cell"], known)
        raise StudyStoreError(f"The store '{file}' is damaged in the cell {where}. {PUT_BACK}.")
    return outcome


def _cell_words(name: object, known: Mapping[str, Cell]) -> str:
    """Return a cell in words, or its name as it stands if that is damaged too."""
    try:
        cell = known.get(str(name)) or Cell.from_id(str(name))
        return f"'{cell.setting}, repeat {int(cell.repeat)}'"
    except (ValueError, TypeError, KeyError, AttributeError, ZeroDivisionError):
        return json.dumps(str(name)[:200])
