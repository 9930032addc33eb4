"""Many steps of noise on samples cost what the privacy loss distribution says, rounded up."""

import math
import sys
from fractions import Fraction

import mpmath
import numpy as np
import pytest
import scipy.fft
from scipy.stats import norm

from evenhand.errors import InvalidParameterError, MissingExtraError
from evenhand.privacy import accounting
from evenhand.privacy.accounting import (
    NoisySteps,
    SampledGaussian,
    allowance,
    delta_at,
    epsilon_at,
    float_above,
    float_below,
    noise_for,
    sampling_rate,
)
from evenhand.privacy.guarantees.units import Unit
from evenhand.privacy.one_step import one_step, one_step_deltas

ADD, REPLACE = Unit.ADD_OR_REMOVE_ONE, Unit.REPLACE_ONE
slow = pytest.mark.slow

KNOWN = [  # multiplier, sampling, steps, epsilon at 1e-5 for add or remove one
    (Fraction(313, 150), "0.034", 1500, 2.83136),
    pytest.param(1, "0.034", 1500, 8.81788, marks=slow),
    ("2.96", "0.0683", 750, 2.73514),
    pytest.param("1.66", "0.0683", 1500, 8.67757, marks=slow),
    pytest.param(Fraction(313, 150), Fraction(1024, 22_610), 1150, 3.37960, marks=slow),
    pytest.param(1, Fraction(1024, 22_610), 1150, 10.59714, marks=slow),
    pytest.param(1, "0.01", 1000, 1.82824, marks=slow),
    (5, 1, 1, 0.72552),
]
SMALLEST = [
    ("2.9", "0.034", 1500, 2.04890),
    pytest.param("8.9", "0.034", 1500, 0.99529, marks=slow),
    pytest.param("2.8", "0.0683", 750, 2.90394, marks=slow),
    pytest.param("8.8", "0.0683", 1500, 1.64421, marks=slow),
]


def exact_gaussian_delta(noise, steps, epsilon):
    """The delta of so many Gaussian queries without sampling: one query of multiplier z / sqrt(steps)."""
    shift = math.sqrt(steps) / float(noise)
    tail = norm.cdf(shift / 2 - epsilon / shift)
    return tail - math.exp(epsilon) * norm.cdf(-shift / 2 - epsilon / shift)


@pytest.mark.parametrize(("noise", "sampling", "steps", "epsilon"), KNOWN)
def test_the_known_epsilons_come_out(noise, sampling, steps, epsilon):
    """They were computed by dp-accounting's own accountant with points 1e-4 apart."""
    found = SampledGaussian(noise, sampling, steps).epsilon("1e-5", unit=ADD)

    assert float(found) == pytest.approx(epsilon, abs=1.1e-5)


@pytest.mark.parametrize(
    ("noise", "sampling", "steps", "epsilon"),
    [
        pytest.param(Fraction(313, 150), "0.034", 1500, 5.7467, marks=slow),
        ("2.96", "0.0683", 750, 5.7370),
    ],
)
def test_replacing_one_row_costs_about_twice_as_much(noise, sampling, steps, epsilon):
    """Counted as added or removed, replaced rows would be given half of what they lose."""
    found = SampledGaussian(noise, sampling, steps).epsilon("1e-5", unit=REPLACE)

    assert float(found) == pytest.approx(epsilon, abs=6e-5)


@pytest.mark.parametrize(("epsilon", "sampling", "steps", "noise"), SMALLEST)
def test_the_smallest_noise_is_found_and_no_smaller_one_will_do(epsilon, sampling, steps, noise):
    found = noise_for(epsilon, "1e-5", sampling=sampling, steps=steps, unit=ADD)
    of = NoisySteps(found, float_above(Fraction(sampling)), steps, ADD)
    smaller = of._replace(noise=found * (1 - 2e-4))

    assert found == pytest.approx(noise, abs=1e-3)
    assert epsilon_at(of, 1e-5, coarse=True) <= float(epsilon)
    assert epsilon_at(smaller, 1e-5, coarse=True) > float(epsilon)  # the twin: one size smaller is rejected


@pytest.mark.parametrize("steps", [1, 40])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_without_sampling_delta_is_the_exact_one_rounded_up(steps, epsilon):
    """One row shifts one normal law: its delta has a formula, which no rounding may fall below."""
    noise = Fraction(3, 2) * math.isqrt(4 * steps) / 2
    truth = exact_gaussian_delta(noise, steps, epsilon)
    stated = float(SampledGaussian(noise, 1, steps).delta(epsilon, unit=ADD))

    assert truth <= stated <= truth * (1 + 1e-3) + 2 * allowance(steps)
    assert stated < exact_gaussian_delta(
        noise * Fraction(99, 100), steps, epsilon
    )  # the twin: 1 % less noise


def test_without_sampling_replacing_is_a_shift_of_twice_the_clip():
    stated = float(SampledGaussian(4, 1, 3).delta(1, unit=REPLACE))
    truth = exact_gaussian_delta(2, 3, 1.0)

    assert truth <= stated <= truth * (1 + 1e-3)


def test_epsilon_and_delta_lead_back_to_each_other():
    noise = SampledGaussian(3, "0.02", 200)
    epsilon = noise.epsilon("1e-6", unit=ADD)

    assert noise.delta(epsilon, unit=ADD) == pytest.approx(1e-6, rel=1e-3)
    assert noise.delta(500, unit=ADD) < Fraction(1, 10**11)
    assert noise.delta(0, unit=ADD) < 1


@pytest.mark.parametrize(
    ("noise", "sampling", "change"),
    [
        (1.0, 0.034, "REMOVE"),
        (2.0, 0.034, "ADD"),
        (0.4, 0.9, "REMOVE"),
        (3.0, 0.2, "REPLACE"),
        (2.0, 1.0, "REMOVE"),
    ],
)
def test_the_delta_of_one_step_is_right_to_the_last_bits(noise, sampling, change):
    """The allowance for rounding rests on this: at most 2**-50 at every point."""
    from dp_accounting.pld.privacy_loss_mechanism import AdjacencyType, GaussianPrivacyLoss

    pair = GaussianPrivacyLoss(noise, sampling_prob=sampling, adjacency_type=AdjacencyType[change])
    ends = pair.connect_dots_bounds()
    epsilons = np.linspace(ends.epsilon_lower, ends.epsilon_upper, 15)
    found = one_step_deltas(pair, epsilons)
    off = max(abs(found[i] - precise_delta(pair, epsilons[i], change)) for i in range(epsilons.size))

    assert off <= 2.0**-50
    assert np.abs(found - pair.get_delta_for_epsilon(epsilons)).max() <= 2.0**-50


def precise_delta(pair, epsilon, change):
    """The mass of the upper law, less e**epsilon times that of the lower, right of where they balance."""
    with mpmath.workdps(60):
        z, q, grown = mpmath.mpf(pair.standard_deviation), mpmath.mpf(pair.sampling_prob), mpmath.exp(epsilon)
        there, back = [(1 - q, 0), (q, 1)], [(1 - q, 0), (q, -1)]
        if change == "REMOVE":
            upper, lower, rest = there, [(1, 0)], grown - 1 + q
            place = z**2 * mpmath.log(rest / q) + mpmath.mpf(1) / 2 if rest > 0 else -mpmath.inf
        elif change == "ADD":
            upper, lower, rest = [(1, 0)], back, 1 / grown - 1 + q
            place = -(z**2) * mpmath.log(rest / q) - mpmath.mpf(1) / 2 if rest > 0 else mpmath.inf
        else:
            upper, lower, c, b = there, back, q * mpmath.exp(-1 / (2 * z**2)), (1 - q) * (1 - grown)
            place = z**2 * mpmath.log((-b + mpmath.sqrt(b**2 + 4 * c**2 * grown)) / (2 * c))

        def tail(mixture):
            return sum(share * mpmath.erfc((place - at) / z / mpmath.sqrt(2)) / 2 for share, at in mixture)

        return tail(upper) - grown * tail(lower)


@pytest.mark.parametrize("change", ["REMOVE", "ADD"])
def test_the_fourier_transform_is_within_the_allowance(change):
    """Composed again in extended precision, no delta moves by more than 2**-50 for every step."""
    from dp_accounting.pld import common

    of, interval, steps = NoisySteps(1.2, 0.03, 1000, ADD), 1e-3, 1000
    masses = one_step(of, change, interval).to_dense_pmf()
    low, high = common.compute_self_convolve_bounds(masses._probs, steps, 1e-15)
    length = scipy.fft.next_fast_len(high - low + 1)
    wide = masses._probs.astype(np.longdouble)
    precise = np.real(scipy.fft.ifft(scipy.fft.fft(wide, length) ** steps))
    composed = masses.self_compose(steps)
    off = np.roll(precise, -low)[: high - low + 1] - composed._probs
    tails = np.cumsum(off[::-1])  # delta is a mixture of tails, so no delta is off by more than the worst

    assert np.abs(tails).max() <= steps * 2.0**-50


def test_floats_are_taken_on_the_careful_side():
    tenth = Fraction(1, 10)

    assert Fraction(float_below(tenth)) < tenth < Fraction(float_above(tenth))
    assert math.nextafter(float_below(tenth), 1) == float_above(tenth)
    third = Fraction(1, 3)
    assert Fraction(float_below(third)) < third < Fraction(float_above(third))
    assert float_below(Fraction(1, 4)) == float_above(Fraction(1, 4)) == 0.25


def test_a_delta_within_the_rounding_has_no_epsilon():
    of = NoisySteps(1.0, 0.5, 10, ADD)

    assert epsilon_at(of, allowance(10)) == math.inf
    assert delta_at(of, 400.0) >= allowance(10)


@pytest.mark.parametrize("unit", [ADD, REPLACE])
def test_where_nothing_is_guaranteed_nothing_is_said(unit):
    """Little noise a million times over: the sum would fill the memory, and end above any epsilon of use."""
    hopeless = SampledGaussian("0.05", "0.3", 1_000_000)

    assert hopeless.delta(500, unit=unit) == 1
    with pytest.raises(InvalidParameterError, match="large enough for a finite epsilon"):
        hopeless.epsilon("1e-5", unit=unit)


def test_only_settings_beyond_use_are_called_hopeless():
    """The quick bound is a bound from below: at q = 1 it is the mean loss itself, T / 2 z**2."""
    assert not accounting._is_hopeless(NoisySteps(1.0, 1.0, 2000, ADD))
    assert accounting._is_hopeless(NoisySteps(1.0, 1.0, 2001, ADD))
    assert not accounting._is_hopeless(NoisySteps(1.0, 0.034, 10_000_000, ADD))


def test_little_noise_gets_points_that_are_further_apart():
    """Memory and time stay bounded."""
    assert accounting._interval(NoisySteps(0.1, 0.01, 10, ADD), coarse=False) == 1e-3
    assert accounting._interval(NoisySteps(2.0, 0.034, 10, ADD), coarse=False) == 1e-4
    assert accounting._interval(NoisySteps(2.0, 0.034, 10, ADD), coarse=True) == 1e-3
    assert accounting._interval(NoisySteps(20.0, 1.0, 10, ADD), coarse=True) == 1e-3


def test_the_search_returns_the_least_noise_where_that_is_enough():
    assert accounting._narrow(lambda _: -1.0, 0.0, 1e-4) == math.log(0.05)


def test_the_search_says_when_no_noise_is_enough():
    with pytest.raises(InvalidParameterError, match="noise of at most 20,000 times the clip"):
        noise_for("1e-9", "1e-6", sampling=1, steps=1000, unit=ADD)


def test_the_search_needs_few_looks():
    """Each look takes hundredths of a second, and an estimator waits for all of them."""
    looks = []

    def excess(place):
        looks.append(place)
        return 0.7 - 1.6 * place + 0.05 * place**2

    found = accounting._narrow(excess, 0.0, 1e-4)

    assert excess(found) <= 0 < excess(found - 1e-4)
    assert len(looks) <= 12


def test_the_search_ends_where_epsilon_has_a_step():
    """A jump gives the secant nothing; halving still ends."""
    found = accounting._narrow(lambda place: 1.0 if place < 0.123 else -1e-3, 0.0, 1e-4)

    assert 0.123 <= found <= 0.1231


@pytest.mark.parametrize(
    ("batch", "rows", "rate"),
    [(1, 4, Fraction(1, 4)), (9, 4, Fraction(1)), (1024, 30162, Fraction((1024 << 53) // 30162, 1 << 53))],
)
def test_rates_are_dyadic_and_rounded_down(batch, rows, rate):
    found = sampling_rate(batch, rows)

    assert found == rate <= Fraction(batch, rows)
    assert (found * 2**64).denominator == 1


def test_without_the_extra_the_message_says_what_to_install(monkeypatch):
    accounting._compose_steps.cache_clear()
    monkeypatch.setitem(sys.modules, "dp_accounting.pld", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'evenhand\[dp\]'"):
        SampledGaussian("1.2345", 1, 1).epsilon("1e-5", unit=ADD)  # an answer that no other test has kept


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: SampledGaussian(0, 1, 1), "'noise' parameter of SampledGaussian must be a number > 0"),
        (lambda: SampledGaussian("0.01", 1, 1), "a number from 1/20 to 20000"),
        (lambda: SampledGaussian(1, 0, 1), "'sampling' parameter of SampledGaussian"),
        (lambda: SampledGaussian(1, "1e-13", 1), r"from 2\*\*-40 to 1"),
        (lambda: SampledGaussian(1, "1.5", 1), "'sampling' parameter"),
        (lambda: SampledGaussian(1, 1, 0), "'steps' parameter"),
        (lambda: SampledGaussian(1, 1, 2.5), "'steps' parameter"),
        (lambda: SampledGaussian(1, 1, 1).epsilon(0, unit=ADD), "'delta' parameter"),
        (lambda: SampledGaussian(1, 1, 1).epsilon(1, unit=ADD), "below 1"),
        (lambda: SampledGaussian(1, 1, 10**6).epsilon("1e-9", unit=ADD), "well above the rounding"),
        (lambda: SampledGaussian(1, 1, 1).epsilon("1e-5", unit="one person"), "'unit' parameter"),
        (lambda: SampledGaussian(1, 1, 1).delta(-1, unit=ADD), "'epsilon' parameter"),
        (lambda: noise_for(0, "1e-5", sampling=1, steps=1, unit=ADD), "'epsilon' parameter"),
        (lambda: noise_for(1, "1e-5", sampling=1, steps=1, unit=ADD, tolerance=0.5), "from 1e-9 to 0.1"),
        (lambda: noise_for(1, "1e-5", sampling=1, steps=1, unit=ADD, tolerance="no"), "from 1e-9 to 0.1"),
        (lambda: sampling_rate(0, 5), "'batch' parameter"),
        (lambda: sampling_rate(1, 0), "'rows' parameter"),
    ],
)
def test_what_cannot_be_is_refused(call, told):
    with pytest.raises(InvalidParameterError, match=told):
        call()
