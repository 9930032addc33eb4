"""How reports look: one integer, packed bits, a set of values, or a hash function and a value.

A layout says how reports stand in memory (a numpy array with one row per report), in Arrow, in JSON and in
the columns of a file. Whatever comes in is checked, and no message tells what a report says.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand._lazy import lazy
from evenhand.collect.protocols.codes import code_type
from evenhand.errors import InvalidParameterError

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

pa = lazy("pyarrow")

_BLOCK = 1 << 20  # values looked at together
_HEX = re.compile(r"[0-9a-f]*")
_DECIMAL = re.compile(r"0|[1-9][0-9]{0,19}", re.ASCII)


class Layout(ABC):
    """What reports of a protocol look like."""

    dtype: np.dtype[Any]
    """Type of the array in memory."""

    bytes_per_report: int
    """How many bytes one report takes in memory, in Arrow and, before compression, in a file."""

    described: str
    """What reports must be, as the end of the sentence "must be ..."."""

    def _describe(self, dtype: np.dtype[Any], described: str, *, size: int = 1) -> None:
        """Keep the type of an entry, how many of them a report has, and what reports must be."""
        facts = {"dtype": dtype, "bytes_per_report": size * dtype.itemsize, "described": described}
        self.__dict__.update(facts)  # a layout itself is frozen

    @property
    def arrow_type(self) -> Any:
        """The Arrow type of one report."""
        return self._arrow_type()

    def checked(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return `values` in the layout's type if they can be reports, else refuse them."""
        if not self._fits(values):
            raise self._reports_error()
        return values.astype(self.dtype, copy=False)

    def to_arrow(self, values: npt.NDArray[Any]) -> Any:
        """Return the reports as an Arrow array, which shares their memory where it can."""
        return self._to_arrow(values)

    def from_arrow(self, array: Any) -> npt.NDArray[Any]:
        """Return the reports of an Arrow array, chunked or not, which share its memory where they can.

        Raises
        ------
        InvalidParameterError
            If it has another type, a null, or what no report can be.
        """
        return self.checked(self._from_arrow(self._sole_array(array, self.arrow_type)))

    def to_json(self, values: npt.NDArray[Any]) -> list[Any]:
        """Return one plain Python value per report, which :mod:`json` writes as it is."""
        return list(values.tolist())

    def from_json(self, reports: list[Any]) -> npt.NDArray[Any]:
        """Return the reports of a list that :meth:`to_json` made.

        Raises
        ------
        InvalidParameterError
            If it is no list, or an element of it is not what a report is in JSON.
        """
        given: object = reports
        if not isinstance(given, list):
            raise self._reports_error(f"a value of type {type(reports).__name__}")
        return self.checked(self._from_json(reports))

    def to_columns(self, values: npt.NDArray[Any]) -> dict[str, Any]:
        """Return the columns of a file: flat Arrow arrays by name."""
        return {"report": self.to_arrow(values)}

    def from_columns(self, columns: Mapping[str, Any]) -> npt.NDArray[Any]:
        """Return the reports of the columns of a file, or refuse them as :meth:`from_arrow` does."""
        wanted = self._column_types()
        if set(columns) != set(wanted):
            raise self._reports_error("other columns")
        arrays = {name: self._sole_array(columns[name], kind) for name, kind in wanted.items()}
        return self.checked(self._from_columns(arrays))

    # --- what a layout defines ------------------------------------------------------------------

    @abstractmethod
    def _arrow_type(self) -> Any: ...

    @abstractmethod
    def _fits(self, values: npt.NDArray[Any]) -> bool: ...

    @abstractmethod
    def _to_arrow(self, values: npt.NDArray[Any]) -> Any: ...

    @abstractmethod
    def _from_arrow(self, array: Any) -> npt.NDArray[Any]: ...

    @abstractmethod
    def _from_json(self, reports: list[Any]) -> npt.NDArray[Any]: ...

    def _column_types(self) -> dict[str, Any]:
        return {"report": self.arrow_type}

    def _from_columns(self, columns: Mapping[str, Any]) -> npt.NDArray[Any]:
        return self._from_arrow(columns["report"])

    def _sole_array(self, array: Any, wanted: Any) -> Any:
        """Return an Arrow array in one piece if it has the type wanted and no nulls, else refuse it."""
        if not isinstance(array, pa.Array | pa.ChunkedArray):
            raise self._reports_error(f"a value of type {type(array).__name__}")
        if not _same_type(array.type, wanted):
            raise self._reports_error(f"an Arrow array of {array.type}", f", an Arrow array of {wanted}")
        if isinstance(array, pa.ChunkedArray):
            array = array.chunk(0) if array.num_chunks == 1 else array.combine_chunks()
        try:
            array.validate(full=True)
        except pa.ArrowInvalid:
            raise self._reports_error("a damaged Arrow array") from None
        if _has_nulls(array):
            raise self._reports_error("an Arrow array with nulls")
        return array

    def _reports_error(self, got: str = "something else", kind: str = "") -> InvalidParameterError:
        must_be = f"{self.described}{kind}"
        return InvalidParameterError("reports", owner="the protocol", must_be=must_be, got=got)


@dataclass(frozen=True)
class IntegerLayout(Layout):
    """A report is one integer below `k`, in the smallest unsigned type that holds it.

    >>> layout = IntegerLayout(k=300)
    >>> layout.to_json(np.array([7, 299], dtype=np.uint16))
    [7, 299]
    >>> str(layout.arrow_type), layout.bytes_per_report
    ('uint16', 2)
    """

    k: int

    def __post_init__(self) -> None:
        self._describe(code_type(self.k), f"whole numbers from 0 to {self.k - 1}")

    def _arrow_type(self) -> Any:
        return _integer_type(self.dtype)

    def _fits(self, values: npt.NDArray[Any]) -> bool:
        return values.ndim == 1 and values.dtype.kind in "iu" and not _outside(values, self.k)

    def _to_arrow(self, values: npt.NDArray[Any]) -> Any:
        return pa.array(np.ascontiguousarray(values))

    def _from_arrow(self, array: Any) -> npt.NDArray[Any]:
        return _numbers_of(array)

    def _from_json(self, reports: list[Any]) -> npt.NDArray[Any]:
        if not _all_below(reports, self.k):
            raise self._reports_error()
        return np.array(reports, dtype=self.dtype)


@dataclass(frozen=True)
class BitsLayout(Layout):
    """A report is `k` bits, packed into bytes.

    Value ``v`` is bit ``v % 8``, counted from the low end, of byte ``v // 8``. Bits past the last value are
    zero. In JSON the bytes are lowercase hexadecimal digits, two for each byte, byte 0 first.

    >>> layout = BitsLayout(k=10)  # values 0, 2 and 9 are supported
    >>> layout.to_json(np.array([[0b00000101, 0b00000010]], dtype=np.uint8))
    ['0502']
    >>> str(layout.arrow_type)
    'fixed_size_binary[2]'
    """

    k: int

    @property
    def width(self) -> int:
        """How many bytes a report has."""
        return -(-self.k // 8)

    def __post_init__(self) -> None:
        described = f"rows of {self.width} bytes that hold {self.k} bits"
        self._describe(np.dtype(np.uint8), described, size=self.width)

    def _arrow_type(self) -> Any:
        return pa.binary(self.width)

    def _fits(self, values: npt.NDArray[Any]) -> bool:
        if values.ndim != 2 or values.dtype != np.uint8 or values.shape[1] != self.width:
            return False
        return not (self.k % 8 and bool((values[:, -1] >> (self.k % 8)).any()))

    def _to_arrow(self, values: npt.NDArray[Any]) -> Any:
        return _bytes_array(values)

    def _from_arrow(self, array: Any) -> npt.NDArray[Any]:
        return _bytes_of(array)

    def to_json(self, values: npt.NDArray[Any]) -> list[Any]:
        """Return one text of hexadecimal digits per report."""
        digits = np.ascontiguousarray(values).tobytes().hex()
        step = 2 * self.width
        return [digits[start : start + step] for start in range(0, len(digits), step)]

    def _from_json(self, reports: list[Any]) -> npt.NDArray[Any]:
        right = all(type(report) is str and len(report) == 2 * self.width for report in reports)
        digits = "".join(reports) if right else ""
        if not right or not _HEX.fullmatch(digits):
            raise self._reports_error()
        return np.frombuffer(bytes.fromhex(digits), dtype=np.uint8).reshape(-1, self.width)


@dataclass(frozen=True)
class SetLayout(Layout):
    """A report is `size` different integers below `k`; their order means nothing.

    In the columns of a file, which are flat, a report is the bytes of its integers one after the other, low
    byte first.

    >>> layout = SetLayout(k=10, size=2)
    >>> layout.to_json(np.array([[7, 2]], dtype=np.uint8))
    [[7, 2]]
    >>> str(layout.arrow_type)
    'fixed_size_list<item: uint8>[2]'
    """

    k: int
    size: int

    def __post_init__(self) -> None:
        described = f"rows of {self.size} different whole numbers from 0 to {self.k - 1}"
        self._describe(code_type(self.k), described, size=self.size)

    def _arrow_type(self) -> Any:
        return pa.list_(_integer_type(self.dtype), self.size)

    def _fits(self, values: npt.NDArray[Any]) -> bool:
        right = values.ndim == 2 and values.dtype.kind in "iu" and values.shape[1] == self.size
        return right and not _outside(values, self.k) and not _repeated(values)

    def _to_arrow(self, values: npt.NDArray[Any]) -> Any:
        numbers = pa.array(np.ascontiguousarray(values).ravel())
        return pa.FixedSizeListArray.from_arrays(numbers, self.size)

    def _from_arrow(self, array: Any) -> npt.NDArray[Any]:
        return _numbers_of(array.flatten()).reshape(-1, self.size)

    def _from_json(self, reports: list[Any]) -> npt.NDArray[Any]:
        right = all(type(report) is list and len(report) == self.size for report in reports)
        if not right or not all(_all_below(report, self.k) for report in reports):
            raise self._reports_error()
        return np.array(reports, dtype=self.dtype).reshape(-1, self.size)

    def to_columns(self, values: npt.NDArray[Any]) -> dict[str, Any]:
        """Return one column, in which the numbers of a report are packed into bytes."""
        packed = np.ascontiguousarray(values, dtype=self.dtype.newbyteorder("<"))
        return {"report": _bytes_array(packed.view(np.uint8))}

    def _column_types(self) -> dict[str, Any]:
        return {"report": pa.binary(self.bytes_per_report)}

    def _from_columns(self, columns: Mapping[str, Any]) -> npt.NDArray[Any]:
        return _bytes_of(columns["report"]).view(self.dtype.newbyteorder("<"))


@dataclass(frozen=True)
class HashedLayout(Layout):
    """A report is a hash function, as its multiplier and offset of `width` bits, and a bucket below `g`.

    In JSON, words of 64 bits are decimal digits in a text, since many readers of JSON keep only 53 bits of
    a number. In the columns of a file the three parts are three columns.

    >>> layout = HashedLayout(width=64, g=4)
    >>> layout.to_json(np.array([(2**63, 5, 3)], dtype=layout.dtype))
    [{'multiplier': '9223372036854775808', 'offset': '5', 'value': 3}]
    >>> str(layout.arrow_type)
    'struct<multiplier: uint64, offset: uint64, value: uint8>'
    """

    width: int
    g: int

    def __post_init__(self) -> None:
        word = f"<u{self.width // 8}"
        self._describe(
            np.dtype([("multiplier", word), ("offset", word), ("value", code_type(self.g))]),
            f"records of multiplier and offset of {self.width} bits and a value from 0 to {self.g - 1}",
        )

    def _arrow_type(self) -> Any:
        return pa.struct(list(self._column_types().items()))

    @property
    def _parts(self) -> tuple[str, ...]:
        return self.dtype.names or ()

    def _fits(self, values: npt.NDArray[Any]) -> bool:
        return values.ndim == 1 and values.dtype == self.dtype and not _outside(values["value"], self.g)

    def _to_arrow(self, values: npt.NDArray[Any]) -> Any:
        columns = self.to_columns(values)
        return pa.StructArray.from_arrays(list(columns.values()), names=list(columns))

    def _from_arrow(self, array: Any) -> npt.NDArray[Any]:
        return self._from_columns(dict(zip(self._parts, array.flatten(), strict=True)))

    def _column_types(self) -> dict[str, Any]:
        return {name: _integer_type(self.dtype[name]) for name in self._parts}

    def to_columns(self, values: npt.NDArray[Any]) -> dict[str, Any]:
        """Return one column for each part of the records."""
        return {name: pa.array(np.ascontiguousarray(values[name])) for name in self._parts}

    def _from_columns(self, columns: Mapping[str, Any]) -> npt.NDArray[Any]:
        out = np.empty(len(columns["value"]), dtype=self.dtype)
        for name, array in columns.items():
            out[name] = _numbers_of(array)
        return out

    def to_json(self, values: npt.NDArray[Any]) -> list[Any]:
        """Return one record per report; words of 64 bits are texts, which no reader of JSON rounds."""
        parts = [values[name].tolist() for name in self._parts]
        if self.width == 64:
            parts[:2] = [[str(word) for word in words] for words in parts[:2]]
        return [dict(zip(self._parts, words, strict=True)) for words in zip(*parts, strict=True)]

    def _from_json(self, reports: list[Any]) -> npt.NDArray[Any]:
        parts = set(self._parts)
        if not all(type(report) is dict and report.keys() == parts for report in reports):
            raise self._reports_error()
        out = np.empty(len(reports), dtype=self.dtype)
        for name in self._parts:
            numbers = [report[name] for report in reports]
            if name != "value" and self.width == 64:
                right = all(type(word) is str and _DECIMAL.fullmatch(word) for word in numbers)
                numbers = [int(word) for word in numbers] if right else [None]
            if not _all_below(numbers, self.g if name == "value" else 1 << self.width):
                raise self._reports_error()
            out[name] = numbers
        return out


def _integer_type(dtype: np.dtype[Any]) -> Any:
    """Return the Arrow type of numbers of a numpy type."""
    return pa.from_numpy_dtype(dtype.newbyteorder("="))


def _same_type(kind: Any, wanted: Any) -> bool:
    """Whether two Arrow types are alike; what the elements of a list are called does not matter."""
    if pa.types.is_fixed_size_list(wanted) and pa.types.is_fixed_size_list(kind):
        return (kind.list_size, kind.value_type) == (wanted.list_size, wanted.value_type)
    if pa.types.is_struct(wanted) and pa.types.is_struct(kind):
        return [(field.name, field.type) for field in kind] == [(field.name, field.type) for field in wanted]
    return bool(kind == wanted)


def _has_nulls(array: Any) -> bool:
    nested = pa.types.is_struct(array.type) or pa.types.is_fixed_size_list(array.type)
    parts = array.flatten() if nested else []
    return any(part.null_count for part in [array, *(parts if isinstance(parts, list) else [parts])])


def _bytes_array(rows: npt.NDArray[np.uint8]) -> Any:
    """Return rows of bytes as an array of binary values of one width."""
    rows = np.ascontiguousarray(rows)
    memory = pa.py_buffer(rows)
    return pa.FixedSizeBinaryArray.from_buffers(pa.binary(rows.shape[1]), len(rows), [None, memory])


def _bytes_of(array: Any) -> npt.NDArray[np.uint8]:
    """Return the rows of bytes of an array of binary values of one width."""
    width = array.type.byte_width
    memory = array.buffers()[1]
    if len(array) == 0 or memory is None:
        return np.empty((0, width), dtype=np.uint8)
    rows = np.frombuffer(memory, dtype=np.uint8, count=len(array) * width, offset=array.offset * width)
    return rows.reshape(-1, width)


def _numbers_of(array: Any) -> npt.NDArray[Any]:
    """Return the numbers of an array that has no nulls."""
    numbers: npt.NDArray[Any] = array.to_numpy(zero_copy_only=True)
    return numbers


def _outside(values: npt.NDArray[Any], k: int) -> bool:
    return values.size > 0 and (int(values.min()) < 0 or int(values.max()) >= k)


def _all_below(numbers: list[Any], k: int) -> bool:
    return all(type(number) is int and 0 <= number < k for number in numbers)


def _repeated(values: npt.NDArray[Any]) -> bool:
    """Whether a row holds the same number twice; sorted a block at a time."""
    step = max(1, _BLOCK // values.shape[1])
    for start in range(0, len(values), step):
        ordered = np.sort(values[start : start + step], axis=1)
        if (ordered[:, 1:] == ordered[:, :-1]).any():
            return True
    return False
