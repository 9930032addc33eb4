"""Spark: the reporter in mapInArrow beside an identity mapInArrow over the same rows, in one run.

    python benchmarks/bench_engines.py [rows]

Needs Java and pyspark. Both sides read the same Parquet files and write to Spark's "noop" sink, in turns.
The floor is the identity; the goal is at most 1.25 times it.
"""

import pathlib
import statistics
import sys
import tempfile
import time
import warnings

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from evenhand.engine import ReportPlan, RunKey
from evenhand.schema import Column, Domain, Schema

GOAL = 1.25
SCHEMA = Schema(
    [
        Column("sex", Domain.categorical(["f", "m"])),
        Column("race", Domain.categorical(["a", "b", "c", "d", "e"])),
    ],
    sensitive=["sex", "race"],
    protected="sex",
)


def write_people(folder, rows):
    draw = np.random.default_rng(7)
    table = pa.table(
        {
            "id": draw.permutation(rows),
            "sex": draw.choice(["f", "m"], rows),
            "race": draw.choice(["a", "b", "c", "d", "e"], rows),
            "wage": draw.random(rows),
            "hired": draw.integers(0, 2, rows),
        }
    )
    for part in range(2):
        pq.write_table(table.slice(part * rows // 2, rows // 2), folder / f"{part}.parquet")
    return table.schema


def main(rows):
    from pyspark.sql import SparkSession
    from pyspark.sql.pandas.types import from_arrow_schema

    warnings.filterwarnings("ignore", category=FutureWarning)
    folder = pathlib.Path(tempfile.mkdtemp())
    plan, key = ReportPlan.make(write_people(folder, rows), schema=SCHEMA, epsilon=1), RunKey.draw()
    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    df = session.read.parquet(str(folder))

    def identity(batches):
        yield from batches

    def report(batches):
        from pyspark import TaskContext

        from evenhand.engine import reporter

        yield from reporter(plan, key, TaskContext.get().partitionId(), for_spark=True)(batches)

    sides = {"identity": (identity, df.schema), "reports": (report, from_arrow_schema(plan.spark_output))}
    times = {name: [] for name in sides}
    for turn in range(6):
        for name, (function, schema) in sides.items():
            start = time.perf_counter()
            df.mapInArrow(function, schema).write.format("noop").mode("overwrite").save()
            if turn:  # the first starts Python workers and compiles
                times[name].append(time.perf_counter() - start)
    best = {name: statistics.median(seconds) for name, seconds in times.items()}
    ratio = best["reports"] / best["identity"]
    print(f"rows {rows:,}: identity {best['identity']:.2f} s, reports {best['reports']:.2f} s (medians of 5)")
    print(f"reports are {ratio:.2f} times the floor; the goal is {GOAL}")
    session.stop()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2_000_000)
