"""The rate for a budget: found, accounted again, and within one part in a million below the target."""

from fractions import Fraction

import pytest
import scipy.optimize

from evenhand.errors import InvalidParameterError
from evenhand.release.delta.sampling import rate_for, sampled_delta
from unit.release._slow_suppression import ADD, REPLACE

ONE, MILLIONTH = Fraction(1), Fraction(1, 10**6)


@pytest.mark.parametrize("unit", [ADD, REPLACE])
@pytest.mark.parametrize(
    ("epsilon", "delta", "k"),
    [(1, "1e-6", 10), (1, "1e-6", 5), ("1/2", "1e-9", 12), (20, "1e-6", 5), (2, "1/1000", 3), (1, "1/2", 5)],
)
def test_calibrating_and_accounting_again_returns_the_target(unit, epsilon, delta, k):
    """A rate that spends more would break the promise; one that spends much less wastes people."""
    rate = rate_for(Fraction(epsilon), Fraction(delta), k=k, unit=unit)
    spent = sampled_delta(epsilon, rate=rate, k=k, unit=unit).delta

    assert (1 - Fraction(1, 10**6)) * Fraction(delta) <= spent <= Fraction(delta)
    assert (rate * 2**64).denominator == 1


def test_replacing_allows_at_most_the_rate_of_adding():
    assert rate_for(ONE, MILLIONTH, k=10, unit=REPLACE) < rate_for(ONE, MILLIONTH, k=10, unit=ADD)


def test_a_larger_threshold_allows_a_larger_rate():
    rates = [rate_for(ONE, MILLIONTH, k=k, unit=ADD) for k in (1, 2, 5, 20)]

    assert rates == sorted(rates)
    assert rates[0] == pytest.approx(1e-6, rel=2e-6)


def test_a_small_epsilon_is_served():
    rate = rate_for(Fraction(1, 1000), Fraction(1, 100), k=3, unit=ADD)

    assert 0 < sampled_delta("1/1000", rate=rate, k=3, unit=ADD).delta <= Fraction(1, 100)


def test_a_rate_that_overshoots_is_lowered(monkeypatch):
    """The search works with logarithms of floats; what it returns is accounted again before it is used."""
    right = scipy.optimize.brentq
    monkeypatch.setattr(scipy.optimize, "brentq", lambda *given, **how: right(*given, **how) + 2e-6)
    rate_for.cache_clear()
    rate = rate_for(ONE, Fraction(1, 10**5), k=7, unit=ADD)
    rate_for.cache_clear()

    assert sampled_delta(1, rate=rate, k=7, unit=ADD).delta <= Fraction(1, 10**5)


def test_a_delta_that_allows_nobody_is_refused():
    with pytest.raises(InvalidParameterError, match="a larger k allows a larger rate"):
        rate_for(ONE, Fraction(1, 10**30), k=1, unit=ADD)
