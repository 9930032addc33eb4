"""Bugs planted in mechanisms, each found by an audit that sees only outputs; the right twin passes."""

import pytest

from attacks.planted._audited import Forgetful, LastBitKept, OneTooMany, neighbours, rounds, tuples
from evenhand.collect.joint.build import strategy_for
from evenhand.collect.protocols.grr import GRR
from evenhand.collect.protocols.unary import OUE
from evenhand.collect.reports.memo import Memo
from evenhand.errors import GuaranteeError
from evenhand.privacy.audit.measured import audit_epsilon
from statistical._exact import ALPHA

pytestmark = pytest.mark.figures

SETTINGS = {"confidence": 1 - ALPHA, "rng": 5}


@pytest.mark.parametrize("k", [2, 8, 9, 30])
def test_a_last_bit_that_is_never_flipped_is_found(k):
    """Planted bug 1. Whoever holds the last value would tell everybody."""
    wrong = audit_epsilon(LastBitKept(k=k, epsilon=1), (0, k - 1), size=4_000, **SETTINGS)
    right = audit_epsilon(OUE(k=k, epsilon=1), (0, k - 1), size=40_000, **SETTINGS)

    assert wrong.exceeds
    assert wrong.measured_epsilon > 3
    assert not right.exceeds


def test_a_last_bit_is_found_without_knowing_the_protocol():
    """Planted bug 1, from the bytes alone."""

    def report(value, size, rng):
        sent = LastBitKept(k=30, epsilon=1).privatize([value] * size, rng=rng)
        return [row.tobytes() for row in sent.values]

    assert audit_epsilon(report, (3, 29), claimed=1, size=10_000, **SETTINGS).exceeds


@pytest.mark.parametrize("k", [2, 5, 20])
def test_false_values_drawn_among_all_values_are_found(k):
    """Planted bug 2. The true value comes up too often."""
    wrong = audit_epsilon(OneTooMany(k=k, epsilon=1), (0, 1), size=200_000, **SETTINGS)
    right = audit_epsilon(GRR(k=k, epsilon=1), (0, 1), size=200_000, **SETTINGS)

    assert wrong.exceeds
    assert not right.exceeds


def test_epsilon_spent_in_full_on_each_attribute_is_found():
    """Planted bug 4. Each column alone keeps the claim; only the tuple shows it was spent three times."""
    pair, told = ((0, 0, 0), (1, 1, 1)), {"claimed": 1, "size": 1_000_000, **SETTINGS}
    wrong = audit_epsilon(tuples((2, 3, 5), (1, 1, 1)), pair, **told)
    right = audit_epsilon(tuples((2, 3, 5), ("1/3", "1/3", "1/3")), pair, **told)
    alone = audit_epsilon(tuples((2, 3, 5), (1, 1, 1)), pair, features=lambda rows: rows[:, 2], **told)

    assert wrong.measured_epsilon > 2.5
    assert not right.exceeds
    assert right.measured_epsilon > 0.8
    assert not alone.exceeds


@pytest.mark.parametrize("strategy", ["independent", "combined"])
def test_the_strategies_for_several_attributes_keep_their_claim(strategy):
    made = strategy_for({"sex": 2, "race": 5}, epsilon=1, strategy=strategy)
    pair = ({"sex": 0, "race": 0}, {"sex": 1, "race": 4})
    found = audit_epsilon(made, pair, size=200_000, **SETTINGS)

    assert not found.exceeds
    assert found.measured_epsilon > 0.85


def test_two_people_with_one_random_stream_are_found():
    """Planted bug 5. A neighbour who knows their own answer would know the other's."""
    told = {"claimed": 1, "size": 40_000, **SETTINGS}
    wrong = audit_epsilon(neighbours(1, shared=True), (0, 3), **told)
    right = audit_epsilon(neighbours(1, shared=False), (0, 3), **told)

    assert wrong.measured_epsilon > 3
    assert not right.exceeds


def test_a_permanent_answer_drawn_afresh_is_found():
    """Planted bug 11. Ten answers would cost ten times the claim."""
    protocol = GRR(k=4, epsilon="1/2")
    told = {"claimed": protocol.epsilon, "size": 40_000, **SETTINGS}
    wrong = audit_epsilon(rounds(Forgetful, protocol), (0, 3), **told)
    right = audit_epsilon(rounds(Memo, protocol), (0, 3), **told)

    assert wrong.measured_epsilon > 1.5
    assert not right.exceeds
    assert right.measured_epsilon > 0.25
    with pytest.raises(GuaranteeError, match="does not hold"):
        wrong.check()
