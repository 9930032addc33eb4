"""People in files counted into cells: a file, a folder or a pattern of any length, in bounded memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from evenhand.privacy.contributions import bound_rows
from evenhand.release.table.counting import MOST_CELLS, Cells, cell_numbers, count_rows, sum_by_cell
from evenhand.table.encode import Table
from evenhand.table.limits import STREAM_LIMITS, own_file_limits
from evenhand.table.parts import find_parts
from evenhand.table.read import ENDINGS, open_batches, read
from evenhand.table.workers import count_workers, map_in_order

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

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

    Files are read in batches, unless rows have weights or belong to persons: the rows of one person may be
    anywhere, so then the columns that are needed are read whole.
    """
    if schema.person is not None or schema.weight is not None:
        limits = own_file_limits()
        files = find_parts(path, endings=ENDINGS).files
        frames = [read(file, schema=schema, limits=limits, file_format=file_format) for file in files]
        rows = bound_rows(pa.concat_tables(frames), schema, source=source, owner=_OWNER)
        return count_rows(Table.encode(rows, schema), shape, size)

    def number_rows(batch: pa.RecordBatch) -> Cells:
        table = Table.encode(batch, schema)
        numbers = cell_numbers([table[name] for name in schema.names], shape)
        if size <= len(numbers):
            return Cells(np.arange(size), np.bincount(numbers, minlength=size))
        cells, filled = np.unique(numbers, return_counts=True)
        return Cells(cells, filled.astype(np.int64))

    options: Any = {"schema": schema, "columns": schema.names, "limits": STREAM_LIMITS, "owner": _OWNER}
    with open_batches(path, file_format=file_format, **options) as batches:
        counted = map_in_order(number_rows, batches, count_workers(None, owner=_OWNER))
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
