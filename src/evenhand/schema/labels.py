"""Labels of whole-number ranges, made only when they are looked at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import overload

__all__ = ["RangeLabels"]


class RangeLabels(Sequence[str]):
    """The labels of ``low`` to ``high`` and of what follows them, as a lazy sequence.

    A domain of a billion whole numbers has a billion labels: they are written one by one when
    asked for. Equal to any tuple or list of the same labels.

    Examples
    --------
    >>> labels = RangeLabels(0, 10**9, ("other",))
    >>> len(labels), labels[42], labels[-1], labels.index("7"), "x" in labels
    (1000000002, '42', 'other', 7, False)
    >>> labels
    RangeLabels('0' … '1000000000', 'other')
    """

    __slots__ = ("_extra", "_numbers")

    def __init__(self, low: int, high: int, extra: tuple[str, ...] = ()) -> None:
        self._numbers = range(low, high + 1)
        self._extra = extra

    def __len__(self) -> int:
        return len(self._numbers) + len(self._extra)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[str, ...]: ...
    def __getitem__(self, index: int | slice) -> str | tuple[str, ...]:
        if isinstance(index, slice):
            return tuple(self[each] for each in range(*index.indices(len(self))))
        place = range(len(self))[index]
        count = len(self._numbers)
        return str(self._numbers[place]) if place < count else self._extra[place - count]

    def __contains__(self, label: object) -> bool:
        return self._find(label) is not None

    def index(self, label: object, start: int = 0, stop: int | None = None) -> int:
        """Return the place of `label`; ``ValueError`` if it is not there."""
        place = self._find(label)
        if place is None or place not in range(*slice(start, stop).indices(len(self))):
            raise ValueError(f"{label!r} is not one of the labels.")
        return place

    def _find(self, label: object) -> int | None:
        if not isinstance(label, str):
            return None
        if label in self._extra:
            return len(self._numbers) + self._extra.index(label)
        if not label.removeprefix("-").isdecimal() or len(label) > 20:
            return None
        number = int(label)
        return number - self._numbers[0] if number in self._numbers and str(number) == label else None

    def __eq__(self, other: object) -> bool:
        if isinstance(other, RangeLabels):
            return self._numbers == other._numbers and self._extra == other._extra
        if isinstance(other, tuple | list):
            return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))
        return NotImplemented

    def __hash__(self) -> int:
        return hash((self._numbers, self._extra))

    def __repr__(self) -> str:
        ends = f"{str(self._numbers[0])!r} … {str(self._numbers[-1])!r}"
        return f"RangeLabels({', '.join([ends, *map(repr, self._extra)])})"
