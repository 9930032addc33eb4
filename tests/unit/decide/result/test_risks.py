"""What single releases do, beside the same releases drawn and counted in a loop."""

import math

import numpy as np
import pytest

from evenhand.decide.allotment.allotment import Allotment
from evenhand.decide.result.bias import bias, decide_truly
from evenhand.decide.result.entities import Entities
from evenhand.decide.result.risks import draw_risks
from evenhand.privacy.laws import DiscreteLaplace
from evenhand.privacy.randomness import SeededSource

COUNTS = {"x": [2, 5, 30, 90]}
PARTS = np.array([[1.0, 1.0, 0.0, 0.0], [0.5, 0.25, 1.0, 0.0]])
DRAWS = 2_000


def made(law=3, **options):
    decided = bias(Allotment([1, 2, 1, 1.5]), COUNTS, DiscreteLaplace(law), **options)
    return decided, draw_risks(decided, decided.payments, PARTS, money=1e6, source=SeededSource(5))


def test_the_worst_of_20_releases_is_that_of_a_sorted_list():
    """If it were another, what is called the worst 1 of 20 would be rarer or more frequent."""
    decided, risks = made()
    paid = decided.payments.draw(DRAWS, SeededSource(5))
    sums = paid @ PARTS.T * 1e6

    at = DRAWS // 20 - 1
    assert risks.worst == pytest.approx([sorted(paid[:, place])[at] for place in range(4)], rel=1e-6)
    assert risks.sums_worst == pytest.approx([sorted(sums[:, place])[at] for place in range(2)])


def test_chances_of_a_bill_are_exact_where_they_are_known():
    decided, risks = made()
    chances = decided.payments.below_zero()

    assert risks.draws == 0
    assert risks.billed == pytest.approx(chances, rel=1e-6)
    assert risks.billed_any == pytest.approx(1 - np.prod(1 - chances))
    assert risks.sums_error is None


def test_chances_of_a_bill_are_counted_where_they_are_not_known():
    """Where a total may be 0 or less, no formula has the chances."""
    decided, risks = made(law=60, method="sample", draws=400, rng=SeededSource(1))
    paid = decided.payments.draw(DRAWS, SeededSource(5))

    assert risks.draws == DRAWS
    assert risks.billed == pytest.approx((paid < 0).mean(axis=0), rel=1e-6)
    assert risks.billed_any == pytest.approx((paid < 0).any(axis=1).mean())
    spread = (np.where(np.isfinite(paid), paid, decided.truth) @ PARTS.T * 1e6).std(axis=0, ddof=1)
    assert risks.sums_error == pytest.approx(spread / math.sqrt(200))


def test_the_true_decision_is_off_by_nothing_and_pays_what_is_due():
    problem = Allotment([1, 2, 1, 1.5], budget=100)
    decided = decide_truly(problem, Entities.read(COUNTS, counts=["x"]))

    assert not decided.bias.any()
    assert decided.truth == pytest.approx(np.array([2, 10, 30, 135]) / 177)
    assert (decided.exact, decided.alpha, decided.payments) == (True, 0.0, None)
