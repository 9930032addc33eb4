"""The desk: functions that read rows, results or charts run here, in processes beside the server.

The server stays quick while they compute, what they load leaves the memory again, and a crash of one is an
error of one call.
"""

from __future__ import annotations

import asyncio
import atexit
import functools
import os
import queue
import signal
import sys
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from multiprocessing import Pipe
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, Self, TypeVar

from evenhand._lazy import lazy
from evenhand.app.state.processes import silence_errors
from evenhand.errors import EvenhandError, WorkbenchError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from multiprocessing.connection import Connection

T = TypeVar("T")

_loky = lazy("loky.backend")

_MEGABYTE = 1 << 20
_ENDED_SECONDS = 5.0
_CRASHED = (
    "The process that works this out ended in the middle of it, perhaps because memory ran out. "
    "Hint: try again, or use fewer rows."
)
_CLOSED = "The workbench is closing. Hint: start it again."


class Desk:
    """Processes that call functions for the server, one call at a time each.

    Parameters
    ----------
    size : int
        How many processes at most. The second is started when the first is busy.
    calls : int
        After how many calls a process is replaced.
    megabytes : int
        Above how much memory a process is replaced after a call.
    modules : sequence of str
        What a process imports before its first call.

    Examples
    --------
    >>> import math
    >>> async def ask_once():
    ...     with Desk() as desk:
    ...         return await desk.ask(math.factorial, 5)
    >>> asyncio.run(ask_once())
    120
    """

    def __init__(
        self, *, size: int = 2, calls: int = 500, megabytes: int = 600, modules: Sequence[str] = ()
    ) -> None:
        self._calls = calls
        self._bytes = megabytes * _MEGABYTE
        self._modules = tuple(modules)
        self._threads = ThreadPoolExecutor(max_workers=size, thread_name_prefix="desk")
        self._lock = threading.Lock()
        self._idle: list[_Clerk] = []
        self._busy: set[_Clerk] = set()
        self._is_closed = False
        atexit.register(self.close)

    async def ask(self, function: Callable[..., T], /, *args: Any, **kwargs: Any) -> T:
        """Call a function in the desk's process, and return what it returns.

        Parameters
        ----------
        function : callable
            A function of a module, which is found again by its name.
        *args, **kwargs
            What it is called with; all of it is sent as a pickle, and so is the result.

        Raises
        ------
        EvenhandError
            What the function raises of ours, as it is. Of an error that is not ours, only its class and the
            line where it came up are told.
        WorkbenchError
            If the process ended; the next call has a new one.
        """
        answer = functools.partial(self._answer, (function, args, kwargs))
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, answer)
        except RuntimeError as error:
            if self._is_closed and not isinstance(error, EvenhandError):
                raise WorkbenchError(_CLOSED) from None
            raise

    def warm(self) -> None:
        """Start a process, if there is none, so that the first call need not wait for it."""
        with suppress(RuntimeError):
            self._threads.submit(self._start_spare)

    def close(self) -> None:
        """End the processes; calls that they work on are an error."""
        atexit.unregister(self.close)
        with self._lock:
            self._is_closed = True
            clerks = [*self._idle, *self._busy]
            self._idle.clear()
        for clerk in clerks:
            clerk.end()
        self._threads.shutdown(wait=True, cancel_futures=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # --- in a thread of the server ----------------------------------------------------------------

    def _answer(self, call: Any) -> Any:
        clerk = self._take()
        try:
            answer = clerk.ask(call)
        except (OSError, EOFError):
            self._drop(clerk)
            raise WorkbenchError(_CLOSED if self._is_closed else _CRASHED) from None
        except BaseException:
            self._drop(clerk)
            raise
        self._give_back(clerk, is_spent=clerk.calls >= self._calls or answer.memory > self._bytes)
        if answer.error is not None:
            raise answer.error
        return answer.value

    def _take(self) -> _Clerk:
        """Return a process that is idle, or a new one."""
        while True:
            with self._lock:
                if self._is_closed:
                    raise WorkbenchError(_CLOSED)
                clerk = self._idle.pop() if self._idle else None
            if clerk is not None and not clerk.is_alive:
                clerk.end()
                continue
            clerk = clerk or _Clerk(self._modules)
            if self._add_busy(clerk):
                return clerk
            clerk.end()

    def _add_busy(self, clerk: _Clerk) -> bool:
        """Note that a process is busy; False if the desk was closed while it started."""
        with self._lock:
            if self._is_closed:
                return False
            self._busy.add(clerk)
            return True

    def _give_back(self, clerk: _Clerk, *, is_spent: bool = False) -> None:
        if is_spent:
            self._drop(clerk)
            self._start_spare()  # its imports go on while nobody asks
            return
        with self._lock:
            self._busy.discard(clerk)
            if not self._is_closed:
                self._idle.append(clerk)
                return
        clerk.end()

    def _start_spare(self) -> None:
        with self._lock:
            is_needed = not self._idle and not self._is_closed
        if is_needed:
            self._give_back(_Clerk(self._modules))

    def _drop(self, clerk: _Clerk) -> None:
        with self._lock:
            self._busy.discard(clerk)
        clerk.end()


class _Clerk:
    """One process of the desk, as the server sees it."""

    def __init__(self, modules: Sequence[str]) -> None:
        self._connection, theirs = Pipe()
        process = _loky.get_context("loky").Process
        self._process = process(target=serve_calls, args=(theirs, tuple(modules)))
        self._process.start()
        theirs.close()
        self.calls = 0

    @property
    def is_alive(self) -> bool:
        return bool(self._process.is_alive())

    def ask(self, call: Any) -> _Answer:
        """Send a call and wait for its answer; EOFError if the process ends."""
        self.calls += 1
        self._connection.send(call)
        answer: _Answer = self._connection.recv()
        return answer

    def end(self) -> None:
        """End the process, whatever it computes."""
        with suppress(OSError):
            if hasattr(signal, "SIGKILL"):
                os.kill(self._process.pid, signal.SIGKILL)
            else:
                self._process.terminate()
        self._process.join(_ENDED_SECONDS)
        with suppress(OSError):
            self._connection.close()


@dataclass(frozen=True)
class _Answer:
    """What came of a call, and how many bytes of memory the process has."""

    value: Any = None
    error: EvenhandError | None = None
    memory: int = 0


# --- in the desk's process ------------------------------------------------------------------------


def serve_calls(connection: Connection, modules: Sequence[str]) -> None:
    """Answer calls until the server closes the connection; then end this process, whatever it computes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the server's
    silence_errors()
    calls: queue.SimpleQueue[Any] = queue.SimpleQueue()
    threading.Thread(target=_read_calls, args=(connection, calls), daemon=True).start()
    warnings.simplefilter("ignore")
    os.umask(0o077)  # what it writes is as private as the folder of studies
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")  # 456 MB, not 522, for a CSV file of 200 MB
    for module in modules:
        with suppress(Exception):  # a call that needs it says why it cannot be had
            import_module(module)
    while True:
        answer = _answer(calls.get())
        try:
            connection.send(answer)
        except OSError:
            return
        except Exception as error:  # noqa: BLE001 - a result, or a fact of an error, that cannot be sent
            sentence = str(answer.error) if answer.error is not None else _describe(error)
            connection.send(_Answer(error=WorkbenchError(sentence), memory=answer.memory))


def _read_calls(connection: Connection, calls: queue.SimpleQueue[Any]) -> None:
    while True:
        try:
            calls.put(connection.recv())
        except (EOFError, OSError):
            os._exit(0)
        except Exception as error:  # noqa: BLE001 - a call that cannot be read here, as its module is missing
            calls.put((_refuse, (error,), {}))


def _refuse(error: Exception) -> None:
    raise error


def _answer(call: Any) -> _Answer:
    """Return the answer to a call."""
    function, args, kwargs = call
    try:
        return _Answer(value=function(*args, **kwargs), memory=_memory())
    except EvenhandError as error:
        return _Answer(error=error, memory=_memory())
    except Exception as error:  # noqa: BLE001 - whatever it is, the next call must work
        return _Answer(error=WorkbenchError(_describe(error)), memory=_memory())


def _describe(error: Exception) -> str:
    """Return what may be told of an error that is not ours: its class and its line, no value and no path."""
    place, trace = "an unknown place", error.__traceback__
    while trace is not None:
        place = f"{PurePath(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}"
        trace = trace.tb_next
    return (
        f"Something went wrong in evenhand itself: {type(error).__name__} at {place}. "
        "Hint: try again; if it happens again, report it with this sentence."
    )


def _memory() -> int:
    """Return how many bytes of memory this process has, or had at most where only that is known."""
    with suppress(OSError, ValueError, IndexError):
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")
    with suppress(ImportError):
        resource = import_module("resource")
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return int(most if sys.platform == "darwin" else most << 10)
    return 0
