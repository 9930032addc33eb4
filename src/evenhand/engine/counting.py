"""Reports in files, counted a batch at a time into a sum that can be merged with others."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from evenhand.collect.estimates.aggregate import Aggregate, add_counts
from evenhand.collect.estimates.crossed_reports import count_columns, count_no_reports
from evenhand.collect.estimates.outcome_counts import (
    MOST_GROUPS,
    ColumnCounts,
    CrossedCounts,
    OutcomeCounts,
    count_outcomes,
)
from evenhand.collect.joint.combined import ProductStrategy
from evenhand.collect.joint.independent import Independent, Sampled
from evenhand.collect.joint.strategy import JointReports
from evenhand.collect.protocols.codes import code_type
from evenhand.collect.reports.reports import Reports
from evenhand.engine.outcomes import Outcome
from evenhand.engine.record import Record, digest_in_table, fields_of
from evenhand.engine.text_forms import TextForm
from evenhand.engine.writers import part_names
from evenhand.errors import ColumnNotFoundError, InvalidParameterError, LimitExceededError
from evenhand.privacy.signing.notes import MOST_BYTES
from evenhand.schema import Schema
from evenhand.table.file_format import PLAIN
from evenhand.table.limits import STREAM_LIMITS, Limits
from evenhand.table.read import file_form, open_batches
from evenhand.table.side_files import record_path, schema_path
from evenhand.table.source import blocks, open_source, own_name, refuse
from evenhand.table.workers import map_in_order
from evenhand.table.write import inert_text

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import numpy.typing as npt

    Progress = Callable[[int, float], None]

_OWNER = "estimate_file"
_PIECE_BYTES = 32 << 20
_FEW_ROWS = 64  # a shorter file may be equal to another by chance


class Asked(NamedTuple):
    """What is to be counted of a file, and how it is read."""

    columns: Sequence[str] | None = None
    protected: Sequence[str] | None = None
    by: str | None = None
    positive: str | None = None
    batch_rows: int = 1 << 18
    limits: Limits | None = None
    workers: int = 1


class ReportFile:
    """A file of reports with what stands beside it, checked before a report is counted.

    Parameters
    ----------
    path : str or path
        The file.
    guarantee, schema : str or path, optional
        What stands beside it.

    Attributes
    ----------
    unseen : Outcome or None
        The outcome, if nobody in the file has the value of it that counts.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        guarantee: str | os.PathLike[str] | None = None,
        schema: str | os.PathLike[str] | None = None,
    ) -> None:
        self.path, self.name = path, own_name(path)
        self.record, self._digest = _read_record(path, guarantee)
        if file_form(path, owner=_OWNER) != self.record.form:
            refuse(self.name, "its guarantee speaks of a file of another form.")
        self.schema = _read_schema(self.record, schema_path(path) if schema is None else schema, self.name)
        self.unseen: Outcome | None = None

    def count(self, asked: Asked, progress: Progress | None = None) -> Aggregate:
        """Return the sum of its reports."""
        record, declared = self.record, self.schema
        outcome = None if asked.by is None else Outcome(asked.by, record, declared, asked.positive)
        counters = Counters(record, declared, asked)
        names = counters.names
        reading = open_batches(
            self.path,
            columns=[*counters.parts, *([] if outcome is None else [outcome.written])],
            batch_rows=asked.batch_rows,
            limits=asked.limits or STREAM_LIMITS,
            file_format=PLAIN if record.form == "csv" else None,
            owner=_OWNER,
        )

        def count(batch: pa.RecordBatch) -> Sums:
            return counters.count(batch, None if outcome is None else outcome.read(batch), self.name)

        with reading as batches:
            self._check_metadata()
            followed = _Followed(batches, progress)
            total = counters.nothing
            for more in map_in_order(count, followed, asked.workers):
                total = total.add(more)
        if followed.rows != record.rows:
            refuse(self.name, "it does not have the number of reports that its guarantee speaks of.")
        self.unseen = outcome if outcome is not None and outcome.is_unseen else None
        return Aggregate(
            record.strategy,
            record.rows,
            dict(zip(names, total.columns, strict=True)),
            record.simulated,
            frozenset([_part_of(self.path, record.rows)]),
            outcome=None if outcome is None else outcome.counted_by,
            schema=declared.select(names),
            inferred=tuple(name for name in record.inferred if name in names),
            crossed_outcome=None if total.groups is None else CrossedCounts(counters.protected, total.groups),
        )

    def _check_metadata(self) -> None:
        """Refuse a Parquet file that says it belongs to another guarantee."""
        if self.record.form != "parquet":
            return
        metadata = pq.read_metadata(self.path).metadata or {}
        if metadata.get(b"guarantee_sha256", self._digest.encode()) != self._digest.encode():
            refuse(self.name, "the guarantee beside it is that of another file, or was changed.")


class _Followed:
    """Batches that are counted and told of as they are taken."""

    def __init__(self, batches: Any, progress: Progress | None) -> None:
        self._batches, self._progress = batches, progress
        self.rows = 0

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        for batch in self._batches:
            yield batch
            self.rows += batch.num_rows
            if self._progress is not None:
                self._progress(self.rows, self._batches.share_read)


def _part_of(path: str | os.PathLike[str], rows: int) -> str:
    """Return the name of a file's reports: the hash of its bytes, by which a copy of it is known.

    Two files of a few reports may be equal by chance, so for them the name of the file counts too.
    """
    with open(path, "rb") as file:  # noqa: PTH123 - takes any path
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return digest if rows >= _FEW_ROWS else f"{digest} {own_name(path)}"


def _read_record(path: str | os.PathLike[str], given: str | os.PathLike[str] | None) -> tuple[Record, str]:
    """Return what stands beside the reports, and what a Parquet file of theirs says of it."""
    place = Path(record_path(path) if given is None else given)
    if not Path(path).exists():
        refuse(own_name(path), "there is no such file.")
    if not place.exists():
        hint = "'evenhand privatize' writes it beside the reports; --guarantee names another."
        refuse(own_name(place), f"there is no such file. Hint: {hint}")
    with open_source(place, limits=Limits(bytes=MOST_BYTES), owner=_OWNER) as source:
        text = b"".join(blocks(source, Limits(bytes=MOST_BYTES)))
    fields = fields_of(text, own_name(place))
    return Record.from_fields(fields, own_name(place)), digest_in_table(text, fields)


def _read_schema(record: Record, place: str | os.PathLike[str], name: str) -> Schema:
    """Return the schema if it is the one that the record speaks of."""
    schema = Schema.load(place)
    sizes = record.strategy.sizes
    fits = all(column in schema and schema[column].size == k for column, k in sizes.items())
    fits = fits and record.inferred == tuple(column for column in sizes if schema[column].inferred)
    if not fits or schema.fingerprint != record.schema:
        refuse(name, f"{own_name(place)} is not the schema that its guarantee speaks of.")
    return schema


def _requested_columns(record: Record, columns: Sequence[str] | None) -> tuple[str, ...]:
    known = record.strategy.columns
    asked = known if columns is None else (columns,) if isinstance(columns, str) else tuple(columns)
    for column in asked:
        if column not in known:
            raise ColumnNotFoundError(column, known, place="among those reported")
    return tuple(dict.fromkeys(asked))


def _protected_columns(record: Record, asked: Asked) -> tuple[str, ...]:
    """Return the columns whose groups are compared; empty where none are named, so that all are."""
    if asked.protected is None:
        return ()
    if asked.by is None:
        must_be, hint = "left out, unless 'by' names an outcome", "--by names it."
        raise InvalidParameterError("protected", owner=_OWNER, must_be=must_be, got="given", hint=hint)
    columns = _requested_columns(record, asked.protected)
    if len(columns) > 1 and isinstance(record.strategy, Sampled):
        must_be = "one column, where each person was asked one"
        raise InvalidParameterError("protected", owner=_OWNER, must_be=must_be, got=f"{len(columns)} columns")
    return columns


class Sums(NamedTuple):
    """The counts of each column, and of the combinations of some."""

    columns: list[ColumnCounts]
    groups: OutcomeCounts | None

    def add(self, other: Sums) -> Sums:
        """Return both together."""
        columns = [add_counts(own, more) for own, more in zip(self.columns, other.columns, strict=True)]
        groups = self.groups
        return Sums(columns, groups if groups is None or other.groups is None else groups + other.groups)


class Counters:
    """What counts the columns of a file, and the combinations of those that are crossed.

    Parameters
    ----------
    record : Record
        How the reports were made.
    schema : Schema
        What their values are called.
    asked : Asked
        What is to be counted.
    """

    def __init__(self, record: Record, schema: Schema, asked: Asked) -> None:
        self.protected = _protected_columns(record, asked)
        requested = _requested_columns(record, asked.columns)
        self.names = tuple(dict.fromkeys([*requested, *self.protected]))
        grouped = () if asked.by is None else self.protected or self.names
        self._crossed = CrossedCounter(record, self.protected) if len(self.protected) > 1 else None
        needed = () if self._crossed is None else self._crossed.needs
        self._counters = {
            name: Counter(name, record, schema, outcomes=name in grouped)
            for name in dict.fromkeys([*self.names, *needed])
        }
        size = sum(counter.bytes_per_report for counter in self._counters.values())
        self._step = max(1, _PIECE_BYTES // size)
        groups = None if self._crossed is None else self._crossed.nothing()
        self.nothing = Sums([self._counters[name].nothing() for name in self.names], groups)

    @property
    def parts(self) -> list[str]:
        """The columns of the file that are read."""
        return [part for counter in self._counters.values() for part in counter.parts.values()]

    def count(self, batch: pa.RecordBatch, outcome: npt.NDArray[np.int8] | None, file: str) -> Sums:
        """Count the reports of a batch, or refuse the file if they are none."""
        total = self.nothing
        for start in range(0, batch.num_rows, self._step):
            piece = batch.slice(start, self._step)
            part = None if outcome is None else outcome[start : start + self._step]
            read = {name: counter.read(piece, file) for name, counter in self._counters.items()}
            sums = [self._counters[name].count(*read[name], part) for name in self.names]
            groups = None
            if self._crossed is not None and part is not None:
                groups = self._crossed.count({name: reports for name, (reports, _) in read.items()}, part)
            total = total.add(Sums(sums, groups))
        return total


class Counter:
    """How many reports of a column support each value, in all and, if asked, for each outcome.

    Parameters
    ----------
    name : str
        The column.
    record : Record
        How the reports were made.
    schema : Schema
        What their values are called.
    outcomes : bool
        Whether they are counted by outcome as well.
    """

    def __init__(self, name: str, record: Record, schema: Schema, *, outcomes: bool) -> None:
        self.name = name
        self.protocol = record.strategy.protocols[name]
        self._form = TextForm(schema[name], self.protocol.layout) if record.form == "csv" else None
        self.parts = (
            part_names(name, self.protocol.layout) if self._form is None else {"report": inert_text(name)}
        )
        self._may_be_missing = record.strategy.name == "sampled"
        self._simulated = record.simulated
        self._outcomes = outcomes
        if outcomes and self.protocol.k > MOST_GROUPS:
            raise LimitExceededError(
                f"Rates of the {self.protocol.k:,} groups of column '{name}' need a table of every two of "
                f"them; {MOST_GROUPS:,} groups is the most. Hint: estimate another column, or no outcome.",
                limit="groups",
            )

    @property
    def bytes_per_report(self) -> int:
        """How long a report is, as it stands in the file."""
        form = self.protocol.layout if self._form is None else self._form
        return form.bytes_per_report

    def nothing(self) -> ColumnCounts:
        """Return the counts of no reports."""
        k = self.protocol.k
        both = OutcomeCounts(np.zeros(2, np.int64), np.zeros((2, k, k), np.int64)) if self._outcomes else None
        return ColumnCounts(0, np.zeros(k, np.int64), both)

    def read(self, batch: pa.RecordBatch, file: str) -> tuple[Reports, npt.NDArray[np.bool_] | None]:
        """Return the reports of a batch, and which people were asked; refuse the file if they are none."""
        columns = {part: batch.column(name) for part, name in self.parts.items()}
        asked = None
        if self._may_be_missing:
            valid = [array.is_valid().to_numpy(zero_copy_only=False) for array in columns.values()]
            asked = np.logical_and.reduce(valid)
            columns = {part: array.filter(pa.array(asked)) for part, array in columns.items()}
        try:
            layout = self.protocol.layout
            values = (
                layout.from_columns(columns) if self._form is None else self._form.read(columns["report"])
            )
        except InvalidParameterError as error:
            refuse(file, f"its reports of column '{self.name}' are not {error.must_be}.")
        return Reports._drawn(values, self.protocol, simulated=self._simulated), asked  # noqa: SLF001 - they were checked

    def count(
        self, reports: Reports, asked: npt.NDArray[np.bool_] | None, outcome: npt.NDArray[np.int8] | None
    ) -> ColumnCounts:
        """Count reports; the outcome is that of everybody, also of those who were not asked."""
        both = None
        if self._outcomes and outcome is not None:
            own = outcome if asked is None else outcome[asked]
            known = own >= 0
            both = count_outcomes(own[known].astype(np.uint8), reports[known], self.protocol)
        return ColumnCounts(len(reports), self.protocol.counts(reports), both)


class CrossedCounter:
    """How many reports support each combination of several columns, for each outcome.

    Parameters
    ----------
    record : Record
        How the reports were made.
    columns : tuple of str
        Those that are crossed.
    """

    def __init__(self, record: Record, columns: tuple[str, ...]) -> None:
        made: Any = record.strategy
        self._is_whole = isinstance(made, ProductStrategy)
        self._strategy: Any = (
            made if self._is_whole else Independent({name: made.protocols[name] for name in columns})
        )
        self.columns, self.needs = columns, self._strategy.columns

    def nothing(self) -> OutcomeCounts:
        """Return the counts of no reports."""
        return count_no_reports(self._strategy, self.columns).counts

    def count(self, reports: Mapping[str, Reports], outcome: npt.NDArray[np.int8]) -> OutcomeCounts:
        """Count the reports of all people whose outcome is known."""
        parts = [reports[name] for name in self.needs]
        if self._is_whole:  # a report of the combination, which stands in the file column by column
            whole, shape = self._strategy.product, self._strategy.shape
            codes = np.ravel_multi_index([part.values.astype(np.int64) for part in parts], shape)
            parts = [Reports(codes.astype(code_type(whole.k)), protocol=whole, simulated=parts[0].simulated)]
        known = outcome >= 0
        joint = JointReports(parts, strategy=self._strategy)[known]
        return count_columns(outcome[known].astype(np.uint8), joint, self.columns).counts
