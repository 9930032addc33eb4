"""Just enough of Thrift's compact protocol to see what a Parquet file declares, before it is believed.

A Parquet file describes itself in such structures. They are read here with bounds on depth, length
and number, and nothing is kept but whole numbers and the structures around them. What a reader that
knows the types in advance could understand in another way (fields twice or out of order, lists that
name another type for their elements) is malformed here.
"""

from __future__ import annotations

from typing import Any

__all__ = ["I32", "I64", "CompactReader", "Fields", "MalformedError", "number_of", "structures_of"]

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
    found, value = fields.get(field, (0, None))
    return value if found == kind else None


def structures_of(fields: Fields, field: int) -> list[Fields]:
    """Return the structures that a field holds: those of a list, or the one it is."""
    found, value = fields.get(field, (0, None))
    if found == _STRUCT:
        return [value]
    return value if found == _LIST else []


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
            number = number + (head >> 4) if head >> 4 else self._signed()
            if number <= last:
                raise MalformedError
            if kind in _VARINTS:
                fields[number] = (kind, self._signed())
            elif kind == _STRUCT and number in structures:
                fields[number] = (kind, self._structure(structures[number], depth + 1))
            elif kind == _LIST and number in lists:
                fields[number] = (kind, self._list(*lists[number], depth))
            elif kind not in (_TRUE, _FALSE):
                self._skip(kind, depth)
        return fields

    def _list(self, kind: int, name: str, depth: int) -> list[Fields]:
        found, size = self._list_head()
        if found != kind and size:
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
            found, size = self._list_head()
            self._skip_many(size, (found,), depth)
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

    def _signed(self) -> int:
        value = self._varint()
        return (value >> 1) ^ -(value & 1)
