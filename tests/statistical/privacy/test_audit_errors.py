"""An audit accuses a right mechanism no more often than it says."""

import numpy as np
import pytest
from scipy.stats import binom

from evenhand.privacy.audit import draws as _draws
from evenhand.privacy.audit.measured import audit_epsilon
from evenhand.privacy.randomness import SeededSource
from evenhand.privacy.sampling import bernoulli, uniform_below
from statistical._exact import ALPHA

pytestmark = pytest.mark.figures

AUDITS, ERROR, SIZE = 100, 0.2, 2_000


def says_nothing(value, size, rng):
    """Return one of 60 values, whatever the input: epsilon is 0."""
    return uniform_below(60, size=size, source=rng)


def responds(value, size, rng):
    """Tell the truth three times in four: epsilon is the logarithm of 3."""
    return bernoulli("3/4", size=size, source=rng) == value


def seldom_refuses(value, size, rng):
    """Return 0 or 1, and a text once in 2,048 times, whatever the input: epsilon is 0."""
    drawn = uniform_below(2_048, size=size, source=rng).tolist()
    return ["refused" if each == 5 else each & 1 for each in drawn]


def made_alike(value, size, rng):
    """Do the same, but let one text turn all numbers of the call into other numbers."""
    drawn = np.array(seldom_refuses(value, size, rng))
    return drawn.astype(int) if drawn.dtype.kind == "i" else np.char.str_len(drawn) + 10


class Replayed:
    """The mistake of measuring with the draws that chose the event: they are handed out a second time."""

    def __init__(self, mechanism):
        self.mechanism, self.seen = mechanism, {0: [], 1: []}

    def __call__(self, value, size, rng):
        if size == SIZE // 2:
            return np.concatenate(self.seen[value][-2:])
        self.seen[value].append(self.mechanism(value, size, rng))
        return self.seen[value][-1]


def accused(make, claimed):
    """Return how many audits find more than is claimed, and the chance of as many at the stated error."""
    sources = SeededSource(12).spawn(AUDITS)
    told = {"claimed": claimed, "size": SIZE, "confidence": 1 - ERROR}
    found = sum(audit_epsilon(make(), (0, 1), rng=source, **told).exceeds for source in sources)
    return found, binom.sf(found - 1, AUDITS, ERROR)


@pytest.mark.statistical
@pytest.mark.parametrize(("mechanism", "claimed"), [(says_nothing, 0), (responds, "1.0986123")])
def test_false_alarms_are_as_rare_as_stated(mechanism, claimed):
    """With an error of one in five, so that false alarms can be counted at all."""
    _, chance = accused(lambda: mechanism, claimed)

    assert chance > ALPHA


@pytest.mark.statistical
def test_measuring_with_the_draws_that_chose_would_raise_false_alarms():
    """The twin: without two halves, a mechanism that says nothing is accused all the time."""
    found, chance = accused(lambda: Replayed(says_nothing), 0)

    assert chance < ALPHA
    assert found > AUDITS / 2


@pytest.mark.statistical
@pytest.mark.parametrize(("mechanism", "right"), [(seldom_refuses, True), (made_alike, False)])
def test_a_rare_output_of_another_type_raises_no_false_alarm(mechanism, right, monkeypatch):
    """One text among numbers must not change how its neighbours are read: draws would be dependent.

    The twin shows that the test would see it.
    """
    monkeypatch.setattr(_draws, "_MOST_AT_ONCE", 256)
    monkeypatch.setattr(_draws, "_MOST_BYTES_AT_ONCE", 1 << 30)
    told = {"claimed": 0, "size": 8_000, "confidence": 1 - ERROR}
    sources = SeededSource(13).spawn(AUDITS)
    found = sum(audit_epsilon(mechanism, (0, 1), rng=source, **told).exceeds for source in sources)

    assert (binom.sf(found - 1, AUDITS, ERROR) > ALPHA) == right


@pytest.mark.statistical
def test_a_claim_that_is_too_small_is_refuted_more_often_than_by_chance():
    """The other twin: the same mechanism under half of its epsilon."""
    _, chance = accused(lambda: responds, "0.5493")

    assert chance < ALPHA
