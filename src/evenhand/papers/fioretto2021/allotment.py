r"""The allotment of fioretto2021 without any draws: its bias, what it moves in dollars, and the remedies.

A share is :math:`N_i / D` with :math:`N_i = a_i \hat x_i` and :math:`D = \sum_j N_j`. Counts are independent,
so that to second order

.. math:: E[N_i / D] = \frac{\mu_i}{\mu} - \frac{a_i^2 v_i}{\mu^2} + \frac{\mu_i V}{\mu^3},

where :math:`\mu_i` and :math:`a_i^2 v_i` are mean and variance of :math:`N_i`, and :math:`\mu`, :math:`V`
those of :math:`D`. For 16,641 districts what is left out is below 1e-8 of alpha at every epsilon of the
paper, and below 1e-5 for the 972 of New York alone, by comparison with :func:`evenhand.decide.bias`. It is
quick enough for many temperatures.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.decide.allotment.allotment import Allotment
from evenhand.decide.allotment.moments import allotment_bias, total_not_positive
from evenhand.decide.allotment.principal_values import reciprocal_mean
from evenhand.decide.bounds_curvature import allotment_trace, second_order_bias
from evenhand.decide.mitigate.output import share_sensitivity
from evenhand.papers.fioretto2021 import data
from evenhand.papers.fioretto2021.data import BUDGET, CLAMP, EPSILONS, PLAIN, PROXY, STRENGTHS
from evenhand.privacy.laws import Laplace
from evenhand.release import postprocess
from evenhand.release.postprocess import optimal_temperature

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evenhand.papers.fioretto2021.data import Districts

    Values = NDArray[np.float64]

_PIECES = (0.0, 3.0, 12.0, 45.0)
_NODES = 32


def mean_and_variance(counts: Any, scale: Fraction, temperature: float = 0.0) -> tuple[Values, Values]:
    """Return mean and variance of counts with Laplace noise that are clamped at 0, or shrunken.

    The temperature is T of the modified post-processing; 0 only clamps.

    >>> mean, variance = mean_and_variance(np.array([3]), Fraction(2), 1.0)
    >>> round(float(mean[0]) - 3, 12)
    -0.001512302411
    """
    each, back = np.unique(np.asarray(counts), return_inverse=True)
    law, b = Laplace(scale), float(scale)
    values = each.astype(float)
    if temperature:
        mean = values + postprocess.shrink_bias(each, law, T=temperature)
        second = _second_moment(values, b, temperature)
    else:
        mean = values + postprocess.clamp_bias(each, law)
        second = values**2 + 2 * b**2 - b**2 * np.exp(-values / b)
    return mean[back], np.maximum(second - mean**2, 0.0)[back]


def _second_moment(values: Values, b: float, temperature: float) -> Values:
    """Return the mean square of a shrunken count, by Gauss and Legendre's rule on either side of it."""
    start = (-1 + math.sqrt(1 + 4 * temperature)) / 2
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    total = np.zeros(len(values))
    for near, far in pairwise(_PIECES):
        for low, high in (
            (values - far * b, values - near * b),
            (np.maximum(values, start) + near * b, np.maximum(values, start) + far * b),
        ):
            left, right = np.maximum(low, start), np.maximum(high, start)
            half = (right - left)[:, None] / 2
            z = left[:, None] + half * (nodes + 1)
            density = np.exp(-np.abs(z - values[:, None]) / b) / (2 * b)
            total += ((z - temperature / (z + 1)) ** 2 * density * weights * half).sum(axis=1)
    return total


def released_bias(table: Districts, scale: Fraction, temperature: float = 0.0) -> Values:
    """Return the bias of shares of clamped or shrunken counts, to second order."""
    mean, variance = mean_and_variance(table.counts, scale, temperature)
    weights = table.weights.astype(float)
    expected = weights * mean
    total, spread = float(expected.sum()), float((weights**2 * variance).sum())
    shares = expected / total - weights**2 * variance / total**2 + expected * spread / total**3
    return np.asarray(shares - table.shares)


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


def exact_bias(table: Districts, epsilon: Fraction) -> tuple[Values, float]:
    """Return the bias of shares of noisy counts that are left as they are, and what it is off by at most."""
    found = allotment_bias(Allotment(table.weights), table.counts, Laplace(1 / epsilon))
    return np.asarray(found[0]), float(np.max(found[1]))


def allotment_record(number: int) -> dict[str, Any]:
    """Return everything about one of the tables."""
    name = data.TABLES[number]
    table = data.load_districts(name)
    weights, counts, chosen, shares = table.weights, table.counts, table.chosen, table.shares
    found: dict[str, Any] = {}
    for text in EPSILONS:
        biases, error = _biases(table, text)
        chance = total_not_positive(Allotment(weights), counts, Laplace(1 / Fraction(text)))[0]
        found[text] = {
            "summary": {way: _summary(bias, chosen) for way, bias in biases.items()},
            "bias": {way: round_significant(biases[way][chosen]) for way in SHOWN},
            "error": _errors(table, Fraction(text)),
            "bound": error,
            "not positive": float(chance),
            "temperatures": {way: temperatures(text)[way] for way in (BEST, EVENEST)},
        }
    return {
        "name": name,
        "districts": len(counts),
        "left out": table.left_out,
        "chosen": int(chosen.sum()),
        "people": int(counts.sum()),
        "total": table.total,
        "largest share": float(shares.max()),
        "chosen share": float(shares[chosen].sum()),
        "sizes": counts[chosen].tolist(),
        "sensitivity": {"theorem 11": output_sensitivity(table), "exact": sensitivity_as_it_is(table)},
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
        CLAMP: released_bias(table, 1 / epsilon),
        PROXY: proxy_bias(table, epsilon),
        OUTPUT: np.zeros(len(plain)),
    }
    shrunk = {way: released_bias(table, 1 / epsilon, value) for way, value in temperatures(text).items()}
    return found | shrunk, error


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
