"""Files that are written batch by batch: CSV that spreadsheets can open, and Parquet."""

from __future__ import annotations

import gzip
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from evenhand.collect.privatizer.bare_columns import write_out_views
from evenhand.engine.text_forms import is_risky
from evenhand.errors import InvalidParameterError
from evenhand.table.write import inert_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["CsvOut", "ParquetOut", "as_text", "has_length", "plain_values"]

_QUOTED = '[",\r\n]|^$|^[ \t]|[ \t]$'
_PLAIN_TYPES = (
    pa.types.is_integer,
    pa.types.is_floating,
    pa.types.is_decimal,
    pa.types.is_boolean,
    pa.types.is_date,
    pa.types.is_time,
    pa.types.is_timestamp,
    pa.types.is_null,
)


class CsvOut:
    """A CSV file: UTF-8, commas, LF, quotation marks where they are needed, an empty cell for nothing.

    Parameters
    ----------
    file : binary file
        Where to.
    names : sequence of str
        The columns.
    packed : bool
        Whether to write it gzipped.
    """

    def __init__(self, file: Any, names: Sequence[str], *, packed: bool = False) -> None:
        self._file = gzip.GzipFile("", "wb", 6, file, mtime=0) if packed else file
        self._packed = packed
        heads = [pa.array([inert_text(name)]) for name in names]
        self.write(heads)

    def write(self, cells: Sequence[Any]) -> None:
        """Append rows, given as one array of text for each column."""
        self.write_lines(self.lines_of(cells))

    @staticmethod
    def lines_of(cells: Sequence[Any]) -> Any:
        """Return rows, given as one array of text for each column, as an array of lines with their ends."""
        ready = [_quoted(pc.cast(each, pa.large_string())) for each in cells]
        if len(ready) == 1:  # a lone empty cell would be a blank line
            ready = [ready[0].fill_null('""')]
        how = {"null_handling": "replace", "null_replacement": ""}
        lines = pc.binary_join_element_wise(*ready, pa.scalar(",", pa.large_string()), **how)
        empty, end = (pa.scalar(text, pa.large_string()) for text in ("", "\n"))
        return pc.binary_join_element_wise(lines, empty, end)

    def write_lines(self, lines: Any) -> None:
        """Append lines that :meth:`lines_of` made."""
        if len(lines):
            offsets = np.frombuffer(lines.buffers()[1], np.int64)[
                lines.offset : lines.offset + len(lines) + 1
            ]
            self._file.write(memoryview(lines.buffers()[2])[int(offsets[0]) : int(offsets[-1])])

    def close(self) -> None:
        """Finish the file, which stays open."""
        if self._packed:
            self._file.close()

    def abandon(self) -> None:
        """Let go of a file that will not be kept."""
        with suppress(OSError):
            self.close()


class ParquetOut:
    """A Parquet file; each batch is a group of rows.

    Parameters
    ----------
    file : binary file
        Where to.
    schema : pyarrow.Schema
        The columns.
    listed : sequence of str
        The columns that are written as a list of values and places in it.
    """

    def __init__(self, file: Any, schema: pa.Schema, *, listed: Sequence[str]) -> None:
        import pyarrow.parquet as pq  # noqa: PLC0415 - takes time to import

        self._schema = schema
        self._writer = pq.ParquetWriter(
            file,
            schema,
            compression="zstd",
            compression_level=1,
            use_dictionary=list(listed),
            write_page_checksum=True,
            write_statistics=False,
            store_schema=False,
        )

    def write(self, columns: Sequence[Any]) -> None:
        """Append rows, given as one array for each column."""
        batch = pa.RecordBatch.from_arrays(list(columns), schema=self._schema)
        if batch.num_rows:
            self._writer.write_table(pa.Table.from_batches([batch]), row_group_size=batch.num_rows)

    def close(self, metadata: Mapping[str, str] | None = None) -> None:
        """Finish the file, which stays open."""
        if metadata:
            self._writer.add_key_value_metadata(dict(metadata))
        self._writer.close()

    def abandon(self) -> None:
        """Let go of a file that will not be kept, or the writer would finish it when it is long closed."""
        with suppress(OSError, pa.ArrowException):
            self._writer.close()
        self._writer.is_open = False


def plain_values(array: Any) -> Any:
    """Return a column that is places in a list of values, or views of text, as the values themselves.

    The list may hold values that no row has, in the order in which rows elsewhere had them first; views may
    look at text of other rows.
    """
    if pa.types.is_dictionary(array.type):
        return write_out_views(array.dictionary).take(array.indices)
    return write_out_views(array)


def has_length(kind: pa.DataType) -> bool:
    """Whether values of this type may be long: text or bytes in any form."""
    is_text = pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    is_bytes = pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_binary_view(kind)
    return bool(is_text or is_bytes or pa.types.is_fixed_size_binary(kind))


def as_text(array: Any, name: str) -> Any:
    """Return a column in the clear as text; nothing and NaN are missing, formulas get an apostrophe."""
    array = plain_values(array)
    kind = array.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        cells = array.cast(pa.large_string())
        before, between = (pa.scalar(text, pa.large_string()) for text in ("'", ""))
        risky = is_risky(cells)
        if not pc.any(risky).as_py():
            return cells
        return pc.if_else(risky, pc.binary_join_element_wise(before, cells, between), cells)
    if pa.types.is_floating(kind):
        array = array.cast(pa.float32()) if pa.types.is_float16(kind) else array
        array = pc.if_else(pc.is_nan(array), None, array)
    if any(is_one(kind) for is_one in _PLAIN_TYPES):
        return array.cast(pa.large_string())
    raise InvalidParameterError(
        "keep",
        owner="a CSV file",
        must_be="columns of text, numbers, truth values, dates and times",
        got=f"column '{name}' of another type",
        hint="leave it out, or write a Parquet file.",
    )


def _quoted(cells: Any) -> Any:
    """Put quotation marks around the cells that need them; nothing stays nothing."""
    needs = pc.match_substring_regex(cells, _QUOTED)
    if not pc.any(needs).as_py():
        return cells
    mark, between = (pa.scalar(text, pa.large_string()) for text in ('"', ""))
    doubled = pc.replace_substring(cells, '"', '""')
    return pc.if_else(needs, pc.binary_join_element_wise(mark, doubled, mark, between), cells)
