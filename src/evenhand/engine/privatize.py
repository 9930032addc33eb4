"""Files of any length, privatised in batches of bounded memory, and written whole or not at all."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from evenhand._validate import boolean
from evenhand.collect.joint.records import describe_strategy
from evenhand.collect.protocols.registry import AUTO
from evenhand.engine.choices import choose_columns, refuse_person, strategy_of, without_beside
from evenhand.engine.drawing import Drawing, Drawn, Evidence, Streams, measure_links
from evenhand.engine.places import FolderPlaces, Places, goes_into_folder
from evenhand.engine.promise import charge_once, prepare_strategy, state_guarantee
from evenhand.engine.row_order import join_relations
from evenhand.engine.unfinished import Unfinished, describe_input
from evenhand.errors import GuaranteeError, InvalidParameterError
from evenhand.privacy.guarantees.guarantee import Guarantee
from evenhand.privacy.ledger.charging import find_ledger, fit_purpose
from evenhand.privacy.randomness import SecureSource, SeededSource
from evenhand.privacy.signing.keys import find_key
from evenhand.table.limits import STREAM_LIMITS
from evenhand.table.parts import find_parts, would_be_read
from evenhand.table.read import (
    BATCH_ROWS,
    ENDINGS,
    detect_file_format,
    file_columns,
    file_form,
    open_batches,
)
from evenhand.table.repeated_people import notice_people_in_file
from evenhand.table.source import own_name
from evenhand.table.workers import count_workers, map_in_order

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from evenhand.engine.promise import Linkability
    from evenhand.engine.record import Record
    from evenhand.privacy.ledger import AnyLedger, Entry, Ledger
    from evenhand.privacy.randomness import Source
    from evenhand.privacy.signing.keys import AnyKey, SigningKey
    from evenhand.schema import Schema
    from evenhand.table import FileFormat
    from evenhand.table.limits import Limits
    from evenhand.table.parts import Parts

    Measured = Callable[[Linkability], object]
    Progress = Callable[[int, float], None]
    Solving = Callable[[int, int], object]

_OWNER = "privatize_file"


@dataclass(frozen=True)
class Privatized:
    """What was written, and what it promises.

    Parameters
    ----------
    places : Places
        The three files; of a folder, the folder and what stands beside its first file.
    record : Record
        What the file of the guarantee says; of a folder, that of its first file, with the number of all rows.
    schema : Schema
        What the file of the schema says.
    left_out : tuple of str
        Columns of the input that are not in the output.
    in_clear : tuple of str
        Columns that are in the output as they were.
    order_relations : dict of str to str
        Of those of them that follow the order of the input: whether each ``"gives it back"`` to whoever sorts
        by it, ``"is associated with it"`` or, being of values that cannot be sorted, ``"was not compared with
        it"``. This is in the guarantee too.
    keeps_order : bool
        Whether the output stands in the order of the input.
    charge : Entry or None
        The entry of the ledger that was charged with it.
    parts : int
        How many files of reports were written.
    order_correlations : dict of str to float
        The rank correlation of such a column with the order of the input, where it was measured in one file:
        for whoever has the rows, and not in the guarantee, since the order may come from what is protected.
    """

    places: Places
    record: Record
    schema: Schema
    left_out: tuple[str, ...]
    in_clear: tuple[str, ...]
    order_relations: dict[str, str]
    keeps_order: bool
    charge: Entry | None = None
    parts: int = 1
    order_correlations: dict[str, float] = field(default_factory=dict)

    @property
    def follow_order(self) -> tuple[str, ...]:
        """The columns in the clear that follow the order of the input."""
        return tuple(self.order_relations)

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
    linkable: bool = False,
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
    sign: AnyKey | None = None,
    workers: int | None = None,
    resume: bool = False,
    measured: Measured | None = None,
) -> Privatized:
    r"""Randomise columns of CSV or Parquet files, a batch of rows at a time, into another file or folder.

    Every row is one person; where the schema has a `person`, or the first rows look as if one person had
    several, the guarantee is for one row. The columns that are reported are replaced by their reports, each
    drawn on its own from the operating system's secure source. The output stands in an order of its own: one
    uniform order of all people, drawn from the same source. Beside the output stand ``<out>.schema.toml`` and
    ``<out>.guarantee.json``, which :func:`evenhand.engine.estimate_file` needs. The three files appear when
    all of them are complete; after an error nothing is left behind.

    Of a folder or a pattern, all files are one table. If `out` is the name of a file, all people go there, in
    one order. If it has no ending, it becomes a folder with one file of reports for each file that was read,
    each with its own schema and guarantee beside it; the folder appears when all of it is complete. Its note
    ``folder.guarantee.json`` lists all files, so that :func:`evenhand.engine.verify` finds what is missing.
    In which file a person is, is then in the clear, and the guarantees say so.

    A column in the clear that follows the order of the input tells something of that order; one such as an id
    or a time gives it back. This is measured, without a look at the reported columns, and the guarantee lists
    it as in the clear.

    Columns are in the clear only by name. Where there are some, all rows are gone through first: how many
    are unique on them, and so link to one person each, is measured and stands in the guarantee. If that is
    more than 5 %, the output is not for publication, and is written only if it may be `linkable`.

    Parameters
    ----------
    path, out : str or path
        What is read, a file, a folder or a pattern such as ``"data/*.parquet"``, and what is written. Names
        of files that are read end as for :func:`evenhand.table.read`, of those that are written with
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
        The columns to pass on in the clear; by default none.
    linkable : bool, default False
        Whether more than 5 % of the rows may be unique on the columns in the clear.
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
    sign : SigningKey, str or path, optional
        The private key that signs ``<out>.guarantee.json``, or its file. The signature goes to
        ``<out>.guarantee.json.sig``. A key that cannot be used is refused before anything is drawn.
    workers : int, optional
        How many threads work; by default one for each core, and eight at most. The reports of a simulation do
        not depend on it.
    resume : bool, default False
        Whether a run that is interrupted, or finds the disk full, can be taken up by the same call. A hidden
        folder beside the output, which nobody else can enter, then keeps what is drawn and the key that it is
        drawn from; the key is removed as soon as all is drawn. What is complete is kept; what is not is
        drawn again with the same bits, so nobody gets a second report and a ledger is charged once. If the
        input, how it is read, another setting or a version has changed, the call is refused, and told what
        differs. See :mod:`evenhand.engine.unfinished`.
    measured : callable, optional
        Called with the :class:`~evenhand.engine.promise.Linkability` of the columns in the clear, before it
        is judged and before anything is drawn.

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
    >>> _ = (folder / "people.csv").write_text("sex,hired\nf,1\nm,0\nf,1\nm,0\n")
    >>> schema = Schema([Column("sex", Domain.categorical(["f", "m"]))], sensitive="sex")
    >>> asked = {"schema": schema, "epsilon": 1, "keep": ["hired"]}
    >>> written = privatize_file(folder / "people.csv", folder / "reports.csv", **asked)
    >>> written.rows, written.record.in_clear, sorted(path.name for path in folder.iterdir())
    (4, ('hired',), ['people.csv', 'reports.csv', 'reports.csv.guarantee.json', 'reports.csv.schema.toml'])
    """
    boolean("keep_order", keep_order, owner=_OWNER)
    boolean("resume", resume, owner=_OWNER)
    boolean("linkable", linkable, owner=_OWNER)
    key = _key_for(sign, simulated=simulate is not None)
    parts = find_parts(path, endings=ENDINGS)
    is_folder = goes_into_folder(parts, out)
    form = file_form(
        parts.files[0] if is_folder else out, owner=_OWNER, parameter="path" if is_folder else "out"
    )
    file_options: Any = {"limits": limits, "file_format": file_format, "owner": _OWNER}
    names = file_columns(path, **file_options)
    asked: dict[str, Any] = {"columns": columns, "keep": keep, "strategy": strategy}
    choice = choose_columns(names, schema, **asked)
    person, asked_schema = schema.person or notice_people_in_file(path, **file_options), schema
    refuse_person(person, choice, is_allowed=linkable)
    schema = without_beside(schema)
    options = {"epsilon": epsilon, "protocol": protocol, "split": split, "strategy": strategy}
    chosen = strategy_of(schema, choice.reported, **options)
    source = SecureSource() if simulate is None else SeededSource(simulate)
    if resume and source.simulated:
        must_be = "False for a simulation, which can be run again with its seed"
        raise InvalidParameterError("resume", owner=_OWNER, must_be=must_be, got=True)
    prepare_strategy(chosen, solving)
    inferred = tuple(name for name in chosen.columns if schema[name].inferred)
    promise = None
    if not source.simulated:
        promise = state_guarantee(chosen, choice, protocol, inferred, person=person)
    file_options |= {"schema": schema.select(choice.reported), "columns": choice.in_order}
    drawing = Drawing(
        schema,
        chosen,
        choice,
        promise,
        partial(open_batches, batch_rows=batch_rows, **file_options),
        keep_order,
        count_workers(workers, owner=_OWNER),
    )
    told = purpose
    if told is None:
        told = fit_purpose(f"reports: {', '.join(chosen.columns)} of {own_name(path)}")
    run = _Run(drawing, parts, form, source, told, ledger, progress, key, linkable, measured)
    terms = None
    if resume:
        written = detect_file_format(path, file_format, limits=limits)
        terms = run.describe(path, out, batch_rows, written) | {"schema": asked_schema.to_toml()}
    if is_folder:
        is_placing = terms is not None and Unfinished.is_placing_beside(out)
        places = FolderPlaces.of(out, parts, overwrite=overwrite, is_placing=is_placing)
        return run.write_folder(path, places, terms, is_placing=is_placing)
    return run.write_file(path, out, terms, overwrite=overwrite)


def _key_for(sign: AnyKey | None, *, simulated: bool) -> SigningKey | None:
    """Return the key to sign with; what has no guarantee is not signed as if it were a release."""
    if sign is not None and simulated:
        raise GuaranteeError(
            "Simulated reports are not signed: they are drawn with a seed and no guarantee holds for them. "
            "Hint: leave out sign or simulate."
        )
    return find_key(sign, owner=_OWNER)


@dataclass(frozen=True)
class _Run:
    """One call: what is drawn, from what, charged to which ledger."""

    drawing: Drawing
    parts: Parts
    form: Any
    source: Source
    purpose: str
    ledger: AnyLedger | None
    progress: Progress | None
    key: SigningKey | None
    linkable: bool
    measured: Measured | None

    def describe(self, path: Any, out: Any, batch_rows: int, written: FileFormat) -> dict[str, Any]:
        """Return all that the files of a run depend on, but for the key that it draws with.

        Each term has the name by which a message calls it: that of the parameter, where there is one.
        """
        drawing, ledger = self.drawing, self._find_ledger(path)
        made = describe_strategy(drawing.strategy)
        promise = None if drawing.promise is None else drawing.promise.to_dict() | {"in_clear": None}
        return {
            "input": describe_input(self.parts.files),
            **vars(written),
            "out": own_name(out),
            "columns": drawing.choice.reported,
            "keep": drawing.choice.in_order,
            "strategy": made["strategy"],
            "epsilon": made["epsilon"],
            "protocol or split": [made["columns"], promise],
            "keep_order": drawing.keep_order,
            "linkable": self.linkable,
            "batch_rows": batch_rows,
            "ledger": None if ledger is None else ledger.identity,
            "purpose": self.purpose,
            "sign": None if self.key is None else self.key.public.fingerprint,
        }

    def write_file(self, path: Any, out: Any, terms: Any, *, overwrite: bool) -> Privatized:
        """Draw all rows into one file."""
        is_placing = terms is not None and Unfinished.is_placing_beside(out)
        places = Places.of(out, taken_by=self.parts.files, overwrite=overwrite or is_placing)
        _refuse_inside(places.out, path)
        drawing = self._measure_links([path])
        if terms is None:
            charge = self._charge(path, "")
            evidence = Evidence(charge, self.key)
            drawn = drawing.draw(
                path, places, self.form, Streams(self.source), evidence=evidence, progress=self.progress
            )
            return self._privatized(places, [drawn], charge)
        with Unfinished(out, terms) as unfinished:
            charge = self._charge(path, unfinished.run)
            spool = unfinished.spool()
            streams = Streams(self.source, unfinished.keys)
            drawn = drawing.draw(
                path, places, self.form, streams, evidence=Evidence(charge, self.key),
                progress=self.progress, spool=spool, before_placing=unfinished.mark_placing,
            )  # fmt: skip
        return self._privatized(places, [drawn], charge)

    def write_folder(self, path: Any, places: FolderPlaces, terms: Any, *, is_placing: bool) -> Privatized:
        """Draw each file into one of its own; the folder of them appears at the end."""
        drawing = self._measure_links(self.parts.files)
        with Unfinished(places.out, terms) as unfinished:
            charge = self._charge(path, "" if terms is None else unfinished.run)
            keys = None if terms is None else unfinished.keys
            beside = unfinished.folder / "parts"
            is_placed = is_placing and not beside.exists()
            if is_placed:
                beside = places.out
            beside.mkdir(exist_ok=True)
            many = len(self.parts) >= drawing.workers
            drawing = replace(
                drawing,
                workers=1 if many else drawing.workers,
                more_in_clear=() if self.drawing.keep_order else (WHICH_FILE,),
            )

            def draw(place: int) -> Drawn:
                streams = Streams(self._part_source(place), keys, name=f"file {place}")
                target = Places.named(beside / places.names[place])
                file, evidence = self.parts.files[place], Evidence(charge, self.key)
                return drawing.draw_once(file, target, self.form, streams, evidence)

            drawn = []
            for part in map_in_order(draw, range(len(self.parts)), self.drawing.workers if many else 1):
                drawn.append(part)
                if self.progress is not None:
                    rows = sum(part.record.rows for part in drawn)
                    self.progress(rows, len(drawn) / len(self.parts))
            if not is_placed:
                places.write_note(beside, drawn[0].record, charge, self.key)
            unfinished.mark_placing()
            if not is_placed:
                places.put_in_place(beside)
        return self._privatized(places.first, drawn, charge, out=places.out)

    def _measure_links(self, paths: Sequence[Any]) -> Drawing:
        """Return the drawing with how many rows link by the columns in the clear; refuse too many of them.

        In which of several `paths` a person is, is in the clear too.
        """
        in_clear = self.drawing.choice.in_clear
        if not in_clear:
            return self.drawing
        links = measure_links(paths, in_clear, self.drawing.reading)
        if self.measured is not None:
            self.measured(links)
        links.check(in_clear, is_allowed=self.linkable, owner=_OWNER)
        return replace(self.drawing, linkability=links)

    def _part_source(self, place: int) -> Source:
        return self.source.for_cell(f"file {place}") if isinstance(self.source, SeededSource) else self.source

    def _charge(self, path: Any, run: str) -> Entry | None:
        """Charge the ledger that is configured with all rows; bad input is refused before that.

        A run that is taken up finds its own charge in the ledger by its name.
        """
        ledger = self._find_ledger(path)
        if ledger is None:
            return None
        guarantee = self.drawing.promise or Guarantee.no_guarantee(unit="one person")
        check = None if self.source.simulated else partial(self._check_rows, path)
        asked: Any = {"purpose": self.purpose, "run": run, "source": self.source, "check": check}
        return charge_once(ledger, guarantee, **asked)

    def _find_ledger(self, path: Any) -> Ledger | None:
        """Return the ledger to charge: given, of the environment, beside the files or beside their folder."""
        options: Any = {"source": self.source, "owner": _OWNER}
        first = find_ledger(self.ledger, data=self.parts.files[0], **options)
        if first is not None or self.parts.is_alone:
            return first
        return find_ledger(self.ledger, data=path, **options)

    def _check_rows(self, path: Any) -> None:
        self.drawing.check_rows(path)

    def _privatized(
        self, places: Places, drawn: Sequence[Drawn], charge: Entry | None, *, out: Path | None = None
    ) -> Privatized:
        choice = self.drawing.choice
        relations = join_relations(choice.in_clear, [part.relations for part in drawn])
        record = _join_records([part.record for part in drawn])
        return Privatized(
            places if out is None else replace(places, out=out),
            record,
            self.drawing.declared,
            choice.left_out,
            choice.in_clear,
            relations,
            self.drawing.keep_order,
            charge,
            len(drawn),
            drawn[0].correlations if len(drawn) == 1 else {},
        )


WHICH_FILE = "row order (in which file a person is)"
"""What stands among what is in the clear, where each file that is read has one of its own."""


def _join_records(records: Sequence[Record]) -> Record:
    """Return the first record, with the number of all rows and all that is in the clear in any file."""
    clear = tuple(dict.fromkeys(word for record in records for word in record.in_clear))
    return replace(records[0], rows=sum(record.rows for record in records), in_clear=clear)


def _refuse_inside(out: Path, path: Any) -> None:
    """Refuse an output in the folder that is read, of which it would be a part the next time."""
    if would_be_read(path, out):
        must_be, got = "outside of the folder that is read", own_name(out)
        raise InvalidParameterError("out", owner=_OWNER, must_be=must_be, got=got)
