"""The experiments of fioretto2021 as trials: what is exact, once, and what is drawn, part by part.

Continuous noise is drawn here as the paper does it, for a simulation; nothing of this is fit for release.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.papers.fioretto2021.allotment import (
    BEST,
    EVENEST,
    allotment_record,
    round_significant,
    temperatures,
)
from evenhand.papers.fioretto2021.data import (
    CLAMP,
    COUNTIES,
    EPSILONS,
    LANGUAGE_EPSILONS,
    PLAIN,
    PROXY,
    load_areas,
    load_districts,
)
from evenhand.papers.fioretto2021.language import language_record, proxies_record
from evenhand.papers.trials import Trials
from evenhand.privacy.laws import Laplace
from evenhand.privacy.randomness import SeededSource

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from evenhand.papers.fioretto2021.data import Areas, Districts

    Values = NDArray[np.float64]

ALLOTMENT, LANGUAGE = "allotment", "language"
DRAWS, LANGUAGE_DRAWS, COUNTY_DRAWS, PROXIES = "draws", "language-draws", "counties", "proxies"

PART = 1_000
"""Repetitions of a trial of the two simulations; ten trials are the paper's 10,000."""

REPETITIONS = 10_000
"""Draws behind the empirical errors of figures 6 and 9."""

_SEED = 2021
_CHUNK = 100


def paper_trials(sizes: Mapping[str, int]) -> tuple[Trials, ...]:
    """Return the trials of a design, by how many there are of each."""
    kinds: dict[str, tuple[Any, str]] = {
        ALLOTMENT: (allotment_record, "table"),
        LANGUAGE: (language_record, "table"),
        DRAWS: (partial(_draws, "students"), "part"),
        LANGUAGE_DRAWS: (partial(_language_draws, "simulated"), "part"),
        COUNTY_DRAWS: (_counties, "experiment"),
        PROXIES: (proxies_record, "grouping"),
    }
    return tuple(Trials(name, sizes[name], *kinds[name]) for name in kinds if sizes.get(name))


def _source(*words: object) -> SeededSource:
    return SeededSource(_SEED, cell="/".join(str(each) for each in words))


def _draws(name: str, number: int) -> dict[str, Any]:
    """Return mean errors of shares over some repetitions: those of New York, and alphas of all."""
    table = load_districts(name)
    found: dict[str, Any] = {}
    for text in EPSILONS:
        chosen = {each: temperatures(text)[each] for each in (EVENEST, BEST)}
        drawn = draw_allotments(table, Fraction(text), chosen, PART, _source("draws", name, number, text))
        found[text] = {
            way: {
                "bias": round_significant(off[table.chosen]),
                "alpha": float(np.ptp(off)),
                "error": float(size.mean()),
                "error, New York": float(size[table.chosen].mean()),
            }
            for way, (off, size) in drawn.items()
        }
    return {"repetitions": PART, "epsilons": found}


def _language_draws(name: str, number: int) -> dict[str, Any]:
    """Return how often the rule was wrong over some repetitions, for each area."""
    table = load_areas(name)
    found = {
        text: draw_rule_errors(table, Fraction(text), PART, _source("rule", name, number, text)).tolist()
        for text in LANGUAGE_EPSILONS
    }
    return {"repetitions": PART, "wrong": found}


def _counties(number: int) -> dict[str, Any]:
    """Return mean and variance of the noisy ratios of the three counties, over the paper's repetitions."""
    pairs = [(each.sp, each.s) for each in COUNTIES]
    found: dict[str, Any] = {}
    for text in LANGUAGE_EPSILONS:
        source = _source("counties", number, text)
        mean, variance = draw_counties(pairs, Fraction(text), REPETITIONS, source)
        found[text] = {"mean": mean.tolist(), "variance": variance.tolist()}
    return {"epsilons": found}


# --- draws, many repetitions at once --------------------------------------------------------------


def shrink_counts(counts: Values, temperature: float) -> Values:
    """Return counts after the three steps of section 7.3.

    >>> shrink_counts(np.array([-2.0, 0.5, 9.0]), 1.0).tolist()
    [0.0, 0.0, 8.9]
    """
    clamped = np.maximum(counts, 0.0)
    return np.maximum(clamped - temperature / (clamped + 1.0), 0.0)


def draw_allotments(
    table: Districts,
    epsilon: Fraction,
    temperatures: Mapping[str, float],
    repetitions: int,
    source: SeededSource,
) -> dict[str, tuple[Values, Values]]:
    """Return, for each way to allot, the mean error of each share and its mean absolute error.

    Parameters
    ----------
    table : Districts
    epsilon : Fraction
        Counts have Laplace noise of scale 1 / epsilon; for the proxy of 2 / epsilon, its sum has the rest.
    temperatures : mapping of str to float
        Further ways: shrinking at these temperatures.
    repetitions : int
    source : SeededSource
    """
    weights, true = table.weights.astype(float), table.shares
    sums: dict[str, Any] = {}
    scale = 1 / epsilon
    for start in range(0, repetitions, _CHUNK):
        size = min(_CHUNK, repetitions - start)
        noise = Laplace(scale).draw(size=(size, len(true)), source=source)
        about = Laplace(2 * int(weights.max()) * scale).draw(size=(size, 1), source=source)
        noisy = table.counts + noise
        clamped = np.maximum(noisy, 0.0)
        counts = {PLAIN: noisy, CLAMP: clamped}
        counts |= {name: shrink_counts(clamped, value) for name, value in temperatures.items()}
        for name, each in counts.items():
            weighed = each * weights
            _add(sums, name, weighed / weighed.sum(axis=1, keepdims=True) - true)
        _add(sums, PROXY, (table.counts + 2 * noise) * weights / (table.total + about) - true)
    return {name: (off / repetitions, size / repetitions) for name, (off, size) in sums.items()}


def _add(sums: dict[str, Any], name: str, errors: Values) -> None:
    off, size = sums.get(name, (0.0, 0.0))
    sums[name] = off + errors.sum(axis=0), size + np.abs(errors).sum(axis=0)


def draw_rule_errors(table: Areas, epsilon: Fraction, repetitions: int, source: SeededSource) -> Any:
    """Return how often noise turned the language rule's answer round, for each area.

    Ratios are computed as they stand, so that two negative counts have a positive ratio.
    """
    wrong = np.zeros(len(table.s), dtype=np.int64)
    for start in range(0, repetitions, _CHUNK):
        size = min(_CHUNK, repetitions - start)
        s, sp, spe = (
            each + Laplace(1 / epsilon).draw(size=(size, len(each)), source=source)
            for each in (table.s, table.sp, table.spe)
        )
        holds = ((sp / s > 0.05) | (sp > 10_000)) & (spe / sp > 0.0131)
        wrong += (holds != table.covered).sum(axis=0)
    return wrong


def draw_counties(
    counts: Any, epsilon: Fraction, repetitions: int, source: SeededSource
) -> tuple[Values, Values]:
    """Return mean and variance of noisy ratios x / y, for rows of x and y."""
    pairs = np.asarray(counts, dtype=float)
    noise = Laplace(1 / epsilon).draw(size=(repetitions, *pairs.shape), source=source)
    noisy = pairs + noise
    ratios = noisy[:, :, 0] / noisy[:, :, 1]
    return ratios.mean(axis=0), ratios.var(axis=0, ddof=1)
