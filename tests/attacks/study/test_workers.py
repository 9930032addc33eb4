"""Worker processes that hang, die, or cannot begin; and who is left when a study ends."""

import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from attacks import _study_cells as cells
from attacks._study_cells import (
    LOG,
    Clinging,
    LightRunner,
    Stubborn,
    cheap,
    small_plan,
    starts,
)
from evenhand.errors import InvalidParameterError
from evenhand.study.run.attempt import DIED
from evenhand.study.run.events import Cancel, Cancelled, CellDone, CellFailed, Finished, WorkerDied
from evenhand.study.store.store import Store
from evenhand.study.tasks.collect.task import CollectTask

pytestmark = pytest.mark.figures

PLAN = small_plan()
TESTS = Path(cells.__file__).parent.parent


def _alive(pid):
    """Whether a process runs; one that ended and was not fetched yet does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="ascii").split(") ")[1][0] != "Z"
    except FileNotFoundError:
        return False


def _sleepers(log, count, *, seconds=60):
    """Wait until so many processes sleep in a cell, and return them."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pids = log.read_text(encoding="ascii").split() if log.exists() else []
        if len(pids) >= count:
            return [int(pid) for pid in pids]
        time.sleep(0.02)
    return pytest.fail("the workers did not begin")


@dataclass(frozen=True)
class Ordeal:
    """What came of a study whose first cells kill their processes and whose last ones hang."""

    events: list
    stored: list
    seconds_to_stop: float
    sleepers: list


@pytest.fixture(scope="module")
def ordeal(tmp_path_factory):
    """Run it with two workers and stop it once both hang."""
    folder = tmp_path_factory.mktemp("ordeal")
    log, cancel, asked = folder / "log", Cancel(), []

    def press():
        _sleepers(log, 2)
        asked.append(time.monotonic())
        cancel.request()

    presser = threading.Thread(target=press)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(LOG, str(log))
        presser.start()
        runner = LightRunner(PLAN, out=folder / "study", workers=2, execute=cells.ordeal, cancel=cancel)
        events = list(runner.events())
    stopped = time.monotonic()
    presser.join()
    with Store.open(folder / "study") as store:
        return Ordeal(events, store.outcomes(), stopped - asked[0], _sleepers(log, 2))


def test_a_worker_that_dies_is_told_and_its_cell_tried_once_more(ordeal):
    """Memory that runs out kills a process without a word; the study must neither hang nor stop."""
    died = [event for event in ordeal.events if isinstance(event, WorkerDied)]

    assert sorted((PLAN.cells().index(event.cell), event.code) for event in died) == [(0, -9), (1, -9)]


def test_a_cell_that_kills_its_worker_twice_is_a_recorded_failure(ordeal):
    (failed,) = [event.outcome for event in ordeal.events if isinstance(event, CellFailed)]

    assert failed.cell == PLAN.cells()[0]
    assert failed.failure.kind == DIED
    assert "signal 9" in failed.failure.message
    assert failed in ordeal.stored


def test_a_cell_whose_worker_was_killed_by_accident_has_its_result(ordeal):
    (done,) = [event.outcome for event in ordeal.events if isinstance(event, CellDone)]

    assert done.cell == PLAN.cells()[1]
    assert [outcome.cell for outcome in ordeal.stored] == list(PLAN.cells()[:2])


def test_a_study_with_hanging_cells_stops_within_two_seconds(ordeal):
    """A web page's stop button must stop, and leave no process behind."""
    assert ordeal.events[-1] == Cancelled(done=2, failed=1, total=6)
    assert ordeal.seconds_to_stop < 2
    assert not any(_alive(pid) for pid in ordeal.sleepers)


@pytest.mark.slow
def test_a_classifier_that_cannot_be_loaded_in_a_worker_is_a_recorded_failure():
    """Each cell says why, instead of a study that starts processes for ever."""
    plan = small_plan([1], repeats=1, task=CollectTask(model=Stubborn()))
    runner = LightRunner(plan, workers=2, execute=cheap)
    events = list(runner.events())

    assert [outcome.failure.kind for outcome in runner.outcomes.values()] == ["ModuleNotFoundError"] * 2
    assert events[-1] == Finished(done=2, failed=2, total=2)


def test_a_classifier_that_cannot_be_sent_is_refused_before_anything_runs():
    plan = small_plan([1], repeats=1, task=CollectTask(model=Clinging()))

    with pytest.raises(InvalidParameterError, match=r"sent to worker processes.*workers=1"):
        list(LightRunner(plan, workers=2, execute=cheap).events())


def _program(folder, execute, log):
    environment = {**os.environ, LOG: str(log), "PYTHONPATH": str(TESTS), "TMPDIR": str(log.parent)}
    command = [sys.executable, str(TESTS / "attacks" / "_study_cells.py"), folder, execute, "2", "2", "1"]
    return subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    )


@pytest.mark.slow
def test_workers_end_with_a_parent_that_is_killed(tmp_path):
    """Nobody may find processes of yesterday's study that still compute."""
    log = tmp_path / "log"
    with _program(tmp_path / "study", "sleepy", log) as process:
        workers = _sleepers(log, 2)
        process.kill()
    end = time.monotonic() + 10
    while any(_alive(pid) for pid in workers) and time.monotonic() < end:
        time.sleep(0.05)

    assert not any(_alive(pid) for pid in workers)


@pytest.mark.slow
def test_ctrl_c_in_a_terminal_ends_every_process_and_keeps_what_is_finished(tmp_path):
    """A terminal sends the signal to the whole group; the workers must not answer it with tracebacks."""
    log = tmp_path / "log"
    with _program(tmp_path / "study", "sleepy", log) as process:
        workers = _sleepers(log, 2)
        os.killpg(process.pid, signal.SIGINT)
        errors = process.communicate(timeout=30)[1].decode()

    assert not any(_alive(pid) for pid in workers)
    assert errors.count("Traceback") == 1  # the program's own, which does not catch it
    assert errors.rstrip().endswith("KeyboardInterrupt")
    assert not (tmp_path / "study").exists()  # nothing was finished, and the next study finds no remains


@pytest.mark.slow
def test_a_thousand_cells_are_each_computed_once(tmp_path, monkeypatch):
    monkeypatch.setenv(LOG, str(tmp_path / "log"))
    monkeypatch.setenv(cells.PAUSE, "0")
    runner = LightRunner(small_plan(repeats=334), out=tmp_path / "study", workers=3, execute=cells.logged)
    *_, last = runner.events()
    begun = starts(tmp_path / "log")

    assert last == Finished(done=1002, failed=0, total=1002)
    assert sorted(begun) == sorted(runner.outcomes)
