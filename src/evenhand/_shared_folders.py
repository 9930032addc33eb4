"""Folders of private files that processes share; what a killed process left is removed by any later one."""

from __future__ import annotations

import os
import re
import shutil
import stat
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

from evenhand._part_files import AS_BYTES, FOLLOW_NO_LINK, is_at, lock_file

PREFIX = "evenhand-study-"
"""Begins the names of the folders."""

OWNER = "owner.lock"
"""The file that the owner of a folder holds a lock on as long as it lives, with the number of its process."""

MEMORY = Path("/dev/shm")  # noqa: S108 - its folders have names of their own, which nobody can guess
MOUNTS = Path("/proc/self/mounts")
MEMINFO = Path("/proc/meminfo")

_NAME = re.compile(rf"{PREFIX}[a-z0-9_]{{8}}")
_IN_MEMORY = {"tmpfs", "ramfs"}
_SPARE = 2
"""How many times the size of the files must be free in the memory."""


class SharedFolder:
    """A new folder that only this person can open, with files that only this person can read.

    It is removed when it is closed. This process holds a lock in it, which the operating system takes back
    when the process ends in any way; then :func:`remove_left_folders` removes it.

    Parameters
    ----------
    place : path
        Where, see :func:`shared_places`.
    """

    def __init__(self, place: Path) -> None:
        while True:
            self.path = Path(tempfile.mkdtemp(prefix=PREFIX, dir=place))
            try:
                self._owner = self.create(OWNER)
            except FileNotFoundError:
                continue  # somebody's sweep came between the folder and its lock
            except OSError:
                self.path.rmdir()
                raise
            lock_file(self._owner.fileno(), wait=True)
            if is_at(self.path / OWNER, self._owner.fileno()):
                break
            self._owner.close()  # it came between the lock's file and the lock
        try:
            self._owner.write(f"{os.getpid()}\n".encode())
            self._owner.flush()
        except BaseException:
            self.close()
            raise

    def create(self, name: str) -> Any:
        """Return a new binary file of this name, open for writing."""
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | FOLLOW_NO_LINK | AS_BYTES
        return os.fdopen(os.open(self.path / name, flags, 0o600), "w+b")

    def close(self) -> None:
        """Remove the folder."""
        if sys.platform == "win32":  # where a file that is open cannot be removed
            self._owner.close()
        shutil.rmtree(self.path, ignore_errors=True)
        self._owner.close()


def shared_places(size: int) -> tuple[Path, ...]:
    """Return where files of this many bytes may be shared, the best place first.

    That is the memory, where the system shows it as a folder and there is room to spare, and then the folder
    for temporary files.

    Raises
    ------
    FileNotFoundError
        If there is no folder for temporary files.
    """
    temporary = Path(tempfile.gettempdir())
    return (MEMORY, temporary) if _memory_has_room(size) else (temporary,)


def _memory_has_room(size: int) -> bool:
    try:
        mounted = [line.split()[1:3] for line in MOUNTS.read_text(encoding="utf-8").splitlines()]
        kinds = [kind for place, kind in mounted if place == str(MEMORY)]
        mode = MEMORY.stat().st_mode
        free = os.statvfs(MEMORY)
        memory = re.search(r"^MemAvailable:\s+(\d+) kB", MEMINFO.read_text(encoding="ascii"), re.MULTILINE)
    except (OSError, ValueError, AttributeError):  # a system that has no such thing, or does not say
        return False
    if not kinds or kinds[-1] not in _IN_MEMORY or memory is None:
        return False
    if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:  # where anybody may rename what others made
        return False
    return _SPARE * size <= min(free.f_bavail * free.f_frsize, int(memory[1]) << 10)


def remove_left_folders() -> None:
    """Remove the folders of this person's processes that were killed: those whose lock is free.

    What somebody else put there, whatever it is, is left alone and stops nothing.
    """
    places = {MEMORY}
    with suppress(OSError):
        places.add(Path(tempfile.gettempdir()))
    for place in places:
        with suppress(OSError):  # a place that is not there, or cannot be read
            for name in os.listdir(place):  # noqa: PTH208 - names alone, for there may be many
                if _NAME.fullmatch(name):
                    with suppress(OSError):  # somebody's, in use, or just removed
                        _remove_if_left(place / name)


def _remove_if_left(folder: Path) -> None:
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode):
        return
    if sys.platform == "win32":
        (folder / OWNER).unlink()  # refused as long as its owner has it open
        shutil.rmtree(folder, ignore_errors=True)
        return
    if status.st_uid != os.getuid() or stat.S_IMODE(status.st_mode) & 0o077:
        return
    try:
        descriptor = os.open(folder / OWNER, os.O_RDWR | FOLLOW_NO_LINK)
    except FileNotFoundError:
        folder.rmdir()  # its owner was killed before it held any file; refused if there is one
        return
    try:
        lock_file(descriptor, wait=False)
        if is_at(folder / OWNER, descriptor):
            shutil.rmtree(folder, ignore_errors=True)
    finally:
        os.close(descriptor)
