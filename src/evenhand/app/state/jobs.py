"""The queue of runs: one study at a time runs in a process of its own, the others wait."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
import time
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from evenhand._formats import parse_json
from evenhand._shared_folders import remove_left_folders
from evenhand.app.state.files import write_private
from evenhand.app.state.processes import end_process, start_python
from evenhand.app.state.workspace import PROGRESS
from evenhand.errors import EvenhandError, WorkbenchError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from evenhand.app.state.workspace import Workspace

State = Literal["none", "waiting", "running", "stopped", "finished", "failed"]

_WORKER = "evenhand.app.state.worker"
_STOP_SECONDS = 1.5
_BUSY, _ENDS = ("waiting", "running"), ("stopped", "finished", "failed")
_KEPT = "Finished runs are kept. Hint: go on with it."
_CLOSED = f"The workbench was closed before this study was done. {_KEPT}"
_LARGEST_PROGRESS = 2_000_000


@dataclass(frozen=True)
class RunState:
    """How the run of a study goes.

    Parameters
    ----------
    state : {"none", "waiting", "running", "stopped", "finished", "failed"}
    done, total, failed : int
        Runs that are finished, all of them, and those of the finished that failed.
    per_minute, seconds_left : float, optional
        How fast it goes, and how long the rest takes; None as long as that cannot be told.
    started, ended : float, optional
        When it began and ended, in seconds since 1970.
    place : int
        In the queue: 1 is next.
    message : str
        Why it stopped or failed, in one or two sentences.
    first : tuple of mapping
        First results: of each setting with finished runs its words, their number, and a few measures.
    step : str
        What a running study does now: "reading", "running" or "writing".
    staged : int
        Runs that were finished when a stage last was, which the answer so far rests on.
    so_far : str
        That answer in a sentence or two.
    """

    state: State = "none"
    done: int = 0
    total: int = 0
    failed: int = 0
    per_minute: float | None = None
    seconds_left: float | None = None
    started: float | None = None
    ended: float | None = None
    place: int = 0
    message: str = ""
    first: tuple[Mapping[str, Any], ...] = ()
    step: str = ""
    staged: int = 0
    so_far: str = ""

    @property
    def is_busy(self) -> bool:
        """Whether the study waits or runs, so that nothing of it may be changed."""
        return self.state in _BUSY

    @property
    def has_results(self) -> bool:
        """Return whether it ended with something to see, be it a part of the runs."""
        return self.state == "finished" or (self.state in _ENDS and self.done > 0)

    @property
    def has_answer(self) -> bool:
        """Return whether there is something to see, be it while the study runs."""
        return self.has_results or (self.is_busy and self.staged > 0)


class Jobs:
    """The queue of runs of one workspace.

    Parameters
    ----------
    workspace : Workspace
    """

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._lock = threading.Condition()
        self._waiting: deque[str] = deque()
        self._running: str | None = None
        self._process: Any = None
        self._is_cancelled = False
        self._is_closed = False
        self._thread: threading.Thread | None = None
        self._read: dict[str, tuple[object, dict[str, Any]]] = {}

    def enqueue(self, study: str) -> None:
        """Run a study when its turn comes: from the beginning, or on from what is finished.

        A study that waits or runs already is left alone.

        Raises
        ------
        WorkbenchError
            If it has no plan yet, or if the workbench is closing.
        """
        folder = self._workspace.folder(study)
        if not (folder / "plan.toml").is_file():
            raise WorkbenchError("This study has no plan yet. Hint: choose data and ask a question first.")
        with self._lock:
            if self._is_closed:
                raise WorkbenchError("The workbench is closing. Hint: start it again.")
            if study in self._waiting or study == self._running:
                return
            self._workspace.in_use.add(study)
            self._waiting.append(study)
            self._note(study, state="waiting", message="", step="", ended=None)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run_queue, name="jobs", daemon=True)
                self._thread.start()
            self._lock.notify_all()

    def cancel(self, study: str) -> None:
        """Stop a study that waits or runs; its processes are gone within two seconds, finished runs stay."""
        with self._lock:
            if study in self._waiting:
                self._waiting.remove(study)
                self._leave(study)
            elif study == self._running:
                self._is_cancelled = True
                if self._process is not None:
                    self._stop_worker()

    def state(self, study: str) -> RunState:
        """Return how the run of a study goes; it reads one small file, and that only if it changed."""
        known = self._load(study)
        state = known.get("state", "none")
        if state not in (*_ENDS, *_BUSY):
            return RunState()
        with self._lock:
            if study in self._waiting:
                known |= {"state": "waiting", "place": self._waiting.index(study) + 1}
            elif study == self._running:
                known["state"] = "running"  # until its process is gone, whatever that wrote
            elif state not in _ENDS:
                known |= {"state": "stopped", "message": _CLOSED, "step": "", "seconds_left": None}
        return _as_state(known)

    def close(self) -> None:
        """Stop what runs and empty the queue, because the server ends; finished runs stay."""
        with self._lock:
            self._is_closed = True
            for study in list(self._waiting):
                self._waiting.remove(study)
                self._leave(study)
            if self._running is not None:
                self.cancel(self._running)
            self._lock.notify_all()
        if self._thread is not None:
            self._thread.join()

    # --- in the thread of the queue ---------------------------------------------------------------

    def _run_queue(self) -> None:
        while True:
            with self._lock:
                self._lock.wait_for(lambda: self._waiting or self._is_closed)
                if self._is_closed:
                    return
                study = self._waiting.popleft()
                self._running, self._is_cancelled = study, False
            try:
                self._run(study)
            except (EvenhandError, OSError):
                self._fail(study, "The process of this study could not be started. Hint: try again.")
            finally:
                with self._lock:
                    self._running = self._process = None
                    self._workspace.in_use.discard(study)
                with suppress(OSError):
                    remove_left_folders()

    def _run(self, study: str) -> None:
        """Run a study in a process, and wait until it has ended in one way or another."""
        folder = self._workspace.folder(study)
        process = start_python(_WORKER, str(folder), is_nice=True)
        with self._lock:
            self._process = process
            if self._is_cancelled:
                self._stop_worker()
        code = process.wait()
        end_process(process)
        if code:
            _kill_group(process)  # what it started and did not end, as when it was killed itself
        if self._load(study).get("state") not in _ENDS:
            message = "" if self._is_cancelled else _describe_end(code)
            self._note(study, state="stopped", message=message or f"Stopped. {_KEPT}", step="")

    def _stop_worker(self) -> None:
        """Stop the worker beside this thread; one that has not begun has nothing to keep, nor to say."""
        has_begun = self._running is not None and self._load(self._running).get("state") == "running"
        arguments = (self._process, _STOP_SECONDS if has_begun else 0.0)
        threading.Thread(target=_stop, args=arguments, daemon=True).start()

    def _fail(self, study: str, message: str) -> None:
        with suppress(EvenhandError, OSError):
            self._note(study, state="failed", message=message, step="")

    def _leave(self, study: str) -> None:
        """Note that a study left the queue before its turn came."""
        self._workspace.in_use.discard(study)
        with suppress(EvenhandError, OSError):
            known = self._load(study)
            has_begun = bool(known.get("done"))
            message = f"Taken out of the queue. {_KEPT}" if has_begun else "Taken out of the queue."
            self._note(study, state="stopped", message=message)

    # --- the file of progress ---------------------------------------------------------------------

    def _note(self, study: str, **changes: Any) -> None:
        """Change what is known of a run, while no worker writes it."""
        known = {**self._load(study), "seconds_left": None, "per_minute": None, **changes}
        if changes["state"] in _ENDS:
            known["ended"] = time.time()
        write_private(self._path(study), json.dumps(known))

    def _load(self, study: str) -> dict[str, Any]:
        """Return what the file says; nothing if there is none, or if it is damaged."""
        path = self._path(study)
        try:
            status = path.stat()
            mark = (status.st_mtime_ns, status.st_size, status.st_ino)
            kept = self._read.get(study)
            if kept is not None and kept[0] == mark:
                return dict(kept[1])
            if status.st_size > _LARGEST_PROGRESS:
                return {}
            known = parse_json(path.read_bytes())
        except (OSError, ValueError):
            self._read.pop(study, None)
            return {}
        if not isinstance(known, dict):
            return {}
        self._read[study] = (mark, known)
        return dict(known)

    def _path(self, study: str) -> Path:
        return self._workspace.folder(study) / PROGRESS


_NUMBERS = ("per_minute", "seconds_left", "started", "ended")
_TEXTS = ("state", "message", "step", "so_far")
_COUNTS = ("done", "total", "failed", "place", "staged")


def _as_state(known: Mapping[str, Any]) -> RunState:
    """Return what a file says as a state; a part that has another type than it must have is left out."""
    parts: dict[str, Any] = {}
    for name, value in known.items():
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        is_plain = (name in _NUMBERS and is_number) or (name in _TEXTS and isinstance(value, str))
        if is_plain or (name in _COUNTS and isinstance(value, int)):
            parts[name] = value
        elif name == "first" and isinstance(value, list):
            parts[name] = tuple(row for row in value if isinstance(row, dict))
    return RunState(**parts)


def _stop(process: Any, seconds: float) -> None:
    """Ask a worker to stop, and end it if it does not do so in some seconds."""
    with suppress(OSError, ValueError):
        process.stdin.close()
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        _kill_group(process)
        with suppress(OSError):
            process.kill()


def _kill_group(process: Any) -> None:
    """End a worker with all that it started, where the system knows groups of processes."""
    if hasattr(os, "killpg"):
        with suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)


def _describe_end(code: int) -> str:
    how = f"was ended by signal {-code}" if code < 0 else f"ended with code {code}"
    return f"The process of this study {how}, perhaps because memory ran out. {_KEPT}"
