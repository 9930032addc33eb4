r"""Biases of the allotment of fioretto2021 that need no draws: clamped and shrunken counts, and the remedies.

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
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import expi

from evenhand.privacy.laws import Laplace
from evenhand.release import postprocess

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

    from evenhand.papers.fioretto2021.data import Districts

    Values = NDArray[np.float64]

__all__ = [
    "inverse_excess",
    "mean_and_variance",
    "output_sensitivity",
    "proxy_bias",
    "released_bias",
    "sensitivity_as_it_is",
]

_PIECES = (0.0, 3.0, 12.0, 45.0)
_NODES = 32


def mean_and_variance(counts: Any, scale: Fraction, temperature: float = 0.0) -> tuple[Values, Values]:
    """Return mean and variance of counts with Laplace noise that are clamped at 0, or shrunken.

    Parameters
    ----------
    counts : array of int
    scale : Fraction
        Of the noise.
    temperature : float
        T of the modified post-processing; 0 only clamps.

    Examples
    --------
    >>> from fractions import Fraction
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


# --- remedies -------------------------------------------------------------------------------------


def inverse_excess(ratio: float) -> float:
    r"""Return :math:`Z\, E[1/\tilde Z] - 1` of Laplace noise whose scale is so small a part of Z.

    It is the principal value; the mean itself does not exist.

    >>> round(inverse_excess(0.1), 9)
    0.023551772
    """
    if ratio > 1 / 40:
        inverse = 1 / ratio
        return float(
            (-math.exp(inverse) * expi(-inverse) + math.exp(-inverse) * expi(inverse)) * inverse / 2 - 1
        )
    terms = [math.factorial(2 * k) * ratio ** (2 * k) for k in range(1, 12)]
    return math.fsum(terms)


def proxy_bias(table: Districts, epsilon: Fraction) -> Values:
    """Return the bias of the linear proxy: half of epsilon for the sum, which moves by the largest weight."""
    ratio = 2 * int(table.weights.max()) / (float(epsilon) * table.total)
    return table.shares * inverse_excess(ratio)


def output_sensitivity(table: Districts, least: float) -> float:
    """Return the sensitivity of Theorem 11 with a lower bound on the sum, as a share of the sum."""
    return 2 * int(table.weights.max()) / (least * table.total)


def sensitivity_as_it_is(table: Districts) -> float:
    """Return how far all shares together move at most if one person leaves this very table."""
    weights, counts = table.weights.astype(float), table.counts.astype(float)
    total = table.total
    return float((2 * weights * (total - counts * weights) / (total * (total - weights))).max())
