"""One over a noisy total."""

import math

import numpy as np
import pytest

from evenhand.decide.allotment import principal_values
from evenhand.decide.allotment.allotment import Allotment
from evenhand.decide.allotment.principal_values import reciprocal_mean
from evenhand.errors import InvalidParameterError
from evenhand.privacy.laws import DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace


def slow(total, law, reach):
    noise = np.arange(-reach, reach + 1)
    terms = [p * (total / (total + n) - 1) for n, p in zip(noise, law.pmf(noise), strict=True) if total + n]
    missed = float(law.pmf(-total)) if total % 1 == 0 else 0.0
    return math.fsum(terms) - missed


class TestVectors:
    def test_the_closed_form_for_laplace_noise(self):
        """Z = 100, b = 10: 2.355 % too large."""
        found = reciprocal_mean(100, Laplace(10))

        assert (1 + found.excess) / 100 == pytest.approx(0.01023551772066, rel=1e-11)
        assert found.excess == pytest.approx(0.02355, abs=5e-6)

    def test_far_from_zero_it_is_the_variance_over_the_square(self):
        found = reciprocal_mean(10_000, Laplace(10))

        assert found.method == "series, certified"
        assert found.excess == pytest.approx(200 / 1e8, rel=1e-4)
        assert found.square == pytest.approx(1 + 3 * 200 / 1e8, rel=1e-9)


class TestMethods:
    @pytest.mark.parametrize("total", [30, 45, 60, 90])
    def test_the_closed_form_agrees_with_the_series_where_they_meet(self, total):
        """Also across the place where exponential integrals become asymptotic."""
        closed = principal_values._closed_form(total, Laplace(1)) - 1
        excess, _, error = principal_values._reciprocal_series(
            principal_values.build_noisy_shares(Allotment([1]), [total], Laplace(1), owner="test")
        )

        assert abs(closed - excess) <= error + 1e-14

    def test_gaussian_noise(self):
        """Dawson's function near, the series far away."""
        near, far = reciprocal_mean(10, Gaussian(9)), reciprocal_mean(100, Gaussian(9))

        assert near.method == "closed form"
        assert near.excess == pytest.approx(0.1343, abs=2e-3)
        assert far.method == "series, certified"

    @pytest.mark.parametrize(
        ("law", "total"), [(DiscreteLaplace(3), 7), (DiscreteGaussian(9), 7), (DiscreteLaplace(3), 1)]
    )
    def test_whole_noise_is_added_up(self, law, total):
        """Totals of 0 pay nobody, which counts as a share of 0."""
        found = reciprocal_mean(total, law)

        assert found.method == "sum over all totals but 0"
        assert found.excess == pytest.approx(slow(total, law, 200), abs=1e-12)

    def test_a_total_on_no_grid_keeps_the_series(self):
        assert reciprocal_mean(7.5, DiscreteLaplace(3)).method == "series, not certified"

    @pytest.mark.parametrize("total", [0, -3, math.inf, "10", None])
    def test_totals_without_a_reciprocal_are_refused(self, total):
        with pytest.raises(InvalidParameterError, match="The 'total' parameter of reciprocal_mean"):
            reciprocal_mean(total, Laplace(2))


@pytest.mark.parametrize(
    ("total", "law"), [(1, DiscreteLaplace(2)), (3, DiscreteLaplace(1)), (7, DiscreteGaussian(100))]
)
def test_the_square_of_a_small_total_is_a_sum_too(total, law):
    """The variance of a share comes from it; a series that goes astray made it six times too large."""
    noise = np.arange(-1_000, 1_001)
    totals = noise + total
    kept = totals != 0
    slow = float((law.pmf(noise)[kept] * (total / totals[kept]) ** 2).sum())

    assert reciprocal_mean(float(total), law).square == pytest.approx(slow, rel=1e-9)


def test_there_is_no_square_where_real_noise_reaches_a_total_of_0():
    """One over the square of the total has no mean then, and the series is far off."""
    assert math.isnan(reciprocal_mean(3.0, Laplace(4)).square)
    assert math.isnan(reciprocal_mean(3.0, Gaussian(16)).square)
    assert reciprocal_mean(300.0, Laplace(4)).square == pytest.approx(1 + 3 * 2 * 16 / 300**2, rel=1e-5)
