"""The files of one table: a file, all files of a folder, or those that a pattern names, in a stable order."""

from __future__ import annotations

import glob
import os
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand.table.source import own_name, refuse

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MOST_PARTS = 100_000
"""Files of one folder or pattern; more are hardly meant."""

_WILD = "*?["
_UNFINISHED = (".tmp", ".temp", ".part", ".partial", ".crdownload", ".inprogress", ".swp", "~")
_UNFINISHED_FOLDERS = ("_temporary",)


@dataclass(frozen=True)
class Parts:
    """The files of one table.

    Parameters
    ----------
    name : str
        What messages call several files together; without a folder.
    files : tuple of path
        At least one, in the order of their names as bytes, which is the same on every machine. A single
        file is there as it was given.
    is_alone : bool
        Whether a single file was named.
    """

    name: str
    files: tuple[Path, ...]
    is_alone: bool

    def __len__(self) -> int:
        return len(self.files)


def names_several(path: str | os.PathLike[str]) -> bool:
    """Whether a path is a folder, or a pattern such as ``data/*.parquet`` that is not itself a file.

    >>> names_several("data/*.parquet"), names_several("people.csv")
    (True, False)
    """
    given: object = path
    if not isinstance(given, str | os.PathLike):  # opening it says so
        return False
    text = os.fsdecode(path)
    if "\0" in text:
        return False
    return Path(text).is_dir() or (any(sign in text for sign in _WILD) and not os.path.lexists(text))


def would_be_read(path: str | os.PathLike[str], out: str | os.PathLike[str]) -> bool:
    """Whether a file, once written, would be one of those that a folder or a pattern stands for.

    >>> would_be_read("data/*.parquet", "data/new.parquet"), would_be_read("data/*.parquet", "new.parquet")
    (True, False)
    """
    if not names_several(path):
        return False
    if Path(path).is_dir():
        return os.path.realpath(Path(out).parent) == os.path.realpath(path)
    return fnmatch(os.path.abspath(out), os.path.abspath(path))  # noqa: PTH100 - dots may lead out and in again


def find_parts(path: str | os.PathLike[str], *, endings: Iterable[str]) -> Parts:
    """Return the files that a path stands for.

    Files that tools leave beside data, such as ``_SUCCESS``, notes and side files of ours, are passed over.

    Parameters
    ----------
    path : str or path
        A file, a folder or a pattern. ``**`` in a pattern stands for any folders.
    endings : iterable of str
        How the names of the files end that hold rows.

    Raises
    ------
    UnreadableFileError
        If there are none, or if something is among them that is not meant: a link that leads out of the
        folder, a hidden file of rows, a file that is being written, the same file twice, or another folder.
    """
    if not names_several(path):
        alone: Any = path
        return Parts("", (alone,), is_alone=True)
    name, text = own_name(path), os.fsdecode(path)
    is_folder = Path(text).is_dir()
    if is_folder:
        folder = Path(text)
        found = _list_folder(folder, name)
    else:
        folder = _fixed_folder(text)
        found = [Path(file) for file in glob.glob(text, recursive=True, include_hidden=True)]  # noqa: PTH207
    ends = tuple(endings)
    files = [file for file in found if _is_wanted(file, ends, name, is_named=not is_folder)]
    if not found and not is_folder:
        refuse(name, "no file has a name that this pattern stands for.")
    if not files:
        listed = ", ".join(ends)
        refuse(name, f"no file of it has rows. Hint: names of such files end with {listed}.")
    if len(files) > MOST_PARTS:
        refuse(name, f"it has more than {MOST_PARTS:,} files.")
    _refuse_links(files, folder, name)
    ordered = sorted(files, key=lambda file: os.fsencode(file.relative_to(folder).as_posix()))
    return Parts(name, tuple(ordered), is_alone=False)


def _list_folder(folder: Path, name: str) -> list[Path]:
    try:
        entries = list(folder.iterdir())
    except OSError:
        refuse(name, "you may not look into this folder.")
    for entry in entries:
        if entry.is_dir() and entry.name in _UNFINISHED_FOLDERS:
            refuse(name, "a folder in it holds files that are being written.")
        if entry.is_dir() and not entry.name.startswith((".", "_")):
            refuse(
                name,
                "it has folders in it. Hint: a pattern in quotation marks names their files, such as "
                "'folder/*/*.parquet'.",
            )
    return [entry for entry in entries if not entry.is_dir()]


def _fixed_folder(pattern: str) -> Path:
    """Return the folder of a pattern before its first sign that stands for several names."""
    fixed = []
    for part in Path(pattern).parts:
        if any(sign in part for sign in _WILD):
            break
        fixed.append(part)
    return Path(*fixed)


def _is_wanted(file: Path, endings: Sequence[str], name: str, *, is_named: bool) -> bool:
    """Whether a file holds rows; refuse what is being written or hides."""
    own = file.name.lower()
    if own.endswith(_UNFINISHED):
        refuse(name, "a file in it is being written, or was left unfinished. Hint: remove it, or wait.")
    if not own.endswith(tuple(endings)):
        return False
    if own.startswith((".", "_")):
        refuse(name, "a file of rows in it is hidden. Hint: remove it, or give it another name.")
    if is_named and file.is_dir():
        refuse(name, "a folder has a name that its pattern stands for.")
    return True


def _refuse_links(files: Sequence[Path], folder: Path, name: str) -> None:
    """Refuse links that lead out of the folder or nowhere, and two names of one file."""
    root = os.path.realpath(folder)
    seen: set[tuple[int, int]] = set()
    for file in files:
        real = os.path.realpath(file)
        if not Path(real).is_relative_to(root):
            refuse(name, "a link in it leads out of the folder.")
        try:
            status = os.stat(real)  # noqa: PTH116 - of the text
        except OSError:
            refuse(name, "a link in it leads nowhere.")
        if (status.st_dev, status.st_ino) in seen:
            refuse(name, "two names in it are of one file, whose rows would count twice.")
        seen.add((status.st_dev, status.st_ino))
