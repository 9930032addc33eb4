"""What a worker process does, seen from inside; whole processes are in tests/attacks."""

import os
import signal
import threading
import warnings
from importlib import import_module
from multiprocessing import Pipe
from typing import ClassVar

import pytest

from attacks._study_cells import LightRunner, Stubborn, cheap, light_rows, small_plan
from evenhand._shared_objects import SharedObject
from evenhand.study.run import workers
from evenhand.study.run.attempt import as_texts, from_texts
from evenhand.study.run.events import CellDone
from evenhand.study.run.workers import Died, Job, Pool, _Worker, serve
from evenhand.study.store.store import Store
from evenhand.study.tasks.collect.task import CollectTask

PLAN = small_plan()
CELLS = PLAN.cells()
FOLLOW = import_module("evenhand.study.run.whole")  # the package has a function of this name


class _Process:
    """A process that only seems to run."""

    def __init__(self, code=None, *, last=None):
        self.exitcode = code
        self.last = last
        self.pid = 2**22 + 7  # above what Linux gives by default
        self.ended = 0

    def join(self, timeout=None):
        if timeout is None or self.last is not None:
            self.exitcode = -9 if self.last is None else self.last

    def terminate(self):
        self.ended += 1


def _outcome(cell):
    return cheap(cell, plan=PLAN, prepared=light_rows())


@pytest.fixture
def _own_signals():
    before = signal.getsignal(signal.SIGINT)
    with warnings.catch_warnings():
        yield
    signal.signal(signal.SIGINT, before)


def _answers(job, cells):
    """Let this process be a worker, and return what it answers to the cells."""
    ours, theirs = Pipe()
    shared, answers = SharedObject(job), []

    def ask():
        ours.send_bytes(shared.message)
        for cell in cells:
            ours.send(cell.id)
            texts, compiling = ours.recv()
            answers.append(from_texts(cell, texts))
            assert compiling == 0  # nothing here is compiled
        ours.close()

    asker = threading.Thread(target=ask)
    asker.start()
    serve(theirs, os.getppid())
    asker.join()
    theirs.close()
    shared.close()
    return answers


@pytest.mark.usefixtures("_own_signals")
def test_a_worker_answers_with_the_outcome_of_each_cell():
    answers = _answers(Job(PLAN, light_rows(), cheap), CELLS[:3])

    assert [as_texts(answer)[0] for answer in answers] == [as_texts(_outcome(cell))[0] for cell in CELLS[:3]]
    assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN


def interrupted(cell, *, plan, prepared):
    raise KeyboardInterrupt


@pytest.mark.usefixtures("_own_signals")
def test_a_model_that_raises_ctrl_c_itself_is_a_bad_cell_of_its_worker():
    """Workers never hear Ctrl-C, so it is the model's own, and its process need not end."""
    answers = _answers(Job(PLAN, light_rows(), interrupted), CELLS[:2])

    assert [answer.failure.kind for answer in answers] == ["KeyboardInterrupt"] * 2


@pytest.mark.usefixtures("_own_signals")
def test_a_worker_that_cannot_begin_says_why_for_each_cell():
    plan = PLAN.with_(task=CollectTask(model=Stubborn(home=1)))
    answers = _answers(Job(plan, light_rows(), cheap), CELLS[:2])

    assert [answer.failure.kind for answer in answers] == ["ModuleNotFoundError"] * 2


def test_a_worker_leaves_when_its_parent_is_gone(monkeypatch):
    parents = iter([5, 5, 1])
    monkeypatch.setattr(workers.os, "getppid", lambda: next(parents))
    monkeypatch.setattr(workers.time, "sleep", lambda _: None)
    monkeypatch.setattr(workers.os, "_exit", lambda code: (_ for _ in ()).throw(SystemExit(code)))

    with pytest.raises(SystemExit):
        workers._leave_with(5)


def test_a_worker_has_one_thread_for_everything():
    assert workers.ONE_THREAD["OMP_NUM_THREADS"] == workers.ONE_THREAD["OPENBLAS_NUM_THREADS"] == "1"


# --- the pool -------------------------------------------------------------------------------------


@pytest.fixture
def pool():
    """Return a pool of three workers that are pipes: one is done, one computes, one is dead."""
    pool = Pool(Job(PLAN, None, cheap), count=3, stop=lambda: False)
    ends = []
    for cell in CELLS[:3]:
        ours, theirs = Pipe()
        pool._workers.append(_Worker(_Process(), ours, cell))
        ends.append(theirs)
    ends[0].send((as_texts(_outcome(CELLS[0])), 0.0))
    ends[2].close()
    yield pool
    pool.close()
    for end in ends:
        end.close()


def test_what_is_finished_is_fetched_before_the_end(pool):
    """A cell that was computed and not fetched would be computed again."""
    assert [outcome.cell for outcome in pool.drain()] == [CELLS[0]]


def test_an_idle_worker_that_died_is_found_when_it_is_given_a_cell():
    pool = Pool(Job(PLAN, None, cheap), count=1, stop=lambda: False)
    ours, theirs = Pipe()
    theirs.close()
    pool._workers.append(_Worker(_Process(), ours))
    first = next(pool.results(CELLS[:1]))

    assert first == Died(CELLS[0], -9)
    assert pool._workers == []
    pool.close()


def test_a_worker_that_is_about_to_end_is_told_by_its_own_code(monkeypatch):
    """Its pipe closes a moment before it ends; killed then, every death would look like the system's."""
    monkeypatch.setattr(workers.os, "kill", lambda *_: pytest.fail("killed"))
    pool = Pool(Job(PLAN, None, cheap), count=1, stop=lambda: False)
    ours, theirs = Pipe()
    theirs.close()
    pool._workers.append(_Worker(_Process(last=3), ours))

    assert next(pool.results(CELLS[:1])) == Died(CELLS[0], 3)
    pool.close()


def test_a_process_that_ended_is_not_ended_again(monkeypatch):
    """Its number may belong to somebody else by then."""
    monkeypatch.setattr(workers.os, "kill", lambda *_: pytest.fail("killed"))
    workers._end(_Process(code=0))


def test_a_process_that_is_gone_is_no_error():
    workers._end(_Process())


def test_without_such_signals_processes_are_ended_the_other_way(monkeypatch):
    """As on Windows."""
    monkeypatch.delattr(workers.signal, "SIGKILL")
    monkeypatch.delattr(workers.signal, "pthread_sigmask")
    process = _Process()
    with workers._sigint_blocked():
        workers._end(process)

    assert process.ended == 1


def test_ctrl_c_stores_what_the_workers_had_finished(tmp_path, monkeypatch):
    class Interrupted:
        times: ClassVar = {}

        def __init__(self, *_args, **_more):
            self.closed = False

        def results(self, cells):
            yield _outcome(CELLS[0])
            raise KeyboardInterrupt

        def drain(self):
            yield _outcome(CELLS[1])

        def close(self):
            pass

    monkeypatch.setattr(FOLLOW, "Pool", Interrupted)
    seen = []
    with pytest.raises(KeyboardInterrupt):
        seen.extend(LightRunner(PLAN, out=tmp_path, workers=2, execute=cheap).events())
    with Store.open(tmp_path) as store:
        assert [outcome.cell for outcome in store.outcomes()] == list(CELLS[:2])


def test_a_study_that_is_cancelled_fetches_what_the_workers_had_finished(monkeypatch):
    class Cancelled:
        def __init__(self, *_args, **_more):
            pass

        def results(self, cells):
            yield from ()

        def drain(self):
            yield _outcome(CELLS[1])

        def close(self):
            pass

    monkeypatch.setattr(FOLLOW, "Pool", Cancelled)
    events = list(LightRunner(PLAN, workers=2, execute=cheap).events())

    assert [event.outcome.cell for event in events if isinstance(event, CellDone)] == [CELLS[1]]
