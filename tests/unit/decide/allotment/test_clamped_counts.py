"""Moments of one noisy count after clamping or shrinking."""

import itertools

import numpy as np
import pytest

from evenhand.decide.allotment.allotment import Allotment
from evenhand.decide.allotment.clamped_counts import (
    ORDERS,
    FloorStep,
    clamped_moments,
    count_cumulants,
    floor_step,
    moments_of,
    outcomes,
    reach_of,
)
from evenhand.decide.allotment.noisy_total import build_noisy_shares
from evenhand.privacy.laws import DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace
from evenhand.release.postprocess import Nonnegative, Shrink, clamp_bias, shrink_bias

LAWS = [Laplace(3), Gaussian(9), DiscreteLaplace(3), DiscreteGaussian(9)]
COUNTS = np.array([0.0, 1, 7, 40, 400])


@pytest.mark.parametrize("law", LAWS, ids=repr)
@pytest.mark.parametrize("step", [FloorStep(0.0, 0), FloorStep(5.0, 0), FloorStep(0.01, 2)], ids=repr)
def test_probabilities_add_up_and_means_are_those_of_the_steps(law, step):
    """The means are known from elsewhere, by other formulas: Ei, erfc, sums of tails."""
    if step.temperature:
        bias = shrink_bias(COUNTS, law, T=step.temperature, least=step.least)
    else:
        bias = clamp_bias(COUNTS, law, least=step.least)
    for part, changes, masses in outcomes(COUNTS, law, step):
        assert masses.sum(axis=1) == pytest.approx(np.ones(5), abs=1e-13)
        assert (changes * masses).sum(axis=1) == pytest.approx(bias[part], abs=1e-11)


@pytest.mark.parametrize("law", [DiscreteLaplace(3), DiscreteGaussian(9)], ids=repr)
@pytest.mark.parametrize("temperature", [0.0, 5.0])
def test_central_moments_are_the_sums(law, temperature):
    """Up to the eighth order, on which the bound rests; the clamp alone has a quick way of its own."""
    noisy = build_noisy_shares(Allotment(np.ones(5)), COUNTS, law)
    found = count_cumulants(noisy, FloorStep(temperature, 0))
    noise = np.arange(-300, 301)
    for place, count in enumerate(COUNTS[:4]):
        values, masses = Shrink(temperature).apply(count + noise), law.pmf(noise)
        mean = masses @ values
        slow = [masses @ (values - mean) ** order for order in range(ORDERS + 1)]

        assert found.bias[place] == pytest.approx(mean - count, abs=1e-12)
        for order, (quick, right) in enumerate(zip(moments_of(found.values[place]), slow, strict=True)):
            assert quick == pytest.approx(right, rel=1e-10, abs=1e-11 * law.standard_deviation**order)
        assert found.highest[place] == pytest.approx(slow[ORDERS], rel=1e-9)


def test_counts_out_of_reach_have_the_moments_of_the_noise():
    """They are not computed, so they must be right."""
    noisy = build_noisy_shares(Allotment(np.ones(2)), [reach_of(Laplace(3)) + 2, 5.0], Laplace(3))
    found = count_cumulants(noisy, FloorStep(0.0, 0))

    assert found.values[0] == pytest.approx([18, 0, 12 * 81, 0, 240 * 729, 0, 10080 * 6561], rel=1e-12)
    assert found.values[1, 1] > 0  # the clamp takes the left tail away


def test_one_step_is_made_of_several():
    """The highest least value of several clamps counts; shrinking takes lower clamps in."""
    laws = [DiscreteLaplace(3)]

    assert floor_step([Nonnegative(), Nonnegative(least=4)], laws) == FloorStep(0.0, 4)
    assert floor_step([Nonnegative(), Shrink(2.0, least=1)], laws) == FloorStep(2.0, 1)
    assert floor_step([], laws) is None


def test_large_counts_lose_no_digits():
    """Shrinking takes T / (x + 1) of a large count, a millionth of a millionth of it: it must be found."""
    law, step = DiscreteGaussian(100), FloorStep(80.0, 0)
    noisy = build_noisy_shares(Allotment(np.ones(2)), [100_000, 10_000_000], law)
    found = count_cumulants(noisy, step)
    noise = np.arange(-200, 201)
    slow = [-float(law.pmf(noise) @ (80.0 / (count + noise + 1))) for count in (100_000, 10_000_000)]

    assert found.bias == pytest.approx(slow, rel=1e-14)


@pytest.mark.parametrize("law", [Laplace(10), Gaussian(100)], ids=repr)
@pytest.mark.parametrize("temperature", [0.0, 0.5, 80.0])
def test_moments_under_real_noise_are_the_integrals(law, temperature):
    """Against adaptive quadrature of another make, between the same kinks."""
    from scipy.integrate import quad

    counts = np.array([0.0, 6.0, 70.0])
    step = FloorStep(temperature, 0)
    found = count_cumulants(build_noisy_shares(Allotment(np.ones(3)), counts, law), step)
    for place, count in enumerate(counts):
        mean = count + found.bias[place]

        def integrand(z, order, mean=mean, count=count):
            return (z - float(step.lowered_by(np.array(z))) - mean) ** order * float(law.pdf(z - count))

        low = max(step.start, count - 500)
        cuts = sorted({low, max(low, count), *(max(low, count + 10 * k) for k in (-10, -3, 3, 10, 50))})
        for order in (2, 3):
            slow = (-mean) ** order * float(law.cdf(step.start - count))
            slow += sum(
                quad(integrand, a, b, args=(order,), epsabs=0, epsrel=1e-13)[0]
                for a, b in itertools.pairwise(cuts)
            )

            scale = law.standard_deviation**order
            assert moments_of(found.values[place])[order] == pytest.approx(slow, rel=1e-12, abs=1e-12 * scale)


def test_the_clamp_has_a_quick_way_for_whole_counts_alone():
    """Counts below the least value, or between whole numbers, take the long way to the same moments."""
    law, step = DiscreteLaplace(3), FloorStep(0.0, 2)
    noisy = build_noisy_shares(Allotment(np.ones(2)), [1.0, 7.0], law)
    both, alone = (
        count_cumulants(noisy, step),
        count_cumulants(build_noisy_shares(Allotment([1]), [7.0], law), step),
    )

    assert both.values[1] == pytest.approx(alone.values[0], rel=1e-10)
    assert clamped_moments(np.array([2.5]), law, step, 2) is None
