"""Table.encode against pyarrow's dictionary_encode, on the same rows, in one run.

    python benchmarks/bench_encode.py [--rows 10000000] [--repeats 5]

Four columns as a survey has them: text of 2 and of 41 values, whole numbers of 74 values, and
text of 1,000 values. For each library the four columns are encoded `repeats` times and the median
of the CPU times is printed; one thread does the work on both sides. The floor is what
`dictionary_encode` takes for the same four columns as Arrow arrays. Memory is sampled from the
process every millisecond while a table is made; "over the codes" is the highest sample above the
start, less the codes themselves.
"""

from __future__ import annotations

import argparse
import gc
import pathlib
import statistics
import threading
import time

import numpy as np
import pyarrow as pa

from evenhand.schema import Column, Domain, Schema
from evenhand.table import Table

SEXES = ["Female", "Male"]
COUNTRIES = [f"Country of birth {place:02d}" for place in range(41)]
COUNTIES = [f"{place:05d}" for place in range(1_000)]
SCHEMA = Schema(
    [
        Column("sex", Domain.categorical(SEXES)),
        Column("country", Domain.categorical(COUNTRIES)),
        Column("age", Domain.integers(17, 90)),
        Column("county", Domain.categorical(COUNTIES)),
    ]
)


def made_up_rows(rows: int) -> pa.Table:
    random = np.random.default_rng(1)

    def drawn(values: list[str]) -> pa.Array:
        return pa.array(values).take(pa.array(random.integers(0, len(values), rows)))

    ages = pa.array(random.integers(17, 91, rows))
    return pa.table(
        {"sex": drawn(SEXES), "country": drawn(COUNTRIES), "age": ages, "county": drawn(COUNTIES)}
    )


def seconds(action, repeats: int) -> float:
    action()
    taken = []
    for _ in range(repeats):
        gc.collect()
        start = time.process_time()
        action()
        taken.append(time.process_time() - start)
    return statistics.median(taken)


def resident_bytes() -> int:
    return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * 4096


def growth_over_codes(frame) -> float:
    """Return the highest memory while encoding, in megabytes above the start and without the codes."""
    pa.default_memory_pool().release_unused()
    gc.collect()
    start, samples, done = resident_bytes(), [], threading.Event()

    def sample():
        while not done.wait(0.001):
            samples.append(resident_bytes())

    thread = threading.Thread(target=sample)
    thread.start()
    table = Table.encode(frame, SCHEMA)
    done.set()
    thread.join()
    codes = sum(each.nbytes for each in table.codes.values())
    return (max([*samples, resident_bytes()]) - start - codes) / 1e6


def frames_of(table: pa.Table):
    yield "Arrow", table
    yield (
        "Arrow, 100 chunks",
        pa.Table.from_batches(table.to_batches(max_chunksize=max(len(table) // 100, 1))),
    )
    try:
        import polars as pl

        yield "Polars", pl.from_arrow(table)
    except ImportError:
        print("polars is not installed")
    try:
        import pandas as pd  # noqa: F401 - to_pandas needs it

        yield "pandas", table.to_pandas()
        yield "pandas, categories", table.to_pandas(categories=["sex", "country", "county"])
    except ImportError:
        print("pandas is not installed")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--rows", type=int, default=10_000_000)
    arguments.add_argument("--repeats", type=int, default=5)
    given = arguments.parse_args()

    table = made_up_rows(given.rows)
    print(f"{given.rows:,} rows x 4 columns: text k=2, text k=41, whole numbers k=74, text k=1000")
    print(f"CPU seconds, median of {given.repeats}; pyarrow {pa.__version__}")
    for name in table.column_names:
        column = table[name]
        floor = seconds(column.dictionary_encode, given.repeats)
        ours = seconds(lambda name=name: Table.encode(table, SCHEMA, columns=[name]), given.repeats)
        print(
            f"  {name:<20} dictionary_encode {floor:.3f}   Table.encode {ours:.3f}   ratio {ours / floor:.2f}"
        )
    floor = seconds(lambda: [column.dictionary_encode() for column in table.columns], given.repeats)
    print(f"  all four: dictionary_encode of Arrow columns {floor:.3f}")
    for name, frame in frames_of(table):
        ours = seconds(lambda frame=frame: Table.encode(frame, SCHEMA), given.repeats)
        growth = growth_over_codes(frame)
        ratio = f"ratio {ours / floor:.2f}"
        print(f"  {name:<20} Table.encode {ours:.3f}   {ratio}   over the codes {growth:.0f} MB")
        del frame


if __name__ == "__main__":
    main()
