"""Shares and rates from a file of reports, counted a batch at a time."""

from __future__ import annotations

import hashlib
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from evenhand._validate import one_of
from evenhand.collect.estimates.group_rates import GroupRates
from evenhand.collect.estimates.outcome_counts import impossible_groups, impossible_groups_text
from evenhand.collect.protocols.channel import SINGULAR, Channel, MatrixChannel
from evenhand.engine.counters import Counter, Outcome
from evenhand.engine.record import MOST_BYTES, Record
from evenhand.errors import ColumnNotFoundError, GuaranteeError, IndependenceWarning, InvalidParameterError
from evenhand.measure.intervals import check_level
from evenhand.schema import Schema
from evenhand.table.limits import STREAM_LIMITS, Limits
from evenhand.table.read import BATCH_ROWS, file_form, open_batches
from evenhand.table.side_files import record_path, schema_path
from evenhand.table.source import blocks, open_source, own_name, refuse

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence

    from evenhand.collect.estimates.frequencies import Frequencies

    Progress = Callable[[int, float], None]

__all__ = ["FileEstimates", "estimate_file"]

_OWNER = "estimate_file"
_MOST_NAMED = 3


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
        For each column, the outcome's rates in its true groups; nothing if no outcome was named.
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
        return self.schema[column].labels

    def table(self) -> pa.Table:
        """Return one row for each column and value: share, standard error, limits, and consistent share."""
        parts = []
        for name, shares in self.shares.items():
            frame = shares.to_frame(
                [str(label) for label in self.labels(name)], level=self.level, backend="pyarrow"
            )
            consistent = pa.array(np.array(shares.consistent().values))
            named = frame.add_column(0, "column", pa.array([name] * frame.num_rows, pa.string()))
            parts.append(named.append_column("consistent_share", consistent))
        return pa.concat_tables(parts) if parts else pa.table({})

    def rates_table(self) -> pa.Table:
        """Return one row for each column and group: share, rate, gap, their limits, and a note."""
        parts = []
        for name, rates in self.rates.items():
            frame = rates.to_frame(level=self.level, backend="pyarrow")
            parts.append(frame.add_column(0, "column", pa.array([name] * frame.num_rows, pa.string())))
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
    reading = open_batches(path, columns=needed, batch_rows=batch_rows, limits=limits, owner=_OWNER)
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
    names = [str(schema[counter.name].labels[code]) for code in channel.alike[0][:_MOST_NAMED]]
    more = "" if len(channel.alike[0]) <= _MOST_NAMED else ", among others,"
    return (
        f"There is no estimate: by {title}, people with the values {' and '.join(names)}{more} send the same "
        "reports here, so nobody can tell how many there are of each."
    )


def _rates(counter: Counter, schema: Schema, privileged: str | None, level: float) -> GroupRates:
    """Return the rates of the true groups, and warn where no true groups could have made the counts."""
    labels = tuple(str(label) for label in schema[counter.name].labels)
    if privileged is None and schema.protected == counter.name and schema.privileged is not None:
        privileged = str(schema.privileged)
    if privileged is not None and privileged not in labels:
        must_be = f"a value of column '{counter.name}'"
        raise InvalidParameterError("privileged", owner=_OWNER, must_be=must_be, got=privileged)
    counts, channel = counter.outcome_counts(), Channel.of(counter.protocol, owner=_OWNER)
    if (impossible := impossible_groups(counts, channel)).size:
        warnings.warn(impossible_groups_text(labels, impossible), IndependenceWarning, stacklevel=3)
    return GroupRates(counts, channel, labels, privileged, level, counter.protocol)
