"""The experiments of fioretto2021 as trials: what is exact, once, and what is drawn, part by part."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.papers.fioretto2021 import draws
from evenhand.papers.fioretto2021.allotment import (
    BEST,
    EVENEST,
    allotment_record,
    round_significant,
    temperatures,
)
from evenhand.papers.fioretto2021.data import load_areas, load_districts
from evenhand.papers.fioretto2021.language import language_record, proxies_record
from evenhand.papers.fioretto2021.printed import (
    COUNTIES,
    EPSILONS,
    LANGUAGE_EPSILONS,
    REPETITIONS,
)
from evenhand.papers.trials import Trials
from evenhand.privacy.randomness import SeededSource

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "ALLOTMENT",
    "COUNTY_DRAWS",
    "DRAWS",
    "LANGUAGE",
    "LANGUAGE_DRAWS",
    "PART",
    "PROXIES",
    "paper_trials",
]

ALLOTMENT, LANGUAGE = "allotment", "language"
DRAWS, LANGUAGE_DRAWS, COUNTY_DRAWS, PROXIES = "draws", "language-draws", "counties", "proxies"

PART = 1_000
"""Repetitions of a trial of the two simulations; ten trials are the paper's 10,000."""

_SEED = 2021


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
        drawn = draws.draw_allotments(
            table, Fraction(text), chosen, PART, _source("draws", name, number, text)
        )
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
        text: draws.draw_rule_errors(
            table, Fraction(text), PART, _source("rule", name, number, text)
        ).tolist()
        for text in LANGUAGE_EPSILONS
    }
    return {"repetitions": PART, "wrong": found}


def _counties(number: int) -> dict[str, Any]:
    """Return mean and variance of the noisy ratios of the three counties, over the paper's repetitions."""
    pairs = [(each.sp, each.s) for each in COUNTIES]
    found: dict[str, Any] = {}
    for text in LANGUAGE_EPSILONS:
        source = _source("counties", number, text)
        mean, variance = draws.draw_counties(pairs, Fraction(text), REPETITIONS, source)
        found[text] = {"mean": mean.tolist(), "variance": variance.tolist()}
    return {"epsilons": found}
