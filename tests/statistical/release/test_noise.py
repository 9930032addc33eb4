"""Releases measured from outside: the law of their noise, its independence, and their real delta."""

import math
from functools import cached_property

import numpy as np
import pytest
from scipy.stats import beta

from evenhand.privacy.guarantees.units import Unit
from evenhand.privacy.laws import DiscreteGaussian as GaussianLaw
from evenhand.privacy.laws import DiscreteLaplace
from evenhand.privacy.scales import GaussianNoise, representable
from evenhand.release.mechanisms.noise import DiscreteGaussian, Laplace, cells_moved
from evenhand.release.table.histogram import Histogram
from evenhand.schema import Column, Domain, Schema
from statistical._exact import ALPHA, CORRELATION, exact_events_pvalue, worst_correlation

pytestmark = pytest.mark.statistical


def _table(counts):
    counts = np.asarray(counts)
    return Histogram.of(
        counts, Schema([Column(f"c{i}", Domain.integers(1, n)) for i, n in enumerate(counts.shape)])
    )


def _errors(mechanism, shape, *, rng):
    counts = np.arange(math.prod(shape)).reshape(shape) % 7 * 50
    return mechanism.release(_table(counts), rng=rng).values - counts


# --- A1: the noise of a release has the law that its guarantee is computed from ----------------------


@pytest.mark.parametrize("rng", [None, 20261115], ids=["secure", "seeded"])
@pytest.mark.parametrize(
    ("epsilon", "unit", "scale"), [(1, "replace one", 2), ("1/5", "add or remove one", 5)]
)
def test_laplace_noise_on_a_table_has_the_stated_scale(epsilon, unit, scale, rng):
    errors = _errors(Laplace(epsilon, unit=unit), (400, 500), rng=rng).ravel()

    assert exact_events_pvalue(errors, DiscreteLaplace(scale)) > ALPHA
    for wrong in ("0.97", "1.03"):
        assert exact_events_pvalue(errors, DiscreteLaplace(str(float(wrong) * scale))) < ALPHA


@pytest.mark.parametrize("rng", [None, 20261115], ids=["secure", "seeded"])
@pytest.mark.parametrize(
    ("rho", "unit", "variance"), [("1/25", "replace one", 25), ("1/18", "add or remove one", 9)], ids=str
)
def test_gaussian_noise_on_a_table_has_the_stated_variance(rho, unit, variance, rng):
    errors = _errors(DiscreteGaussian(rho=rho, unit=unit), (400, 500), rng=rng).ravel()

    assert exact_events_pvalue(errors, GaussianLaw(variance)) > ALPHA
    for wrong in (0.94, 1.06):
        assert exact_events_pvalue(errors, GaussianLaw(str(wrong * variance))) < ALPHA


# --- A2: cells have noise of their own ---------------------------------------------------------------


@pytest.mark.nightly
@pytest.mark.parametrize(
    "mechanism", [Laplace(1, unit="replace one"), DiscreteGaussian(rho=1, unit="replace one")], ids=repr
)
def test_every_pair_of_cells_is_uncorrelated(mechanism):
    """Fifty cells, a hundred thousand tables in one: 1,225 pairs, and each with the next row."""
    errors = _errors(mechanism, (100_000, 50), rng=5)
    shared = errors.copy()
    shared[:, 1] = shared[:, 0]

    assert worst_correlation(errors) < CORRELATION
    assert worst_correlation(np.hstack((errors[1:], errors[:-1]))) < CORRELATION
    assert worst_correlation(shared) > CORRELATION


# --- B6: the delta of a mechanism, bounded from below by draws ---------------------------------------


class TooNarrow(DiscreteGaussian):
    """Draws with nine tenths of the deviation it was calibrated to, and promises the same."""

    @cached_property
    def noise(self):
        right = super().noise
        return GaussianNoise(representable(right.variance * 81 / 100), right.rho)

    def exact_delta(self, epsilon):
        return DiscreteGaussian(epsilon=self.epsilon, delta=self.delta, unit=self.unit).exact_delta(epsilon)


def _bounds(mechanism, *, draws, seed):
    """Return what delta surely is at least and at most, from the event at which the loss is above epsilon.

    It is fixed in advance by the law of the noise, and delta is met by it. Both probabilities are bounded on
    both sides by Clopper and Pearson; a quarter of ALPHA for each.
    """
    moved = cells_moved(mechanism.unit)
    before, after = np.full((draws, 2), 100), np.full((draws, 2), 100)
    after[:, 0] += 1
    if moved == 2:
        after[:, 1] -= 1
    seen = []
    for counts, cell in ((after, 1), (before, 2)):
        released = mechanism.release(_table(counts), rng=seed + cell).values - 100
        seen.append(released[:, 0] - released[:, 1] if moved == 2 else released[:, 0])
    variance = float(mechanism.law.squared_scale)
    epsilon = float(mechanism.epsilon)
    threshold = epsilon * variance + moved / 2  # beyond it the loss is above epsilon
    hits = [int((each > threshold).sum()) for each in seen]
    low = [beta.ppf(ALPHA / 4, hit, draws - hit + 1) for hit in hits]
    high = [beta.ppf(1 - ALPHA / 4, hit + 1, draws - hit) for hit in hits]
    return low[0] - math.exp(epsilon) * high[1], high[0] - math.exp(epsilon) * low[1]


@pytest.mark.nightly
@pytest.mark.parametrize("unit", [Unit.REPLACE_ONE, Unit.ADD_OR_REMOVE_ONE], ids=str)
@pytest.mark.parametrize(("epsilon", "delta"), [("1/2", "1/20"), (1, "1/20"), ("1/4", "1/10")])
def test_the_delta_that_draws_show_is_the_claim(epsilon, delta, unit):
    right = DiscreteGaussian(epsilon=epsilon, delta=delta, unit=unit)
    wrong = TooNarrow(epsilon=epsilon, delta=delta, unit=unit)
    claim = float(right.guarantee_for(_table([1, 2])).delta)
    low, high = _bounds(right, draws=1_000_000, seed=3)
    lowest, _ = _bounds(wrong, draws=1_000_000, seed=3)

    assert low <= claim <= high
    assert lowest > claim
