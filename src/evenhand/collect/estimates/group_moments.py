r"""Shares of people by true group and outcome, estimated from counts of reports, with their covariances.

With :math:`s_v = (\mathbb 1\{\text{the report supports } v\} - q) / (p - q)`, the mean of :math:`s_v` is the
share :math:`D_v` of people in group :math:`v` and the mean of :math:`y s_v` is the share :math:`N_v` of
people in it with outcome 1, both without bias, if the report says nothing about the outcome :math:`y`
once the true group is known.

Variances are those of the counts with two people more for each outcome, spread evenly over the four kinds of
reports that two groups make. They are then above zero for any data, and for large data the same. Where
reports follow a matrix, the score is an entry of its inverse, and each report is counted once more.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.collect.estimates.ratio_limits import fieller_limits, find_limit, is_separated, rate_variance
from evenhand.collect.protocols.channel import ADDED_PEOPLE
from evenhand.measure.gaps import difference_range, pair_blocks
from evenhand.measure.intervals import normal_quantile

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from evenhand.collect.estimates.crossed_channel import CrossedChannel
    from evenhand.collect.protocols.channel import Channel, MatrixChannel

    Array = npt.NDArray[np.float64]
    Limits = tuple[Array, Array]


@dataclass(frozen=True, eq=False)
class GroupMoments:
    """What the counts say about groups and outcomes, where there are people.

    Parameters
    ----------
    people : array of shape (..., 2)
        People with each outcome.
    together : array of shape (..., 2, k, k)
        Reports of people with each outcome that support every two groups; where columns are crossed, that
        have every two features.
    channel : Channel, MatrixChannel or CrossedChannel
        How often a report supports the true group, and any other.
    """

    people: npt.NDArray[Any]
    together: npt.NDArray[Any]
    channel: Channel | MatrixChannel | CrossedChannel

    @property
    def k(self) -> int:
        """How many groups there are."""
        return int(self.with_outcome.shape[-1])

    @property
    def n(self) -> Array:
        """How many people there are."""
        return np.asarray(self.people.sum(axis=-1), dtype=float)

    @property
    def overall(self) -> Array:
        """Share of people with outcome 1."""
        return np.asarray(self.people[..., 1] / self.n)

    @cached_property
    def with_outcome(self) -> Array:
        """Share of people who are in each group and have each outcome, of shape (..., 2, k)."""
        support = np.diagonal(self.together, axis1=-2, axis2=-1)
        return np.asarray(self.channel.sums(support, self.people) / self.n[..., None, None])

    @property
    def numerators(self) -> Array:
        """Share of people who are in each group and have outcome 1."""
        return np.asarray(self.with_outcome[..., 1, :])

    @property
    def denominators(self) -> Array:
        """Share of people in each group."""
        return np.asarray(self.with_outcome.sum(axis=-2))

    @cached_property
    def rates(self) -> Array:
        """Rate of outcome 1 in each group; NaN where the share is not above zero."""
        known = self.denominators > 0
        return np.where(known, self.numerators, np.nan) / np.where(known, self.denominators, np.nan)

    # --- covariances ----------------------------------------------------------------------------

    @cached_property
    def _smoothed(self) -> tuple[Array, Array]:
        """The mean of s, for each outcome and group, and of s times s, of the counts with people added."""
        first, second, people = self.channel.smoothed(self.together, self.people)
        total = people.sum(axis=-1)[..., None, None]
        return first / total, second / total[..., None]

    def covariance(self, sets: npt.NDArray[np.intp]) -> Array:
        """Return the covariance of numerators and denominators of sets of groups, and of the overall rate.

        Parameters
        ----------
        sets : array of int of shape (m, g)
            Which groups, g at a time.

        Returns
        -------
        array of shape (..., m, 2 g + 1, 2 g + 1)
            In the order N, D of the first group, N, D of the second, and so on, then the overall rate.
        """
        first, second = self._smoothed
        means = first[..., sets]  # (..., 2, m, g)
        squares = second[..., sets[:, :, None], sets[:, None, :]]  # (..., 2, m, g, g)
        one, all_of = means[..., 1, :, :], means.sum(axis=-3)
        share = self._smooth_overall
        size = 2 * sets.shape[1] + 1
        mean = np.empty((*one.shape[:-1], size))
        mean[..., 0:-1:2], mean[..., 1:-1:2], mean[..., -1] = one, all_of, share[..., None]
        covariance = np.empty((*mean.shape, size))
        above, below, last = slice(0, -1, 2), slice(1, -1, 2), -1
        for row, column in ((above, above), (above, below), (below, above)):
            covariance[..., row, column] = squares[..., 1, :, :, :]
        covariance[..., below, below] = squares.sum(axis=-4)
        for place in (above, below):
            covariance[..., place, last] = covariance[..., last, place] = one
        covariance[..., last, last] = share[..., None]
        covariance -= mean[..., :, None] * mean[..., None, :]
        return covariance / self.n[..., None, None, None]

    # --- intervals ------------------------------------------------------------------------------

    def separated(self, z: float) -> npt.NDArray[np.bool_]:
        """Whether the share of each group is above zero by more than `z` standard errors."""
        return is_separated(self.denominators, self._own[..., 1, 1], z)

    def rate_limits(self, z: float) -> Limits:
        """Return the interval of the rate of each group."""
        variance = rate_variance(
            self.denominators, self._smooth_overall[..., None], self.channel.mean_squares(self.with_outcome)
        )
        size = self.n[..., None]
        known, half = self.separated(z), 0.5 * self.channel.step / size
        return fieller_limits(
            self.numerators,
            self.denominators,
            variance=variance / size[..., None],
            known=known,
            z=z,
            half=half,
        )

    def gap_limits(self, pairs: npt.NDArray[np.intp], z: float) -> Limits:
        """Return intervals of the rate of the first group of each pair minus that of the second."""
        known = self.separated(z)[..., pairs].all(axis=-1)
        above, below = (shares[..., pairs] for shares in self._inside)
        point = np.stack([above, below], axis=-1).reshape(*known.shape, 4)
        covariance = self.covariance(pairs)[..., :4, :4]
        start = above[..., 0] / below[..., 0] - above[..., 1] / below[..., 1]
        low, high = (
            np.where(
                known, find_limit(point, covariance, _gap_equation, start, np.full_like(start, end), z), end
            )
            for end in (-1.0, 1.0)
        )
        return low, high

    def relative_limits(self, z: float) -> Limits:
        """Return intervals of the rate of each group divided by the overall rate.

        They are cut at 0 and where the rate would be 1, and infinite if the overall rate may be zero.
        """
        covariance, (above, below) = self._own, self._inside
        overall = self.overall[..., None] + np.zeros_like(below)
        rare = ~is_separated(overall, covariance[..., 2, 2], z)
        overall = np.where(rare, 1.0, overall)
        most = 1 / np.where(rare, 1.0, overall - z * np.sqrt(covariance[..., 2, 2]))
        point = np.stack([above, below, overall], axis=-1)
        start = above / (below * overall)
        low = find_limit(point, covariance, _relative_equation, start, np.zeros_like(start), z)
        high = find_limit(point, covariance, _relative_equation, start, most, z)
        known = self.separated(z) & ~rare
        return np.where(known, low, 0.0), np.where(rare, np.inf, np.where(known, high, most))

    @cached_property
    def _own(self) -> Array:
        return self.covariance(np.arange(self.k)[:, None])

    @property
    def _smooth_overall(self) -> Array:
        return np.asarray((self.people[..., 1] + ADDED_PEOPLE) / (self.n + 2 * ADDED_PEOPLE))

    @property
    def _inside(self) -> Limits:
        """Numerator and denominator with rates moved to 0 or 1 where they are outside."""
        below = np.where(self.denominators > 0, self.denominators, 1.0)
        return np.clip(self.numerators, 0, below), below


def _gap_equation(gap: Array) -> Limits:
    """N1 D2 - N2 D1 - gap D1 D2 = 0, of (N1, D1, N2, D2)."""
    quadratic = np.zeros((*gap.shape, 4, 4))
    quadratic[..., 0, 3] = quadratic[..., 3, 0] = 0.5
    quadratic[..., 1, 2] = quadratic[..., 2, 1] = -0.5
    quadratic[..., 1, 3] = quadratic[..., 3, 1] = -gap / 2
    return quadratic, np.zeros((*gap.shape, 4))


def _relative_equation(ratio: Array) -> Limits:
    """N - ratio D share = 0, of (N, D, share)."""
    quadratic, linear = np.zeros((*ratio.shape, 3, 3)), np.zeros((*ratio.shape, 3))
    quadratic[..., 1, 2] = quadratic[..., 2, 1] = -ratio / 2
    linear[..., 0] = 1.0
    return quadratic, linear


_PAIRS_AT_ONCE = 1 << 13


def worst_pair(moments: GroupMoments) -> tuple[int, int]:
    """Return the groups of the highest and of the lowest rate; the first two if all are equal."""
    highest, lowest = int(moments.rates.argmax()), int(moments.rates.argmin())
    return (highest, lowest) if highest != lowest else (0, 1)


def gap_limits_of_all_pairs(
    moments: GroupMoments, level: float
) -> Iterator[tuple[npt.NDArray[np.intp], Limits]]:
    """Yield pairs of groups, each pair once, with intervals of their gaps that hold together at the level."""
    z = quantile_of_all_pairs(moments, level)
    for first, second in pair_blocks(moments.k):
        pairs = np.stack([first, second], axis=-1)
        for start in range(0, len(pairs), _PAIRS_AT_ONCE):
            block = pairs[start : start + _PAIRS_AT_ONCE]
            yield block, moments.gap_limits(block, z)


def quantile_of_all_pairs(moments: GroupMoments, level: float) -> float:
    """Return within how many standard errors the gap of every pair is, all together at the level.

    The error is shared evenly: rates that come from one report are not independent, and Tukey's quantile,
    which is below this by 3 % for 30 groups, is proven for independent rates only.
    """
    return normal_quantile((1 - level) / (moments.k * (moments.k - 1) / 2))


def difference_interval(moments: GroupMoments, level: float) -> tuple[Array, Array, float]:
    """Return limits of the largest difference between two rates, and the quantile that was used.

    Every pair gets an interval of its signed difference, all together at the level; the largest is at
    least what one of them excludes and at most what one of them allows.
    """
    low = high = np.zeros(moments.n.shape)
    for _, limits in gap_limits_of_all_pairs(moments, level):
        least, most = difference_range(limits)
        low = np.maximum(low, least.max(axis=-1))
        high = np.maximum(high, most.max(axis=-1))
    return low, high, quantile_of_all_pairs(moments, level)


def ratio_interval(moments: GroupMoments, level: float) -> tuple[Array, Array, float]:
    """Return limits of the largest distance of a rate from the overall one, and the quantile used."""
    z = normal_quantile((1 - level) / moments.k)
    low, high = moments.relative_limits(z)
    least, most = difference_range((low - 1, high - 1))
    return np.asarray(least.max(axis=-1)), np.asarray(most.max(axis=-1)), z
