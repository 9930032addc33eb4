"""What a scikit-learn user may hand over, a frame or an array, behind one interface."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
import pyarrow as pa
from sklearn.utils import check_array

from evenhand._validate import require_true_values
from evenhand.errors import InvalidParameterError
from evenhand.table.frames import eager_frame

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand.schema import Schema

Frame = nw.DataFrame[Any]


def open_input(X: Any, *, owner: str) -> tuple[Frame, bool]:  # noqa: N803 - scikit-learn's name for it
    """Return the rows as a frame, and whether its columns had names.

    Columns without names are called ``x0``, ``x1``, ... as in scikit-learn. No message tells a value.
    """
    require_true_values(X, name="X", owner=owner)
    if isinstance(X, pa.RecordBatch) or nw.dependencies.is_into_dataframe(X) or hasattr(X, "collect"):
        frame = eager_frame(X, owner=owner, parameter="X")
        texts = [isinstance(name, str) for name in frame.columns]
        if any(texts) and not all(texts):
            must_be, got = "a frame whose columns are all named, or all numbered", "some of each"
            raise InvalidParameterError("X", owner=owner, must_be=must_be, got=got)
        if not all(texts):
            native = frame.to_native().set_axis([f"x{place}" for place in range(frame.shape[1])], axis=1)
            return nw.from_native(native, eager_only=True), False
        return frame, True
    array = _read_array(X, owner)
    table = {f"x{place}": _to_arrow(array[:, place], f"x{place}", owner) for place in range(array.shape[1])}
    return nw.from_native(pa.table(table), eager_only=True), False


def names_for(frame: Frame, *, named: bool, schema: Schema | None, owner: str) -> tuple[str, ...]:
    """Return the names of the columns: those of the frame or, for an array, those of the schema in order."""
    if named or schema is None:
        return tuple(frame.columns)
    width = frame.shape[1]
    for names in (tuple(name for name in schema.names if name != schema.target), schema.names):
        if len(names) == width:
            return names
    raise InvalidParameterError(
        "X",
        owner=owner,
        must_be=f"a frame, or an array with the {len(schema)} columns of the schema in order "
        "(the target may be left out)",
        got=f"an array of {width} columns without names",
    )


def refuse_other_names(frame: Frame, names: Sequence[str], *, owner: str) -> None:
    """Refuse a frame whose columns are not the ones that an array without names was said to have."""
    if tuple(frame.columns) != tuple(names):
        raise InvalidParameterError(
            "X",
            owner=owner,
            must_be=f"an array, or a frame with the columns {', '.join(names)} in this order, which those of "
            "the array at fit were taken for",
            got="a frame with other columns or in another order",
        )


def renamed(frame: Frame, names: Sequence[str]) -> Frame:
    """Return the frame with these names."""
    return frame.rename(dict(zip(frame.columns, names, strict=True)))


def _read_array(X: Any, owner: str) -> np.ndarray[Any, Any]:  # noqa: N803 - as above
    must_be, got, hint = "a frame, or an array of two dimensions: a row for each person", "", ""
    if hasattr(X, "toarray"):
        got = "a sparse matrix"
    else:
        try:
            array = np.asarray(X)
            if array.dtype.kind in "US" and not isinstance(X, np.ndarray):
                array = np.asarray(X, dtype=object)  # numbers among texts stay numbers
        except ValueError:
            got = "rows of several lengths"
        else:
            if array.dtype.kind == "c":
                got = "complex numbers (Complex data not supported)"
            elif array.ndim != 2:
                got = f"an array of {array.ndim} dimension{'' if array.ndim == 1 else 's'}"
                hint = "Reshape your data with X.reshape(-1, 1) if it has one column."
    if got:
        raise InvalidParameterError("X", owner=owner, must_be=must_be, got=got, hint=hint)
    # With two dimensions and no type asked for, it has nothing to say but that there are no columns.
    checked: np.ndarray[Any, Any] = check_array(
        array, dtype=None, ensure_all_finite=False, ensure_min_samples=0, estimator=owner
    )
    return checked


def _to_arrow(column: np.ndarray[Any, Any], name: str, owner: str) -> pa.Array:
    if column.dtype == np.float16:
        column = column.astype(np.float32)
    try:
        return pa.array(np.ascontiguousarray(column), from_pandas=column.dtype == object)
    except (pa.ArrowException, TypeError, ValueError):
        must_be = (
            f"numbers, truth values or text in column '{name}' (an argument must be a string or a number)"
        )
        raise InvalidParameterError(
            "X", owner=owner, must_be=must_be, got="values of another type, or of several types"
        ) from None
