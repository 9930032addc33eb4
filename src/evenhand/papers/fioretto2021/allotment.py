"""The allotment of fioretto2021 without any draws: its bias, what it moves in dollars, and the remedies."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.decide.allotment.allotment import Allotment
from evenhand.decide.allotment.moments import allotment_bias, total_not_positive
from evenhand.decide.bounds_curvature import allotment_trace, second_order_bias
from evenhand.papers.fioretto2021 import moments
from evenhand.papers.fioretto2021.data import TABLES, districts
from evenhand.papers.fioretto2021.draws import CLAMP, PLAIN, PROXY
from evenhand.papers.fioretto2021.printed import BUDGET, EPSILONS, LEAST
from evenhand.privacy.laws import Laplace
from evenhand.release.postprocess import optimal_temperature

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evenhand.papers.fioretto2021.data import Districts

    Values = NDArray[np.float64]

__all__ = [
    "AS_PRINTED",
    "BEST",
    "EVENEST",
    "OUTPUT",
    "SECOND",
    "SHOWN",
    "STRENGTHS",
    "allotment_record",
    "exact_bias",
    "significant",
    "temperatures",
]

SECOND, AS_PRINTED, OUTPUT = "second order", "as printed", "output"
"""Half the variance times the trace, the same with the factor n of (4g), and noise on the shares."""

BEST, EVENEST = "T*", "T even"
"""Temperatures that depend on the noise alone: smallest worst bias, and smallest alpha, of counts."""

STRENGTHS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
"""Further temperatures, as parts of the squared scale of the noise; the text does not give its own."""

SHOWN = (PLAIN, CLAMP, EVENEST, BEST, PROXY)
"""Whose biases are kept for every district of New York."""


def significant(values: Any, digits: int = 7) -> Any:
    """Return numbers with so many significant digits.

    >>> significant([0.123456789, 12345678.9])
    [0.1234568, 12345680.0]
    """
    return [float(f"{each:.{digits}g}") for each in np.asarray(values, dtype=float).tolist()]


@lru_cache(maxsize=16)
def temperatures(epsilon: str) -> dict[str, float]:
    """Return the temperatures of an epsilon, by name."""
    law = Laplace(1 / Fraction(epsilon))
    found = {
        EVENEST: optimal_temperature(law, minimize="alpha"),
        BEST: optimal_temperature(law),
    }
    return found | {f"T = {each:g} b^2": each / float(Fraction(epsilon)) ** 2 for each in STRENGTHS}


def exact_bias(table: Districts, epsilon: Fraction) -> tuple[Values, float]:
    """Return the bias of shares of noisy counts that are left as they are, and what it is off by at most."""
    found = allotment_bias(Allotment(table.weights), table.counts, Laplace(1 / epsilon))
    return np.asarray(found[0]), float(np.max(found[1]))


def _chance(table: Districts, epsilon: Fraction) -> float:
    """Return the probability that the noisy sum is 0 or less, or a bound of it."""
    return float(total_not_positive(Allotment(table.weights), table.counts, Laplace(1 / epsilon))[0])


def allotment_record(number: int) -> dict[str, Any]:
    """Return everything about one of the tables."""
    name = list(TABLES)[number]
    table = districts(name)
    chosen = table.chosen
    found: dict[str, Any] = {}
    for text in EPSILONS:
        biases, error = _biases(table, text)
        found[text] = {
            "summary": {way: _summary(bias, chosen) for way, bias in biases.items()},
            "bias": {way: significant(biases[way][chosen]) for way in SHOWN},
            "error": _errors(table, Fraction(text)),
            "bound": error,
            "not positive": _chance(table, Fraction(text)),
            "temperatures": {BEST: temperatures(text)[BEST], EVENEST: temperatures(text)[EVENEST]},
        }
    return {
        "name": name,
        "districts": len(table.counts),
        "left out": table.left_out,
        "chosen": int(chosen.sum()),
        "people": int(table.counts.sum()),
        "total": table.total,
        "largest share": float(table.shares.max()),
        "chosen share": float(table.shares[chosen].sum()),
        "sizes": table.counts[chosen].tolist(),
        "sensitivity": {
            "theorem 11": moments.output_sensitivity(table, LEAST),
            "exact": moments.sensitivity_as_it_is(table),
        },
        "epsilons": found,
    }


def _biases(table: Districts, text: str) -> tuple[dict[str, Values], float]:
    """Return the bias of every way to allot, and what that of plain counts is off by at most."""
    epsilon = Fraction(text)
    law = Laplace(1 / epsilon)
    trace = allotment_trace(table.weights, table.counts)
    plain, error = exact_bias(table, epsilon)
    found = {
        PLAIN: plain,
        SECOND: second_order_bias(trace, law),
        AS_PRINTED: second_order_bias(trace, law, as_printed=True),
        CLAMP: moments.released_bias(table, 1 / epsilon),
        PROXY: moments.proxy_bias(table, epsilon),
        OUTPUT: np.zeros(len(plain)),
    }
    for name, value in temperatures(text).items():
        found[name] = moments.released_bias(table, 1 / epsilon, value)
    return found, error


def _summary(bias: Values, chosen: Any) -> dict[str, float]:
    """Return alpha and dollars: of all districts, and of those of New York."""
    inside = bias[chosen]
    return {
        "alpha": float(np.ptp(bias)),
        "alpha, New York": float(np.ptp(inside)),
        "most lost": max(0.0, float(-BUDGET * inside.min())),
        "most gained": max(0.0, float(BUDGET * inside.max())),
        "average": float(BUDGET * np.abs(bias).mean()),
        "average, New York": float(BUDGET * np.abs(inside).mean()),
        "moved": float(BUDGET * np.abs(bias).sum() / 2),
        "cost": float(BUDGET * np.abs(bias[bias < 0]).sum()),
        "cost, New York": float(BUDGET * np.abs(inside[inside < 0]).sum()),
        "below, New York": float((inside < 0).mean()),
    }


def _errors(table: Districts, epsilon: Fraction) -> dict[str, dict[str, float]]:
    """Return mean absolute errors that have a formula: with a public sum, and of noise on the shares."""
    public = 2 * table.weights / (float(epsilon) * table.total)
    output = moments.output_sensitivity(table, LEAST) / float(epsilon)
    one = table.weights / (float(epsilon) * table.total)
    return {
        "one count": {"all": float(one.mean()), "New York": float(one[table.chosen].mean())},
        "public sum": {"all": float(public.mean()), "New York": float(public[table.chosen].mean())},
        OUTPUT: {"all": output, "New York": output},
    }
