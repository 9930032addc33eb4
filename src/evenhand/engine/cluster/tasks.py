r"""What the workers do: check a partition, draw its reports, gather a part of the output.

Every task may run twice, at the same time too: it writes a hidden file, which then takes its place whole, and
every try writes the same bytes (:mod:`evenhand.engine.report_blocks` says why). What it tells the driver is
one :class:`~evenhand.engine.cluster.notes.Note`.

**The order of the output.** Each row goes to one of :math:`B` parts, drawn uniformly when its report is
drawn, and the rows of a part get a uniform order when it is gathered. All orders of all rows then have the
same probability, as :mod:`evenhand.engine.shuffle` shows. The words for it come from the key of the run.
"""

from __future__ import annotations

import base64
import hashlib
import os
from contextlib import ExitStack
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from evenhand._part_files import open_part, put_in_place
from evenhand.engine.cluster.notes import Note, pack_sample
from evenhand.engine.report_blocks import Reporter, ReportPlan
from evenhand.engine.row_order import RowOrder
from evenhand.engine.shuffle import regroup
from evenhand.engine.writers import ParquetOut
from evenhand.errors import ClusterError, EvenhandError, OtherRowsError
from evenhand.privacy.sampling import permutation, uniform_below
from evenhand.table.read import BATCH_ROWS
from evenhand.table.unique_rows import UniqueRows

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from evenhand._part_files import Part
    from evenhand.privacy.randomness import RunKey

    Batches = Iterable[pa.RecordBatch]

SAMPLED_ROWS = 64
"""Rows of a partition whose columns in the clear are compared with those of other partitions."""

MOST_PARTITION_KEYS = 1 << 13
"""Keys of unique rows that a partition hands to the driver; with more, the share is an estimate."""

_SPILL_BYTES = 32 << 20
_COMPRESSED = pa.ipc.IpcWriteOptions(compression="lz4")


@dataclass(frozen=True)
class Task:
    """A piece of work that a worker does, perhaps twice.

    Parameters
    ----------
    plan : ReportPlan
        What is reported, and how.
    key : RunKey
        The secret of the run.
    folder : str
        The unfinished folder, which all workers see under the same name.
    version : str
        The version of evenhand that the driver has.
    """

    plan: ReportPlan
    key: RunKey = field(repr=False)
    folder: str
    version: str

    def run(self, number: int, batches: Batches | None = None) -> Note:
        """Do the work; an error of ours becomes a note, and no other tells more than its kind."""
        try:
            own = import_module("evenhand").__version__
            if own != self.version:
                raise ClusterError(
                    f"A worker has evenhand {own}, the driver {self.version}: their reports may differ. "
                    "Hint: install the same version everywhere."
                )
            return self._run(number, batches)
        except EvenhandError as error:
            return Note.of_error(number, error)
        except (OSError, ValueError, TypeError, LookupError, MemoryError, RuntimeError) as error:
            raise ClusterError(f"A task failed with {type(error).__name__}.") from None

    def _run(self, number: int, batches: Batches | None) -> Note:
        raise NotImplementedError

    def _path(self, *parts: str) -> Path:
        return Path(self.folder, *parts)


@dataclass(frozen=True)
class CheckTask(Task):
    """Refuse rows that cannot be reported, and write down what the others are; nothing is drawn.

    Parameters
    ----------
    stores : bool
        Whether the rows are kept in the unfinished folder, from which they are then reported.
    measures_order : bool
        Whether to measure which columns in the clear follow the order of the rows.
    """

    stores: bool = False
    measures_order: bool = True

    def _run(self, number: int, batches: Batches | None) -> Note:
        in_clear = list(self.plan.choice.in_clear)
        reporter, order = Reporter(self.plan, self.key, number), RowOrder(in_clear)
        unique = UniqueRows(in_clear, secret=secret_of_links(self.key), most_keys=MOST_PARTITION_KEYS)
        rows, digests, sample = 0, [], ""
        with _InputFile(self, number) as file:
            for block in reporter.blocks(batches or ()):
                reporter.encode(block.rows)
                if self.measures_order and in_clear:
                    clear = block.rows.select(in_clear)
                    order.add(clear)
                    sample = sample or pack_sample(clear.slice(0, SAMPLED_ROWS).take(_first(clear)))
                if in_clear:
                    unique.add(block.rows)
                rows += block.rows.num_rows
                digests.append(block.digest.hex())
                file.write(block.rows)
            file.finish(digests)
        links = base64.b64encode(unique.pack()).decode("ascii") if in_clear else ""
        return Note(number, rows, tuple(digests), order.relations, sample, links)


def secret_of_links(key: RunKey) -> bytes:
    """Return what keys of unique rows are made with in a run."""
    return key.digest("links").digest()


def _first(rows: pa.RecordBatch) -> Any:
    """Return the places of the rows that are sampled; what is taken has memory of its own."""
    return pa.array(np.arange(min(SAMPLED_ROWS, rows.num_rows)))


class _InputFile:
    """The rows of a partition, kept for the task that reports them; named by what they are.

    Two tries with different rows write two files, and the driver knows which of them it was told of.
    """

    def __init__(self, task: CheckTask, number: int) -> None:
        self._task, self._number = task, number
        self._stack = ExitStack()
        self._part: Part | None = None
        self._writer: Any = None

    def write(self, rows: pa.RecordBatch) -> None:
        """Append rows, if they are to be kept."""
        if not self._task.stores:
            return
        if self._part is None:
            target = Path(self._task.folder, "input", f"{self._number}")
            self._part = self._stack.enter_context(open_part(target))
            self._writer = pa.ipc.new_file(self._part.file, rows.schema, options=_COMPRESSED)
        self._writer.write_batch(rows)

    def finish(self, digests: Sequence[str]) -> None:
        """Put the file, if there is one, in its place."""
        if self._part is not None:
            self._writer.close()
            self._part.finish()
            self._part.target = input_path(self._task.folder, self._number, digests)
            self._part.take_place()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.__exit__(*cast("Any", error))


def input_path(folder: str, number: int, digests: Sequence[str]) -> Path:
    """Return where the rows of a partition are kept."""
    name = hashlib.sha256("".join(digests).encode("ascii")).hexdigest()[:32]
    return Path(folder, "input", f"{number}-{name}.arrow")


@dataclass(frozen=True)
class DrawTask(Task):
    """Draw the reports of a partition.

    Parameters
    ----------
    digests : mapping of int to sequence of str
        For each partition that has rows, the digests of its blocks when it was checked.
    rows : mapping of int to int
        How many rows each of them has.
    parts : int
        How many parts the output has; 0 if it keeps the order, with a part for each partition.
    notes : mapping of str to str
        What each file of the output says of itself.
    """

    digests: Mapping[int, Sequence[str]] = field(default_factory=dict)
    rows: Mapping[int, int] = field(default_factory=dict)
    parts: int = 1
    notes: Mapping[str, str] = field(default_factory=dict)

    def _run(self, number: int, batches: Batches | None) -> Note:
        if number not in self.digests:
            if batches is not None and any(batch.num_rows for batch in batches):
                raise OtherRowsError(number)
            return Note(number)
        target = self._path("drawn", f"{number}.arrow") if self.parts else _part_path(self.folder, number)
        if target.exists():  # by an earlier try, which checked the rows
            return Note(number, self.rows[number])
        digests = self.digests[number]
        expected = [bytes.fromhex(digest) for digest in digests]
        reporter = Reporter(self.plan, self.key, number, expected=expected)
        stored = _stored_rows(input_path(self.folder, number, digests)) if batches is None else batches
        with put_in_place(target) as file:
            write = self._write_buckets if self.parts else self._write_part
            rows = write(file, number, reporter, stored)
        return Note(number, rows)

    def _write_part(self, file: Any, number: int, reporter: Reporter, batches: Batches) -> int:  # noqa: ARG002
        """Write the reports in the order of the rows, as a part of the output."""
        with ParquetOut(file, self.plan.output, listed=self.plan.columns.listed) as output:
            rows = 0
            for reports in reporter(batches):
                output.write(reports.columns)
                rows += reports.num_rows
            output.close(self.notes)
        return rows

    def _write_buckets(self, file: Any, number: int, reporter: Reporter, batches: Batches) -> int:
        """Write the reports, those for each part of the output together."""
        rows = size = 0
        waiting: list[pa.RecordBatch] = []
        chosen: list[Any] = []
        with pa.ipc.new_file(file, self.plan.output, options=_COMPRESSED) as writer:
            for block in reporter.blocks(batches):
                reports = reporter.report(block)
                source = self.key.stream("part", number, block.number, block.digest)
                chosen.append(uniform_below(self.parts, size=reports.num_rows, source=source))
                waiting.append(reports)
                rows, size = rows + reports.num_rows, size + reports.nbytes
                if size > _SPILL_BYTES:
                    self._spill(writer, waiting, chosen)
                    waiting, chosen, size = [], [], 0
            if waiting:
                self._spill(writer, waiting, chosen)
        return rows

    def _spill(self, writer: Any, waiting: list[pa.RecordBatch], chosen: list[Any]) -> None:
        """Write one batch for each part of the output; it may be empty."""
        places = np.concatenate(chosen)
        rows = pa.concat_batches(waiting).take(pa.array(np.argsort(places, kind="stable")))
        start = 0
        for size in np.bincount(places, minlength=self.parts).tolist():
            writer.write_batch(rows.slice(start, size))
            start += size


def _stored_rows(path: Path) -> Iterator[pa.RecordBatch]:
    with pa.memory_map(os.fspath(path)) as file:
        stored = pa.ipc.open_file(file)
        for place in range(stored.num_record_batches):
            yield stored.get_batch(place)


def _part_path(folder: str, number: int) -> Path:
    return Path(folder, "parts", part_name(number))


def part_name(number: int) -> str:
    """Return the name of a part of the output.

    >>> part_name(7)
    'part-00007.parquet'
    """
    return f"part-{number:05}.parquet"


@dataclass(frozen=True)
class GatherTask(Task):
    """Bring the rows of one part of the output together, in a uniform order.

    Parameters
    ----------
    partitions : sequence of int
        The partitions that have rows.
    parts : int
        How many parts the output has.
    notes : mapping of str to str
        What each file of the output says of itself.
    """

    partitions: Sequence[int] = ()
    parts: int = 1
    notes: Mapping[str, str] = field(default_factory=dict)

    def _run(self, number: int, batches: Batches | None) -> Note:  # noqa: ARG002 - it reads what was drawn
        target = _part_path(self.folder, number)
        if target.exists():  # by an earlier try
            return Note(number, pq.read_metadata(target).num_rows)
        rows = pa.Table.from_batches(self._drawn(number), self.plan.output).combine_chunks()
        order = pa.array(permutation(rows.num_rows, source=self.key.stream("order", number)))
        with (
            put_in_place(target) as file,
            ParquetOut(file, self.plan.output, listed=self.plan.columns.listed) as output,
        ):
            for group in regroup(rows.take(order).to_batches(), min(BATCH_ROWS, self.plan.columns.most_rows)):
                output.write(group.columns)
            output.close(self.notes)
        return Note(number, rows.num_rows)

    def _drawn(self, number: int) -> Iterator[pa.RecordBatch]:
        """Yield the rows of this part from what was drawn for each partition."""
        for partition in self.partitions:
            path = self._path("drawn", f"{partition}.arrow")
            with pa.memory_map(os.fspath(path)) as file:
                drawn = pa.ipc.open_file(file)
                for place in range(number, drawn.num_record_batches, self.parts):
                    yield drawn.get_batch(place)
