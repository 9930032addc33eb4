"""What the doors of Spark and Dask do without a cluster."""

import sys
import types

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import evenhand as eh
from evenhand.engine import dask as dask_door
from evenhand.engine import spark as spark_door
from evenhand.errors import MissingExtraError, OutsideDomainError
from unit.engine.cluster._toy_engine import SCHEMA, people, plan_of


@pytest.mark.parametrize(("name", "door"), [("pyspark", "spark"), ("dask", "dask")])
def test_a_missing_package_names_its_extra(name, door, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, name, None)
    privatize = getattr(eh.engine, door).privatize

    with pytest.raises(MissingExtraError, match=rf"pip install 'evenhand\[{door}\]'"):
        privatize(people(3), out=tmp_path / "r.parquet", schema=SCHEMA, epsilon=1)


@pytest.mark.parametrize("explain", [spark_door._explain, dask_door._explain])
def test_errors_of_others_are_told_without_their_words(explain):
    assert explain(ValueError("x-secret")).endswith("stopped with ValueError.")
    assert "no evenhand" in explain(RuntimeError("... No module named 'evenhand' ..."))
    assert explain(RuntimeError("x-secret\nA task failed with OSError.\ny")).endswith(
        "stopped. A task failed with OSError."
    )


def test_a_condition_of_spark_is_told():
    class SparkError(Exception):
        def getCondition(self):  # noqa: N802 - Spark's name
            return "CAST_INVALID_INPUT"

    assert spark_door._explain(SparkError("x-secret")) == "Spark stopped with CAST_INVALID_INPUT."


def test_a_cause_of_an_error_of_dask_is_looked_at():
    error = RuntimeError("outer")
    error.__cause__ = ImportError("No module named 'evenhand'")

    assert "has no evenhand" in dask_door._explain(error)


class ToyTask:
    plan = plan_of(people(3))

    def run(self, number, batches=None):
        rows = list(batches or ())
        return eh.engine.cluster.notes.Note(number, sum(batch.num_rows for batch in rows))


def test_spark_calls_a_task_with_its_partition_and_the_names_of_the_columns(monkeypatch, collector):
    context = types.SimpleNamespace(partitionId=lambda: 5)
    module = types.ModuleType("pyspark")
    module.TaskContext = types.SimpleNamespace(get=lambda: context)
    monkeypatch.setitem(sys.modules, "pyspark", module)
    batches = people(4).rename_columns(["c0", "c1", "c2"]).to_batches()
    (row,) = spark_door._OnPartition(ToyTask())(iter(batches))

    assert '"number": 5, "rows": 4' in row.column(0)[0].as_py()


def test_spark_calls_a_task_for_each_number(collector):
    places = pa.record_batch({"id": [0, 2]})
    rows = list(spark_door._OnNumbers(ToyTask(), (7, 8, 9))([places]))

    assert [row.column(0)[0].as_py()[1:12] for row in rows] == ['"number": 7', '"number": 9']


@pytest.fixture
def collector(monkeypatch):
    """Return what is asked of the garbage collector, in place of this process's own."""
    asked = []
    fake = types.SimpleNamespace(
        collect=lambda: asked.append("collect"), freeze=lambda: asked.append("freeze")
    )
    monkeypatch.setattr(spark_door, "gc", fake)
    spark_door._freeze_modules.cache_clear()
    yield asked
    spark_door._freeze_modules.cache_clear()


def test_tasks_on_spark_leave_modules_out_of_garbage_collection_once(collector, monkeypatch):
    """Spark collects after each task: ten thousand empty partitions took 70 ms each only for that."""

    def run_task():
        list(spark_door._OnNumbers(ToyTask(), (7,))([pa.record_batch({"id": [0]})]))

    run_task()
    run_task()
    assert collector == ["collect", "freeze"]
    monkeypatch.setitem(sys.modules, "imported_by_a_task", types.ModuleType("imported_by_a_task"))
    run_task()
    assert collector == ["collect", "freeze"] * 2


def test_a_pandas_partition_becomes_a_batch_of_the_plan():
    frame = people(5).to_pandas()
    (batch,) = dask_door._batches_of(frame, plan_of(people(5)).given)

    assert batch.num_rows == 5
    assert batch.column("sex").to_pylist() == people(5)["sex"].to_pylist()


def test_a_pandas_partition_of_mixed_objects_is_refused_without_a_value():
    frame = people(3).to_pandas().assign(sex=np.array(["f", 5, "m"], dtype=object))

    with pytest.raises(
        OutsideDomainError, match="Column 'sex' holds values of another type in one"
    ) as refusal:
        list(dask_door._batches_of(frame, plan_of(people(3)).given))
    assert refusal.value.__suppress_context__


def test_dask_in_threads_reports_every_row(tmp_path):
    dd = pytest.importorskip("dask.dataframe", reason="dask is not installed: pip install 'evenhand[dask]'")
    frame = people(300).to_pandas()
    frame["kind"] = pd.Categorical(["x", "y", "z"] * 100)
    asked = {"schema": SCHEMA, "epsilon": 1, "keep": ["id", "kind"], "linkable": True}
    made = eh.engine.dask.privatize(
        dd.from_pandas(frame, npartitions=3, sort=False), out=tmp_path / "r.parquet", **asked
    )

    assert made.rows == 300
    assert made.in_clear == ("id", "kind")
