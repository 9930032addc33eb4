"""The footer of a Parquet file, which describes all the rest, read within bounds.

Arrow reads it too, but trusts it: three hostile bytes make it take seven hundred, and some
contradictions make it end the whole process. So nothing that Arrow says about single columns is used.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from evenhand.table.parquet.thrift import I64, CompactReader, Fields, MalformedError, number_of, structures_of
from evenhand.table.source import refuse

if TYPE_CHECKING:
    from evenhand.table.source import Source

__all__ = ["Chunk", "Footer", "Group", "bytes_at", "read_footer"]

_MAGIC = b"PAR1"
_MOST_FOOTER_BYTES = 8 << 20
_MOST_STRUCTURES = 400_000  # Arrow takes up to 700 bytes for each


class Chunk(NamedTuple):
    """One column of one group of rows: how many values, and where its first page starts."""

    values: int
    start: int


class Group(NamedTuple):
    """A group of rows: how many they are, and its chunks in the order of the columns."""

    rows: int
    chunks: list[Chunk]


class Footer(NamedTuple):
    """All rows, and the groups they are in."""

    rows: int
    groups: list[Group]


def read_footer(source: Source, size: int) -> Footer:
    """Read the footer; refuse what does not start and end like a Parquet file, or contradicts itself."""
    if size < 12 or bytes_at(source, 0, 4) != _MAGIC:
        refuse(source.name, "it is not a Parquet file.")
    length, magic = struct.unpack("<I4s", bytes_at(source, size - 8, 8))
    if magic != _MAGIC:
        refuse(source.name, "it is damaged or cut off: it does not end like a Parquet file.")
    if length > size - 12:
        refuse(source.name, "it is damaged or cut off: its description is longer than the file.")
    if length > _MOST_FOOTER_BYTES:
        refuse(source.name, f"its description takes more than {_MOST_FOOTER_BYTES:,} bytes.")
    reader = CompactReader(bytes_at(source, size - 8 - length, length), most_structures=_MOST_STRUCTURES)
    try:
        fields = reader.structure("file")
    except MalformedError:
        refuse(source.name, "its description is damaged or has too many parts.")
    footer = Footer(
        _required(source, fields, 3), [_group(source, group) for group in structures_of(fields, 4)]
    )
    if footer.rows != sum(group.rows for group in footer.groups):
        _contradiction(source)
    return footer


def bytes_at(source: Source, place: int, length: int) -> bytes:
    """Return `length` bytes from `place` on, fewer if the file ends."""
    try:
        source.stream.seek(place)
        return bytes(source.stream.read(length))
    except (OSError, ValueError):
        refuse(source.name, "the system could not read it.")


def _group(source: Source, fields: Fields) -> Group:
    chunks = [_chunk(source, chunk) for chunk in structures_of(fields, 1)]
    rows = _required(source, fields, 3)
    if rows < 0 or any(chunk.values < 0 for chunk in chunks):
        _contradiction(source)
    return Group(rows, chunks)


def _chunk(source: Source, fields: Fields) -> Chunk:
    for column in structures_of(fields, 3):
        start, dictionary = _required(source, column, 9), number_of(column, 11, I64)
        if dictionary is not None and 0 < dictionary < start:
            start = dictionary
        return Chunk(_required(source, column, 5), start)
    return refuse(source.name, "its description is damaged, or it is encrypted.")


def _required(source: Source, fields: Fields, field: int) -> int:
    number = number_of(fields, field, I64)
    return _contradiction(source) if number is None else number


def _contradiction(source: Source) -> NoReturn:
    refuse(source.name, "its description is damaged: it contradicts itself.")
