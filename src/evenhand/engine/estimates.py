"""Shares and rates from a file of reports, counted a batch at a time, beside an outcome in the clear."""

from __future__ import annotations

import hashlib
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from evenhand._validate import one_of
from evenhand.collect.estimates.frequencies import Frequencies
from evenhand.collect.estimates.group_rates import GroupRates
from evenhand.collect.estimates.outcome_counts import (
    MOST_GROUPS,
    OutcomeCounts,
    count_outcomes,
    impossible_groups,
    impossible_groups_text,
)
from evenhand.collect.protocols.channel import SINGULAR, Channel, MatrixChannel
from evenhand.collect.reports.reports import Reports
from evenhand.engine.record import MOST_BYTES, Record
from evenhand.engine.text_forms import TextForm
from evenhand.engine.writers import as_text, part_names
from evenhand.errors import (
    ColumnNotFoundError,
    GuaranteeError,
    IndependenceWarning,
    InvalidParameterError,
    LimitExceededError,
)
from evenhand.measure.intervals import check_level
from evenhand.privacy.guarantees.units import ROW_ORDER
from evenhand.schema import Schema
from evenhand.table.csv.cells import converter
from evenhand.table.encode import Table
from evenhand.table.file_format import PLAIN
from evenhand.table.limits import STREAM_LIMITS, Limits
from evenhand.table.read import BATCH_ROWS, file_form, open_batches
from evenhand.table.side_files import record_path, schema_path
from evenhand.table.source import blocks, open_source, own_name, refuse
from evenhand.table.write import inert_text

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping, Sequence

    import numpy.typing as npt

    Progress = Callable[[int, float], None]

_OWNER = "estimate_file"
_MOST_NAMED = 3
_PIECE_BYTES = 32 << 20
_LEFT_OUT = -1  # stands for a row that the schema's rules leave out
_ONES, _ZEROS = ("1", "true", "True", "TRUE"), ("0", "false", "False", "FALSE")


@dataclass(frozen=True)
class FileEstimates:
    """What a file of reports says about the people in it.

    Parameters
    ----------
    record : Record
        How the reports were made.
    schema : Schema
        What their values are called.
    shares : dict of str to Frequencies
        For each column, the estimated share of people with each value.
    rates : dict of str to GroupRates
        For each column, the outcome's rates in its true groups; empty if no outcome was named.
    outcome : str, optional
        The column of the outcome.
    level : float
        The level of intervals.
    refused : dict of str to str
        For each column whose channel has no inverse, why, in a sentence; it has no shares and no rates.
    """

    record: Record
    schema: Schema
    shares: dict[str, Frequencies]
    rates: dict[str, GroupRates]
    outcome: str | None
    level: float
    refused: dict[str, str] = field(default_factory=dict)

    def labels(self, column: str) -> Sequence[str]:
        """Return what the values of a column are called."""
        return self.schema[column].display_labels

    def table(self) -> pa.Table:
        """Return one row for each column and value: share, standard error, limits, and consistent share."""
        frames = {}
        for name, shares in self.shares.items():
            frame = shares.to_frame(level=self.level, backend="pyarrow")
            consistent = pa.array(np.array(shares.consistent().values))
            frames[name] = frame.append_column("consistent_share", consistent)
        return _stack_frames(frames)

    def rates_table(self) -> pa.Table:
        """Return one row for each column and group: share, rate, gap, their limits, and a note."""
        return _stack_frames(
            {name: rates.to_frame(level=self.level, backend="pyarrow") for name, rates in self.rates.items()}
        )


def _stack_frames(frames: Mapping[str, pa.Table]) -> pa.Table:
    """Return the rows of all columns, with the name of the column first."""
    parts = [
        frame.add_column(0, "column", pa.array([name] * frame.num_rows, pa.string()))
        for name, frame in frames.items()
    ]
    return pa.concat_tables(parts) if parts else pa.table({})


def estimate_file(  # noqa: PLR0913 - one keyword for each choice
    path: str | os.PathLike[str],
    *,
    guarantee: str | os.PathLike[str] | None = None,
    schema: str | os.PathLike[str] | None = None,
    columns: Sequence[str] | None = None,
    by: str | None = None,
    positive: str | None = None,
    privileged: str | None = None,
    level: float = 0.95,
    simulated: Literal["refuse", "allow"] = "refuse",
    batch_rows: int = BATCH_ROWS,
    limits: Limits = STREAM_LIMITS,
    progress: Progress | None = None,
) -> FileEstimates:
    r"""Estimate what share of people has each value, from a file that :func:`privatize_file` wrote.

    The file is read in batches and counted, so memory does not depend on its length. A column whose reports
    cannot be inverted, as those of an optimal channel that leaves no unfairness, has a sentence in
    ``refused`` instead.

    Parameters
    ----------
    path : str or path
        The file of reports.
    guarantee, schema : str or path, optional
        What stands beside it; by default ``<path>.guarantee.json`` and ``<path>.schema.toml``.
    columns : sequence of str, optional
        The columns to estimate; by default all that are reported.
    by : str, optional
        An outcome in the clear: then also its rate in each true group of the columns.
    positive : str, optional
        The outcome that counts, as its label; by default that of the schema, else ``1``.
    privileged : str, optional
        The label of the group that others are compared with; by default that of the schema.
    level : float
        The level of intervals.
    simulated : {"refuse", "allow"}
        Whether reports drawn with a seed are estimated.
    batch_rows, limits, progress
        As for :func:`privatize_file`.

    Returns
    -------
    FileEstimates

    Raises
    ------
    UnreadableFileError
        If a file is missing or damaged, or what stands beside the reports does not fit them.
    GuaranteeError
        If the reports are simulated and that is not allowed.

    Warns
    -----
    IndependenceWarning
        If the outcome cannot be independent of the reports, see :func:`evenhand.collect.group_rates`.
    """
    level = check_level(level, owner=_OWNER)
    name = own_name(path)
    record, digest = _read_record(path, guarantee)
    if one_of("simulated", simulated, ("refuse", "allow"), owner=_OWNER) == "refuse" and record.simulated:
        raise GuaranteeError(
            f"{name} holds simulated reports, which were drawn with a seed: nobody sent them, and no "
            "guarantee holds for them. Hint: allow it with simulated='allow' (--simulated)."
        )
    if file_form(path, owner=_OWNER) != record.form:
        refuse(name, "its guarantee speaks of a file of another form.")
    declared = _read_schema(record, schema_path(path) if schema is None else schema, name)
    outcome = None if by is None else Outcome(by, record, declared, positive)
    counters = [
        Counter(column, record, declared, outcomes=by is not None)
        for column in _requested_columns(record, columns)
    ]
    needed = [part for counter in counters for part in counter.parts.values()]
    needed += [] if outcome is None else [outcome.written]
    written = PLAIN if record.form == "csv" else None
    reading = open_batches(
        path, columns=needed, batch_rows=batch_rows, limits=limits, file_format=written, owner=_OWNER
    )
    with reading as batches:
        _check_metadata(path, record, digest)
        rows = 0
        for batch in batches:
            values = None if outcome is None else outcome.read(batch)
            for counter in counters:
                counter.add(batch, values, name)
            rows += batch.num_rows
            if progress is not None:
                progress(rows, batches.share_read)
    if rows != record.rows:
        refuse(name, "it does not have the number of reports that its guarantee speaks of.")
    refused = {counter.name: why for counter in counters if (why := _refusal_reason(counter, declared))}
    counters = [counter for counter in counters if counter.name not in refused]
    rates = {}
    if outcome is not None:
        outcome.check_seen()
        rates = {counter.name: _rates(counter, declared, privileged, level) for counter in counters}
    shares = {counter.name: counter.shares() for counter in counters}
    return FileEstimates(record, declared, shares, rates, by, level, refused)


def _read_record(path: str | os.PathLike[str], given: str | os.PathLike[str] | None) -> tuple[Record, str]:
    """Return what stands beside the reports, and the SHA-256 of that file."""
    place = Path(record_path(path) if given is None else given)
    if not Path(path).exists():
        refuse(own_name(path), "there is no such file.")
    if not place.exists():
        hint = "'evenhand privatize' writes it beside the reports; --guarantee names another."
        refuse(own_name(place), f"there is no such file. Hint: {hint}")
    with open_source(place, limits=Limits(bytes=MOST_BYTES), owner=_OWNER) as source:
        text = b"".join(blocks(source, Limits(bytes=MOST_BYTES)))
    return Record.from_json(text, own_name(place)), hashlib.sha256(text).hexdigest()


def _read_schema(record: Record, place: str | os.PathLike[str], name: str) -> Schema:
    """Return the schema if it is the one that the record speaks of."""
    schema = Schema.load(place)
    sizes = record.strategy.sizes
    fits = all(column in schema and schema[column].size == k for column, k in sizes.items())
    fits = fits and record.inferred == tuple(column for column in sizes if schema[column].inferred)
    if not fits or schema.fingerprint != record.schema:
        refuse(name, f"{own_name(place)} is not the schema that its guarantee speaks of.")
    return schema


def _check_metadata(path: str | os.PathLike[str], record: Record, digest: str) -> None:
    """Refuse a Parquet file that says it belongs to another guarantee."""
    if record.form != "parquet":
        return
    metadata = pq.read_metadata(path).metadata or {}
    if metadata.get(b"guarantee_sha256", digest.encode()) != digest.encode():
        refuse(own_name(path), "the guarantee beside it is that of another file, or was changed.")


def _requested_columns(record: Record, columns: Sequence[str] | None) -> tuple[str, ...]:
    known = record.strategy.columns
    asked = known if columns is None else (columns,) if isinstance(columns, str) else tuple(columns)
    for column in asked:
        if column not in known:
            raise ColumnNotFoundError(column, known, place="among those reported")
    return tuple(dict.fromkeys(asked))


def _refusal_reason(counter: Counter, schema: Schema) -> str:
    """Return why the channel of a column has no inverse; empty if it has one."""
    channel = counter.protocol.channel
    if not isinstance(channel, MatrixChannel) or channel.condition < SINGULAR:
        return ""
    title = counter.protocol.title
    if not channel.alike:
        return (
            f"There is no estimate: reports by {title} tell too little here for the shares to be estimated."
        )
    names = [schema[counter.name].display_labels[code] for code in channel.alike[0][:_MOST_NAMED]]
    more = "" if len(channel.alike[0]) <= _MOST_NAMED else ", among others,"
    return (
        f"There is no estimate: by {title}, people with the values {' and '.join(names)}{more} send the same "
        "reports here, so nobody can tell how many there are of each."
    )


def _rates(counter: Counter, schema: Schema, privileged: str | None, level: float) -> GroupRates:
    """Return the rates of the true groups, and warn where no true groups could have made the counts."""
    column = schema[counter.name]
    labels = tuple(column.display_labels)
    if privileged is None and schema.protected == counter.name and schema.privileged is not None:
        privileged = schema.privileged_label
    if privileged in column.labels:  # the value as it is written, or what people read for it
        privileged = labels[column.labels.index(privileged)]
    if privileged is not None and privileged not in labels:
        must_be = f"a value of column '{counter.name}'"
        raise InvalidParameterError("privileged", owner=_OWNER, must_be=must_be, got=privileged)
    counts, channel = counter.outcome_counts(), Channel.of(counter.protocol, owner=_OWNER)
    if (impossible := impossible_groups(counts, channel)).size:
        warnings.warn(impossible_groups_text(labels, impossible), IndependenceWarning, stacklevel=3)
    return GroupRates(counts, channel, labels, privileged, level, counter.protocol)


# --- counting -------------------------------------------------------------------------------------------


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
        self._column = schema[name]
        self.protocol = record.strategy.protocols[name]
        self._form = TextForm(schema[name], self.protocol.layout) if record.form == "csv" else None
        self.parts = (
            part_names(name, self.protocol.layout) if self._form is None else {"report": inert_text(name)}
        )
        self._may_be_missing = record.strategy.name == "sampled"
        self._simulated = record.simulated
        self._counts: npt.NDArray[np.int64] = np.zeros(self.protocol.k, np.int64)
        self._n = 0
        self._by_outcome: OutcomeCounts | None = None
        if outcomes:
            k = self.protocol.k
            if k > MOST_GROUPS:
                raise LimitExceededError(
                    f"Rates of the {k:,} groups of column '{name}' need a table of every two of them; "
                    f"{MOST_GROUPS:,} groups is the most. Hint: estimate another column, or no outcome.",
                    limit="groups",
                )
            self._by_outcome = OutcomeCounts(np.zeros(2, np.int64), np.zeros((2, k, k), np.int64))

    def add(self, batch: pa.RecordBatch, outcome: npt.NDArray[np.int8] | None, file: str) -> None:
        """Count the reports of a batch, or refuse the file if they are none."""
        size = self.protocol.layout.bytes_per_report if self._form is None else self._form.bytes_per_report
        step = max(1, _PIECE_BYTES // size)
        for start in range(0, batch.num_rows, step):
            part = None if outcome is None else outcome[start : start + step]
            self._add(batch.slice(start, step), part, file)

    def _add(self, batch: pa.RecordBatch, outcome: npt.NDArray[np.int8] | None, file: str) -> None:
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
        self._counts += self.protocol.counts(reports)
        self._n += len(reports)
        if outcome is not None and self._by_outcome is not None:
            known = outcome >= 0
            more = count_outcomes(outcome[known].astype(np.uint8), reports[known], self.protocol)
            before = self._by_outcome
            self._by_outcome = OutcomeCounts(before.people + more.people, before.together + more.together)

    def shares(self) -> Frequencies:
        """Return the estimated share of people with each value."""
        counts = self._counts.copy()
        return Frequencies(counts, n=self._n, protocol=self.protocol, labels=self._column.display_labels)

    def outcome_counts(self) -> OutcomeCounts:
        """Return the counts by outcome."""
        if self._by_outcome is None:
            raise InvalidParameterError("outcomes", owner="Counter", must_be="asked for", got=False)
        return self._by_outcome


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
