"""What a Parquet file declares about itself, checked before any of it is unpacked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import pyarrow as pa

from evenhand.table.parquet.footer import bytes_at
from evenhand.table.parquet.thrift import I32, CompactReader, MalformedError, number_of, structures_of
from evenhand.table.source import over_limit, refuse

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evenhand.table.limits import Limits
    from evenhand.table.parquet.footer import Chunk, Footer
    from evenhand.table.parquet.thrift import Fields
    from evenhand.table.source import Source

__all__ = ["ColumnPlan", "check_types", "plan_columns", "row_bytes"]

_MOST_PAGES = 200_000
_HEADER_BYTES = (1 << 10, 64 << 10, 1 << 20)
_DETAILS = {0: 5, 2: 7, 3: 8}  # kind of page: the field that describes it
_ENCODING = {0: 2, 2: 2, 3: 4}  # kind of page: the field of that description which names the encoding
_DICTIONARY_PAGE = 2
_DELTA_BYTE_ARRAY = 7


class ColumnPlan(NamedTuple):
    """How a column is stored: bytes unpacked, its largest page, and whether it keeps a list of its values."""

    name: str
    unpacked: int
    largest_page: int
    has_dictionary: bool


def check_types(schema: pa.Schema, names: Sequence[str], file: str) -> None:
    """Refuse columns whose cells are lists or records, or of a type defined outside Parquet."""
    for name in names:
        kind = schema.field(name).type
        flat = kind.value_type if pa.types.is_dictionary(kind) else kind
        if isinstance(flat, pa.BaseExtensionType) or pa.types.is_nested(flat):
            what = "lists, records or a type of its own"
            refuse(file, f"column {schema.get_field_index(name) + 1:,} holds {what}, which are not read.")


def row_bytes(schema: pa.Schema, names: Sequence[str]) -> int:
    """Return how many bytes of memory a row takes at least."""
    return sum(_width(schema.field(name).type) for name in names)


def plan_columns(
    source: Source, size: int, footer: Footer, schema: pa.Schema, names: Sequence[str], limits: Limits
) -> list[ColumnPlan]:
    """Walk through the headers of all pages of these columns and add up what they declare."""
    places = _leaf_places(schema, footer, source)
    total = pages = 0
    plans = []
    for name in names:
        before, largest, dictionary = total, 0, False
        for group in footer.groups:
            for kind, unpacked in _pages(source, size, group.chunks[places[name]], group.rows):
                pages, total = pages + 1, total + unpacked
                largest, dictionary = max(largest, unpacked), dictionary or kind == _DICTIONARY_PAGE
                if total > limits.bytes:
                    over_limit(
                        source.name, f"unpacked it holds more than {limits.bytes:,} bytes.", limit="bytes"
                    )
                if pages > _MOST_PAGES:
                    refuse(source.name, f"it is cut into more than {_MOST_PAGES:,} pages.")
        plans.append(ColumnPlan(name, total - before, largest, dictionary))
    return plans


def _pages(source: Source, size: int, chunk: Chunk, rows: int) -> Iterator[tuple[int, int]]:
    """Yield the kind and the unpacked size of every page of one column in one group of rows."""
    if chunk.values != rows:
        _damaged(source)
    place, seen = chunk.start, 0
    while seen < rows:
        header, header_size = _page_header(source, size, place)
        kind, unpacked, packed = (number_of(header, field, I32) for field in (1, 2, 3))
        if kind is None or unpacked is None or packed is None or min(unpacked, packed) < 0:
            _damaged(source)
        place += header_size + packed
        details = next(iter(structures_of(header, _DETAILS.get(kind, 0))), {})
        values = number_of(details, 1, I32)
        if place > size or (kind in _DETAILS and (values is None or values < 0)):
            _damaged(source)
        if number_of(details, _ENCODING.get(kind, 0), I32) == _DELTA_BYTE_ARRAY:
            why = "it stores text as differences (DELTA_BYTE_ARRAY), which may unfold without bound."
            refuse(source.name, f"{why} Hint: write it with plain or dictionary encoding.")
        seen += values or 0 if kind != _DICTIONARY_PAGE else 0
        yield kind, unpacked


def _page_header(source: Source, size: int, place: int) -> tuple[Fields, int]:
    if not 4 <= place < size:
        _damaged(source)
    for length in _HEADER_BYTES:
        reader = CompactReader(bytes_at(source, place, min(length, size - place)))
        try:
            return reader.structure("page"), reader.place
        except MalformedError:
            continue
    return _damaged(source)


def _leaf_places(schema: pa.Schema, footer: Footer, source: Source) -> dict[str, int]:
    """Return the place of each column among the stored ones; a nested column is stored as several."""
    places, place = {}, 0
    for field in schema:
        places[field.name] = place
        place += _leaves(field.type)
    if any(len(group.chunks) != place for group in footer.groups):
        _damaged(source)
    return places


def _leaves(kind: Any) -> int:
    if isinstance(kind, pa.BaseExtensionType):
        return _leaves(kind.storage_type)
    if pa.types.is_dictionary(kind) or not pa.types.is_nested(kind):
        return 1
    return sum(_leaves(kind.field(place).type) for place in range(kind.num_fields))


def _width(kind: Any) -> int:
    if pa.types.is_dictionary(kind):
        return 4
    try:
        return max(int(kind.bit_width) // 8, 1)
    except ValueError:  # text has no width of its own: its offsets do
        return 4


def _damaged(source: Source) -> NoReturn:
    refuse(source.name, "it is damaged: its pages are not where or what it says.")
