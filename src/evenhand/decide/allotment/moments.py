r"""The mean and the variance of shares from noisy counts, by whichever method applies.

What is computed here is shares of a total of counts that were clamped or shrunk after the noise. Such counts
are at least 0, so shares lie between 0 and 1 and have a mean. A release in which every count is 0 has no
shares; it counts as shares of 0.

Counts are independent, with means :math:`m_j` and cumulants that are sums or integrals over the noise. About
the shifted means, with :math:`Z' = \sum_j a_j m_j`, :math:`P'_i = a_i m_i / Z'`, :math:`t` the noise in the
total over :math:`Z'` and :math:`u_i = a_i (\hat x_i - m_i) / Z' - P'_i t`,

.. math:: E[\hat P_i] - P_i = P'_i - P_i + \sum_{k = 1}^5 (-1)^k E[u_i t^k] + R

where, as in :mod:`~evenhand.decide.allotment.series` and with norms of order 8,
:math:`|R| \le C (\|a_i (\hat x_i - m_i)\| / Z' + P'_i \|t\|) \|t\|^6 + E[t^8] / \rho^8`. Where that is not
small, :math:`1 / D = \int_0^\infty e^{-s D} ds` for :math:`D > 0` gives an integral of products of the
counts' own transforms, which is smooth in :math:`\ln s`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand._notes import Note
from evenhand.decide.allotment.clamped_counts import (
    ORDERS,
    Cumulants,
    FloorStep,
    count_cumulants,
    floor_step,
    moments_of,
    outcomes,
)
from evenhand.decide.allotment.noisy_total import EVENT, NoisyShares, build_noisy_shares
from evenhand.decide.allotment.principal_values import chance_not_positive, lattice_bias, principal_value
from evenhand.decide.allotment.series import (
    RELATIVE,
    ShareFigures,
    bias_series,
    variance_series,
)
from evenhand.errors import InvalidParameterError
from evenhand.privacy.laws import Gaussian, Laplace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from evenhand.decide.allotment.allotment import Allotment
    from evenhand.privacy.laws import Law
    from evenhand.release.postprocess.steps import Step

    Values = NDArray[np.float64]
    Transformed = tuple[Values, Values]

_TERMS = ORDERS - 3
_ROUNDING = 4096 * np.finfo(np.float64).eps
_PRECISION = 64 * np.finfo(np.float64).eps  # of the mean of a count, and of what is stuck at the least value
_LOW, _HIGH, _STEP = -34.0, 46.0, 0.25
_AT_ONCE = 32  # rates at a time, an even number
_FALLEN = 1e-26  # part of the largest term from which the others are negligible
_MOST_WORK = 1 << 30
_PRINCIPAL_VALUE = Note("estimated error", "principal value by the characteristic function, error estimated")
_FOURIER_SUM = Note("estimated error", "Fourier sum over all totals, 0 counting as no error, error estimated")
_UNCERTIFIED = Note("uncertified", "series about the means of the counts after the steps, not certified")
_BY_TRANSFORMS = Note("estimated error", "integral of transforms, error estimated")
_WIDE = 500.0
_LEAST_TOTAL = 1e-12
_RARE = "the noise is 0 but for a negligible chance"
_NEVER = 1e-25  # chance that any noise is not 0, below which there is no bias


def allotment_bias(
    problem: Allotment, counts: ArrayLike, law: Law | Sequence[Law], *, post: Sequence[Step] | None = None
) -> ShareFigures:
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
        :func:`sampling_reason` says whether they can be computed; others
        are refused.

    Returns
    -------
    ShareFigures
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
    noisy = build_noisy_shares(problem, counts, law)
    if post:
        return clamped_bias(noisy, tuple(post))
    quiet = _bias_of_rare_noise(noisy)
    if quiet is not None:
        return quiet
    series = bias_series(noisy)
    if series.certified:
        return series.to_figures(f"certified for {series.covers}")
    if {type(law) for law in noisy.laws} <= {Laplace, Gaussian}:
        return ShareFigures(*principal_value(noisy), _PRINCIPAL_VALUE)
    on_lattice = lattice_bias(noisy)
    if on_lattice is not None:
        return ShareFigures(*on_lattice, _FOURIER_SUM)
    return series.to_figures("not certified: the bound is above 1e-9")


def allotment_variance(
    problem: Allotment, counts: ArrayLike, law: Law | Sequence[Law], *, post: Sequence[Step] | None = None
) -> ShareFigures:
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
        As for :func:`allotment_bias`.

    Returns
    -------
    ShareFigures
        Where the method does not say *certified*, the bound is still one but wider than 1e-9 of the value.

    Examples
    --------
    >>> from evenhand.decide.allotment.allotment import Allotment
    >>> from evenhand.privacy.laws import Laplace
    >>> variance = allotment_variance(Allotment([1, 2, 1.5]), [300, 500, 800], Laplace(2))
    >>> (variance.values**0.5).round(6).tolist()
    [0.001052, 0.001584, 0.001501]
    """
    noisy = build_noisy_shares(problem, counts, law, owner="allotment_variance")
    if post:
        return clamped_variance(noisy, tuple(post))
    if _bias_of_rare_noise(noisy) is not None:
        # within nine tenths of the total a share is off by at most 11 times itself and 10 times its own noise
        error = 242 * _NEVER * noisy.shares**2 + 200 * noisy.reach**2
        return ShareFigures(np.zeros_like(noisy.shares), error, _RARE)
    series = variance_series(noisy)
    certain = "certified" if series.certified else "with a bound above 1e-9"
    return series.to_figures(f"{certain} for {series.covers}")


def total_not_positive(problem: Allotment, counts: ArrayLike, law: Law | Sequence[Law]) -> tuple[float, str]:
    """Return the probability that the noisy total is 0 or less, where shares have no meaning, and the method.

    Where it is below 1e-16, a bound of it.

    Examples
    --------
    >>> from evenhand.decide.allotment.allotment import Allotment
    >>> from evenhand.privacy.laws import DiscreteLaplace
    >>> chance, method = total_not_positive(Allotment([1, 1]), [50, 60], DiscreteLaplace(10))
    >>> f"{chance:.3e}", method
    ('5.674e-05', 'by a Fourier sum')
    """
    noisy = build_noisy_shares(problem, counts, law, owner="total_not_positive")
    if _bias_of_rare_noise(noisy) is not None:
        return _NEVER, "at most, because the noise is 0 but for so small a chance"
    return chance_not_positive(noisy)


def _bias_of_rare_noise(noisy: NoisyShares) -> ShareFigures | None:
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
    return ShareFigures(np.zeros_like(noisy.shares), error, _RARE)


# --- after clamping or shrinking -----------------------------------------------------------------------


def sampling_reason(
    problem: Allotment, counts: ArrayLike, law: Law | Sequence[Law], post: Sequence[Any] | None
) -> str | None:
    """Return why shares after these steps need sampling, or None where their means are computed."""
    laws = build_noisy_shares(problem, counts, law, owner="solvable").laws
    if not post or floor_step(post, laws) is not None:
        return None
    return "only clamping at 0 or more and one step of shrinking are computed; other steps need sampling"


def clamped_bias(noisy: NoisyShares, steps: tuple[Step, ...]) -> ShareFigures:
    """Return the bias of each share."""
    step = _one_step(steps, noisy)
    about = _ClampedSeries(noisy, count_cumulants(noisy, step))
    values, error = about.bias()
    effects = np.abs(about.shares - noisy.shares) + about.shares * about.moments[2] + about.variances
    some = effects > 0
    if (error[some] <= RELATIVE * effects[some]).all():
        words = "series about the means of the counts after the steps"
        wide = any(law.support == "integers" and law.standard_deviation > _WIDE for law in noisy.laws)
        certain = "with wide discrete noise taken for real noise" if wide else "certified"
        return ShareFigures(values, error, f"{words}, {certain}")
    exact = _by_transforms(noisy, step, about, (1,))
    if exact is None:
        return ShareFigures(values, error, _UNCERTIFIED)
    return ShareFigures(exact[0][0] - noisy.shares, exact[0][1], _BY_TRANSFORMS)


def clamped_variance(noisy: NoisyShares, steps: tuple[Step, ...]) -> ShareFigures:
    """Return the variance of each share."""
    step = _one_step(steps, noisy)
    about = _ClampedSeries(noisy, count_cumulants(noisy, step))
    values, error = about.variance()
    if (error <= 1e-4 * values)[noisy.weights > 0].all():  # figures of 0 or less are of no use
        return ShareFigures(
            values, error, "series about the means of the counts after the steps, with its bound"
        )
    exact = _by_transforms(noisy, step, about, (1, 2))
    if exact is None:
        values = np.maximum(values, 0.0)
        return ShareFigures(values, error, _UNCERTIFIED)
    first, square = exact
    missed = square[1] + 2 * np.abs(first[0]) * first[1]
    return ShareFigures(np.maximum(square[0] - first[0] ** 2, 0.0), missed, _BY_TRANSFORMS)


class _ClampedSeries:
    """The noise about the means of the counts after the steps, in units of the new total."""

    def __init__(self, noisy: NoisyShares, counts: Cumulants) -> None:
        means = noisy.counts + counts.bias
        self.total = float(noisy.weights @ means)
        if not self.total > _LEAST_TOTAL * noisy.total:
            raise InvalidParameterError(
                "law",
                owner="allotment_bias",
                must_be="noise after which the total is above 0",
                got="other noise",
            )
        unit = noisy.weights / self.total
        powers = unit[:, np.newaxis] ** np.arange(2, ORDERS + 1)
        self.shares = unit * means
        self.moved = (
            noisy.weights * counts.bias - noisy.shares * float(noisy.weights @ counts.bias)
        ) / self.total
        self.unsure = unit * (np.abs(counts.bias) + counts.stuck * (noisy.counts + counts.spread))
        self.own = counts.values * powers  # cumulants of each entity's part of the total
        self.variances = self.own[:, 0]
        self.moments = moments_of(self.own.sum(axis=0))
        self.norm = float(self.moments[ORDERS]) ** (1 / ORDERS)
        self.spread = unit * np.maximum(counts.highest, 0.0) ** (1 / ORDERS) + self.shares * self.norm

    def bias(self) -> tuple[Values, Values]:
        """Return the series of the mean less the true share, and its bound."""
        value, size = self.moved.copy(), np.abs(self.moved)
        for k in range(1, _TERMS + 1):
            term, added = self._mixed(k)
            value += (-1) ** k * term
            size += added
        constant = max(1 / (1 - EVENT), math.fsum(EVENT**-j for j in range(1, _TERMS + 2)))
        left = constant * self.spread * self.norm ** (_TERMS + 1) + self._outside()
        means = _PRECISION * (self.unsure + self.shares * float(self.unsure.sum()))
        return value, left + means + _ROUNDING * size

    def variance(self) -> tuple[Values, Values]:
        """Return the variance to the third order, and a bound of the rest."""
        shares, moments = self.shares, self.moments
        second = self.variances * (1 - 2 * shares) + shares**2 * moments[2]
        third = self.own[:, 1] * (1 - 2 * shares) + shares**2 * moments[3]
        mean = self.bias()[0] - self.moved
        constant = max((1 / (1 - EVENT) ** 2 - 1 - 2 * EVENT) / EVENT**2, EVENT**-2 + 2 / EVENT)
        left = constant * self.spread**2 * self.norm**2 + self._outside()
        return second - 2 * third - mean**2, left + _ROUNDING * second

    def _mixed(self, k: int) -> tuple[Values, Values]:
        r"""Return :math:`E[u_i t^k]` and its size without signs."""
        own, size = np.zeros_like(self.shares), np.zeros_like(self.shares)
        for j in range(1, k + 1):
            part = math.comb(k, j) * self.own[:, j - 1] * self.moments[k - j]
            own, size = own + part, size + np.abs(part)
        total = float(self.moments[k + 1])
        return own - self.shares * total, size + self.shares * abs(total)

    def _outside(self) -> float:
        return min(1.0, float(self.moments[ORDERS]) / EVENT**ORDERS)


def _one_step(steps: tuple[Step, ...], noisy: NoisyShares) -> FloorStep:
    step = floor_step(steps, noisy.laws)
    if step is None:
        reason = "steps that clamp at 0 or more or shrink once; other steps need sampling"
        raise InvalidParameterError("post", owner="allotment_bias", must_be=reason, got="other steps")
    return step


def _by_transforms(
    noisy: NoisyShares, step: FloorStep, about: _ClampedSeries, powers: tuple[int, ...]
) -> list[Transformed] | None:
    """Return E[share**power] by the integral over ln s, for each power, and an estimate of its error."""
    points = np.arange(_LOW, _HIGH + _STEP / 2, _STEP)
    used = np.flatnonzero(noisy.weights > 0)
    parts = []
    for place in used:
        law, count = noisy.laws[noisy.which[place]], noisy.counts[[place]]
        ((_, changes, masses),) = outcomes(count, law, step)
        if changes.size * points.size * used.size > _MOST_WORK:
            return None
        some = masses[0] > 0
        part = (count + changes[0, some]) * (noisy.weights[place] / about.total)
        parts.append((part, masses[0, some]))
    blocks_by_power: list[list[Values]] = [[] for _ in powers]
    largest = 0.0
    for first in range(0, points.size, _AT_ONCE):
        terms = _transforms(parts, np.exp(points[first : first + _AT_ONCE]), powers)
        for kept, block in zip(blocks_by_power, terms, strict=True):
            kept.append(block)
        ends = [float(block[:, -1].max(initial=0.0)) for block in terms]
        largest = max(largest, *(float(block.max(initial=0.0)) for block in terms))
        if max(ends) < _FALLEN * largest:  # beyond, it only falls further
            break
    return [_integrate(np.concatenate(blocks, axis=1), used, noisy.counts.size) for blocks in blocks_by_power]


def _transforms(parts: list[tuple[Values, Values]], rates: Values, powers: tuple[int, ...]) -> list[Values]:
    """Return what is added up over ln s, for each power: a row for each entity, a column for each rate."""
    log_all = np.zeros(rates.size)
    ratios = [np.empty((len(parts), rates.size)) for _ in powers]
    for place, (part, masses) in enumerate(parts):
        lowest = float(part.min())
        falling = np.exp(np.multiply.outer(rates, lowest - part))
        falling *= masses
        transform = falling.sum(axis=1)
        log_all += np.log(transform) - rates * lowest
        for power, ratio in zip(powers, ratios, strict=True):
            ratio[place] = falling @ part**power / transform
    weight = np.exp(log_all)
    return [ratio * (weight * rates**power) for power, ratio in zip(powers, ratios, strict=True)]


def _integrate(terms: Values, used: NDArray[np.int64], size: int) -> Transformed:
    fine, error = np.zeros(size), np.zeros(size)
    fine[used] = terms.sum(axis=1) * _STEP
    coarse = terms[:, ::2].sum(axis=1) * (2 * _STEP)
    sizes = np.abs(fine[used])
    error[used] = (fine[used] - coarse) ** 2 / np.maximum(sizes, 1e-300) + 1e-12 * sizes
    return fine, error
