"""Arrow arrays to and from numpy, without a copy where the memory allows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.errors import InvalidParameterError

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["bytes_array", "bytes_of", "numbers_of", "sole_array"]


def sole_array(array: Any, wanted: Any, described: str) -> Any:
    """Return `array` in one piece if it has the type that is wanted and no nulls, else refuse it."""
    import pyarrow as pa  # noqa: PLC0415 - slow to import

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


def bytes_array(rows: npt.NDArray[np.uint8]) -> Any:
    """Return rows of bytes as an array of binary values of one width."""
    import pyarrow as pa  # noqa: PLC0415 - slow to import

    rows = np.ascontiguousarray(rows)
    memory = pa.py_buffer(rows)
    return pa.FixedSizeBinaryArray.from_buffers(pa.binary(rows.shape[1]), len(rows), [None, memory])


def bytes_of(array: Any) -> npt.NDArray[np.uint8]:
    """Return the rows of bytes of an array of binary values of one width."""
    width = array.type.byte_width
    memory = array.buffers()[1]
    if len(array) == 0 or memory is None:
        return np.empty((0, width), dtype=np.uint8)
    rows = np.frombuffer(memory, dtype=np.uint8, count=len(array) * width, offset=array.offset * width)
    return rows.reshape(-1, width)


def numbers_of(array: Any) -> npt.NDArray[Any]:
    """Return the numbers of an array that has no nulls."""
    numbers: npt.NDArray[Any] = array.to_numpy(zero_copy_only=True)
    return numbers


def _same(found: Any, wanted: Any) -> bool:
    """Whether two types are alike; what the elements of a list are called does not matter."""
    import pyarrow as pa  # noqa: PLC0415 - slow to import

    if pa.types.is_fixed_size_list(wanted):
        return bool(
            pa.types.is_fixed_size_list(found)
            and found.list_size == wanted.list_size
            and found.value_type == wanted.value_type
        )
    if pa.types.is_struct(wanted):
        return bool(
            pa.types.is_struct(found)
            and [(each.name, each.type) for each in found] == [(each.name, each.type) for each in wanted]
        )
    return bool(found == wanted)


def _has_nulls(array: Any) -> bool:
    import pyarrow as pa  # noqa: PLC0415 - slow to import

    if array.null_count:
        return True
    nested = pa.types.is_struct(array.type) or pa.types.is_fixed_size_list(array.type)
    parts = array.flatten() if nested else []
    return any(each.null_count for each in (parts if isinstance(parts, list) else [parts]))


def _refused(must_be: str, got: str) -> InvalidParameterError:
    return InvalidParameterError("reports", owner="the protocol", must_be=must_be, got=got)
