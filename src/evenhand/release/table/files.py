"""People in files counted into cells: a file, a folder or a pattern of any length, in bounded memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow.compute as pc

from evenhand._validate import refuse
from evenhand.privacy.bounded_rows import BoundedRows
from evenhand.privacy.contributions import bound_rows
from evenhand.release.table.counting import MOST_CELLS, Cells, cell_numbers, count_rows, sum_by_cell
from evenhand.table.csv.lines import BROKEN_CELL
from evenhand.table.encode import Table
from evenhand.table.limits import STREAM_LIMITS, own_file_limits
from evenhand.table.persons import person_keys, read_keys
from evenhand.table.read import open_batches
from evenhand.table.sample import read_or_sample
from evenhand.table.workers import count_workers, map_in_order

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from evenhand.privacy.randomness import Source
    from evenhand.schema import Schema
    from evenhand.table import FileFormat

_OWNER = "Histogram.count"


def count_file(
    path: str | os.PathLike[str],
    schema: Schema,
    shape: Sequence[int],
    size: int,
    *,
    source: Source,
    file_format: FileFormat | None = None,
) -> NDArray[np.int64] | Cells:
    """Return how many rows of files are in each cell, as :func:`count_rows` does of a table.

    Files are read in batches. The rows of one person may be anywhere, so which of them count is known at the
    end; until then the cell of each row and its person wait, see :mod:`evenhand.privacy.bounded_rows`. Only
    where rows have weights the columns that are needed are read whole: their sum depends on the order.
    Where broken rows are read, a row whose person cannot be read is left out: it might be anybody's.
    """
    with_broken = file_format is not None and file_format.broken_rows is not None
    if with_broken:
        _refuse_errors(schema)
    options: Any = {"schema": schema, "file_format": file_format}
    if schema.weight is not None:
        whole = read_or_sample(path, rows=None, source=None, limits=own_file_limits(), **options)
        rows = bound_rows(whole.frame, schema, source=source, owner=_OWNER)
        return count_rows(Table.encode(rows, schema), shape, size)
    options |= {"columns": [*schema.names, *schema.beside], "owner": _OWNER}

    def number_rows(batch: pa.RecordBatch) -> tuple[Any, NDArray[np.int64]]:
        table = Table.encode(batch, schema)
        numbers = cell_numbers([table[name] for name in schema.names], shape)
        if schema.person is None:
            return None, numbers
        every = np.full(batch.num_rows, -1)  # a row that a rule leaves out is one of its person's rows
        every[slice(None) if table.kept is None else table.kept] = numbers
        if not with_broken:
            return read_keys(batch.column(schema.person), schema.person), every
        keys = person_keys(batch.column(schema.person))
        is_person = pc.fill_null(pc.not_equal(keys, BROKEN_CELL), fill_value=False)
        return keys.filter(is_person), every[is_person.to_numpy(zero_copy_only=False)]

    with open_batches(path, limits=STREAM_LIMITS, **options) as batches:
        numbered = map_in_order(number_rows, batches, count_workers(None, owner=_OWNER))
        if schema.person is None:
            return _add_up((numbers for _, numbers in numbered), shape, size)
        with BoundedRows(schema.rows_per_person or 1) as bounded:
            for keys, numbers in numbered:
                bounded.add(keys, numbers, source=source)
            return _add_up((numbers[numbers >= 0] for numbers in bounded.yield_kept()), shape, size)


def _refuse_errors(schema: Schema) -> None:
    """Refuse columns whose rule is an error, where broken rows are to follow the rules."""
    for column in schema:
        if column.outside == "error":
            must_be = (
                f"one without broken_rows, since column '{column.name}' refuses values outside its domain"
            )
            hint = 'declare outside="other" or "drop" for every column that is counted.'
            refuse("file_format", _OWNER, must_be, "broken_rows='other'", hint=hint)


def _add_up(
    numbered: Iterable[NDArray[np.int64]], shape: Sequence[int], size: int
) -> NDArray[np.int64] | Cells:
    """Return how often each cell is named: of all cells up to `MOST_CELLS`, else of the filled ones."""

    def count_numbers(numbers: NDArray[np.int64]) -> Cells:
        if size <= len(numbers):
            return Cells(np.arange(size), np.bincount(numbers, minlength=size))
        cells, filled = np.unique(numbers, return_counts=True)
        return Cells(cells, filled.astype(np.int64))

    counted = map(count_numbers, numbered)
    if size > MOST_CELLS:
        return _add_sparse(counted)
    total = np.zeros(size, np.int64)
    for part in counted:
        total[part.cells] += part.filled
    total.flags.writeable = False  # nobody else has it, so it need not be copied
    return total.reshape(tuple(shape))


def _add_sparse(counted: Any) -> Cells:
    """Add up filled cells, merging two lists of them where they are about as long."""
    waiting: list[Cells] = []
    for part in counted:
        waiting.append(part)
        while len(waiting) > 1 and len(waiting[-1].cells) * 2 >= len(waiting[-2].cells):
            waiting.append(_merge(waiting.pop(), waiting.pop()))
    total = Cells(np.zeros(0, np.int64), np.zeros(0, np.int64))
    while waiting:
        total = _merge(total, waiting.pop())
    return total


def _merge(first: Cells, second: Cells) -> Cells:
    cells, filled = (np.concatenate(pair) for pair in zip(first, second, strict=True))
    return sum_by_cell(cells, filled)
