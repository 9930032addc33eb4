"""Columns without anything that comes along unseen: other rows' memory, lists of values, indexes, notes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from evenhand._lazy import lazy

pd, pl = lazy("pandas"), lazy("polars")


def bare_frame(native: Any, library: str) -> Any:
    """Return a copy of a frame of pandas, Polars or Arrow that holds its rows and columns alone.

    A part of a frame may look at the memory of the whole: whoever gets it could read the other rows. The copy
    has memory of its own, a new index, no notes, and of categories only those that occur.
    """
    places = np.arange(len(native))  # taken one by one: libraries answer a slice with a look at the whole
    if library == "polars":
        taken = native[places]
        return taken.with_columns(*map(_copy_text, taken))
    if library == "pyarrow":
        columns = [bare_array(column) for column in native.columns]
        return pa.table(dict(zip(native.column_names, columns, strict=True)))
    copies = {name: native[name].array.take(places) for name in native.columns}
    for name, values in copies.items():
        if isinstance(values, pd.Categorical):
            copies[name] = values.remove_unused_categories()
    return pd.DataFrame(copies, index=pd.RangeIndex(len(native)))


def _copy_text(column: Any) -> Any:
    """Return a Polars column with memory of its own where rows that were taken still look at shared text.

    In Arrow's older form, which has no views, text is written out row by row.
    """
    if column.dtype not in {pl.String, pl.Binary} and not column.dtype.is_nested():
        return column
    arrow = column.to_arrow(compat_level=pl.CompatLevel.oldest())
    return pl.Series(column.name, pl.from_arrow(arrow), dtype=column.dtype)


def bare_array(column: Any) -> Any:
    """Return a copy of an Arrow column with memory of its own and a list of only those values that occur."""
    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if isinstance(whole, pa.ChunkedArray):  # an empty column may have no chunk
        whole = pa.array([], whole.type)
    whole = write_out_views(whole)
    copy = whole.take(pa.array(np.arange(len(whole))))
    if not pa.types.is_dictionary(copy.type):
        return copy
    used = np.unique(copy.indices.drop_null().to_numpy())
    places = copy.indices.to_numpy(zero_copy_only=False)
    missing = copy.indices.is_null().to_numpy(zero_copy_only=False)
    indices = np.searchsorted(used, np.where(missing, 0, places)).astype(np.int64)
    return pa.DictionaryArray.from_arrays(
        pa.array(indices, copy.type.index_type, mask=missing),
        copy.dictionary.take(pa.array(used)),
        ordered=copy.type.ordered,
    )


def write_out_views(array: Any) -> Any:
    """Return an Arrow array of views of text or bytes, which may share memory, as plain text or bytes.

    Arrow itself can hardly do anything with views. Other arrays are returned as they are.

    >>> str(write_out_views(pa.array(["a"], pa.string_view())).type)
    'large_string'
    """
    if pa.types.is_string_view(array.type):
        return array.cast(pa.large_string())
    return array.cast(pa.large_binary()) if pa.types.is_binary_view(array.type) else array
