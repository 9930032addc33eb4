"""Prepared rows on the disk for a while, so that every worker maps the same bytes instead of copying them."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from evenhand.errors import StudyStoreError
from evenhand.study.locking import Lock

__all__ = ["Shared", "opened", "sweep"]

PREFIX = "evenhand-study-"
"""Begins the names of the folders, in the system's folder for temporary files."""

_LOCK = "held.lock"
_OLD_SECONDS = 60.0


@dataclass(frozen=True)
class Mapped:
    """An array in a file."""

    path: str

    def open(self) -> Any:
        """Return the array, mapped, which nobody can write into."""
        return np.asarray(np.load(self.path, mmap_mode="r", allow_pickle=False))


class Shared:
    """The arrays of prepared rows in a folder of their own, which only this person may read.

    The folder goes when it is closed. If this process is killed, the next one that shares rows removes it.

    Parameters
    ----------
    prepared : dataclass
        Its fields that are arrays, or mappings of arrays, are written; the others stay as they are.
    """

    def __init__(self, prepared: Any) -> None:
        sweep()
        self._folder = Path(tempfile.mkdtemp(prefix=PREFIX))
        self._lock = Lock(self._folder / _LOCK)
        try:
            self._lock.take()
            changes = {each.name: self._written(getattr(prepared, each.name)) for each in fields(prepared)}
            self.prepared = replace(prepared, **changes)
        except (OSError, sqlite3.Error):
            self.close()
            raise StudyStoreError(
                "The rows cannot be shared with worker processes: the folder for temporary files is full or "
                "may not be written. Hint: make room there, name another one in TMPDIR, or use workers=1."
            ) from None
        except BaseException:
            self.close()
            raise

    def _written(self, value: Any) -> Any:
        if isinstance(value, np.ndarray) and value.size:
            path = self._folder / f"{len(list(self._folder.iterdir()))}.npy"
            np.save(path, value, allow_pickle=False)
            return Mapped(str(path))
        if isinstance(value, Mapping) and any(isinstance(each, np.ndarray) for each in value.values()):
            return {name: self._written(each) for name, each in value.items()}
        return value

    def close(self) -> None:
        """Remove the folder."""
        self._lock.free()
        shutil.rmtree(self._folder, ignore_errors=True)


def opened(prepared: Any) -> Any:
    """Return prepared rows with their arrays mapped from the files."""
    return replace(
        prepared, **{each.name: _opened(getattr(prepared, each.name)) for each in fields(prepared)}
    )


def _opened(value: Any) -> Any:
    if isinstance(value, Mapped):
        return value.open()
    if isinstance(value, Mapping) and any(isinstance(each, Mapped) for each in value.values()):
        return {name: _opened(each) for name, each in value.items()}
    return value


def sweep() -> None:
    """Remove the folders of this person's processes that were killed: those whose lock is free.

    What somebody else put there, whatever it is, is left alone and stops nothing.
    """
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with suppress(OSError, sqlite3.Error):
            lock = Lock(folder / _LOCK)
            if _is_ours(folder) and (folder / _LOCK).is_file() and lock.take():
                lock.free()
                shutil.rmtree(folder, ignore_errors=True)


def _is_ours(folder: Path) -> bool:
    """Whether a folder is old enough to be left behind, no link, and this person's."""
    found = folder.lstat()
    mine = not hasattr(os, "getuid") or found.st_uid == os.getuid()
    return mine and stat.S_ISDIR(found.st_mode) and time.time() - found.st_mtime > _OLD_SECONDS
