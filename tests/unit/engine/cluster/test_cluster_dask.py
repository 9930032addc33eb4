"""Reports from a real Dask cluster: a scheduler and two worker processes on this machine."""

import pathlib
import subprocess
import sys
import time

import pyarrow as pa
import pytest

import evenhand as eh
from evenhand.engine.cluster.unfinished import Unfinished
from evenhand.errors import ClusterError, OtherRowsError, OutsideDomainError
from evenhand.privacy.ledger import Ledger
from evenhand.privacy.signing.keys import SigningKey
from unit.engine.cluster._real_clusters import (
    PROTOCOLS,
    SCHEMA,
    KillWorker,
    check_law_of_combined,
    check_law_of_grr_and_oue,
    frame,
)
from unit.engine.cluster._toy_engine import read

pytestmark = [pytest.mark.engines, pytest.mark.filterwarnings("ignore::ResourceWarning")]


@pytest.fixture
def out(tmp_path):
    return tmp_path / "reports.parquet"


@pytest.fixture
def ddf(dask_client):
    import dask.dataframe as dd

    return dd.from_pandas(frame(), npartitions=8, sort=False)


def privatize(ddf, out, **options):
    keep = [name for name in getattr(ddf, "columns", ()) if name not in {"sex", "job"}]
    asked = {"schema": SCHEMA, "epsilon": 2, "keep": keep, "linkable": True}
    return eh.engine.dask.privatize(ddf, out=out, **(asked | options))


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


def changed(ddf, function, *, meta=None):
    return ddf.map_partitions(function, meta=ddf._meta if meta is None else meta)


def test_grr_and_oue_follow_their_laws_and_every_row_is_there_once(ddf, out):
    made = privatize(ddf, out, protocol=PROTOCOLS)

    assert sorted(read(out)["place"].to_pylist()) == list(range(40_000))
    check_law_of_grr_and_oue(read(out), made.record)
    assert names_in(out.parent) == [out.name, f"{out.name}.guarantee.json", f"{out.name}.schema.toml"]


def test_combined_reports_follow_their_law(ddf, out):
    made = privatize(ddf, out, strategy="combined", materialize=False)

    check_law_of_combined(read(out), made.record)


def test_two_runs_differ(ddf, out, tmp_path):
    privatize(ddf, out, keep_order=True)
    privatize(ddf, tmp_path / "again.parquet", keep_order=True)

    assert read(out)["place"].equals(read(tmp_path / "again.parquet")["place"])
    assert not read(out)["sex"].equals(read(tmp_path / "again.parquet")["sex"])


def turning(ddf, marker):
    """Return a frame whose rows stand in the other order from the second time on that they are computed."""
    folder = str(marker)

    def turn(part):
        import pathlib

        place = pathlib.Path(folder, str(part["place"].min()))
        first = not place.exists()
        place.touch()
        return part if first else part.iloc[::-1]

    marker.mkdir()
    return changed(ddf, turn)


def test_a_partition_with_its_rows_in_another_order_is_refused(ddf, out, tmp_path):
    with pytest.raises(OtherRowsError, match="has other rows"):
        privatize(turning(ddf, tmp_path / "seen"), out, materialize=False)
    assert names_in(tmp_path) == ["seen"]


def test_rows_that_change_their_order_are_kept_first_by_default(ddf, out, tmp_path):
    made = privatize(turning(ddf, tmp_path / "seen"), out)

    assert made.rows == read(out).num_rows == 40_000


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("x-secret", "a value outside its declared domain"),
        (None, "a missing value"),
        (5, "values of another type in one partition"),
    ],
)
def test_a_bad_partition_is_one_clear_error(ddf, out, value, words, tmp_path):
    def spoil(part):
        if part["place"].min() != 0:
            return part
        return part.assign(sex=part["sex"].astype(object).where(part["place"] != 7, value))

    ledger = Ledger(tmp_path / "spent.db", epsilon=4)
    before = names_in(tmp_path)

    with pytest.raises(OutsideDomainError, match=f"Column 'sex' holds {words}") as refusal:
        privatize(changed(ddf, spoil), out, ledger=ledger)
    assert "secret" not in str(refusal.value)
    assert names_in(tmp_path) == before
    assert len(ledger.history()) == 1


def test_a_partition_without_a_column_is_one_clear_error(ddf, out):
    with pytest.raises(ClusterError, match="Dask stopped") as failure:
        privatize(changed(ddf, lambda part: part.drop(columns="sex")), out)
    assert failure.value.__suppress_context__
    assert names_in(out.parent) == []


def test_an_error_of_somebody_elses_function_shows_no_value(ddf, out):
    def fail(part):
        raise ValueError("x-secret")

    with pytest.raises(ClusterError, match=r"Dask stopped with ValueError\.") as failure:
        privatize(changed(ddf, fail), out)
    assert "secret" not in str(failure.value)
    assert names_in(out.parent) == []


@pytest.mark.parametrize("count", [300, pytest.param(10_000, marks=pytest.mark.slow)])
def test_partitions_that_are_nearly_all_empty(dask_client, out, count):
    import dask
    import dask.dataframe as dd

    some = frame(5)
    none = some.iloc[:0]
    parts = [dask.delayed(none)] * (count - 1)
    ddf = dd.from_delayed([*parts, dask.delayed(some)], meta=none, verify_meta=False)
    made = privatize(ddf, out)

    assert made.rows == read(out).num_rows == 5


def test_a_run_that_failed_goes_on_without_another_charge(ddf, out, tmp_path):
    marker = str(tmp_path / "fail")

    def fail_later(part):
        import pathlib

        if pathlib.Path(marker).exists():
            raise RuntimeError("x-secret")
        return part

    ledger, key = Ledger(tmp_path / "spent.db", epsilon=3), SigningKey.new()
    save = Unfinished.save

    def save_and_break(self, key, state):
        save(self, key, state)
        pathlib.Path(marker).touch()

    rows = changed(ddf, fail_later)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Unfinished, "save", save_and_break)
        with pytest.raises(ClusterError, match="make the same call again") as failure:
            privatize(rows, out, ledger=ledger, sign=key, materialize=False)
    pathlib.Path(marker).unlink()
    assert "secret" not in str(failure.value)
    assert not out.exists()
    made = privatize(rows, out, ledger=ledger, sign=key, materialize=False)

    assert [entry.number for entry in ledger.history()] == [1, made.charge.number]
    assert eh.engine.verify(out, key=key.public, ledger=tmp_path / "spent.db").passed
    assert sorted(read(out)["place"].to_pylist()) == list(range(40_000))


def test_a_worker_without_evenhand_is_one_clear_error(tmp_path):
    """The scheduler and a worker of their own, in processes that cannot import evenhand."""
    import dask.dataframe as dd
    from distributed import Client

    blocked = tmp_path / "blocked" / "evenhand"
    blocked.mkdir(parents=True)
    missing = "raise ModuleNotFoundError(\"No module named 'evenhand'\", name='evenhand')\n"
    (blocked / "__init__.py").write_text(missing)
    place = tmp_path / "scheduler.json"
    shared = {
        "env": {"PYTHONPATH": str(blocked.parent), "PATH": "/usr/bin:/bin"},
        "stderr": subprocess.DEVNULL,
    }
    options = ["--host", "127.0.0.1", "--no-dashboard", "--scheduler-file", str(place)]
    scheduler = subprocess.Popen(
        [sys.executable, "-m", "distributed.cli.dask_scheduler", "--port", "0", *options], **shared
    )
    worker = subprocess.Popen(
        [sys.executable, "-m", "distributed.cli.dask_worker", "--no-nanny", "--nthreads", "1", *options],
        **shared,
    )
    try:
        until = time.monotonic() + 60
        while not place.exists() and time.monotonic() < until:
            time.sleep(0.1)
        with Client(scheduler_file=str(place)) as client:
            client.wait_for_workers(1)
            ddf = dd.from_pandas(frame(10), npartitions=1)
            with pytest.raises(ClusterError, match="has no evenhand, or another version"):
                privatize(ddf, tmp_path / "r.parquet")
    finally:
        for process in (worker, scheduler):
            process.kill()
            process.wait()

    assert names_in(tmp_path) == ["blocked", "scheduler.json"] or names_in(tmp_path) == ["blocked"]


def test_a_killed_worker_costs_no_row_and_reports_none_twice(ddf, out, dask_cluster):
    """Last of all, since the cluster has one worker less afterwards."""

    def slowly(part):
        import time

        time.sleep(0.3)
        return part

    killer = KillWorker(dask_cluster, out)
    killer.start()
    made = privatize(changed(ddf, slowly), out, materialize=False, protocol=PROTOCOLS)
    killer.join()

    assert 0 < killer.killed_after < 8
    assert sorted(read(out)["place"].to_pylist()) == list(range(40_000))
    check_law_of_grr_and_oue(read(out), made.record)


def test_frames_of_other_kinds_are_refused(dask_client, out):
    import dask.dataframe as dd
    import pandas as pd

    with pytest.raises(eh.errors.InvalidParameterError, match=r"must be a dask.dataframe.DataFrame"):
        privatize(pa.table({}), out)
    twice = dd.from_pandas(pd.DataFrame([[1, 2]], columns=[0, 1]), npartitions=1)
    with pytest.raises(eh.errors.InvalidParameterError, match="different names, all texts"):
        privatize(twice, out)
