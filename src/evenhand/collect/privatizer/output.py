"""Output columns in the container that was asked for, and which containers came out of a privatizer."""

from __future__ import annotations

import importlib.util
from contextlib import suppress
from numbers import Number
from typing import TYPE_CHECKING, Any, Literal
from weakref import WeakValueDictionary

import narwhals as nw
import numpy as np
import pyarrow as pa

from evenhand._lazy import lazy
from evenhand.collect.privatizer.bare_columns import bare_array, bare_frame
from evenhand.errors import InvalidParameterError, LimitExceededError, MissingExtraError

if TYPE_CHECKING:
    import numpy.typing as npt

    from evenhand.collect.privatizer.columns import OutputColumns
    from evenhand.collect.privatizer.input import Frame

Container = Literal["default", "pandas", "polars", "pyarrow"]
pd = lazy("pandas")

MOST_BYTES = 1 << 31
_ROWS = 1 << 16  # that are marked at a time


def passed_types(frame: Frame, layout: OutputColumns, container: Container) -> list[np.dtype[Any]]:
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


def check_size(rows: int, layout: OutputColumns, types: list[np.dtype[Any]], container: Container) -> None:
    """Refuse output that would not fit into memory, before anything is drawn for it."""
    width = layout.width
    cell_bytes = np.result_type(np.uint8, *types).itemsize if container == "default" else 1
    if rows * width * cell_bytes > MOST_BYTES:
        raise LimitExceededError(
            f"Indicators in {width:,} columns of {cell_bytes} bytes would take more than {MOST_BYTES:,} "
            f"bytes, enough for {MOST_BYTES // (width * cell_bytes):,} rows. "
            "Hint: declare coarser domains, take the rows in parts, or use a protocol's privatize and "
            "estimate, which need no indicators.",
            limit="bytes",
        )


def mark(codes: npt.NDArray[Any], view: npt.NDArray[Any]) -> None:
    """Write one column for each code into `view`: 1 where a row has it, else 0."""
    view[:] = 0
    for start in range(0, len(codes), _ROWS):
        part = codes[start : start + _ROWS]
        view[np.arange(start, start + len(part)), part] = 1


class OutputBuffer:
    """Memory for the output, taken before anything is drawn for it.

    Whatever can fail fails here: a library that is missing, a column that cannot pass, too little memory.

    Parameters
    ----------
    frame : Frame
        The input.
    layout : OutputColumns
        What becomes of its columns.
    container : {"default", "pandas", "polars", "pyarrow"}
        What is asked for.
    keep_index : bool
        Whether a pandas frame gets the index of the input; else it has a new one, 0, 1, ...

    Attributes
    ----------
    views : dict of str to array
        For each encoded column an array of one row per person and one column per value, to be written to.
    """

    def __init__(
        self, frame: Frame, layout: OutputColumns, container: Container, *, keep_index: bool
    ) -> None:
        self.views: dict[str, npt.NDArray[Any]] = {}
        self._layout, self._container = layout, container
        self._index: Any = None
        if container == "default":
            self._array = self._open_array(frame)
            return
        if importlib.util.find_spec(container) is None:
            raise MissingExtraError(container, feature=f"Output as a {container} frame")
        if container == "pandas" and frame.implementation.is_pandas():
            self._index = _copy_index(frame.to_native().index) if keep_index else None
            if not keep_index:
                _refuse_other_order(frame.to_native().index)
        passed = [name for name in layout.inputs if name not in layout.schema]
        self._passed = {name: _in_library(frame.select(name), container) for name in passed}
        for column in layout.schema:
            self.views[column.name] = np.empty((len(frame), column.size), dtype=np.uint8, order="F")

    def _open_array(self, frame: Frame) -> npt.NDArray[Any]:
        passed = [name for name in self._layout.inputs if name not in self._layout.schema]
        kinds = [_numbers(frame.get_column(name)).dtype for name in passed]
        array = np.empty((len(frame), self._layout.width), dtype=np.result_type(np.uint8, *kinds))
        start = 0
        for name, names in self._layout.parts():
            view = array[:, start : start + len(names)]
            if name in self._layout.schema:
                self.views[name] = view
            else:
                view[:, 0] = _numbers(frame.get_column(name))
            start += len(names)
        return array

    def build(self) -> Any:
        """Return the output, once every view is written."""
        if self._container == "default":
            return self._array
        parts = [
            _indicator_frame(self.views.pop(name), names, self._container)  # Polars copies: free the view
            if name in self.views
            else self._passed[name]
            for name, names in self._layout.parts()
        ]
        made = nw.concat(parts, how="horizontal").to_native()
        if self._index is not None:
            made.index = self._index
        return made


def _copy_index(index: Any) -> Any:
    """Return an index with memory of its own, which holds no label of rows that are not in it."""
    for shrink in ("remove_unused_levels", "remove_unused_categories"):
        index = getattr(index, shrink)() if hasattr(index, shrink) else index
    return index.copy(deep=True)


def _refuse_other_order(index: Any) -> None:
    """Refuse an index whose labels a new one has too, in another order: it would name other people's rows."""
    labels = np.asarray(index)
    expected = np.arange(len(labels))
    if labels.dtype.kind not in "biufO" or np.array_equal(labels, expected):
        return
    if _has_labels(labels, expected):
        raise InvalidParameterError(
            "X",
            owner="LocalPrivatizer",
            must_be="a frame whose index is 0, 1, 2, ... in this order, or has other labels",
            got="these labels in another order",
            hint="the output has a new index, and pandas would join its rows to the wrong people; "
            "X.reset_index(drop=True) leaves the old one out, keep_index=True hands it on, in the clear.",
        )


def _has_labels(labels: npt.NDArray[Any], expected: npt.NDArray[Any]) -> bool:
    """Whether labels are the expected numbers in any order; 3.0 is 3 and True is 1, as for pandas."""
    if labels.dtype.kind != "O":
        return np.array_equal(np.sort(labels), expected)
    return all(isinstance(label, Number | np.bool_) for label in labels) and set(labels) == set(expected)


def _numbers(series: nw.Series[Any]) -> npt.NDArray[Any]:
    """Return numbers and truth values as numpy has them; a missing one is NaN."""
    numbers = series.to_numpy()
    if numbers.dtype.kind in "biuf":
        return numbers
    return series.cast(nw.Float64).to_numpy().astype(np.float64)


def _indicator_frame(block: npt.NDArray[np.uint8], names: list[str], container: Any) -> Frame:
    if container == "pandas":
        whole: Frame = nw.from_native(pd.DataFrame(block, columns=names, copy=False))
        return whole
    return nw.from_numpy(block, schema=names, backend=container)


def _in_library(part: Frame, container: Any) -> Frame:
    """Return a column that passes in the library asked for, or refuse it without telling any value.

    It is a copy of these rows and of nothing else, see :mod:`evenhand.collect.privatizer.bare_columns`.
    """
    name = part.columns[0]
    try:
        if part.implementation.value == container:
            made: Frame = nw.from_native(bare_frame(part.to_native(), container))
            return made
        arrow = pa.table({name: bare_array(part.get_column(name).to_arrow())})  # without an index
        return nw.DataFrame.from_arrow(arrow, backend=container)
    except (pa.ArrowException, TypeError, ValueError, NotImplementedError, OverflowError):
        raise InvalidParameterError(
            "X",
            owner="LocalPrivatizer",
            must_be=f"values of one type that {container} can hold in every column that passes",
            got=f"others in column '{name}'",
            hint="declare it in the schema, convert it, or leave it out.",
        ) from None


_MADE: WeakValueDictionary[int, Any] = WeakValueDictionary()


def remember(made: Any) -> Any:
    """Return what a privatizer made, having noted that it did; nothing is kept alive by that."""
    with suppress(TypeError):  # some containers cannot be noted
        _MADE[id(made)] = made
    return made


def is_privatized(given: Any) -> bool:
    """Whether a privatizer made this very object, or the array of which it is a view.

    >>> import numpy as np
    >>> made = remember(np.zeros((3, 2)))
    >>> is_privatized(made), is_privatized(made[:2]), is_privatized(np.zeros((3, 2)))
    (True, True, False)
    """
    return any(
        _MADE.get(id(container)) is container
        for container in (given, getattr(given, "base", None))
        if container is not None
    )
