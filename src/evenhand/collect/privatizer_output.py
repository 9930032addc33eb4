"""Output columns in the container that was asked for: an array, or a frame of any library."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING, Any, Literal

import narwhals as nw
import numpy as np
import pyarrow as pa

from evenhand.errors import InvalidParameterError, LimitExceededError, MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from evenhand.collect.privatizer_columns import Layout
    from evenhand.collect.privatizer_input import Frame

__all__ = ["Container", "check_size", "laid_out", "one_hot", "passed_types"]

Container = Literal["default", "pandas", "polars", "pyarrow"]
MOST_BYTES = 1 << 31


def passed_types(frame: Frame, layout: Layout, container: Container) -> list[np.dtype[Any]]:
    """Return the numpy types of the columns that pass; an array takes numbers and truth values only."""
    passed = [name for name in layout.inputs if name not in layout.schema]
    types = [frame.get_column(name).head(1).to_numpy().dtype for name in passed]
    if container != "default":
        return types
    for name in passed:
        kind = frame.get_column(name).dtype
        if not kind.is_numeric() and kind != nw.Boolean:
            raise InvalidParameterError(
                "X",
                owner="LocalPrivatizer",
                must_be="numbers in every column that is passed through to an array",
                got=f"column '{name}' of type {type(kind).__name__}",
                hint="declare it in the schema as categorical, leave it out, or ask for a frame with "
                "set_output(transform='pandas').",
            )
    return types


def check_size(rows: int, layout: Layout, types: list[np.dtype[Any]], container: Container) -> None:
    """Refuse output that would not fit into memory, before anything is drawn for it."""
    width = layout.width
    each = np.result_type(np.uint8, *types).itemsize if container == "default" else 1
    if rows * width * each > MOST_BYTES:
        raise LimitExceededError(
            f"Indicators of {rows:,} rows by {width:,} columns of {each} bytes would take "
            f"{rows * width * each / 2**30:,.1f} GiB, more than {MOST_BYTES // 2**30} GiB. "
            "Hint: declare coarser domains, take the rows in parts, or use a protocol's privatize and "
            "estimate, which need no indicators.",
            limit="bytes",
        )


def one_hot(codes: npt.NDArray[Any], size: int) -> npt.NDArray[np.uint8]:
    """Return one column for each code: 1 where a row has it."""
    out = np.zeros((len(codes), size), dtype=np.uint8)
    out[np.arange(len(codes)), codes] = 1
    return out


def laid_out(
    frame: Frame, layout: Layout, blocks: Mapping[str, npt.NDArray[np.uint8]], container: Container
) -> Any:
    """Return the blocks of encoded columns, and the other columns as they are, side by side."""
    if container == "default":
        return _array(frame, layout, blocks)
    if importlib.util.find_spec(container) is None:
        raise MissingExtraError(container, feature=f"Output as a {container} frame")
    parts = [
        _indicator_frame(blocks[name], names, container)
        if name in blocks
        else _in_library(frame.select(name), container)
        for name, names in layout.parts()
    ]
    made = nw.concat(parts, how="horizontal").to_native()
    if container == "pandas" and frame.implementation.is_pandas():
        made.index = frame.to_native().index
    return made


def _array(frame: Frame, layout: Layout, blocks: Mapping[str, npt.NDArray[np.uint8]]) -> npt.NDArray[Any]:
    columns = {
        name: blocks[name] if name in blocks else _numbers(frame.get_column(name))[:, None]
        for name in layout.inputs
    }
    kind = np.result_type(np.uint8, *(each.dtype for each in columns.values()))
    out = np.empty((len(frame), layout.width), dtype=kind)
    start = 0
    for each in columns.values():
        out[:, start : start + each.shape[1]] = each
        start += each.shape[1]
    return out


def _numbers(series: nw.Series[Any]) -> npt.NDArray[Any]:
    """Return numbers and truth values as numpy has them; a missing one is NaN."""
    found = series.to_numpy()
    if found.dtype.kind in "biuf":
        return found
    return series.cast(nw.Float64).to_numpy().astype(np.float64)


def _indicator_frame(block: npt.NDArray[np.uint8], names: list[str], container: Any) -> Frame:
    return nw.from_numpy(np.asfortranarray(block), schema=names, backend=container)


def _in_library(part: Frame, container: Any) -> Frame:
    if part.implementation.value != container:
        arrow = pa.table(
            {name: part.get_column(name).to_arrow() for name in part.columns}
        )  # without an index
        return nw.DataFrame.from_arrow(arrow, backend=container)
    native = part.to_native()
    made: Frame = nw.from_native(native.reset_index(drop=True) if container == "pandas" else native)
    return made
