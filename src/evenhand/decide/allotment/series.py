r"""The mean and the variance of shares of a noisy total, by a series in even orders with a proved bound.

With :math:`t = \sum_j g_j \hat\eta_j` the noise in the total over the total, :math:`P_i` the true share and
:math:`u_i = g_i \hat\eta_i - P_i t`, a noisy share is off by exactly :math:`u_i / (1 + t)`. The noise is
symmetric, so pairing :math:`t` with :math:`-t` leaves

.. math:: E\Big[\frac{u_i}{1 + t}; A\Big] = -E\Big[\frac{u_i t}{1 - t^2}; A\Big]
          = -\sum_{k < K} E[u_i t^{2k + 1}] + R, \quad A = \{|t| \le \rho\}, \ \rho = 9/10.

On :math:`A` what is left of the geometric series is at most :math:`|u_i||t|^{2K + 1} / (1 - \rho^2)`. Outside
it the :math:`K` terms, which are taken over all noise, add at most
:math:`|u_i||t|^{2K + 1} \sum_{j=1}^K \rho^{-2j}`, since :math:`|t| / \rho > 1` there. So

.. math:: |R| \le \max\Big(\frac1{1 - \rho^2}, \sum_{j = 1}^K \rho^{-2j}\Big)\,
          (g_i \|\hat\eta_i\| + P_i \|t\|)\, \|t\|^{2K + 1}

by Hölder's inequality, with norms of order :math:`2K + 2`, which are exact: moments follow from cumulants,
and those of a sum are sums. The moments are :math:`E[\hat\eta_i t^m] = \sum_{j\ odd} \binom mj
\hat\kappa_{j + 1} g_i^j E[t^{m - j}]`.

The mean over all noise does not exist where the total has a density at 0. What is certified is the mean over
:math:`A`; :mod:`~evenhand.decide.allotment.noisy_total` bounds what the rest adds to the principal value
under Laplace or Gaussian noise, and to the mean under whole-numbered noise and weights, a total of 0 counting
as no error.

For the variance, pairing :math:`t` with :math:`-t` leaves

.. math:: E\Big[\frac{u_i^2}{(1 + t)^2}; A\Big] = E\Big[u_i^2 \frac{1 + t^2}{(1 - t^2)^2}; A\Big]
          = \sum_{k < K} (2k + 1)\, E[u_i^2 t^{2k}] + R,

and what is left out, on :math:`A` and outside it, is at most a constant times :math:`E[u_i^2 t^{2K}]`, which
is exact. Less the square of the mean it is the variance. Over all noise no variance exists where the total
has a density at 0, not even as a principal value: what is certified is the variance over the releases whose
total is within nine tenths of the true one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from evenhand.decide.allotment.noisy_total import EVENT, NoisyShares, Tail, outside_event
from evenhand.decide.exact.noise_laws import even_moments, most_orders

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Values = NDArray[np.float64]

RELATIVE = 1e-9
"""The error, relative to the two effects that a bias is the difference of, up to which it is certified."""

_AIM, _VARIANCE_AIM = 1e-12, 1e-11
_MOST_ORDERS, _MOST_VARIANCE_ORDERS = 12, 8
_ROUNDING, _VARIANCE_ROUNDING = 256 * np.finfo(np.float64).eps, 1024 * np.finfo(np.float64).eps


class ShareFigures(NamedTuple):
    """A figure for each entity, how far it may be off, and how it was found."""

    values: NDArray[np.float64]
    error_bound: NDArray[np.float64]
    method: str


@dataclass(frozen=True, eq=False)
class SeriesFigures:
    """Hold what the series gives.

    Attributes
    ----------
    values : array
        One figure for each entity.
    error_bound : array
        A proved bound of the error of each: what the series leaves out, what lies outside the event, and
        rounding.
    orders : int
        How many even orders were added up.
    certified : bool
        Whether every bound is at most 1e-9 of the two effects that the figure is made of: the noise in the
        entity's own count and the noise in the total.
    covers : str
        What the bound is a bound for, in words.
    """

    values: Values
    error_bound: Values
    orders: int
    certified: bool
    covers: str

    def to_figures(self, remark: str) -> ShareFigures:
        """Return the figures, with how many orders were added up and a remark as their method."""
        words = f"series of {self.orders} even order{'s'[: self.orders != 1]}, {remark}"
        return ShareFigures(self.values, self.error_bound, words)


def bias_series(noisy: NoisyShares) -> SeriesFigures:
    """Return the bias by the series, with as many orders as it takes."""
    most = min(_MOST_ORDERS, *(most_orders(law) - 1 for law in noisy.laws))
    standard = noisy.cumulants(most + 1)
    moments = even_moments(noisy.of_total(standard))
    effects = noisy.shares * moments[1] + noisy.reach**2
    tail = outside_event(noisy)
    best, left = 1, np.full(noisy.shares.shape, math.inf)
    own_moments = even_moments(standard)
    for orders in range(1, most + 1):
        bound = _remainder(noisy, moments, own_moments, orders)
        if _largest(bound, effects) < _largest(left, effects):
            best, left = orders, bound
        if _largest(left, effects) <= _AIM:
            break
    values, sizes = _terms(noisy, standard, moments, best)
    error = left + tail.slack + _ROUNDING * sizes
    return _build_figures(values, error, effects, best, tail)


def _terms(noisy: NoisyShares, standard: Values, moments: Values, orders: int) -> tuple[Values, Values]:
    """Add up the orders, and what they amount to without their signs."""
    total = float(moments[1 : orders + 1].sum())
    inner = np.zeros((len(noisy.laws), orders))  # by law, of the power g**(2 m)
    for m in range(1, orders + 1):
        weights = [math.comb(2 * k - 1, 2 * m - 1) * moments[k - m] for k in range(m, orders + 1)]
        inner[:, m - 1] = standard[:, m - 1] * math.fsum(weights)
    squares = noisy.reach**2
    own, sizes = np.zeros_like(squares), np.zeros_like(squares)
    for m in range(orders, 0, -1):
        coefficients = inner[noisy.which, m - 1] if len(noisy.laws) > 1 else inner[0, m - 1]
        own = (own + coefficients) * squares
        sizes = (sizes + np.abs(coefficients)) * squares
    return noisy.shares * total - own, noisy.shares * total + sizes


def _remainder(noisy: NoisyShares, moments: Values, own_moments: Values, orders: int) -> Values:
    power = 2 * orders + 2
    inside, outside = 1 / (1 - EVENT**2), math.fsum(EVENT ** (-2 * j) for j in range(1, orders + 1))
    norm = float(moments[orders + 1]) ** (1 / power)
    own = own_moments[:, orders + 1] ** (1 / power)
    own_norm = own[noisy.which] if len(noisy.laws) > 1 else own[0]
    bound: Values = (
        max(inside, outside) * norm ** (power - 1) * (noisy.reach * own_norm + noisy.shares * norm)
    )
    return bound


def variance_series(noisy: NoisyShares) -> SeriesFigures:
    """Return the variance by the series, with as many orders as it takes."""
    most = min(_MOST_VARIANCE_ORDERS, *(most_orders(law) - 2 for law in noisy.laws))
    standard = noisy.cumulants(most + 2)
    moments = even_moments(noisy.of_total(standard))
    tail = outside_event(noisy, own=False)
    total, best_values = np.zeros_like(noisy.shares), noisy.shares
    left = np.full(noisy.shares.shape, math.inf)
    best, first = 0, np.ones(1)
    for k in range(most + 1):
        term, size = _squares(noisy, standard, moments, k)
        if k == 0:
            first = size
        bound = term * _constant(k) if k else left
        if k and _largest(bound, first) < _largest(left, first):
            best, best_values, left = k, total.copy(), bound
        if _largest(left, first) <= _VARIANCE_AIM:
            break
        total += (2 * k + 1) * term
    mean = bias_series(noisy)
    missed = mean.error_bound * (2 * np.abs(mean.values) + mean.error_bound)
    error = left + missed + _VARIANCE_ROUNDING * (first + best_values)
    values = best_values - mean.values**2
    within = replace(tail, covers="the releases whose total is within nine tenths of the true one")
    return _build_figures(values, error, values, best, within)


def _build_figures(values: Values, error: Values, effects: Values, orders: int, tail: Tail) -> SeriesFigures:
    """Return the figures of a series; one entity alone has the whole budget, whatever the noise."""
    if values.size == 1:
        values, error = np.zeros(1), np.zeros(1)
    certified = _largest(error, effects) <= RELATIVE
    return SeriesFigures(values, error, orders, certified, tail.covers)


def _squares(noisy: NoisyShares, standard: Values, moments: Values, k: int) -> tuple[Values, Values]:
    r"""Return :math:`E[u^2 t^{2k}]`, and the same without its negative part."""
    reach, shares = noisy.reach, noisy.shares

    def kappa(order: int) -> Values | float:
        column = standard[:, order // 2 - 1]
        return column[noisy.which] if len(noisy.laws) > 1 else float(column[0])

    def single(m: int) -> Values:
        """E[noise_i t**m] for odd m."""
        moment = np.zeros_like(reach)
        for j in range(1, m + 1, 2):
            moment += math.comb(m, j) * moments[(m - j) // 2] * kappa(j + 1) * reach**j
        return moment

    double = np.zeros_like(reach)  # E[noise_i**2 t**(2 k)]
    for j in range(1, 2 * k + 2, 2):
        double += kappa(j + 1) * math.comb(2 * k, j - 1) * reach ** (j - 1) * moments[(2 * k - j + 1) // 2]
        if j < 2 * k:
            double += kappa(j + 1) * math.comb(2 * k, j) * reach**j * single(2 * k - j)
    positive = reach**2 * double + shares**2 * moments[k + 1]
    return np.maximum(positive - 2 * shares * reach * single(2 * k + 1), 0.0), positive


def _constant(orders: int) -> float:
    square = EVENT**2
    inside = (2 * orders + 1) / (1 - square) + 2 * square / (1 - square) ** 2
    outside = math.fsum((2 * (orders - j) + 1) * square ** (-j) for j in range(1, orders + 1))
    return max(inside, outside)


def _largest(error: Values, effects: Values) -> float:
    """Return the largest error relative to the effects; entities without any effect have none."""
    some = effects > 0
    if not some.any():
        return 0.0
    return float((error[some] / effects[some]).max())
