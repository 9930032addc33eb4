"""Mechanisms of release with one bug each, planted to see whether the checks of the suite notice."""

from functools import cached_property

import numpy as np

from evenhand.privacy import laws
from evenhand.privacy.scales import GaussianNoise, LaplaceNoise, laplace_noise
from evenhand.release.mechanisms.mechanism import Published
from evenhand.release.mechanisms.noise import DiscreteGaussian, Laplace
from evenhand.release.mechanisms.thresholded import ThresholdedLaplace


class SensitivityLeftOut(DiscreteGaussian):
    """Bug 3: the variance is 1 / (2 rho), whatever one person can move; rho is promised all the same."""

    @cached_property
    def noise(self):
        return GaussianNoise(1 / (2 * self.rho), self.rho)


class SensitivityLeftOutOfTheDraw(Laplace):
    """Bug 3, in what is drawn only: law, bias and guarantee are those of the right scale."""

    def _publish(self, histogram, source):
        narrow = laws.DiscreteLaplace(1 / self.epsilon)
        return Published(
            histogram.with_counts(histogram.counts + narrow.draw(size=histogram.shape, source=source))
        )


class CountedAsAddOrRemove(Laplace):
    """Bug 10: people are replaced, and the scale is that for people who are added or removed."""

    @cached_property
    def noise(self):
        right = laplace_noise(self.epsilon, sensitivity=1)
        return LaplaceNoise(right.scale, right.epsilon)


class ThirtyTwoBits(Laplace):
    """Bug 7: counts are cast to 32 bits on the way."""

    def _publish(self, histogram, source):
        made = super()._publish(histogram, source).histogram
        return Published(histogram.with_counts(made.counts.astype(np.int32)))


class EmptyCellsShare(Laplace):
    """Bug 9: one draw of noise for all empty cells of a row of the table."""

    def _publish(self, histogram, source):
        noise = self.law.draw(size=histogram.shape, source=source)
        empty = histogram.counts == 0
        shared = np.where(empty, noise[..., :1], noise)
        return Published(histogram.with_counts(histogram.counts + shared))


class NeighbouringRowsShare(Laplace):
    """Bug 9, from one row to the next: every second row has the noise of the row before."""

    def _publish(self, histogram, source):
        noise = self.law.draw(size=histogram.shape, source=source)
        noise[1::2] = noise[: 2 * (len(noise) // 2) : 2]
        return Published(histogram.with_counts(histogram.counts + noise))


class EmptyCellsDropped(Laplace):
    """Bug 9: what is empty is published as 0, without noise."""

    def _publish(self, histogram, source):
        made = super()._publish(histogram, source).histogram
        return Published(histogram.with_counts(np.where(histogram.counts == 0, 0, made.counts)))


class EmptyCellsNeverSurvive(ThresholdedLaplace):
    """Bug 9, in a table kept as its filled cells: only those are published."""

    def _sparse(self, histogram, source):
        noisy = histogram.filled + self.law.draw(size=histogram.filled.size, source=source)
        kept = noisy >= self.threshold
        return type(histogram).of_cells(histogram.cells[kept], noisy[kept], histogram.schema)


class SurvivorsShareAValue(ThresholdedLaplace):
    """Bug 9, in the values: all empty cells that survive have the same count."""

    def _sparse(self, histogram, source):
        made = super()._sparse(histogram, source)
        empty = ~np.isin(made.cells, histogram.cells)
        values = made.filled.copy()
        values[empty] = values[empty][:1]
        return type(histogram).of_cells(made.cells, values, histogram.schema)
