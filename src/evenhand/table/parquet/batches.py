"""A Parquet file, batch by batch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from evenhand.errors import EvenhandError
from evenhand.table.names import wanted_names
from evenhand.table.parquet.check import _DETAILS, _DICTIONARY_PAGE, _page_header, check_types, plan_columns
from evenhand.table.parquet.check import _leaf_places as leaf_places
from evenhand.table.parquet.check import row_bytes as fixed_bytes
from evenhand.table.parquet.footer import read_footer
from evenhand.table.parquet.read import (
    _ARROW_FAILURES,
    _declared_schema,
    _is_text,
    _open,
    _Reader,
    _searchable,
)
from evenhand.table.parquet.thrift import I32, number_of, structures_of
from evenhand.table.source import refuse

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evenhand.schema import Schema
    from evenhand.table.limits import Limits
    from evenhand.table.parquet.check import ColumnPlan
    from evenhand.table.parquet.footer import Chunk
    from evenhand.table.source import Source

__all__ = ["ParquetBatches"]

_BATCH_BYTES = 32 << 20
_MOST_PAGE_BYTES = 128 << 20


class ParquetBatches(_Reader):
    """The rows of an open Parquet file, to be gone through once.

    A batch takes at most ``_BATCH_BYTES`` and two pages of each column, whatever the file holds: the number
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
        self._step = max(1, min(batch_rows, int(_BATCH_BYTES / max(longest, 1))))
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

    def _longest(self, plan: ColumnPlan, size: int, chunks: dict[str, list[tuple[Chunk, int]]]) -> float:
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

    def _pages(self, chunk: Chunk, rows: int, size: int) -> Iterator[tuple[int, int]]:
        """Yield values and unpacked bytes of the data pages; :func:`plan_columns` found them in order."""
        place, seen = chunk.start, 0
        while seen < rows:
            header, header_size = _page_header(self.source, size, place)
            kind, unpacked, packed = (number_of(header, field, I32) or 0 for field in (1, 2, 3))
            place += header_size + packed
            values = number_of(next(iter(structures_of(header, _DETAILS.get(kind, 0))), {}), 1, I32) or 0
            if kind != _DICTIONARY_PAGE and values:
                seen += values
                yield values, unpacked

    def _checked_array(self, array: Any, wanted: Any) -> Any:
        array.validate(full=True)
        if pa.types.is_dictionary(array.type) and _is_text(array.type.value_type):
            self._checked_lengths(array.dictionary)
        elif _is_text(array.type):
            self._checked_lengths(array)
        return array if array.type == wanted else array.cast(wanted)
