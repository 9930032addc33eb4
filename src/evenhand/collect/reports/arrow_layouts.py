"""Arrow arrays to and from numpy, without a copy where the memory allows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from evenhand.errors import InvalidParameterError

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

__all__ = [
    "bytes_array",
    "bytes_type",
    "integer_type",
    "list_array",
    "list_type",
    "number_array",
    "sole_array",
    "struct_array",
    "struct_type",
]


def integer_type(dtype: np.dtype[Any]) -> pa.DataType:
    """Return the Arrow type of numbers of a numpy type."""
    return pa.from_numpy_dtype(dtype.newbyteorder("="))


def bytes_type(width: int) -> pa.DataType:
    """Return the Arrow type of `width` bytes."""
    return pa.binary(width)


def list_type(dtype: np.dtype[Any], size: int) -> pa.DataType:
    """Return the Arrow type of `size` numbers of a numpy type."""
    return pa.list_(integer_type(dtype), size)


def struct_type(parts: Mapping[str, pa.DataType]) -> pa.DataType:
    """Return the Arrow type of records with these parts."""
    return pa.struct(list(parts.items()))


def sole_array(array: Any, wanted: Any, described: str) -> Any:
    """Return `array` in one piece if it has the type that is wanted and no nulls, else refuse it."""
    if not isinstance(array, pa.Array | pa.ChunkedArray):
        raise _refused(described, f"a value of type {type(array).__name__}")
    if not _same(array.type, wanted):
        raise _refused(f"{described}, an Arrow array of {wanted}", f"an Arrow array of {array.type}")
    if isinstance(array, pa.ChunkedArray):
        array = array.chunk(0) if array.num_chunks == 1 else array.combine_chunks()
    try:
        array.validate(full=True)
    except pa.ArrowInvalid:
        raise _refused(described, "a damaged Arrow array") from None
    if _has_nulls(array):
        raise _refused(described, "an Arrow array with nulls")
    return array


def number_array(numbers: npt.NDArray[Any]) -> pa.Array:
    """Return numbers as an array."""
    return pa.array(np.ascontiguousarray(numbers))


def list_array(rows: npt.NDArray[Any]) -> pa.Array:
    """Return rows of numbers as an array of lists of one length."""
    return pa.FixedSizeListArray.from_arrays(pa.array(np.ascontiguousarray(rows).ravel()), rows.shape[1])


def struct_array(columns: Mapping[str, pa.Array]) -> pa.Array:
    """Return columns as an array of records."""
    return pa.StructArray.from_arrays(list(columns.values()), names=list(columns))


def bytes_array(rows: npt.NDArray[np.uint8]) -> Any:
    """Return rows of bytes as an array of binary values of one width."""
    rows = np.ascontiguousarray(rows)
    memory = pa.py_buffer(rows)
    return pa.FixedSizeBinaryArray.from_buffers(pa.binary(rows.shape[1]), len(rows), [None, memory])


def _same(kind: Any, wanted: Any) -> bool:
    """Whether two types are alike; what the elements of a list are called does not matter."""
    if pa.types.is_fixed_size_list(wanted):
        return bool(
            pa.types.is_fixed_size_list(kind)
            and kind.list_size == wanted.list_size
            and kind.value_type == wanted.value_type
        )
    if pa.types.is_struct(wanted):
        return bool(
            pa.types.is_struct(kind)
            and [(field.name, field.type) for field in kind] == [(field.name, field.type) for field in wanted]
        )
    return bool(kind == wanted)


def _has_nulls(array: Any) -> bool:
    if array.null_count:
        return True
    nested = pa.types.is_struct(array.type) or pa.types.is_fixed_size_list(array.type)
    parts = array.flatten() if nested else []
    return any(part.null_count for part in (parts if isinstance(parts, list) else [parts]))


def _refused(must_be: str, got: str) -> InvalidParameterError:
    return InvalidParameterError("reports", owner="the protocol", must_be=must_be, got=got)
