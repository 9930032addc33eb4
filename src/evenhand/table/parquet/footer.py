"""What a Parquet file declares about itself, checked before any of it is unpacked.

This is written by hand because Arrow trusts the footer, which describes all the rest of the file: three
hostile bytes make it take seven hundred, and some contradictions make it end the whole process. No library
reads a footer within bounds. So nothing that Arrow says about single columns is used.

The footer consists of structures of Thrift's compact protocol. They are read here with bounds on depth,
length and number, and only whole numbers and the structures around them are kept. What a reader that
knows the types in advance could understand in another way (fields twice or out of order, lists that
name another type for their elements) is malformed here.
"""

from __future__ import annotations

import base64
import struct
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import pyarrow as pa

from evenhand.table.source import over_limit, refuse

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evenhand.table.limits import Limits
    from evenhand.table.source import Source

_MAGIC = b"PAR1"
_MOST_FOOTER_BYTES = 8 << 20
_MOST_STRUCTURES = 400_000  # Arrow takes up to 700 bytes for each


class ColumnChunk(NamedTuple):
    """One column of one group of rows: how many values, where its first page starts, how pages are packed."""

    values: int
    start: int
    codec: int | None


class Group(NamedTuple):
    """A group of rows: how many they are, and its chunks in the order of the columns."""

    rows: int
    chunks: list[ColumnChunk]


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
        _require(source, fields, 3), [_group(source, group) for group in structures_of(fields, 4)]
    )
    if footer.rows != sum(group.rows for group in footer.groups):
        _contradiction(source)
    return footer


def write_without_categories(source: Source, size: int, stored: bytes, names: Sequence[str]) -> bytes:
    """Return a file of nothing but the footer, in which these columns are declared as their values.

    Arrow follows the schema that it stored in a file: `stored` is its text, which says that the columns are
    places in lists.
    """
    schema = pa.ipc.read_schema(pa.py_buffer(base64.b64decode(stored)))
    for name in names:
        place = schema.get_field_index(name)
        if place < 0 or not pa.types.is_dictionary(schema.field(place).type):
            _contradiction(source)
        field = schema.field(place)
        schema = schema.set(place, field.with_type(field.type.value_type))
    changed = base64.b64encode(schema.serialize())
    (length,) = struct.unpack("<I", bytes_at(source, size - 8, 4))
    footer = bytes_at(source, size - 8 - length, length)
    footer = footer.replace(_varint_of(len(stored)) + stored, _varint_of(len(changed)) + changed, 1)
    return _MAGIC + footer + struct.pack("<I", len(footer)) + _MAGIC


def _varint_of(number: int) -> bytes:
    written = bytearray()
    while number >= 0x80:
        written.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*written, number])


def bytes_at(source: Source, place: int, length: int) -> bytes:
    """Return `length` bytes from `place` on, fewer if the file ends."""
    try:
        source.stream.seek(place)
        return bytes(source.stream.read(length))
    except (OSError, ValueError):
        refuse(source.name, "the system could not read it.")


def _group(source: Source, fields: Fields) -> Group:
    chunks = [_chunk(source, chunk) for chunk in structures_of(fields, 1)]
    rows = _require(source, fields, 3)
    if rows < 0 or any(chunk.values < 0 for chunk in chunks):
        _contradiction(source)
    return Group(rows, chunks)


def _chunk(source: Source, fields: Fields) -> ColumnChunk:
    for column in structures_of(fields, 3):
        start, dictionary = _require(source, column, 9), number_of(column, 11, I64)
        if dictionary is not None and 0 < dictionary < start:
            start = dictionary
        return ColumnChunk(_require(source, column, 5), start, number_of(column, 4, I32))
    return refuse(source.name, "its description is damaged, or it is encrypted.")


def _require(source: Source, fields: Fields, field: int) -> int:
    number = number_of(fields, field, I64)
    return _contradiction(source) if number is None else number


def _contradiction(source: Source) -> NoReturn:
    refuse(source.name, "its description is damaged: it contradicts itself.")


I32, I64 = 5, 6
_TRUE, _FALSE, _BINARY, _LIST, _SET, _MAP, _STRUCT = 1, 2, 8, 9, 10, 11, 12
_FIXED_SIZES = {_TRUE: 1, _FALSE: 1, 3: 1, 7: 8, 13: 16}  # in a list, a truth value takes a byte
_VARINTS = (4, I32, I64)
_DEEPEST = 16
_LONGEST_VARINT_BITS = 70

# The structures of Parquet that are looked into: which fields hold one of them ...
_STRUCTURES = {
    "chunk": {3: "column"},
    "column": {16: "sizes", 17: "places"},
    "page": {5: "details", 7: "details", 8: "details"},
}
# ... and which are lists, with the type of their elements and, if that is looked into, its name.
_LISTS = {
    "file": {2: (_STRUCT, ""), 4: (_STRUCT, "group"), 5: (_STRUCT, ""), 7: (_STRUCT, "")},
    "group": {1: (_STRUCT, "chunk"), 4: (_STRUCT, "")},
    "column": {2: (I32, ""), 3: (_BINARY, ""), 8: (_STRUCT, ""), 13: (_STRUCT, "")},
    "sizes": {2: (I64, ""), 3: (I64, "")},
    "places": {2: (I32, "")},
}

Fields = dict[int, tuple[int, Any]]
"""The type and the value of each field that was kept, by its number."""


class MalformedError(Exception):
    """The bytes are not a structure of the compact protocol, or pass a bound; never leaves the readers."""


def number_of(fields: Fields, field: int, kind: int) -> int | None:
    """Return a whole number of this type, None if the field is not there or of another type."""
    stored_kind, value = fields.get(field, (0, None))
    return value if stored_kind == kind else None


def structures_of(fields: Fields, field: int) -> list[Fields]:
    """Return the structures that a field holds: those of a list, or the one it is."""
    stored_kind, value = fields.get(field, (0, None))
    if stored_kind == _STRUCT:
        return [value]
    return value if stored_kind == _LIST else []


class CompactReader:
    """Reads structures from `data`, at most `most_structures` of them."""

    def __init__(self, data: bytes, *, most_structures: int = 1_000) -> None:
        self.data = data
        self.place = 0
        self._left = most_structures

    def structure(self, name: str) -> Fields:
        """Return what is kept of the next structure, which is a ``"file"`` or a ``"page"``."""
        try:
            return self._structure(name, 0)
        except IndexError:  # the bytes end before the structure does
            raise MalformedError from None

    def _structure(self, name: str, depth: int) -> Fields:
        self._enter(depth)
        fields: Fields = {}
        lists, structures = _LISTS.get(name, {}), _STRUCTURES.get(name, {})
        number = 0
        while head := self._byte():
            kind, last = head & 0x0F, number
            number = number + (head >> 4) if head >> 4 else self._decode_zigzag()
            if number <= last:
                raise MalformedError
            if kind in _VARINTS:
                fields[number] = (kind, self._decode_zigzag())
            elif kind == _STRUCT and number in structures:
                fields[number] = (kind, self._structure(structures[number], depth + 1))
            elif kind == _LIST and number in lists:
                fields[number] = (kind, self._list(*lists[number], depth))
            elif kind not in (_TRUE, _FALSE):
                self._skip(kind, depth)
        return fields

    def _list(self, kind: int, name: str, depth: int) -> list[Fields]:
        stored_kind, size = self._list_head()
        if stored_kind != kind and size:
            raise MalformedError
        if name:
            return [self._structure(name, depth + 1) for _ in range(size)]
        self._skip_many(size, (kind,), depth)
        return []

    def _list_head(self) -> tuple[int, int]:
        head = self._byte()
        size = head >> 4 if head >> 4 < 15 else self._varint()
        if size > len(self.data) - self.place:  # every element takes a byte at least
            raise MalformedError
        return head & 0x0F, size

    def _enter(self, depth: int) -> None:
        self._left -= 1
        if depth > _DEEPEST or self._left < 0:
            raise MalformedError

    def _skip(self, kind: int, depth: int) -> None:
        if kind in _VARINTS:
            self._varint()
        elif kind == _BINARY:
            self._advance(self._varint())
        elif kind == _STRUCT:
            self._skip_structure(depth + 1)
        elif kind in (_LIST, _SET):
            stored_kind, size = self._list_head()
            self._skip_many(size, (stored_kind,), depth)
        elif kind == _MAP:
            size = self._varint()
            kinds = self._byte() if size else 0
            self._skip_many(size, (kinds >> 4, kinds & 0x0F), depth)
        elif kind in _FIXED_SIZES:
            self._advance(_FIXED_SIZES[kind])
        else:
            raise MalformedError

    def _skip_structure(self, depth: int) -> None:
        self._enter(depth)
        while head := self._byte():
            if not head >> 4:
                self._varint()
            if head & 0x0F not in (_TRUE, _FALSE):
                self._skip(head & 0x0F, depth)

    def _skip_many(self, size: int, kinds: tuple[int, ...], depth: int) -> None:
        if depth >= _DEEPEST:
            raise MalformedError
        for _ in range(size):
            for kind in kinds:
                self._skip(kind, depth + 1)

    def _advance(self, size: int) -> None:
        self.place += size
        if self.place > len(self.data):
            raise MalformedError

    def _byte(self) -> int:
        byte = self.data[self.place]
        self.place += 1
        return byte

    def _varint(self) -> int:
        byte = self.data[self.place]
        self.place += 1
        value, shift = byte & 0x7F, 7
        while byte >= 0x80:
            byte = self.data[self.place]
            self.place += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if shift > _LONGEST_VARINT_BITS:
                raise MalformedError
        return value

    def _decode_zigzag(self) -> int:
        value = self._varint()
        return (value >> 1) ^ -(value & 1)


_MOST_PAGES = 200_000
_HEADER_BYTES = (1 << 10, 64 << 10, 1 << 20)
_DETAILS = {0: 5, 2: 7, 3: 8}  # kind of page: the field that describes it
_ENCODING = {0: 2, 2: 2, 3: 4}  # kind of page: the field of that description which names the encoding
_DICTIONARY_PAGE = 2
_DELTA_BYTE_ARRAY = 7
_DICTIONARY_ENCODINGS = (2, 8)
_MOST_LISTED = 1 << 18  # Arrow's hash table takes 25 MB from there on, and four times as much at each step


_CODECS = {1: "snappy", 2: "gzip", 4: "brotli", 6: "zstd", 7: "lz4_raw"}
_LISTED_BYTES = 16  # what Arrow takes for each text of a list beside the text


class Page(NamedTuple):
    """A page of a column: how many values it holds, how they are stored, where it is, and how large."""

    values: int
    is_list: bool
    has_places: bool
    place: int
    packed: int
    unpacked: int
    codec: int | None

    @property
    def memory(self) -> int:
        """How many bytes of memory it takes, unpacked."""
        return self.unpacked + (_LISTED_BYTES * self.values if self.is_list else 0)

    def find_longest(self, source: Source) -> int:
        """Return how many bytes the longest text of a list has, or all of them if they cannot be unpacked.

        Arrow would hash the whole list to show it.
        """
        data: Any = bytes_at(source, self.place, self.packed)
        if self.codec:
            try:
                data = pa.decompress(data, self.unpacked, _CODECS[self.codec], asbytes=True)
            except (KeyError, pa.ArrowException, OSError, ValueError):
                return self.unpacked
        length_at = struct.Struct("<I").unpack_from
        place, end, longest = 0, len(data) - 3, 0
        while place < end:
            (length,) = length_at(data, place)
            place += length + 4
            longest = max(longest, length)
        return min(longest, self.unpacked)


class ColumnPlan(NamedTuple):
    """How a column is stored.

    Parameters
    ----------
    name : str
        The column.
    unpacked : int
        How many bytes all its pages take unpacked.
    largest_page : int
        How many bytes of memory the largest takes.
    longest_row : float
        How many bytes a row takes in the page where rows are longest.
    lists : tuple of Page
        The lists of its values, one for a group of rows or none.
    is_listed : bool
        Whether each row is a place in such a list, and no list is long. Writers begin a list, and go over to
        plain values once it is full. Arrow can return such a column as places too, but then it hashes all
        values of a group: memory would grow with the length of the group.
    """

    name: str
    unpacked: int
    largest_page: int
    longest_row: float
    lists: tuple[Page, ...]
    is_listed: bool


def check_types(schema: pa.Schema, names: Sequence[str], file: str) -> None:
    """Refuse columns whose cells are lists or records, or of a type defined outside Parquet."""
    for name in names:
        kind = schema.field(name).type
        flat = kind.value_type if pa.types.is_dictionary(kind) else kind
        if isinstance(flat, pa.BaseExtensionType) or pa.types.is_nested(flat):
            nested = "lists, records or a type of its own"
            refuse(file, f"column {schema.get_field_index(name) + 1:,} holds {nested}, which are not read.")


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
        before, largest, longest = total, 0, 0.0
        lists: list[Page] = []
        is_listed = True
        for group in footer.groups:
            for page in _pages(source, size, group.chunks[places[name]], group.rows):
                pages, total = pages + 1, total + page.unpacked
                largest = max(largest, page.memory)
                if page.is_list:
                    lists.append(page)
                    is_listed = is_listed and page.values < _MOST_LISTED
                elif page.values:
                    longest = max(longest, page.unpacked / page.values)
                    is_listed = is_listed and page.has_places
                if total > limits.bytes:
                    over_limit(
                        source.name, f"unpacked it holds more than {limits.bytes:,} bytes.", limit="bytes"
                    )
                if pages > _MOST_PAGES:
                    refuse(source.name, f"it is cut into more than {_MOST_PAGES:,} pages.")
        is_listed = is_listed and bool(lists)
        plans.append(ColumnPlan(name, total - before, largest, longest, tuple(lists), is_listed))
    return plans


def _pages(source: Source, size: int, chunk: ColumnChunk, rows: int) -> Iterator[Page]:
    """Yield the pages of a column in a group of rows."""
    if chunk.values != rows:
        _damaged(source)
    place, seen = chunk.start, 0
    while seen < rows:
        header, header_size = _page_header(source, size, place)
        kind, unpacked, packed = (number_of(header, field, I32) for field in (1, 2, 3))
        if kind is None or unpacked is None or packed is None or min(unpacked, packed) < 0:
            _damaged(source)
        start, place = place + header_size, place + header_size + packed
        details = next(iter(structures_of(header, _DETAILS.get(kind, 0))), {})
        values = number_of(details, 1, I32)
        if place > size or (kind in _DETAILS and (values is None or values < 0)):
            _damaged(source)
        encoding = number_of(details, _ENCODING.get(kind, 0), I32)
        if encoding == _DELTA_BYTE_ARRAY:
            why = "it stores text as differences (DELTA_BYTE_ARRAY), which may unfold without bound."
            refuse(source.name, f"{why} Hint: write it with plain or dictionary encoding.")
        is_list = kind == _DICTIONARY_PAGE
        has_places = not is_list and encoding in _DICTIONARY_ENCODINGS
        seen += 0 if is_list else values or 0
        yield Page(values or 0, is_list, has_places, start, packed, unpacked, chunk.codec)


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
