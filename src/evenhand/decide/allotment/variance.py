r"""The variance of shares of a noisy total, by the series that gives their mean.

With the notation of :mod:`~evenhand.decide.allotment.series`, pairing :math:`t` with :math:`-t` leaves

.. math:: E\Big[\frac{u_i^2}{(1 + t)^2}; A\Big] = E\Big[u_i^2 \frac{1 + t^2}{(1 - t^2)^2}; A\Big]
          = \sum_{k < K} (2k + 1)\, E[u_i^2 t^{2k}] + R,

and what is left out, on :math:`A` and outside it, is at most a constant times :math:`E[u_i^2 t^{2K}]`, which
is exact. Less the square of the mean it is the variance. Over all noise no variance exists where the total
has a density at 0, not even as a principal value: what is certified is the variance over the releases whose
total is within nine tenths of the true one.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from evenhand.decide.allotment.inputs import Noisy, Weighted, noisy_shares
from evenhand.decide.allotment.series import RELATIVE, Found, Series, bias_series
from evenhand.decide.allotment.tails import EVENT, outside_event
from evenhand.decide.exact.cumulants import even_moments

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from evenhand.privacy.laws import Law
    from evenhand.release.postprocess.steps import Step

    Values = NDArray[np.float64]

__all__ = ["allotment_variance", "variance_series"]

_AIM = 1e-11
_MOST_ORDERS = 8
_ROUNDING = 1024 * np.finfo(np.float64).eps


def allotment_variance(
    problem: Weighted, counts: ArrayLike, law: Law | Sequence[Law], *, post: Sequence[Step] | None = None
) -> Found:
    """Return the variance of each share from noisy counts.

    Parameters
    ----------
    problem : Allotment
        The weights.
    counts : array
        True counts, at least 0. The result is as private as they are.
    law : Law or list of Law
        The noise on each count: one law, or one for each entity.
    post : sequence of Step, optional
        As for :func:`~evenhand.decide.allotment.series.allotment_bias`.

    Returns
    -------
    Found
        Where the method does not say *certified*, the bound is still one but wider than 1e-9 of the value.

    Examples
    --------
    >>> from evenhand.decide.allotment.allotment import Allotment
    >>> from evenhand.privacy.laws import Laplace
    >>> found = allotment_variance(Allotment([1, 2, 1.5]), [300, 500, 800], Laplace(2))
    >>> (found.values**0.5).round(6).tolist()
    [0.001052, 0.001584, 0.001501]
    """
    noisy = noisy_shares(problem, counts, law, owner="allotment_variance")
    if post:
        from evenhand.decide.allotment.clamped import clamped_variance  # noqa: PLC0415 - imports scipy

        return clamped_variance(noisy, tuple(post))
    series = variance_series(noisy)
    certain = "certified" if series.certified else "with a bound above 1e-9"
    words = f"series of {series.orders} even order{'s'[: series.orders != 1]}, {certain} for {series.covers}"
    return Found(series.values, series.error_bound, words)


def variance_series(noisy: Noisy) -> Series:
    """Return the variance by the series, with as many orders as it takes."""
    standard = noisy.cumulants(_MOST_ORDERS + 2)
    moments = even_moments(noisy.of_total(standard))
    tail = outside_event(noisy, own=False)
    total, best_values, left = (
        np.zeros_like(noisy.shares),
        noisy.shares,
        np.full(noisy.shares.shape, math.inf),
    )
    best, first = 0, np.ones(1)
    for k in range(_MOST_ORDERS + 1):
        term, size = _squares(noisy, standard, moments, k)
        if k == 0:
            first = size
        bound = term * _constant(k) if k else left
        if k and _worst(bound, first) < _worst(left, first):
            best, best_values, left = k, total.copy(), bound
        if _worst(left, first) <= _AIM:
            break
        total += (2 * k + 1) * term
    mean = bias_series(noisy)
    missed = mean.error_bound * (2 * np.abs(mean.values) + mean.error_bound)
    error = left + missed + _ROUNDING * (first + best_values)
    values = best_values - mean.values**2
    if noisy.shares.size == 1:
        values, error = np.zeros(1), np.zeros(1)
    return Series(
        values=values,
        error_bound=error,
        orders=best,
        certified=_worst(error, values) <= RELATIVE,
        outside=tail.probability,
        covers="the releases whose total is within nine tenths of the true one",
    )


def _squares(noisy: Noisy, standard: Values, moments: Values, k: int) -> tuple[Values, Values]:
    r"""Return :math:`E[u^2 t^{2k}]`, and the same without its negative part."""
    reach, shares = noisy.reach, noisy.shares

    def kappa(order: int) -> Values | float:
        column = standard[:, order // 2 - 1]
        return column[noisy.which] if len(noisy.laws) > 1 else float(column[0])

    def single(m: int) -> Values:
        """E[noise_i t**m] for odd m."""
        found = np.zeros_like(reach)
        for j in range(1, m + 1, 2):
            found += math.comb(m, j) * moments[(m - j) // 2] * kappa(j + 1) * reach**j
        return found

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


def _worst(error: Values, size: Values) -> float:
    some = size > 0
    return float((error[some] / size[some]).max()) if some.any() else 0.0
