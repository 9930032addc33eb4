"""An epsilon or a delta that is stated is never below the truth, down to its last digit.

What the accountant finds is put in its way as a number whose digits are known, so that the direction of the
last rounding is seen; the formulas are computed again with fifty digits.
"""

import math
from fractions import Fraction

import mpmath
import pytest

from evenhand.privacy import accounting, grid_noise
from evenhand.privacy.accounting import SampledGaussian, noise_for
from evenhand.privacy.grid_noise import GridCost, GridNoise, training_guarantee
from evenhand.privacy.guarantees.loss import Loss
from evenhand.privacy.guarantees.units import Unit
from evenhand.privacy.rational import exp_bounds, log_bounds, round_down, round_up, text_above, text_below
from evenhand.privacy.zcdp import delta_from_zcdp, epsilon_from_zcdp

UNITS = ["add or remove one", "replace one"]
FOUND = [1 / 3, 2 / 3, 1.8281999999999, 1.0000000000001, 1.00000000000049, 5e-7 / 3, 123.456789012345678, 0.7]
ONE = SampledGaussian(noise=1, sampling="0.01", steps=10)


def _unit_of_the_twelfth_digit(value):
    return Fraction(10) ** (math.floor(math.log10(value)) - 11)


@pytest.mark.parametrize("found", FOUND)
@pytest.mark.parametrize("unit", UNITS)
def test_the_stated_epsilon_is_what_was_found_with_its_twelfth_digit_rounded_up(found, unit, monkeypatch):
    monkeypatch.setattr(accounting, "epsilon_at", lambda of, delta: found)
    stated = ONE.epsilon("1e-5", unit=unit)

    assert stated >= Fraction(found)
    assert stated - Fraction(found) < _unit_of_the_twelfth_digit(found)
    assert (stated / _unit_of_the_twelfth_digit(found)).denominator == 1


@pytest.mark.parametrize("found", [each for each in FOUND if each < 1])
def test_the_stated_delta_is_what_was_found_with_its_twelfth_digit_rounded_up(found, monkeypatch):
    monkeypatch.setattr(accounting, "delta_at", lambda of, epsilon: found)
    stated = ONE.delta(1, unit="add or remove one")

    assert 0 <= stated - Fraction(found) < _unit_of_the_twelfth_digit(found)


def test_a_delta_above_one_is_stated_as_one(monkeypatch):
    monkeypatch.setattr(accounting, "delta_at", lambda of, epsilon: 1.0)

    assert ONE.delta(1, unit="add or remove one") == 1


@pytest.mark.parametrize("number", ["1/3", "2/3", "1/7", "0.1", "0.3", "0.7"])
def test_what_the_accountant_is_given_is_rounded_against_us(number, monkeypatch):
    """Less noise, more sampling, a smaller delta and a smaller epsilon than those asked about."""
    asked = Fraction(number)
    seen = {}
    monkeypatch.setattr(accounting, "epsilon_at", lambda of, delta: seen.update(of=of, delta=delta) or 1.0)
    monkeypatch.setattr(accounting, "delta_at", lambda of, epsilon: seen.update(epsilon=epsilon) or 0.5)
    steps = SampledGaussian(noise=asked, sampling=asked, steps=3)
    steps.epsilon(asked, unit="replace one")
    steps.delta(asked, unit="replace one")

    assert Fraction(seen["of"].noise) <= asked <= Fraction(seen["of"].sampling)
    assert Fraction(seen["delta"]) <= asked
    assert Fraction(seen["epsilon"]) <= asked
    near = [seen["of"].noise, seen["of"].sampling, seen["delta"], seen["epsilon"]]
    assert all(abs(Fraction(each) - asked) < asked / 2**52 for each in near)
    assert (seen["of"].steps, seen["of"].unit) == (3, Unit.REPLACE_ONE)


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize(("noise", "steps"), [(1, 1), (2, 4), ("3/2", 9), (10, 50)])
def test_without_sampling_the_stated_epsilon_is_not_below_that_of_the_gaussian(noise, steps, unit):
    """All steps together are one Gaussian query, whose delta has a closed form; fifty digits of it."""
    stated = SampledGaussian(noise, 1, steps).epsilon("1e-5", unit=unit)
    with mpmath.workdps(50):
        moved = (
            (2 if unit == "replace one" else 1) * mpmath.sqrt(steps) / mpmath.mpf(str(Fraction(noise) * 1.0))
        )
        epsilon = mpmath.mpf(stated.numerator) / stated.denominator

        def delta(at):
            return mpmath.ncdf(moved / 2 - at / moved) - mpmath.exp(at) * mpmath.ncdf(-moved / 2 - at / moved)

        assert delta(epsilon) <= mpmath.mpf("1e-5")
        assert delta(epsilon * mpmath.mpf("0.99")) > mpmath.mpf("1e-5")  # and not far above it either


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("epsilon", ["1/3", "1", "2.9"])
def test_noise_that_is_looked_for_keeps_the_epsilon_that_was_asked(epsilon, unit):
    found = noise_for(epsilon, "1e-5", sampling="0.1", steps=20, unit=unit)
    kept = SampledGaussian(Fraction(found), "0.1", 20).epsilon("1e-5", unit=unit)

    assert kept <= Fraction(epsilon)


# --- the cost of the grid -------------------------------------------------------------------------


def _mp(value):
    return mpmath.mpf(value.numerator) / value.denominator


@pytest.mark.parametrize(("draws", "noise"), [(1, 1), (7, "3/2"), (10**6, 2), (10**12, "1/20"), (999, 333)])
def test_the_cost_of_the_grid_is_not_below_its_formulas(draws, noise):
    grid = GridNoise(1, noise, draws)
    cost = grid.cost
    with mpmath.workdps(60):
        variance, count, tail = mpmath.mpf(grid.variance), mpmath.mpf(draws), mpmath.mpf(700)
        rise = count / (24 * variance)
        root = mpmath.sqrt(variance) * mpmath.sqrt(count + 2 * mpmath.sqrt(count * tail) + 2 * tail)
        fall = (root + mpmath.sqrt(count) / 2) ** 2 / (24 * variance**2)

        assert _mp(cost.rise) >= rise
        assert _mp(cost.fall) >= fall
        assert _mp(cost.tail) >= mpmath.exp(-tail)
        assert _mp(cost.rise) < rise * (1 + mpmath.mpf(10) ** -10)
        assert Fraction(grid.variance) >= grid.noise**2 * grid.longest**2


COSTS = [
    GridCost(Fraction(1, 3 * 10**6), Fraction(2, 7 * 10**5), Fraction(1, 3 * 10**300)),
    GridCost(Fraction(1, 9), Fraction(1, 7), Fraction(1, 10**9)),
]


@pytest.mark.parametrize("cost", COSTS)
@pytest.mark.parametrize("epsilon", ["1/3", "2", "1.8281999999999"])
@pytest.mark.parametrize("delta", ["1e-5", "1/3000000"])
def test_total_and_room_of_the_grid_round_against_us(cost, epsilon, delta):
    epsilon, delta = Fraction(epsilon), Fraction(delta)
    stated = cost.total(epsilon, delta)
    with mpmath.workdps(80):
        exact = mpmath.exp(_mp(cost.rise)) * (_mp(delta) + mpmath.exp(_mp(epsilon)) * _mp(cost.tail))

        assert stated[0] >= epsilon + cost.rise + cost.fall
        assert stated[0] - (epsilon + cost.epsilon) < _unit_of_the_twelfth_digit(stated[0])
        assert _mp(stated[1]) >= exact
        assert _mp(stated[1]) < exact * (1 + mpmath.mpf(10) ** -10)
    room = cost.room(epsilon, delta)
    assert room[0] + cost.epsilon <= epsilon
    assert epsilon - cost.epsilon - room[0] < 2 * _unit_of_the_twelfth_digit(epsilon)
    with mpmath.workdps(80):
        left = _mp(delta) / mpmath.exp(_mp(cost.rise)) - mpmath.exp(_mp(epsilon - cost.epsilon)) * _mp(
            cost.tail
        )

        assert _mp(room[1]) <= max(left, mpmath.mpf(0))


@pytest.mark.parametrize("found", FOUND[:5])
def test_the_epsilon_of_given_noise_is_that_of_the_accountant_and_the_grid_rounded_up(found, monkeypatch):
    monkeypatch.setattr(accounting, "epsilon_at", lambda of, delta: found)
    given = {"sampling": "0.01", "steps": 10, "unit": "replace one", "dimensions": 3}
    made = training_guarantee(noise=1, delta="1e-5", **given)

    assert made.epsilon >= Fraction(found) + made.grid.cost.epsilon
    assert made.epsilon - Fraction(found) - made.grid.cost.epsilon < 3 * _unit_of_the_twelfth_digit(found)
    assert made.delta == Fraction("1e-5")


def test_of_a_budget_the_cost_of_the_grid_is_taken_off_before_noise_is_looked_for(monkeypatch):
    seen = {}

    def looking(epsilon, delta, **given):
        seen.update(epsilon=epsilon, delta=delta)
        return 1.5

    monkeypatch.setattr(grid_noise, "noise_for", looking)
    made = training_guarantee(1, "1e-5", sampling="0.01", steps=10**4, unit="replace one", dimensions=10**3)

    assert seen["epsilon"] + made.grid.cost.epsilon <= 1
    assert made.grid.cost.total(seen["epsilon"], seen["delta"])[1] <= Fraction("1e-5")
    assert (made.epsilon, made.noise) == (1, Fraction(3, 2))


# --- conversions and texts ------------------------------------------------------------------------


@pytest.mark.parametrize("rho", ["1/10", "1/3", "2", "1e-6"])
@pytest.mark.parametrize("delta", ["1e-6", "1/3000", "1e-30"])
def test_conversions_of_zcdp_are_not_below_the_best_order(rho, delta):
    epsilon = epsilon_from_zcdp(rho, delta)
    back = delta_from_zcdp(rho, epsilon)
    with mpmath.workdps(60):
        spent, aim = _mp(Fraction(rho)), mpmath.log(1 / _mp(Fraction(delta)))

        def at(u):
            return (u + 1) * spent + (aim - mpmath.log(1 + u)) / u - mpmath.log(1 + 1 / u)

        best = mpmath.findroot(lambda u: spent * u**2 + mpmath.log(1 + u) - aim, mpmath.sqrt(aim / spent))
        least = max(mpmath.mpf(0), at(best))

        assert _mp(epsilon) >= least
        assert _mp(epsilon) <= least * (1 + mpmath.mpf(10) ** -25) + mpmath.mpf(10) ** -25
    assert back <= Fraction(delta)


@pytest.mark.parametrize(
    "value", [Fraction(1, 3), Fraction(2, 3), Fraction(10**30 + 1, 10**30), Fraction(7, 10**9)]
)
@pytest.mark.parametrize("digits", [2, 3, 6, 12])
def test_shown_numbers_are_on_the_side_they_say(value, digits):
    assert Fraction(text_above(value, digits=digits)) >= value >= Fraction(text_below(value, digits=digits))
    assert round_up(value, digits=digits) >= value >= round_down(value, digits=digits)


@pytest.mark.parametrize("value", [Fraction(1, 3), Fraction(-7, 3), Fraction(5), Fraction(1, 10**12)])
def test_exponentials_and_logarithms_are_between_their_bounds(value):
    low, high = exp_bounds(value)
    with mpmath.workdps(80):
        assert _mp(low) < mpmath.exp(_mp(value)) < _mp(high)
        if value > 0:
            low, high = log_bounds(value)
            assert _mp(low) < mpmath.log(_mp(value)) < _mp(high)


def test_the_delta_of_a_group_is_rounded_up():
    loss = Loss(Fraction(1, 3), Fraction(1, 10**7))
    grown = loss.for_group(5)
    with mpmath.workdps(60):
        exact = sum(mpmath.exp(_mp(Fraction(1, 3)) * i) for i in range(5)) * _mp(Fraction(1, 10**7))

        assert grown.amount == Fraction(5, 3)
        assert exact <= _mp(grown.delta) <= exact * (1 + mpmath.mpf(10) ** -20)


@pytest.mark.parametrize("number", ["1/3", "1/7", "0.1", "0.3", "0.7"])
def test_the_search_for_noise_is_given_less_than_was_asked(number, monkeypatch):
    asked, seen = Fraction(number), []
    monkeypatch.setattr(accounting, "_search", lambda *given: seen.extend(given) or 1.0)
    noise_for(asked, asked, sampling=asked, steps=3, unit="replace one")
    epsilon, delta, steps, _ = seen

    assert Fraction(epsilon) <= asked
    assert Fraction(delta) <= asked
    assert Fraction(steps.sampling) >= asked
    assert (steps.steps, steps.unit) == (3, Unit.REPLACE_ONE)


def test_an_amount_that_is_too_long_is_shortened_upwards():
    long = Fraction(10**1200 + 1, 3**2500)
    short = Loss(long).for_group(3)

    assert short.amount >= 3 * long
    assert short.amount <= 3 * long * (1 + Fraction(1, 10**20))


@pytest.mark.parametrize("rho", ["1/10", "1/3", "2"])
@pytest.mark.parametrize("epsilon", ["3", "10/3", "7"])
def test_the_delta_of_zcdp_is_not_below_that_of_the_best_order(rho, epsilon):
    stated = delta_from_zcdp(rho, epsilon)
    with mpmath.workdps(60):
        spent, asked = _mp(Fraction(rho)), _mp(Fraction(epsilon))
        best = mpmath.findroot(
            lambda u: 2 * u * spent - (asked - spent) - mpmath.log(1 + 1 / u),
            (asked - spent) / (2 * spent) + 1,
        )
        logs = best * mpmath.log(1 + 1 / best) + mpmath.log(1 + best)
        least = mpmath.exp(best * ((best + 1) * spent - asked) - logs)

        assert least <= _mp(stated) <= least * (1 + mpmath.mpf(10) ** -25)
