"""Run a study: to its end, or step by step, where what happens comes as events and a token stops it."""

from __future__ import annotations

import os
import time
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from evenhand._shared_folders import remove_left_folders
from evenhand._validate import integer, kind_of, refuse
from evenhand.study.plan.plan import Plan
from evenhand.study.plan.stages import expect_confirming, split_cells
from evenhand.study.results.results import PLAN_FILE, SCHEMA_FILE, Results
from evenhand.study.run.attempt import execute
from evenhand.study.run.cluster import ClusterPool, cluster_of
from evenhand.study.run.events import (
    Cancel,
    Cancelled,
    CellDone,
    CellFailed,
    Event,
    Finished,
    StageDone,
    Started,
    Timed,
    WorkerDied,
    listening,
)
from evenhand.study.run.pace import Pace, RunTime, compile_clock, spread_first_repeat
from evenhand.study.run.prepare import prepare
from evenhand.study.run.workers import Died, Job, Pool
from evenhand.study.store.file import FILE, path_of
from evenhand.study.store.store import LOCK, Store

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator, Sequence
    from os import PathLike
    from pathlib import Path

    from evenhand.study.plan.cells import Cell
    from evenhand.study.plan.facts import Facts
    from evenhand.study.run.attempt import Execute
    from evenhand.study.store.outcome import Outcome
    from evenhand.study.tasks.base import Prepared

_MOST_WORKERS = 1024


def run(  # noqa: PLR0913 - one keyword for each option
    plan: Plan,
    *,
    frame: Any = None,
    out: str | PathLike[str] | None = None,
    workers: int | None = None,
    engine: str = "local",
    scheduler: Any = None,
    resume: bool = False,
    retry_failed: bool = False,
    quick: bool = False,
    progress: Any = None,
    cancel: Cancel | None = None,
) -> Results:
    """Run every cell of a plan and return the results.

    The same plan on the same data gives the same table, to the byte, for any number of workers and however
    often the study was stopped and resumed.

    Parameters
    ----------
    plan : Plan
    frame : pandas, Polars or Arrow frame, optional
        The data, instead of what the plan names.
    out : str or path, optional
        A folder for the store ``study.db`` and the plan ``plan.toml``; made if it is not there. Without it
        the results are in memory only.
    workers : int, optional
        How many processes; by default as many as there are cores to use. 1 computes in this process.
    engine : {"local", "dask"}, default "local"
        Whether cells run on this machine or on the workers of a Dask cluster, to which all rows are sent.
    scheduler : str, DaskCluster or distributed.Client, optional
        Of the cluster: its address, the address with the files for ``tls://``, or a client.
    resume : bool, default False
        Go on with the study that is in the folder: finished cells are not run again.
    retry_failed : bool, default False
        With `resume`, run the cells again that failed.
    quick : bool, default False
        Run only what says who pays, and the remedies; the rest can be run later with `resume`.
    progress : bool or callable, optional
        True shows a bar, False nothing; a function is called with every event. By default a bar is shown if
        there is a terminal or a notebook to show it in.
    cancel : Cancel, optional
        Stops the study from another thread; the results are then those of the cells that are finished.

    Returns
    -------
    Results

    Raises
    ------
    StudyStoreError
        If the folder holds another study, or finished cells and `resume` is False, or if another process
        writes there.
    PlanError
        If the plan does not fit the data.
    KeyboardInterrupt
        After Ctrl-C: workers are ended and what is finished is stored. Its text says how to go on.

    Examples
    --------
    >>> from evenhand.study import CollectTask, DataSource, Plan
    >>> data = DataSource(dataset="causal", options={"n": 300})
    >>> results = run(Plan(data=data, task=CollectTask("grr", [1, 4]), repeats=2), workers=1)
    >>> len(results)
    6
    """
    runner = Runner(
        plan,
        frame=frame,
        out=out,
        workers=workers,
        engine=engine,
        scheduler=scheduler,
        resume=resume,
        retry_failed=retry_failed,
        quick=quick,
        cancel=cancel or Cancel(),
    )
    with listening(progress) as tell, closing(runner.events()) as events:
        try:
            for event in events:
                tell(event)
        except KeyboardInterrupt:
            events.close()
            tell(runner.event(Cancelled))
            raise KeyboardInterrupt(_stopped(runner, kept=out is not None)) from None
    return runner.results


def _stopped(runner: Runner, *, kept: bool) -> str:
    counts = f"{len(runner.outcomes)} of {runner.total} runs are finished"
    if not kept:
        return f"Stopped: {counts}, and none is kept, for the study has no folder."
    if not runner.outcomes:
        return f"Stopped: {counts}, so nothing was kept. Run it again."
    return f"Stopped: {counts} and stored. Go on with resume=True (--resume on the command line)."


def follow(
    plan: Plan,
    *,
    frame: Any = None,
    out: str | PathLike[str] | None = None,
    workers: int | None = None,
    engine: str = "local",
    scheduler: Any = None,
    resume: bool = False,
    retry_failed: bool = False,
    quick: bool = False,
    cancel: Cancel | None = None,
) -> Generator[Event]:
    """Run a study and yield what happens; the study goes on as the next event is asked for.

    Parameters
    ----------
    plan : Plan
    frame : pandas, Polars or Arrow frame, optional
        The data, instead of what the plan names.
    out : str or path, optional
        A folder for the store and the plan; made if it is not there. Without it nothing is kept.
    workers : int, optional
        How many processes; by default as many as there are cores to use. 1 computes in this process.
    engine : {"local", "dask"}, default "local"
        Whether cells run on this machine or on the workers of a Dask cluster, to which all rows are sent.
    scheduler : str, DaskCluster or distributed.Client, optional
        Of the cluster: its address, the address with the files for ``tls://``, or a client.
    resume : bool, default False
        Go on with the study that is in the folder.
    retry_failed : bool, default False
        With `resume`, run the cells again that failed.
    quick : bool, default False
        Run only what says who pays, and the remedies.
    cancel : Cancel, optional
        Stops the study: worker processes within a second, in this process after the cell that runs.

    Yields
    ------
    Event
        :class:`Started`, then :class:`CellDone` or :class:`CellFailed` for each cell once it is stored, with
        a :class:`WorkerDied` where a process was lost and one ``Timed`` as soon as the time that is left can
        be told, a ``StageDone`` after each stage but the last, and at last :class:`Finished` or
        :class:`Cancelled`.

    Raises
    ------
    StudyStoreError
        If the folder holds another study, or finished cells and `resume` is False, or if another process
        writes there.
    PlanError
        If the plan does not fit the data.

    Examples
    --------
    >>> from evenhand.study import DataSource, Plan
    >>> plan = Plan(data=DataSource(dataset="causal", options={"n": 300}), repeats=1)
    >>> for event in follow(plan, workers=1):
    ...     print(type(event).__name__, event.done, "of", event.total)
    Started 0 of 2
    CellDone 1 of 2
    CellDone 2 of 2
    Finished 2 of 2
    """
    return Runner(
        plan,
        frame=frame,
        out=out,
        workers=workers,
        engine=engine,
        scheduler=scheduler,
        resume=resume,
        retry_failed=retry_failed,
        quick=quick,
        cancel=cancel or Cancel(),
    ).events()


@dataclass(kw_only=True, eq=False, repr=False)
class Runner:
    """One run of a study, and what came of it so far; for its options see :func:`follow`."""

    plan: Plan = field(kw_only=False)
    frame: Any = None
    out: str | PathLike[str] | None = None
    workers: int | None = None
    engine: str = "local"
    scheduler: Any = None
    resume: bool = False
    retry_failed: bool = False
    quick: bool = False
    cancel: Cancel = field(default_factory=Cancel)
    execute: Execute | None = None
    facts: Facts = field(init=False)
    """Known once the study has started."""
    outcomes: dict[str, Outcome] = field(init=False, default_factory=dict)
    """By the cell's name, those of earlier runs too."""

    def __post_init__(self) -> None:
        given: object = self.plan
        if not isinstance(given, Plan):
            refuse("plan", "run", "a Plan", kind_of(given))
        if self.workers is not None:
            self.workers = integer("workers", self.workers, owner="run", low=1, high=_MOST_WORKERS)
        self._cluster = cluster_of(self.engine, self.scheduler)
        if self._cluster is not None and self.workers is not None:
            refuse("workers", "run", "left out with engine='dask', for the cluster has its own", self.workers)
        if self.resume and self.out is None:
            refuse("resume", "run", "False without the folder of a study in 'out'", self.resume)
        self._store: Store | None = None
        *self._stages, others = split_cells(self.plan)
        self._others = [] if self.quick else others
        self._confirming: Sequence[Cell] | None = None if self.plan.confirm and not self.quick else ()
        self._failed = 0
        self._timed: Event | None = None

    @property
    def total(self) -> int:
        """All cells that are to be run; those that confirm a remedy once it is chosen."""
        return sum(map(len, (*self._stages, self._confirming or (), self._others)))

    @property
    def results(self) -> Results:
        """What is finished so far."""
        return Results(self.plan, self.facts, self.outcomes.values())

    def stages(self) -> Iterator[list[Cell]]:
        """Yield the unfinished cells of each stage; which confirm a remedy is found after remedies."""
        for stage in self._stages:
            yield self._unfinished(stage)
        yield self._unfinished(self._find_confirming())
        yield self._unfinished(self._others)

    def _find_confirming(self) -> Sequence[Cell]:
        """Return the cells that confirm a remedy, once all remedies were tried."""
        if self._confirming is None:
            self._confirming = self.results.confirming
        return self._confirming

    def _unfinished(self, cells: Iterable[Cell]) -> list[Cell]:
        return [cell for cell in cells if cell.id not in self.outcomes]

    def event(self, kind: type[Event], **more: Any) -> Event:
        """Return an event of this kind, with the numbers as they are now."""
        return kind(done=len(self.outcomes), failed=self._failed, total=self.total, **more)

    def events(self) -> Generator[Event]:
        """Yield what happens, see :func:`follow`."""
        remove_left_folders()
        made: list[Path] = []
        if self.out is not None:
            made = _missing_paths(self.out)
            self._store = Store.reserve(self.out, resume=self.resume)
        try:
            prepared = self._prepared()
            self._begin(prepared)
            yield self.event(Started)
            for news in self._news(prepared):
                if news is None:
                    if not any(map(self._unfinished, self._stages)):
                        self._find_confirming()  # which may be nothing, so that all is done
                    if len(self.outcomes) < self.total:
                        yield self.event(StageDone, results=self.results)
                elif isinstance(news, Died):
                    yield self.event(WorkerDied, cell=news.cell, code=news.code)
                else:
                    kind = CellDone if news.failure is None else CellFailed
                    yield self.event(kind, outcome=news)
                if self._timed is not None:
                    yield self._timed
                    self._timed = None
            yield self.event(Finished if len(self.outcomes) >= self.total else Cancelled)
        finally:
            if self._store is not None:
                is_bare = not self._store.holds_cells
                self._store.close()
                if is_bare:
                    _remove_made(made)

    def _prepared(self) -> Prepared:
        return prepare(self.plan, frame=self.frame)

    def _begin(self, prepared: Prepared) -> None:
        """Write the plan and the facts, and read what was finished earlier."""
        self.facts = prepared.facts
        if self._store is None:
            return
        kept = _seen_from(self._store.folder, self.plan)
        self._store.start(kept, prepared.facts)
        self.facts = self._store.facts
        kept.save(self._store.folder / PLAN_FILE)
        if self.facts.schema.sensitive or self.plan.task.keeps_schema:
            self.facts.schema.save(self._store.folder / SCHEMA_FILE)
        for outcome in self._store.outcomes():
            if outcome.failure is None or not self.retry_failed:
                self._count(outcome)
        if not any(map(self._unfinished, self._stages)):
            self._find_confirming()

    def _news(self, prepared: Prepared) -> Iterator[Outcome | Died | None]:
        """Yield outcomes once they are stored, and None at the end of a stage."""
        job, stop = Job(self.plan, prepared, self.execute or execute), lambda: self.cancel.requested
        waiting = [cell for stage in (*self._stages, self._others) for cell in self._unfinished(stage)]
        known = self._confirming
        more = expect_confirming(self.plan) if known is None else len(self._unfinished(known))
        workers = min(self.workers or _cores(), len(waiting) + more)
        if self._cluster is not None and workers:
            remote = ClusterPool(job, cluster=self._cluster, stop=stop)
            yield from self._pooled(remote, Pace(waiting, workers=remote.count, more=more))
        elif workers > 1:
            pool = Pool(job, count=workers, stop=stop)
            yield from self._pooled(pool, Pace(waiting, workers=workers, more=more))
        else:
            yield from self._alone(job, Pace(waiting, workers=1, more=more))

    def _alone(self, job: Job, pace: Pace) -> Iterator[Outcome | None]:
        """Compute cells in this process."""
        with compile_clock() as compiled:
            for stage in self.stages():
                for cell in stage:
                    if self.cancel.requested:
                        return
                    start, before = time.monotonic(), compiled()
                    outcome = self._store_outcome(job.run(cell))
                    self._note_time(pace, outcome, RunTime(time.monotonic() - start, compiled() - before))
                    yield outcome
                if stage:
                    yield None

    def _pooled(self, pool: Pool | ClusterPool, pace: Pace) -> Iterator[Outcome | Died | None]:
        """Let workers compute cells, and store what is finished before anything ends them."""
        try:
            for stage in self.stages():
                for news in pool.results(spread_first_repeat(stage)):
                    if not isinstance(news, Died):
                        self._store_outcome(news)
                        self._note_time(pace, news, pool.times.get(news.cell.id, RunTime(0.0)))
                    yield news
                if self.cancel.requested:
                    break
                if stage:
                    yield None
            for outcome in pool.drain():
                yield self._store_outcome(outcome)
        except (KeyboardInterrupt, GeneratorExit):
            for outcome in pool.drain():
                self._store_outcome(outcome)
            raise
        finally:
            pool.close()

    def _note_time(self, pace: Pace, outcome: Outcome, took: RunTime) -> None:
        """Keep an event that tells how long the rest takes, once that is known."""
        left = pace.add(outcome.cell, took)
        if left is not None:
            self._timed = self.event(Timed, seconds_left=left, workers=pace.workers)

    def _store_outcome(self, outcome: Outcome) -> Outcome:
        if self._store is not None:
            self._store.write(outcome)
        self._count(outcome)
        return outcome

    def _count(self, outcome: Outcome) -> None:
        self.outcomes[outcome.cell.id] = outcome
        self._failed += outcome.failure is not None


def _missing_paths(out: str | PathLike[str]) -> list[Path]:
    """Return what a study makes in its folder and is not there yet, each before what holds it."""
    folder = path_of(out).parent
    if folder.exists():
        return [path_of(out)] if not os.path.lexists(path_of(out)) else []
    files = [folder / name for name in (FILE, LOCK, PLAN_FILE, SCHEMA_FILE)]
    return [*files, *(path for path in (folder, *folder.parents) if not path.exists())]


def _remove_made(paths: Sequence[Path]) -> None:
    """Remove what a study made that has no finished cell, so that it does not keep the next one out."""
    for path in paths:
        with suppress(OSError):
            if path.is_dir():
                path.rmdir()
            else:
                path.unlink()


def _seen_from(folder: Path, plan: Plan) -> Plan:
    """Return the plan as its file beside the store should say it: a path of data from that folder."""
    if plan.data is None or plan.data.path is None:
        return plan
    path = os.path.abspath(plan.data.path)  # noqa: PTH100 - links stay as the person named them
    with suppress(ValueError):  # on another drive it stays absolute
        path = os.path.relpath(path, folder)
    return plan.with_(data=replace(plan.data, path=path))


def _cores() -> int:
    from joblib import cpu_count  # noqa: PLC0415 - only where the number is not given

    return int(cpu_count())
