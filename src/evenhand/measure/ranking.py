r"""The area under the ROC curve: how often a positive row is scored above a negative one.

Kept apart from the count table, because scores cannot be counted. Of 0/1 predictions this area is
nothing but balanced accuracy, so it is computed from scores only.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.measure.intervals import normal_quantile

if TYPE_CHECKING:
    from numpy.typing import NDArray

_ROUNDING = 1e-14  # an area this near to 0 or 1 is one of them, but for the rounding of weights


@dataclass(frozen=True)
class Ranking:
    """The area and what its interval needs; no score is kept.

    Parameters
    ----------
    area : float
        The area under the ROC curve, NaN if one of the classes is empty.
    variance : float
        DeLong's estimate of its variance, NaN if one of the classes has a single row.
    positives, negatives : float
        Rows of each class; with weights, effective ones.
    """

    area: float
    variance: float
    positives: float
    negatives: float

    def limits(self, level: float) -> tuple[float, float]:
        r"""Return limits of the area.

        With DeLong's variance :math:`V` on the logit scale,

        .. math:: \operatorname{logit} A \pm z \sqrt{V} / (A (1 - A)),

        and, where that variance is 0 or unknown (a perfect ranking, one row in a class), by
        solving :math:`|A - \theta| = z \sqrt{V(\theta)}` for :math:`\theta` with the variance
        that Hanley and McNeil derive from exponential scores.

        References
        ----------
        .. [1] DeLong, DeLong, Clarke-Pearson (1988). Comparing the areas under two or more correlated
               receiver operating characteristic curves. Biometrics 44.
        .. [2] Newcombe (2006). Confidence intervals for an effect size measure based on the
               Mann-Whitney statistic, part 2. Statistics in Medicine 25, method 5.
        """
        if math.isnan(self.area):
            return math.nan, math.nan
        z = normal_quantile(1 - level)
        if not self._varies:
            return self._score_limit(z, 0.0), self._score_limit(z, 1.0)
        reach = z * math.sqrt(self.variance) / (self.area * (1 - self.area))
        middle = math.log(self.area / (1 - self.area))
        return _expit(middle - reach), _expit(middle + reach)

    @property
    def method(self) -> str:
        """The name of the method of :meth:`limits`."""
        return "DeLong on the logit scale" if self._varies else "Newcombe score for the area"

    @property
    def _varies(self) -> bool:
        inside = min(self.area, 1 - self.area) > _ROUNDING
        return inside and self.variance > 0  # false also if the variance is unknown

    def _score_limit(self, z: float, end: float) -> float:
        """Find by bisection where the area stops being compatible, between it and `end`."""
        inside, outside = self.area, end
        if inside == outside:
            return end
        for _ in range(60):
            theta = (inside + outside) / 2
            if (self.area - theta) ** 2 <= z * z * self._exponential_variance(theta):
                inside = theta
            else:
                outside = theta
        return inside

    def _exponential_variance(self, theta: float) -> float:
        extra = (self.positives + self.negatives) / 2 - 1
        shape = 1 + extra * ((1 - theta) / (2 - theta) + theta / (1 + theta))
        return theta * (1 - theta) * shape / (self.positives * self.negatives)


def rank_scores(
    positive: NDArray[np.uint8], scores: NDArray[np.float64], weights: NDArray[np.float64] | None = None
) -> Ranking:
    r"""Return the area under the ROC curve, ties counted half, with DeLong's variance.

    The placement of a positive row is the share of negative rows scored below it (half of those
    scored the same), and the other way round. The area is the mean placement of the positive rows,
    and the variance is the sum over both classes of the variance of the placements over the rows:
    with weights the linearised one of a weighted mean, and at least that of as many rows of equal weights
    as Kish's effective size counts. With equal weights it is DeLong's.

    Parameters
    ----------
    positive : array of 0 and 1
        Whether the true label is positive.
    scores : array of float
        Larger means more likely positive.
    weights : array of float, optional
        One weight per row.

    Examples
    --------
    >>> ranking = rank_scores(np.array([0, 0, 1, 1], dtype=np.uint8), np.array([0.1, 0.4, 0.35, 0.8]))
    >>> ranking.area
    0.75
    """
    mass: NDArray[np.float64] = np.ones(len(scores)) if weights is None else weights
    values, place = np.unique(scores, return_inverse=True)
    hits: NDArray[Any] = np.bincount(place, weights=mass * positive, minlength=len(values))
    misses: NDArray[Any] = np.bincount(place, weights=mass * (1 - positive), minlength=len(values))
    if not (hits.any() and misses.any()):
        return Ranking(math.nan, math.nan, float(hits.sum()), float(misses.sum()))
    classes = mass[(positive == 1) & (mass > 0)], mass[(positive == 0) & (mass > 0)]
    positives, negatives = (_effective(weights) for weights in classes)
    apart = _without_spread(hits, misses)
    if apart is not None:
        variance = 0.0 if min(positives, negatives) > 1 else math.nan
        return Ranking(apart, variance, positives, negatives)
    of_hits, of_misses = _below(misses), 1 - _below(hits)
    area = min(1.0, float((hits * of_hits).sum()) / float(hits.sum()))
    placements = np.where(positive == 1, of_hits[place], of_misses[place])
    squares = (placements - area) ** 2
    variance = sum(
        _mean_variance(squares[(positive == label) & (mass > 0)], weights)
        for label, weights in zip((1, 0), classes, strict=True)
    )
    return Ranking(area, variance, positives, negatives)


def _without_spread(hits: NDArray[np.float64], misses: NDArray[np.float64]) -> float | None:
    """Return the area if all placements are alike: classes apart, or all scores tied.

    Only then is DeLong's variance 0, and rounding of the weights would hide it.
    """
    scored_hits, scored_misses = np.flatnonzero(hits), np.flatnonzero(misses)
    if scored_misses[-1] < scored_hits[0]:
        return 1.0
    if scored_hits[-1] < scored_misses[0]:
        return 0.0
    together = scored_hits[0] == scored_hits[-1] == scored_misses[0] == scored_misses[-1]
    return 0.5 if together else None


def _below(mass: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the share of a class that is scored below each value, half of those scored the same."""
    reached = np.cumsum(mass)
    return np.asarray((reached - mass / 2) / reached[-1])  # the same sum, so that no share passes 1


def _effective(weights: NDArray[np.float64]) -> float:
    """Return Kish's effective size; scaled first, so that no square underflows."""
    scaled = weights / weights.max()
    return max(1.0, float(scaled.sum()) ** 2 / float(scaled @ scaled))


def _mean_variance(squares: NDArray[np.float64], weights: NDArray[np.float64]) -> float:
    """Return the linearised variance of a weighted mean of squares, at least that at the size of Kish."""
    shares, n = weights / weights.sum(), len(weights)
    if n < 2:
        return math.nan
    return max(float(shares**2 @ squares), float(shares @ squares) / _effective(weights)) * n / (n - 1)


def _expit(logit: float) -> float:
    return 1 / (1 + math.exp(-logit)) if logit >= 0 else math.exp(logit) / (1 + math.exp(logit))
