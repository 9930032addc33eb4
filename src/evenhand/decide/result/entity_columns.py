"""Reading the columns of entities, each refusal naming the column and nothing that is in it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from numbers import Real
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from evenhand.decide.allotment.allotment import checked_weights
from evenhand.errors import ColumnNotFoundError, InvalidParameterError

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["LARGEST_COUNT", "columns_of", "named", "read_counts", "read_weights"]

LARGEST_COUNT = 10**15
"""No entity counts more; below it, whole numbers held as floats are exact."""

_OWNER = "Entities.read"
_COUNT = "holds whole numbers from 0 to 10**15 and no missing ones"


def columns_of(frame: Any) -> Mapping[str, Any]:
    """Return the columns of a frame or a mapping by name, as they are."""
    if isinstance(frame, Mapping):
        return frame
    from evenhand.table.frames import eager_frame  # noqa: PLC0415 - brings pyarrow

    eager = eager_frame(frame, owner=_OWNER, parameter="frame")
    return {str(each): eager.get_column(each) for each in eager.columns}


def read_counts(columns: Mapping[str, Any], name: str) -> npt.NDArray[np.int64]:
    """Return a column of counts, in an array of its own."""
    array = _column(columns, name)
    if array.dtype.kind == "O":
        array = _numbers(array, name)
    if array.dtype.kind not in "iuf":
        _refuse(name, _COUNT)
    fine = (array >= 0) & (array <= LARGEST_COUNT)  # false where a float is missing
    if not fine.all() or (array.dtype.kind == "f" and (array != np.floor(array)).any()):
        _refuse(name, _COUNT)
    return array.astype(np.int64)


def read_weights(columns: Mapping[str, Any], name: str) -> npt.NDArray[np.float64]:
    """Return a column of weights, in an array of its own."""
    array = _column(columns, name)
    if array.dtype.kind == "O":
        array = _numbers(array, name)
    try:
        return checked_weights(array, owner=_OWNER)
    except InvalidParameterError:
        _refuse(name, "holds numbers, each 0 or from 1e-50 to 1e50, and one of them above 0")


def named(columns: Mapping[str, Any], names: tuple[str, ...], size: int) -> tuple[str, ...]:
    """Return the name of each entity; numbers from 1 where no column has them."""
    if not names:
        return tuple(str(number) for number in range(1, size + 1))
    parts = [[_text(each) for each in _column(columns, name).tolist()] for name in names]
    if len({len(part) for part in parts}) > 1:
        raise InvalidParameterError(
            "frame", owner=_OWNER, must_be="columns of one length", got="several lengths"
        )
    return tuple(", ".join(row) for row in zip(*parts, strict=True))


def _text(value: object) -> str:
    missing = value is None or type(value).__name__ in {"NAType", "NaTType"}
    return "" if missing or (isinstance(value, float) and math.isnan(value)) else str(value)


def _column(columns: Mapping[str, Any], name: str) -> npt.NDArray[Any]:
    if name not in columns:
        raise ColumnNotFoundError(name, [str(each) for each in columns], place="in the frame")
    given = columns[name]
    array = given if isinstance(given, np.ma.MaskedArray) else _as_array(given, name)
    if array.ndim != 1 or array.size == 0:
        _refuse(name, "has one value for each entity, and at least one")
    if isinstance(array, np.ma.MaskedArray):
        if np.ma.getmaskarray(array).any():
            _refuse(name, "holds no missing values")
        array = np.asarray(array)
    return array


def _as_array(given: Any, name: str) -> npt.NDArray[Any]:
    try:
        return np.asarray(given)
    except (TypeError, ValueError):
        _refuse(name, "is a column of plain values")


def _numbers(array: npt.NDArray[Any], name: str) -> npt.NDArray[np.float64]:
    """Return objects as floats, in which counts are exact; only numbers are numbers here."""
    values = array.tolist()
    if not all(isinstance(each, Real) and not isinstance(each, bool) for each in values):
        _refuse(name, "holds numbers and no missing ones")
    try:
        return np.array(values, dtype=np.float64)
    except OverflowError:
        _refuse(name, "holds numbers below 1e308")


def _refuse(name: str, must_be: str) -> NoReturn:
    got = "one that does not"
    raise InvalidParameterError(
        "frame", owner=_OWNER, must_be=f"one whose column '{name}' {must_be}", got=got
    )
