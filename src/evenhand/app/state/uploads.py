"""Receive a file into the folder of a study: under a random name, for this person alone, whole or not."""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING, BinaryIO
from urllib.parse import unquote

from evenhand._part_files import AS_BYTES, FOLLOW_NO_LINK
from evenhand.app.state.files import make_private_folder
from evenhand.app.state.record import LONGEST_NAME, tidy_name
from evenhand.errors import LimitExceededError, UnreadableFileError, UnwritableFileError
from evenhand.privacy.randomness import secret_text

if TYPE_CHECKING:
    from collections.abc import AsyncIterable
    from pathlib import Path

PART = ".part"
"""The ending of a file that is still coming in."""

TEXT_ENDINGS = (".csv", ".tsv", ".txt")
ENDINGS = (
    *(f"{text}{packed}" for text in TEXT_ENDINGS for packed in (".gz", ".bz2", "")),
    ".xlsx",
    ".parquet",
    ".pq",
)
"""The endings of files that can be read; a file keeps that of its label, and nothing else of it."""

_BLOCK = 1 << 20
_END = 30
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | FOLLOW_NO_LINK | AS_BYTES


@dataclass(frozen=True)
class Upload:
    """A file that was received.

    Parameters
    ----------
    file : str
        Its random name in the folder of the study's data.
    label : str
        What people read: the name that it had. It is never a path.
    size : int
        Its bytes.
    """

    file: str
    label: str
    size: int


def read_label(header: str) -> str:
    """Return the label of a file from the percent-encoded name that a browser sent.

    >>> read_label("C%3A%5Cfiles%5Cpay%20by%20sex.csv"), read_label("../../etc/passwd")
    ('pay by sex.csv', 'passwd')
    """
    whole = unquote(header, errors="replace").replace("\x00", "")
    name = PureWindowsPath(PurePosixPath(whole).name).name
    return tidy_name(name if len(name) <= LONGEST_NAME else f"{name[:80]}…{name[-_END:]}")


def choose_file_name(label: str) -> str:
    """Return a random name with the ending of a label.

    Raises
    ------
    UnreadableFileError
        If no file with this ending can be read.
    """
    ending = next((ending for ending in ENDINGS if label.lower().endswith(ending)), None)
    if ending is None:
        listed = ", ".join((*TEXT_ENDINGS, ".xlsx", ".parquet"))
        raise UnreadableFileError(
            f"The name of the file must end in {listed}; text may be packed, as in .csv.gz. Hint: save the "
            "table as CSV."
        )
    return f"{secret_text(16)}{ending}"


async def receive_upload(chunks: AsyncIterable[bytes], folder: Path, *, label: str, limit: int) -> Upload:
    """Write what comes in to a new file in `folder`, and return what it is called.

    Nothing is left if the connection ends, if the file is too large or empty, or if the disk is full.

    Parameters
    ----------
    chunks : asynchronous iterable of bytes
        The file, piece by piece; no more than a megabyte of it is held at once.
    folder : path
        Where it goes; made if it is not there.
    label : str
        See :func:`read_label`.
    limit : int
        The most bytes that it may have.

    Raises
    ------
    UnreadableFileError
        If it is empty, or has an ending that cannot be read.
    LimitExceededError
        If it has more bytes than `limit`.
    UnwritableFileError
        If the disk does not take it.
    """
    name = choose_file_name(label)
    path = make_private_folder(folder) / name
    part = path.with_name(name + PART)
    try:
        with os.fdopen(os.open(part, _NEW_FILE, 0o600), "wb", buffering=0) as file:
            size = await _write(chunks, file, limit=limit)
        part.replace(path)
    except OSError:
        _remove(part)
        raise UnwritableFileError(
            "The file could not be kept: the disk is full, or refuses it. Hint: make room and try again."
        ) from None
    except BaseException:
        _remove(part)
        raise
    return Upload(name, label, size)


def remove_upload(folder: Path, name: str) -> None:
    """Remove an upload, if it is there."""
    _remove(folder / PurePosixPath(name).name)


async def _write(chunks: AsyncIterable[bytes], file: BinaryIO, *, limit: int) -> int:
    """Write the pieces in blocks, away from the thread that answers; return how many bytes there were."""
    block, size = bytearray(), 0
    async for chunk in chunks:
        size += len(chunk)
        if size > limit:
            raise LimitExceededError("The file is larger than an upload may be.", limit="bytes")
        block += chunk
        if len(block) >= _BLOCK:
            await _write_block(file, bytes(block))
            block.clear()
    if not size:
        raise UnreadableFileError("The file is empty. Hint: choose a table with a header and rows.")
    await _write_block(file, bytes(block))
    return size


async def _write_block(file: BinaryIO, block: bytes) -> None:
    """Write a block, and wait for the writing even if the request ends: its file is removed afterwards."""
    writing = asyncio.ensure_future(asyncio.to_thread(_write_all, file, block))
    try:
        await asyncio.shield(writing)
    except asyncio.CancelledError:
        with suppress(OSError):
            await writing
        raise


def _write_all(file: BinaryIO, block: bytes) -> None:
    rest = memoryview(block)
    while rest:
        rest = rest[file.write(rest) :]


def _remove(path: Path) -> None:
    with suppress(OSError):
        path.unlink()
