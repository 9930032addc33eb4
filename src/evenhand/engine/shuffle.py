r"""One uniform order of all rows of a file, in bounded memory.

Rows are kept in memory while they are few. From then on each row goes to one of :math:`B` buckets in a file
that nobody else can open; at the end the buckets are taken one after the other, and each is shuffled on its
own.

**The law.** Each row's bucket is drawn on its own, uniformly. Let :math:`\pi` be an order of :math:`n` rows.
The result is :math:`\pi` exactly if, for some sizes :math:`n_1 + \dots + n_B = n`, the first :math:`n_1` rows
of :math:`\pi` are the ones that went to the first bucket, and so on, and each bucket came out in the order
that :math:`\pi` says:

.. math:: \Pr[\pi] = \sum_{n_1 + \dots + n_B = n} B^{-n} \prod_b \frac{1}{n_b!},

which is the same number for each :math:`\pi`, so it is :math:`1 / n!`. Nothing here depends on what is in the
rows, on the size of batches or on :math:`B`; a bucket that is itself shuffled through buckets has a uniform
order for the same reason.
"""

from __future__ import annotations

import tempfile
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pyarrow as pa

from evenhand.privacy.sampling import permutation, uniform_below

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from evenhand.privacy.randomness import Source

BUCKETS = 64
"""Buckets that rows go to when they are too many for memory; at most 256."""

ENDING = ".evenhand.part"  # what a sweep of the folder removes, if the system has no files without a name

MOST_ROWS = 1 << 19
MOST_BYTES = 16 << 20
"""Rows, and bytes of them, that are kept in memory."""

GROUP_BYTES = 32 << 20
"""About how many bytes of rows are written at a time, at most."""


class Shuffle:
    """Rows that come out in a uniform order, see the module.

    The file of buckets stands in the folder of the target, has no name there where the system allows that,
    may be opened by nobody else, and is gone when the process ends in any way.

    Parameters
    ----------
    target : path
        The file that the rows are written to in the end.
    source : Source
        Where the randomness comes from.
    """

    def __init__(self, target: Path, source: Source) -> None:
        self._target, self._source = target, source
        self._waiting: list[pa.RecordBatch] = []
        self._rows = self._bytes = self._spills = 0
        self._file: Any = None
        self._writer: Any = None

    def add(self, rows: pa.RecordBatch) -> None:
        """Take some rows, all of one schema without lists of values (dictionaries)."""
        if not rows.num_rows:
            return
        self._waiting.append(rows)
        self._rows += rows.num_rows
        self._bytes += rows.nbytes
        is_alone = self._rows == 1  # such a row is shuffled already, however long it is
        if not is_alone and (self._rows > MOST_ROWS or self._bytes > MOST_BYTES):
            self._spill()

    def shuffled(self) -> Iterator[pa.RecordBatch]:
        """Yield all rows in a uniform order, some at a time; there are none to add afterwards."""
        if self._writer is None:
            if self._rows:
                rows = self._take_waiting()
                yield rows.take(pa.array(permutation(rows.num_rows, source=self._source)))
            return
        if self._rows:
            self._spill()
        self._writer.close()
        self._file.seek(0)
        spilled = pa.ipc.open_file(self._file)
        for bucket in range(BUCKETS):
            with Shuffle(self._target, self._source) as part:
                for spill in range(self._spills):
                    part.add(spilled.get_batch(spill * BUCKETS + bucket))
                yield from part.shuffled()

    def _take_waiting(self) -> pa.RecordBatch:
        joined = pa.concat_batches(self._waiting) if len(self._waiting) > 1 else self._waiting[0]
        self._waiting, self._rows, self._bytes = [], 0, 0
        return joined

    def _spill(self) -> None:
        """Send the rows that wait to their buckets: one batch for each bucket, which may be empty."""
        rows = self._take_waiting()
        if self._writer is None:
            self._file = tempfile.TemporaryFile(  # noqa: SIM115 - closed on leaving
                dir=self._target.parent, prefix=f".{self._target.name}.", suffix=ENDING
            )
            self._writer = pa.ipc.new_file(self._file, rows.schema)
        chosen = uniform_below(BUCKETS, size=rows.num_rows, source=self._source).astype(np.uint8)
        sizes = np.bincount(chosen, minlength=BUCKETS)
        by_bucket = rows.take(pa.array(np.argsort(chosen, kind="stable")))
        start = 0
        for size in sizes.tolist():
            self._writer.write_batch(by_bucket.slice(start, size))
            start += size
        self._spills += 1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()


def regroup(batches: Iterable[pa.RecordBatch], most_rows: int) -> Iterator[pa.RecordBatch]:
    """Yield the same rows in batches of `most_rows`, but for the last, or fewer where rows are long."""
    waiting: list[pa.RecordBatch] = []
    rows = size = 0
    for batch in batches:
        start = 0
        while start < batch.num_rows:
            piece = batch.slice(start, most_rows - rows)
            waiting.append(piece)
            rows, size, start = rows + piece.num_rows, size + piece.nbytes, start + piece.num_rows
            if rows == most_rows or size > GROUP_BYTES:
                yield pa.concat_batches(waiting)
                waiting, rows, size = [], 0, 0
    if waiting:
        yield pa.concat_batches(waiting)
