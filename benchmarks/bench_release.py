"""Mondrian beside anonypy and beside a stable argsort, in one run.

Run ``python benchmarks/bench_release.py``; add ``--no-peer`` to leave anonypy out, which takes minutes,
``--quick`` for its small table only, and ``--markdown`` for the table of the documentation. Times are CPU
seconds of one thread, medians of rounds in which everything takes turns, so that a slow moment of a shared
machine falls on all of them alike; compilation is not counted. The peer is anonypy 0.2.1, installed in a
temporary environment; it is slow, so it runs once for each table.

Five columns of 9, 16, 7, 15 and 42 categories are quasi-identifiers, one of 2 is published as it is; k is 6.

* *classes*: the counted table cut into classes, with their sets of labels and their counts.
* *all*: from a frame of people (counting them) to a frame of classes with texts, which is what anonypy does.
* *argsort*: a stable argsort of the people's keys, the floor.
* *memory*: the most that the whole way needs at once, as tracemalloc sees it, per person.
"""

import argparse
import contextlib
import json
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile
import time
import tracemalloc
import venv
from dataclasses import dataclass

import numpy as np
import pandas as pd

from evenhand.privacy.randomness import SeededSource
from evenhand.release.kanonymity.generalized import generalize
from evenhand.release.table.histogram import Histogram
from evenhand.schema import Column, Domain, Schema

SIZES = (9, 16, 7, 15, 42)
NAMES = tuple("abcde")
OTHER = "outcome"
K = 6
PEER = "anonypy 0.2.1"
NEEDED = ["anonypy==0.2.1", "pandas"]  # it needs pandas, and does not declare it
SCRIPT = pathlib.Path(__file__).with_name("_peer_mondrian.py")
TIMES_PEER, TIMES_ARGSORT = 1000, 10
JUDGED = 32_000  # the number of people for which the peer is a target


@dataclass
class Row:
    """One number of people."""

    people: int
    tuples: int
    classes: int
    seconds: dict[str, float]
    memory: float  # bytes per person
    peer: dict | None = None

    @property
    def times_peer(self):
        """How many times as fast as the peer, from frame to frame."""
        return self.peer["seconds"] / self.seconds["all"] if self.peer else None

    @property
    def times_argsort(self):
        """How many times as long as a stable argsort, from frame to frame."""
        return self.seconds["all"] / self.seconds["argsort"]

    def verdict(self):
        """Say which targets are met."""
        said = []
        if self.peer and self.people == JUDGED:
            said.append(
                f"{'met' if self.times_peer >= TIMES_PEER else 'MISSED'}, {TIMES_PEER:,} times the peer"
            )
        if self.people >= 1_000_000:
            met = self.times_argsort <= TIMES_ARGSORT
            said.append(f"{'met' if met else 'MISSED'}, {TIMES_ARGSORT} times argsort")
        return "; ".join(said)


def people(count):
    """Return a frame of people, with a few common categories and many rare ones in every column."""
    draw = SeededSource(7).generator()
    columns = {}
    for name, size in zip((*NAMES, OTHER), (*SIZES, 2), strict=True):
        weights = 1 / np.arange(1, size + 1)
        codes = draw.choice(size, count, p=weights / weights.sum())
        columns[name] = pd.Categorical.from_codes(codes, [f"{name}{code}" for code in range(size)])
    return pd.DataFrame(columns)


def schema():
    columns = [
        Column(name, Domain.categorical([f"{name}{code}" for code in range(size)]))
        for name, size in zip((*NAMES, OTHER), (*SIZES, 2), strict=True)
    ]
    return Schema(columns, quasi_identifiers=NAMES)


def medians(runs, rounds):
    """Return the CPU seconds of each run: medians of rounds in which they take turns, without the first."""
    spent = {name: [] for name in runs}
    for turn in range(rounds + 1):
        for name, run in runs.items():
            start = time.process_time()
            run()
            if turn:
                spent[name].append(time.process_time() - start)
    return {name: statistics.median(each) for name, each in spent.items()}


def measure(count, rounds):
    frame, public = people(count), schema()
    table = Histogram.count(frame, public)
    codes = [frame[name].cat.codes.to_numpy().astype(np.int64) for name in (*NAMES, OTHER)]
    keys = np.ravel_multi_index(codes, (*SIZES, 2))

    def whole():
        return generalize(Histogram.count(frame, public), K).to_frame("pandas")

    runs = {
        "classes": lambda: generalize(table, K),
        "all": whole,
        "argsort": lambda: np.argsort(keys, kind="stable"),
    }
    seconds = medians(runs, rounds)
    tracemalloc.start()
    whole()
    memory = tracemalloc.get_traced_memory()[1] / count
    tracemalloc.stop()
    tuples = int(np.count_nonzero(table.margin(NAMES).counts))
    return Row(count, tuples, len(generalize(table, K)), seconds, memory)


@contextlib.contextmanager
def peer_in_its_own_environment():
    """Install the peer in a temporary folder, and give a function that runs it on a number of people."""
    with tempfile.TemporaryDirectory(prefix="evenhand-peer-") as folder:
        windows = sys.platform == "win32"
        venv.create(folder, with_pip=True, symlinks=not windows)
        python = pathlib.Path(folder, "Scripts" if windows else "bin", "python")
        _run([python, "-m", "pip", "install", "--quiet", *NEEDED])

        def ask(count):
            path = pathlib.Path(folder, "people.csv")
            people(count).to_csv(path, index=False)
            return json.loads(_run([python, SCRIPT, path, str(K), OTHER, *NAMES]))

        yield ask


def _run(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = done.stderr.strip().splitlines()
        told = lines[-1] if lines else "no reason was given"
        sys.exit(f"The peer could not be measured: {told}\nHint: --no-peer leaves it out.")
    return done.stdout


def cells(row):
    """Return the cells of one line."""
    peer = [f"{row.peer['seconds']:.1f}", f"{row.times_peer:,.0f}"] if row.peer else ["", ""]
    return [
        f"{row.people:,}",
        f"{row.tuples:,}",
        f"{row.classes:,}",
        *(f"{1000 * row.seconds[name]:.1f}" for name in ("classes", "all", "argsort")),
        f"{row.times_argsort:.1f}",
        f"{row.memory:,.0f}",
        *peer,
        row.verdict(),
    ]


HEAD = [
    "people",
    "tuples",
    "classes",
    "classes, ms",
    "all, ms",
    "argsort, ms",
    "all / argsort",
    "bytes each",
    "anonypy, s",
    "x anonypy",
    "targets",
]


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--quick", action="store_true", help="the peer on the small table only")
    options.add_argument("--no-peer", action="store_true", help="leave the peer out")
    options.add_argument("--markdown", action="store_true", help="print a table for the documentation")
    chosen = options.parse_args()
    print(f"Python {platform.python_version()}, numpy {np.__version__}, pandas {pd.__version__}; {PEER}\n")
    lines = [HEAD] if not chosen.markdown else [HEAD, ["--:"] * (len(HEAD) - 1) + ["---"]]
    for line in lines:
        show(line, markdown=chosen.markdown)
    with contextlib.nullcontext() if chosen.no_peer else peer_in_its_own_environment() as ask:
        for count in (8_000, 32_000, 250_000, 1_000_000, 4_000_000):
            row = measure(count, rounds=9 if count < 1_000_000 else 3)
            if ask is not None and count <= (8_000 if chosen.quick else 32_000):
                row.peer = ask(count)
            show(cells(row), markdown=chosen.markdown)


def show(line, *, markdown):
    told = f"| {' | '.join(line)} |" if markdown else "  ".join(f"{each:>11}" for each in line)
    print(told.rstrip(), flush=True)


if __name__ == "__main__":
    main()
