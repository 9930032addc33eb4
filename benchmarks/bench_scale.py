"""Files of a million to a hundred million rows, privatised and counted by several engines in one run.

Run ``python benchmarks/bench_scale.py --rows 1e6 1e7 1e8``; ``--engines`` picks some, ``--rounds`` repeats
(the median counts), ``--markdown`` prints the table of the documentation. With ``--folder`` the files and the
figures stay there, and a run that was stopped goes on where it was.
The input is Parquet (zstd) with four columns of text, stored as lists of 2, 6, 51 and 74 values; all four are
reported by GRR, Parquet to Parquet. Counting reads a folder of 20 such files.

Every row of the table is a process of its own, which first does a shorter file three times: to compile, to
load what it needs, and because Java still makes its code quicker the second and the third time. CPU seconds
are user and system time of the run itself, of all threads and processes below it. Memory is the peak of the
resident memory of the whole tree of processes, start-up and all; pages that processes share count in each
of them.

There are two floors. That of one machine reads the same Parquet and writes it again, by pyarrow alone. That
of Spark is a `mapInArrow` which gives back the batches that it gets; it and the reports go to Spark's "noop"
sink. The whole action on Spark goes through the rows twice and writes them, so it has no floor here.

To add an engine, write a function that takes the input, the output and a number of threads, and give it a
line in ENGINES. One whose package is missing is left out with a word.
"""

import argparse
import hashlib
import importlib.util
import json
import os
import pathlib
import platform
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from evenhand.collect import strategy_for
from evenhand.engine import ReportPlan, RunKey, estimate_file, privatize_file, spark
from evenhand.release import Histogram
from evenhand.schema import Column, Domain, Schema
from evenhand.table import Table

SIZES = {"sex": 2, "race": 6, "state": 51, "age": 74}
EPSILON = 4
BATCH = 1 << 18
SMALL = 600_000
SCHEMA = Schema(
    [Column(name, Domain.categorical([f"{name}{code}" for code in range(k)])) for name, k in SIZES.items()],
    sensitive=list(SIZES),
)
OPTIONS = {"schema": SCHEMA, "epsilon": EPSILON, "protocol": "grr", "split": "uniform"}
FILES = 20


def make(path, rows, seed=7):
    """Write the input, a million rows at a time, in two pieces or more."""
    generator, most = np.random.default_rng(seed), min(1_000_000, -(-rows // 2))
    lists = {name: pa.array([f"{name}{code}" for code in range(k)]) for name, k in SIZES.items()}
    schema = pa.schema([pa.field(name, pa.dictionary(pa.int8(), pa.string())) for name in SIZES])
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for start in range(0, rows, most):
            count = min(most, rows - start)
            codes = {name: generator.integers(0, k, count, dtype=np.int8) for name, k in SIZES.items()}
            columns = [pa.DictionaryArray.from_arrays(pa.array(codes[name]), lists[name]) for name in SIZES]
            writer.write_table(pa.table(columns, schema=schema))


def make_folder(source):
    """Write a folder of files that have together as many rows as the input; return it."""
    folder, rows = source.with_suffix(""), pq.read_metadata(source).num_rows
    if not folder.exists():
        folder.mkdir()
        for number in range(FILES):
            make(folder / f"{number:02}.parquet", rows // FILES, seed=number)
    return folder


# --- the engines ---------------------------------------------------------------------------------


def copy(source, out, threads):  # noqa: ARG001 - one thread, as a floor should be
    """Read and write alone."""
    file = pq.ParquetFile(source, read_dictionary=list(SIZES))
    with pq.ParquetWriter(out, file.schema_arrow, compression="zstd", compression_level=1) as writer:
        for batch in file.iter_batches(BATCH, use_threads=False):
            writer.write_batch(batch)


def _local(source, out, threads, *, keep_order):
    privatize_file(source, out, **OPTIONS, keep_order=keep_order, overwrite=True, workers=threads)


def local(source, out, threads):
    """Privatise with the order kept."""
    _local(source, out, threads, keep_order=True)


def local_shuffled(source, out, threads):
    """Privatise as is usual: people in a random order."""
    _local(source, out, threads, keep_order=False)


def local_resumable(source, out, threads):
    """Privatise so that the run could be taken up, with the order kept."""
    privatize_file(source, out, **OPTIONS, keep_order=True, overwrite=True, workers=threads, resume=True)


def _draw(frames, out):
    """Draw reports of frames that another engine reads, in their order, and write them by pyarrow."""
    strategy = strategy_for(SIZES, epsilon=EPSILON, protocol="grr", split="uniform")
    writer = None
    for frame in frames:
        reports = strategy.privatize(Table.encode(frame, SCHEMA).codes)
        table = pa.table({name: pa.array(reports[name].values) for name in SIZES})
        if writer is None:
            writer = pq.ParquetWriter(out, table.schema, compression="zstd", compression_level=1)
        writer.write_table(table)
    writer.close()


def polars(source, out, threads):  # noqa: ARG001 - it has as many as there are cores
    """Let Polars read, a slice at a time."""
    import polars as pl

    rows = pq.read_metadata(source).num_rows
    frames = (pl.scan_parquet(source).slice(start, BATCH).collect() for start in range(0, rows, BATCH))
    _draw(frames, out)


def duckdb(source, out, threads):
    """Let DuckDB read, a batch at a time."""
    import duckdb

    with duckdb.connect(config={"threads": threads}) as connection:
        found = connection.sql(f"SELECT * FROM read_parquet('{source}')")
        read = getattr(found, "to_arrow_reader", None) or found.fetch_arrow_reader  # before DuckDB 2
        _draw((pa.Table.from_batches([batch]) for batch in read(BATCH)), out)


def _session(threads):
    from pyspark.sql import SparkSession

    warnings.filterwarnings("ignore", category=FutureWarning)
    os.environ["PYSPARK_PYTHON"] = sys.executable  # or the workers take whatever python3 the path gives
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.files.openCostInBytes": "0",  # so that the small file gets every Python worker ready too
    }
    session = SparkSession.builder.master(f"local[{threads}]").config(map=settings).getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


def _return_batches(batches):
    yield from batches


def spark_floor(source, out, threads):  # noqa: ARG001 - Spark's "noop" sink writes nothing
    """Let Spark hand the rows to Python and take them back."""
    df = _session(threads).read.parquet(str(source))
    df.mapInArrow(_return_batches, df.schema).write.format("noop").mode("overwrite").save()


def spark_reports(source, out, threads):  # noqa: ARG001 - Spark's "noop" sink writes nothing
    """Let Spark hand the rows to Python, where they are reported, and take the reports back."""
    from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema

    df = _session(threads).read.parquet(str(source))
    plan, key = ReportPlan.make(to_arrow_schema(df.schema, timezone="UTC"), **OPTIONS), RunKey.draw()

    def report(batches):
        from pyspark import TaskContext

        from evenhand.engine import reporter

        yield from reporter(plan, key, TaskContext.get().partitionId(), for_spark=True)(batches)

    output = from_arrow_schema(plan.spark_output)
    df.mapInArrow(report, output).write.format("noop").mode("overwrite").save()


def spark_action(source, out, threads):
    """Check, draw, gather and write a folder of Parquet files."""
    df = _session(threads).read.parquet(str(source))
    spark.privatize(df, out=out.with_name("spark.parquet"), **OPTIONS, overwrite=True)


def write_reports(source):
    """Write the reports that are estimated from, unless they are there; return them."""
    reports = source.with_suffix(".reports.parquet")
    if not reports.exists():
        local(source, reports, 1)
    return reports


def estimate(source, out, threads):  # noqa: ARG001 - it writes nothing
    """Count reports and estimate shares."""
    estimate_file(source, workers=threads)


def count_local(source, out, threads):  # noqa: ARG001 - it writes nothing and finds its threads itself
    """Count people into a table of all four columns."""
    return _digest(source)


def count_polars(source, out, threads):  # noqa: ARG001 - it has as many threads as there are cores
    """Let Polars count."""
    import polars as pl

    return _digest(pl.scan_parquet(source / "*.parquet"))


def count_duckdb(source, out, threads):  # noqa: ARG001 - it writes nothing
    """Let DuckDB count."""
    import duckdb

    with duckdb.connect(config={"threads": threads}) as connection:
        return _digest(connection.sql(f"SELECT * FROM read_parquet('{source}/*.parquet')"))


def count_spark(source, out, threads):  # noqa: ARG001 - it writes nothing
    """Let Spark count."""
    return _digest(_session(threads).read.parquet(str(source)))


def _digest(frame):
    """Return the SHA-256 of the counts of all combinations of the four columns."""
    counts = np.ascontiguousarray(Histogram.count(frame, SCHEMA).counts, dtype="<i8")
    return hashlib.sha256(counts.tobytes()).hexdigest()


@dataclass(frozen=True)
class Engine:
    """A row of the table.

    `prepare` returns what `run` reads, and makes it from the input where it is not there; `floor` is the row
    that it is compared with, `most` how many times the floor it may take; `rate` (rows per CPU second) and
    `memory` (bytes) are wanted too.
    """

    run: Callable
    title: str
    package: str | None = None
    prepare: Callable = lambda source: source
    floor: str | None = None
    most: float | None = None
    rate: float = 0
    memory: float = float("inf")


ENGINES = {
    "floor": Engine(copy, "read and write alone (pyarrow)"),
    "local": Engine(local, "evenhand, `--keep-order`", floor="floor", most=1.5, rate=5e6, memory=512e6),
    "shuffled": Engine(local_shuffled, "evenhand, shuffled", floor="floor"),
    "resumable": Engine(local_resumable, "evenhand, `--keep-order --resume`", floor="floor"),
    "polars": Engine(polars, "Polars reads, evenhand draws", "polars", floor="floor"),
    "duckdb": Engine(duckdb, "DuckDB reads, evenhand draws", "duckdb", floor="floor"),
    "spark-floor": Engine(spark_floor, "Spark, `mapInArrow` that changes nothing", "pyspark"),
    "spark": Engine(
        spark_reports, "Spark, `mapInArrow` with the reporter", "pyspark", floor="spark-floor", most=1.25
    ),
    "spark-action": Engine(spark_action, "Spark, the whole of `spark.privatize`", "pyspark"),
    "estimate": Engine(estimate, "`evenhand estimate` of the reports", prepare=write_reports),
    "count": Engine(count_local, "`Histogram.count` of a folder", prepare=make_folder),
    "count-polars": Engine(count_polars, "`Histogram.count`, Polars", "polars", make_folder),
    "count-duckdb": Engine(count_duckdb, "`Histogram.count`, DuckDB", "duckdb", make_folder),
    "count-spark": Engine(count_spark, "`Histogram.count`, Spark", "pyspark", make_folder),
}


# --- measuring -----------------------------------------------------------------------------------


def used():
    """Return the CPU seconds of this process, of all that run below it and of those that have ended."""
    own = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    ended = sum(usage.ru_utime + usage.ru_stime for usage in own)
    ticks = 0
    for number in tree(os.getpid())[1:]:
        try:
            fields = pathlib.Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()
            ticks += sum(map(int, fields[11:15]))  # user and system time, of it and of its ended children
        except (OSError, ValueError):
            continue
    return ended + ticks / os.sysconf("SC_CLK_TCK")


def tree(process):
    """Return a process and all below it, as Linux says."""
    numbers, waiting = [], [process]
    while waiting:
        numbers.append(waiting.pop())
        try:
            for task in pathlib.Path(f"/proc/{numbers[-1]}/task").iterdir():
                waiting += [int(word) for word in (task / "children").read_text().split()]
        except (OSError, ValueError):
            continue
    return numbers


def tree_memory(process):
    """Return the resident bytes of a process and all below it, as Linux says; 0 elsewhere."""
    total = 0
    for number in tree(process):
        try:
            status = pathlib.Path(f"/proc/{number}/statm").read_text()
            total += int(status.split()[1]) * os.sysconf("SC_PAGE_SIZE")
        except (OSError, ValueError, IndexError):
            continue
    return total


def child(name, source, out, threads):
    """Do a small file three times, then the real one, and print what it took."""
    engine = ENGINES[name]
    small = out.with_name("small.parquet")
    if not small.exists():
        make(small, SMALL)
    for path in (small, small, small, source):
        read = engine.prepare(path)
        start, clock = used(), time.perf_counter()
        digest = engine.run(read, out, threads)
    print(json.dumps({"cpu": used() - start, "wall": time.perf_counter() - clock, "digest": digest}))


def measure(name, source, folder, threads):
    """Return CPU seconds, seconds, peak bytes and the load of the machine of one engine on one file."""
    words = ["--child", name, str(source), str(folder / "out.parquet"), str(threads)]
    process = subprocess.Popen([sys.executable, __file__, *words], stdout=subprocess.PIPE, text=True)
    peak, done = [0], threading.Event()

    def watch():
        while not done.wait(0.02):
            peak.append(max(peak.pop(), tree_memory(process.pid)))

    watcher = threading.Thread(target=watch)
    watcher.start()
    said = process.stdout.read()
    done.set()
    watcher.join()
    if process.wait():
        raise SystemExit(f"{name} failed")
    return {**json.loads(said.splitlines()[-1]), "peak": peak[0], "load": os.getloadavg()[0]}


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=float, nargs="+", default=[1e6, 1e7])
    parser.add_argument("--engines", nargs="+", choices=ENGINES, default=list(ENGINES))
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--folder", help="where files and figures stay; by default a temporary folder")
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--child", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        name, source, out, threads = options.child
        child(name, pathlib.Path(source), pathlib.Path(out), int(threads))
        return
    if options.folder:
        pathlib.Path(options.folder).mkdir(parents=True, exist_ok=True)
        compare(options, pathlib.Path(options.folder))
        return
    with tempfile.TemporaryDirectory() as name:
        compare(options, pathlib.Path(name))


def compare(options, folder):
    """Measure every engine on every length, in turns, and print the table of each length."""
    missing = {
        name: engine.package
        for name, engine in ENGINES.items()
        if engine.package and importlib.util.find_spec(engine.package) is None
    }
    if shutil.which("java") is None:
        missing |= {name: "Java" for name, engine in ENGINES.items() if engine.package == "pyspark"}
    for name, package in missing.items():
        print(f"{ENGINES[name].title}: {package} is not installed")
    names = [name for name in options.engines if name not in missing]
    machine = platform.processor() or platform.machine()
    cores, today = len(os.sched_getaffinity(0)), time.strftime("%Y-%m-%d")
    print(f"{machine}, {cores} cores, {options.threads} threads, {today}, medians of {options.rounds}")
    heads = ("rows", "engine", "million rows per CPU s", "times the floor", "seconds", "peak MB", "load", "")
    print("| " + " | ".join(heads) + " |\n|---|---|--:|--:|--:|--:|--:|---|" if options.markdown else "")
    for rows in map(int, options.rows):
        runs = run_in_turns(options, names, folder, rows)
        for name in names:
            tell(options, rows, name, runs)
        digests = {run["digest"] for name in names for run in runs[name] if run["digest"]}
        if len(digests) > 1:
            raise SystemExit("the engines count differently")


def run_in_turns(options, names, folder, rows):
    """Return the runs of each engine on one length; those that the folder holds are not made again."""
    source, figures = folder / f"in-{rows}.parquet", folder / f"runs-{rows}.jsonl"
    if not source.exists():
        make(source.with_suffix(".new"), rows)
        source.with_suffix(".new").rename(source)
    lines = figures.read_text().splitlines() if figures.exists() else []
    runs = {name: [] for name in ENGINES}
    for run in map(json.loads, lines):
        runs[run["name"]].append(run)
    for turn in range(options.rounds):
        for name in names:
            if len(runs[name]) <= turn:
                runs[name].append({"name": name, **measure(name, source, folder, options.threads)})
                with figures.open("a") as file:
                    file.write(json.dumps(runs[name][-1]) + "\n")
    return runs


def tell(options, rows, name, runs):
    """Print one row, and whether what is wanted of the engine is met."""
    engine = ENGINES[name]
    cpu, wall, peak, load = (
        statistics.median(run[figure] for run in runs[name]) for figure in ("cpu", "wall", "peak", "load")
    )
    times = None
    if runs.get(engine.floor):
        times = cpu / statistics.median(run["cpu"] for run in runs[engine.floor])
    said = ""
    if engine.most is not None and times is not None:
        met = times <= engine.most and rows / cpu >= engine.rate and peak <= engine.memory
        said = "met" if met else "MISSED"
    digest = runs[name][0]["digest"]
    cells = [
        f"{rows:,}", engine.title, f"{rows / cpu / 1e6:.1f}", "" if times is None else f"{times:.2f}",
        f"{wall:.1f}", f"{peak / 1e6:.0f}", f"{load:.1f}", f"counts {digest[:12]}" if digest else said,
    ]  # fmt: skip
    print("| " + " | ".join(cells) + " |" if options.markdown else "  ".join(f"{cell:>16}" for cell in cells))
    sys.stdout.flush()


if __name__ == "__main__":
    main()
