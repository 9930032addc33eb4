"""Reports in Parquet files: flat columns, and a note of what they are in the file's metadata."""

from __future__ import annotations

import io
import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from evenhand.collect.reports.notes import NOTES, in_written_order, note_of, parsed, read_note
from evenhand.collect.reports.reports import Reports
from evenhand.errors import InvalidParameterError, LimitExceededError, UnreadableFileError
from evenhand.table.source import DEFAULT_LIMITS, Source, blocks, opened, refuse

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Mapping

    from evenhand.table.source import Limits, ReadableBuffer

__all__ = ["read_reports", "write_reports"]

_GROUP_BYTES = 64 << 20
_GROUP_ROWS = 1 << 20
_RECORDS = ("protocol", "guarantee")  # written as JSON, the others as they are
_LONGEST_NOTE = 1 << 16


def write_reports(
    reports: Reports, path: str | os.PathLike[str], *, simulated: str, keep_order: bool
) -> None:
    """Write reports and what they are to a file, whole or not at all."""
    import pyarrow as pa  # noqa: PLC0415 - slow to import
    import pyarrow.parquet as pq  # noqa: PLC0415 - slow to import

    from evenhand.table.write import replacing  # noqa: PLC0415 - imports pyarrow

    note = note_of(reports, simulated=simulated, keep_order=keep_order, owner="Reports.write_parquet")
    reports = in_written_order(reports, keep_order=keep_order)
    metadata = {name: json.dumps(text) if name in _RECORDS else text for name, text in note.items()}
    layout = reports.protocol.layout
    table = pa.table(layout.to_columns(reports.values))
    rows = max(1, min(_GROUP_ROWS, _GROUP_BYTES // layout.bytes_per_report))
    plain = {"store_schema": False, "write_statistics": False, "use_dictionary": False}
    with (
        replacing(path) as file,
        pq.ParquetWriter(file, table.schema, compression="zstd", write_page_checksum=True, **plain) as writer,
    ):
        writer.write_table(table, row_group_size=rows)
        writer.add_key_value_metadata(metadata)


def read_reports(
    path_or_buffer: str | os.PathLike[str] | ReadableBuffer, *, limits: Limits | None = None
) -> Reports:
    """Read reports and what they are from a file that :func:`write_reports` wrote."""
    from evenhand.table.parquet.read import read_parquet  # noqa: PLC0415 - imports pyarrow

    limits = DEFAULT_LIMITS if limits is None else limits
    with opened(path_or_buffer, limits=limits, owner="Reports.read_parquet") as given, _named(given):
        source = _searchable(given, limits)
        table = read_parquet(source.stream, limits=limits)
        protocol, simulated = read_note(_note(source), source.name)
        columns = dict(zip(table.column_names, table.columns, strict=True))
        try:
            values = protocol.layout.from_columns(columns)
        except InvalidParameterError as error:
            refuse(source.name, f"its reports are not {error.must_be}.")
    return Reports._drawn(values, protocol, simulated=simulated)  # noqa: SLF001 - they were checked


def _searchable(given: Source, limits: Limits) -> Source:
    """Return a source that can be read twice."""
    stream = given.stream
    if given.size is None and not (hasattr(stream, "seekable") and stream.seekable()):
        stream = io.BytesIO(b"".join(blocks(given, limits)))
    return Source(given.name, stream, given.size)


def _note(source: Source) -> Mapping[str, Any]:
    """Return what the metadata of a file says, after :func:`read_parquet` found the file in order."""
    import pyarrow.parquet as pq  # noqa: PLC0415 - slow to import

    source.stream.seek(0)
    file = pq.ParquetFile(source.stream)
    found, shown = file.metadata.metadata or {}, file.schema_arrow.metadata or {}
    texts = {name: found[name.encode()] for name in NOTES if name.encode() in found}
    keys = [name.encode() for name in NOTES]
    if any(found.get(key) != shown.get(key) for key in keys) or _one_is_twice(keys, file.metadata):
        refuse(source.name, "it says something about itself twice.")
    if any(len(text) > _LONGEST_NOTE for text in texts.values()):
        refuse(source.name, "what it says about itself is too long.")
    try:
        return {
            name: parsed(text) if name in _RECORDS else text.decode("utf-8") for name, text in texts.items()
        }
    except ValueError:
        refuse(source.name, "what it says about itself cannot be understood.")


def _one_is_twice(keys: list[bytes], metadata: Any) -> bool:
    """Whether the footer has one of the keys twice: readers differ in which of the two they believe.

    Arrow shows only one of them. So it writes the footer again, in the one form it has for a text: the byte
    0x18 (the next field, a text), the length, and the text. A column called like a key counts too.
    """
    footer = io.BytesIO()
    metadata.write_metadata_file(footer)
    return any(footer.getvalue().count(bytes([0x18, len(key)]) + key) > 1 for key in keys)


@contextmanager
def _named(source: Source) -> Iterator[None]:
    """Name the file in messages of a reader that was given its stream."""
    try:
        yield
    except UnreadableFileError as error:
        raise UnreadableFileError(_with_name(error, source)) from None
    except LimitExceededError as error:
        raise LimitExceededError(_with_name(error, source), limit=error.limit) from None


def _with_name(error: Exception, source: Source) -> str:
    return str(error).replace("The buffer was", f"{source.name} was", 1)
