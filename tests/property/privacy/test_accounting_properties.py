"""Accounting against another accountant, and the grid against its definition, for drawn settings."""

import functools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.privacy.accounting import NoisySteps, SampledGaussian, epsilon_at, noise_for, sampling_rate
from evenhand.privacy.grid_noise import GridNoise, _cost, _divided_by_root
from evenhand.privacy.guarantees.units import Unit

ADD, REPLACE = Unit.ADD_OR_REMOVE_ONE, Unit.REPLACE_ONE

noises = st.floats(0.8, 30)
rates = st.sampled_from([0.003, 0.01, 0.034, 0.1, 0.5])
repeats = st.sampled_from([1, 10, 100, 1500])
ratios = st.fractions(Fraction(1, 20), 20_000, max_denominator=10**6)


@functools.cache
def renyi_epsilon(noise, sampling, steps, delta):
    """The epsilon of Rényi differential privacy: another accountant, and an upper bound."""
    from dp_accounting import GaussianDpEvent, PoissonSampledDpEvent
    from dp_accounting.rdp import RdpAccountant

    event = PoissonSampledDpEvent(sampling, GaussianDpEvent(noise))
    return RdpAccountant(orders=[1.5, 2, 3, 4, 6, 8, 12, 16, 32, 64]).compose(event, steps).get_epsilon(delta)


@settings(max_examples=12, deadline=None)
@given(noise=noises, sampling=rates, steps=repeats)
def test_the_other_accountant_never_finds_less(noise, sampling, steps):
    """Rényi accounting is a bound from above; ours above it would be a sign of trouble."""
    ours = epsilon_at(NoisySteps(noise, sampling, steps, ADD), 1e-5, coarse=True)

    assert ours <= renyi_epsilon(noise, sampling, steps, 1e-5) * (1 + 1e-9)


@pytest.mark.slow
@settings(max_examples=50, deadline=None)
@given(noise=noises, sampling=rates, steps=repeats)
def test_more_steps_less_noise_and_larger_samples_cost_more(noise, sampling, steps):
    def epsilon(noise, sampling, steps, unit=ADD):
        return epsilon_at(NoisySteps(noise, sampling, steps, unit), 1e-5, coarse=True)

    base = epsilon(noise, sampling, steps)

    assert epsilon(noise * 1.1, sampling, steps) <= base
    assert epsilon(noise, sampling / 2, steps) <= base
    assert epsilon(noise, sampling, 2 * steps) >= base
    assert epsilon(noise, sampling, steps, REPLACE) >= base


@pytest.mark.slow
@settings(max_examples=8, deadline=None)
@given(epsilon=st.sampled_from(["0.3", "1", "3", "7"]), sampling=rates, steps=repeats)
def test_calibrated_noise_accounts_for_the_budget_and_hardly_less(epsilon, sampling, steps):
    """Rounding each way must not add up to noise that is wasted, or missing."""
    noise = noise_for(epsilon, "1e-5", sampling=sampling, steps=steps, unit=ADD)
    spent = float(SampledGaussian(Fraction(noise), sampling, steps).epsilon("1e-5", unit=ADD))

    assert spent <= float(epsilon) * (1 + 1e-6)
    assert noise <= 0.05 + 1e-9 or spent >= float(epsilon) * 0.99


GRID = np.linspace(-8, 8, 201)
PLANE = np.stack(np.meshgrid(GRID, GRID), axis=-1)


def excess_mass(sampling, grown, one, other):
    """The mass by which one mixture in the plane is above `grown` times the other, on a fine grid."""

    def mixture(shift):
        bells = [np.exp(-((PLANE - at) ** 2).sum(axis=-1) / 2) for at in (np.zeros(2), shift)]
        return ((1 - sampling) * bells[0] + sampling * bells[1]) / (2 * math.pi)

    return np.maximum(mixture(one) - grown * mixture(other), 0).sum() * (GRID[1] - GRID[0]) ** 2


@settings(max_examples=10)
@given(
    sampling=st.floats(0.05, 1),
    epsilon=st.floats(-1, 1),
    length=st.floats(0.2, 2),
    vectors=st.tuples(*[st.tuples(st.floats(0, 1), st.floats(0, 2 * math.pi))] * 2),
)
def test_no_two_vectors_are_worse_for_a_replaced_row_than_opposite_ones(sampling, epsilon, length, vectors):
    """The accounting for 'replace one' takes this pair for the worst; any other must be told apart less."""
    one, other = (length * size * np.array([math.cos(turn), math.sin(turn)]) for size, turn in vectors)
    along = np.array([length, 0.0])
    worst = excess_mass(sampling, math.exp(epsilon), along, -along)

    assert excess_mass(sampling, math.exp(epsilon), one, other) <= worst + 1e-6


@settings(max_examples=40)
@given(noise=ratios, clip=st.fractions(Fraction(1, 1000), 1000))
def test_the_grid_never_has_less_noise_than_asked(noise, clip):
    grid = GridNoise(clip, noise, 1)

    assert 1 << 29 <= grid.variance < 1 << 31
    assert grid.variance * grid.spacing**2 >= (noise * clip) ** 2
    assert grid.spacing * grid.longest == clip


@settings(max_examples=40)
@given(noise=ratios, share=st.fractions(Fraction(1, 1000), 1))
def test_the_noise_of_a_block_is_never_below_its_share(noise, share):
    found = _divided_by_root(noise, share)

    assert found**2 * share >= noise**2
    assert float(found) <= float(noise) / math.sqrt(share) * (1 + 1e-9)


@settings(max_examples=40)
@given(draws=st.integers(1, 10**12), variance=st.integers(1 << 29, (1 << 31) - 1))
def test_the_cost_grows_with_draws_and_falls_with_noise(draws, variance):
    """The budget is calibrated with the smallest variance; with any other it must cost less."""
    cost, most = _cost(draws, variance), _cost(draws, 1 << 29)

    assert cost.epsilon <= most.epsilon
    assert cost.epsilon <= _cost(draws + 1, variance).epsilon
    assert cost.fall >= cost.rise >= Fraction(draws, 24 * variance)


@settings(max_examples=40)
@given(batch=st.integers(1, 10**6), rows=st.integers(1, 10**9))
def test_sampling_rates_are_dyadic_and_not_above_the_ratio(batch, rows):
    rate = sampling_rate(batch, rows)

    assert 0 < rate <= min(Fraction(1), Fraction(batch, rows))
    assert min(Fraction(1), Fraction(batch, rows)) - rate < Fraction(1, 2**53)
