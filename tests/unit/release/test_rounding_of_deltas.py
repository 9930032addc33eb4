"""Deltas and epsilons of releases are rounded up in their last digit: against formulas with eighty digits."""

import math
from fractions import Fraction
from types import SimpleNamespace

import mpmath
import numpy as np
import pytest

from evenhand.decide.mitigate.compare import _guarantee_text
from evenhand.privacy.guarantees.guarantee import Guarantee
from evenhand.privacy.guarantees.units import Unit
from evenhand.privacy.rational import round_up
from evenhand.release.delta import noise as gaussian_delta
from evenhand.release.delta import sampling as sampling_delta
from evenhand.release.delta import suppression as suppression_delta
from evenhand.release.delta.noise import laplace_delta
from evenhand.release.mechanisms import quasi_response
from unit.collect._scripted_words import Scripts, bytes_of, halves

SCALES = ["2", "7/3", "20", "1/3"]
EPSILONS = ["1/3", "1/10", "1", "7/4"]


@pytest.fixture(autouse=True)
def eighty_digits():
    with mpmath.workdps(80):
        yield


def _mp(value):
    value = Fraction(value)
    return mpmath.mpf(value.numerator) / value.denominator


def _assert_just_above(stated, truth, digits):
    """Not below the truth, and within one unit of its last digit."""
    assert _mp(stated) >= truth
    assert _mp(stated) - truth <= mpmath.mpf(10) ** (1 - digits) * truth
    shifted = stated * Fraction(10) ** (digits - 1 - math.floor(math.log10(stated)))
    assert shifted.denominator == 1  # so the last digit is where it is said to be


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("cells", [1, 2])
def test_the_delta_of_laplace_noise(scale, epsilon, cells):
    scale, epsilon = Fraction(scale), Fraction(epsilon)
    left = cells / scale - epsilon
    stated = laplace_delta(scale, epsilon, cells=cells)
    if left <= 0:
        assert stated == 0
        return
    chance = 1 / (1 + mpmath.exp(-1 / _mp(scale))) ** cells

    _assert_just_above(stated, chance * (1 - mpmath.exp(-_mp(left))), gaussian_delta.STATED_DIGITS)


@pytest.mark.parametrize("rho", ["1/10", "1/7", "2"])
@pytest.mark.parametrize("epsilon", ["3", "10/3", "7"])
def test_the_printed_delta_of_gaussian_noise(rho, epsilon):
    truth = mpmath.exp(-((_mp(epsilon) - _mp(rho)) ** 2) / (4 * _mp(rho)))

    _assert_just_above(gaussian_delta.printed_delta(rho, epsilon), truth, gaussian_delta.STATED_DIGITS)


@pytest.mark.parametrize(
    "variance", ["7/3", *(pytest.param(v, marks=pytest.mark.figures) for v in ("25", "100"))]
)
@pytest.mark.parametrize("epsilon", ["1/3", "1"])
@pytest.mark.parametrize("cells", [1, 2])
def test_the_exact_delta_of_gaussian_noise(variance, epsilon, cells):
    """The sum over all outcomes of what one table exceeds e**epsilon times the other by."""
    squared, reach = _mp(variance), 150
    weights = [mpmath.exp(-(mpmath.mpf(j) ** 2) / (2 * squared)) for j in range(-reach, reach + 1)]
    total = sum(weights)
    grown = mpmath.exp(_mp(epsilon))

    def mass(j):
        return weights[j + reach] / total if abs(j) <= reach else mpmath.mpf(0)

    if cells == 1:
        truth = sum(max(mpmath.mpf(0), mass(j) - grown * mass(j - 1)) for j in range(-reach, reach + 1))
    else:  # the loss depends on the difference of the two counts alone
        truth = mpmath.mpf(0)
        for difference in range(-2 * reach, 1):
            chance = sum(mass(j) * mass(j - difference) for j in range(-reach, reach + 1))
            ratio = mpmath.exp((2 * difference - 2) / (2 * squared))
            truth += max(mpmath.mpf(0), chance * (1 - grown * ratio))
    stated = gaussian_delta.exact_delta(variance, epsilon, cells=cells)

    assert _mp(stated) >= truth
    assert _mp(stated) <= truth * (1 + mpmath.mpf(10) ** (2 - gaussian_delta.STATED_DIGITS))


@pytest.mark.parametrize("scale", ["2", "7/3"])
@pytest.mark.parametrize("bound", [6, 8, 11])
def test_the_deltas_of_noisy_suppression(scale, bound):
    k, b = 5, _mp(scale)

    def below(place):  # Pr[noise < place] of continuous noise, for places that are not above zero
        return mpmath.exp(place / b) / 2

    replaced = 1 - below(k - bound) * below(k - bound + 1)
    added = 1 - below(k - bound)
    given = {"scale": scale, "idealized": True}
    digits = suppression_delta._DIGITS

    _assert_just_above(
        suppression_delta.count_noise_delta(k, bound, unit="replace one", **given), replaced, digits
    )
    _assert_just_above(
        suppression_delta.count_noise_delta(k, bound, unit="add or remove one", **given), added, digits
    )
    _assert_just_above(suppression_delta.threshold_noise_delta(k, bound, **given), added, digits)
    printed = 1 - mpmath.exp(-_mp("1/3") * (bound - k)) / 4
    _assert_just_above(suppression_delta.printed_delta(k, bound, epsilon="1/3"), printed, digits)


@pytest.mark.parametrize("values", [3, 9])
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_printed_delta_of_swapping(values, epsilon):
    other = 1 / (mpmath.exp(_mp(epsilon)) + values - 1)
    keep = 1 - (values - 1) * other
    truth = 1 - (1 - keep**2) / (values - 1) - other**2

    _assert_just_above(quasi_response.printed_delta(values, Fraction(epsilon)), truth, 15)


@pytest.mark.parametrize("unit", [Unit.ADD_OR_REMOVE_ONE, Unit.REPLACE_ONE])
@pytest.mark.parametrize("rate", ["1/10", "1/3"])
def test_the_delta_of_sampling_is_the_upper_bound_rounded_up(unit, rate, monkeypatch):
    """What is rounded is a bound in floats that is above the truth already; it must not be lowered again."""
    bounds = []

    def noted(value, *, digits):
        bounds.append(value)
        return round_up(value, digits=digits)

    monkeypatch.setattr(sampling_delta, "round_up", noted)
    stated = sampling_delta._delta.__wrapped__(Fraction(1, 3), Fraction(rate), 3, unit).delta

    assert len(bounds) == 1
    assert 0 < bounds[0] <= stated <= min(Fraction(1), bounds[0] * (1 + Fraction(1, 10**10)))


@pytest.mark.parametrize(
    "epsilon", [Fraction(1, 3), Fraction(12_344, 10_000), Fraction(10_001, 10_000), Fraction(1)]
)
def test_a_mitigation_is_shown_with_an_epsilon_that_is_not_below_its_own(epsilon):
    """1.2344 shown as 1.23 is a promise that nobody made."""
    pure = Guarantee.pure(epsilon, unit="replace one", trust="central")
    concentrated = Guarantee.zcdp(epsilon, unit="replace one", trust="central")
    for guarantee, name in ((pure, "epsilon"), (concentrated, "rho")):
        shown = _guarantee_text(SimpleNamespace(guarantee=guarantee))

        assert shown.startswith(f"{name} ")
        assert epsilon <= Fraction(shown.split()[1]) < epsilon * Fraction(102, 100)


@pytest.mark.parametrize(("values", "epsilon"), [(2, "1"), (5, "1/2"), (9, "3")])
def test_swapping_changes_a_value_with_exactly_the_stated_chance(values, epsilon):
    """The last number below the edge flips the value, and the first one from it on keeps it."""
    law = quasi_response.ResponseLaw(values, Fraction(epsilon), owner="example")
    flip = (1 - law.keep) * 2**64

    assert flip.denominator == 1
    assert law.keep + (values - 1) * law.other == 1
    for number, moves in ((flip - 1, True), (flip, False)):
        coin = bytes_of(*int(number).to_bytes(8, "big"))
        places, drawn = law.draw_moves(np.array([1]), source=Scripts(coin, halves(2**32 - 1)))

        assert places.tolist() == ([0] if moves else [])
        if moves:  # the last unit is the last of the other values
            assert drawn.tolist() == [values - 1 if values > 2 else 0]
