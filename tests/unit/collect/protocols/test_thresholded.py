"""Thresholded histogram encoding: the best threshold, the exact epsilon of what is sent, recalibration."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from evenhand.collect.protocols.probabilities import GRID
from evenhand.collect.protocols.thresholded import THE
from evenhand.collect.protocols.unary import OUE
from evenhand.errors import InvalidParameterError, PrivacyWarning

EPSILONS = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 0.7, 1, 1.5, 2, 3, 5, 8, 10, 13, 18, 25, 32, 37, 45, 50]


def _law(noise, threshold):
    return 1 - mpmath.exp(noise * (threshold - 1) / 2) / 2, mpmath.exp(-noise * threshold / 2) / 2


def _truth(noise):
    """The stationary point of the variance and the exact epsilon, in 60 digits, by another route."""
    with mpmath.workdps(60):
        noise = mpmath.mpf(noise)

        def slope(threshold):
            p, q = _law(noise, threshold)
            return 2 * (1 - p - q) * q * (1 - q) - q * (1 - 2 * q) * (p - q)

        low, high = mpmath.mpf(1) / 2, mpmath.mpf(1)
        threshold = mpmath.findroot(slope, (low, high), solver="anderson", tol=mpmath.mpf(10) ** -100)
        p, q = _law(noise, threshold)
        return float(threshold), float(mpmath.log(p * (1 - q) / (q * (1 - p))))


@pytest.mark.parametrize(
    ("epsilon", "threshold", "told"),
    [
        (0.5, 0.5616293843652, 0.47185806869264),
        (1, 0.61855343263849, 0.89598897419985),
        (2, 0.70961428228911, 1.635656666115),
    ],
)
def test_known_figures(epsilon, threshold, told):
    """The figures were found by minimising, which leaves the place of the least open to about 1e-8."""
    the = THE(10, epsilon)

    assert math.isclose(the.threshold, threshold, abs_tol=5e-8)
    assert math.isclose(the.guarantee.epsilon, told, abs_tol=2e-9)


def test_known_probabilities():
    the = THE(10, 1)

    assert math.isclose(the.p, 0.5868193879238, abs_tol=1e-8)
    assert math.isclose(the.q, 0.36698881916607, abs_tol=1e-8)
    assert math.isclose(the.variance(), 4.8071541300973, rel_tol=1e-12)


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1, 2, 8])
def test_the_threshold_is_the_stationary_point_to_the_last_digits(epsilon):
    threshold, told = _truth(epsilon)

    assert math.isclose(THE(10, epsilon).threshold, threshold, rel_tol=1e-14)
    assert math.isclose(THE(10, epsilon).realised_epsilon, told, rel_tol=1e-12)


@pytest.mark.parametrize("epsilon", [0.1, 1, 5])
def test_no_other_threshold_has_less_variance(epsilon):
    least = THE(10, epsilon).variance()
    for threshold in np.linspace(0.501, 0.999, 300):
        p, q = map(float, _law(epsilon, threshold))

        assert q * (1 - q) / (p - q) ** 2 >= least * (1 - 1e-9)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.filterwarnings("ignore::evenhand.errors.PrivacyWarning")
def test_by_default_the_guarantee_says_the_exact_epsilon_of_the_report(epsilon):
    """A guarantee of the noise's epsilon would be true and waste a tenth of the budget."""
    the = THE(10, epsilon)

    assert the.noise_epsilon == epsilon
    assert 0.5 <= the.threshold <= 1
    assert the.guarantee.epsilon < the.epsilon
    assert 0 <= the.guarantee.epsilon - the.realised_epsilon <= Fraction(1, 10**12)
    assert the.guarantee.tight
    assert the.p_exact > the.q_exact


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.filterwarnings("ignore::evenhand.errors.PrivacyWarning")
def test_recalibrated_the_report_has_epsilon_itself(epsilon):
    the = THE(10, epsilon, recalibrated=True)

    assert epsilon < the.noise_epsilon < 3 * epsilon + 3
    assert the.p_exact > the.q_exact
    assert the.realised_epsilon <= the.epsilon
    if epsilon < 36:  # one step of the grid up for q and down for p is all that may be lost
        step = 2 / (float(the.q_exact * GRID) - 1) + 8 / GRID

        assert epsilon - the.realised_epsilon <= step + 1e-12 * epsilon
    else:  # the grid holds no q as small as asked for
        assert the.q_exact <= Fraction(2, GRID)
    assert epsilon > 13 or the.guarantee.epsilon == Fraction(str(epsilon))


@pytest.mark.parametrize("epsilon", EPSILONS[:14])
def test_recalibration_lowers_the_variance_and_not_below_the_best_unary_code(epsilon):
    recalibrated = THE(10, epsilon, recalibrated=True).variance()

    assert recalibrated < THE(10, epsilon).variance()
    assert recalibrated > OUE(10, epsilon).variance() * (1 - 1e-9)


@pytest.mark.parametrize("epsilon", ["1e-14", "1e-9", "1e-6", 100, 700, 1_500, 20_000])
@pytest.mark.parametrize("recalibrated", [False, True])
def test_extreme_epsilons_are_computed_too(epsilon, recalibrated):
    """No overflow, no bracket without a root, no division by zero."""
    the = THE(10, epsilon, recalibrated=recalibrated)

    assert 0.5 <= the.threshold < 1
    assert the.p_exact > the.q_exact
    assert the.realised_epsilon <= the.epsilon


def test_recalibration_is_told_and_kept():
    the = THE(10, 1, recalibrated=True)

    assert "recalibrated=True" in repr(the)
    assert the.to_dict()["recalibrated"] is True
    assert the != THE(10, 1)


def test_a_large_epsilon_warns():
    with pytest.warns(PrivacyWarning):
        assert THE(10, 40).guarantee.epsilon < 21


@pytest.mark.parametrize("epsilon", ["1e-295", "1e-320", "1e-400"])
@pytest.mark.parametrize("recalibrated", [False, True])
def test_an_epsilon_that_is_zero_as_a_float_is_refused_in_words(epsilon, recalibrated):
    """The equation of the threshold would divide by zero."""
    with pytest.raises(InvalidParameterError, match="large enough that a bit can tell two values apart"):
        THE(4, epsilon, recalibrated=recalibrated).privatize([0])
