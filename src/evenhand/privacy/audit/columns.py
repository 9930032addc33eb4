"""What a mechanism puts out, read as columns of plain values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.errors import InvalidParameterError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    Columns = dict[str, npt.NDArray[Any]]

__all__ = ["columns_of", "support_columns"]

_BYTES_READ = 64  # of a text or of bytes, position by position
_EXACT = 1 << 53  # whole numbers up to here are floats too
_CELLS = 1 << 17  # of a block of indicators: small enough for the cache of a processor


def columns_of(outputs: Any) -> Columns:
    """Return the columns of an array of outputs, one entry per output in each.

    A scalar is one column, a row is one column per coordinate, a record one per field. Bytes and texts
    give the whole, its length, and its first 64 bytes.
    """
    listed = isinstance(outputs, list | tuple)
    if listed and outputs and all(isinstance(each, bytes | str) for each in outputs):
        return _text_columns(outputs)
    try:
        array = _as_they_are(outputs) if listed else np.asarray(outputs)
    except ValueError:  # rows of different lengths
        raise _refused("rows of different lengths") from None
    if array.ndim == 1 and array.dtype.kind in "SU" and array.size:
        return _text_columns(array.tolist()) | {"the output": array}
    if array.dtype.names is not None:
        named = {f"field '{name}'": np.asarray(array[name]) for name in array.dtype.names}
    else:
        named = {"the output": array}
    columns: Columns = {}
    for name, values in named.items():
        columns |= _flat(name, values)
    if not columns:
        raise _refused("rows without coordinates")
    return columns


def support_columns(mechanism: Any, reports: Any, pair: Sequence[Any]) -> Columns:
    """Return whether each report supports the first value and the second, for each attribute.

    The mechanism has ``indicators(reports)``, one column per value, or for several attributes a mapping
    from each name to such columns. They are asked for in blocks, so that no array of all reports by all
    values is made.
    """
    parts: dict[str, list[npt.NDArray[Any]]] = {}
    start, rows = 0, 64  # the first block tells how wide the others are
    while start < len(reports):
        found = mechanism.indicators(reports[start : start + rows])
        several = hasattr(found, "items")
        start, width = start + rows, 0
        for name, table in found.items() if several else [("", found)]:
            values = [each[name] if several else each for each in pair]
            width += table.shape[1]
            for value in dict.fromkeys(values):
                if not isinstance(value, int | np.integer) or not 0 <= value < table.shape[1]:
                    must_be = f"two codes from 0 to {table.shape[1] - 1}" + (
                        f" for '{name}'" if several else ""
                    )
                    raise InvalidParameterError("pair", owner="audit", must_be=must_be, got="something else")
                where = f" in '{name}'" if several else ""
                parts.setdefault(f"support of {value}{where}", []).append(table[:, int(value)])
        rows = max(64, _CELLS // width)
    return {name: np.concatenate(blocks) for name, blocks in parts.items()}


def _as_they_are(outputs: Sequence[Any]) -> npt.NDArray[Any]:
    """Return a list as an array in which no output looks different for the sake of its neighbours.

    By itself numpy turns all numbers into texts where there is one text among them, and large whole numbers
    into floats. Outputs of one call would then depend on one another, and the bounds of an audit not hold.
    """
    array = np.asarray(outputs)
    if array.dtype.kind not in "SUf":
        return array
    single = np.asarray(outputs, dtype=object)
    if array.dtype.kind == "f":
        changed = any(isinstance(each, int) and abs(each) > _EXACT for each in single.flat)
    else:
        text = str if array.dtype.kind == "U" else bytes
        changed = not all(isinstance(each, text) for each in single.flat)
    return single if changed else array


def _flat(name: str, values: npt.NDArray[Any]) -> Columns:
    if values.dtype.kind not in "biufSUO":
        raise _refused(f"an array of type {values.dtype}")
    if values.dtype.kind == "O":
        try:
            set(values.flat)
        except TypeError:
            raise _refused("lists or other things that cannot be compared") from None
    if values.ndim == 1:
        return {name: values}
    rows = values.reshape(len(values), -1)
    where = "" if name == "the output" else f" of {name}"
    return {f"coordinate {j}{where}": rows[:, j] for j in range(rows.shape[1])}


def _text_columns(outputs: Sequence[bytes | str]) -> Columns:
    whole = np.empty(len(outputs), dtype=object)
    whole[:] = outputs
    encoded = [each.encode("utf-8", "surrogatepass") if isinstance(each, str) else each for each in outputs]
    padded = b"".join(each[:_BYTES_READ].ljust(_BYTES_READ, b"\0") for each in encoded)
    table = np.frombuffer(padded, dtype=np.uint8).reshape(-1, _BYTES_READ)
    lengths = np.fromiter(map(len, encoded), dtype=np.int64, count=len(encoded))
    named = {"the output": whole, "the length": lengths}
    return named | {f"byte {j}": table[:, j] for j in range(_BYTES_READ)}


def _refused(got: str) -> InvalidParameterError:
    return InvalidParameterError(
        "mechanism",
        owner="audit",
        must_be="something that returns numbers, rows of numbers, records of numbers, texts or bytes",
        got=got,
        hint="give features=, a function that turns the outputs into small whole numbers.",
    )
