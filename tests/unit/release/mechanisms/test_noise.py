"""Tables with noise on every count."""

import math
from fractions import Fraction

import numpy as np
import pytest

from evenhand.errors import InvalidParameterError
from evenhand.privacy.guarantees.units import Measure, Unit
from evenhand.privacy.laws import DiscreteLaplace
from evenhand.release.delta.noise import laplace_delta
from evenhand.release.mechanisms.noise import DiscreteGaussian, Laplace, cells_moved
from evenhand.release.postprocess.steps import Nonnegative, Shrink
from evenhand.release.table.histogram import Histogram
from evenhand.schema import Column, Domain, Schema

SCHEMA = Schema([Column("tenure", Domain.categorical(["own", "rent", "free"]))])
LONE = Schema([Column("only", Domain.categorical(["x"]))])
TABLE = Histogram.of([120, 14, 0], SCHEMA)
UNITS = list(map(str, (Unit.REPLACE_ONE, Unit.ADD_OR_REMOVE_ONE)))


@pytest.mark.parametrize("unit", UNITS)
def test_the_unit_sets_the_noise(unit):
    """Who is replaced leaves one cell and enters another: twice the change, and twice the scale."""
    moved = cells_moved(Unit(unit))

    assert Laplace("1/10", unit=unit).law.scale == 10 * moved
    assert DiscreteGaussian(rho="1/10", unit=unit).law.squared_scale == 5 * moved


def test_the_unit_has_no_default():
    for make in (Laplace, DiscreteGaussian):
        with pytest.raises(TypeError, match="unit"):
            make(1) if make is Laplace else make(rho=1)
    for wrong in ("one report", "one person", "replace", None):
        with pytest.raises(InvalidParameterError, match="'replace one', 'add or remove one'"):
            Laplace(1, unit=wrong)


@pytest.mark.parametrize("epsilon", ["0.001", "1/3", "1", "20"])
@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.filterwarnings("ignore::evenhand.errors.PrivacyWarning")
def test_laplace_claims_no_more_than_asked(epsilon, unit):
    guarantee = Laplace(epsilon, unit=unit).guarantee_for(TABLE)

    assert guarantee.epsilon <= Fraction(epsilon)
    assert float(guarantee.epsilon) == pytest.approx(float(Fraction(epsilon)), rel=1e-8)
    assert (guarantee.measure, guarantee.unit, guarantee.tight) == (Measure.PURE, unit, True)
    assert guarantee.protects == ("tenure",)


def test_a_scale_that_cannot_be_drawn_is_rounded_up():
    mechanism = Laplace("0.7123456789123", unit="replace one")

    assert mechanism.noise.scale > 2 / mechanism.epsilon
    assert mechanism.guarantee_for(TABLE).epsilon == 2 / mechanism.noise.scale < mechanism.epsilon


@pytest.mark.parametrize(("unit", "cells"), list(zip(UNITS, (2, 1), strict=True)))
def test_the_delta_of_laplace_noise_is_the_hockey_stick(unit, cells):
    """Summed over the outcomes of the cells that move, from the law alone, both ways round."""
    mechanism = Laplace(1, unit=unit)
    chances = mechanism.law.pmf(np.arange(-160, 161))
    before, after = chances[1:], chances[:-1]
    if cells == 2:
        before, after = np.multiply.outer(before, after), np.multiply.outer(after, before)
    for epsilon in (0, 0.25, 0.9, 1):
        for p, q in ((before, after), (after, before)):
            expected = np.maximum(0, p - math.exp(epsilon) * q).sum()
            stated = laplace_delta(mechanism.noise.scale, Fraction(str(epsilon)), cells=cells)

            assert float(stated) == pytest.approx(expected, abs=1e-12)
    guarantee = mechanism.guarantee_for(TABLE, epsilon="1/4")

    assert guarantee.epsilon == Fraction(1, 4)
    assert guarantee.delta == laplace_delta(mechanism.noise.scale, Fraction(1, 4), cells=cells)
    assert mechanism.guarantee_for(TABLE, epsilon=3) == mechanism.guarantee_for(TABLE)


def test_a_table_of_one_cell_hides_more_than_is_claimed():
    assert not Laplace(1, unit="replace one").guarantee_for(Histogram.of([3], LONE)).tight
    assert Laplace(1, unit="add or remove one").guarantee_for(Histogram.of([3], LONE)).tight


def test_gaussian_noise_states_rho_or_a_delta():
    mechanism = DiscreteGaussian(rho="1/25", unit="replace one")
    asked = mechanism.guarantee_for(TABLE, epsilon=1)

    assert mechanism.guarantee_for(TABLE).rho == Fraction(1, 25)
    assert (asked.epsilon, float(asked.delta)) == (1, 2.28670866955554e-05)
    assert asked.delta < mechanism.guarantee_for(TABLE).loss.at_epsilon(Fraction(1)).delta


def test_gaussian_noise_is_calibrated_by_the_exact_delta():
    mechanism = DiscreteGaussian(epsilon=1, delta="1e-6", unit="replace one")
    stated = mechanism.guarantee_for(TABLE)

    assert stated.epsilon == 1
    assert (1 - Fraction(1, 10**6)) * Fraction(1, 10**6) <= stated.delta <= Fraction(1, 10**6)
    assert mechanism.exact_delta(1) == stated.delta
    assert mechanism.guarantee_for(TABLE, epsilon=2).delta < stated.delta


def test_the_printed_numbers_can_be_had_and_are_marked():
    """Table 1 goes with a variance of 20 / epsilon, the formula of the text with 4 / epsilon**2."""
    table_one = DiscreteGaussian(rho="1/20", unit="replace one")  # variance 20
    in_text = DiscreteGaussian(rho="1/4", unit="replace one")  # variance 4
    printed = [each.guarantee_for(TABLE, epsilon=1, as_printed=True) for each in (table_one, in_text)]

    assert float(printed[0].delta) == pytest.approx(0.1319938432, rel=1e-9)
    assert float(printed[1].delta) == pytest.approx(0.8825, abs=5e-5)
    assert all("as printed" in each.proof and not each.tight for each in printed)
    assert in_text.guarantee_for(TABLE, as_printed=True).rho == Fraction(1, 2)
    assert float(in_text.guarantee_for(TABLE, epsilon=1).delta) == pytest.approx(0.0379694447235, rel=1e-11)


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"rho": 1, "epsilon": 1},
        {"epsilon": 1},
        {"delta": "1e-6"},
        {"rho": 1, "epsilon": 1, "delta": "1e-6"},
    ],
)
def test_gaussian_noise_takes_rho_or_epsilon_and_delta(given):
    with pytest.raises(InvalidParameterError, match="given alone"):
        DiscreteGaussian(**given, unit="replace one")


def test_the_record_keeps_what_was_given():
    mechanism = DiscreteGaussian(epsilon=1, delta="1e-6", unit="replace one")

    assert mechanism.to_dict() == {
        "mechanism": "discrete-gaussian",
        "rho": None,
        "epsilon": "1",
        "delta": "1/1000000",
        "unit": "replace one",
    }
    assert repr(mechanism) == "DiscreteGaussian(epsilon=1, delta=1e-06, unit='replace one')"
    assert repr(Laplace("1/3", unit="replace one")) == "Laplace(epsilon='1/3', unit='replace one')"


@pytest.mark.parametrize("epsilon", [0, -1, "x", None, True, 10**7, "1e-12"])
def test_an_epsilon_that_cannot_be_is_refused(epsilon):
    with pytest.raises(InvalidParameterError):
        Laplace(epsilon, unit="replace one")


def test_noise_has_no_bias_and_the_variance_of_its_law():
    for mechanism in (Laplace(1, unit="replace one"), DiscreteGaussian(rho="1/10", unit="replace one")):
        assert mechanism.bias(TABLE).exact
        assert (mechanism.bias(TABLE).values == 0).all()
        assert mechanism.alpha(TABLE) == 0
        assert (mechanism.variance(TABLE).values == mechanism.law.variance).all()


def test_clamping_has_a_bias_that_is_known():
    """3.2 of the count with nobody in it: it can only move up."""
    mechanism = Laplace(1, unit="replace one")
    bias = mechanism.bias(TABLE, post=[Nonnegative()])
    rate = math.exp(-0.5)

    assert bias.exact
    assert bias.values == pytest.approx([rate ** (x + 1) / (1 - rate**2) for x in (120, 14, 0)], rel=1e-12)
    assert mechanism.alpha(TABLE, [Nonnegative()]) == pytest.approx(bias.values[2] - bias.values[0])


def test_post_processing_is_told():
    release = Laplace(1, unit="replace one").release(TABLE, rng=1, post=[Nonnegative(), Shrink(2)])

    assert release.postprocessing == (Nonnegative().words, Shrink(2).words)
    assert release.values.dtype == np.float64
    assert (release.values >= 0).all()


@pytest.mark.parametrize("counts", [[2**62, 2**63 - 1, 0], [-(2**63), -(2**62), 2**40]])
def test_no_count_wraps_around(counts):
    """Nobody counts so many people; still, nothing that depends on a count may fail or turn its sign."""
    values = Laplace("1e-6", unit="replace one").release(Histogram.of(counts, SCHEMA), rng=1).values
    exact = [max(-(2**62), min(2**62, count)) for count in counts]

    assert all(abs(int(value) - true) < 2**32 for value, true in zip(values, exact, strict=True))


def test_noise_follows_its_law_on_an_empty_table():
    wide = Schema([Column("place", Domain.integers(1, 50_000))])
    release = Laplace(1, unit="replace one").release(Histogram.of(np.zeros(50_000, int), wide), rng=3)

    assert (release.values != 0).mean() == pytest.approx(1 - DiscreteLaplace(2).pmf(0), abs=0.02)
    assert release.suppressed is None
