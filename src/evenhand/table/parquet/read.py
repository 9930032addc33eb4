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
    ColumnPlan,
    check_types,
    plan_columns,
    read_footer,
    row_bytes,
    write_without_categories,
)
from evenhand.table.source import (
    Source,
    batch_names,
    blocks,
    check_names,
    open_source,
    over_limit,
    refuse,
    wanted_names,
)

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Sequence

    from evenhand.schema import Schema
    from evenhand.table.parquet.footer import Footer
    from evenhand.table.source import ReadableBuffer

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
        reader = _Reader(given, limits)
        declared, file = reader.declared, reader.source.name
        names = wanted_names(declared.names, file, schema=schema, columns=columns, owner="read_parquet")
        plans = reader.plan(names)
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

    def __init__(self, given: Source, limits: Limits) -> None:
        self.limits = limits
        self.source, self._size = _searchable(given, limits)
        self._footer = read_footer(self.source, self._size)
        self.declared = _declared_schema(self.source, self._footer, limits)
        self.rows = self._footer.rows
        self.taken = 0
        self._rows_read = 0

    def plan(self, names: list[str]) -> list[ColumnPlan]:
        """Return how these columns are stored; refuse what is not read."""
        check_types(self.declared, names, self.source.name)
        return plan_columns(self.source, self._size, self._footer, self.declared, names, self.limits)

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
        text_bytes += sum(self._longest_listed(plan) for plan in group)
        step = _BATCH_BYTES // max(row_bytes(self.declared, names) + text_bytes, 1)
        for batch in self._unpack(names, self._listed(group), max(1, min(step, 1 << 16))):
            for name, array in zip(names, batch, strict=True):
                arrays[name].append(array)

    def _unpack(self, names: list[str], listed: list[str], step: int) -> Iterator[list[Any]]:
        """Yield the columns of at most `step` rows at a time; refuse a file that is not what it declares."""
        self._rows_read = 0
        try:
            file = self._open_listed(names, listed)
            for batch in file.iter_batches(step, columns=names, use_threads=False):
                checked = [self._checked(batch.column(name), name) for name in names]
                self._rows_read += batch.num_rows
                yield checked
        except EvenhandError:
            raise
        except _ARROW_FAILURES:
            self._refuse_damaged()
        if self._rows_read != self.rows:
            refuse(self.source.name, "it is damaged: it does not hold the rows it declares.")

    def _open_listed(self, names: list[str], listed: list[str]) -> Any:
        """Open the file so that no columns but the listed ones come as places in lists."""
        categories = [name for name in names if _is_categories(self._type(name)) and name not in listed]
        if not categories:
            return _open(self.source, read_dictionary=[name for name in listed if _is_text(self._type(name))])
        stored = _open(self.source).metadata.metadata[b"ARROW:schema"]
        changed = write_without_categories(self.source, self._size, stored, categories)
        file = _open(self.source, metadata=_open_stream(io.BytesIO(changed)).metadata, read_dictionary=listed)
        if any(pa.types.is_dictionary(file.schema_arrow.field(name).type) for name in categories):
            self._refuse_damaged()
        return file

    def _listed(self, plans: list[ColumnPlan]) -> list[str]:
        """Return the columns of text that are stored as a list of values and nothing but places in it."""
        return [plan.name for plan in plans if plan.is_listed and self._has_text(plan)]

    def _has_text(self, plan: ColumnPlan) -> bool:
        kind = self._type(plan.name)
        return _is_text(kind) or _is_categories(kind)

    def _longest_listed(self, plan: ColumnPlan) -> int:
        """Return how many bytes a row may take that repeats a text of a list, where rows are written out."""
        if plan.is_listed or not self._has_text(plan):
            return 0
        return max((page.find_longest(self.source) for page in plan.lists), default=0)

    def _refuse_damaged(self) -> NoReturn:
        refuse(self.source.name, "it is damaged: its columns cannot be unpacked.")

    def _type(self, name: str) -> Any:
        return self.declared.field(name).type

    def _checked(self, array: Any, name: str) -> Any:
        """Return a part of a column in its declared type, counted into what the table takes."""
        lengths, wanted = self._text_lengths(array), self._type(name)
        if lengths is not None and pa.types.is_dictionary(array.type) and array.type != wanted:
            self._take(int(lengths.take(array.indices.drop_null()).sum(dtype=np.int64)))  # known only now
            array = array.dictionary_decode().cast(wanted)
        if _is_categories(wanted) and not pa.types.is_dictionary(array.type):
            listed = array.dictionary_encode()
            array = pa.DictionaryArray.from_arrays(listed.indices, listed.dictionary, ordered=wanted.ordered)
        self._take(array.nbytes)
        return array

    def _text_lengths(self, array: Any) -> Any:
        """Check an array, and return the lengths of its texts or of those it lists; None if it has none."""
        array.validate(full=True)
        text = array.dictionary if pa.types.is_dictionary(array.type) else array
        return self._checked_lengths(text) if _is_text(text.type) else None

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
    return _open_stream(source.stream, **options)


def _open_stream(stream: Any, **options: Any) -> Any:
    return pq.ParquetFile(
        stream,
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


def _is_categories(kind: Any) -> bool:
    """Whether a column is declared as places in a list of texts."""
    return bool(pa.types.is_dictionary(kind)) and _is_text(kind.value_type)


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
        super().__init__(given, limits)
        names = batch_names(
            self.declared.names, self.source.name, schema=schema, columns=columns, owner=owner
        )
        plans = self.plan(names)
        if sum(plan.largest_page for plan in plans) > _MOST_PAGE_BYTES:
            why = f"its pages take more than {_MOST_PAGE_BYTES:,} bytes side by side."
            refuse(self.source.name, f"{why} Hint: read fewer columns, or write it with smaller pages.")
        self._with_list = self._listed(plans)
        text = sum(
            max(plan.longest_row, self._longest_listed(plan)) for plan in plans if self._has_text(plan)
        )
        longest = row_bytes(self.declared, names) + text
        self._step = max(1, min(batch_rows, int(_STREAM_BYTES / max(longest, 1))))
        self.schema = pa.schema([pa.field(name, self._read_type(name)) for name in names])

    @classmethod
    def fields_in(cls, given: Source, limits: Limits) -> pa.Schema:
        """Return the names and types of all columns of an open file."""
        return _Reader(given, limits).declared

    @property
    def share_read(self) -> float:
        """How much of the file was read, from 0 to 1."""
        return self._rows_read / self.rows if self.rows else 1.0

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        for columns in self._unpack(self.schema.names, self._with_list, self._step):
            yield pa.RecordBatch.from_arrays(columns, schema=self.schema)

    def _read_type(self, name: str) -> Any:
        """Return the type in which a column comes: text that is stored with a list of values keeps it."""
        declared = self._type(name)
        if _is_categories(declared):
            return declared if name in self._with_list else declared.value_type
        return pa.dictionary(pa.int32(), declared) if name in self._with_list else declared

    def _checked(self, array: Any, name: str) -> Any:
        self._text_lengths(array)
        wanted = self.schema.field(name).type
        return array if array.type == wanted else array.cast(wanted)
