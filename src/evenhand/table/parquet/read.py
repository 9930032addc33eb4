"""Read a Parquet file within limits, with nothing of its cells in any message."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from evenhand.errors import EvenhandError
from evenhand.table.limits import DEFAULT_LIMITS, Limits
from evenhand.table.parquet.footer import (
    DETAILS,
    DICTIONARY_PAGE,
    I32,
    ColumnPlan,
    check_types,
    leaf_places,
    number_of,
    page_header,
    plan_columns,
    read_footer,
    row_bytes,
    structures_of,
)
from evenhand.table.parquet.footer import row_bytes as fixed_bytes
from evenhand.table.source import Source, blocks, check_names, open_source, over_limit, refuse, wanted_names

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Sequence

    from evenhand.schema import Schema
    from evenhand.table.parquet.footer import ColumnChunk, Footer
    from evenhand.table.source import ReadableBuffer

__all__ = ["ParquetBatches", "read_parquet"]

_BATCH_BYTES = 8 << 20
_GROUP_PAGE_BYTES = 32 << 20
_GROUP_COLUMNS = 1_024
_MOST_ELEMENTS = 100_000
_ARROW_FAILURES = (
    pa.ArrowException,
    OSError,
    MemoryError,
    OverflowError,
    ValueError,
    TypeError,
    RuntimeError,
)


def read_parquet(
    path_or_buffer: str | os.PathLike[str] | ReadableBuffer,
    *,
    schema: Schema | None = None,
    columns: Sequence[str] | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> pa.Table:
    """Read a Parquet file into an Arrow table.

    Columns have the types the file declares. Lists, records and extension types are refused, and
    so are encrypted files. What the file declares about its sizes is checked before it is unpacked,
    down to every page, so that a small file cannot unfold into a large one.

    Parameters
    ----------
    path_or_buffer : str, path or binary file
        What to read. A file that cannot be searched is first read into memory, up to the limit.
    schema : Schema, optional
        Columns to read. Their types are matched with the domains when the table is encoded.
    columns : sequence of str, optional
        The columns to read. By default those of the schema; without a schema, all.
    limits : Limits
        How large the file may be, packed and unpacked.

    Returns
    -------
    pyarrow.Table

    Raises
    ------
    UnreadableFileError
        If the file is missing, is no Parquet file, is damaged, or holds what is not read.
    LimitExceededError
        If it passes a limit.

    Examples
    --------
    >>> import io, pyarrow as pa, pyarrow.parquet as pq
    >>> file = io.BytesIO()
    >>> pq.write_table(pa.table({"sex": ["f", "m"], "age": [30, 41]}), file)
    >>> read_parquet(io.BytesIO(file.getvalue()), columns=["age"]).to_pydict()
    {'age': [30, 41]}
    """
    with open_source(path_or_buffer, limits=limits, owner="read_parquet") as given:
        source, size = _searchable(given, limits)
        footer = read_footer(source, size)
        declared = _declared_schema(source, footer, limits)
        names = wanted_names(
            declared.names, source.name, schema=schema, columns=columns, owner="read_parquet"
        )
        check_types(declared, names, source.name)
        plans = plan_columns(source, size, footer, declared, names, limits)
        reader = _Reader(source, limits, footer.rows, declared)
        reader.check_size(plans)
        arrays: dict[str, list[Any]] = {name: [] for name in names}
        for group in _groups(plans):
            reader.read(group, arrays)
        return pa.table(
            [pa.chunked_array(arrays[name], declared.field(name).type) for name in names], names=names
        )


def _searchable(given: Source, limits: Limits) -> tuple[Source, int]:
    """Return a source that can be read at any place, and its size."""
    if given.size is not None:
        return given, given.size
    stream = given.stream
    if not (hasattr(stream, "seekable") and stream.seekable()):
        stream = io.BytesIO(b"".join(blocks(given, limits)))
    size = stream.seek(0, io.SEEK_END)
    if size > limits.bytes:
        over_limit(given.name, f"it holds more than {limits.bytes:,} bytes.", limit="bytes")
    return Source(given.name, stream, size), size


def _declared_schema(source: Source, footer: Footer, limits: Limits) -> pa.Schema:
    try:
        file = _open(source)
        declared: pa.Schema = file.schema_arrow
        names, stored = declared.names, file.metadata.num_columns
        counts = (file.metadata.num_rows, file.metadata.num_row_groups)
    except _ARROW_FAILURES:
        refuse(source.name, "its description is damaged.")
    if counts != (footer.rows, len(footer.groups)):
        refuse(source.name, "its description is damaged: it can be read in two ways.")
    if max(stored, len(names)) > limits.columns:
        over_limit(source.name, f"it has more than {limits.columns:,} columns.", limit="columns")
    if any(len(name.encode()) > limits.field_bytes for name in names):
        why = f"the name of a column is longer than {limits.field_bytes:,} bytes."
        over_limit(source.name, why, limit="field_bytes")
    check_names(names, source.name)
    return declared


def _groups(plans: list[ColumnPlan]) -> Iterator[list[ColumnPlan]]:
    """Put columns together that are read at the same time: few, or with small pages."""
    group: list[ColumnPlan] = []
    size = 0
    for plan in plans:
        size += plan.largest_page
        if group and (size > _GROUP_PAGE_BYTES or len(group) == _GROUP_COLUMNS):
            yield group
            group, size = [], plan.largest_page
        group.append(plan)
    if group:
        yield group


class _Reader:
    """Unpacks columns batch by batch and stops when the table grows over its limit."""

    def __init__(self, source: Source, limits: Limits, rows: int, declared: pa.Schema) -> None:
        self.source = source
        self.limits = limits
        self.declared = declared
        self.rows = rows
        self.taken = 0

    def check_size(self, plans: list[ColumnPlan]) -> None:
        """Refuse a table that is too large even if its text is empty."""
        pages = max((sum(column.largest_page for column in group) for group in _groups(plans)), default=0)
        self.taken = pages  # one group of pages is in memory beside the table
        least = self.rows * row_bytes(self.declared, [plan.name for plan in plans])
        if least + pages > self.limits.table_bytes:
            self._too_large()

    def read(self, group: list[ColumnPlan], arrays: dict[str, list[Any]]) -> None:
        """Read the columns of a group and append their pieces to `arrays`."""
        names = [plan.name for plan in group]
        text_bytes = sum(plan.unpacked for plan in group) // max(self.rows, 1)
        step = _BATCH_BYTES // max(row_bytes(self.declared, names) + text_bytes, 1)
        listed = [plan.name for plan in group if plan.has_dictionary and _is_text(self._type(plan.name))]
        rows = 0
        try:
            file = _open(self.source, read_dictionary=listed)
            for batch in file.iter_batches(max(1, min(step, 1 << 16)), columns=names, use_threads=False):
                rows += batch.num_rows
                for name in names:
                    arrays[name].append(self._checked(batch.column(name), self._type(name)))
        except EvenhandError:
            raise
        except _ARROW_FAILURES:
            refuse(self.source.name, "it is damaged: its columns cannot be unpacked.")
        if rows != self.rows:
            refuse(self.source.name, "it is damaged: it does not hold the rows it declares.")

    def _type(self, name: str) -> Any:
        return self.declared.field(name).type

    def _checked(self, array: Any, wanted: Any) -> Any:
        array.validate(full=True)
        if pa.types.is_dictionary(array.type) and _is_text(array.type.value_type):
            lengths = self._checked_lengths(array.dictionary)
            if array.type != wanted:  # only now is it known how long the text is
                self._take(int(lengths.take(array.indices.drop_null()).sum(dtype=np.int64)))
                array = array.dictionary_decode().cast(wanted)
        elif _is_text(array.type):
            self._checked_lengths(array)
        self._take(array.nbytes)
        return array

    def _checked_lengths(self, text: Any) -> Any:
        if pa.types.is_string_view(text.type) or pa.types.is_binary_view(text.type):
            text = text.cast(pa.large_binary())
        lengths = pc.binary_length(text).fill_null(0).to_numpy(zero_copy_only=False)
        if len(lengths) and int(lengths.max()) > self.limits.field_bytes:
            why = f"a field is longer than {self.limits.field_bytes:,} bytes."
            over_limit(self.source.name, why, limit="field_bytes")
        return lengths

    def _take(self, size: int) -> None:
        self.taken += size
        if self.taken > self.limits.table_bytes:
            self._too_large()

    def _too_large(self) -> NoReturn:
        why = f"as a table it takes more than {self.limits.table_bytes:,} bytes of memory."
        over_limit(self.source.name, why, limit="bytes")


def _open(source: Source, **options: Any) -> Any:
    return pq.ParquetFile(
        source.stream,
        buffer_size=1 << 16,
        pre_buffer=False,
        page_checksum_verification=True,
        thrift_container_size_limit=_MOST_ELEMENTS,
        **options,
    )


def _is_text(kind: Any) -> bool:
    return any(
        is_one(kind)
        for is_one in (
            pa.types.is_string,
            pa.types.is_large_string,
            pa.types.is_string_view,
            pa.types.is_binary,
            pa.types.is_large_binary,
            pa.types.is_binary_view,
        )
    )


_STREAM_BYTES = 32 << 20
_MOST_PAGE_BYTES = 128 << 20


class ParquetBatches(_Reader):
    """The rows of an open Parquet file, to be gone through once.

    A batch takes at most ``_STREAM_BYTES`` and two pages of each column, whatever the file holds: the number
    of its rows follows from the page in which they are longest.
    """

    def __init__(
        self,
        given: Source,
        limits: Limits,
        *,
        schema: Schema | None,
        columns: Sequence[str] | None,
        batch_rows: int,
        owner: str,
    ) -> None:
        source, size = _searchable(given, limits)
        footer = read_footer(source, size)
        declared = _declared_schema(source, footer, limits)
        names = wanted_names(declared.names, source.name, schema=None, columns=columns, owner=owner)
        if schema is not None:
            wanted_names(names, source.name, schema=schema, columns=None, owner=owner)
        check_types(declared, names, source.name)
        plans = plan_columns(source, size, footer, declared, names, limits)
        if sum(plan.largest_page for plan in plans) > _MOST_PAGE_BYTES:
            why = f"its pages take more than {_MOST_PAGE_BYTES:,} bytes side by side."
            refuse(source.name, f"{why} Hint: read fewer columns, or write it with smaller pages.")
        super().__init__(source, limits, footer.rows, declared)
        places = leaf_places(declared, footer, source)
        chunks = {
            name: [(group.chunks[places[name]], group.rows) for group in footer.groups] for name in names
        }
        self._listed = [
            plan.name for plan in plans if plan.has_dictionary and _is_text(self._type(plan.name))
        ]
        longest = fixed_bytes(declared, names) + sum(self._longest(plan, size, chunks) for plan in plans)
        self._step = max(1, min(batch_rows, int(_STREAM_BYTES / max(longest, 1))))
        self.schema = pa.schema([pa.field(name, self._read_type(name)) for name in names])
        self._read = 0

    @classmethod
    def names_in(cls, given: Source, limits: Limits) -> tuple[str, ...]:
        """Return the names of all columns of an open file."""
        source, size = _searchable(given, limits)
        return tuple(_declared_schema(source, read_footer(source, size), limits).names)

    @property
    def share_read(self) -> float:
        """How much of the file was read, from 0 to 1."""
        return self._read / self.rows if self.rows else 1.0

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        names = self.schema.names
        batches = self._opened(names)
        while True:
            try:
                batch = next(batches, None)
                if batch is None:
                    break
                checked = [self._checked_array(batch.column(field.name), field.type) for field in self.schema]
            except EvenhandError:
                raise
            except _ARROW_FAILURES:
                refuse(self.source.name, "it is damaged: its columns cannot be unpacked.")
            self._read += batch.num_rows
            yield pa.RecordBatch.from_arrays(checked, schema=self.schema)
        if self._read != self.rows:
            refuse(self.source.name, "it is damaged: it does not hold the rows it declares.")

    def _opened(self, names: list[str]) -> Iterator[Any]:
        try:
            file = _open(self.source, read_dictionary=self._listed)
            found: Iterator[Any] = file.iter_batches(self._step, columns=names, use_threads=False)
        except _ARROW_FAILURES:
            refuse(self.source.name, "it is damaged: its columns cannot be unpacked.")
        return found

    def _read_type(self, name: str) -> Any:
        """Return the type in which a column comes: text that is stored with a list of values keeps it."""
        declared = self._type(name)
        return pa.dictionary(pa.int32(), declared) if name in self._listed else declared

    def _longest(
        self, plan: ColumnPlan, size: int, chunks: dict[str, list[tuple[ColumnChunk, int]]]
    ) -> float:
        """Return how many bytes a row of a column of text takes in the page where rows are longest."""
        if not _is_text(self._type(plan.name)):
            return 0.0
        return max(
            (
                unpacked / values
                for chunk, rows in chunks[plan.name]
                for values, unpacked in self._pages(chunk, rows, size)
            ),
            default=0.0,
        )

    def _pages(self, chunk: ColumnChunk, rows: int, size: int) -> Iterator[tuple[int, int]]:
        """Yield values and unpacked bytes of the data pages; :func:`plan_columns` found them in order."""
        place, seen = chunk.start, 0
        while seen < rows:
            header, header_size = page_header(self.source, size, place)
            kind, unpacked, packed = (number_of(header, field, I32) or 0 for field in (1, 2, 3))
            place += header_size + packed
            values = number_of(next(iter(structures_of(header, DETAILS.get(kind, 0))), {}), 1, I32) or 0
            if kind != DICTIONARY_PAGE and values:
                seen += values
                yield values, unpacked

    def _checked_array(self, array: Any, wanted: Any) -> Any:
        array.validate(full=True)
        if pa.types.is_dictionary(array.type) and _is_text(array.type.value_type):
            self._checked_lengths(array.dictionary)
        elif _is_text(array.type):
            self._checked_lengths(array)
        return array if array.type == wanted else array.cast(wanted)
