"""The statistics of an audit with canaries; tests/statistical/test_learn_canaries.py has its error rates."""

import math
from fractions import Fraction

import numpy as np
import pytest

from evenhand.errors import GuaranteeError, InvalidParameterError
from evenhand.learn.audit.canaries import audit_canaries, chance_of_guesses, least_epsilon

COINS = np.arange(1_000) % 2 == 0


def slow_chance(correct, guesses, canaries, epsilon, delta):
    """Return the bound of the theorem, term by term."""
    right = math.exp(epsilon) / (1 + math.exp(epsilon))
    masses = [math.comb(guesses, k) * right**k * (1 - right) ** (guesses - k) for k in range(guesses + 1)]
    best = max((sum(masses[correct - i : correct]) / i for i in range(1, correct + 1)), default=0)
    return min(1, sum(masses[correct:]) + 2 * canaries * delta * best)


@pytest.mark.parametrize("delta", [0, 1e-6, 1e-3])
@pytest.mark.parametrize(("correct", "guesses"), [(0, 5), (1, 1), (17, 20), (20, 20), (60, 90)])
def test_the_chance_is_that_of_the_theorem(correct, guesses, delta):
    """A bound that is too small would accuse trainings that keep what they claim."""
    for epsilon in (0.0, 0.5, 3.0):
        fast = chance_of_guesses(correct, guesses, canaries=200, epsilon=epsilon, delta=delta)

        assert fast == pytest.approx(slow_chance(correct, guesses, 200, epsilon, delta), rel=1e-9)


def test_the_published_example_is_reproduced():
    """Steinke, Nasr and Jagielski 2023, appendix D: 75 of 100 guesses, 1,000 canaries, delta 1e-4, 95 %."""
    assert round(least_epsilon(75, 100, canaries=1_000, delta=1e-4, error=0.05), 3) == 0.673


def test_the_measured_epsilon_is_the_largest_that_is_contradicted():
    found = least_epsilon(90, 100, canaries=1_000, delta=1e-9, error=1e-3)

    assert chance_of_guesses(90, 100, canaries=1_000, epsilon=found, delta=1e-9) < 1e-3
    assert chance_of_guesses(90, 100, canaries=1_000, epsilon=found + 1e-9, delta=1e-9) >= 1e-3
    assert least_epsilon(50, 100, canaries=1_000, error=1e-3) == 0
    assert least_epsilon(0, 100, canaries=1_000, error=1e-3) == 0


def test_large_scores_are_guessed_in_and_small_ones_out():
    found = audit_canaries(COINS * 2.0, COINS, claimed="1/2", guesses=100)

    assert (found.correct, found.guesses, found.canaries) == (100, 100, 1_000)
    assert found.exceeds
    assert audit_canaries(-2.0 * COINS, COINS, guesses=100).correct == 0
    assert audit_canaries([3.0, 1.0, 2.0], np.array([True, False, True]), guesses=1).correct == 1
    assert audit_canaries([3.0, 1.0, 2.0], np.array([True, False, True]), guesses=3).correct == 2


def test_several_numbers_of_guesses_share_the_error():
    alone = audit_canaries(COINS * 1.0, COINS, guesses=500)
    shared = audit_canaries(COINS * 1.0, COINS, guesses=[500, 10])
    together = audit_canaries(COINS * 1.0, COINS, guesses=500, share=2)

    assert shared.guesses == 500
    assert shared.measured_epsilon == together.measured_epsilon < alone.measured_epsilon
    assert audit_canaries(COINS[:4] * 1.0, COINS[:4]).guesses == 4


def test_claimed_and_measured_are_never_mixed():
    """A reader must see which of the two numbers a proof stands behind."""
    over = audit_canaries(COINS * 1.0, COINS, claimed="1/2", delta="1e-9", share=3)
    within = audit_canaries(COINS * 1.0, COINS, claimed=8)
    nothing = audit_canaries(np.arange(1_000.0), COINS)

    assert "claimed 0.5, measured at least" in str(over)
    assert "(delta 1e-09) at 99.9 % for 3 audits together" in str(over)
    assert str(over).endswith("the claim does not hold.")
    assert "an audit cannot prove privacy" in str(within)
    assert str(nothing).startswith("nothing claimed, measured at least 0 at 99.9 %")
    assert within.check() is within
    with pytest.raises(GuaranteeError, match="do not release"):
        over.check()
    assert nothing.check().exceeds is False
    assert over.to_dict() == {
        "measured_epsilon": over.measured_epsilon,
        "claimed_epsilon": "1/2",
        "delta": "1/1000000000",
        "confidence": 0.999,
        "share": 3,
        "exceeds": True,
        "canaries": 1_000,
        "guesses": over.guesses,
        "correct": over.correct,
    }
    assert nothing.to_dict()["claimed_epsilon"] is None
    assert over.claimed_epsilon == Fraction(1, 2)


@pytest.mark.parametrize(
    ("changed", "match"),
    [
        ({"scores": [[1.0]]}, "'scores' parameter of audit_canaries must be a list of finite numbers"),
        ({"scores": []}, "finite numbers"),
        ({"scores": [np.nan, 1.0]}, "finite numbers"),
        ({"included": [1, 0]}, "truth values"),
        ({"included": [True]}, "truth values"),
        ({"confidence": 1}, "above 0 and below 1"),
        ({"confidence": True}, "above 0 and below 1"),
        ({"confidence": 1.5}, "above 0 and below 1"),
        ({"share": 0}, "at least 1"),
        ({"guesses": 3}, "from 1 to 2"),
        ({"guesses": []}, "an empty list"),
        ({"delta": 2}, "delta"),
        ({"claimed": -1}, "claimed"),
    ],
)
def test_what_cannot_be_is_refused(changed, match):
    given = {"scores": [1.0, 2.0], "included": [True, False]} | changed
    with pytest.raises(InvalidParameterError, match=match):
        audit_canaries(given.pop("scores"), given.pop("included"), **given)
