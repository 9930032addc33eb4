"""Time of parity for several classes on 100,000 rows, beside the least that must be done.

Run ``python benchmarks/bench_parity.py``. The floor of fitting is one count of rows by group and class and
one call of ``closest_class_rates``; that of answering is one uniform number of numpy's generator and one look
into a table for each row. What is above it is checking, exact noise from the secure source, bounds and
guarantees. Times are CPU milliseconds on one thread, medians of runs.
"""

import statistics
import time

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from threadpoolctl import threadpool_limits

from evenhand.learn import ParityPostProcessor, closest_class_rates

ROWS, CLASSES, TURNS = 100_000, 5, 7
SIZES = {"sex": 2, "race": 6}


class Stored(ClassifierMixin, BaseEstimator):
    """A classifier that costs nothing: its answers are the only feature."""

    def fit(self, X, y):  # noqa: ARG002, N803 - scikit-learn's names
        """Learn which classes there are."""
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):  # noqa: N803 - as above
        """Return the only feature."""
        return X[:, 0]


def made_rows(seed=0):
    """Return answers whose rates differ by group, and two columns that are crossed."""
    draws = np.random.default_rng(seed)
    group = {name: draws.integers(0, size, ROWS) for name, size in SIZES.items()}
    codes = SIZES["race"] * group["sex"] + group["race"]
    rates = draws.dirichlet(np.full(CLASSES, 4.0), SIZES["sex"] * SIZES["race"])
    reached = rates.cumsum(axis=1)[codes]
    answers = (draws.random(ROWS)[:, None] > reached).sum(axis=1).clip(max=CLASSES - 1)
    return answers[:, None], group, codes


def median_of(run):
    """Return the median CPU milliseconds of some runs."""
    times = []
    for _ in range(TURNS):
        start = time.process_time()
        run()
        times.append(1000 * (time.process_time() - start))
    return statistics.median(times)


def main():
    """Measure and print."""
    features, group, codes = made_rows()
    labels = {name: list(range(size)) for name, size in SIZES.items()}
    classifier = Stored().fit(features, features[:, 0])
    k, draws = SIZES["sex"] * SIZES["race"], np.random.default_rng(1)

    def fit():
        model = ParityPostProcessor(classifier, epsilon=1, held_out=True, groups=labels)
        return model.fit(features, group=group)

    def count_and_solve():
        cells = np.bincount(codes * CLASSES + features[:, 0], minlength=k * CLASSES).reshape(k, CLASSES)
        return closest_class_rates(cells / cells.sum(axis=1, keepdims=True), weights=cells.sum(axis=1))

    model = fit()
    reached = model.rates_.transition.cumsum(axis=2)

    def draw():
        return (draws.random(ROWS)[:, None] > reached[codes, features[:, 0], :-1]).sum(axis=1)

    rows = [
        ("fit, private", median_of(fit), median_of(count_and_solve)),
        ("predict", median_of(lambda: model.predict(features, group=group)), median_of(draw)),
    ]
    print(f"{ROWS:,} rows, {k} crossed groups, {CLASSES} classes; CPU milliseconds")
    for name, ours, floor in rows:
        print(f"{name:<14}{ours:8.1f}   floor {floor:7.1f}   {ours / floor:5.1f} times")


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
