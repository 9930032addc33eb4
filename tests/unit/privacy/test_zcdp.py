"""zCDP becomes (epsilon, delta) by the better bound; the random comparisons are among the property tests."""

import time
from fractions import Fraction

import mpmath
import pytest

from evenhand.errors import InvalidParameterError
from evenhand.privacy import zcdp
from evenhand.privacy.zcdp import _best_for_delta, delta_from_zcdp, epsilon_from_zcdp
from property._zcdp_truth import DIGITS, precise, true_delta


def test_the_known_values_come_out():
    assert float(delta_from_zcdp("0.1", 1)) == pytest.approx(0.00893324577182, rel=1e-11)
    assert 1 + float(_best_for_delta(Fraction(1, 10), Fraction(1))) == pytest.approx(6.3559, abs=5e-5)


def test_the_simple_bound_of_the_table_is_worse():
    """The published table used exp(-(epsilon - rho)^2 / 4 rho) with rho = epsilon / 10."""
    printed = {"0.5": 0.3633095694, "1": 0.1319938432, "2": 0.01742237464, "4": 0.0003035391381}
    for epsilon, simple in printed.items():
        assert 0 < delta_from_zcdp(Fraction(epsilon) / 10, epsilon) < simple


def test_no_loss_gives_no_delta_and_no_epsilon():
    assert delta_from_zcdp(0, 0) == delta_from_zcdp(0, 5) == 0
    assert epsilon_from_zcdp(0, "1e-6") == epsilon_from_zcdp(0, 0) == 0


def test_a_delta_of_one_needs_no_epsilon():
    assert epsilon_from_zcdp(5, 1) == 0


def test_no_epsilon_goes_with_a_delta_of_zero():
    with pytest.raises(InvalidParameterError, match="since no finite epsilon goes with delta = 0"):
        epsilon_from_zcdp(1, 0)


def test_a_large_delta_may_need_no_epsilon():
    assert epsilon_from_zcdp("1e-6", "0.5") == 0
    assert delta_from_zcdp("1e-6", 0) < Fraction(1, 2)


@pytest.mark.parametrize(
    ("rho", "epsilon"),
    [
        ("1e-300", 0),
        ("1e-300", "1e-300"),
        ("1e300", "1e300"),
        ("1e-10", 0),
        ("1e10", "1e10"),
        (80, 0),
        ("1/6", "1/6"),
    ],
)
def test_far_amounts_still_give_a_delta(rho, epsilon):
    assert 0 < delta_from_zcdp(rho, epsilon) <= 1


def test_a_delta_too_small_to_write_is_stated_as_the_smallest():
    """Stating it as zero would be a pure guarantee that does not hold."""
    assert delta_from_zcdp(1, "1e300") == delta_from_zcdp("1e-6", 10) == Fraction(1, 10**400)


def test_a_hopeless_loss_is_a_delta_of_one():
    assert delta_from_zcdp("1e300", 0) == delta_from_zcdp(1_000, 1) == 1


@pytest.mark.parametrize("delta", ["1e-300", "1e-400", "0.5", "0.999999999"])
@pytest.mark.parametrize("rho", ["1e-300", "1e-6", 1, "1e6", "1e300"])
def test_far_amounts_still_give_an_epsilon(rho, delta):
    epsilon = epsilon_from_zcdp(rho, delta)

    assert epsilon >= 0
    assert delta_from_zcdp(rho, epsilon) <= Fraction(delta) * (1 + Fraction(1, 10**20))


def test_tiny_delta_by_hand():
    """The simple bound is rho + 2 sqrt(rho ln(1/delta)); the better one is a little below."""
    simple = 1 + 2 * (300 * 2.302585092994046) ** 0.5

    assert simple - 1 < epsilon_from_zcdp(1, "1e-300") < simple


def test_more_loss_is_more_delta_and_more_epsilon_less():
    rhos = [Fraction(n, 20) for n in range(1, 40)]
    deltas = [delta_from_zcdp(rho, 1) for rho in rhos]
    epsilons = [epsilon_from_zcdp(rho, "1e-6") for rho in rhos]

    assert deltas == sorted(deltas)
    assert epsilons == sorted(epsilons)


@pytest.mark.parametrize(("name", "given"), [("rho", (-1, 1)), ("epsilon", (1, -1))])
def test_negative_amounts_are_refused(name, given):
    with pytest.raises(
        InvalidParameterError, match=f"'{name}' parameter of delta_from_zcdp must be a number >= 0"
    ):
        delta_from_zcdp(*given)


@pytest.mark.parametrize(("name", "given"), [("rho", (-1, 1)), ("delta", (1, 2)), ("delta", (1, -1))])
def test_impossible_amounts_are_refused(name, given):
    with pytest.raises(
        InvalidParameterError, match=f"'{name}' parameter of epsilon_from_zcdp must be a number >= 0"
    ):
        epsilon_from_zcdp(*given)


def near_the_smallest_delta():
    """Pairs whose ln delta goes from about -880 to -930 in small steps, for small, middling and large rho."""
    for rho in (Fraction(1, 100), Fraction(1), Fraction(50)):
        for target in range(1_760, 1_864):
            gap = Fraction(str(round(2 * (float(rho) * target / 2) ** 0.5, 6)))
            yield rho, rho + gap


def test_deltas_are_stated_down_to_the_smallest_and_none_below_the_truth():
    """A delta that is called the smallest although it is larger is a promise that is not kept."""
    smallest = Fraction(1, 10**400)
    kinds = set()
    for rho, epsilon in near_the_smallest_delta():
        stated, truth = delta_from_zcdp(rho, epsilon), true_delta(rho, epsilon)
        kinds.add(stated == smallest)
        with mpmath.workdps(DIGITS):
            assert precise(stated) >= truth
            assert precise(stated) <= max(truth, precise(smallest)) * (1 + mpmath.mpf(10) ** -29)

    assert kinds == {True, False}


@pytest.mark.parametrize("broken", [-890, -915, -920])
def test_a_smallest_delta_that_comes_too_early_is_caught(monkeypatch, broken):
    monkeypatch.setattr(zcdp, "_SMALLEST_LOG", broken)
    with pytest.raises(AssertionError):
        test_deltas_are_stated_down_to_the_smallest_and_none_below_the_truth()


@pytest.mark.parametrize("rho", ["1e-300", 1, 3_000, "1e300"])
def test_a_delta_very_near_to_one_is_read_as_a_little_less_and_costs_no_time(rho):
    begun = time.process_time()
    far = epsilon_from_zcdp(rho, "0." + "9" * 3_899)

    assert time.process_time() - begun < 1
    assert far == epsilon_from_zcdp(rho, "0." + "9" * 400)
