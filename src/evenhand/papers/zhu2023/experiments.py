"""The experiments of zhu2023 as trials: each is one experiment of the paper, with all its repetitions.

Beside them stand the same tables by the mechanisms that evenhand ships: exact noise, exact bias, exact delta.
What the paper drew is drawn here as its code must have done it, continuous noise rounded or compared, so
nothing of that is fit for release.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand import release
from evenhand.papers.trials import Trials
from evenhand.papers.zhu2023 import exact
from evenhand.papers.zhu2023.data import (
    ANONYMITY,
    BOUND,
    COLUMNS,
    DATA,
    EPSILONS,
    FILL,
    GAUSSIAN,
    LAPLACE,
    QUASI,
    SUPPRESSION,
    SWAPPING,
    THRESHOLD,
    count_people,
    draw_ipums_coding,
    load_people,
)
from evenhand.privacy.laws import DiscreteGaussian, Laplace
from evenhand.privacy.randomness import SeededSource
from evenhand.release.kanonymity.mechanisms import KAnonymity
from evenhand.release.mechanisms.random_swapping import RandomSwapping
from evenhand.release.mechanisms.suppression import Suppression
from evenhand.release.mechanisms.swapping import Swapping
from evenhand.release.postprocess.steps import Nonnegative

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from evenhand.release.table.histogram import Histogram

    Counts = NDArray[np.int64]
    Errors = NDArray[np.float64]
    Numbers = dict[str, float]

REPETITIONS, FEW = 200, 20
"""Repetitions of an experiment, and those of k-anonymity, whose printed numbers are multiples of 1 / 20."""

THRESHOLDS = (2, 4, 6, 8, 10)
"""The k of figures 2, 3 and 6 to 9, which the text does not give."""

SHARES = (10, 20, 30, 40, 50)
"""Per cent of records that are swapped in these figures; the text does not give them either."""

SMALLER_NOISE = "discrete-gaussian, variance 4 / epsilon^2"
BY_THRESHOLD = "noisy-suppression, one threshold"
AGAINST_ALL = "sampled-k-anonymity, against everybody"
"""What else is in an experiment: the noise of the text, Algorithm 2, and a sample against everybody."""

ORIGINAL, EXACT = "original", "exact"

CELLS, NEAREST, DISCREPANT = "cells, nearest", "people, nearest", "people, discrepant"
READINGS: dict[str, dict[str, Any]] = {
    CELLS: {"pairing": "nearest", "records": "cells"},
    NEAREST: {"pairing": "nearest", "records": "people"},
    DISCREPANT: {"pairing": "discrepancy", "records": "people"},
}
"""What swapping may mean: Algorithm 3 on rows of the histogram, on people, and section 3 on people."""

_SEED = 2023


def tables_name(name: str) -> str:
    """Return the name of the trials behind a table."""
    return f"tables-{name}"


def ipums_name(name: str) -> str:
    """Return the name of the trials behind a table with race coded as in IPUMS."""
    return f"ipums-{name}"


def figures_name(name: str) -> str:
    """Return the name of the trials behind the figures of errors and alpha."""
    return f"figures-{name}"


def experiment_trials(sizes: Mapping[str, tuple[int, int]]) -> tuple[Trials, ...]:
    """Return the trials of these data sets: how many experiments for the table, and for the figures."""
    found = [Trials(EXACT, len(sizes), _exact, label="data set")]
    for name, (tables, figures) in sizes.items():
        found.append(Trials(tables_name(name), tables, partial(_table, name), label="experiment"))
        found.append(Trials(ipums_name(name), tables, partial(_ipums_table, name), label="experiment"))
        found.append(Trials(figures_name(name), figures, partial(_figure, name), label="experiment"))
    return tuple(found)


def _source(*words: object) -> SeededSource:
    return SeededSource(_SEED, cell="/".join(str(each) for each in words))


# --- tables ---------------------------------------------------------------------------------------


def _table(name: str, number: int) -> dict[str, Any]:
    """Return one experiment of a table: every mechanism at every epsilon."""
    histogram, everything = count_people(name), _all_columns(name)
    counts: Any = np.asarray(histogram.counts)
    found: dict[str, dict[str, Numbers]] = {}
    for text in EPSILONS:
        epsilon = Fraction(text)

        def source(mechanism: str, at: str = text) -> SeededSource:
            return _source("tables", name, number, mechanism, at)

        noise = exact.variance(epsilon), exact.variance(epsilon, printed=True)
        inside, outside = anonymity_errors(
            KAnonymity(k=THRESHOLD), everything, epsilon, FEW, source(ANONYMITY)
        )
        errors = {
            LAPLACE: laplace_errors(counts, epsilon, REPETITIONS, source(LAPLACE)),
            GAUSSIAN: gaussian_errors(counts, noise[0], REPETITIONS, source(GAUSSIAN)),
            SMALLER_NOISE: gaussian_errors(counts, noise[1], REPETITIONS, source(SMALLER_NOISE)),
            SUPPRESSION: suppression_errors(counts, epsilon, THRESHOLD, REPETITIONS, source(SUPPRESSION)),
            BY_THRESHOLD: threshold_errors(counts, epsilon, THRESHOLD, REPETITIONS, source(BY_THRESHOLD)),
            SWAPPING: release_errors(RandomSwapping(epsilon=text), histogram, REPETITIONS, source(SWAPPING)),
            ANONYMITY: inside,
            AGAINST_ALL: outside,
        }
        for mechanism, each in errors.items():
            found.setdefault(mechanism, {})[text] = summarise_errors(each)
    return {"numbers": found}


def _ipums_table(name: str, number: int) -> dict[str, Any]:
    """Return one experiment of a table with race coded as in IPUMS, k-anonymity left out."""
    histogram = draw_ipums_coding(name, _source("ipums", name, number))
    counts: Any = np.asarray(histogram.counts)
    found: dict[str, dict[str, Numbers]] = {}
    for text in EPSILONS:
        epsilon, source = Fraction(text), _source("ipums", name, number, text)
        errors = {
            LAPLACE: laplace_errors(counts, epsilon, REPETITIONS, source),
            GAUSSIAN: gaussian_errors(counts, exact.variance(epsilon), REPETITIONS, source),
            SUPPRESSION: suppression_errors(counts, epsilon, THRESHOLD, REPETITIONS, source),
            SWAPPING: release_errors(RandomSwapping(epsilon=text), histogram, REPETITIONS, source),
        }
        for mechanism, each in errors.items():
            found.setdefault(mechanism, {})[text] = summarise_errors(each)
    return {"numbers": found}


def _all_columns(name: str) -> Histogram:
    """Return the table with every column a quasi-identifier: a row is generalised as a whole."""
    return count_people(name, COLUMNS, COLUMNS)


# --- figures --------------------------------------------------------------------------------------


def _figure(name: str, number: int) -> dict[str, Any]:
    """Return one experiment of the figures: originals and counterparts over thresholds and shares."""
    return {
        "suppression": _suppression(name, number),
        "swapping": _swapping(name, number),
        "k-anonymity": _anonymity(name, number),
    }


def _suppression(name: str, number: int) -> dict[str, dict[str, Numbers]]:
    histogram = count_people(name)
    counts: Any = np.asarray(histogram.counts)
    found = {}
    for k in THRESHOLDS:
        source = _source("figures", name, number, "suppression", k)
        errors = release_errors(Suppression(threshold=k, fill=FILL), histogram, 1, source)
        found[str(k)] = {ORIGINAL: summarise_errors(errors)}
        for text in EPSILONS:
            errors = suppression_errors(counts, Fraction(text), k, REPETITIONS, source)
            found[str(k)][text] = summarise_errors(errors)
    return found


def _swapping(name: str, number: int) -> dict[str, dict[str, Numbers]]:
    """Return the three readings of swapping by the share that is swapped, and the counterpart by epsilon."""
    histogram = count_people(name)
    source = _source("figures", name, number, "swapping")
    found: dict[str, dict[str, Numbers]] = {each: {} for each in (*READINGS, "epsilon")}
    for reading, options in READINGS.items():
        for share in SHARES:
            mechanism = Swapping(fraction=Fraction(share, 100), **options)
            found[reading][str(share)] = summarise_errors(release_errors(mechanism, histogram, FEW, source))
    for text in EPSILONS:
        errors = release_errors(RandomSwapping(epsilon=text), histogram, REPETITIONS, source)
        found["epsilon"][text] = summarise_errors(errors)
    return found


def _anonymity(name: str, number: int) -> dict[str, dict[str, Numbers]]:
    """Return k-anonymity against the table it was made of, and a sample's against everybody."""
    everything = _all_columns(name)
    found: dict[str, dict[str, Numbers]] = {}
    for k in THRESHOLDS:
        source = _source("figures", name, number, "k-anonymity", k)
        inside, _ = anonymity_errors(KAnonymity(k=k), everything, None, FEW, source)
        found[str(k)] = {ORIGINAL: summarise_errors(inside)}
        for text in EPSILONS:
            inside, outside = anonymity_errors(KAnonymity(k=k), everything, Fraction(text), FEW, source)
            found[str(k)] |= {text: summarise_errors(inside), f"{text}, everybody": summarise_errors(outside)}
    return found


# --- exact ----------------------------------------------------------------------------------------


def _exact(number: int) -> dict[str, Any]:
    """Return what needs no draws: the table's facts, exact biases, and deltas printed and true."""
    name = list(DATA)[number]
    histogram = count_people(name)
    counts: Any = np.asarray(histogram.counts)
    found: dict[str, dict[str, Numbers]] = {}
    bounds: dict[str, Any] = {}
    for text in EPSILONS:
        epsilon = Fraction(text)
        bounds[text] = exact.compare_bounds(histogram.as_matrix(), epsilon, THRESHOLD)
        deltas = _deltas(epsilon, histogram.as_matrix().shape[1])
        smaller = DiscreteGaussian(exact.variance(epsilon, printed=True))
        biases = exact.biases(histogram, epsilon, THRESHOLD)
        biases[SMALLER_NOISE] = exact.clipped_bias(counts.ravel(), smaller)
        for mechanism, bias in biases.items():
            numbers = {"l1": float(np.abs(bias).sum()), "alpha": float(np.ptp(bias))}
            found.setdefault(mechanism, {})[text] = numbers | deltas.pop(mechanism)
        for mechanism, numbers in deltas.items():
            found.setdefault(mechanism, {})[text] = numbers
    return {
        "name": name,
        "people": int(counts.sum()),
        "areas": histogram.shape[0],
        "columns": len(load_people(name).frame.columns),
        "races": int(np.count_nonzero(np.asarray(histogram.margin((QUASI,)).counts))),
        "cells": int(counts.size),
        "empty": int((counts == 0).sum()),
        "largest": int(counts.max()),
        "smallest": int(counts.min()),
        "numbers": found,
        "bounds": bounds,
        "shipped": shipped_numbers(histogram),
    }


def _deltas(epsilon: Fraction, size: int) -> dict[str, Numbers]:
    noise, smaller = exact.variance(epsilon), exact.variance(epsilon, printed=True)
    return {
        LAPLACE: {"delta": 0.0, "exact delta": 0.0},
        GAUSSIAN: {
            "delta": exact.printed_gaussian(epsilon),
            "exact delta": exact.gaussian_delta(noise, epsilon),
        },
        SMALLER_NOISE: {"exact delta": exact.gaussian_delta(smaller, epsilon)},
        SUPPRESSION: {
            "delta": exact.suppression_theorem(epsilon, THRESHOLD, BOUND),
            "exact delta": exact.suppression_delta(epsilon, THRESHOLD, BOUND),
        },
        SWAPPING: {
            "delta": exact.swapping_theorem(epsilon, size),
            "exact delta": exact.swapping_delta(epsilon, size),
        },
        ANONYMITY: {
            "delta": exact.anonymity_theorem(epsilon)[0],
            "exact delta": exact.anonymity_delta(epsilon),
        },
    }


# --- the mechanisms that evenhand ships -----------------------------------------------------------


_UNIT = "replace one"


def shipped_numbers(histogram: Histogram) -> dict[str, dict[str, dict[str, float]]]:
    """Return delta, bias and alpha by mechanism and epsilon; noise is clipped at zero as in the paper."""
    found: dict[str, dict[str, dict[str, float]]] = {}
    for text in EPSILONS:
        epsilon = Fraction(text)
        for name, mechanism in _mechanisms(epsilon).items():
            post = [Nonnegative()] if name in (LAPLACE, GAUSSIAN) else []
            bias = mechanism.bias(histogram, post=post)
            delta = mechanism.guarantee_for(histogram, epsilon=epsilon).delta
            numbers = {"delta": float(delta), "l1": bias.l1, "alpha": bias.alpha}
            found.setdefault(name, {})[text] = numbers
    return found


def _mechanisms(epsilon: Fraction) -> dict[str, Any]:
    return {
        LAPLACE: release.Laplace(epsilon=epsilon, unit=_UNIT),
        GAUSSIAN: release.DiscreteGaussian(rho=1 / exact.variance(epsilon), unit=_UNIT),
        SUPPRESSION: release.NoisySuppression(epsilon=epsilon, threshold=THRESHOLD, fill=FILL),
        SWAPPING: release.RandomSwapping(epsilon=epsilon),
    }


# --- draws, many repetitions at once --------------------------------------------------------------


def summarise_errors(errors: Errors) -> dict[str, float]:
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


def laplace_errors(counts: Counts, epsilon: Fraction, repetitions: int, source: SeededSource) -> Errors:
    """Return the errors of counts with Laplace noise of scale 2 / epsilon, rounded, then clipped at zero.

    Rounding fits the printed numbers, which are multiples of 1 / 200, and continuous noise does not.
    """
    noise = Laplace(2 / epsilon).draw(size=(repetitions, counts.size), source=source)
    found: Errors = np.maximum(counts.ravel() + np.rint(noise), 0.0) - counts.ravel()
    return found


def gaussian_errors(counts: Counts, variance: Fraction, repetitions: int, source: SeededSource) -> Errors:
    """Return the errors of counts with discrete Gaussian noise, clipped at zero."""
    noise = DiscreteGaussian(variance).draw(size=(repetitions, counts.size), source=source)
    found: Errors = (np.maximum(counts.ravel() + noise, 0) - counts.ravel()).astype(np.float64)
    return found


def suppression_errors(
    counts: Counts, epsilon: Fraction, threshold: int, repetitions: int, source: SeededSource
) -> Errors:
    """Return the errors of equation (2): noise of its own on each count decides whether it is replaced."""
    flat = counts.ravel()
    noise = Laplace(2 / epsilon).draw(size=(repetitions, flat.size), source=source)
    return np.where(flat + noise >= threshold, 0.0, threshold // 2 - flat)


def threshold_errors(
    counts: Counts, epsilon: Fraction, threshold: int, repetitions: int, source: SeededSource
) -> Errors:
    """Return the errors of Algorithm 2: one noisy threshold for all counts, half of it in their place."""
    flat = counts.ravel()
    noisy = threshold + Laplace(2 / epsilon).draw(size=(repetitions, 1), source=source)
    found: Errors = np.where(flat < noisy, np.floor(noisy / 2) - flat, 0.0)
    return found


def release_errors(mechanism: Any, histogram: Histogram, repetitions: int, source: SeededSource) -> Errors:
    """Return the errors of a mechanism of :mod:`evenhand.release`."""
    counts: Any = histogram.counts
    found = np.empty((repetitions, counts.size))
    for number in range(repetitions):
        found[number] = (mechanism.release(histogram, rng=source).histogram.counts - counts).ravel()
    return found


def draw_sample(histogram: Histogram, share: float, source: SeededSource) -> Histogram:
    """Return the table of a sample that every person is in with the same probability."""
    kept = source.generator().binomial(np.asarray(histogram.counts), share)
    return histogram.with_counts(kept)


def anonymity_errors(
    mechanism: Any, histogram: Histogram, epsilon: Fraction | None, repetitions: int, source: SeededSource
) -> tuple[Errors, Errors]:
    """Return the errors of a k-anonymous sample against the sample, and against the whole table.

    The sample has the share 1 - exp(-epsilon), or is everybody without an epsilon.
    """
    whole: Any = np.asarray(histogram.counts)
    inside, outside = np.empty((2, repetitions, whole.size))
    for number in range(repetitions):
        kept = histogram if epsilon is None else draw_sample(histogram, -math.expm1(-float(epsilon)), source)
        made: Any = np.asarray(mechanism.release(kept, rng=source).histogram.counts)
        inside[number] = (made - np.asarray(kept.counts)).ravel()
        outside[number] = (made - whole).ravel()
    return inside, outside
