"""Data frames that come in and go out: pandas, Polars or Arrow, and the library that the caller prefers."""

from __future__ import annotations

import importlib.util
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, get_args

import narwhals as nw
import pyarrow as pa
from narwhals.exceptions import DuplicateError

from evenhand._lazy import lazy
from evenhand._validate import kind_of, one_of, require_true_values
from evenhand.errors import InvalidParameterError, MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

pl = lazy("polars")
pd = lazy("pandas")

Backend = Literal["pandas", "polars", "pyarrow"]


def make_frame(columns: Mapping[str, Any], *, backend: Backend | None = None) -> Any:
    """Return a frame of `columns` in the library asked for.

    Parameters
    ----------
    columns : mapping of str to sequence
        Name and values of each column; all of one length.
    backend : {"pandas", "polars", "pyarrow"}, optional
        The library of the frame. By default pandas where it is installed, else pyarrow,
        which always is.

    Examples
    --------
    >>> make_frame({"group": ["a", "b"], "rate": [0.5, 0.25]}, backend="pyarrow").num_rows
    2
    """
    if backend is None:
        backend = "pandas" if importlib.util.find_spec("pandas") else "pyarrow"
    chosen = _installed(backend, owner="make_frame")
    return nw.from_dict(dict(columns), backend=chosen).to_native()


def _installed(backend: object, *, owner: str) -> Backend:
    """Return the library asked for, or refuse one that is not known or not there."""
    chosen: Backend = one_of("backend", backend, get_args(Backend), owner=owner)
    if importlib.util.find_spec(chosen) is None:
        raise MissingExtraError(chosen, feature=f"A {chosen} frame")
    return chosen


def eager_frame(frame: Any, *, owner: str, parameter: str) -> nw.DataFrame[Any]:
    """Return `frame` behind one interface; refuse lazy frames and what is no frame.

    Collecting a lazy frame may take long or more memory than there is, so that is left to the caller.
    """
    require_true_values(frame, name=parameter, owner=owner)
    must_be, got = "a pandas, Polars or Arrow frame", kind_of(frame)
    hint = "collect a lazy frame first, with .collect()." if hasattr(frame, "collect") else ""
    if isinstance(frame, pa.RecordBatch):
        frame = pa.Table.from_batches([frame])
    try:
        eager: nw.DataFrame[Any] = nw.from_native(frame, eager_only=True)
        names = eager.columns
    except TypeError:
        names = None
    except DuplicateError:
        names, must_be, got = None, "a frame whose columns have distinct names", "the same name twice"
    if names is None:
        raise InvalidParameterError(parameter, owner=owner, must_be=must_be, got=got, hint=hint) from None
    return eager


@dataclass(frozen=True)
class Origin:
    """Where a table came from: a frame library, and the native type of each column in it."""

    backend: str
    types: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, frame: nw.DataFrame[Any], names: Iterable[str]) -> Origin:
        """Remember the library of `frame` and the types of these columns."""
        natives = {name: frame.get_column(name).to_native() for name in names}
        types = {
            name: column.dtype if hasattr(column, "dtype") else column.type
            for name, column in natives.items()
        }
        return cls(frame.implementation.value, types)


def native_frame(arrays: Mapping[str, Any], *, backend: Backend | None, origin: Origin | None) -> Any:
    """Return Arrow arrays as a frame of the library asked for, else of the one they came from.

    In that one, a column gets the type it came with wherever that type can hold the values.
    """
    home = "pyarrow" if origin is None else origin.backend
    chosen = home if backend is None else _installed(backend, owner="Table.to_frame")
    types = origin.types if origin is not None and chosen == home else {}
    if chosen == "pyarrow":
        return pa.table({name: _arrow_column(array, types.get(name)) for name, array in arrays.items()})
    if chosen == "polars":
        return _polars_frame(arrays, types)
    if chosen == "pandas":
        return _pandas_frame(arrays, types)
    return nw.DataFrame.from_arrow(pa.table(dict(arrays)), backend=chosen).to_native()  # type: ignore[arg-type]


def _arrow_column(array: Any, wanted: Any) -> Any:
    if wanted is None:
        return array
    try:
        if pa.types.is_decimal(wanted):  # by way of the widest, which takes any whole number
            return array.cast(pa.decimal256(76, wanted.scale)).cast(wanted)
        if pa.types.is_dictionary(wanted):
            return array.cast(wanted.value_type).dictionary_encode().cast(wanted)
        return array.cast(wanted)
    except pa.ArrowException:
        return array


def _polars_frame(arrays: Mapping[str, Any], types: Mapping[str, Any]) -> Any:
    columns = []
    for name, array in arrays.items():
        column = pl.Series(name, array)
        with suppress(pl.exceptions.PolarsError):  # if the type it came with cannot hold it
            column = column.cast(types[name]) if name in types else column
        columns.append(column)
    return pl.DataFrame(columns)


def _pandas_frame(arrays: Mapping[str, Any], types: Mapping[str, Any]) -> Any:
    nullable = {pa.int64(): pd.Int64Dtype(), pa.bool_(): pd.BooleanDtype()}
    columns = {}
    for name, array in arrays.items():
        column = array.to_pandas(types_mapper=nullable.get if array.null_count else None)
        with suppress(TypeError, ValueError):  # if the type it came with cannot hold it
            column = column.astype(types[name]) if name in types else column
        columns[name] = column.where(column.notna(), None) if column.dtype == object else column
    return pd.DataFrame(columns)
