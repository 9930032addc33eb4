"""The SQLite file of a ledger: how it is made, opened, locked, read and added to.

A connection lives for one operation. A charge stays in the log, so that no more is brought to the disk than
it needs. Whoever reads the ledger next, or gives it back, copies the log into the file, which then is a whole
ledger by itself.
"""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import closing, contextmanager, suppress
from threading import RLock
from typing import TYPE_CHECKING

from evenhand._formats import version_fault
from evenhand.errors import LedgerError
from evenhand.privacy.ledger.anchor import refuse_link, sync_folder
from evenhand.privacy.ledger.chain import Chain, Entry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

FORMAT = 1
"""The layout of the file; a later evenhand may write a later one."""

APPLICATION = 0x65766C67
"""Marks the file as a ledger: 'evlg'."""

ONE_THREAD = RLock()
"""Held while a ledger is open, and while a process is forked: SQLite loses locks that a fork copies."""

_BUSY_SECONDS = 120.0  # on a busy machine a hundred processes may be before us
_RETRY_SECONDS = 0.01
_LONGEST_LOG = 500_000  # bytes, of which a charge takes 4,120 or twice that; then it is copied into the file
_TABLES = (
    "CREATE TABLE entries (number INTEGER PRIMARY KEY, text TEXT NOT NULL, hash TEXT NOT NULL)",
    "CREATE TABLE places (name TEXT PRIMARY KEY, place TEXT NOT NULL)",
)
_PERMISSIONS = "check the permissions of the file and its folder"
_REASONS = {
    sqlite3.SQLITE_CANTOPEN: ("cannot be opened", "check that its folder is there and may be written"),
    sqlite3.SQLITE_READONLY: ("may not be written", _PERMISSIONS),
    sqlite3.SQLITE_PERM: ("may not be opened", _PERMISSIONS),
    sqlite3.SQLITE_FULL: ("cannot grow, the disk is full", "make room and try again"),
    sqlite3.SQLITE_BUSY: ("is locked by another program", "wait until that is done"),
    sqlite3.SQLITE_LOCKED: ("is locked by another program", "wait until that is done"),
    sqlite3.SQLITE_IOERR: ("cannot be read or written, the disk reports an error", "check the disk"),
    sqlite3.SQLITE_NOTADB: (
        "is not a ledger, or its beginning is damaged",
        "name another file, or put back the newest copy",
    ),
}
"""What SQLite refuses, in words, and what to do."""

_DAMAGED = ("is damaged", "put back the newest copy of the file")

getattr(os, "register_at_fork", dict)(  # where processes do not fork there is nothing to register
    before=ONE_THREAD.acquire, after_in_parent=ONE_THREAD.release, after_in_child=ONE_THREAD.release
)


@contextmanager
def open_database(path: Path, *, write: bool, new: bool = False) -> Iterator[sqlite3.Connection]:
    """Connect to a ledger that is ours, or to an empty file if it may be `new`.

    Reading too is done by a connection that may write: the last one of these to close removes the log. After
    something was added to a ledger that was there, the log stays.
    """
    refuse_link(path)
    _refuse_second_name(path)
    mode = "rwc" if new and write else "rw"
    with ONE_THREAD, _explained(path), closing(_connect(path, mode)) as connection:
        connection.text_factory = _lenient

        def set_up() -> None:
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.execute("PRAGMA cell_size_check = ON")
            if not (new and is_empty(connection)):
                _check_ours(connection, path.name)
            if write:
                connection.execute("PRAGMA journal_mode = WAL")
                connection.execute("PRAGMA synchronous = FULL")

        _wait_and_do(connection, set_up)
        yield connection
        if write and not new:
            _close_with_log(connection, path)


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Hold the one lock for writing; all that is written within is stored, or nothing."""
    _wait_and_do(connection, lambda: connection.execute("BEGIN IMMEDIATE"))
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise


def create_tables(connection: sqlite3.Connection, places: dict[str, str]) -> None:
    """Make an empty file a ledger; within a transaction."""
    for statement in _TABLES:
        connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {APPLICATION}")
    connection.execute(f"PRAGMA user_version = {FORMAT}")
    connection.executemany("INSERT INTO places VALUES (?, ?)", places.items())


def is_empty(connection: sqlite3.Connection) -> bool:
    """Whether nothing was ever stored: the file is new, or its making was cut short."""
    tables = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]
    mark = connection.execute("PRAGMA application_id").fetchone()[0]
    return not tables and not mark


def read_chain(connection: sqlite3.Connection, known: Chain, *, name: str) -> Chain:
    """Return all entries; those that are known were checked before, and only the newer ones are now."""
    if known.entries:
        query = "SELECT number, text, hash FROM entries WHERE number = ?"
        last = connection.execute(query, (len(known),)).fetchone()
        refuse_change(None if last is None else Entry(*last), known.entries[-1], name=name)
    query = "SELECT number, text, hash FROM entries WHERE number > ? ORDER BY number"
    return known.extended(connection.execute(query, (len(known),)), name=name)


def refuse_change(stored: object, known: object, *, name: str) -> None:
    """Refuse what is stored if it is not what was read from the same ledger before."""
    if stored != known:
        raise LedgerError(
            f"Ledger '{name}' was changed or replaced while it was open. Nothing was spent. "
            "Hint: put back the newest copy of both its files."
        )


def read_place(connection: sqlite3.Connection, key: str) -> str | None:
    """Return where something of the ledger is kept, if not beside it."""
    row = connection.execute("SELECT place FROM places WHERE name = ?", (key,)).fetchone()
    return None if row is None else str(row[0])


def add_entry(connection: sqlite3.Connection, entry: Entry) -> None:
    """Store an entry; within a transaction."""
    connection.execute("INSERT INTO entries VALUES (?, ?, ?)", (entry.number, entry.text, entry.hash))


def copy_database(connection: sqlite3.Connection, target: Path) -> None:
    """Write a copy of the whole ledger to a new file."""
    with _explained(target), closing(_connect(target, "rwc")) as copied:
        connection.backup(copied)
        copied.execute("PRAGMA journal_mode = DELETE")  # so that the copy is one file
    sync_folder(target.parent)


def fold_log(path: Path) -> None:
    """Copy the log of a ledger into its file, if nobody else has it open."""
    with suppress(LedgerError, OSError), open_database(path, write=False) as connection:
        is_empty(connection)


def _close_with_log(connection: sqlite3.Connection, path: Path) -> None:
    """Close a connection and leave the log where it is, unless that is long.

    The last connection to close copies the log into the file, unless it may only read.
    """
    log = path.with_name(f"{path.name}-wal")
    with suppress(OSError, sqlite3.Error):
        if log.stat().st_size < _LONGEST_LOG:
            with closing(_connect(path, "ro")) as reader:
                is_empty(reader)  # it has the log open from here on
                connection.close()


def _refuse_second_name(path: Path) -> None:
    """Refuse a file with two names: SQLite keeps a log for each name, and would lose what one of them has."""
    if path.exists() and path.stat().st_nlink > 1:
        raise LedgerError(
            f"Ledger '{path.name}' has a second name (a hard link), under which it could be spent twice. "
            "Nothing was spent. Hint: remove the other name."
        )


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    return sqlite3.connect(
        f"{path.absolute().as_uri()}?mode={mode}",
        uri=True,
        timeout=_BUSY_SECONDS,
        isolation_level=None,
        check_same_thread=False,
    )


def _wait_and_do(connection: sqlite3.Connection, act: Callable[[], object]) -> None:
    """Do something that needs a lock, as soon as no other process has it.

    SQLite itself would look ever more rarely, and among many processes some would starve: each looks as often
    as the others, so each has the same chance.
    """
    end = time.monotonic() + _BUSY_SECONDS
    connection.execute("PRAGMA busy_timeout = 0")
    while True:
        try:
            act()
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > end:
                raise
            time.sleep(_RETRY_SECONDS)
        else:
            connection.execute(f"PRAGMA busy_timeout = {int(1000 * _BUSY_SECONDS)}")
            return


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Explain what SQLite refuses by the name of the file, without its folder."""
    try:
        yield
    except (sqlite3.Error, UnicodeDecodeError) as error:  # a damaged name may be in SQLite's own message
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT)
        reason, hint = _REASONS.get(code & 0xFF, _DAMAGED)
        raise LedgerError(f"Ledger '{path.name}' {reason}. Nothing may be drawn. Hint: {hint}.") from None


def _lenient(text: bytes) -> str:
    """Return damaged text too: its hash tells, and then the entry can be named."""
    return text.decode("utf-8", "replace")


def _check_ours(connection: sqlite3.Connection, name: str) -> None:
    mark = connection.execute("PRAGMA application_id").fetchone()[0]
    number = connection.execute("PRAGMA user_version").fetchone()[0]
    if mark != APPLICATION:
        raise LedgerError(f"The file '{name}' is a database, but no ledger. Hint: name another file.")
    fault = version_fault(number, newest=FORMAT)
    if fault:
        raise LedgerError(f"Ledger '{name}' {fault}")
