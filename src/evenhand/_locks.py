"""A file that one process at a time holds, on every platform."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


class Lock:
    """A file that one process at a time holds.

    SQLite knows how to lock a file on every platform. The lock is held by an open transaction on a database
    that stays empty, so a process that is killed leaves the file behind but not the lock.

    Parameters
    ----------
    path : path
        The file, made if it is not there. It is not removed: somebody else may wait for it.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp(), "study.lock")
    >>> first, second = Lock(path), Lock(path)
    >>> first.take(), second.take()
    (True, False)
    >>> first.free()
    >>> second.take()
    True
    >>> second.free()
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._held: sqlite3.Connection | None = None

    def take(self) -> bool:
        """Take the lock if nobody holds it, and tell whether it is ours."""
        if self._held is not None:
            return True
        connection = sqlite3.connect(self._path, timeout=0, isolation_level=None, check_same_thread=False)
        try:
            connection.execute("BEGIN EXCLUSIVE")
        except sqlite3.DatabaseError as error:
            connection.close()
            if error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY:
                return False
            raise
        self._held = connection
        return True

    def free(self) -> None:
        """Give the lock back; nothing happens if it is not held."""
        if self._held is not None:
            self._held.close()
            self._held = None
