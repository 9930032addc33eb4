"""A CSV file, batch by batch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from evenhand.table.csv.cells import converter
from evenhand.table.csv.read import _groups, _header_names, _parsed
from evenhand.table.csv.scan import Scanner
from evenhand.table.names import wanted_names

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from evenhand.schema import Schema
    from evenhand.table.limits import Limits
    from evenhand.table.source import Source

__all__ = ["CsvBatches"]

_BATCH_BYTES = 32 << 20


class CsvBatches:
    """The rows of an open CSV file, to be gone through once."""

    def __init__(
        self,
        source: Source,
        limits: Limits,
        *,
        schema: Schema | None,
        columns: Sequence[str] | None,
        batch_rows: int,
        owner: str,
    ) -> None:
        self._source, self._batch_rows = source, batch_rows
        self._scanner = Scanner(source.name, limits, ",", '"')
        self._blocks = _groups(source, self._scanner)
        names = _header_names(next(self._blocks).data, self._scanner)
        wanted = wanted_names(names, source.name, schema=None, columns=columns, owner=owner)
        if schema is not None:
            wanted_names(wanted, source.name, schema=schema, columns=None, owner=owner)
        places = {name: str(place) for place, name in enumerate(names)}
        self._places = [places[name] for name in wanted]
        self._convert: list[Callable[[Any], Any]] = [
            converter(schema[name].domain) if schema is not None and name in schema else _as_it_stands
            for name in wanted
        ]
        nothing = pa.array([], pa.string())
        types = [convert(nothing).type for convert in self._convert]
        self.schema = pa.schema(zip(wanted, types, strict=True))

    @classmethod
    def names_in(cls, source: Source, limits: Limits) -> tuple[str, ...]:
        """Return the names of all columns of an open file."""
        scanner = Scanner(source.name, limits, ",", '"')
        return tuple(_header_names(next(_groups(source, scanner)).data, scanner))

    @property
    def share_read(self) -> float:
        """How much of the file was read, from 0 to 1."""
        size = self._source.size or 0
        return min(1.0, self._source.stream.tell() / size) if size else 1.0

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        waiting: list[Any] = []
        rows = size = 0
        for group in self._blocks:
            parsed = _parsed(group, self._scanner, self._places)
            converted = [
                [convert(chunk) for chunk in column.chunks]
                for column, convert in zip(parsed.columns, self._convert, strict=True)
            ]
            chunked = [
                pa.chunked_array(chunks, field.type)
                for chunks, field in zip(converted, self.schema, strict=True)
            ]
            waiting.append(pa.table(chunked, schema=self.schema))
            rows, size = rows + parsed.num_rows, size + waiting[-1].nbytes
            if rows >= self._batch_rows or size >= _BATCH_BYTES:
                whole = pa.concat_tables(waiting)
                end = rows if size >= _BATCH_BYTES else rows - rows % self._batch_rows
                yield from self._cut(whole.slice(0, end))
                rest = whole.slice(end)
                waiting, rows, size = ([rest] if end < rows else []), rows - end, rest.nbytes
        if waiting:
            yield from self._cut(pa.concat_tables(waiting))

    def _cut(self, table: pa.Table) -> Iterator[pa.RecordBatch]:
        for start in range(0, table.num_rows, self._batch_rows):
            part = table.slice(start, self._batch_rows).combine_chunks()
            columns = [column.chunk(0) for column in part.columns]
            yield pa.RecordBatch.from_arrays(columns, schema=self.schema)


def _as_it_stands(text: Any) -> Any:
    return text
