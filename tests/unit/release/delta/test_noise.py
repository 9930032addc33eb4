"""The exact delta of discrete Gaussian noise: vectors, high precision, calibration, other libraries."""

import math
import random
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from evenhand.errors import InvalidParameterError
from evenhand.privacy.laws import DiscreteGaussian
from evenhand.privacy.zcdp import delta_from_zcdp
from evenhand.release.delta import noise as gaussian_delta
from evenhand.release.delta.noise import SMALLEST_DELTA, calibrated_variance, exact_delta, printed_delta
from evenhand.release.mechanisms.noise import DiscreteGaussian as DiscreteGaussianNoise

MILLION = 10**6


def _precise(variance, epsilon, cells):
    """Sum over all outcomes with 60 digits; for two cells by convolution, which the package avoids."""
    with mpmath.workdps(60):
        variance, epsilon = (
            mpmath.mpf(Fraction(x).numerator) / Fraction(x).denominator for x in (variance, epsilon)
        )
        far = int(mpmath.ceil(mpmath.sqrt(2 * 150 * variance))) + 3
        masses = [mpmath.exp(-(mpmath.mpf(y) ** 2) / (2 * variance)) for y in range(far + 1)]
        whole = masses[0] + 2 * mpmath.fsum(masses[1:])
        if cells == 1:
            law = {y: masses[abs(y)] / whole for y in range(-far, far + 1)}
            loss = {y: (2 * y + 1) / (2 * variance) for y in law}
        else:
            around = {s: range(max(-far, s - far), min(far, s + far) + 1) for s in range(-far, far + 1)}
            law = {
                s: mpmath.fsum(masses[abs(y)] * masses[abs(s - y)] for y in places) / whole**2
                for s, places in around.items()
            }
            loss = {s: (s + 1) / variance for s in law}
        return mpmath.fsum(law[y] * -mpmath.expm1(epsilon - loss[y]) for y in law if loss[y] > epsilon)


@pytest.mark.parametrize(
    ("variance", "epsilon", "cells", "expected"),
    [
        (25, 1, 2, 2.28670866955554e-05),
        (25, 1, 1, 1.82933602487278e-08),
        (4, 1, 2, 0.0379694447235),
    ],
)
def test_the_vectors(variance, epsilon, cells, expected):
    assert float(exact_delta(variance, epsilon, cells=cells)) == pytest.approx(expected, rel=1e-12)


def test_the_numbers_that_are_printed():
    """Table 1 has rho = epsilon / 10; the formula for a variance of 4 / epsilon**2 has epsilon**2 / 2."""
    found = [float(printed_delta(Fraction(e) / 10, e)) for e in ("1/2", 1, 2, 4)]

    assert found == pytest.approx([0.3633095694, 0.1319938432, 0.01742237464, 0.0003035391381], rel=1e-9)
    assert float(printed_delta("1/2", 1)) == pytest.approx(0.8825, abs=5e-5)
    assert float(printed_delta("1/4", 1)) == pytest.approx(0.5698, abs=5e-5)
    assert printed_delta(2, 1) == 1


@pytest.mark.parametrize("cells", [1, 2])
@pytest.mark.parametrize("variance", ["1/50", "0.3", "0.99", 1, "7/3", 16])
def test_it_is_the_truth_rounded_up(variance, cells):
    """If it is below the truth the promise is not kept; if far above, noise is wasted."""
    for epsilon in (0, "1/7", 1, "5/2", 6):
        truth = _precise(variance, epsilon, cells)
        found = exact_delta(variance, epsilon, cells=cells)
        if truth < 1e-55:  # beyond what 60 digits can say
            continue
        with mpmath.workdps(60):
            stated = mpmath.mpf(found.numerator) / found.denominator

            assert stated >= truth * (1 - mpmath.mpf(10) ** -50)
            assert stated <= truth * (1 + mpmath.mpf(10) ** -12)


def test_it_is_the_hockey_stick_of_the_law():
    """The same sum over the product law of two cells, in floats, without any formula for it."""
    places = np.arange(-120, 121)
    chances = DiscreteGaussian(9).pmf(places)
    before, after = chances[1:], chances[:-1]
    two, turned = np.multiply.outer(before, after), np.multiply.outer(after, before)
    for epsilon in (0, 0.5, 1, 2):
        for p, q, cells in ((before, after, 1), (after, before, 1), (two, turned, 2), (turned, two, 2)):
            expected = np.maximum(0, p - math.exp(epsilon) * q).sum()

            assert float(exact_delta(9, epsilon, cells=cells)) == pytest.approx(expected, rel=1e-9)


def test_it_falls_with_epsilon_and_with_the_noise():
    deltas = [exact_delta(10, e, cells=2) for e in ("0", "1/4", "1/2", "1", "2", "4")]

    assert deltas == sorted(deltas, reverse=True)
    assert exact_delta(10, 1, cells=1) < exact_delta(10, 1, cells=2)


def test_it_is_below_what_concentration_alone_gives():
    draw = random.Random(5)
    for _ in range(40):
        variance, epsilon = Fraction(draw.randint(1, 4_000), 100), Fraction(draw.randint(1, 400), 100)
        for cells in (1, 2):
            rho = cells / (2 * variance)

            assert exact_delta(variance, epsilon, cells=cells) <= delta_from_zcdp(rho, epsilon)


def test_a_delta_too_small_to_state_is_stated_larger():
    assert exact_delta(2, 100, cells=2) == SMALLEST_DELTA
    assert exact_delta(2**31 - 1, MILLION, cells=1) == SMALLEST_DELTA
    assert printed_delta("1/1000", 1_000) == SMALLEST_DELTA


def test_wide_noise_is_quick_and_right():
    """The sum is that of the normal law here; 1e-7 is the square of what the grid changes."""
    sigma, epsilon = 1_000.0, 0.002
    tail = [
        0.5 * math.erfc(x / math.sqrt(2))
        for x in (-1 / (2 * sigma) + epsilon * sigma, 1 / (2 * sigma) + epsilon * sigma)
    ]
    expected = tail[0] - math.exp(epsilon) * tail[1]

    assert float(exact_delta(sigma**2, "0.002", cells=1)) == pytest.approx(expected, rel=1e-6)


def test_more_bits_are_taken_where_the_sum_is_tiny(monkeypatch):
    """At this epsilon the first loss is a hair above it, and the next term is e**-1000 of it."""
    sizes = []
    right = gaussian_delta._add_terms
    monkeypatch.setattr(gaussian_delta, "_add_terms", lambda *given: sizes.append(given[2]) or right(*given))
    found = exact_delta("1/2000", 1_000 - Fraction(1, 10**60), cells=1)

    assert sizes == sorted(set(sizes))
    assert len(sizes) > 1
    assert float(found) == pytest.approx(1e-60, rel=1e-12)
    assert found >= Fraction(1, 10**60) * (1 - Fraction(1, 10**59))


# --- calibration ------------------------------------------------------------------------------------


def _targets(count, seed):
    draw = random.Random(seed)
    for _ in range(count):
        epsilon = Fraction(f"{10 ** draw.uniform(-1, 1.1):.4g}")
        yield epsilon, Fraction(f"{10 ** draw.uniform(-12, -0.3):.4g}"), draw.choice((1, 2))


def _check_calibrated(targets):
    for epsilon, delta, cells in targets:
        found = exact_delta(calibrated_variance(epsilon, delta, cells=cells), epsilon, cells=cells)

        assert (1 - Fraction(1, MILLION)) * delta <= found <= delta, (epsilon, delta, cells)


def test_calibrate_then_account_returns_the_target():
    """Less noise breaks the promise, more of it costs accuracy for nothing."""
    _check_calibrated(_targets(60, seed=1))


@pytest.mark.slow
def test_calibrate_then_account_returns_a_thousand_targets():
    _check_calibrated(_targets(1_000, seed=2))


def test_calibration_at_the_edges():
    _check_calibrated(
        [
            (Fraction("0.01"), Fraction("1e-5"), 2),
            (Fraction(20), Fraction("1e-10"), 2),
            (Fraction(20), Fraction("0.999"), 1),
            (Fraction(1), Fraction("1e-100"), 2),
        ]
    )


def test_a_search_that_falls_short_is_corrected(monkeypatch):
    """What is returned is checked by the exact delta, whatever the search in floats found."""
    right = gaussian_delta._root
    monkeypatch.setattr(gaussian_delta, "_root", lambda *given: right(*given) - 1e-7)

    assert exact_delta(calibrated_variance(1, "1e-6", cells=2), 1, cells=2) <= Fraction(1, MILLION)
    monkeypatch.setattr(gaussian_delta, "_root", lambda *given: right(*given) - 5)
    with pytest.raises(InvalidParameterError, match="large enough"):
        calibrated_variance(1, "1e-6", cells=2)


def test_a_search_that_is_cut_short_is_corrected_too(monkeypatch):
    monkeypatch.setattr(gaussian_delta, "_ROUNDS", 2)

    assert exact_delta(calibrated_variance(1, "1e-6", cells=2), 1, cells=2) <= Fraction(1, MILLION)


def test_analytic_gaussian_noise_is_close_to_it():
    """The continuous mechanism needs 5.97459818196; on whole numbers it is 0.03 % more."""
    sigma = math.sqrt(calibrated_variance(1, "1e-6", cells=2))

    assert sigma == pytest.approx(5.97459818196, rel=1e-3)


@pytest.mark.parametrize(
    ("epsilon", "delta", "parameter"),
    [
        (0, "1e-6", "epsilon"),
        (1, 0, "delta"),
        (1, 1, "delta"),
        (1, "1e-101", "delta"),
        ("1e-9", "1e-9", "delta"),
    ],
)
def test_what_cannot_be_calibrated_is_refused(epsilon, delta, parameter):
    with pytest.raises(InvalidParameterError) as caught:
        calibrated_variance(epsilon, delta, cells=2)

    assert caught.value.parameter == parameter


def test_a_person_moves_one_or_two_counts():
    with pytest.raises(InvalidParameterError, match="from 1 to 2"):
        exact_delta(1, 1, cells=3)


# --- other libraries --------------------------------------------------------------------------------


@pytest.mark.slow
def test_opendp_claims_no_less():
    """It states what follows from rho, and the same rho; the exact delta is never above that."""
    dp = pytest.importorskip("opendp.prelude")
    dp.enable_features("contrib")
    for sigma, epsilon in ((0.5, 1.0), (1.0, 1.0), (2.0, 0.5), (5.0, 0.25), (20.0, 0.1)):
        gaussian = dp.m.make_gaussian(dp.atom_domain(T=int), dp.absolute_distance(T=float), sigma)
        theirs = dp.c.make_zCDP_to_approxDP(gaussian).map(1.0).delta(epsilon)
        ours = DiscreteGaussianNoise(
            rho=Fraction(1) / (2 * Fraction(str(sigma)) ** 2), unit="add or remove one"
        )

        assert gaussian.map(1.0) == pytest.approx(float(ours.noise.rho), rel=1e-9)
        assert float(ours.exact_delta(str(epsilon))) <= theirs


@pytest.mark.parametrize("epsilon", [-1, "-1/10", -1e-30])
def test_a_delta_at_an_epsilon_below_nought_is_refused(epsilon):
    with pytest.raises(InvalidParameterError, match="'epsilon' parameter of exact_delta"):
        exact_delta(25, epsilon, cells=1)


def test_pi_lies_between_its_bounds():
    """A bound on the wrong side of pi by a single digit would round a delta down."""
    with mpmath.workdps(100):
        below, above = (
            mpmath.mpf(bound.numerator) / bound.denominator
            for bound in (gaussian_delta._PI_BELOW, gaussian_delta._PI_ABOVE)
        )

        assert below < mpmath.pi < above
        assert above - below < mpmath.mpf(10) ** -69


@pytest.mark.parametrize(
    "target", ["3/4", "999/1000", "0.9999999999999", "123456789/123456799", "1e-90", "1/3"]
)
def test_the_logarithm_that_a_search_aims_at_is_as_good_as_floats_are(target):
    """Near 1 the difference of two logarithms would lose the digits that the search ends by."""
    value = Fraction(target)
    with mpmath.workdps(60):
        exact = mpmath.log(mpmath.mpf(value.numerator) / value.denominator)

        assert abs(gaussian_delta._log(value) - exact) <= 2.0**-52 * max(1, abs(exact))


def test_a_delta_of_no_noise_is_refused():
    with pytest.raises(
        InvalidParameterError, match="'variance' parameter of exact_delta must be a number > 0"
    ):
        exact_delta(0, 1, cells=1)
