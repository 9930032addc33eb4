"""The expected size of an error, exact: against sums and integrals written out."""

import math

import numpy as np
import pytest
from scipy.integrate import quad

from evenhand.privacy.laws import DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace
from evenhand.release.mechanisms.noise import DiscreteGaussian as GaussianNoise
from evenhand.release.mechanisms.suppression import NoisySuppression
from evenhand.release.mechanisms.thresholded import ThresholdedLaplace
from evenhand.release.postprocess import Integral, Nonnegative, Shrink, SumTo
from evenhand.release.postprocess.steps import absolute_error_after
from unit.release._slow_suppression import small_table

COUNTS = [0, 1, 3, 17, 400]
WHOLE = [
    DiscreteLaplace(2),
    DiscreteLaplace("1/3"),
    DiscreteLaplace(9),
    DiscreteGaussian(4),
    DiscreteGaussian(90),
]


def by_sum(count, law, error):
    """Add up probability times the size of the error over all noise."""
    far = math.ceil(45 * law.standard_deviation) + 45
    noise = np.arange(-far, far + 1)
    return math.fsum(law.pmf(noise) * np.abs(error(count, noise)))


@pytest.mark.parametrize("law", WHOLE, ids=str)
@pytest.mark.parametrize(
    "steps",
    [
        [],
        [Integral()],
        [Nonnegative()],
        [Nonnegative(least=2), Integral()],
        [Shrink(1.5)],
        [Shrink(4, least=1), Integral()],
        [Nonnegative(), Shrink(2)],
    ],
    ids=str,
)
def test_the_size_of_errors_is_the_sum_over_all_noise(law, steps):
    """Whole counts are rounded about at random, so that rounding changes no expected size."""

    def error(count, noise):
        values = (count + noise).astype(float)
        for step in steps:
            values = values if isinstance(step, Integral) else step.apply(values)
        return values - count

    expected = [by_sum(count, law, error) for count in COUNTS]
    assert absolute_error_after(COUNTS, law, steps) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("law", [Laplace(2), Laplace("1/3"), Gaussian(4)], ids=str)
@pytest.mark.parametrize("steps", [[], [Nonnegative()], [Nonnegative(least=3)]], ids=str)
def test_the_size_of_errors_of_continuous_noise_is_an_integral(law, steps):
    least = max((step.least for step in steps), default=-math.inf)
    far = 45 * law.standard_deviation

    def size(noise, count):
        return float(law.pdf(noise)) * abs(max(count + noise, least) - count)

    expected = [
        quad(size, -far, far, args=(count,), points=sorted({0.0, max(least - count, -far)}), limit=400)[0]
        for count in COUNTS
    ]
    assert absolute_error_after(COUNTS, law, steps) == pytest.approx(expected, rel=1e-6)


def test_where_no_formula_is_known_there_is_none():
    """A number that passes for exact is trusted more than a sampled one."""
    law = DiscreteLaplace(2)

    assert absolute_error_after(COUNTS, law, [SumTo(9)]) is None
    assert absolute_error_after(COUNTS, law, [Shrink(2), Integral(), Nonnegative(least=1)]) is None
    assert absolute_error_after(COUNTS, Laplace(2), [Shrink(2)]) is None


def test_the_least_rho_that_can_be_drawn_has_an_exact_size():
    """What can be released can be studied."""
    noise = GaussianNoise(rho="1e-9", unit="replace one")
    [size, _] = noise.exact_absolute_error(small_table([3, 4]))

    assert size == pytest.approx(noise.law.standard_deviation * math.sqrt(2 / math.pi), rel=1e-6)


@pytest.mark.parametrize("threshold", [0, 1, 4, 30])
def test_a_threshold_after_noise_has_the_sum_over_all_noise(threshold):
    mechanism, table = ThresholdedLaplace(1, threshold), small_table(COUNTS)

    def error(count, noise):
        return np.where(count + noise >= threshold, noise, -count)

    expected = [by_sum(count, mechanism.law, error) for count in COUNTS]
    assert mechanism.exact_absolute_error(table) == pytest.approx(expected, rel=1e-10)
    assert mechanism.exact_absolute_error(table, post=[SumTo(9)]) is None


def test_a_noisy_threshold_with_its_half_has_no_formula():
    """Half of another threshold errs upwards and downwards in one cell, so that the bias is not the error."""
    table = small_table(COUNTS)
    half = {"noise": "threshold", "fill": "half-threshold"}

    assert NoisySuppression(1, 6, **half).exact_absolute_error(table) is None
    assert NoisySuppression(1, 6, **half | {"fill": "zero"}).exact_absolute_error(table) is not None
    assert NoisySuppression(1, 6).exact_absolute_error(table, post=[Integral()]) is None
