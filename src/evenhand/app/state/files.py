"""Files and folders that only this person can open, each replaced as a whole."""

from __future__ import annotations

import os
import tempfile
import time
from contextlib import suppress
from pathlib import Path

_TRIES = 20
_PAUSE_SECONDS = 0.01
_ENDING = ".part"


def make_private_folder(folder: Path) -> Path:
    """Make a folder that only this person can open, and return it; one that is there is closed to others."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with suppress(OSError):  # on a disk without permissions
        if folder.stat().st_mode & 0o077:
            folder.chmod(0o700)
    return folder


def write_private(path: Path, text: str, *, durable: bool = True) -> None:
    """Write a text into a file that only this person can read; whoever reads it sees the old one or the new.

    Parameters
    ----------
    path : path
    text : str
    durable : bool
        Whether it must outlast a power cut.
    """
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=_ENDING, dir=path.parent)
    part = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(text.encode())
            if durable:
                file.flush()
                os.fsync(file.fileno())
        _replace(part, path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def _replace(part: Path, path: Path) -> None:
    """Put a file in its place; on Windows that is refused for the moment in which somebody reads the old."""
    for _ in range(_TRIES):
        try:
            part.replace(path)
        except PermissionError:
            time.sleep(_PAUSE_SECONDS)
        else:
            return
    part.replace(path)
