"""Tables of counts to frames and back, one row per cell."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from evenhand.errors import ColumnNotFoundError, InvalidParameterError
from evenhand.release.table.counting import Cells, cell_numbers, sum_by_cell, sum_counts, whole_or_real
from evenhand.schema import Column, Domain, Schema
from evenhand.schema.levels import unused_label
from evenhand.table.encode import Table, decoded
from evenhand.table.frames import eager_frame, native_frame

if TYPE_CHECKING:
    from collections.abc import Mapping

    import narwhals as nw
    from numpy.typing import NDArray

    from evenhand.table.frames import Backend

_OWNER = "Histogram.from_frame"
_MISSING, _MIXED = "not stated", "other or not stated"


@dataclass(frozen=True, eq=False)
class CellsRead:
    """What a frame says about cells: those with a count, and those whose count is missing."""

    present: Cells
    missing: NDArray[np.int64]


def cell_values(schema: Schema, numbers: NDArray[np.int64] | None, size: int) -> dict[str, Any]:
    """Return for each column the values of these cells as an Arrow array; None: of all cells."""
    shape = tuple(column.size for column in schema)
    places = np.arange(size) if numbers is None else numbers
    codes = np.unravel_index(places, shape)
    return {column.name: _values(part, column) for column, part in zip(schema, codes, strict=True)}


def build_frame(arrays: dict[str, Any], *, backend: Backend | None) -> Any:
    """Return Arrow arrays as a frame: by default of pandas where it is installed, else of pyarrow."""
    chosen: Any = backend
    if backend is None:
        chosen = "pandas" if importlib.util.find_spec("pandas") else "pyarrow"
    return native_frame(arrays, backend=chosen, origin=None)


def cells_frame(
    schema: Schema,
    cells: NDArray[np.int64] | None,
    counts: NDArray[Any],
    *,
    backend: Backend | None,
    hidden: NDArray[np.bool_] | None = None,
    marks: Mapping[str, NDArray[np.bool_]] | None = None,
) -> Any:
    """Return one row per cell, or per listed cell: its values, its count (null where hidden), its marks."""
    _refuse_column_named("count", schema)
    mask = None if hidden is None else hidden.reshape(-1)
    arrays = cell_values(schema, cells, counts.size)
    arrays["count"] = pa.array(counts.reshape(-1), mask=mask)
    arrays |= {name: pa.array(each.reshape(-1)) for name, each in (marks or {}).items()}
    return build_frame(arrays, backend=backend)


def read_cells(frame: Any, schema: Schema, *, count: str) -> CellsRead:
    """Read cells and counts; rows of one cell are added, and missing if all of its counts are."""
    _refuse_column_named(count, schema)
    eager = eager_frame(frame, owner=_OWNER, parameter="frame")
    if count not in eager.columns:
        raise ColumnNotFoundError(count, [str(name) for name in eager.columns], place="in the frame")
    table = _encode_cells(eager, schema)
    values, missing = _read_counts(eager.get_column(count), count)
    if table.kept is not None:
        values, missing = values[table.kept], missing[table.kept]
    shape = tuple(column.size for column in schema)
    numbers = cell_numbers([table[name] for name in schema.names], shape)
    sum_counts(values)  # refuses sums that would wrap
    present = sum_by_cell(numbers[~missing], values[~missing])
    return CellsRead(present, np.setdiff1d(numbers[missing], present.cells))


def cell_labels(column: Column, *, display: bool = False) -> tuple[str, ...]:
    """Return one text for each code as a table holds it; "other" says whether it holds missing ones.

    For display, values that have a label for people are called by it.

    >>> from evenhand.schema import Column, Domain
    >>> sex = Domain.categorical(["f", "m"])
    >>> cell_labels(Column("sex", sex, nulls="other")), cell_labels(Column("sex", sex, outside="other"))
    (('f', 'm', 'not stated'), ('f', 'm', 'other'))
    """
    labels = tuple(column.display_labels if display else column.labels)
    if column.nulls != "other":
        return labels
    return *labels[:-1], unused_label(labels[:-1], _MIXED if column.outside == "other" else _MISSING)


def _values(codes: NDArray[np.int64], column: Column) -> Any:
    if column.domain.kind == "binned" or column.domain.value_type is str:
        return pa.array(cell_labels(column), pa.string()).take(pa.array(codes))
    return decoded(codes, column)  # type: ignore[arg-type]


def _encode_cells(eager: nw.DataFrame[Any], schema: Schema) -> Table:
    """Return the codes of the cells; what stands for "other" gets its code whatever the rules are."""
    for name in schema.names:
        if name not in eager.columns:
            raise ColumnNotFoundError(name, [str(column) for column in eager.columns], place="in the frame")
    read = Schema([_readable(column, eager.get_column(column.name)) for column in schema])
    table = Table.encode(eager.to_native(), read)
    codes = {column.name: np.minimum(table[column.name], column.size - 1) for column in schema}
    return Table(schema, codes, kept=table.kept)


def _readable(column: Column, series: nw.Series[Any]) -> Column:
    """Return the column as :func:`cells_frame` writes it: labels where it holds text, numbers otherwise."""
    nulls = "other" if column.has_other else column.nulls
    text = column.domain.value_type is str or (
        column.domain.kind == "binned" and not series.dtype.is_numeric()
    )
    if not text:
        return Column(column.name, column.domain, outside=column.outside, nulls=nulls)
    labels = (*cell_labels(column), column.labels[-1])  # which the schema calls the code "other"
    domain = Domain.categorical(tuple(dict.fromkeys(labels)))
    return Column(column.name, domain, outside=column.outside, nulls=nulls)


def _read_counts(series: nw.Series[Any], name: str) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return the counts, 0 where there is none, and where that is."""
    if not series.dtype.is_numeric():
        hint = "a cell that is not published has a missing count, not a text or a sign."
        must_be = f"a frame whose column '{name}' holds numbers"
        raise InvalidParameterError("frame", owner=_OWNER, must_be=must_be, got="another type", hint=hint)
    missing = series.is_null().to_numpy().astype(np.bool_)
    values = series.fill_null(0).to_numpy() if missing.any() else series.to_numpy()
    if values.dtype.kind == "f":
        missing = missing | np.isnan(values)
        values = np.where(missing, 0.0, values)
    return whole_or_real(values, parameter=name, owner=_OWNER), missing


def _refuse_column_named(count: str, schema: Schema) -> None:
    if count in schema:
        must_be, got = "a name that no column of the table has", repr(count)
        raise InvalidParameterError("count", owner=_OWNER, must_be=must_be, got=got)
