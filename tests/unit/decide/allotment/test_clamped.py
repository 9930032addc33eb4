"""Shares of counts that were clamped or shrunk: series, bound, integral of transforms."""

import numpy as np
import pytest

from evenhand.decide.allotment import moments
from evenhand.decide.allotment.allotment import Allotment
from evenhand.decide.allotment.moments import allotment_bias, allotment_variance, sampling_reason
from evenhand.errors import InvalidParameterError
from evenhand.privacy.laws import DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace
from evenhand.release.postprocess.steps import Integral, Nonnegative, Shrink, SumTo
from unit.decide._slow_shares import by_enumeration

WEIGHTS = [1, 2, 1.5]


def step_of(post):
    def apply(values):
        for step in post:
            values = step.apply(values)
        return values

    return apply


class TestWholeNoise:
    @pytest.mark.parametrize(
        ("law", "reach"), [(DiscreteLaplace("0.5"), 16), (DiscreteGaussian(2), 12)], ids=repr
    )
    @pytest.mark.parametrize(
        "post", [[Nonnegative()], [Shrink(3)], [Nonnegative(least=1), Integral()]], ids=repr
    )
    @pytest.mark.parametrize("counts", [[3, 0, 8], [3000, 2, 800]], ids=repr)
    def test_it_is_the_sum_over_all_noise(self, law, reach, post, counts):
        """Small places gain by the clamp; by how much must be right to the digit."""
        shares = Allotment(WEIGHTS)
        found = allotment_bias(shares, counts, law, post=post)
        spread = allotment_variance(shares, counts, law, post=post)
        mean, variance = by_enumeration(WEIGHTS, counts, law, reach, step=step_of(post))

        assert (np.abs(found.values - mean) <= found.error_bound + 1e-12).all()
        assert found.values == pytest.approx(mean, abs=2e-12)
        assert (np.abs(spread.values - variance) <= spread.error_bound + 1e-12).all()
        assert abs(found.values.sum()) < 1e-4  # but for releases without any count above 0

    def test_the_methods_are_told_apart(self):
        """Many people: the series, certified. Few: an integral."""
        shares, post = Allotment(WEIGHTS), [Nonnegative()]

        assert (
            "certified" in allotment_bias(shares, [30_000, 2, 80_000], DiscreteLaplace(2), post=post).method
        )
        assert "integral" in allotment_bias(shares, [3, 0, 8], DiscreteLaplace(2), post=post).method

    def test_tables_that_take_too_long_say_so(self, monkeypatch):
        """Then the caller samples."""
        monkeypatch.setattr(moments, "_MOST_WORK", 10)
        shares, post = Allotment(WEIGHTS), [Nonnegative()]

        assert "not certified" in allotment_bias(shares, [3, 0, 8], DiscreteLaplace(2), post=post).method
        assert "not certified" in allotment_variance(shares, [3, 0, 8], DiscreteLaplace(2), post=post).method

    def test_wide_whole_noise_is_taken_for_real_noise_and_says_so(self):
        """Sums over a million whole numbers for each of many counts take too long."""
        shares, counts = Allotment(WEIGHTS), [10**8, 10**5, 10**8]
        for wide, real in (
            (DiscreteLaplace(600), Laplace(600)),
            (DiscreteGaussian(600**2), Gaussian(600**2)),
        ):
            found = allotment_bias(shares, counts, wide, post=[Shrink(100)])
            other = allotment_bias(shares, counts, real, post=[Shrink(100)])

            assert found.values == pytest.approx(other.values, rel=1e-4)
            assert "taken for real noise" in found.method


class TestRealNoise:
    @pytest.mark.parametrize("post", [[Nonnegative()], [Shrink(20)]], ids=repr)
    @pytest.mark.parametrize("law", [Laplace(10), Gaussian(100)], ids=repr)
    def test_the_series_and_the_integral_agree(self, law, post):
        """Two derivations of the same means."""
        shares, counts = Allotment(WEIGHTS), [40_000, 25, 90_000]
        found = allotment_bias(shares, counts, law, post=post)
        noisy = moments.build_noisy_shares(shares, counts, law)
        step = moments._one_step(tuple(post), noisy)
        about = moments._ClampedSeries(noisy, moments.count_cumulants(noisy, step))
        ((mean, error),) = moments._by_transforms(noisy, step, about, (1,))

        assert "certified" in found.method
        assert mean - noisy.shares == pytest.approx(found.values, abs=1e-11)
        assert (error < 1e-10).all()

    @pytest.mark.parametrize("law", [Laplace(3), DiscreteLaplace(3)], ids=repr)
    def test_what_is_left_out_of_the_integral_is_negligible(self, law, monkeypatch):
        """It stops where its terms have fallen; all of them give the same to the last digits."""
        shares, counts, post = Allotment([1, 2, 0, 1.5]), [3, 0, 7, 8], [Nonnegative()]
        short = (
            allotment_bias(shares, counts, law, post=post),
            allotment_variance(shares, counts, law, post=post),
        )
        monkeypatch.setattr(moments, "_FALLEN", 0.0)
        whole = (
            allotment_bias(shares, counts, law, post=post),
            allotment_variance(shares, counts, law, post=post),
        )

        for one, other in zip(short, whole, strict=True):
            assert "integral" in one.method
            assert one.values == pytest.approx(other.values, abs=1e-16, rel=1e-14)

    def test_the_variance_has_a_series_too(self):
        """Of many counts; for three large ones the integral does better."""
        shares, counts = Allotment(np.ones(40)), np.arange(40) * 10**6
        plain = allotment_variance(shares, counts, Laplace(2))
        clamped = allotment_variance(shares, counts, Laplace(2), post=[Nonnegative()])

        assert clamped.values[1:] == pytest.approx(plain.values[1:], rel=1e-6)
        assert clamped.values[0] < plain.values[0]
        assert clamped.method.endswith("with its bound")

    def test_counts_far_above_the_least_value_are_as_without_the_clamp(self):
        """What nobody clamps has no bias from clamping."""
        shares, counts = Allotment(WEIGHTS), [40_000, 25_000, 90_000]
        plain = allotment_bias(shares, counts, Laplace(2))
        clamped = allotment_bias(shares, counts, Laplace(2), post=[Nonnegative()])

        assert clamped.values == pytest.approx(plain.values, rel=1e-9)


class TestSteps:
    @pytest.mark.parametrize(
        "post",
        [
            [SumTo(5)],
            [Integral()],
            [Shrink(1), Shrink(2)],
            [Shrink(1), Integral()],
            [Nonnegative(least=-3)],
            [Shrink(1), Nonnegative(least=2)],
        ],
        ids=repr,
    )
    def test_other_steps_need_sampling(self, post):
        shares = Allotment(WEIGHTS)

        assert "need sampling" in sampling_reason(shares, [3, 0, 8], DiscreteLaplace(2), post)
        with pytest.raises(InvalidParameterError, match="other steps need sampling"):
            allotment_bias(shares, [3, 0, 8], DiscreteLaplace(2), post=post)

    def test_these_are_computed(self):
        shares = Allotment(WEIGHTS)

        assert sampling_reason(shares, [3, 0, 8], DiscreteLaplace(2), None) is None
        assert sampling_reason(shares, [3, 0, 8], DiscreteLaplace(2), [Integral(), Nonnegative()]) is None
        assert sampling_reason(shares, [3, 0, 8], Laplace(2), [Nonnegative(), Shrink(2)]) is None

    def test_rounding_real_noise_needs_sampling(self):
        assert (
            sampling_reason(Allotment(WEIGHTS), [3, 0, 8], Laplace(2), [Nonnegative(), Integral()])
            is not None
        )

    def test_a_temperature_that_leaves_a_total_of_zero_is_refused(self):
        """Every count shrunk to 0 for certain shares out nothing."""
        with pytest.raises(InvalidParameterError, match="after which the total is above 0"):
            allotment_bias(Allotment(WEIGHTS), [3, 0, 8], DiscreteLaplace("0.1"), post=[Shrink(1e9)])
