"""One file of reports, drawn from the rows of another or of several: read, randomised, ordered, written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from evenhand._part_files import resolve_folder
from evenhand.collect.joint.strategy import draw_joint_reports
from evenhand.collect.privatizer.bare_columns import write_out_views
from evenhand.engine.promise import Linkability, add_in_clear, schema_text
from evenhand.engine.record import FORMAT, Record
from evenhand.engine.row_order import RowOrder, describe_row_order, read_relations
from evenhand.engine.shuffle import Shuffle, regroup
from evenhand.engine.writers import CsvOutput, ParquetOutput, has_length
from evenhand.errors import UnreadableFileError
from evenhand.privacy.signing.notes import hash_open_file, hash_terms
from evenhand.table.encode import Table
from evenhand.table.read import BATCH_ROWS
from evenhand.table.unique_rows import UniqueRows
from evenhand.table.workers import SHORT_SECONDS, map_in_order, read_ahead

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

    from evenhand.collect.joint.strategy import Strategy
    from evenhand.engine.choices import Choice
    from evenhand.engine.places import Places
    from evenhand.engine.unfinished import Spool
    from evenhand.privacy.guarantees.guarantee import Guarantee
    from evenhand.privacy.ledger import Entry
    from evenhand.privacy.randomness import RunKey, Source
    from evenhand.privacy.signing.keys import SigningKey
    from evenhand.schema import Schema

    Progress = Callable[[int, float], None]

EXPANDED_BYTES = 32 << 20
"""About how many bytes of text are written out from lists of values at a time."""


class Streams:
    """Where the randomness of one file of reports comes from.

    Parameters
    ----------
    source : Source
        Of everything, unless there are keys.
    keys : tuple of RunKey, optional
        Those of the reports and of the order of rows: each unit of rows then has a stream of its own.
    name : str
        Of the file, which no other file of the same keys has.
    """

    def __init__(
        self, source: Source, keys: tuple[RunKey | None, RunKey] | None = None, *, name: str = ""
    ) -> None:
        self.source, self._keys, self._name = source, keys, name

    @property
    def is_sequential(self) -> bool:
        """Whether units must be drawn one after the other, as from a seed."""
        return self._keys is None and self.source.simulated

    def unit(self, place: int) -> Source:
        """Return the source of a unit of rows."""
        if self._keys is None:
            return self.source
        key, _ = self._keys
        if key is None:  # all were drawn, and one is gone
            why = "The unfinished run was not taken up: reports of it are missing."
            raise UnreadableFileError(f"{why} Hint: remove its hidden folder beside the output.")
        return key.unit(f"{self._name} unit {place}")

    @property
    def order(self) -> Source:
        """The source of the order of rows."""
        return self.source if self._keys is None else self._keys[1].unit(f"{self._name} order")


class Drawn(NamedTuple):
    """What was drawn: the record of the file, and how columns in the clear go with the input's order.

    The correlations are for whoever has the rows; a file that an interrupted run had drawn has none.
    """

    record: Record
    relations: dict[str, str]
    correlations: dict[str, float]


class Evidence(NamedTuple):
    """What the record of a file says besides how it was drawn: the charge, and who signs it."""

    charge: Entry | None = None
    key: SigningKey | None = None


class _Unit(NamedTuple):
    """Some rows that are drawn together; the last of a batch says how far the input was read."""

    place: int
    rows: pa.RecordBatch
    read: int | None
    share: float


@dataclass(frozen=True)
class Drawing:
    """All that is public about how reports are drawn.

    Parameters
    ----------
    schema : Schema
        The domains of what is reported.
    strategy : Strategy
        How it is reported.
    choice : Choice
        What becomes of each column.
    promise : Guarantee or None
        What one person is promised; None for a simulation.
    reading : callable
        Opens a path to be read in batches.
    keep_order : bool
        Whether people stand in the order of the input.
    workers : int
        How many threads draw.
    more_in_clear : tuple of str
        What else the output shows, such as in which file a person is.
    linkability : Linkability, optional
        How many rows link by the columns in the clear, if there are any and it was measured.
    """

    schema: Schema
    strategy: Strategy
    choice: Choice
    promise: Guarantee | None
    reading: Callable[[Any], AbstractContextManager[Any]]
    keep_order: bool
    workers: int = 1
    more_in_clear: tuple[str, ...] = ()
    linkability: Linkability | None = None

    @property
    def inferred(self) -> tuple[str, ...]:
        """The columns that are reported whose domains were read from the rows."""
        return tuple(name for name in self.strategy.columns if self.schema[name].inferred)

    @property
    def declared(self) -> Schema:
        """The schema of the output."""
        return self.schema.select([name for name in self.schema.names if name in self.choice.kept])

    def check_rows(self, path: Any) -> None:
        """Refuse rows that cannot be reported, without drawing for any."""
        columns = list(self.strategy.columns)

        def check(batch: pa.RecordBatch) -> None:
            Table.encode(batch, self.schema, columns=columns)

        with self.reading(path) as batches:
            for _ in map_in_order(check, batches, self.workers):
                pass

    def draw(
        self,
        path: Any,
        places: Places,
        form: Any,
        streams: Streams,
        *,
        evidence: Evidence,
        progress: Progress | None = None,
        spool: Spool | None = None,
        before_placing: Callable[[], None] | None = None,
    ) -> Drawn:
        """Draw all reports of a file, or of several, into another with what stands beside it.

        `before_placing` is called when all files are complete, before they have their places.
        """
        output_kind = CsvOutput if form == "csv" else ParquetOutput
        order = RowOrder(() if self.keep_order else self.choice.in_clear)
        with (
            self.reading(path) as batches,
            places.open_files(signed=evidence.key is not None) as (file, schema_file, record_file, *more),
            output_kind(file, batches.schema, self.schema, self.strategy, packed=places.packed) as output,
            Shuffle(resolve_folder(places.out), streams.order) as shuffle,
        ):
            take = output.append if self.keep_order else shuffle.add
            units = self._units(batches, order, output.most_rows)
            rows = 0
            for ready in self._make_reports(units, output, streams, progress, spool):
                rows += ready.num_rows
                take(ready)
            for group in regroup(shuffle.shuffled(), min(output.most_rows, BATCH_ROWS)):
                output.append(group)
            record = self._record(form, rows, order.relations, simulated=streams.source.simulated)
            digest = hash_terms(record.to_dict())
            output.close({"format": FORMAT, "rng": streams.source.kind, "guarantee_sha256": digest})
            simulated = streams.source.simulated
            schema_file.write(schema_text(self.declared, simulated=simulated, inferred=self.inferred))
            files = dict(zip(places.table_names, map(hash_open_file, (file, schema_file)), strict=True))
            text = record.to_json(files=files, charge=evidence.charge, key=evidence.key)
            record_file.write(text)
            if evidence.key is not None:
                more[0].write(evidence.key.sign(text))
            if before_placing is not None:
                before_placing()
        return Drawn(record, order.relations, order.correlations)

    def draw_once(self, path: Any, places: Places, form: Any, streams: Streams, evidence: Evidence) -> Drawn:
        """Draw the reports of a file, unless an interrupted run has them already: then read its record."""
        if not places.out.exists():  # it has its place after what stands beside it
            return self.draw(path, places, form, streams, evidence=evidence)
        record = Record.from_json(places.record.read_bytes(), places.record.name)
        return Drawn(record, read_relations(self.choice.in_clear, record.in_clear), {})

    def _units(self, batches: Any, order: RowOrder, most_rows: int) -> Iterator[_Unit]:
        """Cut batches into units of rows; measure the order of rows on the way."""
        read = place = 0
        for batch in batches:
            order.add(batch)
            read += batch.num_rows
            pieces = list(cut_pieces(batch, most_rows, self.choice.in_clear))
            for left, piece in zip(reversed(range(len(pieces))), pieces, strict=True):
                yield _Unit(place, piece, None if left else read, batches.share_read)
                place += 1

    def _make_reports(
        self,
        units: Iterable[_Unit],
        output: CsvOutput | ParquetOutput,
        streams: Streams,
        progress: Progress | None,
        spool: Spool | None,
    ) -> Iterator[pa.RecordBatch]:
        """Yield rows as they stand in the output, in the order of the input.

        With a spool, the reports of all units are in it before the first is yielded, and the key is gone.
        """

        def draw(unit: _Unit) -> tuple[_Unit, pa.RecordBatch | None]:
            if spool is not None and unit.place in spool:
                return unit, None
            table = Table.encode(unit.rows, self.schema, columns=list(self.strategy.columns))
            reports = draw_joint_reports(self.strategy, table.codes, streams.unit(unit.place))
            ready = output.prepare(unit.rows, reports)
            if spool is None:
                return unit, ready
            spool.add(unit.place, ready)
            return unit, None

        count = 0
        ahead = read_ahead(units, thread_after=SHORT_SECONDS) if self.workers > 1 else units
        workers = 1 if streams.is_sequential else self.workers
        for unit, ready in map_in_order(draw, ahead, workers, threads_after=SHORT_SECONDS):
            count += 1
            if ready is not None:
                yield ready
            if progress is not None and unit.read is not None:
                progress(unit.read, unit.share)
        if spool is not None:
            spool.close(count)
            yield from spool

    def _record(self, form: Any, rows: int, relations: Mapping[str, str], *, simulated: bool) -> Record:
        linked = () if self.linkability is None else self.linkability.in_clear
        words = (*linked, *self.more_in_clear, *describe_row_order(relations, is_kept=self.keep_order))
        promise = self.promise
        if promise is not None:
            promise = add_in_clear(promise, words)
        clear = (*self.choice.in_clear, *words)
        fingerprint = self.declared.fingerprint
        read, links = self.inferred, self.linkability
        return Record(self.strategy, form, rows, clear, fingerprint, simulated, promise, read, links)


def measure_links(
    paths: Iterable[Any], columns: Sequence[str], reading: Callable[[Any], AbstractContextManager[Any]]
) -> Linkability:
    """Return how many rows link by columns in the clear; rows of two paths never equal each other."""
    unique = UniqueRows(columns)
    for part, path in enumerate(paths):
        with reading(path) as batches:
            for batch in batches:
                unique.add(batch, part=part)
    return Linkability.of(unique)


def cut_pieces(batch: pa.RecordBatch, most_rows: int, in_clear: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """Cut a batch so that neither its reports nor its text, written out, take much memory."""
    for start in range(0, batch.num_rows, most_rows):
        waiting = [batch.slice(start, most_rows)]
        while waiting:
            piece = waiting.pop()
            if piece.num_rows > 1 and _expanded_bytes(piece, in_clear) > EXPANDED_BYTES:
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
