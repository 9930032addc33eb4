"""Noise on tables has the scale that its guarantee is computed from, seen where the kernel is given it."""

from fractions import Fraction

import pytest

from evenhand.privacy import _kernels, sampling
from evenhand.release.delta.noise import exact_delta
from evenhand.release.delta.suppression import count_noise_delta, threshold_noise_delta
from evenhand.release.mechanisms.noise import DiscreteGaussian, Laplace
from evenhand.release.mechanisms.suppression import NoisySuppression
from evenhand.release.mechanisms.thresholded import ThresholdedLaplace
from evenhand.release.table.histogram import Histogram
from evenhand.schema import Column, Domain, Schema

SCHEMA = Schema([Column("place", Domain.integers(0, 3))])
TABLE = Histogram.of([0, 7, 30, 2], SCHEMA)
BOUNDED = Histogram.of([0, 7, 8, 2], SCHEMA, bound=8)
UNITS = [("replace one", 2), ("add or remove one", 1)]  # and how many counts a person moves by one
EPSILONS = ["1", "1/10", "3/7", "0.1234567890123"]


@pytest.fixture
def drawn(monkeypatch):
    """Note every draw: its kernel, its scale or variance in exact numbers, and how many numbers."""
    kept, feed = [], sampling.feed

    def note(kernel, out, parameters, source, **given):
        law = Fraction(int(parameters[0]), int(parameters[1]))
        if kernel is _kernels.discrete_gaussian:
            law *= int(parameters[2])  # the kernel is given p, q t and t of the variance p / q
        kept.append((kernel, law, len(out)))
        return feed(kernel, out, parameters, source, **given)

    monkeypatch.setattr(sampling, "feed", note)
    return kept


@pytest.mark.parametrize(("unit", "moved"), UNITS)
@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("threshold", [None, 5])
def test_laplace_noise_has_the_scale_of_its_epsilon(drawn, unit, moved, epsilon, threshold):
    mechanism = Laplace(epsilon, unit=unit)
    if threshold is not None:
        mechanism = ThresholdedLaplace(epsilon=epsilon, threshold=threshold, unit=unit)
    stated = mechanism.release(TABLE, rng=1).guarantee
    ((kernel, scale, many),) = drawn

    assert kernel is _kernels.discrete_laplace
    assert many == 4
    assert stated.epsilon == moved / scale <= Fraction(epsilon)


@pytest.mark.parametrize(("unit", "moved"), UNITS)
@pytest.mark.parametrize("rho", ["1/25", "1/2", "0.1234567890123"])
def test_gaussian_noise_has_the_variance_of_its_rho(drawn, unit, moved, rho):
    stated = DiscreteGaussian(rho=rho, unit=unit).release(TABLE, rng=1).guarantee
    ((kernel, variance, many),) = drawn

    assert kernel is _kernels.discrete_gaussian
    assert many == 4
    assert stated.rho == moved / (2 * variance) <= Fraction(rho)


@pytest.mark.parametrize(("unit", "moved"), UNITS)
def test_gaussian_noise_has_the_variance_of_its_delta(drawn, unit, moved):
    stated = DiscreteGaussian(epsilon=1, delta="1e-6", unit=unit).release(TABLE, rng=1).guarantee
    ((_, variance, _),) = drawn

    assert stated.delta == exact_delta(variance, 1, cells=moved) <= Fraction(1, 10**6)
    assert exact_delta(variance * (1 - Fraction(1, 2**20)), 1, cells=moved) > stated.delta


@pytest.mark.parametrize("unit", [unit for unit, _ in UNITS])
@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("noise", ["count", "threshold"])
def test_noise_that_suppresses_has_the_scale_of_its_delta(drawn, unit, epsilon, noise):
    stated = NoisySuppression(epsilon, 5, noise=noise, unit=unit).release(BOUNDED, rng=1).guarantee
    ((kernel, scale, many),) = drawn

    assert kernel is _kernels.discrete_laplace
    assert many == (4 if noise == "count" else 1)
    assert 0 <= scale - 2 / Fraction(epsilon) <= scale / 2**30  # 2 / epsilon for either unit
    if noise == "count":
        assert stated.delta == count_noise_delta(5, 8, scale=scale, unit=unit)
    else:
        assert stated.delta == threshold_noise_delta(5, 8, scale=scale)
