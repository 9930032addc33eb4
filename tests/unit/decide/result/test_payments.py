"""What single releases pay has the mean and the chances that are computed without drawing."""

import numpy as np
import pytest
from scipy import stats

from evenhand.decide.allotment.allotment import Allotment
from evenhand.decide.mitigate.linear import linear_proxy
from evenhand.decide.mitigate.mitigation import build_mitigation, plain_release
from evenhand.decide.mitigate.output import output_perturbation
from evenhand.decide.mitigate.payment import fairness_payment
from evenhand.decide.mitigate.shrink import shrink
from evenhand.decide.mitigate.sum_constraint import sum_constraint
from evenhand.privacy.laws import DiscreteLaplace
from evenhand.privacy.randomness import SeededSource
from evenhand.release.postprocess.steps import Nonnegative

ALPHA = 1e-9
DRAWS = 20_000
SHARES, COUNTS, NOISE = Allotment([1, 2, 1, 1.5]), {"x": [2, 5, 300, 900]}, DiscreteLaplace(3)
GIVEN = {"unit": "add or remove one"}
WAYS = {
    "plain": lambda: plain_release(SHARES, COUNTS, NOISE, **GIVEN),
    "clamped": lambda: plain_release(SHARES, COUNTS, NOISE, post=[Nonnegative()], **GIVEN),
    "shrink": lambda: shrink(SHARES, COUNTS, NOISE, **GIVEN),
    "linear proxy": lambda: linear_proxy(SHARES, COUNTS, NOISE, **GIVEN),
    "payment": lambda: fairness_payment(SHARES, COUNTS, NOISE, **GIVEN),
    "payment after a clamp": lambda: fairness_payment(SHARES, COUNTS, NOISE, post=[Nonnegative()], **GIVEN),
    "noise on shares": lambda: output_perturbation(
        SHARES, COUNTS, NOISE, least_total=500, declared_public=True, **GIVEN
    ),
    "known total": lambda: sum_constraint(SHARES, COUNTS, NOISE, total=1_207, **GIVEN),
}


def _draw(way):
    decided = WAYS[way]().decided
    return decided, decided.payments.draw(DRAWS, SeededSource(5))


@pytest.mark.parametrize("way", WAYS)
def test_drawn_payments_have_the_expected_mean(way):
    """If not, the worst release would be that of another way to pay."""
    decided, paid = _draw(way)
    errors = paid.std(axis=0, ddof=1) / np.sqrt(DRAWS)

    allowed = stats.norm.isf(ALPHA / 2) * errors + 1e-6 * decided.truth
    assert (np.abs(paid.mean(axis=0) - decided.expected) <= allowed).all()


@pytest.mark.parametrize("way", [way for way in WAYS if way not in ("payment", "known total")])
def test_chances_below_zero_are_those_of_draws(way):
    """If not, a usable release would be refused, or another be let through."""
    decided, paid = _draw(way)
    chances = decided.payments.below_zero()

    for seen, chance in zip((paid < 0).sum(axis=0).tolist(), chances.tolist(), strict=True):
        if chance in (0.0, 1.0):
            assert seen == chance * DRAWS
        else:
            assert stats.binomtest(int(seen), DRAWS, chance).pvalue > ALPHA


def test_another_chance_is_found():
    """The twin that must fail: the chances of counts that were clamped."""
    decided, paid = _draw("plain")
    half = decided.payments.below_zero() / 2

    assert stats.binomtest(int((paid[:, 0] < 0).sum()), DRAWS, half[0]).pvalue < ALPHA


@pytest.mark.parametrize("way", ["payment", "known total"])
def test_chances_that_no_law_gives_are_not_made_up(way):
    assert WAYS[way]().decided.payments.below_zero() is None


def test_a_total_that_may_be_nought_leaves_no_exact_chance():
    """Where the total changes its sign, so does every payment."""
    plain = plain_release(Allotment([1, 1]), {"x": [2, 1]}, DiscreteLaplace(5), **GIVEN)

    assert plain.decided.payments.below_zero() is None


def test_a_changed_result_does_not_keep_the_payments_of_the_plain_one():
    """If it did, a mitigation of another package would be judged by releases that it does not make."""
    plain = plain_release(SHARES, COUNTS, NOISE, **GIVEN)
    made = build_mitigation("other", "", plain.guarantee, plain.decided, (0.0, 0.0), bias=0 * plain.bias)

    assert made.decided.payments is None
