"""Files to read from: opened, named and counted, with every failure in our own words.

A reader takes in so much and then refuses. The names of columns are checked, and chosen from, without
showing any of them: a file without a header has its first row of data where the names should be, so what the
file calls its columns is never part of a message.
"""

from __future__ import annotations

import bz2
import gzip
import os
import stat
import zlib
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

from evenhand._validate import kind_of
from evenhand._validate import refuse as refuse_parameter
from evenhand.errors import LimitExceededError, UnreadableFileError
from evenhand.schema import Schema
from evenhand.table.limits import Limits

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


ROW_NUMBERS = "row"
"""What a first column without a name is called."""


def name_row_numbers(names: Sequence[str]) -> list[str]:
    """Return the names of columns; a first one without a name is called "row".

    R and pandas write the numbers of rows so, without a name.

    >>> name_row_numbers(["", "age", "sex"])
    ['row', 'age', 'sex']
    """
    is_unnamed = len(names) > 1 and not names[0] and ROW_NUMBERS not in names
    return [ROW_NUMBERS, *names[1:]] if is_unnamed else list(names)


def check_names(names: Sequence[str | None], file: str) -> None:
    """Refuse a file whose columns have no name, or the same name twice."""
    places: dict[str | None, int] = {}
    for place, name in enumerate(names, start=1):
        if not name:
            refuse(file, f"column {place:,} has no name.")
        if name in places:
            refuse(file, f"columns {places[name]:,} and {place:,} have the same name.")
        places[name] = place


def check_is_schema(schema: object, *, owner: str) -> None:
    """Refuse what is neither a schema nor None."""
    if schema is not None and not isinstance(schema, Schema):
        refuse_parameter("schema", owner, "a Schema", kind_of(schema))


def wanted_names(
    names: Sequence[str], file: str, *, schema: Schema | None, columns: Sequence[str] | None, owner: str
) -> list[str]:
    """Return the columns to read: those asked for, else those of the schema, else all."""
    check_is_schema(schema, owner=owner)
    listed = isinstance(columns, list | tuple) and columns and all(isinstance(name, str) for name in columns)
    if columns is not None and not listed:
        refuse_parameter("columns", owner, "a list of column names", kind_of(columns))
    if schema is not None:
        wanted = (
            [schema[name].name for name in columns]
            if columns is not None
            else [*schema.names, *schema.beside]
        )
    else:
        wanted = list(columns) if columns is not None else list(names)
    present = set(names)
    for name in wanted:
        if name not in present:
            spelled = {_bare(known) for known in names}
            hint = " Hint: one is spelled like it but for case or spaces." if _bare(name) in spelled else ""
            refuse(file, f"none of its columns is called '{name}'.{hint}")
    return list(dict.fromkeys(wanted))


def batch_names(
    names: Sequence[str], file: str, *, schema: Schema | None, columns: Sequence[str] | None, owner: str
) -> list[str]:
    """Return the columns to read in batches, those asked for or else all; the schema may name no others."""
    wanted = wanted_names(names, file, schema=None, columns=columns, owner=owner)
    if schema is not None:
        wanted_names(wanted, file, schema=schema, columns=None, owner=owner)
    return wanted


def _bare(name: str) -> str:
    return "".join(name.split()).casefold()


BLOCK_BYTES = 1 << 18
_GZIP_MAGIC = b"\x1f\x8b"
_BZIP2_MAGIC = tuple(b"BZh%d" % level for level in range(1, 10))


class ReadableBuffer(Protocol):
    """Anything with a ``read`` method that returns bytes, such as an open binary file."""

    def read(self, size: int = ..., /) -> bytes:
        """Return at most `size` bytes."""
        ...


@dataclass(frozen=True)
class Source:
    """An open file: its own name without its folder, the stream, and its size where it is known."""

    name: str
    stream: Any
    size: int | None = None


def own_name(path: str | os.PathLike[str]) -> str:
    """Return the file's own name, without its folder, fit to be shown.

    >>> own_name("/home/someone/survey.csv")
    'survey.csv'
    """
    name = os.path.basename(os.fsdecode(path).rstrip("/\\"))  # noqa: PTH119 - must not fail on odd paths
    return "".join(letter if letter.isprintable() else "?" for letter in name) or "The path"


def refuse(name: str, why: str) -> NoReturn:
    """Raise the error of a file that cannot be read; nothing of the parser's own error is shown."""
    raise UnreadableFileError(f"{name} was not read: {why}") from None


def over_limit(name: str, why: str, *, limit: str, instead: str = "") -> NoReturn:
    """Raise the error of a file that passes a limit: what to do, or which argument raises it."""
    hint = f"Hint: {instead}pass limits=Limits({limit}=...) if you trust the file."
    raise LimitExceededError(f"{name} was not read: {why} {hint}", limit=limit) from None


@contextmanager
def open_source(path_or_buffer: Any, *, limits: Limits, owner: str) -> Iterator[Source]:
    """Open a path, or take a binary buffer as it is, and refuse at once what is too large.

    Only what was opened here is closed here.
    """
    given: object = limits
    if not isinstance(given, Limits):
        refuse_parameter("limits", owner, "a Limits", kind_of(limits))
    if hasattr(path_or_buffer, "read"):
        yield Source("The buffer", path_or_buffer)
        return
    if not isinstance(path_or_buffer, str | os.PathLike):
        refuse_parameter("path_or_buffer", owner, "a path or an open binary file", kind_of(path_or_buffer))
    name = own_name(path_or_buffer)
    size = _regular_size(path_or_buffer, name)
    if size > limits.bytes:
        _too_many_bytes(name, limits)
    try:
        stream = open(path_or_buffer, "rb")  # noqa: PTH123, SIM115 - closed below, after the caller's turn
    except PermissionError:
        refuse(name, "you may not read it.")
    except OSError:
        refuse(name, "the system could not open it.")
    with stream:
        yield Source(name, stream, size)


def blocks(source: Source, limits: Limits) -> Iterator[bytes]:
    """Yield the bytes of a source, unpacked if they are packed; read at most one byte over the limit."""
    start = _read(source, source.stream, 4)
    stream: Any = _Rejoined(start, source.stream)
    if start.startswith(_GZIP_MAGIC):
        stream = gzip.GzipFile(fileobj=stream)
    elif start.startswith(_BZIP2_MAGIC):
        stream = bz2.BZ2File(stream)
    total = 0
    while total <= limits.bytes:
        block = _read(source, stream, min(BLOCK_BYTES, limits.bytes + 1 - total))
        if not block:
            return
        total += len(block)
        if total <= limits.bytes:
            yield block
    _too_many_bytes(source.name, limits)


class _Rejoined:
    """A stream with its first bytes put back."""

    def __init__(self, start: bytes, rest: Any) -> None:
        self._start = start
        self._rest = rest

    def read(self, size: int) -> bytes:
        start, self._start = self._start[:size], self._start[size:]
        return start + bytes(self._rest.read(size - len(start))) if size > len(start) else start


def _read(source: Source, stream: Any, size: int) -> bytes:
    """Read `size` bytes, fewer only at the end of the file."""
    parts: list[bytes] = []
    while size > 0:
        try:
            part = stream.read(size)
        except (OSError, EOFError, zlib.error):
            if isinstance(stream, gzip.GzipFile | bz2.BZ2File):
                refuse(source.name, "its compressed data is damaged or cut off.")
            refuse(source.name, "the system could not read it.")
        if not isinstance(part, bytes | bytearray | memoryview):
            refuse_parameter(
                "path_or_buffer", "The reader", "a path or an open binary file", "a file opened as text"
            )
        if not part:
            break
        parts.append(bytes(part))
        size -= len(part)
    return b"".join(parts)


def _regular_size(path: str | os.PathLike[str], name: str) -> int:
    try:
        status = os.stat(path)  # noqa: PTH116 - takes any path
    except FileNotFoundError:
        refuse(name, "there is no such file.")
    except PermissionError:
        refuse(name, "you may not look into its folder.")
    except (OSError, ValueError):
        refuse(name, "the system does not accept its path.")
    if stat.S_ISDIR(status.st_mode):
        refuse(name, "it is a folder.")
    if not stat.S_ISREG(status.st_mode):
        refuse(name, "it is not a regular file.")
    return status.st_size


def _too_many_bytes(name: str, limits: Limits) -> NoReturn:
    over_limit(name, f"it holds more than {limits.bytes:,} bytes.", limit="bytes")
