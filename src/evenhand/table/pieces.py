"""Columns of any frame library, cut into pieces of rows, so that no column is ever copied whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Iterator

    import narwhals as nw

__all__ = ["Labelled", "pieces", "rows_of"]


class Labelled(NamedTuple):
    """Places in a list of categories, -1 where there is none; the list is itself a piece."""

    places: Any
    categories: Any


def pieces(series: nw.Series[Any], rows: int) -> Iterator[Any]:
    """Yield `series` in pieces of at most `rows` rows.

    A piece is an Arrow array, a :class:`Labelled` of a pandas categorical, or, for columns that
    have no other type than "Python objects", a NumPy array of objects.
    """
    native = series.to_native()
    if series.implementation.is_pyarrow():
        for chunk in native.chunks:
            # A long list of categories is gone through once for a piece, so the piece is long too.
            categories = len(chunk.dictionary) if pa.types.is_dictionary(chunk.type) else 0
            step = max(rows, 4 * categories)
            for start in range(0, len(chunk), step):
                yield chunk.slice(start, step)
        return
    cut = _pandas_piece if series.implementation.is_pandas() else _other_piece
    for start in range(0, len(native), rows):
        yield cut(series[start : start + rows].to_native())


def rows_of(piece: Any) -> int:
    """Return how many rows a piece has."""
    return len(piece.places) if isinstance(piece, Labelled) else len(piece)


def _pandas_piece(series: Any) -> Any:
    import pandas as pd  # noqa: PLC0415 - only where a pandas frame came in

    if isinstance(series.dtype, pd.CategoricalDtype):
        return Labelled(series.array.codes, _pandas_piece(series.array.categories.to_series()))
    if series.dtype != np.dtype(object):
        try:
            return _flat(pa.Array.from_pandas(series))
        except (pa.ArrowException, TypeError, ValueError, NotImplementedError):
            return np.asarray(series, dtype=object)
    if pd.api.types.infer_dtype(series, skipna=True) == "string":
        try:
            return _flat(pa.array(series, pa.large_string(), from_pandas=True))
        except (pa.ArrowException, UnicodeError):  # text that UTF-8 cannot write
            pass
    return np.asarray(series, dtype=object)


def _other_piece(series: Any) -> Any:
    """Cut from Polars, and from whatever else can turn itself into Arrow."""
    try:
        if str(series.dtype) != "Object":
            return _flat(series.to_arrow())
    except (pa.ArrowException, TypeError, ValueError, NotImplementedError):  # wider than Arrow's types
        pass
    objects = np.empty(len(series), dtype=object)
    objects[:] = series.to_list()
    return objects


def _flat(array: Any) -> Any:
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
