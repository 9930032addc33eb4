"""The experiments of zhu2023 as trials: each is one experiment of the paper, with all its repetitions.

Beside them stand the same tables by the mechanisms that evenhand ships: exact noise, exact bias, exact delta.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand import release
from evenhand.papers.trials import Trials
from evenhand.papers.zhu2023 import draws, exact
from evenhand.papers.zhu2023.data import (
    BOUND,
    COLUMNS,
    DATA,
    FILL,
    QUASI,
    THRESHOLD,
    count_people,
    load_people,
)
from evenhand.papers.zhu2023.printed import ANONYMITY, EPSILONS, GAUSSIAN, LAPLACE, SUPPRESSION, SWAPPING
from evenhand.privacy.laws import DiscreteGaussian
from evenhand.privacy.randomness import SeededSource
from evenhand.release.kanonymity.mechanisms import KAnonymity
from evenhand.release.mechanisms.random_swapping import RandomSwapping
from evenhand.release.mechanisms.suppression import Suppression
from evenhand.release.mechanisms.swapping import Swapping
from evenhand.release.postprocess.steps import Nonnegative

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evenhand.release.table.histogram import Histogram

    Numbers = dict[str, float]

__all__ = [
    "AGAINST_ALL",
    "BY_THRESHOLD",
    "CELLS",
    "DISCREPANT",
    "EXACT",
    "FEW",
    "NEAREST",
    "ORIGINAL",
    "READINGS",
    "REPETITIONS",
    "SHARES",
    "SMALLER_NOISE",
    "THRESHOLDS",
    "experiment_trials",
    "figures_name",
    "shipped_numbers",
    "tables_name",
]

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


def figures_name(name: str) -> str:
    """Return the name of the trials behind the figures of errors and alpha."""
    return f"figures-{name}"


def experiment_trials(sizes: Mapping[str, tuple[int, int]]) -> tuple[Trials, ...]:
    """Return the trials of these data sets: how many experiments for the table, and for the figures."""
    found = [Trials(EXACT, len(sizes), _exact, label="data set")]
    for name, (tables, figures) in sizes.items():
        found.append(Trials(tables_name(name), tables, partial(_table, name), label="experiment"))
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
        inside, outside = draws.anonymity_errors(
            KAnonymity(k=THRESHOLD), everything, epsilon, FEW, source(ANONYMITY)
        )
        errors = {
            LAPLACE: draws.laplace_errors(counts, epsilon, REPETITIONS, source(LAPLACE)),
            GAUSSIAN: draws.gaussian_errors(counts, noise[0], REPETITIONS, source(GAUSSIAN)),
            SMALLER_NOISE: draws.gaussian_errors(counts, noise[1], REPETITIONS, source(SMALLER_NOISE)),
            SUPPRESSION: draws.suppression_errors(
                counts, epsilon, THRESHOLD, REPETITIONS, source(SUPPRESSION)
            ),
            BY_THRESHOLD: draws.threshold_errors(
                counts, epsilon, THRESHOLD, REPETITIONS, source(BY_THRESHOLD)
            ),
            SWAPPING: draws.release_errors(
                RandomSwapping(epsilon=text), histogram, REPETITIONS, source(SWAPPING)
            ),
            ANONYMITY: inside,
            AGAINST_ALL: outside,
        }
        for mechanism, each in errors.items():
            found.setdefault(mechanism, {})[text] = draws.summary(each)
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
        errors = draws.release_errors(Suppression(threshold=k, fill=FILL), histogram, 1, source)
        found[str(k)] = {ORIGINAL: draws.summary(errors)}
        for text in EPSILONS:
            errors = draws.suppression_errors(counts, Fraction(text), k, REPETITIONS, source)
            found[str(k)][text] = draws.summary(errors)
    return found


def _swapping(name: str, number: int) -> dict[str, dict[str, Numbers]]:
    """Return the three readings of swapping by the share that is swapped, and the counterpart by epsilon."""
    histogram = count_people(name)
    source = _source("figures", name, number, "swapping")
    found: dict[str, dict[str, Numbers]] = {each: {} for each in (*READINGS, "epsilon")}
    for reading, options in READINGS.items():
        for share in SHARES:
            mechanism = Swapping(fraction=Fraction(share, 100), **options)
            found[reading][str(share)] = draws.summary(
                draws.release_errors(mechanism, histogram, FEW, source)
            )
    for text in EPSILONS:
        errors = draws.release_errors(RandomSwapping(epsilon=text), histogram, REPETITIONS, source)
        found["epsilon"][text] = draws.summary(errors)
    return found


def _anonymity(name: str, number: int) -> dict[str, dict[str, Numbers]]:
    """Return k-anonymity against the table it was made of, and a sample's against everybody."""
    everything = _all_columns(name)
    found: dict[str, dict[str, Numbers]] = {}
    for k in THRESHOLDS:
        source = _source("figures", name, number, "k-anonymity", k)
        inside, _ = draws.anonymity_errors(KAnonymity(k=k), everything, None, FEW, source)
        found[str(k)] = {ORIGINAL: draws.summary(inside)}
        for text in EPSILONS:
            inside, outside = draws.anonymity_errors(KAnonymity(k=k), everything, Fraction(text), FEW, source)
            found[str(k)] |= {text: draws.summary(inside), f"{text}, everybody": draws.summary(outside)}
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
