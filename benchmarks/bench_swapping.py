"""Swapping without the quadratic search: CPU seconds and memory, against comparing with everybody.

    python benchmarks/bench_swapping.py                # 1,000 to 100,000 people
    python benchmarks/bench_swapping.py 1000 1000000   # other numbers of people

Everybody is swapped (fraction 1), by one thread; the best of three where that is quick. The plain search is
compiled too and compares a person with all who are not yet swapped, column by column; it draws with numpy.
Above 10,000 people only its first pairs are timed, and the rest follows from how many people are left at each
pair: such figures are marked with ~. Three tables: one whose cells hold several people, as a published table
has them; one of far more cells than people, where nearly everybody is alone in a cell; and one with twelve
columns, where the nearest differ in many columns and no search gains much. Memory is the growth of the
process's peak over its size before. Last come the two mechanisms that move cells and people at random.
"""

import resource
import sys
import time

import numba
import numpy as np

from evenhand.release.mechanisms.random_swapping import RandomSwapping, RecordSwapping
from evenhand.release.mechanisms.swapping import Swapping, swap_costs
from evenhand.release.table.histogram import Histogram
from evenhand.schema import Column, Domain, Schema

SIZES = (1_000, 10_000, 100_000)
TABLES = {"several to a cell": (9, 2, 74, 20), "alone in a cell": (20,) * 6, "twelve columns": (6,) * 12}
WHOLE_SEARCH = 10_000
FIRST_PAIRS = 500
QUICK = 1.0


def table(shape, people):
    """Return a made-up table: every third column is numerical, and small codes are likelier."""
    columns = [
        Column(
            f"c{axis}",
            Domain.integers(0, size - 1)
            if axis % 3 == 2
            else Domain.categorical(list(map(str, range(size)))),
        )
        for axis, size in enumerate(shape)
    ]
    random = np.random.default_rng(len(shape))
    codes = [np.minimum((random.random(people) ** 1.5 * size).astype(int), size - 1) for size in shape]
    cells, counts = np.unique(np.ravel_multi_index(codes, shape), return_counts=True)
    schema = Schema(columns, quasi_identifiers=["c0", "c1"])
    size = int(np.prod(shape, dtype=np.int64))
    if size > 50_000_000:
        return Histogram.of_cells(cells, counts, schema)
    dense = np.zeros(size, np.int64)
    dense[cells] = counts
    return Histogram.of(dense, schema)


@numba.njit(cache=True)
def compare_with_everybody(codes, costs, pairs, seed):
    """Pair people with the nearest one left, the obvious way."""
    np.random.seed(seed)
    left = np.arange(codes.shape[0])
    people = left.size
    far = 0
    for _ in range(pairs):
        place = np.random.randint(people)
        one = left[place]
        people -= 1
        left[place] = left[people]
        best, ties, chosen = 1 << 62, 0, 0
        for other in range(people):
            two = left[other]
            distance = 0
            for column in range(codes.shape[1]):
                if codes[one, column] != codes[two, column]:
                    step = costs[column, 0]
                    gap = abs(codes[one, column] - codes[two, column])
                    distance += costs[column, 2] if step == 0 else gap * step
                    if distance > best:
                        break
            if distance < best:
                best, ties, chosen = distance, 1, other
            elif distance == best:
                ties += 1
                if np.random.randint(ties) == 0:
                    chosen = other
        people -= 1
        left[chosen] = left[people]
        far += best
    return far


def seconds(action):
    """Return the least CPU time of three runs, or of one if it is not quick."""
    least = float("inf")
    for _ in range(3):
        start = time.process_time()
        action()
        least = min(least, time.process_time() - start)
        if least > QUICK:
            break
    return least


def plain_seconds(histogram, people):
    """Return the CPU time of the plain search, and whether it was worked out from its first pairs."""
    cells, counts = histogram.filled_cells()
    codes = np.column_stack(np.unravel_index(np.repeat(cells, counts), histogram.shape)).astype(np.int64)
    costs = swap_costs(histogram.schema)
    pairs = people // 2
    if people <= WHOLE_SEARCH:
        return seconds(lambda: compare_with_everybody(codes, costs, pairs, 1)), False
    first = seconds(lambda: compare_with_everybody(codes, costs, FIRST_PAIRS, 1))
    return first * pairs / FIRST_PAIRS / 2, True  # on average half of the people are left


def peak():
    """Return the largest size of this process so far, in megabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def main():
    sizes = [int(each) for each in sys.argv[1:]] or SIZES
    warm = table((3, 3, 3), 50)
    for mechanism in (Swapping(1), Swapping(1, "discrepancy"), RecordSwapping(1), RandomSwapping(1)):
        mechanism.release(warm, rng=1)
    plain_seconds(warm, 50)
    for name, shape in TABLES.items():
        print(f"{name}: {len(shape)} columns, {np.prod(shape, dtype=np.int64):,} cells")
        for people in sizes:
            histogram = table(shape, people)
            before = peak()
            nearest = seconds(lambda h=histogram: Swapping(1).release(h, rng=1))
            grown = peak() - before
            apart = seconds(lambda h=histogram: Swapping(1, "discrepancy").release(h, rng=1))
            plain, worked_out = plain_seconds(histogram, people)
            mark = "~" if worked_out else " "
            print(
                f"  {people:>9,} people  nearest {nearest:8.4f} s (+{grown:3.0f} MB)   with everybody "
                f"{mark}{plain:9.3f} s   ratio {mark}{plain / nearest:7.1f}   by discrepancy {apart:7.4f} s",
                flush=True,
            )
    histogram = table(TABLES["several to a cell"], 1_000_000)
    for mechanism in (RecordSwapping(1), RandomSwapping(1)):
        before = peak()
        taken = seconds(lambda m=mechanism: m.release(histogram))
        print(f"{mechanism!r}, 1,000,000 people, secure source: {taken:.4f} s (+{peak() - before:.0f} MB)")


if __name__ == "__main__":
    main()
