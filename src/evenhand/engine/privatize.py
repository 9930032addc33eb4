"""Files of any length, privatised in batches of bounded memory; three files appear together or not at all."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from evenhand._part_files import resolve_folder
from evenhand._validate import boolean
from evenhand.collect.privatizer.bare_columns import write_out_views
from evenhand.collect.protocols.registry import AUTO
from evenhand.engine.choices import choose_columns, strategy_of
from evenhand.engine.promise import add_in_clear, schema_text, solve_channels, state_guarantee
from evenhand.engine.record import FORMAT, Record
from evenhand.engine.row_order import RowOrder, describe_row_order
from evenhand.engine.shuffle import Shuffle, regroup
from evenhand.engine.writers import CsvOutput, ParquetOutput, has_length
from evenhand.errors import InvalidParameterError, UnwritableFileError
from evenhand.privacy.guarantees.guarantee import Guarantee
from evenhand.privacy.ledger import find_ledger
from evenhand.privacy.randomness import SecureSource, SeededSource
from evenhand.table.encode import Table
from evenhand.table.limits import STREAM_LIMITS
from evenhand.table.read import BATCH_ROWS, file_columns, file_form, open_batches
from evenhand.table.side_files import record_path, refuse_tables_beside, schema_path, side_files
from evenhand.table.source import own_name
from evenhand.table.write import replacing_together

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager

    from evenhand.collect.joint.strategy import Strategy
    from evenhand.privacy.ledger import AnyLedger, Entry
    from evenhand.privacy.randomness import Source
    from evenhand.schema import Schema
    from evenhand.table import FileFormat
    from evenhand.table.limits import Limits

    Progress = Callable[[int, float], None]
    Solving = Callable[[int, int], object]

_OWNER = "privatize_file"
_EXPANDED_BYTES = 32 << 20


@dataclass(frozen=True)
class Privatized:
    """What was written, and what it promises.

    Parameters
    ----------
    places : Places
        The three files.
    record : Record
        What the file of the guarantee says.
    schema : Schema
        What the file of the schema says.
    left_out : tuple of str
        Columns of the input that are not in the output.
    in_clear : tuple of str
        Columns that are in the output as they were.
    follow_order : tuple of str
        Those of them that follow the order of the input, and so give it back to whoever sorts by them.
    keeps_order : bool
        Whether the output stands in the order of the input.
    charge : Entry or None
        The entry of the ledger that was charged with it.
    """

    places: Places
    record: Record
    schema: Schema
    left_out: tuple[str, ...]
    in_clear: tuple[str, ...]
    follow_order: tuple[str, ...]
    keeps_order: bool
    charge: Entry | None = None

    @property
    def rows(self) -> int:
        """How many reports were written."""
        return self.record.rows

    @property
    def guarantee(self) -> Guarantee | None:
        """What one person is promised; None if the reports are simulated."""
        return self.record.guarantee


def privatize_file(  # noqa: PLR0913 - one keyword for each choice
    path: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    schema: Schema,
    epsilon: Any,
    protocol: Any = AUTO,
    split: Any = "optimal",
    strategy: str = "independent",
    columns: Sequence[str] | None = None,
    keep: Sequence[str] | None = None,
    keep_declared: bool = False,
    simulate: int | None = None,
    keep_order: bool = False,
    overwrite: bool = False,
    batch_rows: int = BATCH_ROWS,
    limits: Limits = STREAM_LIMITS,
    file_format: FileFormat | None = None,
    progress: Progress | None = None,
    solving: Solving | None = None,
    ledger: AnyLedger | None = None,
    purpose: str | None = None,
) -> Privatized:
    r"""Randomise columns of a CSV or Parquet file, a batch of rows at a time, into another file.

    Every row is one person. The columns that are reported are replaced by their reports, each drawn on its
    own from the operating system's secure source. The output stands in an order of its own: one uniform order
    of all people, drawn from the same source. Beside the output stand ``<out>.schema.toml`` and
    ``<out>.guarantee.json``, which :func:`evenhand.engine.estimate_file` needs. The three files appear when
    all of them are complete; after an error nothing is left behind.

    A column in the clear that follows the order of the input, such as an id or a time, gives that order back.
    This is measured, without a look at the reported columns, and the guarantee lists it as in the clear.

    Parameters
    ----------
    path, out : str or path
        The two files: what is read ends as for :func:`evenhand.table.read`, and what is written with
        ``.csv``, ``.csv.gz``, ``.parquet`` or ``.pq``. CSV is written in UTF-8 with commas, whatever was
        read; what is passed on stands as it stood.
    schema : Schema
        The domains of the columns that are reported, declared before anybody looks at the rows. Where a
        domain was read from the rows instead (:meth:`evenhand.schema.Schema.infer`), the guarantee and the
        two files beside the output say that this is a leak.
    epsilon, protocol, split, strategy
        As for :func:`evenhand.collect.strategy_for`; the epsilon is that of a person's whole row.
    columns : sequence of str, optional
        The columns to report; by default those that the schema calls sensitive.
    keep : sequence of str, optional
        The columns to pass on in the clear; by default all others but the sensitive ones.
    keep_declared : bool, default False
        Pass on the columns that the schema declares and that are not reported, beside those of `keep`.
    simulate : int, optional
        Draw with this seed instead. The output is then marked *simulated* and has no guarantee.
    keep_order : bool, default False
        Whether the output stands in the order of the input. The guarantee then lists ``"row order"`` as in
        the clear: from a file that is sorted by the sensitive column it tells nearly every value.
    overwrite : bool, default False
        Whether files and links that are there already may be replaced; what a link leads to is not touched.
    batch_rows : int
        Most rows of a batch; memory is in proportion to it.
    limits : Limits
        How large the input may be.
    file_format : FileFormat, optional
        What is known of how the input is written; the rest is found out from its beginning.
    progress : callable, optional
        Called after each batch with the rows read so far and the share of the file read so far.
    solving : callable, optional
        Called while an optimal channel is solved for, see :meth:`evenhand.collect.Optimal.solve`.
    ledger : Ledger, str or path, optional
        The ledger to charge, or its file, before anything is drawn. Without one, the ledger that
        ``EVENHAND_LEDGER`` names or, if there is none, ``evenhand-ledger.db`` beside the input is charged,
        unless this is a simulation. All rows are then checked first, so that the input is read twice.
    purpose : str, optional
        What the ledger is told; the columns and the name of the input if left out.

    Returns
    -------
    Privatized

    Raises
    ------
    SchemaError
        If a column that is reported has the rule ``"drop"``: who is left out would tell the value.
    OutsideDomainError
        If a value is outside its domain, or missing, and the rule says ``"error"``.
    UnreadableFileError, LimitExceededError, UnwritableFileError
        If a file cannot be read or written.
    BudgetExceededError
        If the ledger has less left. Nothing is drawn then.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from evenhand.schema import Column, Domain, Schema
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "people.csv").write_text("sex,hired\nf,1\nm,0\nf,1\n")
    >>> schema = Schema([Column("sex", Domain.categorical(["f", "m"]))], sensitive="sex")
    >>> written = privatize_file(folder / "people.csv", folder / "reports.csv", schema=schema, epsilon=1)
    >>> written.rows, written.record.in_clear, sorted(path.name for path in folder.iterdir())
    (3, ('hired',), ['people.csv', 'reports.csv', 'reports.csv.guarantee.json', 'reports.csv.schema.toml'])
    """
    form = file_form(out, owner=_OWNER, parameter="out")
    boolean("keep_order", keep_order, owner=_OWNER)
    file_options: Any = {"limits": limits, "file_format": file_format, "owner": _OWNER}
    names = file_columns(path, **file_options)
    asked: dict[str, Any] = {"columns": columns, "keep": keep, "strategy": strategy}
    choice = choose_columns(names, schema, **asked, keep_declared=keep_declared)
    options = {"epsilon": epsilon, "protocol": protocol, "split": split, "strategy": strategy}
    chosen = strategy_of(schema, choice.reported, **options)
    places = Places.of(out, taken_by=path, overwrite=overwrite)
    solve_channels(chosen, solving)
    source = SecureSource() if simulate is None else SeededSource(simulate)
    inferred = tuple(name for name in chosen.columns if schema[name].inferred)
    promise = None if source.simulated else state_guarantee(chosen, choice, protocol, inferred)
    declared = schema.select([name for name in schema.names if name in choice.kept])
    file_options |= {"schema": schema.select(choice.reported), "columns": choice.in_order}
    reading = partial(open_batches, path, batch_rows=batch_rows, **file_options)
    told = f"reports: {', '.join(chosen.columns)} of {own_name(path)}" if purpose is None else purpose
    check_rows = partial(_check_rows, reading, schema, chosen)
    charge = _charge(ledger, path, promise, source=source, purpose=told, check_rows=check_rows)
    output_kind = CsvOutput if form == "csv" else ParquetOutput
    order = RowOrder(() if keep_order else choice.in_clear)
    with (
        reading() as batches,
        places.open_files() as (file, schema_file, record_file),
        output_kind(file, batches.schema, schema, chosen, packed=places.packed) as output,
        Shuffle(resolve_folder(places.out), source) as shuffle,
    ):
        take = output.append if keep_order else shuffle.add
        rows = 0
        for piece in _follow_pieces(batches, order, progress, output.most_rows, choice.in_clear):
            ready = _make_reports(piece, output, schema, chosen, source)
            rows += ready.num_rows
            take(ready)
        for group in regroup(shuffle.shuffled(), min(output.most_rows, BATCH_ROWS)):
            output.append(group)
        order_words = describe_row_order(order.following, is_kept=keep_order)
        clear = (*choice.in_clear, *order_words)
        promise = None if promise is None else add_in_clear(promise, order_words)
        record = Record(chosen, form, rows, clear, declared.fingerprint, source.simulated, promise, inferred)
        text = record.to_json().encode("utf-8")
        digest = hashlib.sha256(text).hexdigest()
        output.close({"format": FORMAT, "rng": source.kind, "guarantee_sha256": digest})
        schema_file.write(schema_text(declared, simulated=source.simulated, inferred=inferred))
        record_file.write(text)
    left_out, in_clear = choice.left_out, choice.in_clear
    return Privatized(places, record, declared, left_out, in_clear, order.following, keep_order, charge)


def _charge(
    ledger: AnyLedger | None,
    data: str | os.PathLike[str],
    promise: Guarantee | None,
    *,
    source: Source,
    purpose: str,
    check_rows: Callable[[], None],
) -> Entry | None:
    """Charge the ledger that is configured with the whole file; bad input is refused before that."""
    found = find_ledger(ledger, source=source, data=data, owner=_OWNER)
    if found is None:
        return None
    if not source.simulated:
        check_rows()
    guarantee = promise or Guarantee.no_guarantee(unit="one person")
    return found.spend(guarantee, purpose=purpose, source=source)


def _check_rows(
    reading: Callable[[], AbstractContextManager[Any]], schema: Schema, strategy: Strategy
) -> None:
    """Refuse rows that cannot be reported, without drawing for any."""
    with reading() as batches:
        for batch in batches:
            Table.encode(batch, schema, columns=list(strategy.columns))


def _follow_pieces(
    batches: Any, order: RowOrder, progress: Progress | None, most_rows: int, in_clear: Sequence[str]
) -> Iterator[pa.RecordBatch]:
    """Cut batches into pieces; measure the order of rows and tell the progress on the way."""
    read = 0
    for batch in batches:
        order.add(batch)
        yield from _pieces(batch, most_rows, in_clear)
        read += batch.num_rows
        if progress is not None:
            progress(read, batches.share_read)


def _make_reports(
    rows: pa.RecordBatch,
    output: CsvOutput | ParquetOutput,
    schema: Schema,
    strategy: Strategy,
    source: Source,
) -> pa.RecordBatch:
    """Privatise some rows; return them as they stand in the output."""
    table = Table.encode(rows, schema, columns=list(strategy.columns))
    reports = strategy.privatize(table.codes, rng=source)
    return output.prepare(rows, reports)


def _pieces(batch: pa.RecordBatch, most_rows: int, in_clear: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """Cut a batch so that neither its reports nor its text, written out, take much memory."""
    for start in range(0, batch.num_rows, most_rows):
        waiting = [batch.slice(start, most_rows)]
        while waiting:
            piece = waiting.pop()
            if piece.num_rows > 1 and _expanded_bytes(piece, in_clear) > _EXPANDED_BYTES:
                half = piece.num_rows // 2
                waiting += [piece.slice(half), piece.slice(0, half)]
            else:
                yield piece


def _expanded_bytes(piece: pa.RecordBatch, in_clear: Sequence[str]) -> int:
    """Return how many bytes there are once columns of places in lists of texts or bytes are written out."""
    total = 0
    for name in in_clear:
        column = piece.column(name)
        if pa.types.is_dictionary(column.type) and has_length(column.type.value_type):
            lengths = (
                pc.binary_length(write_out_views(column.dictionary))
                .fill_null(0)
                .to_numpy(zero_copy_only=False)
            )
            counts = np.bincount(column.indices.drop_null().to_numpy(), minlength=len(lengths))
            total += int(np.dot(counts[: len(lengths)], lengths.astype(np.int64)))
    return total


# --- where the three files go ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Places:
    """The file of reports, its schema and its guarantee."""

    out: Path
    schema: Path
    record: Path

    @classmethod
    def of(cls, out: str | os.PathLike[str], *, taken_by: str | os.PathLike[str], overwrite: bool) -> Places:
        """Return where the files go, or refuse to write over the input or, unless told, over anything.

        What another writer of ours left beside the output counts like a file that is written: it is replaced
        or removed.

        Raises
        ------
        InvalidParameterError
            If one of the files is the input.
        UnwritableFileError
            If one is there already, or its folder is not.
        """
        places = cls(Path(out), schema_path(out), record_path(out))
        written = (places.out, places.schema, places.record)
        for place in dict.fromkeys((*written, *side_files(out))):
            if os.path.realpath(place) == os.path.realpath(taken_by) or _is_one_file(place, taken_by):
                must_be, got = "another file than the input", own_name(place)
                raise InvalidParameterError("out", owner=_OWNER, must_be=must_be, got=got)
            if place.is_dir():
                raise UnwritableFileError(f"{own_name(place)} was not written: it is a folder.")
            if not overwrite and os.path.lexists(place):  # a link that leads nowhere too
                why = "there is a file of that name"
                if place not in written:
                    why = f"{own_name(place)} is there and belongs to another table"
                raise UnwritableFileError(
                    f"{own_name(place if place in written else out)} was not written: {why}. "
                    "Hint: choose another name, or allow it with overwrite=True (--overwrite)."
                )
        refuse_tables_beside(out)
        if not places.out.parent.is_dir():
            raise UnwritableFileError(f"{own_name(out)} was not written: its folder is not there.")
        return places

    @property
    def packed(self) -> bool:
        """Whether the file of reports is to be gzipped."""
        return self.out.name.lower().endswith(".gz")

    def open_files(self) -> AbstractContextManager[tuple[Any, ...]]:
        """Open new files for the reports, the schema and the guarantee, which take their places together.

        See :func:`evenhand.table.write.replacing_together` for the order.
        """
        return replacing_together(self.out, self.schema, self.record, remove=side_files(self.out))


def _is_one_file(place: Path, other: str | os.PathLike[str]) -> bool:
    try:
        return place.samefile(other)
    except (OSError, ValueError):
        return False
