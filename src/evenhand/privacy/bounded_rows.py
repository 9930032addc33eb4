"""Rows of persons in bounded memory: of each person at most so many stay, drawn at random.

Every row gets a random word, and of each person the rows with the lowest words stay, as
:func:`~evenhand.privacy.contributions.rows_to_keep` has it. So it does not matter in which order rows come
and in which groups they are looked at, and rows that have lost already need not be kept. Where the rest are
too many for memory, all rows of a person go to one of :data:`BUCKETS` parts of a file, chosen by a hash of
the id whose key nobody knows, and the parts are worked through one after the other. Ids are compared as they
are, never by their hash.
"""

from __future__ import annotations

import tempfile
from typing import TYPE_CHECKING, Any, NoReturn, Self

import numpy as np
import pyarrow as pa

from evenhand.errors import UnwritableFileError
from evenhand.privacy.contributions import lowest_rows
from evenhand.privacy.randomness import SecureSource
from evenhand.table.persons import MOST_KEY_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from evenhand.privacy.randomness import Source

BUCKETS = 64
"""Parts of the file that rows go to when they are too many for memory."""

LEAST_ROWS = 1 << 18
"""Rows that are kept in memory in any case; where more of one person count, twice as many as do."""

_HASHED_AT_ONCE = 1 << 14


class BoundedRows:
    """Values of rows, of which at most `most` of each person come out, see the module.

    The file has no name where the system allows that, may be opened by nobody else, and is gone when the
    process ends in any way. It is in the system's folder for temporary files.

    Parameters
    ----------
    most : int
        How many rows of one person count.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._limit = max(LEAST_ROWS, 2 * most)  # so that the rows of one person always fit
        self._waiting: list[pa.RecordBatch] = []
        self._rows = self._spills = 0
        self._file: Any = None
        self._writer: Any = None
        self._multipliers = SecureSource().words(MOST_KEY_BYTES)

    def add(self, keys: pa.Array, values: NDArray[np.int64], *, source: Source) -> None:
        """Take rows: the key of each one's person, and its value; words come from `source`, in order."""
        columns = [keys, pa.array(source.words(len(keys))), pa.array(values)]
        self._take(pa.RecordBatch.from_arrays(columns, names=["person", "word", "value"]))

    def yield_kept(self) -> Iterator[NDArray[np.int64]]:
        """Yield the values of the rows that stay, some at a time; there are none to add afterwards."""
        if self._rows:
            self._leave_out()
        if self._writer is None:
            if self._rows:
                yield self._waiting[0].column("value").to_numpy()
            return
        self._spill()
        try:
            self._writer.close()
            self._file.seek(0)
            spilled = pa.ipc.open_file(self._file)
            for bucket in range(BUCKETS):
                with BoundedRows(self._most) as part:
                    for spill in range(self._spills):
                        part._take(spilled.get_batch(spill * BUCKETS + bucket))
                    yield from part.yield_kept()
        except (OSError, pa.ArrowException):
            _refuse_file()

    def _take(self, rows: pa.RecordBatch) -> None:
        if not rows.num_rows:
            return
        self._waiting.append(rows)
        self._rows += rows.num_rows
        if self._rows > self._limit:
            self._leave_out()
            if self._writer is not None or self._rows > self._limit // 2:
                self._spill()

    def _leave_out(self) -> None:
        """Keep of the rows that wait those with the lowest words of each person."""
        rows = pa.concat_batches(self._waiting)
        people = rows.column("person").dictionary_encode().indices.to_numpy()
        lowest = lowest_rows(people, rows.column("word").to_numpy(), self._most)
        self._waiting, self._rows = [rows.take(pa.array(lowest))], len(lowest)

    def _spill(self) -> None:
        """Send the rows that wait to their buckets: one batch for each bucket, which may be empty."""
        rows = pa.concat_batches(self._waiting) if self._waiting else None
        self._waiting, self._rows = [], 0
        if rows is None:
            return
        try:
            if self._writer is None:
                self._file = tempfile.TemporaryFile(prefix="evenhand-")  # noqa: SIM115 - closed on leaving
                self._writer = pa.ipc.new_file(self._file, rows.schema)
            buckets = self._hash(rows.column("person"))
            by_bucket = rows.take(pa.array(np.argsort(buckets, kind="stable")))
            start = 0
            for size in np.bincount(buckets, minlength=BUCKETS).tolist():
                self._writer.write_batch(by_bucket.slice(start, size))
                start += size
        except OSError:
            _refuse_file()
        self._spills += 1
        pa.default_memory_pool().release_unused()  # which else grows a little with each spill

    def _hash(self, keys: pa.Array) -> NDArray[np.uint8]:
        """Return a bucket for each key: the highest bits of its bytes times random numbers, added up."""
        buckets = np.empty(len(keys), np.uint8)
        for start in range(0, len(keys), _HASHED_AT_ONCE):
            part = pa.concat_arrays([keys.slice(start, _HASHED_AT_ONCE)])  # so that its text begins at 0
            ends, text = part.buffers()[1:]
            starts = np.frombuffer(ends, np.int32)[: len(part) + 1].astype(np.int64)
            letters = np.frombuffer(text, np.uint8)[: starts[-1]].astype(np.uint64)
            places = np.arange(len(letters)) - np.repeat(starts[:-1], np.diff(starts))
            sums = np.add.reduceat((letters + np.uint64(1)) * self._multipliers[places], starts[:-1])
            buckets[start : start + len(part)] = sums >> np.uint64(58)
        return buckets

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()


def _refuse_file() -> NoReturn:
    """Raise the error of a temporary file that failed; the system's own message may hold its place."""
    why = "The rows of persons were not counted: the folder for temporary files is full or not writable."
    raise UnwritableFileError(f"{why} Hint: name another with the environment variable TMPDIR.") from None
