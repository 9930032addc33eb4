"""Files that are being written: nobody else may read them, and what the dead left is removed."""

from __future__ import annotations

import os
import re
import stat
import sys
import tempfile
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

try:
    import fcntl
except ImportError:  # Windows has none, and neither has a browser
    locking: Any = None
else:
    locking = fcntl

if TYPE_CHECKING:
    from collections.abc import Iterator

FOLLOW_NO_LINK = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
"""Opens a file and not what a link leads to, for this process alone, where the system can."""

AS_BYTES = getattr(os, "O_BINARY", 0)
"""Opens a file whose line ends the system leaves alone."""

_ENDING = ".evenhand.part"
_OURS = re.compile(r"\..+\.[a-z0-9_]{8}(\.new)?\.evenhand\.part", re.DOTALL)
_OLD_SECONDS = 60.0


class Part:
    """A hidden file that is being written, and the place that it will take.

    Parameters
    ----------
    target : path
        The place, see :func:`resolve_folder`.
    path : path
        Where the hidden file is.
    file : binary file
        The same file, open.
    """

    def __init__(self, target: Path, path: Path, file: Any) -> None:
        self.target = target
        self.file = file
        self._path = path
        self._mode = _mode_for(target, path)

    def finish(self) -> None:
        """Bring the file to the disk; it stays open, and may be written again."""
        self.file.flush()
        os.fsync(self.file.fileno())

    def take_place(self) -> None:
        """Replace what is at the place; only there others may read it, as they might the old file."""
        if sys.platform == "win32":  # where a file that is open stays where it is
            self.file.close()
            self._path.chmod(self._mode)
        self._path.replace(self.target)
        if not self.file.closed:
            with suppress(OSError):  # on a disk without permissions; its owner can read it all the same
                os.fchmod(self.file.fileno(), self._mode)


@contextmanager
def open_part(target: Path) -> Iterator[Part]:
    """Open a hidden file beside `target`, which is removed if an error occurs before it has its place.

    Until it has its place nobody but this person may read it; then it has the permissions of the old file,
    else those of any new one. It is locked while it is written. The operating system takes the lock back when
    the process ends in any way, so that :func:`sweep` can tell what is being written from what a killed
    process left.
    """
    while True:
        descriptor, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=_ENDING, dir=target.parent)
        part = Path(name)
        with os.fdopen(descriptor, "w+b") as file:
            lock_file(file.fileno(), wait=True)
            if not is_at(part, file.fileno()):
                continue  # somebody's sweep came between the file and its lock
            try:
                yield Part(target, part, file)
            except BaseException:
                with suppress(OSError):
                    file.close()
                with suppress(OSError):
                    part.unlink()
                raise
        return


@contextmanager
def put_in_place(target: Path) -> Iterator[Any]:
    """Open a hidden file as :func:`open_part` does, and put it in its place once it is complete."""
    with open_part(target) as part:
        yield part.file
        part.finish()
        part.take_place()


def resolve_folder(path: str | os.PathLike[str]) -> Path:
    """Return where a file of this name goes: links in its folder are followed, a link in its place is not.

    A link in its place is replaced. To follow it would write into a folder that nobody named, perhaps beside
    the guarantee of another table.

    >>> resolve_folder("/tmp/../table.csv").name
    'table.csv'
    """
    folder, name = os.path.split(os.fspath(path))
    if name in {"", ".", ".."}:  # a folder, which is refused where the file is put in its place
        return Path(os.path.realpath(path))
    return Path(os.path.realpath(folder), name)


def sweep(folder: Path) -> None:
    """Remove the files that killed processes of this person left half written in a folder.

    They may hold rows in the clear. What is being written, and what has another kind of name, is left alone.
    """
    with suppress(OSError):  # a folder that cannot be read is told of where the file is made
        for name in os.listdir(folder):  # noqa: PTH208 - names alone, for there may be many
            if _OURS.fullmatch(name):
                with suppress(OSError):  # it is being written, or somebody else was quicker
                    _remove_if_left(folder / name)


def _remove_if_left(part: Path) -> None:
    status = part.lstat()
    if not stat.S_ISREG(status.st_mode) or (hasattr(os, "getuid") and status.st_uid != os.getuid()):
        return
    if sys.platform == "win32":  # where a file that is open cannot be removed; it is closed for a moment only
        if time.time() - status.st_mtime > _OLD_SECONDS:
            part.unlink()
        return
    descriptor = os.open(part, os.O_RDWR | FOLLOW_NO_LINK)
    try:
        lock_file(descriptor, wait=False)
        if is_at(part, descriptor):
            part.unlink()
    finally:
        os.close(descriptor)


def lock_file(descriptor: int, *, wait: bool) -> None:
    """Lock an open file against other processes and threads; BlockingIOError if it is and we do not wait."""
    if locking is None:
        return
    try:
        locking.flock(descriptor, locking.LOCK_EX | (0 if wait else locking.LOCK_NB))
    except OSError:
        if not wait:
            raise  # on a disk that knows no locks everything is left alone


def is_at(part: Path, descriptor: int) -> bool:
    """Whether an open file is still what its name stands for."""
    try:
        return os.path.samestat(part.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def _mode_for(target: Path, part: Path) -> int:
    """Return the permissions of a file that is replaced, else those that the system gives to a new one."""
    with suppress(FileNotFoundError):
        old = target.lstat().st_mode
        if stat.S_ISREG(old):  # a link has no permissions of its own
            return stat.S_IMODE(old)
    probe = part.with_name(part.name.removesuffix(_ENDING) + f".new{_ENDING}")
    try:
        with probe.open("xb") as file:
            return stat.S_IMODE(os.fstat(file.fileno()).st_mode)
    finally:
        probe.unlink(missing_ok=True)
