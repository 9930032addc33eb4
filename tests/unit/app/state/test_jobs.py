"""Runs of the workbench: the same files as the command line, stopped within two seconds, never a run lost."""

import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import textwrap
import time

import pytest

from evenhand.app.state import jobs as queue
from evenhand.app.state.jobs import Jobs, RunState
from evenhand.app.state.workspace import PROGRESS, Workspace
from evenhand.errors import UnknownNameError, WorkbenchError
from evenhand.study.results.results import Results
from evenhand.study.run.whole import run
from unit.app.state._studies import (
    LABEL,
    LONG,
    PLANS,
    TOWNS,
    UPLOAD,
    add_study,
    living_processes,
    needs_proc,
    wait_for_end,
    wait_until,
)

pytestmark = pytest.mark.figures  # real processes, which take a while

SECONDS_TO_STOP = 2.0
COMMAND_LINE = "from evenhand.cli import main\nmain()"


@pytest.fixture(scope="module")
def long_table():
    """The table of the long study, computed at one go."""
    return run(LONG, workers=1, progress=False).canonical()


def wait_for_runs(jobs, study, runs=3):
    wait_until(
        lambda: jobs.state(study).done >= runs or jobs.state(study).state not in {"waiting", "running"}
    )
    assert jobs.state(study).state == "running"


# --- to the end -----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", PLANS)
def test_files_are_those_of_the_command_line_to_the_byte(workspace, jobs, tmp_path, kind):
    """What the app shows must be what the command, which the page shows, would give."""
    study = add_study(workspace, PLANS[kind])
    folder = workspace.folder(study)
    jobs.enqueue(study)
    state = wait_for_end(jobs, study)
    by_hand = tmp_path / "by-hand"
    by_hand.mkdir()
    (by_hand / LABEL).write_text(TOWNS)  # where the person has it
    shutil.copy(folder / "plan.toml", by_hand)
    command = [sys.executable, "-c", COMMAND_LINE, "audit", kind, "--plan", str(by_hand / "plan.toml")]
    options = ["--out", str(by_hand), "--workers", "1", "--quiet"]
    subprocess.run([*command, *options, "--save-script", str(by_hand / "study.py")], check=True, cwd=tmp_path)
    mine = {path.name: path.read_bytes() for path in (folder / "study").iterdir()}
    mine.pop(".data", None)  # which upload it is of, for the workbench alone; nobody is offered it
    theirs = {path.name: path.read_bytes() for path in by_hand.iterdir() if path.name != LABEL}
    for name in ("study.py", "report.html"):  # where the command line has the whole path of the person's file
        theirs[name] = theirs[name].replace(f"{by_hand}{os.sep}{LABEL}".encode(), LABEL.encode())

    assert (state.state, state.failed, state.message) == ("finished", 0, "")
    assert state.done == state.total == len(PLANS[kind].cells())
    assert {"report.html", "cells.csv", "plan.toml", "study.db"} <= theirs.keys()
    assert mine.keys() - theirs.keys() == {"study.ipynb"}
    for name in theirs.keys() - {"study.db", "study.lock"}:  # the store has the times of runs in it
        assert mine[name] == theirs[name], name
    assert Results.load(folder / "study").canonical() == Results.load(by_hand).canonical()
    del mine["study.db"]
    for private in (UPLOAD, str(workspace.path)):  # the name and the place of an upload are nobody's concern
        assert private.encode() not in b"".join(mine.values())
    if os.name == "posix":
        assert {stat.S_IMODE(path.stat().st_mode) for path in (folder / "study").iterdir()} == {0o600}


def test_progress_and_first_results_come_while_it_runs(workspace, jobs):
    study = add_study(workspace, LONG)
    jobs.enqueue(study)
    states = []
    while jobs.state(study).state in {"waiting", "running"} and len(states) < 10_000:
        states.append(jobs.state(study))
        time.sleep(0.02)
    running = [state for state in states if state.step == "running" and state.total]
    last = jobs.state(study)

    assert {state.step for state in states} >= {"reading", "running", "writing"}
    assert len({state.done for state in running}) >= 3
    assert [state.done for state in running] == sorted(state.done for state in running)
    assert any(state.per_minute for state in running)
    assert any(state.seconds_left for state in running)
    assert any(state.first and state.done < state.total for state in running)
    row = last.first[0]
    assert (row["setting"], row["runs"]) == ("unprotected", LONG.repeats)
    assert 0 < float(row["Accuracy, %"].partition("\n")[0]) < 100
    assert len(last.first) == len(LONG.settings())
    assert last.started < last.ended


def test_a_plan_that_cannot_be_run_fails_with_its_own_sentence(workspace, jobs):
    """The person must read what to change, and no path of this machine."""
    study = add_study(workspace, PLANS["decide"])
    (workspace.folder(study) / "data" / UPLOAD).unlink()
    jobs.enqueue(study)
    state = wait_for_end(jobs, study)

    assert state.state == "failed"
    assert state.message
    assert str(workspace.path) not in state.message


def test_another_question_is_run_from_the_beginning_and_one_that_fails_keeps_the_results(workspace, jobs):
    """Results of an earlier question must neither stand beside a new one nor be lost for nothing."""
    study = add_study(workspace, PLANS["collect"])
    folder = workspace.folder(study)
    states, seeds = [], []
    other = PLANS["collect"].with_(seed=7)
    for plan in (PLANS["collect"], PLANS["decide"], other):
        (folder / "plan.toml").write_text(plan.to_toml())
        jobs.enqueue(study)
        states.append(wait_for_end(jobs, study).state)
        seeds.append(Results.load(folder / "study").plan.seed)

    assert states == ["finished", "failed", "finished"]
    assert seeds == [PLANS["collect"].seed, PLANS["collect"].seed, 7]
    assert Results.load(folder / "study").canonical() == run(other, workers=1, progress=False).canonical()
    assert not (folder / ".old-study").exists()


# --- the queue ------------------------------------------------------------------------------------


def test_two_studies_run_one_after_the_other(workspace, jobs):
    """Two at once would need twice the memory, and neither would be done sooner."""
    first, second = (add_study(workspace, PLANS["collect"], name) for name in ("a", "b"))
    jobs.enqueue(first)
    jobs.enqueue(second)
    jobs.enqueue(second)
    places = {jobs.state(second).place}
    while jobs.state(first).state in {"waiting", "running"}:
        assert jobs.state(second).state == "waiting" or jobs.state(first).state == "finished"
        time.sleep(0.05)
    ended = [wait_for_end(jobs, study) for study in (first, second)]

    assert places <= {1, 2}
    assert [state.state for state in ended] == ["finished", "finished"]
    assert ended[0].ended <= ended[1].started


def test_a_study_that_waits_leaves_the_queue(workspace, jobs):
    first, second = (add_study(workspace, LONG, name) for name in ("a", "b"))
    jobs.enqueue(first)
    jobs.enqueue(second)
    jobs.cancel(second)
    state = jobs.state(second)
    jobs.cancel(first)
    wait_for_end(jobs, first)

    assert (state.state, state.message) == ("stopped", "Taken out of the queue.")
    assert jobs.state(second).state == "stopped"


def test_a_study_that_waits_or_runs_is_not_deleted(workspace, jobs):
    first, second = (add_study(workspace, LONG, name) for name in ("a", "b"))
    jobs.enqueue(first)
    jobs.enqueue(second)
    for study in (first, second):
        with pytest.raises(WorkbenchError, match="stop it first"):
            workspace.delete(study)
    jobs.cancel(second)
    jobs.cancel(first)
    wait_for_end(jobs, first)
    for study in (first, second):
        workspace.delete(study)

    assert workspace.studies() == []
    assert [path for path in workspace.path.iterdir() if path.is_dir()] == []


def test_a_study_without_a_plan_is_not_run(workspace, jobs):
    study = workspace.create("a").id

    with pytest.raises(WorkbenchError, match="no plan"):
        jobs.enqueue(study)
    assert jobs.state(study) == RunState()
    with pytest.raises(UnknownNameError):
        jobs.state("0" * 16)


@pytest.mark.parametrize("text", ["", "[1]", "{", '{"state": "odd"}', '{"state": 3}', "null", "\xff"])
def test_a_damaged_progress_is_as_if_there_were_none(workspace, text):
    """A half-written file must not break the page of a study."""
    study = workspace.create("a").id
    (workspace.folder(study) / PROGRESS).write_bytes(text.encode("latin-1"))

    assert Jobs(workspace).state(study) == RunState()


def test_the_state_of_many_settings_is_read_once_until_it_changes(workspace, monkeypatch):
    """Pages ask twice a second, each tab of each person.

    Measured with 60 settings in the file (13 KB): 34 microseconds a call, 137 where the file has changed.
    """
    study = workspace.create("a").id
    path = workspace.folder(study) / PROGRESS
    path.write_text(json.dumps({"state": "finished", "first": [{"setting": "x"}], "done": 4, "total": 4}))
    jobs = Jobs(workspace)
    states = [jobs.state(study)]
    monkeypatch.setattr(queue, "parse_json", None)  # reading once more would fail
    states.append(jobs.state(study))

    assert states[0] == states[1] == RunState("finished", done=4, total=4, first=({"setting": "x"},))


# --- stopping -------------------------------------------------------------------------------------


@needs_proc
@pytest.mark.parametrize("cores", ["1", "2"])
def test_cancel_stops_every_process_and_keeps_finished_runs(workspace, jobs, monkeypatch, long_table, cores):
    """A person who stops a study wants the machine back, and to go on later."""
    monkeypatch.setenv("LOKY_MAX_CPU_COUNT", cores)
    study = add_study(workspace, LONG)
    jobs.enqueue(study)
    wait_for_runs(jobs, study)
    group = jobs._process.pid
    began = time.monotonic()
    jobs.cancel(study)
    wait_until(lambda: not living_processes(group))
    took = time.monotonic() - began
    state = wait_for_end(jobs, study)
    kept = len(Results.load(workspace.folder(study) / "study"))

    assert took <= SECONDS_TO_STOP
    assert state.state == "stopped"
    assert 3 <= kept < len(LONG.cells())
    assert state.message == f"Stopped: {state.done} of {state.total} runs are finished and kept."
    assert state.done <= kept
    if cores == "2":
        jobs.enqueue(study)
        wait_until(lambda: jobs.state(study).step == "running")
        assert jobs.state(study).done >= kept
        assert wait_for_end(jobs, study).state == "finished"
        assert Results.load(workspace.folder(study) / "study").canonical() == long_table


def test_a_worker_that_has_not_begun_is_stopped_at_once(workspace, jobs, monkeypatch, tmp_path):
    """It has nothing to keep, and its imports take seconds in which it listens to nobody."""
    (tmp_path / "_deaf_worker.py").write_text("import time\n\ntime.sleep(60)\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(queue, "_WORKER", "_deaf_worker")
    study = add_study(workspace, PLANS["collect"])
    jobs.enqueue(study)
    wait_until(lambda: jobs._process is not None)
    began = time.monotonic()
    jobs.cancel(study)
    state = wait_for_end(jobs, study)

    assert time.monotonic() - began < queue._STOP_SECONDS
    assert (state.state, state.message) == (
        "stopped",
        "Stopped. Finished runs are kept. Hint: go on with it.",
    )


@needs_proc
@pytest.mark.parametrize("step", ["open_written_plan", "write_results"])
def test_cancel_does_not_wait_for_reading_or_writing(workspace, jobs, monkeypatch, tmp_path, step):
    """A large file is read, or a long report is drawn, by code that nobody can ask to stop."""
    (tmp_path / "_slow_worker.py").write_text(
        "import time\nfrom evenhand.app.state import worker\n\n\n"
        f"def wait(*_, **__):\n    time.sleep(60)\n\n\nworker.{step} = wait\nworker.main()\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(queue, "_WORKER", "_slow_worker")
    study = add_study(workspace, PLANS["collect"])
    jobs.enqueue(study)
    wanted = "reading" if step == "open_written_plan" else "writing"
    wait_until(lambda: jobs.state(study).step == wanted)
    group = jobs._process.pid
    began = time.monotonic()
    jobs.cancel(study)
    wait_until(lambda: not living_processes(group))
    took = time.monotonic() - began
    state = wait_for_end(jobs, study)
    monkeypatch.undo()

    assert took <= SECONDS_TO_STOP
    assert state.state == "stopped"
    jobs.enqueue(study)
    assert wait_for_end(jobs, study).state == "finished"


@needs_proc
def test_a_worker_that_does_not_listen_is_ended(workspace, jobs):
    """A process that hangs must not hold up the queue for ever."""
    study = add_study(workspace, LONG)
    jobs.enqueue(study)
    wait_for_runs(jobs, study)
    group = jobs._process.pid
    os.kill(group, signal.SIGSTOP)
    began = time.monotonic()
    jobs.cancel(study)
    wait_until(lambda: not living_processes(group))
    took = time.monotonic() - began

    assert took <= SECONDS_TO_STOP
    assert wait_for_end(jobs, study).state == "stopped"


@needs_proc
def test_a_killed_worker_is_stopped_with_a_sentence_and_goes_on(workspace, jobs, long_table):
    """Where memory ends, the system kills the largest process."""
    study = add_study(workspace, LONG)
    jobs.enqueue(study)
    wait_for_runs(jobs, study)
    group = jobs._process.pid
    os.kill(group, signal.SIGKILL)
    state = wait_for_end(jobs, study)
    wait_until(lambda: not living_processes(group))

    assert state.state == "stopped"
    assert state.message.startswith("The process of this study was ended by signal 9")
    assert "Hint:" in state.message
    assert state.done >= 3
    jobs.enqueue(study)
    assert wait_for_end(jobs, study).state == "finished"
    assert Results.load(workspace.folder(study) / "study").canonical() == long_table


@needs_proc
def test_closing_stops_the_worker_and_empties_the_queue(workspace, jobs):
    first, second = (add_study(workspace, LONG, name) for name in ("a", "b"))
    jobs.enqueue(first)
    jobs.enqueue(second)
    wait_for_runs(jobs, first)
    group = jobs._process.pid
    began = time.monotonic()
    jobs.close()
    took = time.monotonic() - began

    assert took <= SECONDS_TO_STOP + 1
    assert not living_processes(group)
    assert [jobs.state(study).state for study in (first, second)] == ["stopped", "stopped"]
    with pytest.raises(WorkbenchError, match="closing"):
        jobs.enqueue(first)


@needs_proc
def test_after_the_server_is_killed_its_worker_ends_and_a_new_one_goes_on(tmp_path, monkeypatch, long_table):
    """A crash of the server must lose no finished run, and leave no process that nobody can stop."""
    monkeypatch.setenv("LOKY_MAX_CPU_COUNT", "1")
    with Workspace(tmp_path / "w") as workspace:
        study, other = add_study(workspace, LONG), add_study(workspace, LONG)
    script = tmp_path / "server.py"
    script.write_text(
        textwrap.dedent("""
        import sys, time
        from pathlib import Path
        from evenhand.app.state.workbench import Workbench

        workbench = Workbench.open(Path(sys.argv[1]))
        for study in sys.argv[2:]:
            workbench.jobs.enqueue(study)
        while workbench.jobs.state(sys.argv[2]).done < 3:
            time.sleep(0.02)
        print(workbench.jobs._process.pid, flush=True)
        time.sleep(600)
        """)
    )
    server = subprocess.Popen([sys.executable, script, tmp_path / "w", study, other], stdout=subprocess.PIPE)
    group = int(server.stdout.readline())
    os.kill(server.pid, signal.SIGKILL)
    server.wait()
    server.stdout.close()
    wait_until(lambda: not living_processes(group))

    with Workspace(tmp_path / "w") as workspace:
        jobs = Jobs(workspace)
        states = [jobs.state(each) for each in (study, other)]
        kept = len(Results.load(workspace.folder(study) / "study"))
        assert [state.state for state in states] == ["stopped", "stopped"]
        assert all(state.message for state in states)
        assert 3 <= states[0].done <= kept < len(LONG.cells())
        jobs.enqueue(study)
        assert wait_for_end(jobs, study).state == "finished"
        assert Results.load(workspace.folder(study) / "study").canonical() == long_table
        jobs.close()
