"""What GridNoise draws is the discrete Gaussian that its cost was computed for."""

import pytest

from evenhand.privacy.grid_noise import GridNoise
from evenhand.privacy.laws import DiscreteGaussian
from evenhand.privacy.randomness import SecureSource, SeededSource
from statistical._exact import ALPHA, exact_events_pvalue

pytestmark = pytest.mark.statistical

DRAWS = 200_000


@pytest.mark.parametrize("noise", ["0.1", "1.0976", 2, "46.1"])
def test_draws_follow_the_law_of_the_grid(noise):
    """A standard deviation 3 % off would be a guarantee that nobody proved."""
    grid = GridNoise(1, noise, DRAWS)
    draws = grid.draw(DRAWS, SeededSource(8))

    assert exact_events_pvalue(draws, DiscreteGaussian(grid.variance)) > ALPHA
    assert exact_events_pvalue(draws, DiscreteGaussian(round(grid.variance * 1.03**2))) < ALPHA
    assert exact_events_pvalue(draws, DiscreteGaussian(round(grid.variance * 0.97**2))) < ALPHA


def test_the_secure_source_draws_the_same_law():
    grid = GridNoise(1, 2, DRAWS)
    draws = grid.draw(DRAWS, SecureSource())

    assert exact_events_pvalue(draws, DiscreteGaussian(grid.variance)) > ALPHA
    assert exact_events_pvalue(draws, DiscreteGaussian(round(grid.variance * 0.95**2))) < ALPHA


def test_in_units_of_the_clip_the_noise_is_the_multiplier():
    """A grid one power of two off would halve or double the noise in the model's units."""
    grid = GridNoise("1.5", 3, DRAWS)
    scaled = grid.draw(DRAWS, SeededSource(9)) * float(grid.spacing)

    assert abs(scaled.std() / 4.5 - 1) < 0.02
