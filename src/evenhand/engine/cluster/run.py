"""The driver's side of a run: check, charge, draw, gather, publish."""

from __future__ import annotations

import base64
import os
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from evenhand._validate import boolean, refuse
from evenhand.engine.cluster.notes import raise_first_error, unpack_samples
from evenhand.engine.cluster.tasks import CheckTask, DrawTask, GatherTask, part_name, secret_of_links
from evenhand.engine.cluster.unfinished import State, Unfinished, refuse_taken
from evenhand.engine.drawing import Evidence
from evenhand.engine.places import Places
from evenhand.engine.privatize import Privatized
from evenhand.engine.promise import Linkability, add_in_clear, charge_once, schema_text
from evenhand.engine.record import FORMAT, Record
from evenhand.engine.row_order import (
    ASSOCIATED,
    GIVES_BACK,
    RowOrder,
    describe_row_order,
    join_relations,
)
from evenhand.errors import ClusterError, EvenhandError, OtherRowsError
from evenhand.privacy.ledger import find_ledger
from evenhand.privacy.randomness import RunKey, SecureSource
from evenhand.privacy.signing.keys import find_key
from evenhand.privacy.signing.notes import hash_terms
from evenhand.table.read import file_form
from evenhand.table.side_files import record_path, schema_path
from evenhand.table.unique_rows import UniqueRows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand.engine.cluster.notes import Note
    from evenhand.engine.cluster.tasks import Task
    from evenhand.engine.report_blocks import ReportPlan
    from evenhand.privacy.ledger import AnyLedger, Entry, Ledger
    from evenhand.privacy.signing.keys import AnyKey, SigningKey

PART_ROWS = 1 << 20
"""About how many rows a part of the output has; a worker holds one part in memory."""

_MOST_PARTS = 1 << 14


class Engine(Protocol):
    """What a cluster must be able to do."""

    name: str

    @property
    def is_reproducible(self) -> bool:
        """Whether a partition that is computed twice surely has the same rows in the same order."""

    def map_partitions(self, task: Task) -> list[Note]:
        """Run a task once, or more often, for each partition of the input; return a note of each."""

    def map_numbers(self, task: Task, numbers: Sequence[int]) -> list[Note]:
        """Run a task once, or more often, for each number; return a note of each."""


@dataclass(frozen=True)
class Choices:
    """What is asked of the output and the ledger, as :func:`evenhand.engine.spark.privatize` says."""

    out: str | os.PathLike[str]
    keep_order: bool
    overwrite: bool
    materialize: bool | None
    ledger: AnyLedger | None
    purpose: str | None
    owner: str
    sign: AnyKey | None = None
    linkable: bool = False

    def check(self) -> Path:
        """Return where the output goes; refuse choices that cannot be."""
        if isinstance(self.out, str) and "://" in self.out:
            must_be = "a path that the driver and every worker see under the same name"
            refuse("out", self.owner, must_be, "an address", hint="mount the storage, or copy from a folder.")
        if file_form(self.out, owner=self.owner, parameter="out") != "parquet":
            refuse("out", self.owner, "a path that ends with .parquet or .pq", Path(self.out).name)
        boolean("keep_order", self.keep_order, owner=self.owner)
        boolean("overwrite", self.overwrite, owner=self.owner)
        boolean("linkable", self.linkable, owner=self.owner)
        if self.materialize is not None:
            boolean("materialize", self.materialize, owner=self.owner)
        out = Path(os.path.abspath(self.out))  # noqa: PTH100 - links in its place are not followed
        refuse_taken(out, overwrite=self.overwrite)
        return out


def privatize_frame(engine: Engine, plan: ReportPlan, choices: Choices) -> Privatized:
    """Report the rows of a frame of a cluster into a folder of Parquet files.

    1. *Check.* Every partition is gone through. Values that cannot be reported are refused, and so are rows
       too many of which link by the columns in the clear. The digests of all blocks of rows are taken. Where
       the engine might give other rows the next time, the rows are kept in the unfinished folder.
    2. *Charge.* The key is written beside the output, and the ledger, if there is one, is charged once.
    3. *Draw.* Every partition is reported. A block whose digest is not the one of the check is refused.
    4. *Gather.* The rows of each part of the output are brought together in a random order.
    5. *Publish.* The parts take the name of the output, and the key goes.

    A run that was interrupted after it was checked goes on when the same call is made again: with the same
    key and digests, and the charge of its first start, which the ledger has under the name of the run.
    """
    out, key = choices.check(), find_key(choices.sign, owner=choices.owner)
    ledger = find_ledger(choices.ledger, source=SecureSource(), owner=choices.owner)
    with Unfinished(out) as folder:
        run = _Run(engine, plan, folder, choices)
        terms = _describe_terms(plan, choices, ledger, key)
        resumed = folder.resume(terms)
        if resumed is None:
            run.begin(terms)
        else:
            run.key, run.state = resumed
        record = run.record()
        try:
            evidence = Evidence(_charge(ledger, record, plan, choices, run.state.run), key)
        except EvenhandError:
            if resumed is None:  # nothing was charged or drawn
                folder.discard()
            raise
        try:
            run.finish(record, evidence)
        except OtherRowsError:
            folder.discard()
            raise
        except ClusterError as error:
            raise _stopped(error, folder) from None
    return run.describe(record, evidence.charge)


def _describe_terms(plan: ReportPlan, choices: Choices, ledger: Ledger | None, key: SigningKey | None) -> str:
    """Return all that a run that goes on must have in common with its start, but for the rows."""
    order = "in order" if choices.keep_order else "shuffled"
    charged = "no ledger" if ledger is None else f"ledger {ledger.identity} {_purpose(choices, plan)}"
    signed = "not signed" if key is None else f"signed {key.public.fingerprint}"
    linked = "linkable" if choices.linkable else "not linkable"
    return f"{plan.fingerprint} {order} {signed} {linked} {charged}"


def _charge(
    ledger: Ledger | None, record: Record, plan: ReportPlan, choices: Choices, run: str
) -> Entry | None:
    """Charge the ledger with a run, once, however often it is begun."""
    if ledger is None:
        return None
    promise: Any = record.guarantee
    return charge_once(ledger, promise, purpose=_purpose(choices, plan), run=run, source=SecureSource())


def _purpose(choices: Choices, plan: ReportPlan) -> str:
    return f"reports: {', '.join(plan.strategy.columns)}" if choices.purpose is None else choices.purpose


def _stopped(error: EvenhandError, folder: Unfinished) -> ClusterError:
    return ClusterError(
        f"{error} Nothing stands under the name {folder.out.name}. Hint: make the same call again to go on "
        f"where it stopped, without another charge; or remove the folder {folder.folder.name}."
    )


class _Run:
    """One run, with what it knows so far."""

    key: RunKey
    state: State

    def __init__(self, engine: Engine, plan: ReportPlan, folder: Unfinished, choices: Choices) -> None:
        self._engine, self._plan, self._folder, self._choices = engine, plan, folder, choices
        self._shared: dict[str, Any] = {
            "plan": plan,
            "folder": str(folder.folder),
            "version": import_module("evenhand").__version__,
        }

    def begin(self, terms: str) -> None:
        """Check the rows, and write down what a later call needs to go on."""
        self.key = RunKey.draw()
        try:
            self.state = State(terms, RunKey.draw().secret[:8].hex(), *self._check())
            self._folder.save(self.key, self.state)
        except BaseException:  # nothing was drawn
            self._folder.discard()
            raise

    def _check(self) -> tuple[bool, tuple[Note, ...], Linkability | None]:
        """Return whether the rows were kept, the notes of the partitions that have some, and what links."""
        stores = self._choices.materialize
        if stores is None:
            stores = not self._engine.is_reproducible
        measures = not self._choices.keep_order
        task = CheckTask(**self._shared, key=self.key, stores=stores, measures_order=measures)
        notes = self._engine.map_partitions(task)
        raise_first_error(notes)
        links = self._measure_links(notes)
        kept = sorted((replace(note, links="") for note in notes if note.rows), key=lambda note: note.number)
        return stores, tuple(kept), links

    def _measure_links(self, notes: Sequence[Note]) -> Linkability | None:
        """Return how many rows link by the columns in the clear; refuse too many."""
        in_clear = self._plan.choice.in_clear
        if not in_clear:
            return None
        unique = UniqueRows(in_clear, secret=secret_of_links(self.key))
        for note in {note.number: note for note in notes}.values():
            unique.add_packed(base64.b64decode(note.links))
        links = Linkability.of(unique)
        links.check(in_clear, is_allowed=self._choices.linkable, owner=self._choices.owner)
        return links

    @property
    def _rows(self) -> dict[int, int]:
        return {note.number: note.rows for note in self.state.notes}

    @property
    def _relations(self) -> dict[str, str]:
        """What is said of the columns that follow the order of rows within a partition, or of partitions.

        A column gives the order back if it does so among the partitions and within each of them.
        """
        if self._choices.keep_order:
            return {}
        in_clear, notes = self._plan.choice.in_clear, self.state.notes
        across = RowOrder(in_clear)
        samples = unpack_samples([note.sample for note in notes])
        if samples is not None:
            across.add(samples)
        parts = [across.relations, *(note.relations for note in notes)]
        strongest = join_relations(in_clear, parts)
        return {
            name: ASSOCIATED if said == GIVES_BACK and any(part.get(name) != said for part in parts) else said
            for name, said in strongest.items()
        }

    def record(self) -> Record:
        """Return what will stand beside the output: all of it is known before anything is drawn."""
        plan = self._plan
        links = self.state.linkability
        words = describe_row_order(self._relations, is_kept=self._choices.keep_order)
        words = (*(() if links is None else links.in_clear), *words)
        clear = (*plan.choice.in_clear, *words)
        promise = add_in_clear(plan.promise, words)
        rows, schema = sum(self._rows.values()), plan.schema.fingerprint
        return Record(plan.strategy, "parquet", rows, clear, schema, False, promise, plan.inferred, links)  # noqa: FBT003

    def finish(self, record: Record, evidence: Evidence) -> None:
        """Draw, gather and publish."""
        digest = hash_terms(record.to_dict())
        notes = {"format": FORMAT, "rng": SecureSource.kind, "guarantee_sha256": digest}
        rows = self._rows
        parts = 0 if self._choices.keep_order else min(_MOST_PARTS, max(1, -(-record.rows // PART_ROWS)))
        if rows:
            self._draw(rows, parts, notes)
        names = [part_name(number) for number in (range(parts) if parts else rows)]
        if parts or not rows:
            shared = {**self._shared, "key": self.key, "notes": notes}
            gather = GatherTask(**shared, partitions=tuple(rows), parts=max(1, parts))
            gathered = self._engine.map_numbers(gather, range(max(1, parts)))
            names = [part_name(number) for number in range(max(1, parts))]
            self._compare(gathered, dict.fromkeys(range(max(1, parts))), record.rows)
        schema = schema_text(self._plan.schema, simulated=False, inferred=self._plan.inferred)
        files = self._folder.hash_files(names, schema)
        text = record.to_json(files=files, charge=evidence.charge, key=evidence.key)
        signature = None if evidence.key is None else evidence.key.sign(text)
        self._folder.publish(names, schema, text, signature, overwrite=self._choices.overwrite)

    def _draw(self, rows: dict[int, int], parts: int, notes: dict[str, str]) -> None:
        digests = {note.number: note.digests for note in self.state.notes}
        shared = {**self._shared, "key": self.key, "notes": notes}
        draw = DrawTask(**shared, digests=digests, rows=rows, parts=parts)
        if self.state.stored:
            drawn = self._engine.map_numbers(draw, list(rows))
        else:
            drawn = self._engine.map_partitions(draw)
        self._compare(drawn, rows, sum(rows.values()))

    def _compare(self, notes: Sequence[Note], numbers: dict[int, Any], rows: int) -> None:
        """Refuse an end at which a partition is missing or there twice."""
        raise_first_error(notes)
        done = {note.number: note.rows for note in notes}
        missing = [number for number in numbers if number not in done]
        if missing:
            raise OtherRowsError(missing[0])
        if sum(done.values()) != rows:
            raise ClusterError(f"{self._engine.name} did not report every row once.")

    def describe(self, record: Record, charge: Entry | None) -> Privatized:
        """Return what was written."""
        out, choice = self._folder.out, self._plan.choice
        places = Places(out, schema_path(out), record_path(out))
        kept = self._choices.keep_order
        return Privatized(
            places, record, self._plan.schema, choice.left_out, choice.in_clear, self._relations, kept, charge
        )
