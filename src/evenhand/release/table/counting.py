"""Rows counted into cells: exact whole numbers, whatever the order of the rows."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evenhand.errors import InvalidParameterError, LimitExceededError
from evenhand.table.lazy.codes import count_codes

if TYPE_CHECKING:
    from collections.abc import Sequence

    import narwhals as nw
    from numpy.typing import NDArray

    from evenhand.schema import Schema
    from evenhand.table.encode import Table

    Counts = NDArray[np.int64] | NDArray[np.float64]

MOST_CELLS = 50_000_000
"""A table of more cells is kept as its filled cells only."""

MOST_NUMBERED = 2**63 - 1
"""A table of more cells cannot be numbered in 64 bits."""

MOST_COUNT = 2**63 - 1
"""A larger count does not fit 64 bits."""

_CHUNK_ROWS = 1 << 20


class Cells(NamedTuple):
    """Cells by their number in row-major order, each once and in order, and what is in them."""

    cells: NDArray[np.int64]
    filled: NDArray[Any]


def cell_numbers(codes: Sequence[NDArray[Any]], shape: Sequence[int]) -> NDArray[np.int64]:
    """Return the number of the cell of each row, in row-major order of `shape`."""
    numbers = codes[0].astype(np.int64)
    for column, size in zip(codes[1:], shape[1:], strict=True):
        numbers *= size
        numbers += column.astype(np.int64)  # a copy as wide as the numbers, so that nothing wraps
    return numbers


def check_codes(coded: Schema, wanted: Schema) -> None:
    """Refuse codes that stand for other values than the schema says."""
    for column in wanted:
        if coded[column.name].domain != column.domain or coded[column.name].size != column.size:
            must_be = f"a Table whose column '{column.name}' was encoded with the domain of the schema"
            raise InvalidParameterError("df", owner="Histogram.count", must_be=must_be, got="another domain")


def count_rows(table: Table, shape: Sequence[int], size: int) -> NDArray[np.int64] | Cells:
    """Return how many rows are in each cell: all cells up to `MOST_CELLS`, else the filled ones.

    Where rows have weights it is the sum of these, in the filled cells.
    """
    codes = [table[name] for name in table.schema.names]
    if table.weights is not None:
        return sum_by_cell(cell_numbers(codes, shape), table.weights)
    if size > MOST_CELLS:
        cells, filled = np.unique(cell_numbers(codes, shape), return_counts=True)
        return Cells(cells, filled.astype(np.int64))
    step = max(_CHUNK_ROWS, size)  # so that a pass over the cells is never the larger part
    counts = np.bincount(cell_numbers([column[:step] for column in codes], shape), minlength=size)
    for start in range(step, len(table), step):
        part = [column[start : start + step] for column in codes]
        counts += np.bincount(cell_numbers(part, shape), minlength=size)
    counts.flags.writeable = False  # nobody else has it, so it need not be copied
    return counts.reshape(tuple(shape))


def count_lazy_rows(frame: nw.LazyFrame[Any], schema: Schema, shape: Sequence[int]) -> Cells:
    """Return how many rows of a lazy frame are in each filled cell, counted in its engine."""
    table, times = count_codes(frame, schema, owner="Histogram.count")
    return sum_by_cell(cell_numbers([table[name] for name in schema.names], shape), times)


def sum_by_cell(numbers: NDArray[np.int64], values: NDArray[Any]) -> Cells:
    """Return the sum of the values of each cell, in whole numbers where the values are."""
    cells, places = np.unique(numbers, return_inverse=True)
    filled = np.zeros(len(cells), values.dtype)
    np.add.at(filled, places, values)
    return Cells(cells, filled)


def sum_counts(counts: NDArray[Any], axes: tuple[int, ...] | None = None) -> Any:
    """Return the sum over the axes, exact for whole numbers.

    Raises
    ------
    LimitExceededError
        If a sum does not fit 64 bits; it never wraps. People are never so many.
    """
    if counts.dtype.kind == "f" or not counts.size:
        return counts.sum(axis=axes)
    merged = (
        counts.size if axes is None else int(np.prod([counts.shape[axis] for axis in axes], dtype=np.int64))
    )
    largest = max(-int(counts.min()), int(counts.max()))
    if largest * merged <= MOST_COUNT:
        return counts.sum(axis=axes, dtype=np.int64)
    exact = np.asarray(counts.astype(object).sum(axis=axes), dtype=object)
    if any(abs(total) > MOST_COUNT for total in exact.flat):
        raise LimitExceededError("The sum of the counts does not fit 64 bits.", limit="counts")
    return exact.astype(np.int64)


def checked_size(shape: Sequence[int], *, owner: str) -> int:
    """Return the number of cells of a table of this shape; refuse one that cannot be numbered."""
    size = math.prod(shape)
    if size > MOST_NUMBERED:
        raise LimitExceededError(
            f"{owner} would need {size:.3g} cells, more than the {MOST_NUMBERED:.3g} that can be numbered. "
            "Hint: take fewer columns, or coarser ones.",
            limit="columns",
        )
    return size


def whole_or_real(values: Any, *, parameter: str, owner: str) -> NDArray[Any]:
    """Return counts as 64-bit whole numbers, or as numbers where they are; refuse anything else."""
    given = np.asarray(values)
    if given.dtype == np.int64 and not _can_change(given):
        return given
    if given.dtype.kind in "bi" or (given.dtype.kind == "u" and (given <= MOST_COUNT).all()):
        return _read_only_copy(given, np.int64)
    if given.dtype.kind == "f" and (np.abs(given) < MOST_COUNT).all():  # also refuses what is not a number
        return _read_only_copy(given, np.float64)
    must_be = "an array of whole numbers that fit 64 bits, or of finite numbers within their range"
    raise InvalidParameterError(parameter, owner=owner, must_be=must_be, got="something else")


def checked_cells(cells: Any, filled: Any, size: int) -> Cells:
    """Return cells by their numbers, each once and in order, with their counts; refuse anything else."""
    numbers = np.asarray(cells)
    counts = whole_or_real(filled, parameter="filled", owner="Histogram")
    fits = numbers.ndim == 1 and (numbers.dtype.kind in "iu" or not numbers.size)
    if fits and numbers.size:
        in_range = 0 <= int(numbers.min()) <= int(numbers.max()) < size
        fits = in_range and bool((numbers[1:] > numbers[:-1]).all())
    if not fits:
        must_be = f"an increasing array of whole numbers from 0 to {size - 1}"
        raise InvalidParameterError("cells", owner="Histogram", must_be=must_be, got="something else")
    if counts.shape != numbers.shape:
        raise InvalidParameterError(
            "filled", owner="Histogram", must_be="one count per cell", got="another shape"
        )
    return Cells(numbers.astype(np.int64), counts)


def _read_only_copy(array: NDArray[Any], kind: type[np.generic]) -> NDArray[Any]:
    copy = array.astype(kind)
    copy.flags.writeable = False
    return copy


def _can_change(array: Any) -> bool:
    """Tell whether somebody could still write to the array, or to what it is a view of."""
    while isinstance(array, np.ndarray):
        if array.flags.writeable:
            return True
        array = array.base
    return array is not None
