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
:math:`A`; :mod:`~evenhand.decide.allotment.tails` bounds what the rest adds to the principal value under
Laplace or Gaussian noise, and to the mean under whole-numbered noise and weights, a total of 0 counting as no
error.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from evenhand.decide.allotment.inputs import Noisy, Weighted, noisy_shares
from evenhand.decide.allotment.tails import EVENT, outside_event
from evenhand.decide.exact.cumulants import even_moments, most_orders

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from evenhand.privacy.laws import Law
    from evenhand.release.postprocess.steps import Step

    Values = NDArray[np.float64]

__all__ = ["RELATIVE", "Found", "Series", "allotment_bias", "bias_series", "total_not_positive"]

RELATIVE = 1e-9
"""The error, relative to the two effects that a bias is the difference of, up to which it is certified."""

_AIM = 1e-12
_NEVER = 1e-25  # chance that any noise is not 0, below which a bias is nothing
_MOST_ORDERS = 12
_ROUNDING = 256 * np.finfo(np.float64).eps


class Found(NamedTuple):
    """A figure for each entity, how far it may be off, and how it was found."""

    values: NDArray[np.float64]
    error_bound: NDArray[np.float64]
    method: str


@dataclass(frozen=True, eq=False)
class Series:
    """What the series gives.

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
    outside : float
        A bound of the probability that the total moves by more than nine tenths of itself.
    covers : str
        What the bound is a bound for, in words.
    """

    values: Values
    error_bound: Values
    orders: int
    certified: bool
    outside: float
    covers: str


def allotment_bias(
    problem: Weighted, counts: ArrayLike, law: Law | Sequence[Law], *, post: Sequence[Step] | None = None
) -> Found:
    r"""Return the bias of each share: expected share from noisy counts minus the true share.

    Parameters
    ----------
    problem : Allotment
        The weights.
    counts : array
        True counts, at least 0. The result is as private as they are.
    law : Law or list of Law
        The noise on each count: one law, or one for each entity.
    post : sequence of Step, optional
        What is done to the counts before they are used: :class:`~evenhand.release.postprocess.Nonnegative`,
        :class:`~evenhand.release.postprocess.Shrink` and rounding, of which
        :func:`~evenhand.decide.allotment.clamped.solvable` says whether they can be computed; others are
        refused.

    Returns
    -------
    Found
        ``values``, ``error_bound`` and ``method``, also to be unpacked. The bound is proved where the method
        says *certified*; otherwise it is an estimate.

    Notes
    -----
    Without a step that keeps the total above 0 the mean does not exist under continuous noise. The figure is
    then the principal value. Under whole-numbered noise it is :math:`E[\tilde P_i - P_i; \tilde Z \ne 0]`,
    the mean of the error, in which a release whose total is 0, and which has no shares, counts as no error.
    With weights that are not whole numbers, so does every release whose total is off by more than nine tenths
    of the true one. :func:`total_not_positive` says how likely a total of 0 or less is.

    Examples
    --------
    >>> from evenhand.decide.allotment.allotment import Allotment
    >>> from evenhand.privacy.laws import Laplace
    >>> values, bound, method = allotment_bias(Allotment([1, 2, 1.5]), [300, 500, 800], Laplace(2))
    >>> [f"{value:.4e}" for value in values]
    ['-1.6640e-07', '-1.4081e-06', '1.5745e-06']
    >>> method
    'series of 4 even orders, certified for the principal value'
    """
    noisy = noisy_shares(problem, counts, law)
    if post:
        from evenhand.decide.allotment.clamped import clamped_bias  # noqa: PLC0415 - imports scipy

        return clamped_bias(noisy, tuple(post))
    quiet = _hardly_any(noisy)
    if quiet is not None:
        return quiet
    series = bias_series(noisy)
    if series.certified:
        words = (
            f"series of {series.orders} even order{'s'[: series.orders != 1]}, certified for {series.covers}"
        )
        return Found(series.values, series.error_bound, words)
    from evenhand.decide.allotment.value import value_bias  # noqa: PLC0415 - seldom needed

    return value_bias(noisy, series)


def _hardly_any(noisy: Noisy) -> Found | None:
    """Return no bias where noise on whole numbers is 0 but for a chance that is not worth a series.

    A share is at most the entity's own part over a total of one tenth of the true one, or of 1.
    """
    if any(law.support != "integers" for law in noisy.laws):
        return None
    some = np.array([2 * float(law.sf(0)) for law in noisy.laws])[noisy.which]
    chance = float(some.sum())
    if chance > _NEVER:
        return None
    spread = np.array([law.variance for law in noisy.laws])[noisy.which]  # a whole number is below its square
    largest = max(1.0, 10 / noisy.total)
    error = noisy.weights * (chance * noisy.counts + spread) * largest + chance * noisy.shares
    return Found(np.zeros_like(noisy.shares), error, "the noise is 0 but for a negligible chance")


def bias_series(noisy: Noisy) -> Series:
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
    if noisy.shares.size == 1:
        values, error = np.zeros(1), np.zeros(1)
    return Series(
        values=values,
        error_bound=error,
        orders=best,
        certified=_largest(error, effects) <= RELATIVE,
        outside=tail.probability,
        covers=tail.covers,
    )


def total_not_positive(
    problem: Weighted, counts: ArrayLike, law: Law | Sequence[Law], *, owner: str = "total_not_positive"
) -> tuple[float, str]:
    """Return the probability that the noisy total is 0 or less, where shares mean nothing, and the method.

    Where it is below 1e-16, a bound of it.

    Examples
    --------
    >>> from evenhand.decide.allotment.allotment import Allotment
    >>> from evenhand.privacy.laws import DiscreteLaplace
    >>> chance, method = total_not_positive(Allotment([1, 1]), [50, 60], DiscreteLaplace(10))
    >>> f"{chance:.3e}", method
    ('5.674e-05', 'by a Fourier sum')
    """
    from evenhand.decide.allotment.value import chance_not_positive  # noqa: PLC0415 - seldom needed

    noisy = noisy_shares(problem, counts, law, owner=owner)
    if _hardly_any(noisy) is not None:
        return _NEVER, "at most, because the noise is 0 but for so small a chance"
    return chance_not_positive(noisy)


def _terms(noisy: Noisy, standard: Values, moments: Values, orders: int) -> tuple[Values, Values]:
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


def _remainder(noisy: Noisy, moments: Values, own_moments: Values, orders: int) -> Values:
    power = 2 * orders + 2
    inside, outside = 1 / (1 - EVENT**2), math.fsum(EVENT ** (-2 * j) for j in range(1, orders + 1))
    norm = float(moments[orders + 1]) ** (1 / power)
    own = own_moments[:, orders + 1] ** (1 / power)
    own_norm = own[noisy.which] if len(noisy.laws) > 1 else own[0]
    bound: Values = (
        max(inside, outside) * norm ** (power - 1) * (noisy.reach * own_norm + noisy.shares * norm)
    )
    return bound


def _largest(error: Values, effects: Values) -> float:
    """Return the largest error relative to the effects; entities without any effect have none."""
    some = effects > 0
    if not some.any():
        return 0.0
    return float((error[some] / effects[some]).max())
