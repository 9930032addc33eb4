"""Shares and rates from files of reports and from saved sums of them, beside an outcome in the clear."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa

from evenhand._validate import one_of
from evenhand.collect.estimates.aggregate import Aggregate
from evenhand.collect.estimates.aggregate_files import holds_aggregate
from evenhand.collect.estimates.frequencies import Frequencies
from evenhand.collect.estimates.group_rates import GroupRates
from evenhand.collect.estimates.outcome_counts import warn_of_impossible_groups
from evenhand.collect.protocols.base import Protocol
from evenhand.collect.protocols.channel import SINGULAR, Channel, MatrixChannel
from evenhand.engine.counting import Asked, ReportFile
from evenhand.errors import (
    ColumnNotFoundError,
    GuaranteeError,
    InvalidParameterError,
)
from evenhand.measure.intervals import check_level
from evenhand.schema.crossing import BETWEEN_COLUMNS
from evenhand.table.limits import STREAM_LIMITS
from evenhand.table.parts import find_parts
from evenhand.table.read import BATCH_ROWS, WRITTEN_ENDINGS
from evenhand.table.source import own_name, refuse
from evenhand.table.workers import count_workers, map_in_order

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping, Sequence

    from evenhand.collect.estimates.outcome_counts import CrossedCounts
    from evenhand.engine.outcomes import Outcome
    from evenhand.engine.record import Record
    from evenhand.schema import Schema
    from evenhand.table.limits import Limits
    from evenhand.table.parts import Parts

    Progress = Callable[[int, float], None]

_OWNER = "estimate_file"
_MOST_NAMED = 3
_ENDINGS = (*WRITTEN_ENDINGS, ".json")
_BESIDE = (".guarantee.json",)


@dataclass(frozen=True)
class FileEstimates:
    """What files of reports, or saved sums of them, say about the people in them.

    Parameters
    ----------
    aggregate : Aggregate
        The sum of all reports.
    record : Record, optional
        How the reports of the first file were made, with the number of all rows; None for saved sums.
    schema : Schema, optional
        What their values are called.
    shares : dict of str to Frequencies
        For each column, the estimated share of people with each value.
    rates : dict of str to GroupRates
        For each column, the outcome's rates in its true groups, and last those of crossed columns by what
        they are called together, such as ``"sex × race"``; empty if no outcome was named.
    outcome : str, optional
        The column of the outcome.
    level : float
        The level of intervals.
    refused : dict of str to str
        For each column whose channel has no inverse, why, in a sentence; it has no shares and no rates.
    """

    aggregate: Aggregate
    record: Record | None
    schema: Schema | None
    shares: dict[str, Frequencies]
    rates: dict[str, GroupRates]
    outcome: str | None
    level: float
    refused: dict[str, str] = field(default_factory=dict)

    def labels(self, column: str) -> Sequence[str]:
        """Return what the values of a column are called."""
        if self.schema is None or column not in self.schema:
            return [str(code) for code in range(len(self.shares[column]))]
        return self.schema[column].display_labels

    @property
    def rows(self) -> int:
        """How many people reported."""
        return self.aggregate.people

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


@dataclass(frozen=True)
class Counted:
    """The sum of some files, with the first of them; `unseen` is the outcome that nobody in them has."""

    aggregate: Aggregate
    first: ReportFile | None = None
    unseen: Outcome | None = None


def estimate_file(  # noqa: PLR0913 - one keyword for each choice
    path: str | os.PathLike[str],
    *,
    guarantee: str | os.PathLike[str] | None = None,
    schema: str | os.PathLike[str] | None = None,
    columns: Sequence[str] | None = None,
    by: str | None = None,
    positive: str | None = None,
    protected: str | Sequence[str] | None = None,
    privileged: str | Sequence[str] | None = None,
    level: float = 0.95,
    simulated: Literal["refuse", "allow"] = "refuse",
    batch_rows: int = BATCH_ROWS,
    limits: Limits = STREAM_LIMITS,
    progress: Progress | None = None,
    workers: int | None = None,
) -> FileEstimates:
    r"""Estimate what share of people has each value, from files that :func:`privatize_file` wrote.

    Files are read in batches and counted, so memory does not depend on their length. A column whose reports
    cannot be inverted, as those of an optimal channel that leaves no unfairness, has a sentence in
    ``refused`` instead.

    Parameters
    ----------
    path : str or path
        A file of reports; a sum that :meth:`evenhand.collect.Aggregate.save` wrote; or a folder, or a pattern
        such as ``"reports/*.parquet"``, of either. Each file of reports has its guarantee and schema beside
        it, and all must be made alike.
    guarantee, schema : str or path, optional
        What stands beside a single file; by default ``<path>.guarantee.json`` and ``<path>.schema.toml``.
    columns : sequence of str, optional
        The columns to estimate; by default all that are reported.
    by : str, optional
        An outcome in the clear: then also its rate in each true group of the columns.
    protected : str or sequence of str, optional
        The column whose groups have rates, or several that are crossed: then the rates of each combination
        too, from one report of the combination or one of each column. By default each column by itself.
    positive : str, optional
        The outcome that counts, as its label; by default that of the schema, else ``1``.
    privileged : str, optional
        The label of the group that others are compared with; where columns are crossed, a label of each. By
        default that of the schema.
    level : float
        The level of intervals.
    simulated : {"refuse", "allow"}
        Whether reports drawn with a seed are estimated.
    batch_rows, limits, progress, workers
        As for :func:`privatize_file`.

    Returns
    -------
    FileEstimates

    Raises
    ------
    UnreadableFileError
        If a file is missing or damaged, if what stands beside the reports does not fit them, or if files do
        not belong together: other protocols or values, or the same reports twice.
    GuaranteeError
        If the reports are simulated and that is not allowed.

    Warns
    -----
    IndependenceWarning
        If the outcome cannot be independent of the reports, see :func:`evenhand.collect.group_rates`.
    """
    level = check_level(level, owner=_OWNER)
    one_of("simulated", simulated, ("refuse", "allow"), owner=_OWNER)
    asked = Asked(columns, protected, by, positive, batch_rows, limits, count_workers(workers, owner=_OWNER))
    counted = _count_all(path, guarantee, schema, asked, progress, simulated)
    return _estimate(counted, privileged=privileged, level=level)


def count_file(
    path: str | os.PathLike[str],
    *,
    columns: Sequence[str] | None = None,
    by: str | None = None,
    positive: str | None = None,
    protected: str | Sequence[str] | None = None,
    simulated: Literal["refuse", "allow"] = "refuse",
    batch_rows: int = BATCH_ROWS,
    limits: Limits = STREAM_LIMITS,
    progress: Progress | None = None,
    workers: int | None = None,
) -> Aggregate:
    """Return the sum of the reports in files, to be saved and merged with others.

    The parameters are those of :func:`estimate_file`.
    """
    one_of("simulated", simulated, ("refuse", "allow"), owner="count_file")
    count = count_workers(workers, owner="count_file")
    asked = Asked(columns, protected, by, positive, batch_rows, limits, count)
    return _count_all(path, None, None, asked, progress, simulated).aggregate


def _count_all(
    path: str | os.PathLike[str],
    guarantee: Any,
    schema: Any,
    asked: Asked,
    progress: Progress | None,
    simulated: str,
) -> Counted:
    """Count one file, or several and merge them; refuse an outcome to count that nobody has."""
    parts = find_parts(path, endings=_ENDINGS)
    if parts.is_alone:
        total = _count_part(path, guarantee, schema, asked, progress, simulated)
    else:
        total = _count_parts(parts, guarantee, schema, asked, progress, simulated)
    if total.unseen is not None:
        total.unseen.refuse_unseen()
    return total


def _count_parts(
    parts: Parts, guarantee: Any, schema: Any, asked: Asked, progress: Progress | None, simulated: str
) -> Counted:
    if guarantee is not None or schema is not None:
        must_be, got = "left out where several files are read", "a file"
        raise InvalidParameterError("guarantee", owner=_OWNER, must_be=must_be, got=got)
    files = [file for file in parts.files if not file.name.endswith(_BESIDE)]
    if not files:
        refuse(parts.name, "no file of it has reports.")
    many = len(files) >= asked.workers
    per_file = asked._replace(workers=1 if many else asked.workers)

    def count(file: Any) -> Counted:
        return _count_part(file, None, None, per_file, None, simulated)

    counted = zip(files, map_in_order(count, files, asked.workers if many else 1), strict=True)
    _, total = next(counted)
    for place, (file, more) in enumerate(counted, 2):
        total = _merge(total, more, own_name(file))
        if progress is not None:
            progress(total.aggregate.people, place / len(files))
    return total


def _count_part(
    path: Any, guarantee: Any, schema: Any, asked: Asked, progress: Progress | None, simulated: str
) -> Counted:
    if holds_aggregate(path):
        total = _select(Aggregate.load(path), asked, own_name(path))
        _refuse_simulated(own_name(path), simulated, is_simulated=total.simulated)
        return Counted(total)
    file = ReportFile(path, guarantee, schema)
    _refuse_simulated(file.name, simulated, is_simulated=file.record.simulated)
    return Counted(file.count(asked, progress), file, file.unseen)


def _refuse_simulated(name: str, simulated: str, *, is_simulated: bool) -> None:
    if simulated == "refuse" and is_simulated:
        raise GuaranteeError(
            f"{name} holds simulated reports, which were drawn with a seed: nobody sent them, and no "
            "guarantee holds for them. Hint: allow it with simulated='allow' (--simulated)."
        )


def _select(total: Aggregate, asked: Asked, name: str) -> Aggregate:
    """Return what was asked for of a saved sum, or refuse it if it was not counted."""
    counted = total.outcome
    if asked.by is not None and (counted is None or counted.column != asked.by):
        refuse(name, "its reports were not counted by this outcome. Hint: count them again with --by.")
    if asked.positive is not None and (counted is None or counted.positive != asked.positive):
        refuse(name, "its reports were counted by another value of the outcome.")
    if asked.protected is not None:
        total = _select_groups(total, _as_names(asked.protected), name)
    if asked.columns is None:
        return total
    groups = total.crossed_outcome
    kept = [*_as_names(asked.columns), *_as_names(asked.protected or ()), *(groups.columns if groups else ())]
    names = tuple(dict.fromkeys(kept))
    for column in names:
        if column not in total.columns:
            raise ColumnNotFoundError(column, tuple(total.columns), place="among those counted")
    schema = None if total.schema is None else total.schema.select(names)
    return replace(total, columns={column: total.columns[column] for column in names}, schema=schema)


def _select_groups(total: Aggregate, protected: tuple[str, ...], name: str) -> Aggregate:
    """Return a saved sum with the groups of these columns alone, or refuse it if they were not counted."""
    for column in protected:
        if column not in total.columns:
            raise ColumnNotFoundError(column, tuple(total.columns), place="among those counted")
    groups = total.crossed_outcome if len(protected) > 1 else None
    if len(protected) > 1 and (groups is None or groups.columns != protected):
        counted = f"in the order {', '.join(groups.columns)}" if groups else "again with --protected"
        refuse(name, f"its reports were not counted by these combinations. Hint: cross them {counted}.")
    if any(total.columns[column].by_outcome is None for column in protected):
        refuse(name, "its reports were not counted by an outcome for these columns.")
    columns = {
        column: own if column in protected else own._replace(by_outcome=None)
        for column, own in total.columns.items()
    }
    return replace(total, columns=columns, crossed_outcome=groups)


def _as_names(columns: str | Sequence[str]) -> tuple[str, ...]:
    return (columns,) if isinstance(columns, str) else tuple(columns)


def _merge(total: Counted, other: Counted, name: str) -> Counted:
    try:
        aggregate = total.aggregate + other.aggregate
    except InvalidParameterError as error:
        refuse(name, f"beside the files before it, it must be {error.must_be}.")
    return Counted(aggregate, total.first or other.first, total.unseen and other.unseen)


def _estimate(counted: Counted, *, privileged: str | Sequence[str] | None, level: float) -> FileEstimates:
    total, first = counted.aggregate, counted.first
    schema = total.schema if first is None else first.schema
    record = None if first is None else replace(first.record, rows=total.people)
    laws = {name: _law(total, name) for name in total.columns}
    refused = {name: why for name, law in laws.items() if (why := _refusal_reason(name, law, schema))}
    groups = total.crossed_outcome
    given = _privileged_values(groups, schema, privileged)
    shares, rates = {}, {}
    for name, own in total.columns.items():
        if name in refused:
            continue
        labels = None if schema is None or name not in schema else schema[name].display_labels
        shares[name] = Frequencies(own.counts, n=own.reports, protocol=laws[name], labels=labels)
        if own.by_outcome is not None:
            value = given.get(name) if groups else privileged
            rates[name] = _rates(name, own.by_outcome, laws[name], schema, value, level)
    if groups:
        chosen = tuple(rates[name].privileged for name in groups.columns) if given else None
        crossed = total.rates_without_warning(groups.columns, privileged=chosen, level=level)
        warn_of_impossible_groups(crossed, stacklevel=4)
        rates[BETWEEN_COLUMNS.join(groups.columns)] = crossed
    outcome = None if total.outcome is None else total.outcome.column
    return FileEstimates(total, record, schema, shares, rates, outcome, level, refused)


def _privileged_values(
    groups: CrossedCounts | None, schema: Schema | None, privileged: str | Sequence[str] | None
) -> dict[str, str]:
    """Return the value of each crossed column that makes the privileged group; empty if there is none."""
    if groups is None:
        return {}
    if privileged is None:
        if schema is None or schema.protected_columns != groups.columns or schema.privileged is None:
            return {}
        values: Any = schema.privileged
        codes = [schema[name].domain.code(value) for name, value in zip(groups.columns, values, strict=True)]
        return {name: schema[name].labels[code] for name, code in zip(groups.columns, codes, strict=True)}
    if isinstance(privileged, str) or len(privileged) != len(groups.columns):
        must_be = f"a value of each crossed column, in this order: {', '.join(groups.columns)}"
        raise InvalidParameterError("privileged", owner=_OWNER, must_be=must_be, got=privileged)
    return dict(zip(groups.columns, privileged, strict=True))


def _law(total: Aggregate, name: str) -> Any:
    return total.maker if isinstance(total.maker, Protocol) else total.maker.protocols[name]


def _refusal_reason(name: str, law: Any, schema: Schema | None) -> str:
    """Return why the channel of a column has no inverse; empty if it has one."""
    channel = law.channel
    if not isinstance(channel, MatrixChannel) or channel.condition < SINGULAR:
        return ""
    if not channel.alike:
        return (
            f"There is no estimate: reports by {law.title} tell too little here for the shares to be "
            "estimated."
        )
    labels = range(law.k) if schema is None else schema[name].display_labels
    names = [str(labels[code]) for code in channel.alike[0][:_MOST_NAMED]]
    more = "" if len(channel.alike[0]) <= _MOST_NAMED else ", among others,"
    return (
        f"There is no estimate: by {law.title}, people with the values {' and '.join(names)}{more} send the "
        "same reports here, so nobody can tell how many there are of each."
    )


def _rates(
    name: str, counts: Any, law: Any, schema: Schema | None, privileged: Any, level: float
) -> GroupRates:
    """Return the rates of the true groups, and warn where no true groups could have made the counts."""
    labels: tuple[Any, ...] = tuple(str(code) for code in range(law.k))
    if schema is not None and name in schema:
        column = schema[name]
        labels = tuple(column.display_labels)
        if privileged is None and schema.protected == name and schema.privileged is not None:
            privileged = schema.privileged_label
        if privileged in column.labels:  # the value as it is written, or what people read for it
            privileged = labels[column.labels.index(privileged)]
    if privileged is not None and privileged not in labels:
        must_be = f"a value of column '{name}'"
        raise InvalidParameterError("privileged", owner=_OWNER, must_be=must_be, got=privileged)
    channel = Channel.of(law, owner=_OWNER)
    rates = GroupRates(counts, channel, labels, privileged, level, law)
    warn_of_impossible_groups(rates, stacklevel=5)
    return rates
