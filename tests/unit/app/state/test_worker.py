"""The worker from inside: whatever goes wrong is said in a sentence, and what is finished is not lost."""

import json
import os
import time

import pytest

from evenhand._locks import Lock
from evenhand.app.flow.opening import is_of_other_data
from evenhand.app.state import worker
from evenhand.app.state.worker import Progress, StopWatch, run_study
from evenhand.app.state.workspace import PROGRESS, RUN_LOCK
from evenhand.errors import SchemaError
from evenhand.study.results.results import Results
from evenhand.study.store.store import Store
from unit.app.state._studies import PLANS, UPLOAD, add_study

SMALL, OTHER = PLANS["release"], PLANS["release"].with_(seed=7)


@pytest.fixture
def study(workspace, monkeypatch):
    """Return the folder of a study that is run in this process, and is stopped by nobody."""
    monkeypatch.setattr(StopWatch, "start", lambda watch: None)
    monkeypatch.setenv("LOKY_MAX_CPU_COUNT", "1")
    return workspace.folder(add_study(workspace, SMALL))


def known(folder):
    return json.loads((folder / PROGRESS).read_text())


def test_a_study_that_another_process_runs_is_left_alone(study, monkeypatch):
    """Two processes that write one study write each other's numbers over."""
    monkeypatch.setattr(worker, "_LOCK_SECONDS", 0.15)
    lock = Lock(study / RUN_LOCK)
    assert lock.take()

    assert run_study(study) == 1
    assert known(study)["state"] == "failed"
    assert known(study)["message"].startswith("Another process runs this study.")
    assert not (study / "study").exists()
    lock.free()


def test_an_error_of_ours_is_said_as_it_is(study, monkeypatch):
    def refuse(folder):
        raise SchemaError("Column 'sex' is missing. Hint: choose another file.", field="columns")

    monkeypatch.setattr(worker, "open_written_plan", refuse)

    assert run_study(study) == 1
    assert known(study)["message"] == "Column 'sex' is missing. Hint: choose another file."
    lock = Lock(study / RUN_LOCK)
    assert lock.take()
    lock.free()


def test_any_other_error_is_a_sentence_without_a_path_and_says_that_runs_are_kept(study, monkeypatch):
    """What is written there is shown on a page; a path or a value of a row must not be."""

    def fail(folder):
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr(worker, "open_written_plan", fail)

    assert run_study(study) == 1
    message = known(study)["message"]
    assert message.startswith("Something went wrong in evenhand itself: ZeroDivisionError")
    assert "finished runs are kept" in message
    assert str(study) not in message


def test_a_run_that_is_stopped_says_how_much_is_kept(study, monkeypatch):
    monkeypatch.setattr(worker, "_run_plan", lambda folder, progress, watch: False)

    assert run_study(study) == worker.STOPPED
    assert known(study)["state"] == "stopped"
    assert known(study)["message"] == "Stopped before the first run was finished."


def test_another_question_takes_the_place_of_the_old_answer_only_once_it_runs(study):
    """Somebody who asks something that cannot be run must not lose the answer that they have."""
    assert run_study(study) == 0
    first = Results.load(study / "study").canonical()
    wrong = SMALL.with_(data=SMALL.data.__class__(dataset="causal", options={"n": -1}))
    (study / "plan.toml").write_text(wrong.to_toml())
    assert run_study(study) == 1
    assert Results.load(study / "study").canonical() == first

    (study / "plan.toml").write_text(OTHER.to_toml())
    assert run_study(study) == 0
    assert Results.load(study / "study").plan.seed == 7
    assert [path.name for path in study.iterdir() if path.name.startswith(".old")] == []


YEAR, CENTURY = 366 * 86_400, 36_525 * 86_400


@pytest.mark.parametrize("moved", [-YEAR, CENTURY])
def test_results_are_of_the_file_that_ran_whatever_the_clock_said(study, workspace, moved):
    """A clock that was ahead had a setting that was tested on one file be used on another; one that was set
    back had the file that was tested refused for ever."""
    place = workspace.folder(add_study(workspace, PLANS["decide"]))
    file, store = place / "data" / UPLOAD, place / "study" / "study.db"
    assert run_study(place) == 0
    ran = store.stat().st_mtime
    os.utime(store, (ran + moved, ran + moved))
    other = file.with_name("0ther0ther0ther0.csv")
    other.write_bytes(file.read_bytes())

    assert not is_of_other_data(place, file)
    assert is_of_other_data(place, other)
    assert run_study(place) == 0
    assert not is_of_other_data(place, file)


def test_what_was_put_aside_before_a_power_cut_is_put_back(study):
    """The old study stands aside for as long as the new one has no run."""
    assert run_study(study) == 0
    first = Results.load(study / "study").canonical()
    (study / "study").rename(study / worker._OLD)
    worker._settle(study / "study")
    assert Results.load(study / "study").canonical() == first
    (study / "study").rename(study / worker._OLD)
    (study / "study").mkdir()
    worker._settle(study / "study")

    assert Results.load(study / "study").canonical() == first
    assert not (study / worker._OLD).exists()
    assert Store.count_results(study / "study") == len(SMALL.cells())


def test_a_full_disk_does_not_end_the_run_for_its_progress_alone(tmp_path):
    progress = Progress(tmp_path / "gone" / PROGRESS)
    progress.show(now=True, state="running")
    progress.end(state="finished")


def test_what_was_said_first_of_the_end_stays(tmp_path):
    """A run that was stopped must not be shown as running because a late line was written."""
    progress = Progress(tmp_path / PROGRESS)
    progress.show(now=True, state="running", done=2, total=8)
    progress.end(state="stopped")
    progress.show(now=True, state="running", done=3)
    progress.end(state="failed", message="late")

    assert known(tmp_path)["state"] == "stopped"
    assert known(tmp_path)["message"] == "Stopped: 2 of 8 runs are finished and kept."


class Stopped(BaseException):
    """The process would have ended."""


class Input:
    """A standard input that says one line, or ends, or is not there."""

    def __init__(self, error=None):
        self.buffer, self._error = self, error

    def readline(self):
        if self._error is not None:
            raise self._error
        return b""


@pytest.fixture
def leaves(monkeypatch):
    """Return the codes with which the process would have ended."""
    codes = []

    def leave(code):
        codes.append(code)
        raise Stopped

    monkeypatch.setattr(os, "_exit", leave)
    return codes


@pytest.mark.parametrize("error", [None, ValueError("closed"), OSError()])
def test_the_end_of_the_server_stops_what_nobody_can_ask_to_stop(tmp_path, monkeypatch, leaves, error):
    """Reading a large file and drawing a report go on until they are done, whoever waits."""
    monkeypatch.setattr(worker.sys, "stdin", Input(error))
    watch = StopWatch(Progress(tmp_path / PROGRESS))
    with pytest.raises(Stopped):
        watch._listen()

    assert leaves == [worker.STOPPED]
    assert watch.cancel.requested
    assert known(tmp_path)["state"] == "stopped"


def test_cells_are_given_a_moment_to_end_and_then_left(tmp_path, monkeypatch, leaves):
    ended = []

    class Child:
        def terminate(self):
            ended.append(True)

    monkeypatch.setattr(worker.sys, "stdin", Input())
    monkeypatch.setattr(worker, "_GRACE_SECONDS", 0.05)
    monkeypatch.setattr(worker, "active_children", lambda: [Child(), Child()])
    watch = StopWatch(Progress(tmp_path / PROGRESS))
    watch.is_in_cells = True
    began = time.monotonic()
    with pytest.raises(Stopped):
        watch._listen()

    assert time.monotonic() - began >= 0.05
    assert ended == [True, True]


def test_a_run_that_ends_by_itself_is_not_ended(tmp_path, monkeypatch, leaves):
    monkeypatch.setattr(worker.sys, "stdin", Input())
    watch = StopWatch(Progress(tmp_path / PROGRESS))
    watch.finish()
    watch._listen()

    assert leaves == []
    assert not (tmp_path / PROGRESS).exists()


def test_the_process_goes_behind_others_writes_privately_and_says_how_it_ended(monkeypatch, leaves, tmp_path):
    done = []
    monkeypatch.setattr(worker, "be_nice", lambda: done.append("nice"))
    monkeypatch.setattr(worker, "run_study", lambda folder: done.append(folder) or 3)
    monkeypatch.setattr(worker.sys, "argv", ["worker", str(tmp_path)])
    before = os.umask(0o022)
    try:
        with pytest.raises(Stopped):
            worker.main()
        mask = os.umask(before)
    finally:
        os.umask(before)

    assert done == ["nice", tmp_path]
    assert mask == 0o077
    assert leaves == [3]


def test_after_each_stage_the_page_is_told_the_answer_so_far(workspace, study, monkeypatch):
    """Who pays is known long before all is run; whoever waits must not wait for it, nor again on going on."""
    shown = []
    monkeypatch.setattr(Progress, "show", lambda progress, **changes: shown.append(changes))
    plan = PLANS["collect"].with_(confirm=True)
    folder = workspace.folder(add_study(workspace, plan))
    assert run_study(folder) == 0
    told = [changes for changes in shown if "so_far" in changes]

    assert [changes["staged"] for changes in told] == [4]
    assert told[0]["now"]
    assert told[0]["so_far"]

    shown.clear()
    (folder / "plan.toml").write_text(plan.with_(task=plan.task.with_(epsilons=[1, 2, 4])).to_toml())
    assert run_study(folder) == 0
    assert [changes["staged"] for changes in shown if "so_far" in changes] == [6]
