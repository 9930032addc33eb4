"""The process that runs one study: from its plan to its report, with progress that the server reads.

It is started with the folder of the study and stops when it is told so on its standard input, or when that
ends because the server is gone. Finished runs stay, whenever it stops.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing import active_children
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand._locks import Lock
from evenhand.app.flow.opening import note_data, open_written_plan, portable_plan
from evenhand.app.state.files import write_private
from evenhand.app.state.processes import be_nice
from evenhand.app.state.workspace import OUTPUT, PROGRESS, RUN_LOCK
from evenhand.errors import EvenhandError, StudyStoreError
from evenhand.study.page.wording import measure_text, measure_title
from evenhand.study.plan.script import write_script
from evenhand.study.plan.stages import split_cells
from evenhand.study.results.estimates import estimate
from evenhand.study.results.frames import key_measures
from evenhand.study.results.results import Results, write_results
from evenhand.study.run.attempt import failure_of
from evenhand.study.run.events import Cancel, Cancelled, StageDone, Started
from evenhand.study.run.pace import Speed
from evenhand.study.run.whole import Runner
from evenhand.study.store.store import Store

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evenhand.study.plan.plan import Plan

SCRIPTS = ("study.py", "study.ipynb")
"""The files that repeat the study in Python, beside its report."""

STOPPED = 3
"""The exit code of a worker that was told to stop."""

_LOCK_SECONDS = 10.0
_GRACE_SECONDS = 0.8
_PROGRESS_SECONDS = 0.25
_FIRST_SECONDS = 1.0
_MOST_FIRST = 60
_REST = 20  # so many times as long as showing first results takes, they are not shown again
_OLD = ".old-study"


@dataclass
class Progress:
    """How the run goes, in a small file that is replaced as a whole, at most four times a second.

    Parameters
    ----------
    path : path
    """

    path: Path
    _known: dict[str, Any] = field(default_factory=dict)
    _written: float = 0.0
    _is_final: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def show(self, *, now: bool = False, **changes: Any) -> None:
        """Note what changed, and write it if the last time is long enough ago or it must be seen now."""
        with self._lock:
            if self._is_final:
                return
            self._known |= changes
            if now or time.monotonic() - self._written >= _PROGRESS_SECONDS:
                self._write()

    def end(self, **changes: Any) -> None:
        """Write how the run ended; the first to say so is right."""
        with self._lock:
            if not self._is_final:
                left = {"seconds_left": None, "per_minute": None, "step": "", "message": ""}
                self._known |= {**left, "ended": time.time(), **changes}
                if self._known["state"] == "stopped":
                    self._known["message"] = stopped_words(self._known)
                self._is_final = True
                self._write()

    def _write(self) -> None:
        self._written = time.monotonic()
        with suppress(OSError):  # a full disk does not end the run; the store says so itself
            write_private(self.path, json.dumps(self._known), durable=self._is_final)


def stopped_words(known: Mapping[str, Any]) -> str:
    """Return what is kept of a run that stopped, in a sentence.

    >>> stopped_words({"done": 3, "total": 8}), stopped_words({})
    ('Stopped: 3 of 8 runs are finished and kept.', 'Stopped before the first run was finished.')
    """
    done, total = known.get("done", 0), known.get("total", 0)
    if not done:
        return "Stopped before the first run was finished."
    return f"Stopped: {done:,} of {total:,} runs {'is' if done == 1 else 'are'} finished and kept."


class StopWatch:
    """What makes the process stop: a line on its standard input, or the end of that.

    Cells are left within a moment. Whatever else is being done, reading or writing, is not waited for.

    Parameters
    ----------
    progress : Progress

    Attributes
    ----------
    cancel : Cancel
        Stops the cells.
    is_in_cells : bool
        Whether cells run, which are given a moment to end.
    """

    def __init__(self, progress: Progress) -> None:
        self.cancel = Cancel()
        self._progress = progress
        self._done = threading.Event()
        self.is_in_cells = False

    def start(self) -> None:
        """Begin to listen."""
        threading.Thread(target=self._listen, daemon=True).start()

    def finish(self) -> None:
        """Say that all is done."""
        self._done.set()

    def _listen(self) -> None:
        with suppress(OSError, ValueError):
            sys.stdin.buffer.readline()
        self.cancel.request()
        if self.is_in_cells:
            self._done.wait(_GRACE_SECONDS)
        if not self._done.is_set():
            self._progress.end(state="stopped")
            with suppress(Exception):  # they would end by themselves, a moment later
                for child in active_children():
                    child.terminate()
            os._exit(STOPPED)


def run_study(folder: Path) -> int:
    """Run the plan in the folder of a study, and return the exit code; see the module."""
    progress = Progress(folder / PROGRESS)
    watch = StopWatch(progress)
    watch.start()
    lock = Lock(folder / RUN_LOCK)
    since = time.monotonic()
    while not lock.take():
        if time.monotonic() - since > _LOCK_SECONDS:
            progress.end(state="failed", message="Another process runs this study. Hint: wait for its end.")
            return 1
        time.sleep(0.1)
    started = time.time()
    progress.show(now=True, state="running", step="reading", started=started, done=0, total=0, failed=0)
    try:
        is_whole = _run_plan(folder, progress, watch)
    except EvenhandError as error:
        progress.end(state="failed", message=str(error))
        return 1
    except Exception as error:  # noqa: BLE001 - the person is told of whatever it is
        failure = failure_of(error)
        sentence = f"Something went wrong in evenhand itself: {failure.kind}. {failure.message}"
        progress.end(state="failed", message=f"{sentence} Hint: finished runs are kept; try to go on.")
        return 1
    finally:
        watch.finish()
        lock.free()
    progress.end(state="finished" if is_whole else "stopped")
    return 0 if is_whole else STOPPED


def _run_plan(folder: Path, progress: Progress, watch: StopWatch) -> bool:
    """Run a plan and write its files; False if it was stopped."""
    plan, opened = open_written_plan(folder)
    out = folder / OUTPUT
    _settle(out)
    try:
        results = _run_cells(plan, opened.frame, out, progress, watch)
    except StudyStoreError:
        if watch.is_in_cells or not out.exists():
            raise
        results = _run_anew(plan, opened.frame, out, progress, watch)
    if results is None:
        return False
    plan = portable_plan(plan)  # no file names a folder of this machine
    results = Results(plan, results.facts, results.outcomes)
    progress.show(now=True, step="writing", seconds_left=None, first=first_results(results))
    plan.task.write_more(results, out, frame=opened.frame)
    write_results(results, out)
    for name in SCRIPTS:
        write_script(out / name, plan.task.script(plan, name=Path(name).stem), replace=True)
    return True


def _run_anew(plan: Plan, frame: Any, out: Path, progress: Progress, watch: StopWatch) -> Results | None:
    """Run a plan that cannot go on with what is there, because it asks something else.

    What is there is put aside until the new study has started, and back if it does not.
    """
    out.rename(out.with_name(_OLD))
    try:
        return _run_cells(plan, frame, out, progress, watch)
    finally:
        _settle(out)


def _settle(out: Path) -> None:
    """Remove what was put aside once another study has runs in its place; else put it back."""
    old = out.with_name(_OLD)
    if not old.exists():
        return
    with suppress(StudyStoreError):
        if not Store.count_results(out):
            shutil.rmtree(out, ignore_errors=True)
            old.rename(out)
            return
    shutil.rmtree(old, ignore_errors=True)


def _run_cells(plan: Plan, frame: Any, out: Path, progress: Progress, watch: StopWatch) -> Results | None:
    """Run the cells that are missing, and return all results; None if it was stopped."""
    runner = Runner(plan, frame=frame, out=out, resume=True, retry_failed=True, cancel=watch.cancel)
    speed, due = Speed(), 0.0
    for event in runner.events():
        if isinstance(event, Started):
            watch.is_in_cells = True
            note_data(out.parent)
        if isinstance(event, Cancelled):
            return None
        rate, left = speed.of(event)
        known: dict[str, Any] = {"done": event.done, "total": event.total, "failed": event.failed}
        known |= {"per_minute": 60 * rate or None, "seconds_left": left or None, "step": "running"}
        if isinstance(event, StageDone) or (isinstance(event, Started) and _has_first_stage(runner)):
            view = Results(portable_plan(plan), runner.facts, runner.outcomes.values()).view()
            known |= {"staged": event.done, "so_far": f"{view.verdict} {view.how_much.text}"}
        began = time.monotonic()
        if event.done and began >= due:
            known["first"] = first_results(Results(plan, runner.facts, runner.outcomes.values()))
            ended = time.monotonic()
            due = ended + max(_FIRST_SECONDS, _REST * (ended - began))
        progress.show(now=isinstance(event, Started | StageDone), **known)
    watch.is_in_cells = False
    return Results(plan, runner.facts, runner.outcomes.values())


def _has_first_stage(runner: Runner) -> bool:
    """Return whether earlier runs said who pays, so that there is an answer to show at once."""
    return all(cell.id in runner.outcomes for cell in split_cells(runner.plan)[0])


def first_results(results: Results) -> list[dict[str, Any]]:
    """Return a row for each setting that has finished runs, the first sixty: its words and a few measures."""
    task, measures = results.plan.task, key_measures(results.plan)
    finished: dict[str, int] = {}
    for outcome in results.outcomes:
        if outcome.failure is None:
            finished[outcome.cell.setting.id] = finished.get(outcome.cell.setting.id, 0) + 1
    rows = []
    for setting in [setting for setting in results.settings if setting.id in finished][:_MOST_FIRST]:
        row: dict[str, Any] = {"setting": task.name_setting(setting), "runs": finished[setting.id]}
        for known in measures:
            title = measure_title(task.measure(known))
            row[title] = measure_text(task, task.measure(known), estimate(results, setting, known))
        rows.append(row)
    return rows


def main() -> None:
    """Run the study in the folder that is named."""
    be_nice()
    os.umask(0o077)
    code = run_study(Path(sys.argv[1]))
    sys.stdout.flush()
    os._exit(code)  # a thread of a library that still waits does not hold the queue up


if __name__ == "__main__":
    main()
