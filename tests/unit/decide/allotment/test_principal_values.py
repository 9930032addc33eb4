"""The principal value and the Fourier sum, where the series is not certified."""

import numpy as np
import pytest

from evenhand.decide.allotment import principal_values as allotment_value
from evenhand.decide.allotment.allotment import Allotment
from evenhand.decide.allotment.moments import allotment_bias, total_not_positive
from evenhand.decide.allotment.noisy_total import build_noisy_shares
from evenhand.decide.allotment.principal_values import lattice_bias, principal_value
from evenhand.decide.allotment.series import bias_series
from evenhand.decide.exact.noise_laws import linear_law
from evenhand.privacy.laws import DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace
from unit.decide._slow_shares import by_enumeration
from unit.decide._slow_shares import principal_value as slow_value

WEIGHTS, COUNTS = [1, 2, 1.5], [30, 50, 80]
SHARES = Allotment(WEIGHTS)
WIDE = np.array([-0.002311882543734333, -0.019467599279598184, 0.021779481823332517])


class TestPrincipalValue:
    def test_wide_laplace_noise(self):
        """Computed once to 30 digits; the nightly run computes it again."""
        found = allotment_bias(SHARES, COUNTS, Laplace(20))

        assert found.values == pytest.approx(WIDE, rel=1e-12)
        assert (found.error_bound < 1e-13).all()
        assert found.method == "principal value by the characteristic function, error estimated"

    @pytest.mark.nightly
    @pytest.mark.parametrize("scale", [2, 20, 150])
    def test_thirty_digits(self, scale):
        """The slow way, at several sizes of noise."""
        values, error = principal_value(build_noisy_shares(SHARES, COUNTS, Laplace(scale)))

        assert (np.abs(values - slow_value(WEIGHTS, COUNTS, scale)) <= error + 1e-17).all()

    @pytest.mark.parametrize("squared", [8, 500, 40_000])
    def test_gaussian_noise_is_dawsons_function(self, squared):
        """Given the noise in the total, an entity's own noise is a part of it: one integral for all."""
        from scipy.special import dawsn

        noisy = build_noisy_shares(SHARES, COUNTS, Gaussian(squared))
        variance = float((noisy.reach**2).sum())
        place = 1 / np.sqrt(2 * variance)
        exact = (noisy.reach**2 / variance - noisy.shares) * (1 - 2 * place * dawsn(place))
        values, _ = principal_value(noisy)

        assert values == pytest.approx(exact, rel=1e-9, abs=1e-15)

    def test_it_agrees_with_the_series_where_both_are_good(self):
        """Two derivations, one number; also with laws that differ."""
        for laws in (Laplace("1.5"), [Laplace(1), Gaussian(3), Laplace(2)]):
            noisy = build_noisy_shares(SHARES, COUNTS, laws)
            values, _ = principal_value(noisy)

            assert values == pytest.approx(bias_series(noisy).values, rel=1e-10)


class TestFourier:
    @pytest.mark.parametrize(
        ("law", "reach"), [(DiscreteLaplace("0.5"), 16), (DiscreteGaussian(2), 12)], ids=repr
    )
    @pytest.mark.parametrize("weights", [[1, 2, 1.5], [10, 20, 30]])
    def test_it_is_the_sum_over_all_totals_but_zero(self, law, reach, weights):
        """With three people in a place, totals of 0 do happen."""
        counts = [3, 0, 2]
        values, error = lattice_bias(build_noisy_shares(Allotment(weights), counts, law))
        slow, _ = by_enumeration(weights, counts, law, reach)

        assert values == pytest.approx(slow, abs=2e-12)
        assert (np.abs(values - slow) <= error + 1e-12).all()

    def test_it_is_used_where_the_series_is_not_certified(self):
        found = allotment_bias(Allotment([1, 2]), [3, 5], DiscreteLaplace(2))

        assert found.method == "Fourier sum over all totals, 0 counting as no error, error estimated"

    def test_tables_that_are_too_long_keep_the_series_and_its_bound(self, monkeypatch):
        """Then it is for the caller to sample."""
        monkeypatch.setattr(allotment_value, "_MOST_POINTS", 8)
        found = allotment_bias(Allotment([1, 2]), [3, 5], DiscreteLaplace(2))
        chance = total_not_positive(Allotment([1, 2]), [3, 5], DiscreteLaplace(2))

        assert "not certified" in found.method
        assert chance[1].startswith("at most")

    def test_weights_on_no_grid_keep_the_series(self):
        found = allotment_bias(Allotment([1, 2**0.5]), [3, 5], DiscreteLaplace(2))

        assert "not certified" in found.method


class TestChance:
    @pytest.mark.parametrize(
        ("law", "method"),
        [
            (DiscreteLaplace(10), "by a Fourier sum"),
            (DiscreteGaussian(800), "by a Fourier sum"),
            (Laplace(10), "by the characteristic function"),
            (Gaussian(800), "by the characteristic function"),
        ],
        ids=repr,
    )
    def test_it_is_that_of_the_sum_of_noises(self, law, method):
        """Another way to the same probability."""
        found = total_not_positive(Allotment([1, 2]), [50, 60], law)

        assert found[0] == pytest.approx(
            float(linear_law([1, 2], [law, law]).below(-170)), rel=1e-9, abs=1e-14
        )
        assert found[1] == method
