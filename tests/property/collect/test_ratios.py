"""No rounding, at any size and epsilon, lets a report tell more than e to the epsilon allows.

All arithmetic is exact: ratios are rationals, and e to the epsilon is bounded from below by terms of its
series, each rounded down.
"""

from fractions import Fraction
from functools import cached_property

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from contract._protocol_claims import assert_private, exp_below
from evenhand.collect.protocols.grr import GRR
from evenhand.collect.protocols.hashing import BLH, OLH
from evenhand.collect.protocols.registry import PROTOCOLS
from evenhand.collect.protocols.subset import SS
from evenhand.collect.protocols.thresholded import THE
from evenhand.collect.protocols.unary import OUE, RAPPOR
from evenhand.errors import GuaranteeError

STEP = Fraction(1, 1 << 53)

sizes = st.one_of(st.integers(2, 50), st.integers(2, 100_000))
epsilons = st.one_of(
    st.fractions("1/1000", 50, max_denominator=10_000),
    st.floats(0.001, 50).map(repr),
    st.sampled_from(["0.001", "0.5", "1", "2", "10", "36.7", "37", "50"]),
)


def _flip_less(made):
    """Return the protocol with one given false bucket one step of the grid less likely."""

    class Wrong(made):
        @cached_property
        def flip_exact(self):
            return super().flip_exact - STEP

    return Wrong


def _drawn(made, change):
    """Return the protocol with other probabilities."""

    class Wrong(made):
        def _probabilities(self):
            return change(self, *super()._probabilities())

    return Wrong


WRONG_WAY = {
    "grr": _drawn(GRR, lambda self, p, q: (p + (self.k - 1) * STEP, q - STEP)),
    "blh": _flip_less(BLH),
    "olh": _flip_less(OLH),
    "rappor": _drawn(RAPPOR, lambda self, p, q: (p + STEP, q - STEP)),
    "oue": _drawn(OUE, lambda self, p, q: (p, q - STEP)),
    "ss": _drawn(SS, lambda self, p, q: (p + STEP, (self.size - p - STEP) / (self.k - 1))),
}
"""What rounding the other way would draw. THE as printed has epsilon to spare; see its own test."""


@given(name=st.sampled_from(sorted(set(PROTOCOLS) - {"optimal"})), k=sizes, epsilon=epsilons)
@example(name="grr", k=100_000, epsilon="0.001")
@example(name="the", k=2, epsilon="0.001")
@example(name="olh", k=100_000, epsilon="50")
def test_the_ratio_never_exceeds_epsilon(name, k, epsilon):
    """The claim that everything else rests on."""
    protocol = PROTOCOLS[name].example(k=k, epsilon=epsilon)

    assert_private(protocol)
    assert 0 < protocol.q_exact < protocol.p_exact < 1
    assert protocol.realised_epsilon <= protocol.claimed_epsilon <= protocol.epsilon


@given(
    name=st.sampled_from(sorted(WRONG_WAY)),
    k=sizes,
    epsilon=st.fractions("1/1000", 30, max_denominator=10_000),
)
def test_rounding_the_other_way_is_always_seen(name, k, epsilon):
    """The twin: one step of two to the minus 53 the other way breaks the claim, at every size."""
    wrong = WRONG_WAY[name](k=k, epsilon=epsilon)

    with pytest.raises(AssertionError, match="more than epsilon allows"):
        assert_private(wrong)
    with pytest.raises(GuaranteeError, match="do not keep epsilon"):
        _ = wrong.guarantee


@settings(max_examples=settings.default.max_examples // 4)
@given(k=sizes, epsilon=st.fractions("1/20", 20, max_denominator=100))
def test_a_recalibrated_threshold_keeps_epsilon_and_little_more(k, epsilon):
    protocol = THE(k=k, epsilon=epsilon, recalibrated=True)

    assert_private(protocol)
    assert protocol.epsilon - protocol.realised_epsilon < epsilon / 10**6


@given(epsilon=st.fractions("1/1000", 50, max_denominator=10_000))
def test_the_bound_of_the_tests_is_below_e_to_the_epsilon_and_close(epsilon):
    """Two bounds that were written apart agree: the series of the test, the decimals of the library."""
    from evenhand.privacy.rational import exp_bounds

    low, high = exp_bounds(epsilon, digits=60)
    ours = exp_below(epsilon)

    assert ours <= high
    assert ours >= low * (1 - Fraction(1, 10**50))
