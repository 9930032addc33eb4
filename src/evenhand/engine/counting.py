"""Reports in files, counted a batch at a time into a sum that can be merged with others."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from evenhand.collect.estimates.aggregate import Aggregate, add_counts
from evenhand.collect.estimates.outcome_counts import (
    MOST_GROUPS,
    ColumnCounts,
    CountedBy,
    OutcomeCounts,
    count_outcomes,
)
from evenhand.collect.reports.reports import Reports
from evenhand.engine.record import Record, digest_in_table, fields_of
from evenhand.engine.text_forms import TextForm
from evenhand.engine.writers import as_text, part_names
from evenhand.errors import ColumnNotFoundError, InvalidParameterError, LimitExceededError
from evenhand.privacy.guarantees.units import ROW_ORDER
from evenhand.privacy.signing.notes import MOST_BYTES
from evenhand.schema import Schema
from evenhand.table.csv.cells import converter
from evenhand.table.encode import Table
from evenhand.table.file_format import PLAIN
from evenhand.table.limits import STREAM_LIMITS, Limits
from evenhand.table.read import file_form, open_batches
from evenhand.table.side_files import record_path, schema_path
from evenhand.table.source import blocks, open_source, own_name, refuse
from evenhand.table.workers import map_in_order
from evenhand.table.write import inert_text

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator, Sequence

    import numpy.typing as npt

    Progress = Callable[[int, float], None]

_OWNER = "estimate_file"
_PIECE_BYTES = 32 << 20
_LEFT_OUT = -1  # stands for a row that the schema's rules leave out
_ONES, _ZEROS = ("1", "true", "True", "TRUE"), ("0", "false", "False", "FALSE")
_FEW_ROWS = 64  # a shorter file may be equal to another by chance


class Asked(NamedTuple):
    """What is to be counted of a file, and how it is read."""

    columns: Sequence[str] | None = None
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

    def count(self, asked: Asked, progress: Progress | None = None) -> Aggregate:
        """Return the sum of its reports."""
        record, declared = self.record, self.schema
        outcome = None if asked.by is None else Outcome(asked.by, record, declared, asked.positive)
        names = _requested_columns(record, asked.columns)
        counters = [Counter(name, record, declared, outcomes=asked.by is not None) for name in names]
        needed = [part for counter in counters for part in counter.parts.values()]
        needed += [] if outcome is None else [outcome.written]
        reading = open_batches(
            self.path,
            columns=needed,
            batch_rows=asked.batch_rows,
            limits=asked.limits or STREAM_LIMITS,
            file_format=PLAIN if record.form == "csv" else None,
            owner=_OWNER,
        )

        def count(batch: pa.RecordBatch) -> list[ColumnCounts]:
            values = None if outcome is None else outcome.read(batch)
            return [counter.count(batch, values, self.name) for counter in counters]

        with reading as batches:
            self._check_metadata()
            followed = _Followed(batches, progress)
            totals = [counter.nothing() for counter in counters]
            for more in map_in_order(count, followed, asked.workers):
                totals = [add_counts(own, other) for own, other in zip(totals, more, strict=True)]
        if followed.rows != record.rows:
            refuse(self.name, "it does not have the number of reports that its guarantee speaks of.")
        if outcome is not None:
            outcome.check_seen()
        return Aggregate(
            record.strategy,
            record.rows,
            dict(zip(names, totals, strict=True)),
            record.simulated,
            frozenset([_part_of(self.path, record.rows)]),
            outcome=None if outcome is None else outcome.counted_by,
            schema=declared.select(names),
            inferred=tuple(name for name in record.inferred if name in names),
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

    def count(self, batch: pa.RecordBatch, outcome: npt.NDArray[np.int8] | None, file: str) -> ColumnCounts:
        """Count the reports of a batch, or refuse the file if they are none."""
        size = self.protocol.layout.bytes_per_report if self._form is None else self._form.bytes_per_report
        step = max(1, _PIECE_BYTES // size)
        total = self.nothing()
        for start in range(0, batch.num_rows, step):
            part = None if outcome is None else outcome[start : start + step]
            total = add_counts(total, self._count(batch.slice(start, step), part, file))
        return total

    def nothing(self) -> ColumnCounts:
        """Return the counts of no reports."""
        k = self.protocol.k
        both = OutcomeCounts(np.zeros(2, np.int64), np.zeros((2, k, k), np.int64)) if self._outcomes else None
        return ColumnCounts(0, np.zeros(k, np.int64), both)

    def _count(self, batch: pa.RecordBatch, outcome: npt.NDArray[np.int8] | None, file: str) -> ColumnCounts:
        columns = {part: batch.column(name) for part, name in self.parts.items()}
        if self._may_be_missing:
            valid = [array.is_valid().to_numpy(zero_copy_only=False) for array in columns.values()]
            asked = np.logical_and.reduce(valid)
            columns = {part: array.filter(pa.array(asked)) for part, array in columns.items()}
            outcome = None if outcome is None else outcome[asked]
        try:
            layout = self.protocol.layout
            values = (
                layout.from_columns(columns) if self._form is None else self._form.read(columns["report"])
            )
        except InvalidParameterError as error:
            refuse(file, f"its reports of column '{self.name}' are not {error.must_be}.")
        reports = Reports._drawn(values, self.protocol, simulated=self._simulated)  # noqa: SLF001 - they were checked
        both = None
        if outcome is not None:
            known = outcome >= 0
            both = count_outcomes(outcome[known].astype(np.uint8), reports[known], self.protocol)
        return ColumnCounts(len(reports), self.protocol.counts(reports), both)


class Outcome:
    """A column in the clear and the value of it that counts.

    Parameters
    ----------
    name : str
        The column.
    record : Record
        What says which columns are in the clear.
    schema : Schema
        It may declare the column; then its domain and rules hold.
    positive : str, optional
        The label of the value that counts; by default that of the schema, else 1 or true.
    """

    def __init__(self, name: str, record: Record, schema: Schema, positive: str | None) -> None:
        if name not in record.in_clear:
            known = [column for column in record.in_clear if not column.startswith(ROW_ORDER)]
            raise ColumnNotFoundError(name, known, place="among the columns in the clear")
        self.name = name
        self.written = inert_text(name) if record.form == "csv" else name
        self._is_text = record.form == "csv"
        self._schema = schema.select([name]) if name in schema else None
        if positive is None and schema.target == name and schema.positive is not None:
            positive = str(schema.positive)
        self._positive = positive
        self._seen = False
        self._code = None if self._schema is None else self._positive_code(self._schema)

    def _positive_code(self, schema: Schema) -> int:
        labels, shown = list(schema[self.name].labels), schema[self.name].display_labels
        if self._positive is None:
            positive = [label for label in labels if label in _ONES]
            if len(labels) == 2 and len(positive) == 1:
                return labels.index(positive[0])
            raise self._unclear()
        if self._positive not in labels and self._positive not in shown:
            must_be = f"a value of column '{self.name}': {schema[self.name].describe()}"
            raise InvalidParameterError("positive", owner=_OWNER, must_be=must_be, got=self._positive)
        return (labels if self._positive in labels else shown).index(self._positive)

    @property
    def counted_by(self) -> CountedBy:
        """The column, and the value that counts where it is not 1."""
        return CountedBy(self.name, self._positive)

    def read(self, batch: pa.RecordBatch) -> npt.NDArray[np.int8]:
        """Return 1, 0 or -1, which is left out by the schema's rules, for each row of a batch.

        Raises
        ------
        InvalidParameterError
            If an outcome is missing, or it is not clear which one counts. No value is told.
        OutsideDomainError
            If the schema's rules say so.
        """
        column = batch.column(self.written)
        if self._is_text:
            column = _unescape_formula(column)
        return self._by_schema(column, self._schema) if self._schema is not None else self._by_text(column)

    def _by_schema(self, column: Any, schema: Schema) -> npt.NDArray[np.int8]:
        if self._is_text:
            column = converter(schema[self.name].domain)(column)
        table = Table.encode(pa.table({self.name: column}), schema)
        outcome: npt.NDArray[np.int8] = np.asarray(table[self.name] == self._code, np.int8)
        if table.kept is None:
            return outcome
        out = np.full(len(column), _LEFT_OUT, np.int8)
        out[table.kept] = outcome
        return out

    def _by_text(self, column: Any) -> npt.NDArray[np.int8]:
        cells = _unescape_formula(as_text(column, self.name))
        cells = pc.if_else(pc.equal(cells, ""), None, cells)
        if cells.null_count:
            must_be, got = "an outcome that everybody has", f"column '{self.name}', in which some are missing"
            hint = (
                "declare this column, which is in the clear, with nulls='other' (a missing outcome is then "
                "one that does not count) or nulls='drop' (rates are then of people whose outcome is known) "
                "before the file is privatised; all reports stay in the file."
            )
            raise InvalidParameterError("by", owner=_OWNER, must_be=must_be, got=got, hint=hint)
        if self._positive is not None:
            counts = pc.equal(cells, self._positive)
        else:
            counts, other = (
                pc.is_in(cells, value_set=pa.array(words, cells.type)) for words in (_ONES, _ZEROS)
            )
            if pc.any(pc.invert(pc.or_(counts, other))).as_py():
                raise self._unclear()
        outcome = np.asarray(counts.to_numpy(zero_copy_only=False), np.bool_)
        self._seen = self._seen or bool(outcome.any())
        return outcome.astype(np.int8)

    def check_seen(self) -> None:
        """Refuse a value to count that nobody has, which is a typing mistake unless a schema declares it."""
        if self._schema is None and self._positive is not None and not self._seen:
            must_be = f"a value of column '{self.name}'"
            raise InvalidParameterError("positive", owner=_OWNER, must_be=must_be, got=self._positive)

    def _unclear(self) -> InvalidParameterError:
        return InvalidParameterError(
            "positive",
            owner=_OWNER,
            must_be=f"the value of column '{self.name}' that counts, unless its values are 0 and 1",
            got=None,
            hint="such as positive='yes' (--positive yes).",
        )


def _unescape_formula(cells: Any) -> Any:
    """Take the apostrophe off that keeps spreadsheets from running a text as a formula."""
    return pc.replace_substring_regex(cells, r"^'([=+\-@\t\r])", r"\1")
