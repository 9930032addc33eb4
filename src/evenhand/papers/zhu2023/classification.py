"""The classification of zhu2023: a logistic regression trained on released tables, judged on the true one."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from evenhand.papers.trials import Trials
from evenhand.papers.zhu2023 import exact
from evenhand.papers.zhu2023 import experiments as draws
from evenhand.papers.zhu2023.data import (
    ANONYMITY,
    EPSILONS,
    FEATURES,
    FILL,
    GAUSSIAN,
    LAPLACE,
    SUPPRESSION,
    SWAPPING,
    THRESHOLD,
    count_people,
)
from evenhand.privacy.randomness import SeededSource
from evenhand.release.kanonymity.mechanisms import KAnonymity
from evenhand.release.mechanisms.random_swapping import RandomSwapping
from evenhand.release.mechanisms.suppression import Suppression
from evenhand.release.mechanisms.swapping import Swapping

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

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


def classification_name(name: str) -> str:
    """Return the name of the trials behind the bars of a data set."""
    return f"classification-{name}"


def classification_trials(sizes: Mapping[str, int]) -> tuple[Trials, ...]:
    """Return the trials of these data sets; each releases every table ten times and trains on it."""
    return tuple(
        Trials(classification_name(name), number, partial(_repetitions, name), label="experiment")
        for name, number in sizes.items()
    )


def accuracy(released: Any, true: Any) -> float:
    """Return the accuracy on the true table of a logistic regression that is trained on a released one.

    Parameters
    ----------
    released, true : array
        Counts, the last axis being the outcome of two values.
    """
    features = _one_hot(true.shape[:-1])
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


def _one_hot(shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Return one row for each combination of codes, with a column for each value of each of them."""
    codes = np.array(np.unravel_index(np.arange(int(np.prod(shape))), shape))
    return np.concatenate([np.eye(size)[column] for size, column in zip(shape, codes, strict=True)], axis=1)


def _repetitions(name: str, number: int) -> dict[str, Any]:
    """Return the mean accuracies of ten repetitions, by mechanism and epsilon; "" for none."""
    found = {}
    for setting, columns in SETTINGS.items():
        table, everything = count_people(name, columns), count_people(name, columns, columns)
        true: Any = np.asarray(table.counts)
        source = SeededSource(_SEED, cell=f"classification/{name}/{setting}/{number}")
        runs: dict[tuple[str, str], list[float]] = {}
        for _ in range(REPETITIONS):
            made = {(each, ""): counts for each, counts in _originals(table, everything, source).items()}
            for text in EPSILONS:
                released = _released(table, everything, Fraction(text), source)
                made |= {(each, text): counts for each, counts in released.items()}
            for key, counts in made.items():
                runs.setdefault(key, []).append(accuracy(counts, true))
        majority = true.reshape(-1, 2).sum(axis=0)
        numbers: dict[str, dict[str, float]] = {
            BASELINE: {"": accuracy(true, true)}, MAJORITY: {"": float(majority.max() / majority.sum())}
        }  # fmt: skip
        for (mechanism, text), values in runs.items():
            numbers.setdefault(mechanism, {})[text] = float(np.mean(values))
        found[setting] = numbers
    return found


def _originals(table: Histogram, everything: Histogram, source: SeededSource) -> dict[str, Any]:
    made = {
        SUPPRESSION: Suppression(threshold=THRESHOLD, fill=FILL).release(table, rng=source),
        SWAPPING: Swapping(fraction=Fraction(SWAPPED, 100), records="cells").release(table, rng=source),
        ANONYMITY: KAnonymity(k=THRESHOLD).release(everything, rng=source),
    }
    return {ORIGINALS[name]: np.asarray(each.histogram.counts) for name, each in made.items()}


def _released(
    table: Histogram, everything: Histogram, epsilon: Fraction, source: SeededSource
) -> dict[str, Any]:
    true: Any = np.asarray(table.counts)
    swapping, anonymity = RandomSwapping(epsilon=epsilon), KAnonymity(k=THRESHOLD)
    errors = {
        LAPLACE: draws.laplace_errors(true, epsilon, 1, source),
        GAUSSIAN: draws.gaussian_errors(true, exact.variance(epsilon), 1, source),
        SUPPRESSION: draws.suppression_errors(true, epsilon, THRESHOLD, 1, source),
        SWAPPING: draws.release_errors(swapping, table, 1, source),
        ANONYMITY: draws.anonymity_errors(anonymity, everything, epsilon, 1, source)[1],
    }
    return {name: true + each[0].reshape(true.shape) for name, each in errors.items()}
