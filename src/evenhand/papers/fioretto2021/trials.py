"""The experiments of fioretto2021 as trials: what is exact, once, and what is drawn, part by part.

Continuous noise is drawn here as the paper does it, for a simulation; nothing of this is fit for release.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.papers.fioretto2021 import allotment, data
from evenhand.papers.fioretto2021.data import COUNTIES, EPSILONS, LANGUAGE_EPSILONS
from evenhand.papers.fioretto2021.language import language_record, proxies_record
from evenhand.papers.trials import Trials
from evenhand.privacy.laws import Laplace
from evenhand.privacy.randomness import SeededSource
from evenhand.release.postprocess.steps import Shrink

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from evenhand.papers.fioretto2021.data import Areas, Districts

    Values = NDArray[np.float64]

ALLOTMENT, LANGUAGE = "allotment", "language"
DRAWS, LANGUAGE_DRAWS, COUNTY_DRAWS, PROXIES = "draws", "language-draws", "counties", "proxies"

PART, REPETITIONS = 1_000, 10_000
"""Repetitions of a trial of the two simulations, of which ten are the paper's, and of figure 4."""

_SEED = 2021
_CHUNK = 100


def paper_trials(sizes: Mapping[str, int]) -> tuple[Trials, ...]:
    """Return the trials of a design, by how many there are of each."""
    kinds: dict[str, tuple[Any, str]] = {
        ALLOTMENT: (allotment.allotment_record, "table"),
        LANGUAGE: (language_record, "table"),
        DRAWS: (_draws, "part"),
        LANGUAGE_DRAWS: (_language_draws, "part"),
        COUNTY_DRAWS: (_counties, "experiment"),
        PROXIES: (proxies_record, "grouping"),
    }
    return tuple(Trials(name, sizes[name], *kinds[name]) for name in kinds if sizes.get(name))


def _source(*words: object) -> SeededSource:
    return SeededSource(_SEED, cell="/".join(str(each) for each in words))


def _draws(number: int) -> dict[str, Any]:
    """Return mean errors of shares over some repetitions: those of New York, and alphas of all."""
    table = data.load_districts("students")
    found: dict[str, Any] = {}
    for text in EPSILONS:
        known = allotment.temperatures(text)
        chosen = {each: known[each] for each in (allotment.EVENEST, allotment.BEST)}
        source = _source("draws", "students", number, text)
        drawn = draw_allotments(table, Fraction(text), chosen, PART, source)
        found[text] = {
            way: {
                "bias": allotment.round_significant(off[table.chosen]),
                "alpha": float(np.ptp(off)),
                "error": float(size.mean()),
                "error, New York": float(size[table.chosen].mean()),
            }
            for way, (off, size) in drawn.items()
        }
    return {"repetitions": PART, "epsilons": found}


def _language_draws(number: int) -> dict[str, Any]:
    """Return how often the rule was wrong over some repetitions, for each area."""
    table, found = data.load_areas("simulated"), {}
    for text in LANGUAGE_EPSILONS:
        source = _source("rule", "simulated", number, text)
        found[text] = draw_rule_errors(table, Fraction(text), PART, source).tolist()
    return {"repetitions": PART, "wrong": found}


def _counties(number: int) -> dict[str, Any]:
    """Return mean and variance of the noisy ratios of the three counties, over the paper's repetitions."""
    pairs, found = [(each.sp, each.s) for each in COUNTIES], {}
    for text in LANGUAGE_EPSILONS:
        drawn = draw_counties(pairs, Fraction(text), REPETITIONS, _source("counties", number, text))
        found[text] = dict(zip(("mean", "variance"), (each.tolist() for each in drawn), strict=True))
    return {"epsilons": found}


def _chunks(repetitions: int) -> Iterator[int]:
    """Yield how many repetitions are drawn at once."""
    for start in range(0, repetitions, _CHUNK):
        yield min(_CHUNK, repetitions - start)


def draw_allotments(
    table: Districts,
    epsilon: Fraction,
    temperatures: Mapping[str, float],
    repetitions: int,
    source: SeededSource,
) -> dict[str, tuple[Values, Values]]:
    """Return, for each way to allot, the mean error of each share and its mean absolute error.

    Counts have Laplace noise of scale 1 / epsilon; for the proxy of 2 / epsilon, its sum has the rest.
    Further ways are to shrink counts at these temperatures.
    """
    weights, true = table.weights.astype(float), table.shares
    shrunk = {name: Shrink(value) for name, value in ({data.CLAMP: 0.0} | dict(temperatures)).items()}
    sums: dict[str, Any] = {}
    for size in _chunks(repetitions):
        noise = Laplace(1 / epsilon).draw(size=(size, len(true)), source=source)
        about = Laplace(2 * int(weights.max()) / epsilon).draw(size=(size, 1), source=source)
        noisy = table.counts + noise
        counts = {data.PLAIN: noisy} | {name: step.apply(noisy) for name, step in shrunk.items()}
        shares = {
            name: each * weights / (each * weights).sum(axis=1, keepdims=True)
            for name, each in counts.items()
        }
        shares[data.PROXY] = (table.counts + 2 * noise) * weights / (table.total + about)
        for name, each in shares.items():
            off, total = sums.get(name, (0.0, 0.0))
            sums[name] = off + (each - true).sum(axis=0), total + np.abs(each - true).sum(axis=0)
    return {name: (off / repetitions, size / repetitions) for name, (off, size) in sums.items()}


def draw_rule_errors(table: Areas, epsilon: Fraction, repetitions: int, source: SeededSource) -> Any:
    """Return how often noise turned the language rule's answer round, for each area.

    Ratios are computed as they stand, so that two negative counts have a positive ratio.
    """
    wrong = np.zeros(len(table.covered), dtype=np.int64)
    for size in _chunks(repetitions):
        s, sp, spe = (
            each + Laplace(1 / epsilon).draw(size=(size, len(each)), source=source)
            for each in table.columns.values()
        )
        holds = ((sp / s > 0.05) | (sp > 10_000)) & (spe / sp > 0.0131)
        wrong += (holds != table.covered).sum(axis=0)
    return wrong


def draw_counties(
    counts: Any, epsilon: Fraction, repetitions: int, source: SeededSource
) -> tuple[Values, Values]:
    """Return mean and variance of noisy ratios x / y, for rows of x and y."""
    pairs = np.asarray(counts, dtype=float)
    noisy = pairs + Laplace(1 / epsilon).draw(size=(repetitions, *pairs.shape), source=source)
    ratios = noisy[:, :, 0] / noisy[:, :, 1]
    return ratios.mean(axis=0), ratios.var(axis=0, ddof=1)
