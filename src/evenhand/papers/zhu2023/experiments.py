"""The experiments of zhu2023 as trials: each is one experiment of the paper, with all its repetitions.

Beside them stand the same tables by the mechanisms that evenhand ships: exact noise, exact bias, exact delta.
What the paper drew is drawn here as its code must have done it, continuous noise rounded or compared, so
nothing of that is fit for release.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from evenhand import release
from evenhand.papers.trials import Trials, source_of
from evenhand.papers.zhu2023 import data
from evenhand.papers.zhu2023.data import ANONYMITY, EPSILONS, EXACT, GAUSSIAN, LAPLACE, SUPPRESSION, SWAPPING
from evenhand.privacy.laws import DiscreteGaussian, Laplace
from evenhand.release.delta.theorem5 import theorem_5_delta
from evenhand.release.postprocess import clamp_bias
from evenhand.release.postprocess.steps import Nonnegative

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evenhand.papers.trials import Values
    from evenhand.privacy.randomness import SeededSource
    from evenhand.release.table.histogram import Histogram

    Numbers = dict[str, dict[str, dict[str, float]]]

REPETITIONS, FEW = 200, 20
"""Repetitions of an experiment, and those of k-anonymity, whose printed numbers are multiples of 1 / 20."""

DRAWN = (LAPLACE, GAUSSIAN, SUPPRESSION, SWAPPING)
"""The mechanisms whose errors are drawn by one function: all but k-anonymity."""

ORIGINAL = "original"

BASELINE, MAJORITY = "baseline", "majority"
"""The classifier that is trained on the true table, and the one that says what most people have."""

ORIGINALS = {SUPPRESSION: "suppression", SWAPPING: "swapping", ANONYMITY: "k-anonymity"}
"""The original of each counterpart."""

SETTINGS = {"plain": data.FEATURES, "areas": ("PUMA", *data.FEATURES)}
"""The columns of the table of classifiers: the five that the paper names, and these with the area."""

SWAPPED, TRAINED = 10, 10
"""Per cent of the rows that the original swapping swaps there, and repetitions of a trial, of which twenty
are the paper's 200."""

_source = partial(source_of, 2023)
_UNIT = "replace one"


def paper_trials(sizes: Mapping[str, Sequence[int]]) -> tuple[Trials, ...]:
    """Return the trials of these data sets: how many for the table, the figures and classification."""
    found = [Trials(EXACT, len(sizes), _exact)]
    kinds = {"tables": (_table, 0), "ipums": (code_as_ipums, 0), "figures": (_figure, 1)}
    last = {"classification": (_classify, 2)}
    for runs, (name, numbers) in product((kinds, last), sizes.items()):
        found += [
            Trials(f"{kind}-{name}", numbers[at], partial(run, name)) for kind, (run, at) in runs.items()
        ]
    return tuple(found)


# --- tables ---------------------------------------------------------------------------------------


def _table(name: str, number: int) -> dict[str, Any]:
    """Return one experiment of a table: every mechanism at every epsilon."""
    histogram, everything = data.count_people(name), data.count_people(name, quasi=data.COLUMNS)
    drawn = (LAPLACE, GAUSSIAN, data.SMALLER_NOISE, SUPPRESSION, data.BY_THRESHOLD, SWAPPING)
    source = partial(_source, "tables", name, number)
    found: Numbers = {
        mechanism: {text: _drawn(mechanism, histogram, text, source(mechanism, text)) for text in EPSILONS}
        for mechanism in drawn
    }
    for text in EPSILONS:
        both = anonymity_errors(everything, Fraction(text), FEW, source(ANONYMITY, text))
        for mechanism, errors in zip((ANONYMITY, data.AGAINST_ALL), both, strict=True):
            found.setdefault(mechanism, {})[text] = summarise_errors(errors)
    return {"numbers": found}


def code_as_ipums(name: str, number: int, **shares: Any) -> dict[str, Any]:
    """Return one experiment of a table with race coded as in IPUMS, k-anonymity left out.

    Further arguments are the shares of :func:`~evenhand.papers.zhu2023.data.draw_ipums_coding`.
    """
    histogram = data.draw_ipums_coding(name, _source("ipums", name, number), **shares)
    found: Numbers = {mechanism: {} for mechanism in DRAWN}
    for text in EPSILONS:
        source = _source("ipums", name, number, text)
        for mechanism in DRAWN:
            found[mechanism][text] = _drawn(mechanism, histogram, text, source)
    return {"numbers": found}


# --- figures --------------------------------------------------------------------------------------


def _figure(name: str, number: int) -> dict[str, Any]:
    """Return one experiment of the figures: originals and counterparts over thresholds and shares."""
    methods = {"suppression": _suppression, "swapping": _swapping, "k-anonymity": _anonymity}
    return {method: run(name, number) for method, run in methods.items()}


def _suppression(name: str, number: int) -> Numbers:
    histogram, found = data.count_people(name), {}
    for k in data.THRESHOLDS:
        source = _source("figures", name, number, "suppression", k)
        errors = release_errors(release.Suppression(threshold=k, fill=data.FILL), histogram, 1, source)
        found[str(k)] = {ORIGINAL: summarise_errors(errors)}
        for text in EPSILONS:
            found[str(k)][text] = _drawn(SUPPRESSION, histogram, text, source, threshold=k)
    return found


def _swapping(name: str, number: int) -> Numbers:
    """Return the three readings of swapping by the share that is swapped, and the counterpart by epsilon."""
    histogram = data.count_people(name)
    source = _source("figures", name, number, "swapping")
    found: Numbers = {each: {} for each in (*data.READINGS, "epsilon")}
    for reading, options in data.READINGS.items():
        for share in data.SHARES:
            mechanism = release.Swapping(fraction=Fraction(share, 100), **options)
            found[reading][str(share)] = summarise_errors(release_errors(mechanism, histogram, FEW, source))
    for text in EPSILONS:
        found["epsilon"][text] = _drawn(SWAPPING, histogram, text, source)
    return found


def _anonymity(name: str, number: int) -> Numbers:
    """Return k-anonymity against the table it was made of, and a sample's against everybody."""
    everything, found = data.count_people(name, quasi=data.COLUMNS), {}
    for k in data.THRESHOLDS:
        source = _source("figures", name, number, "k-anonymity", k)
        inside, _ = anonymity_errors(everything, None, FEW, source, k=k)
        found[str(k)] = {ORIGINAL: summarise_errors(inside)}
        for text in EPSILONS:
            inside, outside = anonymity_errors(everything, Fraction(text), FEW, source, k=k)
            found[str(k)] |= {text: summarise_errors(inside), f"{text}, everybody": summarise_errors(outside)}
    return found


# --- exact ----------------------------------------------------------------------------------------


def _exact(number: int) -> dict[str, Any]:
    """Return what needs no draws: the table's facts, exact biases, and deltas printed and true."""
    name = list(data.DATA)[number]
    histogram = data.count_people(name)
    matrix, counts = histogram.as_matrix(), np.asarray(histogram.counts)
    found: Numbers = {}
    for text in EPSILONS:
        epsilon = Fraction(text)
        smaller = DiscreteGaussian(data.variance(epsilon, printed=True))
        biases = data.biases(histogram, epsilon, data.THRESHOLD)
        biases[data.SMALLER_NOISE] = clamp_bias(counts.ravel(), smaller)
        deltas = _deltas(epsilon, matrix.shape[1])
        for mechanism in (*biases, ANONYMITY):
            bias = biases.get(mechanism)
            known = {} if bias is None else {"l1": float(np.abs(bias).sum()), "alpha": float(np.ptp(bias))}
            found.setdefault(mechanism, {})[text] = known | deltas[mechanism]
    return {
        "name": name,
        "people": int(counts.sum()),
        "areas": histogram.shape[0],
        "columns": len(data.load_people(name).frame.columns),
        "cells": int(counts.size),
        "empty": int((counts == 0).sum()),
        "numbers": found,
        "bounds": {text: data.compare_bounds(matrix, Fraction(text), data.THRESHOLD) for text in EPSILONS},
        "shipped": shipped_numbers(histogram),
    }


def _deltas(epsilon: Fraction, size: int) -> dict[str, dict[str, float]]:
    """Return the delta that is printed and the exact one, by mechanism."""
    noise, smaller = data.variance(epsilon), data.variance(epsilon, printed=True)
    limits = (epsilon, data.THRESHOLD, data.BOUND)
    pairs = {
        LAPLACE: (0.0, 0.0),
        GAUSSIAN: (data.printed_gaussian(epsilon), data.gaussian_delta(noise, epsilon)),
        SUPPRESSION: (data.suppression_theorem(*limits), data.suppression_delta(*limits)),
        SWAPPING: (data.swapping_theorem(epsilon, size), data.swapping_delta(epsilon, size)),
        ANONYMITY: (theorem_5_delta(epsilon), data.anonymity_delta(epsilon)),
    }
    found = {mechanism: {"delta": delta, "exact delta": true} for mechanism, (delta, true) in pairs.items()}
    return found | {data.SMALLER_NOISE: {"exact delta": data.gaussian_delta(smaller, epsilon)}}


def shipped_numbers(histogram: Histogram) -> Numbers:
    """Return delta, bias and alpha of evenhand's own mechanisms; noise is clipped at zero as in the paper."""
    found: Numbers = {mechanism: {} for mechanism in DRAWN}
    for text in EPSILONS:
        epsilon = Fraction(text)
        mechanisms: dict[str, Any] = {
            LAPLACE: release.Laplace(epsilon=epsilon, unit=_UNIT),
            GAUSSIAN: release.DiscreteGaussian(rho=1 / data.variance(epsilon), unit=_UNIT),
            SUPPRESSION: release.NoisySuppression(epsilon=epsilon, threshold=data.THRESHOLD, fill=data.FILL),
            SWAPPING: release.RandomSwapping(epsilon=epsilon),
        }
        for name, mechanism in mechanisms.items():
            bias = mechanism.bias(histogram, post=[Nonnegative()] if name in (LAPLACE, GAUSSIAN) else [])
            delta = float(mechanism.guarantee_for(histogram, epsilon=epsilon).delta)
            found[name][text] = {"delta": delta, "l1": bias.l1, "alpha": bias.alpha}
    return found


# --- classification ---------------------------------------------------------------------------------


def _classify(name: str, number: int) -> dict[str, Any]:
    """Return the mean accuracies of ten repetitions, by mechanism and epsilon; "" for none."""
    return {setting: _accuracies(name, setting, number) for setting in SETTINGS}


def _accuracies(name: str, setting: str, number: int) -> dict[str, dict[str, float]]:
    columns = SETTINGS[setting]
    table, everything = data.count_people(name, columns), data.count_people(name, columns, columns)
    true: Any = np.asarray(table.counts)
    source = _source("classification", name, setting, number)
    runs: dict[tuple[str, str], list[float]] = {}
    for _ in range(TRAINED):
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
        for mechanism in DRAWN:
            errors = draw_errors(mechanism, table, Fraction(text), 1, source)
            found[mechanism, text] = true + errors[0].reshape(true.shape)
        errors = anonymity_errors(everything, Fraction(text), 1, source)[1]
        found[ANONYMITY, text] = true + errors[0].reshape(true.shape)
    return found


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


# --- draws, many repetitions at once --------------------------------------------------------------


def summarise_errors(errors: Values) -> dict[str, float]:
    """Return what the paper reports of errors, one row per repetition and one column per cell.

    ``l1`` and ``alpha`` are of the average error of each cell, ``error`` is the average of the repetitions'
    total errors. The first two hold the randomness of the average besides the bias.

    >>> summarise_errors(np.array([[1.0, -1.0], [1.0, 3.0]]))
    {'l1': 2.0, 'alpha': 0.0, 'error': 3.0}
    """
    mean = errors.mean(axis=0)
    return {
        "l1": float(np.abs(mean).sum()),
        "alpha": float(np.ptp(mean)),
        "error": float(np.abs(errors).sum(axis=1).mean()),
    }


def _drawn(
    mechanism: str, table: Histogram, text: str, source: SeededSource, **more: int
) -> dict[str, float]:
    errors = draw_errors(mechanism, table, Fraction(text), REPETITIONS, source, **more)
    return summarise_errors(errors)


def draw_errors(
    mechanism: str,
    table: Histogram,
    epsilon: Fraction,
    repetitions: int,
    source: SeededSource,
    *,
    threshold: int = data.THRESHOLD,
) -> Values:
    """Return the errors of a mechanism of the tables, one row per repetition and one column per cell.

    Laplace noise has the scale 2 / epsilon and is rounded, which fits the printed numbers, multiples of
    1 / 200, where continuous noise does not; it is clipped at zero, and so is discrete Gaussian noise. In
    equation (2) noise of its own on each count decides whether it is replaced; in Algorithm 2 there is one
    noisy threshold for all counts, and half of it in their place.
    """
    if mechanism == SWAPPING:
        return release_errors(release.RandomSwapping(epsilon=epsilon), table, repetitions, source)
    counts: Any = np.asarray(table.counts).ravel()
    law: Any = Laplace(2 / epsilon)
    if mechanism == data.BY_THRESHOLD:
        noisy = threshold + law.draw(size=(repetitions, 1), source=source)
        return np.where(counts < noisy, np.floor(noisy / 2) - counts, 0.0)
    if mechanism in (GAUSSIAN, data.SMALLER_NOISE):
        law = DiscreteGaussian(data.variance(epsilon, printed=mechanism == data.SMALLER_NOISE))
    noise = law.draw(size=(repetitions, counts.size), source=source)
    if mechanism == SUPPRESSION:
        return np.where(counts + noise >= threshold, 0.0, threshold // 2 - counts)
    return np.asarray(np.maximum(counts + np.rint(noise), 0.0) - counts)


def release_errors(mechanism: Any, histogram: Histogram, repetitions: int, source: SeededSource) -> Values:
    """Return the errors of a mechanism of :mod:`evenhand.release`."""
    counts: Any = histogram.counts
    errors = (mechanism.release(histogram, rng=source).histogram.counts - counts for _ in range(repetitions))
    return np.array([each.ravel() for each in errors], dtype=np.float64)


def anonymity_errors(
    histogram: Histogram,
    epsilon: Fraction | None,
    repetitions: int,
    source: SeededSource,
    *,
    k: int = data.THRESHOLD,
) -> tuple[Values, Values]:
    """Return the errors of a k-anonymous sample against the sample, and against the whole table.

    The sample has everybody with the probability 1 - exp(-epsilon), or is everybody without an epsilon.
    """
    whole: Any = np.asarray(histogram.counts)
    inside, outside = np.empty((2, repetitions, whole.size))
    for number in range(repetitions):
        kept = whole
        if epsilon is not None:
            kept = source.generator().binomial(whole, -math.expm1(-float(epsilon)))
        released = release.KAnonymity(k=k).release(histogram.with_counts(kept), rng=source)
        made: Any = np.asarray(released.histogram.counts)
        inside[number], outside[number] = (made - kept).ravel(), (made - whole).ravel()
    return inside, outside
