"""Chernoff's bound on the total, and what may lie outside the event."""

import numpy as np
import pytest

from evenhand.decide.allotment.allotment import Allotment
from evenhand.decide.allotment.noisy_total import build_noisy_shares, chernoff, outside_event
from evenhand.decide.exact.noise_laws import linear_law
from evenhand.privacy.laws import DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace

LAWS = [Laplace(10), DiscreteLaplace(10), Gaussian(400), DiscreteGaussian(400)]


@pytest.mark.parametrize("law", LAWS, ids=repr)
@pytest.mark.parametrize("distance", [0.2, 0.5, 0.9, 1.5])
def test_the_bound_is_above_the_probability(law, distance):
    """Everything certified rests on it."""
    bound, _ = chernoff(build_noisy_shares(Allotment([1, 2]), [50, 60], law), distance)
    exact = float(linear_law([1, 2], [law, law]).above(170 * distance - 1e-9))

    assert exact <= bound <= max(60 * exact, 1e-13)


def test_noise_of_several_laws():
    """The weights of each law are taken with it."""
    laws = [Laplace(10), Gaussian(100), DiscreteLaplace(5)]
    bound, _ = chernoff(build_noisy_shares(Allotment([1, 2, 0]), [50, 60, 7], laws), 0.9)

    assert 0 < bound < 1e-3


def test_a_negligible_noise_has_a_bound_of_zero():
    """No tilt is needed where there is no noise that counts."""
    bound, _ = chernoff(build_noisy_shares(Allotment([1, 1]), [10**9, 10**9], Gaussian(1)), 0.9)

    assert bound == 0.0


@pytest.mark.parametrize(("law", "count"), [(Laplace(10), 15), (Laplace(10), 40), (Gaussian(400), 15)])
def test_no_bound_where_noise_is_as_large_as_the_total(law, count):
    """Then the principal value is computed, not bounded."""
    tail = outside_event(build_noisy_shares(Allotment([1, 1]), [count, count], law))

    assert not np.isfinite(tail.slack) or tail.slack > 1e-3


def test_a_small_total_on_a_grid_has_no_bound_either():
    tail = outside_event(build_noisy_shares(Allotment([1, 1]), [1, 2], DiscreteLaplace(30)))

    assert not np.isfinite(tail.slack)
    assert tail.covers == "the mean, a total of 0 counting as no error"
