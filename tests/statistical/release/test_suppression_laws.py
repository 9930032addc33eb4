"""Suppression and sampling are drawn as stated, and measured delta stays within the claimed one.

Laws: exact binomial tests, alpha 1e-9, on outcomes fixed in advance, with twins: rates 3 % off, and scales
10 % off where all that is seen of the noise is one bit. Audits: the event that tells two tables apart is
fixed in advance, and its chances are bounded by Clopper and Pearson; a mutant must be found out.
"""

import dataclasses
import math
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from scipy.stats import beta, binom

from evenhand.privacy.randomness import SecureSource, SeededSource
from evenhand.release.delta.sampling import sampled_delta
from evenhand.release.mechanisms.generalized_sampling import GeneralizedSampling
from evenhand.release.mechanisms.suppression import NoisySuppression
from evenhand.release.table.histogram import Histogram
from evenhand.schema import Column, Domain, Schema
from statistical._exact import ALPHA, Event, exact_events_pvalue
from unit.release._slow_suppression import ADD, noise_below, noise_mass

pytestmark = [pytest.mark.statistical, pytest.mark.figures]

N = 200_000
SURE = 1e-9


def _many(counts, repeats=N):
    """Return a table in which each of the counts stands in its own row, many times."""
    schema = Schema(
        [Column("which", Domain.integers(1, len(counts))), Column("copy", Domain.integers(1, repeats))]
    )
    return Histogram.of(np.repeat(np.array(counts)[:, None], repeats, axis=1), schema, bound=20)


def _lower(hits, n):
    return float(beta.ppf(SURE, hits, n - hits + 1)) if hits else 0.0


def _upper(hits, n):
    return float(beta.ppf(1 - SURE, hits + 1, n - hits)) if hits < n else 1.0


def _measured(first, second, epsilon):
    """Return a lower bound of delta from how often an event happened with either table."""
    return _lower(first.sum(), first.size) - math.exp(epsilon) * _upper(second.sum(), second.size)


# --- laws ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("epsilon", "threshold"), [(1, 5), ("1/2", 6), (3, 4)])
def test_each_count_is_suppressed_with_its_chance(epsilon, threshold):
    """Noise that is too small or shared between cells would show; so do scales that are 10 % off."""
    counts = [2, 5, 9]
    mechanism = NoisySuppression(epsilon, threshold)
    source = SecureSource() if epsilon == 1 else SeededSource(21)
    marks = mechanism._publish(_many(counts), source).suppressed

    def pvalue(factor):
        events = [
            Event(lambda rows, at=at: rows[:, at], float(noise_below(threshold - count, factor * scale)))
            for at, count in enumerate(counts)
        ]
        return exact_events_pvalue(marks.T, events=events)

    scale = mp.mpf(2) / mp.mpf(str(float(mechanism.epsilon)))
    assert pvalue(1) > ALPHA
    assert pvalue(1.1) < ALPHA
    assert pvalue(0.9) < ALPHA


def test_the_noisy_threshold_follows_its_law():
    """The fill tells the threshold up to one: its law is that of pairs."""
    mechanism = NoisySuppression("1/4", 40, noise="threshold", fill="half-threshold")
    table, source = _many([0], repeats=1), SeededSource(3)
    fills = np.array([mechanism._publish(table, source).histogram.counts[0, 0] for _ in range(3_000)])

    def pvalue(scale):
        edges = range(10, 32, 2)
        law = [float(sum(noise_mass(t - 40, scale) for t in (2 * m, 2 * m + 1))) for m in edges]
        events = [Event(lambda x, m=m: x == m, chance) for m, chance in zip(edges, law, strict=True)]
        above = float(noise_below(40 - 40 + 1, scale))  # by symmetry, a threshold of at least 40
        return exact_events_pvalue(fills, events=[*events, Event(lambda x: x >= 20, above)])

    assert pvalue(8) > ALPHA
    assert pvalue(5) < ALPHA
    assert pvalue(13) < ALPHA


@pytest.mark.parametrize(("k", "delta"), [(2, "1/20"), (4, "1/100")])
def test_sampled_counts_follow_their_law(k, delta):
    mechanism = GeneralizedSampling(k=k, epsilon=1, delta=delta)
    source = SecureSource() if k == 2 else SeededSource(8)
    drawn = mechanism._publish(_many([9], repeats=N), source).histogram.counts[0]

    def pvalue(rate):
        law = binom.pmf(np.arange(10), 9, rate)
        law[0] = law[:k].sum()
        law[1:k] = 0
        return exact_events_pvalue(
            drawn,
            events=[
                Event(lambda x, j=j: x == j, float(chance)) for j, chance in enumerate(law) if 0 < chance < 1
            ],
        )

    assert pvalue(float(mechanism.rate)) > ALPHA
    assert pvalue(1.03 * float(mechanism.rate)) < ALPHA
    assert pvalue(0.97 * float(mechanism.rate)) < ALPHA


# --- audits -------------------------------------------------------------------------------------------


def _tells(published, first):
    """The event: one of the two cells shows the count that only the first table has there."""
    values, hidden = published.histogram.counts, published.suppressed
    return ((values == np.array(first)[:, None]) & ~hidden).any(axis=0)


@dataclasses.dataclass(frozen=True, repr=False)
class _HalfTheNoise(NoisySuppression):
    """A mutant: the sensitivity of 2 is left out of the scale, and the guarantee is not computed again."""

    @property
    def scale(self):
        return super().scale / 2

    def _delta(self, *given):
        return NoisySuppression(self.epsilon, self.threshold, noise=self.noise)._delta(*given)


def _audit_counts(mechanism, source):
    first, second = [8, 7], [7, 8]
    drawn = [mechanism._publish(_many(counts, repeats=N), source) for counts in (first, second)]
    table = Histogram.of([0, 0], Schema([Column("cell", Domain.integers(1, 2))]), bound=8)
    return _measured(*(_tells(each, first) for each in drawn), 0), mechanism.guarantee_for(table).delta


def test_measured_delta_of_noise_on_counts_is_the_claimed_one():
    """Not above it, and near it, since it is attained; with half the noise it is above."""
    measured, claimed = _audit_counts(NoisySuppression(1, 5), SeededSource(11))

    assert 0.99 * claimed < measured <= claimed
    measured, claimed = _audit_counts(_HalfTheNoise(1, 5), SeededSource(11))
    assert measured > claimed


def _audit_threshold(mechanism, source, runs=1_500):
    tables = [_many(counts, repeats=1) for counts in ([8, 7], [7, 8])]
    hits = [
        np.concatenate([_tells(mechanism._publish(table, source), [8, 7]) for _ in range(runs)])
        for table in tables
    ]
    table = Histogram.of([0, 0], Schema([Column("cell", Domain.integers(1, 2))]), bound=8)
    return _measured(*hits, 0), mechanism.guarantee_for(table).delta


def test_measured_delta_of_a_noisy_threshold_is_the_claimed_one():
    measured, claimed = _audit_threshold(NoisySuppression(1, 5, noise="threshold"), SeededSource(12))

    assert 0.9 * claimed < measured <= claimed
    measured, claimed = _audit_threshold(_HalfTheNoise(1, 5, noise="threshold"), SeededSource(12))
    assert measured > claimed


@dataclasses.dataclass(frozen=True, repr=False, init=False)
class _TooMany(GeneralizedSampling):
    """A mutant: the rate is a tenth too large."""

    @property
    def rate(self):
        return Fraction(math.floor(super().rate * Fraction(11, 10) * 2**53), 2**53)


@pytest.mark.parametrize(("cls", "within"), [(GeneralizedSampling, True), (_TooMany, False)])
def test_measured_delta_of_sampling_stays_within_the_claimed_one(cls, within):
    """Add or remove one: the cell that attains delta, and the tail that tells it apart, fixed in advance."""
    epsilon, k = 2, 4
    honest = GeneralizedSampling(k=k, epsilon=epsilon, delta="1/100", unit=ADD)
    people = sampled_delta(epsilon, rate=honest.rate, k=k, unit=ADD).loses
    tail = max(k, math.floor(people * (1 - (1 - float(honest.rate)) * math.exp(-epsilon))) + 1)
    mechanism = cls(k=k, epsilon=epsilon, delta="1/100", unit=ADD)
    hits = [
        mechanism._publish(_many([each], repeats=500_000), SeededSource(13)).histogram.counts[0] >= tail
        for each in (people, people - 1)
    ]
    measured = _measured(*hits, epsilon)

    assert (measured <= 0.01) == within
    if within:
        assert measured > 0.005
