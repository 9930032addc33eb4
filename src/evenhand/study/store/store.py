"""The store of a study: every finished cell in one SQLite file, each in a transaction of its own."""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

from evenhand._locks import Lock
from evenhand.errors import EvenhandError, StudyStoreError
from evenhand.study.plan.cells import canonical
from evenhand.study.plan.facts import versions
from evenhand.study.plan.plan import Plan
from evenhand.study.plan.spec import Spec
from evenhand.study.store.canonical import facts_from, facts_text
from evenhand.study.store.file import (
    APPLICATION,
    COLUMNS,
    FORMAT,
    PUT_BACK,
    TABLES,
    Record,
    call_on_error,
    checksum,
    connect_store,
    explain_errors,
    is_empty,
    outcome_of,
    path_of,
    place_of,
    row_of,
    transaction,
)
from evenhand.table.file_format import FileFormat

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike
    from pathlib import Path

    from evenhand.study.plan.cells import Cell
    from evenhand.study.plan.facts import Facts
    from evenhand.study.plan.source import DataSource
    from evenhand.study.store.outcome import Outcome

LOCK = "study.lock"
"""The name of the file that a running study holds, so that no second one writes into its folder."""

_ALL = f"SELECT {', '.join(COLUMNS)} FROM cells"  # noqa: S608 - constants
_OF_SPEC = f"{_ALL} WHERE spec = ?"
_VERSIONS_OF_SPEC = (
    "SELECT DISTINCT versions.versions FROM cells JOIN versions ON cells.versions = hash WHERE spec = ?"
)
_VERSIONS = "SELECT hash, versions FROM versions"
_COUNT_DONE = "SELECT count(*) FROM cells WHERE state = 'done'"
_INSERT = f"INSERT OR REPLACE INTO cells VALUES ({', '.join('?' * len(COLUMNS))})"  # noqa: S608 - constants


class Store:
    """The stored cells of one study.

    Whoever reads uses :meth:`open`. Whoever runs a study uses :meth:`reserve`, which keeps others from
    writing into the folder, and :meth:`start` once the data are known. A cell that :meth:`write` returned
    from is on the disk: neither ``kill -9`` nor a power cut loses it.

    A row holds the cell's canonical name and result, the hash of what else decides the result, the seed, the
    kind of random source, the versions of the packages, when it was finished, how long it took, and a
    checksum over all of this. Numbers come back to the last bit.

    Examples
    --------
    >>> import tempfile
    >>> from evenhand.study import Plan, DataSource
    >>> from evenhand.study.run.whole import run
    >>> plan = Plan(data=DataSource(dataset="causal", options={"n": 300}), repeats=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = run(plan, out=folder, workers=1)
    ...     with Store.open(folder) as store:
    ...         [str(outcome.cell.setting) for outcome in store.outcomes()], store.verify()
    (['unprotected', 'AUTO, optimal split, ε = 1'], ())
    """

    plan: Plan
    facts: Facts
    spec: Spec

    def __init__(self, path: Path, connection: sqlite3.Connection, *, lock: Lock | None = None) -> None:
        self._path = path.absolute()  # a cell may change the working directory
        self._connection = connection
        self._lock = lock
        self._place = place_of(self._path)

    @property
    def folder(self) -> Path:
        """The folder of the study."""
        return self._path.parent

    # --- opening ----------------------------------------------------------------------------------

    @classmethod
    def open(cls, folder: str | PathLike[str], *, check: bool = True) -> Store:
        """Open the store in a folder, or the file ``study.db`` itself, for reading, also while a study runs.

        What is no study's, damaged or from a newer evenhand is refused. Without a `check` a damaged structure
        is not: :meth:`verify` lists it.
        """
        path = path_of(folder)
        if not path.is_file():
            raise StudyStoreError(
                f"There is no study in this folder: '{path.name}' is not there. Hint: name the folder that a "
                "study was run into."
            )
        with explain_errors(path):
            store = cls(path, connect_store(path, write=False))
            with call_on_error(store.close):
                store._load(check=check)
        return store

    @classmethod
    def reserve(cls, folder: str | PathLike[str], *, resume: bool = False) -> Store:
        """Open the store in a folder for writing, or make it, and keep others from writing.

        Finished cells are refused unless a study is to `resume`.
        """
        path = path_of(folder)
        with explain_errors(path):
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
            except (OSError, ValueError):  # a name may hold what no name can
                raise StudyStoreError(
                    f"The folder for '{path.name}' cannot be made. Hint: choose another one."
                ) from None
            for file in (path, path.with_name(LOCK)):
                if file.is_symlink() and not file.exists():  # SQLite would make what it names, wherever it is
                    raise StudyStoreError(
                        f"'{file.name}' is a link that leads nowhere. "
                        "Hint: remove it, or choose another folder."
                    )
            lock = Lock(path.with_name(LOCK))
            if not lock.take():
                raise StudyStoreError(
                    f"Another process runs a study in this folder: it holds '{LOCK}'. Hint: wait until it is "
                    "done, stop it, or choose another folder."
                )
            with call_on_error(lock.free):
                store = cls(path, connect_store(path, write=True), lock=lock)
            with call_on_error(store.close):
                store._check_reserved(resume=resume)
        return store

    @classmethod
    def count_results(cls, folder: str | PathLike[str]) -> int:
        """Return how many cells of a folder have a result; 0 if no study ran there or all cells failed."""
        path = path_of(folder)
        if not os.path.lexists(path):
            return 0
        with explain_errors(path):
            connection = connect_store(path, write=False)
            try:
                return 0 if is_empty(connection) else int(connection.execute(_COUNT_DONE).fetchone()[0])
            finally:
                connection.close()

    @property
    def holds_cells(self) -> bool:
        """Return whether any cell is stored, be it a failure."""
        with suppress(sqlite3.Error):
            return self._connection.execute("SELECT 1 FROM cells LIMIT 1").fetchone() is not None
        return not is_empty(self._connection)

    def _check_reserved(self, *, resume: bool) -> None:
        if is_empty(self._connection):
            return
        self._load(check=True)
        finished = self._connection.execute(_COUNT_DONE).fetchone()[0]
        if not finished and not resume:  # runs that all failed are worth nothing and keep nobody out
            self._connection.execute("DELETE FROM cells")
        if finished and not resume:
            raise StudyStoreError(
                f"There are finished runs in '{self._path.name}' already. Hint: go on with resume=True "
                "(--resume on the command line), or choose another folder."
            )

    def start(self, plan: Plan, facts: Facts) -> None:
        """Write the plan and the facts, before the first cell.

        Where there are finished cells of other data, or of another schema, task or seed, that is refused.
        """
        spec = Spec.of(plan, facts)
        with explain_errors(self._path), transaction(self._connection):
            if is_empty(self._connection):
                for table in TABLES:
                    self._connection.execute(table)
                self._connection.execute(f"PRAGMA application_id = {APPLICATION}")
                self._connection.execute(f"PRAGMA user_version = {FORMAT}")
            elif self.holds_cells:
                self._check_spec(spec, plan)
                facts = replace(facts, notes=(*facts.notes, *self._other_versions(spec)))
            known = {"plan": plan.to_toml(), "facts": facts_text(facts), "spec": spec.text}
            for key, value in {**known, "evenhand": versions()["evenhand"]}.items():
                row = (key, value, checksum([key, value]))
                self._connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?, ?)", row)
        self.plan, self.facts, self.spec = plan, facts, spec

    def _other_versions(self, spec: Spec) -> tuple[str, ...]:
        """Say which packages had other versions when cells were computed that are finished already."""
        rows = self._connection.execute(_VERSIONS_OF_SPEC, (spec.hash,)).fetchall()
        now = versions()
        then = {pair for (text,) in rows for pair in json.loads(text).items() if now.get(pair[0]) != pair[1]}
        changes = ", ".join(
            f"{name} {version} instead of {now.get(name, 'none')}" for name, version in sorted(then)
        )
        if not changes:
            return ()
        return (f"Some cells were computed with other versions, which may give other numbers: {changes}.",)

    def _check_spec(self, spec: Spec, plan: Plan) -> None:
        differences = self.spec.differences(spec)
        if not differences:
            return
        names = [f"the {name}" for name in differences]
        if differences[:2] == ("data", "schema"):  # a schema says how data is read: which it was is not known
            names = ["the data or the schema", *names[2:]]
        if "data" in differences:
            names[0] += _name_other_reading(self.plan.data, plan.data)
        listed = " and ".join([", ".join(names[:-1]), names[-1]] if names[:-1] else names)
        raise StudyStoreError(
            f"The folder '{self._path.parent.name}' holds another study, which differs in {listed}. "
            "Hint: resume it with the data, roles and labels of its beginning, or use another folder."
        )

    def _load(self, *, check: bool) -> None:
        """Read what is known about the study; refuse a file that is empty or damaged."""
        if is_empty(self._connection):
            raise StudyStoreError(
                f"The store '{self._path.name}' is empty: the study was stopped before its first cell. "
                "Hint: run it again."
            )
        if check and self._faults():
            raise sqlite3.DatabaseError
        known = {}
        for key, value, mark in self._connection.execute("SELECT key, value, checksum FROM meta"):
            if checksum([key, value]) != mark:
                raise sqlite3.DatabaseError
            known[key] = value
        try:
            self.plan = Plan.from_toml(known["plan"], folder=self._path.parent)
            self.facts = facts_from(known["facts"])
            self.spec = Spec(json.loads(known["spec"]))
        except (EvenhandError, ValueError, TypeError, KeyError):
            raise sqlite3.DatabaseError from None

    # --- cells ------------------------------------------------------------------------------------

    def write(self, *outcomes: Outcome, computed_with: Mapping[str, str] | None = None) -> None:
        """Store outcomes in one transaction; what was stored of their cells before is replaced.

        They are `computed_with` the packages of now, unless the versions of earlier ones are given.
        """
        if place_of(self._path) != self._place:  # SQLite would go on writing into a file without a name
            raise StudyStoreError(
                f"The store '{self._path.name}' is not where it was: its folder was removed, moved or "
                "replaced while the study ran. Hint: put it back and resume, or run the study again."
            )
        known = canonical(versions() if computed_with is None else computed_with)
        name = checksum([known])
        now = datetime.now(UTC).isoformat(timespec="seconds")
        rows = [
            row_of(outcome, spec=self.spec.hash, seed=self.plan.seed, versions=name, finished=now)
            for outcome in outcomes
        ]
        with explain_errors(self._path), transaction(self._connection):
            self._connection.execute("INSERT OR IGNORE INTO versions VALUES (?, ?)", (name, known))
            self._connection.executemany(_INSERT, rows)

    def outcomes(self) -> tuple[Outcome, ...]:
        """Return what is stored of the cells of the plan, in the plan's order."""
        stored = {record.outcome.cell.id: record.outcome for record in self.records()}
        return tuple(stored[cell.id] for cell in self.plan.possible_cells() if cell.id in stored)

    def records(self) -> tuple[Record, ...]:
        """Return every stored cell with what it was computed with, those of earlier plans too.

        A row that is damaged is refused with the name of its cell.
        """
        with explain_errors(self._path):
            tables = dict(self._connection.execute(_VERSIONS).fetchall())
            rows = self._connection.execute(_OF_SPEC, (self.spec.hash,)).fetchall()
        return tuple(self._record(row, tables) for row in rows)

    @cached_property
    def _cells_by_id(self) -> dict[str, Cell]:
        """The cells of the plan by their names; unlike those of a row they have labels."""
        return {cell.id: cell for cell in self.plan.possible_cells()}

    def _record(self, row: tuple[Any, ...], tables: dict[str, str]) -> Record:
        outcome = outcome_of(row, file=self._path.name, known=self._cells_by_id)
        columns = dict(zip(COLUMNS, row, strict=True))
        text = tables.get(columns["versions"], "")
        if checksum([text]) != columns["versions"]:
            raise StudyStoreError(
                f"The store '{self._path.name}' is damaged in its table of versions. {PUT_BACK}."
            )
        known = {name: columns[name] for name in ("spec", "seed", "rng", "finished")}
        return Record(outcome, versions=json.loads(text), **known)

    # --- care -------------------------------------------------------------------------------------

    def verify(self) -> tuple[str, ...]:
        """Check the whole file and return what is wrong with it, in sentences; nothing if it is whole."""
        problems: list[str] = []
        try:
            with explain_errors(self._path):
                problems += [f"The file '{self._path.name}': {fault}" for fault in self._faults()]
                rows = self._connection.execute(_ALL).fetchall()
                tables = dict(self._connection.execute(_VERSIONS).fetchall())
        except StudyStoreError as error:
            return (*problems, str(error))
        for row in rows:
            try:
                self._record(row, tables)
            except StudyStoreError as error:
                problems.append(str(error))
        return tuple(problems)

    def _faults(self) -> list[str]:
        """Return what SQLite itself finds wrong."""
        faults = [row[0] for row in self._connection.execute("PRAGMA integrity_check(20)")]
        return [] if faults == ["ok"] else faults

    def close(self) -> None:
        """Close the file, leave it as one plain file if nobody else reads it, and give the folder back."""
        with suppress(sqlite3.Error):
            if self._lock is not None:
                self._connection.execute("PRAGMA busy_timeout = 0")
                self._connection.execute("PRAGMA journal_mode = DELETE")
        self._connection.close()
        if self._lock is not None:
            self._lock.free()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _name_other_reading(before: DataSource | None, now: DataSource | None) -> str:
    """Return the options of the reading that differ, in brackets; nothing where none does."""
    then, today = (
        {} if source is None else {"rows": source.rows, **(source.file_format or FileFormat()).parts}
        for source in (before, now)
    )
    names = [name for name in {**then, **today} if then.get(name) != today.get(name)]
    return f" ({', '.join(names)})" if names else ""
