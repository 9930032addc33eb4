"""Statistical tests that do not cry wolf: exact binomial tests on events fixed in advance.

One constant for the whole project: a test may fail a right program with probability ALPHA at most.
Chi-square p-values are asymptotic and mean nothing at 1e-9 where a bin expects few draws, and a
Kolmogorov test assumes a continuous law. A count of an event of known probability has an exact law.

Usage::

    from statistical._exact import ALPHA, exact_events_pvalue

    draws = discrete_laplace(10, size=200_000, source=source)

    assert exact_events_pvalue(draws, DiscreteLaplace(10)) > ALPHA
    assert exact_events_pvalue(draws, DiscreteLaplace("10.3")) < ALPHA  # the twin: 3 % off is seen

`law` is one of

* an integer-valued law with ``cdf`` and ``sf`` (such as those of `evenhand.privacy.laws`);
* a list of probabilities: the draws are codes 0, 1, ..., as many as the list is long;
* nothing, if `events` are given: pairs or `Event`s of a function and the probability it claims.

The events are read from the law alone, never from the draws; there are at most 64, and the smallest
p-value is multiplied by their number (Bonferroni).
"""

import itertools
import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.stats import binom

ALPHA = 1e-9
"""Probability that a test fails although the program is right. No retries, no voting."""

MOST_EVENTS = 64
CORRELATION = 6.5
"""A correlation of n independent pairs stays below CORRELATION / sqrt(n)."""

_TAILS = [0.5, 0.4, 0.3, 0.25, 0.2, 0.15, 0.1, 0.07, 0.05, 0.03, 0.02, 0.01, 5e-3, 2e-3, 1e-3, 1e-4, 1e-5]
_FAR = 1 << 62


class Event(NamedTuple):
    """Something that happens to a draw with a known probability."""

    holds: Callable
    """From an array of draws to an array of booleans."""
    probability: float


def exact_events_pvalue(draws, law=None, *, events=None):
    """Return an upper bound of the probability that draws of `law` look as unlikely as these.

    Parameters
    ----------
    draws : array of int
        One-dimensional. With `events`, anything that the events understand (one row per draw).
    law : law, callable or sequence of float, optional
        See the module.
    events : list of Event, optional
        Use these events; they must be fixed before the draws are seen.
    """
    draws = np.asarray(draws)
    if draws.shape[0] == 0:
        raise ValueError("no draws, no test")
    chosen = list(events) if events is not None else events_of(law)
    if not 1 <= len(chosen) <= MOST_EVENTS:
        raise ValueError(f"{len(chosen)} events: from 1 to {MOST_EVENTS} are allowed")
    if events is None and not hasattr(law, "cdf") and (draws.min() < 0 or draws.max() >= len(law)):
        return 0.0
    counts = [np.count_nonzero(holds(draws)) for holds, _ in chosen]
    pvalues = binomial_pvalue(counts, draws.shape[0], [probability for _, probability in chosen])
    return float(min(1, len(chosen) * pvalues.min()))


def binomial_pvalue(count, n, probability):
    """Return the two-sided exact p-value: twice the smaller tail, at most 1. Arrays are welcome."""
    count, probability = np.asarray(count), np.asarray(probability)
    if not ((probability >= 0) & (probability <= 1)).all():
        raise ValueError(f"{probability} is not a probability")
    smaller = np.minimum(binom.cdf(count, n, probability), binom.sf(count - 1, n, probability))
    return np.minimum(1, 2 * smaller)


def events_of(law):
    """Return at most 64 events, chosen from the law alone."""
    return _integer_events(law) if hasattr(law, "cdf") else _categorical_events(law)


def worst_correlation(columns):
    """Return the largest absolute correlation between two columns, times the root of their length.

    Independent columns stay below CORRELATION; equal ones give the root of the length.
    """
    table = np.asarray(columns, dtype=np.float64)
    matrix = np.corrcoef(table, rowvar=False)
    return float(np.abs(matrix[np.triu_indices_from(matrix, k=1)]).max() * math.sqrt(table.shape[0]))


def _integer_events(law):
    """Tails on both sides, and sizes, at places where the law has certain tail probabilities."""

    def outside(t):
        return np.minimum(1, law.sf(t) + law.cdf(-t - 1))

    events = [Event(lambda x, t=t: x > t, float(law.sf(t))) for t in _places(law.sf)]
    events += [Event(lambda x, t=t: x <= t, float(law.cdf(t))) for t in -_places(lambda x: law.cdf(-x))]
    events += [Event(lambda x, t=t: (x > t) | (x < -t), float(outside(t))) for t in _places(outside)]
    return [each for each in events if 0 < each.probability < 1]


def _categorical_events(probabilities):
    """Every code or, for many, blocks of neighbouring codes; and the first quarters of all codes."""
    weights = np.asarray(probabilities, dtype=np.float64)
    if not math.isclose(weights.sum(), 1, abs_tol=1e-12):
        raise ValueError("the probabilities do not add up to 1")
    edges = np.unique(np.linspace(0, weights.size, min(weights.size, MOST_EVENTS - 4) + 1).astype(int))
    ranges = [*itertools.pairwise(edges), *((0, weights.size * j // 4) for j in (1, 2, 3))]
    return [
        Event(lambda x, low=low, high=high: (x >= low) & (x < high), min(1.0, math.fsum(weights[low:high])))
        for low, high in ranges
    ]


def _places(probability):
    """Return the integers at which a falling probability first is at most each tail, by bisection."""
    low, high = np.full(len(_TAILS), -_FAR), np.full(len(_TAILS), _FAR)
    while (low < high).any():
        middle = (low + high) // 2
        reached = probability(middle) <= np.array(_TAILS)
        low, high = np.where(reached, low, middle + 1), np.where(reached, middle, high)
    return np.unique(low)
