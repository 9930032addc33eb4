"""Worker processes: each computes one cell at a time, and one that dies is replaced.

The rows that they share are in files for a while, so that every worker maps the same bytes instead of copying
them.
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
from collections.abc import Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields, replace
from multiprocessing import Pipe, resource_tracker
from multiprocessing.connection import wait
from multiprocessing.reduction import ForkingPickler
from typing import TYPE_CHECKING, Any

import loky
import loky.backend.resource_tracker
import numpy as np

from evenhand._shared_folders import SharedFolder, shared_places
from evenhand.errors import InvalidParameterError, StudyStoreError
from evenhand.study.plan.cells import Cell
from evenhand.study.run.attempt import as_texts, attempt, failure_of, from_texts, lost
from evenhand.study.run.pace import RunTime, compile_clock
from evenhand.study.store.outcome import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from multiprocessing.connection import Connection
    from pathlib import Path

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
    """What every cell of a study needs: the plan, the rows as they are shared, and the function to call."""

    plan: Plan
    prepared: Any
    execute: Execute


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
    A process that dies is replaced; its cell is tried once more, and is then a recorded failure.

    Parameters
    ----------
    job : Job
    count : int
        How many processes.
    stop : callable
        Asked ten times a second whether to stop.
    """

    def __init__(self, job: Job, *, count: int, stop: Callable[[], bool]) -> None:
        self._message = _pack(job)
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
        """End every process, at once."""
        for worker in self._workers:
            _end(worker.process)
        for worker in self._workers:
            worker.process.join()
            worker.connection.close()
        self._workers.clear()

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
            ours.send_bytes(self._message)
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
        prepared = open_arrays(job.prepared)
    except Exception as error:  # noqa: BLE001 - a model that cannot be loaded here is the result of its cells
        failure = failure_of(error)
    with suppress(EOFError, OSError), compile_clock() as compiled:
        while True:
            cell, before = Cell.from_id(connection.recv()), compiled()
            if job is None or failure is not None:
                outcome = Outcome(cell, failure=failure)
            else:
                outcome = _attempt(cell, job, prepared)
            connection.send((as_texts(outcome), compiled() - before))


def _attempt(cell: Cell, job: Job, prepared: Any) -> Outcome:
    """Return the outcome of a cell. Ctrl-C does not come here, so a KeyboardInterrupt is the model's own."""
    try:
        return attempt(cell, plan=job.plan, prepared=prepared, execute=job.execute)
    except KeyboardInterrupt as error:
        return Outcome(cell, failure=failure_of(error))


def _pack(job: Job) -> Any:
    """Return the job as a message; a model that was defined in a notebook goes with it."""
    try:
        return ForkingPickler.dumps(loky.wrap_non_picklable_objects(job, keep_wrapper=False))
    except Exception:  # noqa: BLE001 - a stranger's object may refuse in any way
        task, must_be = job.plan.task, "a classifier that can be sent to worker processes"
        got = type(getattr(task, "model", task)).__name__
        hint = "workers=1 computes every cell in this process."
        raise InvalidParameterError(
            "model", owner=type(task).__name__, must_be=must_be, got=got, hint=hint
        ) from None


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


# --- rows that workers share -------------------------------------------------------------------------


@dataclass(frozen=True)
class Mapped:
    """An array in a file."""

    path: str

    def open(self) -> Any:
        """Return the array, mapped, which nobody can write into."""
        return np.asarray(np.load(self.path, mmap_mode="r", allow_pickle=False))


class Shared:
    """The arrays of prepared rows in a folder of their own, which only this person may read.

    The folder is in the memory where there is room, else in the folder for temporary files. It is removed
    when it is closed. If this process is killed, any later command or study removes it, see
    :func:`evenhand._shared_folders.remove_left_folders`.

    Parameters
    ----------
    prepared : dataclass
        Its fields that are arrays, or mappings of arrays, are written; the others stay as they are.
    """

    def __init__(self, prepared: Any) -> None:
        with suppress(OSError):
            for place in shared_places(_size_of(prepared)):
                with suppress(OSError):
                    self._write(prepared, place)
                    return
        raise StudyStoreError(
            "The rows cannot be shared with worker processes: the folder for temporary files is full or "
            "may not be written. Hint: make room there, name another one in TMPDIR, or use workers=1."
        )

    def _write(self, prepared: Any, place: Path) -> None:
        self._folder = SharedFolder(place)
        self._files = 0
        try:
            changes = {
                field.name: self._write_value(getattr(prepared, field.name)) for field in fields(prepared)
            }
            self.prepared = replace(prepared, **changes)
        except BaseException:
            self.close()
            raise

    def _write_value(self, value: Any) -> Any:
        if isinstance(value, np.ndarray) and value.size:
            name = f"{self._files}.npy"
            self._files += 1
            with self._folder.create(name) as file:
                np.save(file, value, allow_pickle=False)
            return Mapped(str(self._folder.path / name))
        if isinstance(value, Mapping) and any(isinstance(inner, np.ndarray) for inner in value.values()):
            return {name: self._write_value(inner) for name, inner in value.items()}
        return value

    def close(self) -> None:
        """Remove the folder."""
        self._folder.close()


def _size_of(prepared: Any) -> int:
    """Return how many bytes the arrays of prepared rows take."""
    values = [getattr(prepared, field.name) for field in fields(prepared)]
    values += [inner for value in values if isinstance(value, Mapping) for inner in value.values()]
    return sum(value.nbytes for value in values if isinstance(value, np.ndarray))


def open_arrays(prepared: Any) -> Any:
    """Return prepared rows with their arrays mapped from the files."""
    return replace(
        prepared, **{field.name: _open_value(getattr(prepared, field.name)) for field in fields(prepared)}
    )


def _open_value(value: Any) -> Any:
    if isinstance(value, Mapped):
        return value.open()
    if isinstance(value, Mapping) and any(isinstance(inner, Mapped) for inner in value.values()):
        return {name: _open_value(inner) for name, inner in value.items()}
    return value
