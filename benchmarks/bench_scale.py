"""Files of a million to a hundred million rows, privatised by several engines side by side in one run.

Run ``python benchmarks/bench_scale.py --rows 1e6 1e7 1e8``; ``--engines`` picks some, ``--rounds`` repeats
(the median counts), ``--markdown`` prints the table of the documentation, ``--folder`` is where files go.
The input is Parquet (zstd) with four columns of text, stored as lists of 2, 6, 51 and 74 values; all four are
reported by GRR, Parquet to Parquet.

Every row of the table is a process of its own, which first does a shorter file to compile and to load what it
needs. CPU seconds are user and system time of the run itself, of all threads and child processes. Memory is
the peak of the resident memory of the whole tree of processes, start-up and all. The floor reads the same
Parquet and writes it again, by pyarrow alone.

To add an engine, write a function that takes the input, the output and a number of threads, and give it a
line in ENGINES. One whose package is missing is left out with a word.
"""

import argparse
import importlib.util
import os
import pathlib
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from evenhand.collect import strategy_for
from evenhand.engine import estimate_file, privatize_file
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
TARGETS = {"rate": 5e6, "memory": 512e6, "floor": 1.5}


def make(path, rows):
    """Write the input, a million rows at a time."""
    generator = np.random.default_rng(7)
    lists = {name: pa.array([f"{name}{code}" for code in range(k)]) for name, k in SIZES.items()}
    schema = pa.schema([pa.field(name, pa.dictionary(pa.int8(), pa.string())) for name in SIZES])
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for start in range(0, rows, 1_000_000):
            count = min(1_000_000, rows - start)
            codes = {name: generator.integers(0, k, count, dtype=np.int8) for name, k in SIZES.items()}
            columns = [pa.DictionaryArray.from_arrays(pa.array(codes[name]), lists[name]) for name in SIZES]
            writer.write_table(pa.table(columns, schema=schema))


# --- the engines ---------------------------------------------------------------------------------


def copy(source, out, threads):  # noqa: ARG001 - one thread, as a floor should be
    """Read and write alone."""
    file = pq.ParquetFile(source, read_dictionary=list(SIZES))
    with pq.ParquetWriter(out, file.schema_arrow, compression="zstd", compression_level=1) as writer:
        for batch in file.iter_batches(BATCH, use_threads=False):
            writer.write_batch(batch)


def _local(source, out, threads, *, keep_order):
    options = {"schema": SCHEMA, "epsilon": EPSILON, "protocol": "grr", "split": "uniform"}
    privatize_file(source, out, **options, keep_order=keep_order, overwrite=True, workers=threads)


def local(source, out, threads):
    """Privatise with the order kept."""
    _local(source, out, threads, keep_order=True)


def local_shuffled(source, out, threads):
    """Privatise as is usual: people in a random order."""
    _local(source, out, threads, keep_order=False)


def local_resumable(source, out, threads):
    """Privatise so that the run could be taken up, with the order kept."""
    options = {"schema": SCHEMA, "epsilon": EPSILON, "protocol": "grr", "split": "uniform"}
    privatize_file(source, out, **options, keep_order=True, overwrite=True, workers=threads, resume=True)


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


def estimate(source, out, threads):  # noqa: ARG001 - it writes nothing
    """Count reports and estimate shares; the input is what `local` wrote."""
    reports = source.with_suffix(".reports.parquet")
    if not reports.exists():
        local(source, reports, threads)
    return lambda: estimate_file(reports, workers=threads)


def count(source, out, threads):  # noqa: ARG001 - it writes nothing and finds its threads itself
    """Count people into a table of all four columns."""
    Histogram.count(source, SCHEMA)


ENGINES = {
    "floor": (copy, "read and write alone (pyarrow)", None),
    "local": (local, "evenhand, `--keep-order`", None),
    "shuffled": (local_shuffled, "evenhand, shuffled", None),
    "resumable": (local_resumable, "evenhand, `--keep-order --resume`", None),
    "polars": (polars, "Polars reads, evenhand draws", "polars"),
    "duckdb": (duckdb, "DuckDB reads, evenhand draws", "duckdb"),
    "estimate": (estimate, "`evenhand estimate` of the reports", None),
    "count": (count, "`Histogram.count`", None),
}
"""For each engine: its function, what the table calls it, and the package that it needs."""

COMPARED = ("local", "shuffled", "resumable", "polars", "duckdb")


# --- measuring -----------------------------------------------------------------------------------


def used():
    """Return the CPU seconds of this process and of the children that it waited for."""
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in both)


def child(name, source, out, threads):
    """Do a small file, then the real one, and print what it took."""
    engine = ENGINES[name][0]
    small = out.with_name("small.parquet")
    if not small.exists():
        make(small, SMALL)
    for path in (small, source):
        prepared = engine(path, out, threads) if name == "estimate" else None
        start, clock = used(), time.perf_counter()
        if prepared is None:
            engine(path, out, threads)
        else:
            prepared()
    print(used() - start, time.perf_counter() - clock)


def tree_memory(process):
    """Return the resident bytes of a process and all below it, as Linux says; 0 elsewhere."""
    total, waiting = 0, [process]
    while waiting:
        number = waiting.pop()
        try:
            status = pathlib.Path(f"/proc/{number}/statm").read_text()
            total += int(status.split()[1]) * os.sysconf("SC_PAGE_SIZE")
            for task in pathlib.Path(f"/proc/{number}/task").iterdir():
                waiting += [int(word) for word in (task / "children").read_text().split()]
        except (OSError, ValueError, IndexError):
            continue
    return total


def measure(name, source, folder, threads):
    """Return CPU seconds, seconds and peak bytes of one engine on one file."""
    command = [
        sys.executable,
        __file__,
        "--child",
        name,
        str(source),
        str(folder / "out.parquet"),
        str(threads),
    ]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
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
    cpu, wall = map(float, said.split()[-2:])
    return cpu, wall, peak[0]


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=float, nargs="+", default=[1e6, 1e7])
    parser.add_argument("--engines", nargs="+", choices=ENGINES, default=list(ENGINES))
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--folder", help="where files go; by default a temporary folder")
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--child", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        name, source, out, threads = options.child
        child(name, pathlib.Path(source), pathlib.Path(out), int(threads))
        return
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        compare(options, pathlib.Path(name))


def compare(options, folder):
    """Measure every engine on every length, one after the other, and print each as it is done."""
    machine = platform.processor() or platform.machine()
    cores, today = len(os.sched_getaffinity(0)), time.strftime("%Y-%m-%d")
    print(f"{machine}, {cores} cores, {options.threads} threads, {today}")
    heads = ("rows", "engine", "million rows per CPU s", "times the floor", "seconds", "peak MB", "")
    print("| " + " | ".join(heads) + " |" if options.markdown else "")
    print("|---|---|--:|--:|--:|--:|---|" if options.markdown else "")
    for rows in map(int, options.rows):
        source = folder / f"in-{rows}.parquet"
        make(source, rows)
        floor = None
        for name in options.engines:
            _, title, package = ENGINES[name]
            if package and importlib.util.find_spec(package) is None:
                print(f"{title}: {package} is not installed")
                continue
            runs = [measure(name, source, folder, options.threads) for _ in range(options.rounds)]
            cpu, wall, peak = (statistics.median(each) for each in zip(*runs, strict=True))
            floor = cpu if name == "floor" else floor
            times = cpu / floor if floor and name in COMPARED else None
            tell(options, rows, name, cpu, wall, peak, times)
        source.unlink()


def tell(options, rows, name, cpu, wall, peak, times):
    """Print one row, and whether the targets of the local engine are met."""
    said = ""
    if name == "local":
        met = rows / cpu >= TARGETS["rate"] and peak <= TARGETS["memory"] and (times or 0) <= TARGETS["floor"]
        said = "met" if met else "MISSED"
    cells = [
        f"{rows:,}", ENGINES[name][1], f"{rows / cpu / 1e6:.1f}", "" if times is None else f"{times:.2f}",
        f"{wall:.1f}", f"{peak / 1e6:.0f}", said,
    ]  # fmt: skip
    print("| " + " | ".join(cells) + " |" if options.markdown else "  ".join(f"{cell:>16}" for cell in cells))
    sys.stdout.flush()


if __name__ == "__main__":
    main()
