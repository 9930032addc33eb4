r"""What the literature bounds the bias and the alpha of disclosure avoidance by, beside the exact values.

A bound is named one. Ranking mechanisms by their bounds says nothing about the mechanisms: the paper's
Theorem 10 does so, and :func:`ranking_counterexamples` shows tables for which it is wrong. The formulas are
those of the paper, for the real Laplace noise of scale :math:`2 / \varepsilon` that it has in mind; the
mechanisms of this package draw whole numbers and have their own exact ``bias`` and ``alpha``.

References
----------
.. [1] Zhu, Fioretto, Van Hentenryck, Das, Task (2023). Privacy and bias analysis of disclosure avoidance
       systems.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evenhand._validate import integer
from evenhand.errors import InvalidParameterError
from evenhand.measure.alpha import alpha_fairness
from evenhand.privacy.laws import Laplace
from evenhand.privacy.rational import exact
from evenhand.release.table.counting import whole_or_real

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Values = NDArray[np.float64]

__all__ = [
    "RankingCounterexample",
    "laplace_alpha",
    "laplace_alpha_bound",
    "merge_bias",
    "ranking_counterexamples",
    "suppression_alpha",
    "suppression_alpha_bound",
    "suppression_l1_bound",
    "swapping_alpha",
    "swapping_alpha_bound",
    "swapping_bias",
    "swapping_l1",
]


# --- suppression: a fresh draw of noise decides whether a count is shown -------------------------------


def suppression_alpha(counts: ArrayLike, *, threshold: int, epsilon: float) -> float:
    r"""Return the exact alpha of suppression with noise on each count.

    The bias of a count :math:`x` is :math:`(k/2 - x) \Pr[x + \eta < k]`.

    Examples
    --------
    >>> f"{suppression_alpha([3, 59], threshold=3, epsilon=0.1):.4f}"
    '0.9983'
    """
    x = _counts(counts, "suppression_alpha")
    return alpha_fairness((threshold / 2 - x) * _hidden(x, threshold, epsilon, "suppression_alpha"))


def suppression_l1_bound(counts: ArrayLike, *, threshold: int, epsilon: float) -> float:
    r"""Bound the sum of absolute biases of suppression by :math:`\|k/2 - x\|_2 \|p\|_2` (Theorem 2).

    :math:`p_i = \Pr[x_i + \eta < k]`.

    Examples
    --------
    >>> suppression_l1_bound([0, 2, 50], threshold=6, epsilon=1) > 0
    True
    """
    x = _counts(counts, "suppression_l1_bound")
    hidden = _hidden(x, threshold, epsilon, "suppression_l1_bound")
    return float(np.linalg.norm(threshold / 2 - x) * np.linalg.norm(hidden))


def suppression_alpha_bound(counts: ArrayLike, *, threshold: int, epsilon: float) -> float:
    r"""Bound the alpha of suppression with noise on each count (Theorem 7).

    .. math:: (x_{\max} - x_{\min}) p_{\max} +
              \max\{|k/2 - x_{\min}|, |k/2 - x_{\max}|\} (p_{\max} - p_{\min})

    where :math:`p_{\max}` belongs to the smallest count.
    """
    x = _counts(counts, "suppression_alpha_bound")
    hidden = _hidden(x, threshold, epsilon, "suppression_alpha_bound")
    largest = max(abs(threshold / 2 - x.min()), abs(threshold / 2 - x.max()))
    return float((x.max() - x.min()) * hidden.max() + largest * (hidden.max() - hidden.min()))


# --- swapping: the quasi-identifiers of a cell are kept or drawn anew ----------------------------------


def swapping_bias(matrix: ArrayLike, *, epsilon: float) -> Values:
    r"""Return the bias of swapping (Proposition 1), which is exact.

    .. math:: \frac{\sum_j x_j - n_Q x_i}{e^\varepsilon + n_Q - 1}

    with the sum over the cells that share the other columns with cell :math:`i`.

    Parameters
    ----------
    matrix : array of shape (others, quasi-identifiers)
        True counts as :meth:`evenhand.release.table.histogram.Histogram.as_matrix` gives them.
    epsilon : float
        What the probability of keeping a cell is made from.

    Examples
    --------
    >>> swapping_bias([[5, 1, 0]], epsilon=1).round(6)
    array([[-1.907474,  0.635825,  1.271649]])
    """
    x, size = _matrix(matrix, "swapping_bias")
    moved: Values = (x.sum(axis=1, keepdims=True) - size * x) * _spread(epsilon, size, "swapping_bias")
    return moved


def swapping_l1(matrix: ArrayLike, *, epsilon: float) -> float:
    r"""Return the sum of absolute biases of swapping (Theorem 4), which is exact.

    .. math:: \frac{n_Q}{e^\varepsilon + n_Q - 1} \sum_i D(x_{I_i})

    where :math:`D` is the mean absolute deviation of the cells that share the other columns with cell
    :math:`i`.
    """
    x, size = _matrix(matrix, "swapping_l1")
    deviation = np.abs(x - x.mean(axis=1, keepdims=True)).mean(axis=1)
    return float(size * _spread(epsilon, size, "swapping_l1") * size * deviation.sum())


def swapping_alpha(matrix: ArrayLike, *, epsilon: float) -> float:
    """Return the exact alpha of swapping; it is 0 where all cells that share the other columns are equal."""
    return alpha_fairness(swapping_bias(matrix, epsilon=epsilon).ravel())


def swapping_alpha_bound(matrix: ArrayLike, *, epsilon: float) -> float:
    r"""Bound the alpha of swapping (Theorem 8).

    .. math:: 2 n_Q (x_{\max} - x_{\min}) / (e^\varepsilon + n_Q - 1)

    The paper also writes :math:`\|x\|_\infty` for the difference; that is the same only where the smallest
    count is 0.
    """
    x, size = _matrix(matrix, "swapping_alpha_bound")
    return float(2 * size * _spread(epsilon, size, "swapping_alpha_bound") * (x.max() - x.min()))


# --- sampling before k-anonymity -----------------------------------------------------------------------


def merge_bias(counts: ArrayLike, *, k: int, beta: float) -> Values:
    r"""Return how much likelier a cell is to be merged after sampling (Theorem 6), which is exact.

    A cell of :math:`x \ge k` people is merged with probability :math:`\Pr[\mathrm{Bin}(x, \beta) < k]` and
    would not be without sampling. A smaller one is merged either way.

    Examples
    --------
    >>> merge_bias([5, 8], k=6, beta=0.6).round(8)
    array([0.        , 0.68460544])
    """
    from scipy.special import betainc  # noqa: PLC0415 - slow to import

    x = _counts(counts, "merge_bias")
    least = integer("k", k, owner="merge_bias", low=1)
    share = float(exact(beta, name="beta", owner="merge_bias", above=0))
    if share > 1:
        raise InvalidParameterError("beta", owner="merge_bias", must_be="a number from 0 to 1", got=beta)
    more = np.maximum(x - least, 0) + 1
    merged: Values = np.where(x >= least, betainc(more, float(least), 1 - share), 0.0)
    return merged


# --- Laplace noise, clamped at 0 -----------------------------------------------------------------------


def laplace_alpha(counts: ArrayLike, *, epsilon: float) -> float:
    r"""Return the exact alpha of Laplace noise clamped at 0.

    It is :math:`(e^{-\varepsilon x_{\min} / 2} - e^{-\varepsilon x_{\max} / 2}) / \varepsilon`.

    Examples
    --------
    >>> f"{laplace_alpha([2, 50], epsilon=0.5):.6f} {laplace_alpha_bound([2, 50], epsilon=0.5):.4f}"
    '1.213054 14.5567'
    """
    x, rate = _counts(counts, "laplace_alpha"), _epsilon(epsilon, "laplace_alpha")
    return (math.exp(-rate * x.min() / 2) - math.exp(-rate * x.max() / 2)) / rate


def laplace_alpha_bound(counts: ArrayLike, *, epsilon: float) -> float:
    r"""Bound the alpha of Laplace noise clamped at 0 (Theorem 9).

    .. math:: \frac12 e^{-\varepsilon x_{\min}/2} (x_{\max} - x_{\min})
    """
    x, rate = _counts(counts, "laplace_alpha_bound"), _epsilon(epsilon, "laplace_alpha_bound")
    return math.exp(-rate * float(x.min()) / 2) / 2 * float(x.max() - x.min())


# --- why bounds do not rank mechanisms -----------------------------------------------------------------


@dataclass(frozen=True)
class RankingCounterexample:
    """A table for which clamped Laplace noise has a larger alpha than the mechanism it is ranked before.

    Attributes
    ----------
    mechanism : str
        The mechanism that Theorem 10 ranks behind Laplace noise.
    matrix : tuple of tuple of int
        The counts, one row per combination of the columns that are no quasi-identifiers.
    threshold : int
        The threshold of suppression; the smallest count is from 2 to it, as the theorem asks.
    epsilon : float
        Privacy parameter of both.
    laplace, other : float
        The exact alphas.
    laplace_bound, other_bound : float
        The bounds, which are ranked as the theorem says.
    """

    mechanism: str
    matrix: tuple[tuple[int, ...], ...]
    threshold: int
    epsilon: float
    laplace: float
    other: float
    laplace_bound: float
    other_bound: float


def ranking_counterexamples() -> tuple[RankingCounterexample, ...]:
    """Return tables for which Theorem 10's ranking is wrong, with the exact alphas and the bounds.

    Examples
    --------
    >>> for each in ranking_counterexamples():
    ...     print(f"{each.mechanism}: {each.other:.4f} < {each.laplace:.4f}")
    suppression: 0.9983 < 8.0837
    swapping: 0.0000 < 8.0837
    """
    threshold, epsilon = 3, 0.1
    pair, slices = ((3, 59),), ((3, 3), (59, 59))
    return (
        RankingCounterexample(
            "suppression",
            pair,
            threshold,
            epsilon,
            laplace_alpha(pair, epsilon=epsilon),
            suppression_alpha(pair, threshold=threshold, epsilon=epsilon),
            laplace_alpha_bound(pair, epsilon=epsilon),
            suppression_alpha_bound(pair, threshold=threshold, epsilon=epsilon),
        ),
        RankingCounterexample(
            "swapping",
            slices,
            threshold,
            epsilon,
            laplace_alpha(slices, epsilon=epsilon),
            swapping_alpha(slices, epsilon=epsilon),
            laplace_alpha_bound(slices, epsilon=epsilon),
            swapping_alpha_bound(slices, epsilon=epsilon),
        ),
    )


def _counts(counts: ArrayLike, owner: str) -> Values:
    values = whole_or_real(counts, parameter="counts", owner=owner).astype(np.float64).ravel()
    if not values.size:
        raise InvalidParameterError("counts", owner=owner, must_be="at least one count", got="none")
    return values


def _matrix(matrix: ArrayLike, owner: str) -> tuple[Values, int]:
    values = whole_or_real(matrix, parameter="matrix", owner=owner).astype(np.float64)
    if values.ndim != 2 or not values.size:
        must_be = "an array of one row per combination of the columns that are no quasi-identifiers"
        raise InvalidParameterError("matrix", owner=owner, must_be=must_be, got="another shape")
    return values, values.shape[1]


def _epsilon(epsilon: float, owner: str) -> float:
    return float(exact(epsilon, name="epsilon", owner=owner, above=0))


def _hidden(counts: Values, threshold: int, epsilon: float, owner: str) -> Values:
    """Return the probability that the noisy count is below the threshold."""
    least = integer("threshold", threshold, owner=owner, low=1)
    return np.asarray(Laplace(2 / exact(epsilon, name="epsilon", owner=owner, above=0)).cdf(least - counts))


def _spread(epsilon: float, size: int, owner: str) -> float:
    """Return 1 / (exp(epsilon) + n - 1), also where the exponential overflows."""
    shrunk = math.exp(-_epsilon(epsilon, owner))
    return shrunk / (1 + (size - 1) * shrunk)
