"""The mechanisms of zhu2023 as its experiments drew them, many repetitions at once.

Continuous noise is rounded or compared here as the paper's code must have done it, so nothing of this is fit
for release: :mod:`evenhand.release` has mechanisms whose noise is exact.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.privacy.laws import DiscreteGaussian, Laplace

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

    from evenhand.privacy.randomness import SeededSource
    from evenhand.release.table.histogram import Histogram

    Counts = NDArray[np.int64]
    Errors = NDArray[np.float64]

__all__ = [
    "anonymity_errors",
    "draw_sample",
    "gaussian_errors",
    "laplace_errors",
    "release_errors",
    "summary",
    "suppression_errors",
    "threshold_errors",
]


def summary(errors: Errors) -> dict[str, float]:
    """Return what the paper reports of errors, one row per repetition and one column per cell.

    ``l1`` and ``alpha`` are of the average error of each cell, ``error`` is the average of the repetitions'
    total errors. The first two hold the randomness of the average besides the bias.

    >>> summary(np.array([[1.0, -1.0], [1.0, 3.0]]))
    {'l1': 2.0, 'alpha': 0.0, 'error': 3.0}
    """
    mean = errors.mean(axis=0)
    return {
        "l1": float(np.abs(mean).sum()),
        "alpha": float(np.ptp(mean)),
        "error": float(np.abs(errors).sum(axis=1).mean()),
    }


# --- noise ----------------------------------------------------------------------------------------


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


# --- tables ---------------------------------------------------------------------------------------


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
