"""Worker processes: each computes one cell at a time, and one that dies is replaced.

The arrays of the rows that they share are in files for a while, so that every worker maps the same bytes
instead of copying them.
The processes are loky's, whose start neither copies this process nor runs its main module again. The pool is
our own: loky's executor stops as a whole when one of its processes dies.
"""

from __future__ import annotations

import os
import signal
import threading
import time
import warnings
from collections import deque
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import Pipe, resource_tracker
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Any

import loky
import loky.backend.resource_tracker

from evenhand._shared_objects import SharedObject
from evenhand.errors import InvalidParameterError, StudyStoreError
from evenhand.study.plan.cells import Cell
from evenhand.study.run.attempt import as_texts, attempt, failure_of, from_texts, lost
from evenhand.study.run.pace import RunTime, compile_clock
from evenhand.study.store.outcome import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from multiprocessing.connection import Connection

    from evenhand.study.plan.plan import Plan
    from evenhand.study.run.attempt import Execute

ONE_THREAD = dict.fromkeys(
    (
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "MKL_NUM_THREADS",
        "BLIS_NUM_THREADS",
        "VECLIB_MAXIMUM_THREADS",
        "NUMBA_NUM_THREADS",
        "LOKY_MAX_CPU_COUNT",
    ),
    "1",
)
"""What a worker's environment says: one thread for everything, for there are as many workers as cores."""

_POLL_SECONDS = 0.1
_WATCH_SECONDS = 0.5
_LAST_SECONDS = 5.0
_TRIES = 2


@dataclass(frozen=True)
class Job:
    """Hold what every cell of a study needs: the plan, its rows, and the function to call."""

    plan: Plan
    prepared: Any
    execute: Execute

    def run(self, cell: Cell) -> Outcome:
        """Return the outcome of a cell, see :func:`attempt`."""
        return attempt(cell, plan=self.plan, prepared=self.prepared, execute=self.execute)

    def refusal(self, place: str, *, hint: str = "") -> InvalidParameterError:
        """Return the error where the model of the task cannot be sent to a place."""
        task, must_be = self.plan.task, f"a classifier that can be sent to {place}"
        got = type(getattr(task, "model", task)).__name__
        return InvalidParameterError("model", owner=type(task).__name__, must_be=must_be, got=got, hint=hint)


@dataclass(frozen=True)
class Died:
    """A worker process ended in the middle of a cell, which is tried again."""

    cell: Cell
    code: int | None


@dataclass
class _Worker:
    process: Any
    connection: Connection
    cell: Cell | None = None
    since: float = 0.0


class Pool:
    """Processes that compute cells, one at a time each.

    Each is a fresh interpreter, started by loky, with one thread for linear algebra and OpenMP.
    A process that dies is replaced; its cell is tried once more, and is then a recorded failure. `stop` is
    asked ten times a second whether to stop.
    """

    def __init__(self, job: Job, *, count: int, stop: Callable[[], bool]) -> None:
        try:
            self._shared = SharedObject(job)
        except StudyStoreError:
            raise
        except Exception:  # noqa: BLE001 - a stranger's object may refuse in any way
            hint = "workers=1 computes every cell in this process."
            raise job.refusal("worker processes", hint=hint) from None
        self._count = count
        self._stop = stop
        self._workers: list[_Worker] = []
        self.times: dict[str, RunTime] = {}
        """How long each finished cell took, by its name, with what a worker does before its first."""

    def results(self, cells: Iterable[Cell]) -> Iterator[Outcome | Died]:
        """Yield outcomes as they come, until all cells have one or the pool is told to stop."""
        waiting = deque(cells)
        tries: dict[str, int] = {}
        while not self._stop() and (waiting or self._busy()):
            self._assign(waiting)
            for worker, cell in self._ready():
                outcome = self._receive(worker, cell)
                if outcome is not None:
                    yield outcome
                    continue
                code = self._reap(worker)
                tries[cell.id] = tries.get(cell.id, 0) + 1
                if tries[cell.id] < _TRIES:
                    waiting.appendleft(cell)
                    yield Died(cell, code)
                else:
                    yield lost(cell, code=code)

    def drain(self) -> Iterator[Outcome]:
        """Yield what is finished but was not fetched yet, without waiting."""
        for worker, cell in self._busy():
            outcome = self._receive(worker, cell) if worker.connection.poll() else None
            if outcome is not None:
                yield outcome

    def close(self) -> None:
        """End every process, at once, and remove what they shared."""
        for worker in self._workers:
            _end(worker.process)
        for worker in self._workers:
            worker.process.join()
            worker.connection.close()
        self._workers.clear()
        self._shared.close()

    def _busy(self) -> list[tuple[_Worker, Cell]]:
        return [(worker, worker.cell) for worker in self._workers if worker.cell is not None]

    def _assign(self, waiting: deque[Cell]) -> None:
        idle = [worker for worker in self._workers if worker.cell is None]
        while waiting and (idle or len(self._workers) < self._count):
            worker = idle.pop() if idle else self._start()
            worker.cell, worker.since = waiting.popleft(), time.monotonic()
            with suppress(OSError):  # it died; that is seen where its answer is awaited
                worker.connection.send(worker.cell.id)

    def _ready(self) -> list[tuple[_Worker, Cell]]:
        """Wait a moment for answers, and return whose came; the end of a process is one too."""
        busy = self._busy()
        answered = wait([worker.connection for worker, _ in busy], timeout=_POLL_SECONDS)
        return [(worker, cell) for worker, cell in busy if worker.connection in answered]

    def _receive(self, worker: _Worker, cell: Cell) -> Outcome | None:
        """Return what a worker sent, or None if it died."""
        try:
            texts, compiling = worker.connection.recv()
        except (EOFError, OSError):
            return None
        worker.cell = None
        self.times[cell.id] = RunTime(time.monotonic() - worker.since, compiling)
        return from_texts(cell, texts)

    def _start(self) -> _Worker:
        # The first start of a process would start them, which unblocks the signal that is blocked below.
        for tracker in (resource_tracker, loky.backend.resource_tracker):
            tracker.ensure_running()
        ours, theirs = Pipe()
        start = loky.backend.get_context("loky").Process
        process = start(target=serve, args=(theirs, os.getpid()), daemon=True, env=ONE_THREAD)
        with _sigint_blocked():
            process.start()
        theirs.close()
        worker = _Worker(process, ours)
        self._workers.append(worker)
        with suppress(OSError):
            ours.send_bytes(self._shared.message)
        return worker

    def _reap(self, worker: _Worker) -> int | None:
        """Remove a dead worker and return its exit code, its own if it is just about to end."""
        worker.process.join(_LAST_SECONDS)
        _end(worker.process)
        worker.process.join()
        worker.connection.close()
        self._workers.remove(worker)
        code: int | None = worker.process.exitcode
        return code


def serve(connection: Connection, parent: int) -> None:
    """Answer with the outcome of each cell whose name arrives, until the parent closes the connection."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_leave_with, args=(parent,), daemon=True).start()
    warnings.simplefilter("ignore")
    job, failure = None, None
    try:
        job = connection.recv()
    except Exception as error:  # noqa: BLE001 - a model that cannot be loaded here is the result of its cells
        failure = failure_of(error)
    with suppress(EOFError, OSError), compile_clock() as compiled:
        while True:
            cell, before = Cell.from_id(connection.recv()), compiled()
            outcome = Outcome(cell, failure=failure) if job is None else _attempt(cell, job)
            connection.send((as_texts(outcome), compiled() - before))


def _attempt(cell: Cell, job: Job) -> Outcome:
    """Return the outcome of a cell. Ctrl-C does not come here, so a KeyboardInterrupt is the model's own."""
    try:
        return job.run(cell)
    except KeyboardInterrupt as error:
        return Outcome(cell, failure=failure_of(error))


@contextmanager
def _sigint_blocked() -> Iterator[None]:
    """Block Ctrl-C here for a while, and for good in a process that is started meanwhile: we end it."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _end(process: Any) -> None:
    """End a process that we started, at once."""
    if process.exitcode is not None:
        return
    if hasattr(signal, "SIGKILL"):
        with suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGKILL)
    else:
        process.terminate()


def _leave_with(parent: int) -> None:
    """End this process when its parent is gone, whatever it computes."""
    while os.getppid() == parent:
        time.sleep(_WATCH_SECONDS)
    os._exit(1)
