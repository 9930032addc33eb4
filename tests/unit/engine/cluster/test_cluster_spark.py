"""Reports from a real Spark cluster: a master and two workers on this machine."""

import base64
import pathlib

import pyarrow as pa
import pyarrow.parquet as pq
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
from unit.engine.cluster._toy_engine import people, plan_of, read

pytestmark = [
    pytest.mark.engines,
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


@pytest.fixture
def out(tmp_path):
    return tmp_path / "reports.parquet"


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """Return a folder of four Parquet files of people."""
    folder = tmp_path_factory.mktemp("people")
    table = pa.Table.from_pandas(frame(), preserve_index=False)
    for number in range(4):
        pq.write_table(table.slice(number * 10_000, 10_000), folder / f"{number}.parquet")
    return folder


@pytest.fixture
def df(spark, stored):
    return spark.read.parquet(str(stored))


def privatize(df, out, **options):
    keep = [name for name in getattr(df, "columns", ()) if str(name) not in {"sex", "job"}]
    asked = {"schema": SCHEMA, "epsilon": 2, "keep": keep, "linkable": True}
    return eh.engine.spark.privatize(df, out=out, **(asked | options))


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


def test_grr_and_oue_follow_their_laws_and_every_row_is_there_once(df, out):
    made = privatize(df, out, protocol=PROTOCOLS)
    table = read(out)

    assert sorted(table["place"].to_pylist()) == list(range(40_000))
    check_law_of_grr_and_oue(table, made.record)
    assert names_in(out.parent) == [out.name, f"{out.name}.guarantee.json", f"{out.name}.schema.toml"]


def test_combined_reports_follow_their_law_also_after_a_shuffle(df, out):
    """The order of rows after a shuffle is another each time, so they are kept first."""
    made = privatize(df.repartition(3), out, strategy="combined")

    check_law_of_combined(read(out), made.record)


def test_a_plain_scan_is_reproducible_and_a_shuffle_is_not(df):
    from pyspark.sql.functions import rand

    from evenhand.engine.spark import _Spark

    assert _Spark(df).is_reproducible
    assert _Spark(df.filter("place > 5").select("sex")).is_reproducible
    assert not _Spark(df.repartition(3)).is_reproducible
    assert not _Spark(df.filter(rand() < 0.5)).is_reproducible
    assert not _Spark(df.sample(0.5).distinct()).is_reproducible


def test_two_runs_differ(df, out, tmp_path):
    privatize(df, out, keep_order=True)
    privatize(df, tmp_path / "again.parquet", keep_order=True)

    assert read(out)["place"].equals(read(tmp_path / "again.parquet")["place"])
    assert not read(out)["sex"].equals(read(tmp_path / "again.parquet")["sex"])


def test_a_task_that_is_run_again_gives_the_reports_of_its_first_try(df, tmp_path):
    plan, key = plan_of(pa.Table.from_pandas(frame(10))), eh.engine.RunKey.draw()
    folder = str(tmp_path)

    def report(batches):
        import hashlib
        import pathlib

        from pyspark import TaskContext

        from evenhand.engine import reporter

        context = TaskContext.get()
        made = list(reporter(plan, key, context.partitionId(), for_spark=True)(batches))
        rows = pa.Table.from_batches(made, plan.spark_output)
        seen = hashlib.sha256(str(rows.to_pydict()).encode()).hexdigest()
        name = f"{context.partitionId()}-{context.attemptNumber()}"
        pathlib.Path(folder, name).write_text(seen)
        if context.attemptNumber() == 0:
            raise RuntimeError("this try is lost")
        yield from made

    ddl = "id long, sex short, job short, place long"
    rows = df.mapInArrow(report, ddl).count()
    tries = {}
    for path in tmp_path.iterdir():
        tries.setdefault(path.name.split("-")[0], []).append(path.read_text())

    assert rows == 40_000
    assert len(tries) == df.rdd.getNumPartitions()
    assert all(len(seen) >= 2 and len(set(seen)) == 1 for seen in tries.values())
    assert len({seen[0] for seen in tries.values()}) == len(tries)


def turning(df, marker):
    """Return a frame whose rows stand in the other order from the second time on that they are computed."""
    marker = str(marker)

    def turn(batches):
        import pathlib

        place = pathlib.Path(marker)
        first = not place.exists()
        for batch in batches:
            yield batch if first else batch.take(pa.array(range(batch.num_rows - 1, -1, -1)))
        place.touch()

    return df.coalesce(1).mapInArrow(turn, df.schema)


def test_a_partition_with_its_rows_in_another_order_is_refused(df, out, tmp_path):
    before = names_in(tmp_path)

    with pytest.raises(OtherRowsError, match="Partition 0 has other rows"):
        privatize(turning(df, tmp_path / "seen"), out, materialize=False)
    assert names_in(tmp_path) == [*before, "seen"]


def test_rows_that_change_their_order_are_kept_first_by_default(df, out, tmp_path):
    made = privatize(turning(df, tmp_path / "seen"), out)

    assert made.rows == read(out).num_rows == 40_000


# --- bad input ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("case when place = 30000 then 'x-secret' else sex end", "a value outside its declared domain"),
        ("case when place = 30000 then null else sex end", "a missing value"),
        ("place", "values of a type its domain does not hold"),
    ],
)
def test_a_bad_partition_is_one_clear_error(df, out, change, words, tmp_path):
    from pyspark.sql.functions import expr

    ledger = Ledger(tmp_path / "spent.db", epsilon=4)
    before = names_in(tmp_path)

    with pytest.raises(OutsideDomainError, match=f"Column 'sex' holds {words}") as refusal:
        privatize(df.withColumn("sex", expr(change)), out, ledger=ledger)
    assert "secret" not in str(refusal.value)
    assert refusal.value.__cause__ is None
    assert refusal.value.__context__ is None
    assert names_in(tmp_path) == before
    assert len(ledger.history()) == 1


def test_an_error_of_sparks_own_shows_no_value(df, out):
    from pyspark.sql.functions import expr

    with pytest.raises(ClusterError, match="Spark stopped with") as failure:
        privatize(df.withColumn("extra", expr("cast(concat('secret', sex) as int)")), out)
    assert "secret" not in str(failure.value)
    assert failure.value.__suppress_context__
    assert names_in(out.parent) == []


def test_empty_partitions_and_a_name_with_a_dot_and_a_tick(spark, df, out):
    from pyspark.sql.functions import lit

    made = privatize(df.filter("place < 100").withColumn("a.b`c", lit(1)), out)

    assert made.rows == read(out).num_rows == 100
    assert "a.b`c" in read(out).column_names


@pytest.mark.parametrize("count", [50, pytest.param(10_000, marks=pytest.mark.slow)])
def test_partitions_that_are_nearly_all_empty(spark, out, count):
    empty = spark.range(0, 10_000, 1, count).selectExpr("id as place", "'f' as sex", "'cook' as job")
    made = privatize(empty.filter("place = 5000"), out)

    assert made.rows == read(out).num_rows == 1
    assert min(_count_frozen_objects(spark)) > 50_000


def _count_frozen_objects(spark):
    """Return how many objects the garbage collection after a task leaves out, in some Python workers."""

    def count(batches):
        import gc

        for batch in batches:
            yield pa.record_batch({"frozen": [gc.get_freeze_count()] * batch.num_rows})

    return [row["frozen"] for row in spark.range(0, 4, 1, 4).mapInArrow(count, "frozen long").collect()]


def test_something_else_than_a_frame_is_refused(spark, out):
    with pytest.raises(eh.errors.InvalidParameterError, match=r"'df' parameter of spark.privatize must be a"):
        privatize(people(3), out)


def test_two_columns_of_one_name_are_refused(df, out):
    with pytest.raises(eh.errors.InvalidParameterError, match="two columns 'place'"):
        privatize(df.select("place", "place", "sex", "job"), out)


def test_a_worker_without_evenhand_is_one_clear_error(spark, df, out, tmp_path, monkeypatch):
    """Tasks with another environment get Python processes of their own, which cannot import evenhand."""
    blocked = tmp_path / "blocked" / "evenhand"
    blocked.mkdir(parents=True)
    missing = "raise ModuleNotFoundError(\"No module named 'evenhand'\", name='evenhand')\n"
    (blocked / "__init__.py").write_text(missing)
    monkeypatch.setitem(spark.sparkContext.environment, "PYTHONPATH", str(blocked.parent))
    ledger = Ledger(tmp_path / "spent.db", epsilon=4)
    before = names_in(tmp_path)

    with pytest.raises(ClusterError, match=r"^A Spark executor has no evenhand\. Hint: pip install evenhand"):
        privatize(df, out, ledger=ledger)
    assert names_in(tmp_path) == before
    assert len(ledger.history()) == 1


# --- what may go wrong on the way -----------------------------------------------------------------------


def test_a_run_that_failed_goes_on_without_another_charge(df, out, tmp_path):
    marker = str(tmp_path / "fail")

    def fail_later(batches):
        import pathlib

        if pathlib.Path(marker).exists():
            raise RuntimeError("x-secret")
        yield from batches

    ledger, key = Ledger(tmp_path / "spent.db", epsilon=3), SigningKey.new()
    save = Unfinished.save

    def save_and_break(self, key, state):
        save(self, key, state)
        pathlib.Path(marker).touch()

    rows = df.mapInArrow(fail_later, df.schema)
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


def test_the_event_log_holds_neither_the_key_nor_a_value(df, out, event_log, monkeypatch):
    keys = []
    save = Unfinished.save
    monkeypatch.setattr(
        Unfinished, "save", lambda self, key, state: keys.append(key) or save(self, key, state)
    )
    privatize(df, out)
    secret = keys[0].secret
    logs = [path for path in event_log.rglob("*") if path.is_file()]
    text = b"".join(path.read_bytes() for path in logs)

    assert b"SparkListenerTaskEnd" in text
    for form in (secret, secret.hex().encode(), base64.b64encode(secret)[:-4]):
        assert form not in text
    assert b"nurse" not in text


def test_a_killed_worker_costs_no_row_and_reports_none_twice(df, out, spark_cluster):
    """Last of all, since the cluster has one worker less afterwards."""

    def slowly(batches):
        import time

        time.sleep(1)
        yield from batches

    killer = KillWorker(spark_cluster, out)
    killer.start()
    slow = df.mapInArrow(slowly, df.schema)
    made = privatize(slow, out, materialize=False, protocol=PROTOCOLS)
    killer.join()

    assert 0 < killer.killed_after < 4
    assert sorted(read(out)["place"].to_pylist()) == list(range(40_000))
    check_law_of_grr_and_oue(read(out), made.record)
