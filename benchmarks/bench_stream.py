"""A long file privatised in batches: rows per CPU second and memory, beside reading and writing alone.

Run ``python benchmarks/bench_stream.py``; ``--rows`` changes the length (5,000,000), ``--protocol`` the
protocol (grr), ``--longer`` adds a second length, and ``--markdown`` prints the table of the documentation.
The file has three columns of text stored as lists of 5, 74 and 1,000 values, zstd, all of which are reported;
the output is Parquet.

Runs take turns in one process, and the median of each counts: the whole with the order kept, with the
drawing timed inside it; the floor, in which the same rows are read, encoded and written but nothing is drawn;
the whole with people in a random order, as is usual; and its floor, two passes over the reports: the whole
with the order kept, and the reports written to a file of plain Arrow batches and read from it again. Each
length also runs once, shuffled, in a process of its own, whose peak of memory is what the system says. Memory
does not depend on the length, and the time is in proportion to it: ``--longer 20000000`` shows both.
"""

import argparse
import contextlib
import pathlib
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from unittest import mock

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from evenhand.collect.joint.strategy import JointReports, Strategy
from evenhand.collect.reports.reports import Reports
from evenhand.engine.privatize import privatize_file
from evenhand.schema import Column, Domain, Schema
from evenhand.table.read import BATCH_ROWS

SIZES = {"a": 5, "b": 74, "c": 1_000}
ROUNDS = 3
TARGETS = {"rate": 5e6, "memory": 512e6, "drawing": 0.10}

SCHEMA = Schema(
    [Column(name, Domain.categorical([f"{name}{code}" for code in range(k)])) for name, k in SIZES.items()],
    sensitive=list(SIZES),
)


def make(path, rows):
    """Write the input file, a million rows at a time."""
    generator = np.random.default_rng(7)
    lists = {name: pa.array([f"{name}{code}" for code in range(k)]) for name, k in SIZES.items()}
    fields = [pa.field(name, pa.dictionary(pa.int16(), pa.string())) for name in SIZES]
    with pq.ParquetWriter(path, pa.schema(fields), compression="zstd") as writer:
        for start in range(0, rows, 1_000_000):
            count = min(1_000_000, rows - start)
            codes = {name: generator.integers(0, k, count).astype(np.int16) for name, k in SIZES.items()}
            columns = [pa.DictionaryArray.from_arrays(pa.array(codes[name]), lists[name]) for name in SIZES]
            writer.write_table(pa.table(columns, schema=pa.schema(fields)))


def run(folder, protocol, *, keep_order):
    """Privatise the file."""
    privatize_file(
        folder / "in.parquet",
        folder / "out.parquet",
        schema=SCHEMA,
        epsilon=3,
        protocol=protocol,
        keep_order=keep_order,
        overwrite=True,
    )


def pass_over(reports, place):
    """Write reports to a file and read them again: the least that a second pass over them takes."""
    with pa.ipc.new_file(place, reports.schema) as writer:
        writer.write_table(reports, max_chunksize=BATCH_ROWS)
    with pa.OSFile(str(place)) as file:
        return pa.ipc.open_file(file).read_all()


def passed_on(strategy, codes, *, rng):  # noqa: ARG001 - as the drawing is called
    """Stand in for the drawing: reports that say the truth."""
    sent = [
        Reports._drawn(codes[name].astype(way.layout.dtype), way, simulated=False)  # noqa: SLF001 - codes as they are
        for name, way in strategy.protocols.items()
    ]
    return JointReports(sent, strategy=strategy)


@contextlib.contextmanager
def watched(spent):
    """Add up the CPU time of the drawing."""
    drawn = Strategy.privatize

    def timed(strategy, codes, *, rng):
        start = time.process_time()
        found = drawn(strategy, codes, rng=rng)
        spent.append(time.process_time() - start)
        return found

    with mock.patch.object(Strategy, "privatize", timed):
        yield


def spent_by(call):
    """Return the CPU seconds of a call."""
    start = time.process_time()
    call()
    return time.process_time() - start


def measure(folder, protocol):
    """Return CPU seconds by what was measured; the floor only where a report is a code."""
    for keep_order in (True, False):
        run(folder, protocol, keep_order=keep_order)  # compiles, and fills the file cache
    spent = {name: [] for name in ("whole", "floor", "drawing", "shuffled", "two passes")}
    for _ in range(ROUNDS):
        parts = []
        with watched(parts):
            spent["whole"].append(spent_by(lambda: run(folder, protocol, keep_order=True)))
        spent["drawing"].append(sum(parts))
        reports = pq.read_table(folder / "out.parquet")
        second = spent_by(lambda: pass_over(reports, folder / "again.arrow"))  # noqa: B023 - called at once
        spent["two passes"].append(spent["whole"][-1] + second)
        if protocol == "grr":
            with mock.patch.object(Strategy, "privatize", passed_on):
                spent["floor"].append(spent_by(lambda: run(folder, protocol, keep_order=True)))
        spent["shuffled"].append(spent_by(lambda: run(folder, protocol, keep_order=False)))
    return {name: statistics.median(each) if each else None for name, each in spent.items()}


def peak(folder, protocol):
    """Return the peak memory of a process that privatises the file."""
    code = f"import sys; sys.argv = ['', '--child', {str(folder)!r}, '--protocol', {protocol!r}]; "
    code += f"import runpy; runpy.run_path({__file__!r}, run_name='__main__')"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return int(done.stdout.split()[-1])


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--longer", type=int, default=0, help="a second length, whose memory is measured too")
    parser.add_argument("--protocol", default="grr")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    if options.child:
        run(pathlib.Path(options.child), options.protocol, keep_order=False)
        print(1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
        return
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        make(folder / "in.parquet", options.rows)
        spent = measure(folder, options.protocol)
        memory = {options.rows: peak(folder, options.protocol)}
        if options.longer:
            make(folder / "in.parquet", options.longer)
            memory[options.longer] = peak(folder, options.protocol)
    tell(options, spent, memory)


def tell(options, spent, memory):
    """Print what was measured and whether the targets are met."""
    whole, floor, drawing, shuffled, passes = spent.values()
    rate, usual = options.rows / whole, options.rows / shuffled
    rows = [
        ("rows per CPU second, --keep-order", f"{rate / 1e6:.1f} million", rate >= TARGETS["rate"]),
        ("drawing, share of the time", f"{drawing / whole:.0%}", drawing / whole < TARGETS["drawing"]),
        ("rows per CPU second, shuffled", f"{usual / 1e6:.1f} million", None),
        ("times two passes over the reports", f"{shuffled / passes:.2f}", None),
    ]
    if floor:
        rows.insert(1, ("times the floor (read, encode and write alone)", f"{whole / floor:.2f}", None))
    for length, most in memory.items():
        rows.append((f"peak memory, {length:,} rows", f"{most / 1e6:.0f} MB", most <= TARGETS["memory"]))
    said = {True: "met", False: "MISSED", None: ""}
    machine = platform.processor() or platform.machine()
    print(f"{options.protocol}, {options.rows:,} rows, batches of {BATCH_ROWS:,}, {machine}")
    for what, figure, met in rows:
        print(
            f"| {what} | {figure} | {said[met]} |"
            if options.markdown
            else f"{what:<48}{figure:>14}  {said[met]}"
        )
    print(
        f"whole {whole:.2f} CPU s, drawing {drawing:.2f} CPU s, shuffled {shuffled:.2f} CPU s; "
        f"50 million rows: {50e6 / rate:.0f} CPU s, shuffled {50e6 / usual:.0f}"
    )


if __name__ == "__main__":
    main()
