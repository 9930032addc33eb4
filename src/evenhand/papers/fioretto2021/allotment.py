"""The allotment of fioretto2021 without any draws: its bias, what it moves in dollars, and the remedies."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.decide.allotment.allotment import Allotment
from evenhand.decide.allotment.moments import allotment_bias
from evenhand.decide.allotment.principal_values import reciprocal_mean
from evenhand.decide.bounds_curvature import allotment_trace, second_order_bias
from evenhand.decide.mitigate.output import share_sensitivity
from evenhand.papers.fioretto2021 import data
from evenhand.papers.fioretto2021.data import BUDGET, CLAMP, EPSILONS, PLAIN, PROXY, STRENGTHS
from evenhand.privacy.laws import Laplace
from evenhand.release.postprocess import optimal_temperature
from evenhand.release.postprocess.steps import Nonnegative, Shrink

if TYPE_CHECKING:
    from evenhand.papers.fioretto2021.data import Districts
    from evenhand.papers.trials import Values
    from evenhand.release.postprocess.steps import Step


def inverse_excess(ratio: float) -> float:
    r"""Return :math:`Z\, E[1/\tilde Z] - 1` of Laplace noise whose scale is so small a part of Z.

    It is the principal value; the mean itself does not exist.

    >>> round(inverse_excess(0.1), 9)
    0.023551772
    """
    return reciprocal_mean(1.0, Laplace(ratio)).excess


def proxy_bias(table: Districts, epsilon: Fraction) -> Values:
    """Return the bias of the linear proxy: half of epsilon for the sum, which moves by the largest weight."""
    ratio = 2 * int(table.weights.max()) / (float(epsilon) * table.total)
    return table.shares * inverse_excess(ratio)


def output_sensitivity(table: Districts, least: float = data.LEAST) -> float:
    """Return the sensitivity of Theorem 11 with a lower bound on the sum, as a share of the sum."""
    return share_sensitivity(int(table.weights.max()), least * table.total, "replace one")


def sensitivity_as_it_is(table: Districts) -> float:
    """Return how far all shares together move at most if one person leaves this very table."""
    weights, total = table.weights.astype(float), table.total
    return float((2 * weights * (total - table.counts * weights) / (total * (total - weights))).max())


SECOND, AS_PRINTED, OUTPUT = "second order", "as printed", "output"
"""Half the variance times the trace, the same with the factor n of (4g), and noise on the shares."""

BEST, EVENEST = "T*", "T even"
"""Temperatures that depend on the noise alone: smallest worst bias, and smallest alpha, of counts."""

SHRUNK = {f"T = {part:g} b^2": part for part in STRENGTHS}
"""Further temperatures by name, as parts of the squared scale of the noise."""

SHOWN = (PLAIN, CLAMP, EVENEST, BEST, PROXY)
"""Whose biases are kept for every district of New York."""


def round_significant(values: Any, digits: int = 7) -> Any:
    """Return numbers with so many significant digits.

    >>> round_significant([0.123456789, 12345678.9])
    [0.1234568, 12345680.0]
    """
    return [float(f"{each:.{digits}g}") for each in np.asarray(values, dtype=float).tolist()]


@lru_cache(maxsize=16)
def temperatures(epsilon: str) -> dict[str, float]:
    """Return the temperatures of an epsilon, by name."""
    law = Laplace(1 / Fraction(epsilon))
    found = {EVENEST: optimal_temperature(law, minimize="alpha"), BEST: optimal_temperature(law)}
    return found | {way: part / float(Fraction(epsilon)) ** 2 for way, part in SHRUNK.items()}


def exact_bias(table: Districts, epsilon: Fraction, *post: Step) -> Values:
    """Return the bias of shares of noisy counts, as they are or after some steps."""
    return allotment_bias(Allotment(table.weights), table.counts, Laplace(1 / epsilon), post=post).values


def allotment_record(number: int) -> dict[str, Any]:
    """Return everything about one of the tables."""
    name = data.TABLES[number]
    table = data.load_districts(name)
    counts, chosen = table.counts, table.chosen
    found: dict[str, Any] = {}
    for text in EPSILONS:
        biases = _biases(table, text)
        found[text] = {
            "summary": {way: _summary(bias, chosen) for way, bias in biases.items()},
            "bias": {way: round_significant(biases[way][chosen]) for way in SHOWN},
            "error": _errors(table, Fraction(text)),
            "temperatures": {way: temperatures(text)[way] for way in (BEST, EVENEST)},
        }
    return {
        "name": name,
        "districts": len(counts),
        "people": int(counts.sum()),
        "sizes": counts[chosen].tolist(),
        "sensitivity": {"theorem 11": output_sensitivity(table), "exact": sensitivity_as_it_is(table)},
        "epsilons": found,
    }


def _biases(table: Districts, text: str) -> dict[str, Values]:
    """Return the bias of every way to allot."""
    epsilon = Fraction(text)
    law = Laplace(1 / epsilon)
    trace = allotment_trace(table.weights, table.counts)
    found = {
        PLAIN: exact_bias(table, epsilon),
        SECOND: second_order_bias(trace, law),
        AS_PRINTED: second_order_bias(trace, law, as_printed=True),
        CLAMP: exact_bias(table, epsilon, Nonnegative()),
        PROXY: proxy_bias(table, epsilon),
        OUTPUT: np.zeros(len(table.counts)),
    }
    return found | {way: exact_bias(table, epsilon, Shrink(T)) for way, T in temperatures(text).items()}


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
    one = table.weights / (float(epsilon) * table.total)
    output = np.full(len(one), output_sensitivity(table) / float(epsilon))
    errors = {"one count": one, "public sum": 2 * one, OUTPUT: output}
    return {
        way: {"all": float(each.mean()), "New York": float(each[table.chosen].mean())}
        for way, each in errors.items()
    }
