"""Group rates and gaps: evenhand against fairlearn's MetricFrame and against one bincount.

    python benchmarks/bench_measure.py

CPU seconds of one thread, the best of several repeats, all in one run. What is timed is the same for
both: selection, true and false positive rate, accuracy and precision of each group, and two gaps.
The audit of predictions reads the same columns as they come, finds which value is positive and what is
missing, and computes every rate and comparison with its interval; it is timed beside the same frame.
Targets: at least 1000 times fairlearn at n = 1e5 and for the audit 20 times, and at most twice one bincount
of n ready-made 64-bit codes where the columns are bytes. Columns of 64-bit numbers have eight times the bytes
to read. Crossed groups are six codes by five: all rates of 30 groups and every gap with their intervals, for
ten times the rows of the peer, which computes rates and gaps without intervals. Target: under 50 ms.
"""

import sys
import time

import numpy as np
from fairlearn.metrics import MetricFrame, false_positive_rate, selection_rate, true_positive_rate
from sklearn.metrics import accuracy_score, precision_score

from evenhand.measure import MEASURES, group_report
from evenhand.measure.counts import RATES
from evenhand.study.predictions.audit import PredictionAudit
from evenhand.study.predictions.columns import encode_group, read_predictions

TIMES_FAIRLEARN = 1000
TIMES_BINCOUNT = 2
TIMES_FAIRLEARN_AUDIT = 20
PEER_ROWS = 100_000
CROSSED_MS = 50
KINDS = {"bytes": np.uint8, "booleans": np.bool_, "64-bit": np.int64}


def _best(function, repeats):
    least = float("inf")
    for _ in range(repeats):
        start = time.process_time_ns()
        function()
        least = min(least, time.process_time_ns() - start)
    return least / 1e9


def _ours(y_true, y_pred, group):
    report = group_report(y_true, y_pred, group)
    return report.rates, report.sp_gap, report.eo_gap


def _peer(y_true, y_pred, group):
    rates = {
        "selection": selection_rate,
        "tpr": true_positive_rate,
        "fpr": false_positive_rate,
        "accuracy": accuracy_score,
        "precision": precision_score,
    }
    frame = MetricFrame(metrics=rates, y_true=y_true, y_pred=y_pred, sensitive_features=group)
    gaps = frame.difference(method="between_groups")
    return frame.by_group, gaps["selection"], max(gaps["tpr"], gaps["fpr"])


def _audit(y_true, y_pred, group):
    columns, names = (
        {"outcome": y_true, "prediction": y_pred},
        {"outcome": "outcome", "prediction": "prediction"},
    )
    return PredictionAudit(
        rows=read_predictions(columns, {"group": encode_group(group)}, names=names)
    ).to_dict()


def _crossed(y_true, y_pred, first, second):
    report = group_report(y_true, y_pred, {"first": first, "second": second})
    rates = [report.rate_interval(rate, group) for group in report.rates for rate in RATES]
    return report.rates, rates, [(report.value(name), report.interval(name)) for name in MEASURES]


def _bench_crossed():
    """Return the CPU time of 30 crossed groups, in milliseconds, and how many times the peer takes."""
    generator = np.random.default_rng(30)
    rows = 10 * PEER_ROWS
    y_true, y_pred = generator.integers(0, 2, (2, rows)).astype(np.uint8)
    first, second = (generator.integers(0, size, rows).astype(np.uint8) for size in (6, 5))
    ours = _best(lambda: _crossed(y_true, y_pred, first, second), 10)
    part = slice(PEER_ROWS)
    frame = {"first": first[part], "second": second[part]}
    peer = _best(lambda: _peer(y_true[part], y_pred[part], frame), 2)
    print(f"30 crossed groups with all intervals, n = {rows:,}: {1e3 * ours:.1f} ms;")
    print(f"fairlearn, n = {PEER_ROWS:,}, without intervals: {1e3 * peer:,.0f} ms\n")
    return 1e3 * ours


def _columns(n, n_groups, kind):
    generator = np.random.default_rng(n)
    y_true, y_pred = generator.integers(0, 2, (2, n))
    group = generator.integers(0, n_groups, n)
    codes = 4 * group + 2 * y_true + y_pred
    return [column.astype(kind) for column in (y_true, y_pred, group)], codes


def main():
    columns, _ = _columns(PEER_ROWS, 2, np.int64)
    peer = _best(lambda: _peer(*columns), 2)
    rates, *gaps = _ours(*columns)
    peer_rates, *peer_gaps = _peer(*columns)
    worst = max(
        abs(getattr(rates[g], name) - row[name]) for g, row in peer_rates.iterrows() for name in row.index
    )
    print(f"fairlearn MetricFrame, n = {PEER_ROWS:,}, 2 groups: {1e3 * peer:,.0f} ms")
    apart = max(np.abs(np.subtract(gaps, peer_gaps)))
    print(f"largest difference of a rate {worst:.1e}, of a gap {apart:.1e}\n")
    audit = _best(lambda: _audit(*columns), 5)
    times = f"{1e3 * audit:,.1f} ms, {peer / audit:,.0f} times fairlearn"
    print(f"audit of predictions, n = {PEER_ROWS:,}: {times}\n")
    crossed = _bench_crossed()
    missed = [] if crossed <= CROSSED_MS else [f"crossed groups: {crossed:.0f} ms, not {CROSSED_MS}"]
    print("        n  groups  columns     report, ms  bincount, ms  report/bincount  times fairlearn")
    if peer / audit < TIMES_FAIRLEARN_AUDIT:
        missed.append(f"audit: {peer / audit:.1f} times fairlearn, not {TIMES_FAIRLEARN_AUDIT}")
    for n in (PEER_ROWS, 10 * PEER_ROWS):
        for n_groups, kind in ((2, "bytes"), (2, "booleans"), (2, "64-bit"), (10, "bytes"), (10, "64-bit")):
            columns, codes = _columns(n, n_groups, KINDS[kind])
            repeats = 30_000_000 // n
            ours, floor = _best(lambda: _ours(*columns), repeats), _best(lambda: np.bincount(codes), repeats)  # noqa: B023 (called at once)
            faster = f"{peer / ours:,.0f}" if n == PEER_ROWS and n_groups == 2 else ""
            times = f"{1e3 * ours:12.3f}  {1e3 * floor:12.3f}  {ours / floor:15.2f}"
            print(f"{n:9,}  {n_groups:6}  {kind:8}  {times}  {faster:>15}")
            if faster and peer / ours < TIMES_FAIRLEARN:
                missed.append(f"{kind}: {peer / ours:.0f} times fairlearn, not {TIMES_FAIRLEARN}")
            if kind != "64-bit" and n > PEER_ROWS and ours / floor > TIMES_BINCOUNT:
                missed.append(f"{kind}: {ours / floor:.2f} times a bincount, not {TIMES_BINCOUNT}")
    print("\n".join(["", *missed]) if missed else "\nTargets reached.")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
