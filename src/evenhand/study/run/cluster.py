"""Cells on a Dask cluster: workers elsewhere compute them, the store stays here.

The rows go to the workers' memory, in full and not private. A cell gives the same bytes there as here, which
is why a worker with another version of evenhand or of a package that numbers depend on is refused.
"""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, NoReturn

from threadpoolctl import threadpool_limits

from evenhand._validate import kind_of, one_of, refuse
from evenhand.errors import ClusterError, MissingExtraError
from evenhand.study.plan.cells import Cell
from evenhand.study.plan.facts import versions
from evenhand.study.run.attempt import as_texts, from_texts, lost
from evenhand.study.run.pace import RunTime, compile_clock
from evenhand.study.run.workers import Died

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from evenhand.study.run.workers import Job
    from evenhand.study.store.outcome import Outcome

ENGINES = ("local", "dask")
"""Where cells can be computed: by processes of this machine, or by the workers of a Dask cluster."""

_POLL_SECONDS = 0.1
_LOOK_SECONDS = 2.0
_CONNECT_SECONDS = 10
_PATIENCE_SECONDS = 60.0
_TRIES = 3
_ONE_CELL = threading.Lock()


@dataclass(frozen=True)
class DaskCluster:
    """A Dask cluster by the address of its scheduler.

    Parameters
    ----------
    scheduler : str or distributed.Client
        Such as ``"tcp://10.0.0.1:8786"`` or ``"tls://10.0.0.1:8786"``, or a client that is connected, which
        stays open.
    ca_file, cert_file, key_file : str or path, optional
        The certificate of the authority, our certificate and its key, all three in PEM files, for an address
        that begins with ``tls://``.
    """

    scheduler: Any
    ca_file: str | Path | None = None
    cert_file: str | Path | None = None
    key_file: str | Path | None = None

    def __post_init__(self) -> None:
        files = {"ca_file": self.ca_file, "cert_file": self.cert_file, "key_file": self.key_file}
        given = [name for name, path in files.items() if path is not None]
        owner = "DaskCluster"
        if given and len(given) < len(files):
            must_be = "given together with the other two of ca_file, cert_file and key_file"
            refuse(given[0], owner, must_be, ", ".join(given))
        for name in given:
            if not Path(str(files[name])).is_file():
                refuse(name, owner, "a file that is there", "none")
        if isinstance(self.scheduler, str) and self.scheduler.startswith("tls://") != bool(given):
            must_be = "an address that begins with tls:// where ca_file is given, and only there"
            refuse("scheduler", owner, must_be, self.scheduler)

    def connect(self) -> Any:
        """Return a client of the scheduler.

        Raises
        ------
        MissingExtraError
            If distributed is not installed.
        ClusterError
            If nobody answers at the address.
        """
        try:
            from distributed import Client, Security  # noqa: PLC0415 - an extra
        except ImportError:
            raise MissingExtraError(
                "distributed", feature="A study on a Dask cluster", extra="dask"
            ) from None
        if isinstance(self.scheduler, Client):
            return self.scheduler
        security = None
        if self.ca_file is not None:
            security = Security(
                tls_ca_file=str(self.ca_file),
                tls_client_cert=str(self.cert_file),
                tls_client_key=str(self.key_file),
                require_encryption=True,
            )
        try:
            return Client(self.scheduler, security=security, timeout=_CONNECT_SECONDS, set_as_default=False)
        except (OSError, ValueError, RuntimeError, TypeError) as error:
            message = f"No Dask scheduler answers at {self.scheduler} ({type(error).__name__})."
            hint = "start one with 'dask scheduler', and check the address and the TLS files"
            raise ClusterError(f"{message} Hint: {hint}.") from None


def cluster_of(engine: str, scheduler: Any) -> DaskCluster | None:
    """Return the cluster that the options of a run name, None for the machine itself."""
    one_of("engine", engine, ENGINES, owner="run")
    if engine == "local":
        if scheduler is not None:
            got = scheduler if isinstance(scheduler, str) else kind_of(scheduler)
            refuse("scheduler", "run", "left out unless engine is 'dask'", got)
        return None
    if isinstance(scheduler, DaskCluster):
        return scheduler
    if not scheduler:
        must_be = "the address of a Dask scheduler, such as tcp://127.0.0.1:8786, or a client"
        refuse("scheduler", "run", must_be, scheduler)
    return DaskCluster(scheduler)


class ClusterPool:
    """Workers of a Dask cluster that compute cells, one at a time in each process.

    The cells of a worker that is lost are run again by another. A cell whose workers were lost again and
    again is a recorded failure, as with processes of this machine. `stop` is asked ten times a second.
    """

    def __init__(self, job: Job, *, cluster: DaskCluster, stop: Callable[[], bool]) -> None:
        self._job, self._stop = job, stop
        self._wanted = dict(versions(job.plan.task.used_packages))
        self._client = cluster.connect()
        self._is_ours = self._client is not cluster.scheduler
        self._cells: dict[Any, Cell] = {}
        self._done: SimpleQueue[Any] = SimpleQueue()
        self._tries: dict[str, int] = {}
        self._is_closed = False
        self._looked = self._seen = time.monotonic()
        self.times: dict[str, RunTime] = {}
        """How long each finished cell took, by its name."""
        try:
            self.count = self._check_workers()
            self._rows = self._send_rows()
        except BaseException:
            self.close()
            raise

    def results(self, cells: Iterable[Cell]) -> Iterator[Outcome | Died]:
        """Yield outcomes as they come, until all cells have one or the pool is told to stop."""
        for cell in cells:
            self._submit(cell)
        while self._cells and not self._stop():
            try:
                future = self._done.get(timeout=_POLL_SECONDS)
            except Empty:
                self._look_for_workers()
                continue
            self._seen = time.monotonic()
            if future in self._cells:
                yield self._receive(future)

    def drain(self) -> Iterator[Outcome]:
        """Yield what is finished but was not fetched yet, without waiting."""
        with suppress(Empty):
            while True:
                future = self._done.get_nowait()
                if future in self._cells and future.status == "finished":
                    outcome = self._receive(future)
                    if not isinstance(outcome, Died):
                        yield outcome

    def close(self) -> None:
        """Take back what was not computed, and leave the cluster."""
        if self._is_closed:
            return
        self._is_closed = True
        with suppress(Exception):  # the cluster may be gone
            self._client.cancel([*self._cells, *([self._rows] if hasattr(self, "_rows") else [])])
        self._cells.clear()
        if self._is_ours:
            with suppress(Exception):
                self._client.close(timeout=_CONNECT_SECONDS)

    # --- the cluster ----------------------------------------------------------------------------------

    def _check_workers(self) -> int:
        """Return how many workers there are; refuse none, and those that would give other numbers."""

        def installed(names: tuple[str, ...]) -> dict[str, str]:  # goes by value: evenhand may be missing
            import importlib.metadata  # noqa: PLC0415 - runs elsewhere
            import platform  # noqa: PLC0415

            numbers = {"python": platform.python_version()}
            for name in names:
                try:
                    numbers[name] = importlib.metadata.version(name)
                except importlib.metadata.PackageNotFoundError:
                    continue
            return numbers

        names = tuple(name for name in self._wanted if name != "python")
        try:
            self._client.wait_for_workers(1, timeout=_CONNECT_SECONDS)
            answers = self._client.run(installed, names)
        except TimeoutError:
            message = "The Dask cluster has no worker."
            raise ClusterError(
                f"{message} Hint: start some with 'dask worker ADDRESS --nthreads 1'."
            ) from None
        for numbers in answers.values():
            _refuse_other_versions(self._wanted, numbers)
        return len(answers)

    def _send_rows(self) -> Any:
        try:
            return self._client.scatter(self._job, broadcast=True, hash=False)
        except (TypeError, AttributeError, ImportError, ValueError):
            raise self._job.refusal("other machines") from None

    def _submit(self, cell: Cell) -> None:
        future = self._client.submit(_compute, cell.id, self._rows, self._wanted, pure=False)
        self._cells[future] = cell
        future.add_done_callback(self._done.put)

    def _receive(self, future: Any) -> Outcome | Died:
        """Return the outcome of a future that is done; a cell that was lost is handed out once more."""
        cell = self._cells.pop(future)
        if future.status == "finished":
            texts, *took = future.result()
            self.times[cell.id] = RunTime(*took)
            return from_texts(cell, texts)
        if future.status == "error":
            self._refuse_or_pass(future.exception())
            return lost(cell, code=None)
        self._tries[cell.id] = self._tries.get(cell.id, 0) + 1
        if self._client.status != "running":
            self._give_up("The Dask scheduler is gone.")
        if self._tries[cell.id] >= _TRIES:
            return lost(cell, code=None)
        if self._rows.status != "finished":  # the workers that held the rows are gone
            self._rows = self._send_rows()
        self._submit(cell)
        return Died(cell, None)

    def _refuse_or_pass(self, error: BaseException) -> None:
        """Raise what is no loss of a worker: a worker that cannot compute cells as this machine does."""
        if isinstance(error, ClusterError):
            raise error
        if type(error).__name__ == "KilledWorker":
            return
        message = f"A worker of the Dask cluster cannot run cells ({type(error).__name__})."
        raise ClusterError(f"{message} Hint: install the same evenhand on every worker.")

    def _look_for_workers(self) -> None:
        """Give up if the scheduler is gone, or if nobody has worked for a minute because there is nobody."""
        if time.monotonic() - self._looked < _LOOK_SECONDS:
            return
        self._looked = time.monotonic()
        if self._client.status != "running":
            self._give_up("The Dask scheduler is gone.")
        try:
            is_staffed = bool(self._client.nthreads())
        except (OSError, TimeoutError, ValueError):
            self._give_up("The Dask scheduler is gone.")
        if is_staffed:
            self._seen = self._looked
        elif self._looked - self._seen > _PATIENCE_SECONDS:
            self._give_up("The Dask cluster has had no worker for a minute.")

    def _give_up(self, message: str) -> NoReturn:
        hint = "finished runs are kept; go on with resume=True (--resume on the command line)."
        raise ClusterError(f"{message} Hint: {hint}")


def _compute(name: str, job: Job, wanted: Mapping[str, str]) -> tuple[Any, float, float]:
    """Compute a cell on a worker: the texts of its outcome, how long it took, how much of that was compiling.

    Cells of one process take turns: the filters for warnings and the number of threads are the process's.
    """
    _refuse_other_versions(wanted, dict(versions(job.plan.task.used_packages)))
    with _ONE_CELL, threadpool_limits(1), compile_clock() as compiled:
        start = time.monotonic()
        texts = as_texts(job.run(Cell.from_id(name)))
        return texts, time.monotonic() - start, compiled()


def _refuse_other_versions(wanted: Mapping[str, str], numbers: Mapping[str, str]) -> None:
    """Refuse a worker whose versions are not ours: its cells could have other numbers."""
    other = [
        f"{f'{name} {numbers[name]}' if name in numbers else f'no {name}'} instead of {number}"
        for name, number in wanted.items()
        if numbers.get(name) != number
    ]
    if other:
        message = f"A worker of the Dask cluster has {', '.join(other)}, so that its results could differ."
        raise ClusterError(f"{message} Hint: install the same versions on every worker and here.")
