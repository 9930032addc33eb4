"""The fairest channel: CPU seconds and peak memory by number of groups, against a plain bisection.

    python benchmarks/bench_optimal.py            # all sizes
    python benchmarks/bench_optimal.py 2 5 10     # some

CPU seconds of one thread at epsilon 2, with an error budget half way between the least error and the fair
one, so that no step can be skipped; small sizes are the best of several repeats. The plain version is
`scipy.optimize.linprog` with one row for each two entries of a column, bisecting the limit of the
unfairness down to 1e-8, in the same run. Targets: 50 ms, 0.2 s, 5 s and 60 s for 2, 10, 50 and 100 groups,
2 GB, and the same unfairness as the plain version up to 1e-7.
"""

import resource
import sys
import time

import numpy as np
from scipy.optimize import linprog

from evenhand.collect.fairest.optimum import clear_channels, error_range, fairest_channel

EPSILON = 2.0
SIZES = (2, 5, 10, 20, 50, 100)
TARGETS = {2: 0.05, 10: 0.2, 50: 5.0, 100: 60.0}
PEER_UP_TO = 10
QUICK = 20
SAME = 1e-7
MEMORY = 2000


def _groups(k):
    generator = np.random.default_rng(k)
    return generator.dirichlet(np.full(k, 5.0)), 0.3 + 0.3 * generator.random(k)


def _timed(function, repeats):
    least, found = float("inf"), None
    for _ in range(repeats):
        clear_channels()
        start = time.process_time_ns()
        found = function()
        least = min(least, time.process_time_ns() - start)
    return least / 1e9, found


def _plain_rows(weights, error):
    """One row for each two entries of a column, and for each entry against its row's diagonal."""
    k = len(weights)
    rows, limits = [], []

    def below(left, right, factor):
        row = np.zeros(k * k)
        row[left] += 1
        row[right] -= factor
        rows.append(row)
        limits.append(0.0)

    for j in range(k):
        for i in range(k):
            for other in range(k):
                if i != other:
                    below(i * k + j, other * k + j, np.exp(EPSILON))
            if i != j:
                below(i * k + j, j * k + j, 1)
                below(i * k + j, i * k + i, 1)
    truth = np.zeros(k * k)
    truth[:: k + 1] = -weights
    return [*rows, truth], [*limits, error - 1]


def _plain(weights, rates, error):
    k, mean = len(weights), weights @ rates
    fixed, limits = _plain_rows(weights, error)
    sums = np.kron(np.eye(k), np.ones(k))
    apart = [np.kron(weights * (rates - mean), np.eye(k)[a]) for a in range(k)]
    made = [np.kron(mean * weights, np.eye(k)[a]) for a in range(k)]
    low, high = 0.0, np.abs(rates / mean - 1).max()
    while high - low > 1e-8:
        middle = (low + high) / 2
        fair = [sign * n - middle * d for n, d in zip(apart, made, strict=True) for sign in (1, -1)]
        found = linprog(
            np.zeros(k * k),
            A_ub=np.array([*fixed, *fair]),
            b_ub=[*limits, *[0.0] * len(fair)],
            A_eq=sums,
            b_eq=np.ones(k),
            bounds=(0, 1),
            options={"primal_feasibility_tolerance": 1e-10},
        )
        low, high = (low, middle) if found.status == 0 else (middle, high)
    return high


def main():
    sizes = [int(each) for each in sys.argv[1:]] or SIZES
    fairest_channel([0.6, 0.4], [0.4, 0.6], 1.0)  # imports scipy and highspy
    print("groups  programs   CPU, s  peak, MB  unfairness       gap  plain, s  times plain")
    missed = []
    for k in sizes:
        weights, rates = _groups(k)
        spread = error_range(weights, rates, EPSILON)
        error = (spread.least + spread.fair) / 2
        call = lambda: fairest_channel(weights, rates, EPSILON, error=error)  # noqa: B023, E731 (called at once)
        seconds, found = _timed(call, 5 if k <= QUICK else 1)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
        line = f"{k:6}  {found.solves:8}  {seconds:7.3f}  {peak:8.0f}  {found.unfairness:10.8f}"
        line += f"  {found.unfairness - found.bound:8.1e}"
        if k <= PEER_UP_TO:
            plain, value = _timed(lambda: _plain(weights, rates, error), 1)  # noqa: B023 (called at once)
            line += f"  {plain:8.3f}  {plain / seconds:11.1f}"
            if abs(value - found.unfairness) > SAME:
                missed.append(f"{k} groups: the plain version finds {value:.9f}")
        print(line, flush=True)
        if seconds > TARGETS.get(k, float("inf")) or peak > MEMORY:
            missed.append(f"{k} groups: {seconds:.3f} s, {peak:.0f} MB")
    print("\n".join(["", *missed]) if missed else "\nTargets reached.")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
