"""The bias and variance of sampled counts against all outcomes."""

import math

import numpy as np
import pytest

from evenhand.release.mechanisms.sampling_bias import at_least, merge_bias, sampled_moments

COUNTS = [0, 1, 2, 5, 8, 30]


def _law(people, rate):
    return [math.comb(people, j) * rate**j * (1 - rate) ** (people - j) for j in range(people + 1)]


def test_the_vector_of_theorem_6():
    assert merge_bias([8], 6, 0.6)[0] == pytest.approx(0.68460544, rel=1e-12)
    assert merge_bias([5, 6], 6, 0.6).tolist() == pytest.approx([0, 1 - 0.6**6])


@pytest.mark.parametrize("k", [1, 2, 6])
@pytest.mark.parametrize("rate", [0.03, 0.6])
def test_moments_are_those_of_all_outcomes(k, rate):
    """A published estimate with a wrong stated bias would mislead whoever corrects for it."""
    for weight in (1.0, 1 / rate):
        made = sampled_moments(COUNTS, k, rate, weight=weight)
        for place, count in enumerate(COUNTS):
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
