"""Cumulants and moment generating functions of the laws, against sums and integrals."""

import math

import numpy as np
import pytest

from evenhand.decide.exact.noise_laws import (
    even_moments,
    log_mgf,
    mean_size_tilted,
    standard_cumulants,
    tilt_limit,
)
from evenhand.errors import InvalidParameterError
from evenhand.privacy.laws import DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace, Law

DISCRETE = [
    DiscreteLaplace("0.3"),
    DiscreteLaplace(2),
    DiscreteGaussian("0.05"),
    DiscreteGaussian("0.3"),
    DiscreteGaussian("3.9"),
    DiscreteGaussian(4),
    DiscreteGaussian(30),
]


def slow_moment(law, power):
    places = np.arange(-600, 601, dtype=np.float64)
    return math.fsum(law.pmf(places) * (places / law.standard_deviation) ** power)


class TestCumulants:
    @pytest.mark.parametrize("law", DISCRETE, ids=repr)
    def test_moments_of_whole_noise_are_its_own(self, law):
        """The discrete laws are not their continuous neighbours: at a scale of 0.3 nothing is."""
        moments = even_moments(np.array(standard_cumulants(law, 5)))

        assert moments == pytest.approx([slow_moment(law, 2 * m) for m in range(6)], rel=1e-10)

    def test_laplace_moments_are_factorials(self):
        """E X^(2m) = (2m)! b^(2m)."""
        moments = even_moments(np.array(standard_cumulants(Laplace(3), 6)))

        assert moments == pytest.approx([math.factorial(2 * m) / 2**m for m in range(7)], rel=1e-14)

    def test_gaussian_moments_are_double_factorials(self):
        assert even_moments(np.array(standard_cumulants(Gaussian(9), 4))).tolist() == [1, 1, 3, 15, 105]

    def test_an_unknown_law_is_refused(self):
        class Strange(Law):
            pass

        Strange.__abstractmethods__ = frozenset()
        with pytest.raises(InvalidParameterError, match="a law of noise of evenhand"):
            standard_cumulants(Strange(), 2)


class TestTilts:
    @pytest.mark.parametrize("law", [*DISCRETE, Laplace(2), Gaussian(5)], ids=repr)
    @pytest.mark.parametrize("part", [0.0, 0.3, 0.9])
    def test_bounds_are_above_and_close(self, law, part):
        """A bound that is too low certifies what is false."""
        tilt = part * min(tilt_limit(law), 1.0)
        places = np.arange(-900, 901, dtype=np.float64)
        if law.support == "reals":
            places = np.linspace(-300, 300, 60_001)
        masses = law.pmf(places) if law.support == "integers" else law.pdf(places) * (places[1] - places[0])
        factor = masses * np.exp(np.where(masses > 0, tilt * places, 0.0))
        true, size = factor.sum(), (np.abs(places) * factor).sum()
        bound = math.exp(log_mgf(law, np.array(tilt)))

        assert true <= bound * (1 + 1e-5)
        assert size <= bound * float(mean_size_tilted(law, np.array(tilt))) * (1 + 1e-6)
        if not isinstance(law, DiscreteGaussian):
            assert bound == pytest.approx(true, rel=1e-5)
