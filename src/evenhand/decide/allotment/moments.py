"""The mean and the variance of shares from noisy counts, by whichever method applies."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evenhand.decide.allotment.clamped import clamped_bias, clamped_variance
from evenhand.decide.allotment.noisy_total import HasWeights, NoisyShares, build_noisy_shares
from evenhand.decide.allotment.principal_values import chance_not_positive, value_bias
from evenhand.decide.allotment.series import ShareFigures, bias_series, series_words, variance_series

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from evenhand.privacy.laws import Law
    from evenhand.release.postprocess.steps import Step

__all__ = ["allotment_bias", "allotment_variance", "total_not_positive"]

_NEVER = 1e-25  # chance that any noise is not 0, below which there is no bias


def allotment_bias(
    problem: HasWeights, counts: ArrayLike, law: Law | Sequence[Law], *, post: Sequence[Step] | None = None
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
        :func:`~evenhand.decide.allotment.clamped.sampling_reason` says whether they can be computed; others
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
        words = f"{series_words(series)}, certified for {series.covers}"
        return ShareFigures(series.values, series.error_bound, words)
    return value_bias(noisy, series)


def allotment_variance(
    problem: HasWeights, counts: ArrayLike, law: Law | Sequence[Law], *, post: Sequence[Step] | None = None
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
    >>> found = allotment_variance(Allotment([1, 2, 1.5]), [300, 500, 800], Laplace(2))
    >>> (found.values**0.5).round(6).tolist()
    [0.001052, 0.001584, 0.001501]
    """
    noisy = build_noisy_shares(problem, counts, law, owner="allotment_variance")
    if post:
        return clamped_variance(noisy, tuple(post))
    series = variance_series(noisy)
    certain = "certified" if series.certified else "with a bound above 1e-9"
    words = f"{series_words(series)}, {certain} for {series.covers}"
    return ShareFigures(series.values, series.error_bound, words)


def total_not_positive(
    problem: HasWeights, counts: ArrayLike, law: Law | Sequence[Law], *, owner: str = "total_not_positive"
) -> tuple[float, str]:
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
    noisy = build_noisy_shares(problem, counts, law, owner=owner)
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
    return ShareFigures(np.zeros_like(noisy.shares), error, "the noise is 0 but for a negligible chance")
