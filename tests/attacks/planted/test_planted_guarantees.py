"""Bugs planted in the guarantees, each caught by the check that would catch it in earnest."""

import math
from fractions import Fraction

import numpy as np
import pytest

from evenhand.privacy import Guarantee, rational, zcdp
from evenhand.privacy.guarantees import compose as _compose
from evenhand.privacy.guarantees import loss
from evenhand.privacy.guarantees.loss import Loss
from property._hockey_stick import discrete_gaussian, excess, together
from property._zcdp_truth import (
    assert_rounded_against_us,
    random_conversions,
    true_delta,
    true_epsilon,
    true_group_delta,
)

CENTRAL = {"trust": "central"}


@pytest.fixture(scope="module")
def inputs():
    return random_conversions(seed=8, how_many=(60, 60, 60))


def one_place_lower(value):
    """Return the number whose last stated digit is one less."""
    exponent = math.floor(math.log10(value)) - zcdp.STATED_DIGITS + 1
    return value - Fraction(10) ** exponent


# -- planted bug 8: delta one unit in the last place too small ----------------------------------------


@pytest.mark.parametrize("kind", [0, 1, 2], ids=["delta", "epsilon", "group"])
def test_one_unit_in_the_last_place_is_caught(inputs, kind):
    """A delta that is too small by its last digit is still a promise that is not kept."""
    convert = (zcdp.delta_from_zcdp, zcdp.epsilon_from_zcdp, loss.group_delta)[kind]
    truth = (true_delta, true_epsilon, true_group_delta)[kind]
    most = 0.999 if kind != 1 else math.inf  # a delta of 1 is not rounded
    some = [each for each in inputs[kind] if 1e-9 < truth(*each) < most]
    assert_rounded_against_us(convert, truth, some)

    for each in some:  # not in the worst case only: every single conversion sees it
        with pytest.raises(AssertionError, match="below the truth"):
            assert_rounded_against_us(lambda *given: one_place_lower(convert(*given)), truth, [each])


@pytest.mark.parametrize(
    ("module", "name", "broken"),
    [
        (zcdp, "round_up", lambda value, digits: Fraction(f"{float(value):.12e}")),
        (zcdp, "exp_bounds", lambda value, digits: (Fraction(math.exp(value)),) * 2),
        (zcdp, "log_below", lambda value, digits: rational.log_above(value, digits=12)),
    ],
    ids=["nearest", "float exp", "logarithm from above"],
)
def test_a_step_rounded_the_wrong_way_is_caught(monkeypatch, inputs, module, name, broken):
    monkeypatch.setattr(module, name, broken)
    with pytest.raises(AssertionError, match="below the truth"):
        assert_rounded_against_us(zcdp.delta_from_zcdp, true_delta, inputs[0])


def test_a_group_whose_exponential_is_rounded_down_is_caught(monkeypatch, inputs):
    monkeypatch.setattr(
        loss, "exp_bounds", lambda value, digits: rational.exp_bounds(value, digits=digits)[::-1]
    )
    monkeypatch.setattr(loss, "round_up", lambda value, digits: value)
    with pytest.raises(AssertionError, match="below the truth"):
        assert_rounded_against_us(loss.group_delta, true_group_delta, inputs[2])


# -- planted bug 10: replace-one data counted with add-or-remove sensitivity --------------------------


def assert_replacing_is_covered():
    """One person moves from one cell of a noisy table to another."""
    variance, epsilon = 25, 1.0
    still, moved = discrete_gaussian(variance, 0), discrete_gaussian(variance, 1)
    added = Guarantee.approximate(
        epsilon, Fraction(excess(still, moved, epsilon)), unit="add or remove one", **CENTRAL
    )
    claim = added.as_unit("replace one")
    measured = excess(together(still, moved), together(moved, still), float(claim.epsilon))

    assert measured <= float(claim.delta), "replacing loses more than is claimed"


def test_replacing_is_covered_by_the_conversion():
    assert_replacing_is_covered()


@pytest.mark.parametrize(
    "broken",
    [
        lambda self, size: self,
        lambda self, size: Loss(self.amount, size * self.delta, self.concentrated),
    ],
    ids=["as it was", "delta alone doubled"],
)
def test_replacing_counted_as_adding_is_caught(monkeypatch, broken):
    """With the sensitivity of adding, the noise of a table is half of what replacing needs."""
    monkeypatch.setattr(Loss, "for_group", broken)
    with pytest.raises(AssertionError, match="replacing loses more than is claimed"):
        assert_replacing_is_covered()


def assert_a_move_is_covered(unit):
    keep, flip = np.array([0.75, 0.25]), np.array([0.25, 0.75])
    part = Guarantee.pure(Fraction(str(math.log(3) + 1e-9)), unit=unit, **CENTRAL)
    claim = part | part
    measured = excess(together(keep, keep), together(flip, flip), float(claim.epsilon))

    assert measured <= 1e-12, "a move between parts loses more than is claimed"


@pytest.mark.parametrize("unit", ["one report", "one person", "replace one"])
def test_a_move_counted_as_one_part_is_caught(monkeypatch, unit):
    """Two cells of a table by race: a person whose race changes moves both."""
    assert_a_move_is_covered(unit)
    monkeypatch.setattr(_compose, "largest_two", lambda losses: (losses[0], Loss(Fraction(0))))
    with pytest.raises(AssertionError, match="a move between parts"):
        assert_a_move_is_covered(unit)
