"""Rates of every protocol, people's side and server's, beside floors and peers, in one run.

Run ``python benchmarks/bench_collect.py``; add ``--quick`` for a tenth of the people, ``--no-peers`` to leave
the peers out, and ``--markdown`` for the table of the documentation. Every rate is values per CPU second on
one thread, the median of repeated runs; compilation is not counted. The peers are multi-freq-ldpy 0.2.5 (M)
and pure-ldp 1.2.0 (P), installed in a temporary environment and measured in the same run; the faster one is
shown. Where a target is set, evenhand and the peers are measured five times in turns: "x peer" is the median
of the five quotients, beside the verdict stand the least and the greatest, and the peer's rate is the median.

The floor of the people's side is the secure source: how fast it gives the words that the protocol draws and
nothing else is done with them. The floor of the server's side is np.bincount of the reports where a report
names values, and a plain read of the reports' memory where it does not.
"""

import argparse
import contextlib
import platform
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from _peers import PEERS, peers_in_their_own_environment

from evenhand.collect import PROTOCOLS
from evenhand.errors import InvalidParameterError
from evenhand.privacy.feeding import MOST_WORDS
from evenhand.privacy.randomness import SecureSource, SeededSource, Source

SIZES = (2, 5, 74, 1000)
PEOPLE = 1_000_000
FEWER = 100_000  # where reports have an entry per value and there are many values
EPSILON = 1
WITHOUT_PEERS = {"optimal"}
HASH_TESTS = 2e9  # per core-second, asked of the server of OLH
TURNS = 5  # with the peers, where a target is set

# times the faster peer, up to which k, and whether half the rate of the secure source is enough
TARGETS = {
    ("grr", "client"): (100, 1000, True),
    ("oue", "client"): (100, 74, True),
    ("oue", "server"): (30, 74, False),
    ("ss", "client"): (40, 1000, False),
    ("ss", "server"): (300, 1000, False),
    ("olh", "client"): (500, 1000, True),
    ("olh", "server"): (500, 1000, False),
}


class CountingSource(Source):
    """The secure source, counting the words it gives."""

    kind = "secure"
    simulated = False

    def __init__(self):
        self.given = 0
        self._source = SecureSource()

    def words(self, count):
        """Return the source's words."""
        self.given += count
        return self._source.words(count)


@dataclass
class Row:
    """One protocol, side and number of values."""

    protocol: str
    side: str
    k: int
    n: int
    rate: float  # from the secure source, or of the server
    seeded: float | None
    words: float | None  # per report
    floor: float
    again: Callable[[], float]  # measures the rate once more
    peer: tuple[str, float] | None = None
    turns: list[float] = field(default_factory=list)  # how many times as fast as the faster peer, each time

    @property
    def times_peer(self):
        """How many times as fast as the faster peer: the median of the turns."""
        return statistics.median(self.turns) if self.turns else None

    @property
    def target(self):
        """Times the peer, and whether half the rate of the source is enough; nothing where none is set."""
        times, largest, source_is_enough = TARGETS.get((self.protocol, self.side), (0, 0, False))
        return (times, source_is_enough) if self.k <= largest else None

    def take_turns(self, ask, seconds):
        """Measure the peers right after ours, in turns, so that a slow moment falls on both alike."""
        theirs = []
        for turn in range(TURNS if self.target else 1):
            ours = self.again() if turn else self.rate
            theirs.append(ask(protocol=self.protocol, side=self.side, k=self.k, seconds=seconds))
            self.turns.append(ours / theirs[-1][1])
        self.peer = sorted(theirs, key=lambda each: each[1])[len(theirs) // 2]

    @property
    def below_floor(self):
        """How many times as fast the floor is."""
        return self.floor / self.rate

    def verdict(self):
        """Return whether the target is met, or nothing where none is set."""
        if self.target is None:
            return ""
        times, source_is_enough = self.target
        if source_is_enough and self.below_floor <= 2:
            return "met, source"
        if self.peer is None:
            return "no peer"
        met, said = self.times_peer >= times, f"{times}x, {min(self.turns):,.0f} to {max(self.turns):,.0f}"
        if (self.protocol, self.side) == ("olh", "server") and self.k >= 74:
            met = met and self.rate * self.k >= HASH_TESTS
            said += f", {self.rate * self.k:.1e} tests"
        return f"{'met' if met else 'MISSED'}, {said}"


def rates(size, *runs):
    """Return `size` per CPU second of each run: medians of 3 to 9 rounds, in which the runs take turns.

    They take turns so that a slow moment of a shared machine falls on all of them alike. A first round, which
    may compile, is not counted.
    """
    for run in runs:
        run()
    times = [[] for _ in runs]
    while len(times[0]) < 9 and (len(times[0]) < 3 or sum(map(sum, times)) < 2):
        for run, spent in zip(runs, times, strict=True):
            start = time.process_time()
            run()
            spent.append(time.process_time() - start)
    return [size / statistics.median(spent) for spent in times]


def read_memory(values):
    """Return a call that reads the bytes of `values` once."""
    raw = np.ascontiguousarray(values).view(np.uint8).ravel()
    words = raw[: raw.size // 8 * 8].view(np.uint64)
    return lambda: np.bitwise_or.reduce(words)


def draw_words(count):
    """Return a call that draws `count` words from the secure source, as many at a time as the kernels do."""
    source = SecureSource()

    def draw():
        refill = source.refills()
        for start in range(0, count, MOST_WORDS):
            refill(min(MOST_WORDS, count - start))

    return draw


def measure(name, k, people):
    """Yield the client's and the server's row of one protocol."""
    protocol = PROTOCOLS[name].example(k, EPSILON)
    many = k > 74 and name in {"rappor", "oue", "the", "ss"}
    n = min(people, FEWER) if many else people
    codes = SeededSource(1).generator().integers(0, k, n, dtype=np.uint16 if k > 256 else np.uint8)
    counting, secure, seeded = CountingSource(), SecureSource(), SeededSource(1)
    reports = protocol.privatize(codes, rng=counting)

    def client():
        protocol.privatize(codes, rng=secure)

    def server():
        protocol.estimate(reports)

    rate, simulated, floor = rates(
        n, client, lambda: protocol.privatize(codes, rng=seeded), draw_words(counting.given)
    )
    yield Row(name, "client", k, n, rate, simulated, counting.given / n, floor, lambda: rates(n, client)[0])
    try:
        server()
    except InvalidParameterError:  # a matrix that makes groups alike: there is nothing to estimate
        return
    values, named = reports.values, name in {"grr", "ss"}
    least = (lambda: np.bincount(values.ravel(), minlength=k)) if named else read_memory(values)
    rate, floor = rates(n, server, least)
    yield Row(name, "server", k, n, rate, None, None, floor, lambda: rates(n, server)[0])


def as_text(row):
    peer = f"{row.peer[1]:8.1e} {row.peer[0]}" if row.peer else f"{'':10}"
    times = f"{row.times_peer:8,.0f}" if row.peer else f"{'':8}"
    seeded = f"{row.seeded:9.1e}" if row.seeded else f"{'':9}"
    words = f"{row.words:8.2f}" if row.words else f"{'':8}"
    return (
        f"{row.protocol:7} {row.side:6} {row.k:5} {row.n:9,} {row.rate:9.1e} {seeded} {words} "
        f"{row.floor:9.1e} {row.below_floor:7.1f} {peer} {times}  {row.verdict()}"
    ).rstrip()


def as_markdown(row):
    peer = f"{row.peer[1]:.1e} {row.peer[0]} | {row.times_peer:,.0f}" if row.peer else " | "
    seeded = f"{row.seeded:.1e}" if row.seeded else ""
    words = f"{row.words:.2f}" if row.words else ""
    return (
        f"| {row.protocol} {row.side} | {row.k} | {row.n:,} | {row.rate:.1e} | {seeded} | {words} "
        f"| {row.floor:.1e} | {row.below_floor:.1f} | {peer} | {row.verdict()} |"
    )


HEAD = (
    f"{'protocol':7} {'side':6} {'k':>4} {'n':>9} {'secure':>9} {'seeded':>9} {'words':>8} {'floor':>9} "
    f"{'floor/':>7} {'peer':>10} {'x peer':>8}  target"
)
MARKDOWN_HEAD = (
    "| side | k | n | rate | seeded | words | floor | floor / rate | peer | x peer | target |\n"
    "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|"
)


def table(people, seconds, ask, as_line):
    """Print every row as soon as it is measured; return the verdicts."""
    verdicts = []
    for name, protocol in PROTOCOLS.items():
        for k in (size for size in SIZES if size <= protocol.most_values):
            for row in measure(name, k, people):
                if ask is not None and name not in WITHOUT_PEERS:
                    row.take_turns(ask, seconds)
                verdicts.append(row.verdict())
                print(as_line(row), flush=True)
    return verdicts


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--quick", action="store_true", help="a tenth of the people")
    options.add_argument("--no-peers", action="store_true", help="leave the peers out")
    options.add_argument("--markdown", action="store_true", help="print a table for the documentation")
    chosen = options.parse_args()
    named = ", ".join(f"{name} ({letter})" for letter, name in PEERS.items())
    print(f"epsilon = {EPSILON}; Python {platform.python_version()}, numpy {np.__version__}; peers: {named}")
    print("values per CPU second, one thread\n")
    print(MARKDOWN_HEAD if chosen.markdown else HEAD)
    people, seconds = (PEOPLE // 10, 0.1) if chosen.quick else (PEOPLE, 0.5)
    with contextlib.nullcontext() if chosen.no_peers else peers_in_their_own_environment() as ask:
        verdicts = table(people, seconds, ask, as_markdown if chosen.markdown else as_text)
    secure, seeded = rates(PEOPLE, draw_words(PEOPLE), lambda: SeededSource(1).words(PEOPLE))
    print(f"\nsecure words {secure:.1e}, seeded words {seeded:.1e} per CPU second")
    met, missed = (sum(each.startswith(word) for each in verdicts) for word in ("met", "MISSED"))
    print(f"targets met in {met} rows, missed in {missed}")


if __name__ == "__main__":
    main()
