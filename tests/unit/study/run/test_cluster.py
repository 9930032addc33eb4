"""A study on a Dask cluster gives the bytes of the same study here, and says plainly what is wrong.

The rules are tested with a stand-in for the cluster; the tests marked `engines` have a real one.
"""

import os
import signal
import sys

import pytest

from attacks._study_cells import LightRunner, cheap, light_rows, small_plan
from evenhand.errors import ClusterError, InvalidParameterError, MissingExtraError
from evenhand.study.plan.facts import versions
from evenhand.study.run import cluster as module
from evenhand.study.run.attempt import DIED
from evenhand.study.run.cluster import ClusterPool, DaskCluster, cluster_of
from evenhand.study.run.events import CellDone
from evenhand.study.run.whole import run
from evenhand.study.run.workers import Died, Job
from evenhand.study.store.canonical import table_hash

PLAN = small_plan()
CELLS = PLAN.cells()
JOB = Job(PLAN, light_rows(), cheap)
HERE = dict(versions(PLAN.task.used_packages))


class _Future:
    """What a cluster will have computed."""

    def __init__(self, status="finished", value=None):
        self.status, self._value = status, value

    def result(self):
        return self._value

    def exception(self):
        return self._value

    def add_done_callback(self, callback):
        if self.status != "pending":
            callback(self)


class _Client:
    """A cluster of one worker that computes at once, or does what it is told to do."""

    def __init__(self, *, numbers=HERE, answers=(), workers=1):
        self.numbers, self.answers, self.workers = numbers, list(answers), workers
        self.status, self.sent, self.cancelled, self.is_closed = "running", 0, [], False

    def wait_for_workers(self, number, timeout):
        if self.workers < number:
            raise TimeoutError

    def run(self, function, names):
        assert set(function(names)) <= {"python", *names}

        return {"tcp://127.0.0.1:1": self.numbers}

    def scatter(self, job, *, broadcast, hash):  # noqa: A002 - as distributed calls it
        self.sent += 1
        return _Future(value=job)

    def submit(self, function, name, rows, wanted, *, pure):
        if self.answers:
            return self.answers.pop(0)
        return _Future(value=function(name, rows.result(), wanted))

    def nthreads(self):
        return dict.fromkeys(range(self.workers), 1)

    def cancel(self, futures):
        self.cancelled += futures

    def close(self, timeout):
        self.is_closed = True


@pytest.fixture
def pool(monkeypatch):
    """Return a pool on a client that is given."""

    def build(client, *, is_ours=True, stop=lambda: False):
        monkeypatch.setattr(DaskCluster, "connect", lambda self: client)
        return ClusterPool(JOB, cluster=DaskCluster("tcp://127.0.0.1:1" if is_ours else client), stop=stop)

    return build


def test_every_cell_comes_back_as_it_would_here(pool):
    outcomes = list(pool(_Client()).results(CELLS))

    expected = [cheap(cell, plan=PLAN, prepared=JOB.prepared) for cell in CELLS]
    assert table_hash(outcomes) == table_hash(expected)


def test_a_worker_of_another_version_is_refused_before_any_row_is_sent(pool):
    client = _Client(numbers={**HERE, "evenhand": "0.0.1"})

    with pytest.raises(ClusterError, match=r"has evenhand 0\.0\.1 instead of"):
        pool(client)
    assert client.sent == 0
    assert client.is_closed


def test_a_worker_without_evenhand_is_refused(pool):
    numbers = {name: number for name, number in HERE.items() if name != "evenhand"}

    with pytest.raises(ClusterError, match="has no evenhand instead of"):
        pool(_Client(numbers=numbers))


def test_a_worker_of_another_version_that_joins_later_is_refused():
    with pytest.raises(ClusterError, match="numpy"):
        module._compute(CELLS[0].id, JOB, {**HERE, "numpy": "0"})


def test_a_cluster_without_workers_is_refused(pool):
    with pytest.raises(ClusterError, match=r"has no worker.*dask worker"):
        pool(_Client(workers=0))


def test_a_cell_whose_rows_were_lost_is_run_again_with_rows_sent_anew(pool):
    client = _Client(answers=[_Future("lost")])
    started = pool(client)
    started._rows.status = "lost"

    news = list(started.results(CELLS[:1]))

    assert [type(item) for item in news] == [Died, type(news[1])]
    assert news[1].failure is None
    assert client.sent == 2


@pytest.mark.parametrize(
    "answers",
    [
        [_Future("lost"), _Future("cancelled"), _Future("lost")],
        [_Future("error", type("KilledWorker", (Exception,), {})())],
    ],
)
def test_a_cell_that_is_lost_again_and_again_is_a_recorded_failure(pool, answers):
    news = list(pool(_Client(answers=answers)).results(CELLS[:1]))

    assert news[-1].failure.kind == DIED


def test_an_error_of_a_worker_itself_ends_the_study_with_its_class_alone(pool):
    client = _Client(answers=[_Future("error", ModuleNotFoundError("/home/somebody/secret"))])

    with pytest.raises(ClusterError, match="ModuleNotFoundError") as caught:
        list(pool(client).results(CELLS[:1]))
    assert "secret" not in str(caught.value)


def test_a_refusal_on_a_worker_ends_the_study(pool):
    with pytest.raises(ClusterError, match="other versions"):
        list(pool(_Client(answers=[_Future("error", ClusterError("other versions"))])).results(CELLS[:1]))


@pytest.mark.parametrize("status", ["lost", "pending"])
def test_a_scheduler_that_is_gone_ends_the_study_with_how_to_go_on(pool, monkeypatch, status):
    monkeypatch.setattr(module, "_LOOK_SECONDS", 0.0)
    client = _Client(answers=[_Future(status)])
    started = pool(client)
    client.status = "closed"

    with pytest.raises(ClusterError, match=r"scheduler is gone.*resume"):
        list(started.results(CELLS[:1]))


def test_a_scheduler_that_does_not_answer_is_gone(pool, monkeypatch):
    monkeypatch.setattr(module, "_LOOK_SECONDS", 0.0)
    client = _Client(answers=[_Future("pending")])
    client.nthreads = lambda: (_ for _ in ()).throw(OSError)

    with pytest.raises(ClusterError, match="scheduler is gone"):
        list(pool(client).results(CELLS[:1]))


def test_a_cluster_that_has_had_no_worker_for_long_is_given_up(pool, monkeypatch):
    monkeypatch.setattr(module, "_LOOK_SECONDS", 0.0)
    monkeypatch.setattr(module, "_PATIENCE_SECONDS", 0.0)
    client = _Client(answers=[_Future("pending")])
    started = pool(client)
    client.workers = 0

    with pytest.raises(ClusterError, match="no worker for a minute"):
        list(started.results(CELLS[:1]))


def test_a_cluster_that_is_slow_is_waited_for(pool, monkeypatch):
    monkeypatch.setattr(module, "_LOOK_SECONDS", 0.0)
    asked = iter([False, False, True])

    assert (
        list(pool(_Client(answers=[_Future("pending")]), stop=lambda: next(asked)).results(CELLS[:1])) == []
    )


def test_what_is_finished_is_drained_and_the_rest_taken_back(pool):
    client = _Client(answers=[_Future("pending")])
    started = pool(client, stop=lambda: True)
    assert list(started.results(CELLS[:3])) == []

    assert len(list(started.drain())) == 2
    started.close()
    started.close()
    assert [future.status for future in client.cancelled] == ["pending", "finished"]
    assert client.is_closed


def test_a_client_that_was_given_stays_open(pool):
    client = _Client()
    pool(client, is_ours=False).close()

    assert not client.is_closed


def test_a_model_that_cannot_travel_is_refused(pool, monkeypatch):
    client = _Client()
    monkeypatch.setattr(client, "scatter", lambda *_, **__: (_ for _ in ()).throw(TypeError))

    with pytest.raises(InvalidParameterError, match="can be sent to other machines"):
        pool(client)


def test_a_study_uses_the_cluster_that_it_names(monkeypatch):
    monkeypatch.setattr(DaskCluster, "connect", lambda self: _Client())
    runner = LightRunner(PLAN, execute=cheap, engine="dask", scheduler="tcp://127.0.0.1:1")
    here = LightRunner(PLAN, execute=cheap, workers=1)
    for each in (runner, here):
        list(each.events())

    assert table_hash(runner.outcomes.values()) == table_hash(here.outcomes.values())


# --- what is asked for --------------------------------------------------------------------------------


def test_this_machine_is_no_cluster():
    assert cluster_of("local", None) is None


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (("spark", None), "engine"),
        (("local", "tcp://127.0.0.1:1"), "scheduler"),
        (("local", object()), "type object"),
        (("dask", None), "address of a Dask scheduler"),
        (("dask", ""), "address of a Dask scheduler"),
        (("dask", "tls://127.0.0.1:1"), "begins with tls"),
    ],
)
def test_options_that_do_not_go_together_are_refused(given, words):
    with pytest.raises(InvalidParameterError, match=words):
        cluster_of(*given)


def test_files_go_with_an_encrypted_address_alone_and_all_three(tmp_path):
    path = tmp_path / "some.pem"
    path.write_text("")
    files = dict.fromkeys(["ca_file", "cert_file", "key_file"], path)

    cluster = DaskCluster("tls://127.0.0.1:1", **files)
    assert cluster_of("dask", cluster) is cluster
    with pytest.raises(InvalidParameterError, match="begins with tls"):
        DaskCluster("tcp://127.0.0.1:1", **files)
    with pytest.raises(InvalidParameterError, match="together with the other two"):
        DaskCluster("tls://127.0.0.1:1", ca_file=path)
    with pytest.raises(InvalidParameterError, match="a file that is there"):
        DaskCluster("tls://127.0.0.1:1", **files | {"key_file": tmp_path / "none.pem"})


def test_workers_of_this_machine_do_not_go_with_a_cluster():
    with pytest.raises(InvalidParameterError, match="workers"):
        LightRunner(PLAN, engine="dask", scheduler="tcp://127.0.0.1:1", workers=2)


def test_without_distributed_the_install_command_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)

    with pytest.raises(MissingExtraError, match=r"pip install 'evenhand\[dask\]'"):
        DaskCluster("tcp://127.0.0.1:1").connect()


# --- a real cluster -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def real_cluster():
    """Start a scheduler and two workers, each a process of its own, and return the cluster."""
    distributed = pytest.importorskip("distributed", reason="needs the extra dask")
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0"}
    with distributed.LocalCluster(**options, silence_logs=50) as started:
        yield started


@pytest.mark.engines
def test_a_real_cluster_gives_the_bytes_of_this_machine(real_cluster, tmp_path):
    plan = small_plan((1, 2, 4), repeats=3)
    here = run(plan, workers=1, progress=False)
    there = run(plan, engine="dask", scheduler=real_cluster.scheduler_address, out=tmp_path, progress=False)

    assert table_hash(there.outcomes) == table_hash(here.outcomes)
    assert not there.failures
    there.to_csv(tmp_path / "there.csv")
    here.to_csv(tmp_path / "here.csv")
    assert (tmp_path / "there.csv").read_bytes() == (tmp_path / "here.csv").read_bytes()


@pytest.mark.engines
def test_the_cells_of_a_worker_that_is_killed_are_run_again(real_cluster):
    plan = small_plan((1, 2, 4, 8), repeats=5)
    killed = []

    def kill_one(event):
        if isinstance(event, CellDone) and event.done >= 3 and not killed:
            with real_cluster.get_client() as client:
                pids = client.run(os.getpid)
            killed.append(min(pids.values()))
            os.kill(killed[0], signal.SIGKILL)

    results = run(plan, engine="dask", scheduler=real_cluster.scheduler_address, progress=kill_one)

    assert killed
    assert not results.failures
    assert table_hash(results.outcomes) == table_hash(run(plan, workers=1, progress=False).outcomes)


@pytest.mark.engines
def test_nobody_at_the_address_is_one_clear_error(monkeypatch):
    pytest.importorskip("distributed", reason="needs the extra dask")
    monkeypatch.setattr(module, "_CONNECT_SECONDS", 1)

    with pytest.raises(ClusterError, match=r"No Dask scheduler answers at tcp://127\.0\.0\.1:9"):
        run(PLAN, engine="dask", scheduler="tcp://127.0.0.1:9", progress=False)


@pytest.mark.engines
def test_an_encrypted_cluster_is_reached_with_its_three_files_and_not_without(tmp_path, monkeypatch):
    distributed = pytest.importorskip("distributed", reason="needs the extra dask")
    monkeypatch.setattr(module, "_CONNECT_SECONDS", 5)
    security = distributed.Security.temporary()
    files = {}
    for name, text in (
        ("ca_file", security.tls_ca_file),
        ("cert_file", security.tls_client_cert),
        ("key_file", security.tls_client_key),
    ):
        files[name] = tmp_path / f"{name}.pem"
        files[name].write_text(text)
    options = {
        "n_workers": 1,
        "threads_per_worker": 1,
        "dashboard_address": "127.0.0.1:0",
        "silence_logs": 50,
    }
    with distributed.LocalCluster(**options, security=security) as started:
        address = started.scheduler_address
        cluster = DaskCluster(address, **files)
        results = run(PLAN, engine="dask", scheduler=cluster, progress=False)
        with pytest.raises(ClusterError, match="No Dask scheduler answers"):
            run(PLAN, engine="dask", scheduler=address.replace("tls://", "tcp://"), progress=False)

    assert address.startswith("tls://")
    assert len(results) == len(CELLS)
