"""Means of clamped shares against draws: shares lie in [0, 1], so Hoeffding's bound is an exact test."""

import math

import numpy as np
import pytest

from evenhand.decide.allotment.allotment import Allotment
from evenhand.decide.allotment.moments import allotment_bias
from evenhand.decide.mitigate import linear_proxy
from evenhand.privacy.laws import DiscreteGaussian, DiscreteLaplace, Laplace
from evenhand.privacy.randomness import SeededSource
from evenhand.release.postprocess.steps import Nonnegative, Shrink
from statistical._exact import ALPHA

DRAWS = 60_000
SHARES, COUNTS = Allotment([1, 2, 1.5]), np.array([3, 0, 8])


def mean_share(law, step, seed):
    """Return the average shares of many releases; those of nothing are 0."""
    noise = law.draw(size=(DRAWS, 3), source=SeededSource(seed))
    return np.nan_to_num(SHARES.shares(step.apply(COUNTS + noise)), nan=0.0).mean(axis=0)


def rejects(average, expected):
    """Say whether means of numbers between 0 and 1 are too far off to be by chance, at ALPHA in all."""
    return bool((np.abs(average - expected) > math.sqrt(math.log(6 / ALPHA) / (2 * DRAWS))).any())


@pytest.mark.statistical
@pytest.mark.parametrize("law", [DiscreteLaplace(4), DiscreteGaussian(16), Laplace(4)], ids=repr)
@pytest.mark.parametrize("step", [Nonnegative(), Shrink(6)], ids=repr)
def test_draws_agree_with_the_exact_mean(law, step):
    """And would not with the mean without the clamp, which is the twin that must fail."""
    truth = SHARES.shares(COUNTS)
    average = mean_share(law, step, 11)
    exact = truth + allotment_bias(SHARES, COUNTS, law, post=[step]).values

    assert not rejects(average, exact)
    assert rejects(average, truth)
    assert rejects(average, truth + 0.7 * (exact - truth))


@pytest.mark.statistical
def test_the_linear_proxy_is_too_large_as_it_says():
    """A third of a percent of a share at a total of 25 scales; a proxy without bias is rejected.

    One over the total, averaged over a noise and its opposite, is between 1 and 4/3 where the total moves by
    at most a half of itself, which it leaves four times in a million draws.
    """
    law, draws = Laplace(40), 400_000
    proxy = linear_proxy(Allotment([1, 1]), {"x": [400, 600]}, Laplace(20), unit="add or remove one")
    moved = law.draw(size=draws, source=SeededSource(3)) / 1000
    average = (1 / (1 - np.minimum(moved**2, 0.25))).mean() - 1
    radius = math.sqrt(math.log(2 / ALPHA) / (2 * draws)) / 3
    beyond = 2 * float(law.cdf(-500))

    assert abs(average - proxy.bias[0] / 0.4) < radius + beyond
    assert abs(average) > radius + beyond
