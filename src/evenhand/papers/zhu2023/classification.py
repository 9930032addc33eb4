"""The classification of zhu2023: a logistic regression trained on released tables, judged on the true one."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from evenhand import release
from evenhand.papers.trials import Trials
from evenhand.papers.zhu2023 import data
from evenhand.papers.zhu2023 import experiments as draws
from evenhand.papers.zhu2023.data import ANONYMITY, EPSILONS, FEATURES, SUPPRESSION, SWAPPING
from evenhand.privacy.randomness import SeededSource

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evenhand.release.table.histogram import Histogram

BASELINE, MAJORITY = "baseline", "majority"
"""The classifier that is trained on the true table, and the one that says what most people have."""

ORIGINALS = {SUPPRESSION: "suppression", SWAPPING: "swapping", ANONYMITY: "k-anonymity"}
"""The original of each counterpart."""

SWAPPED = 10
"""Per cent of the rows of the histogram that the original swapping swaps."""

REPETITIONS = 10
"""Repetitions of a trial: twenty trials are the paper's 200."""

SETTINGS = {"plain": FEATURES, "areas": ("PUMA", *FEATURES)}
"""The columns of the table: the five that the paper names, and these with the area."""

_SEED = 2023


def classification_trials(sizes: Mapping[str, int]) -> tuple[Trials, ...]:
    """Return the trials of these data sets; each releases every table ten times and trains on it."""
    return tuple(
        Trials(f"classification-{name}", number, partial(_repetitions, name), label="experiment")
        for name, number in sizes.items()
    )


def accuracy(released: Any, true: Any) -> float:
    """Return the accuracy on the true table of a logistic regression that is trained on a released one.

    Both are counts, the last axis being the outcome of two values. There is a feature for each value of each
    other column.
    """
    shape = true.shape[:-1]
    codes = np.array(np.unravel_index(np.arange(math.prod(shape)), shape))
    features = np.concatenate(
        [np.eye(size)[column] for size, column in zip(shape, codes, strict=True)], axis=1
    )
    weights, people = (np.asarray(each, dtype=np.float64).reshape(-1, 2) for each in (released, true))
    totals = weights.sum(axis=0)
    if not totals.all():
        predicted = np.full(len(people), int(totals[1] > totals[0]))
    else:
        rows, outcome = np.nonzero(weights > 0)
        model = LogisticRegression(solver="newton-cholesky")
        with threadpool_limits(1):
            model.fit(features[rows], outcome, sample_weight=weights[rows, outcome])
            predicted = model.predict(features)
    return float(people[np.arange(len(people)), predicted].sum() / people.sum())


def _repetitions(name: str, number: int) -> dict[str, Any]:
    """Return the mean accuracies of ten repetitions, by mechanism and epsilon; "" for none."""
    return {setting: _accuracies(name, setting, number) for setting in SETTINGS}


def _accuracies(name: str, setting: str, number: int) -> dict[str, dict[str, float]]:
    columns = SETTINGS[setting]
    table, everything = data.count_people(name, columns), data.count_people(name, columns, columns)
    true: Any = np.asarray(table.counts)
    source = SeededSource(_SEED, cell=f"classification/{name}/{setting}/{number}")
    runs: dict[tuple[str, str], list[float]] = {}
    for _ in range(REPETITIONS):
        for key, counts in _release_tables(table, everything, source).items():
            runs.setdefault(key, []).append(accuracy(counts, true))
    majority = true.reshape(-1, 2).sum(axis=0)
    found: dict[str, dict[str, float]] = {
        BASELINE: {"": accuracy(true, true)}, MAJORITY: {"": float(majority.max() / majority.sum())}
    }  # fmt: skip
    for (mechanism, text), values in runs.items():
        found.setdefault(mechanism, {})[text] = float(np.mean(values))
    return found


def _release_tables(
    table: Histogram, everything: Histogram, source: SeededSource
) -> dict[tuple[str, str], Any]:
    """Return the released counts of every original, and of every mechanism at every epsilon."""
    true: Any = np.asarray(table.counts)
    originals: dict[str, Any] = {
        SUPPRESSION: release.Suppression(threshold=data.THRESHOLD, fill=data.FILL),
        SWAPPING: release.Swapping(fraction=Fraction(SWAPPED, 100), records="cells"),
        ANONYMITY: release.KAnonymity(k=data.THRESHOLD),
    }
    found: dict[tuple[str, str], Any] = {}
    for mechanism, original in originals.items():
        whole = everything if mechanism == ANONYMITY else table
        found[ORIGINALS[mechanism], ""] = original.release(whole, rng=source).histogram.counts
    for text in EPSILONS:
        for mechanism in draws.DRAWN:
            errors = draws.draw_errors(mechanism, table, Fraction(text), 1, source)
            found[mechanism, text] = true + errors[0].reshape(true.shape)
        errors = draws.anonymity_errors(everything, Fraction(text), 1, source)[1]
        found[ANONYMITY, text] = true + errors[0].reshape(true.shape)
    return found
