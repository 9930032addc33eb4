"""The bias and variance of suppression against sums from the definition."""

import math
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest

from evenhand.release.mechanisms.suppression_bias import (
    at_least,
    count_noise_moments,
    idealized_threshold_bias,
    sampled_moments,
    suppression_bias,
    threshold_noise_moments,
)
from unit.release._slow_suppression import noise_below, noise_mass

COUNTS = [0, 1, 3, 4, 5, 6, 7, 20, 49, 51]


def _close(got, truth):
    return got == pytest.approx(float(truth), rel=1e-11, abs=1e-290)


def test_the_printed_vector_of_a_continuous_noisy_threshold():
    found = idealized_threshold_bias(4, 6, scale=Fraction(2))

    assert found == pytest.approx(-0.841132205394, rel=1e-11)
    assert found != pytest.approx(threshold_noise_moments([4], 6, scale=Fraction(2)).bias[0], abs=0.1)


def test_suppression_without_noise_is_half_the_threshold_below_it():
    """Equation 1 of the paper would give 0 for the count 4 with threshold 6; Algorithm 1 gives -1."""
    assert suppression_bias([[0, 4], [6, 9]], 6, fill=3).tolist() == [[3, -1], [0, 0]]


@pytest.mark.parametrize("threshold", [0, 1, 5, 6, 50])
@pytest.mark.parametrize("scale", [Fraction(1, 10), 2, 20])
def test_noise_on_counts_has_the_moments_of_its_two_outcomes(threshold, scale):
    with mp.workdps(300):  # so that 1 minus a chance near 1 is right
        size = 1 / mp.mpf(1 / scale) if scale < 1 else mp.mpf(scale)
        made = count_noise_moments(COUNTS, threshold, scale=scale, fill=threshold / 2)
        for place, count in enumerate(COUNTS):
            below = noise_below(threshold - count, size)
            off = mp.mpf(threshold) / 2 - count

            assert _close(made.bias[place], off * below)
            assert _close(made.variance[place], off**2 * below * (1 - below))


@pytest.mark.parametrize("threshold", [0, 5, 6, 50])
@pytest.mark.parametrize("scale", [Fraction(1, 10), 3])
def test_a_noisy_threshold_has_the_moments_of_the_whole_sum(threshold, scale):
    """The closed form pairs thresholds; a slip in the pairing would move every bias."""
    with mp.workdps(50):
        size = 1 / mp.mpf(1 / scale) if scale < 1 else mp.mpf(scale)
        made = threshold_noise_moments(COUNTS, threshold, scale=scale)
        masses = {t: noise_mass(t - threshold, size) for t in range(1, 320)}
        for place, count in enumerate(COUNTS):
            offs = [(t // 2 - count, mass) for t, mass in masses.items() if t > count]
            first = sum(off * mass for off, mass in offs)
            second = sum(off**2 * mass for off, mass in offs)

            assert _close(made.bias[place], first)
            assert _close(made.variance[place], second - first**2)


def test_the_two_noises_are_two_mechanisms():
    """If they had one bias, one of the two would be the other under a second name."""
    one = count_noise_moments([4], 6, scale=2, fill=3).bias[0]
    other = threshold_noise_moments([4], 6, scale=2).bias[0]

    assert one == pytest.approx(-0.771010009086, rel=1e-11)
    assert other == pytest.approx(-0.557303855236, rel=1e-11)


def test_large_counts_and_no_counts_are_fine():
    large = threshold_noise_moments([2**40, 2**40 + 1], 6, scale=2)

    assert large.bias.tolist() == [0, 0]
    assert threshold_noise_moments(np.zeros((0,)), 6, scale=2).bias.shape == (0,)
    assert threshold_noise_moments(np.ones((2, 3)), 6, scale=2).variance.shape == (2, 3)
    assert count_noise_moments([2**40], 6, scale=2000, fill=3).bias.tolist() == [0]


SAMPLED = [0, 1, 2, 5, 8, 30]


def _law(people, rate):
    return [math.comb(people, j) * rate**j * (1 - rate) ** (people - j) for j in range(people + 1)]


@pytest.mark.parametrize("k", [1, 2, 6])
@pytest.mark.parametrize("rate", [0.03, 0.6])
def test_moments_are_those_of_all_outcomes(k, rate):
    """A published estimate with a wrong stated bias would mislead whoever corrects for it."""
    for weight in (1.0, 1 / rate):
        made = sampled_moments(SAMPLED, k, rate, weight=weight)
        for place, count in enumerate(SAMPLED):
            shown = [weight * j if j >= k else 0 for j in range(count + 1)]
            mean = math.fsum(chance * each for chance, each in zip(_law(count, rate), shown, strict=True))
            second = math.fsum(
                chance * (each - mean) ** 2 for chance, each in zip(_law(count, rate), shown, strict=True)
            )

            assert made.bias[place] == pytest.approx(mean - count, rel=1e-11, abs=1e-13)
            assert made.variance[place] == pytest.approx(second, rel=1e-10, abs=1e-13)


def test_the_weighted_count_is_right_on_average_where_nothing_is_suppressed():
    assert sampled_moments([10**6], 5, 0.1, weight=10).bias[0] == pytest.approx(0, abs=1e-8)


def test_tails_of_binomials():
    assert at_least(0, [0, 3], 0.5).tolist() == [1, 1]
    assert at_least(2, [0, 1, 2, 3], 0.5).tolist() == pytest.approx([0, 0, 0.25, 0.5])
    assert np.isfinite(at_least(5, [2**40], 1e-9)).all()
