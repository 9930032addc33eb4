"""Bugs planted in local protocols, each caught by the check that every protocol goes through."""

import numpy as np
import pytest

from attacks.planted._protocol_mutants import (
    BatchesShare,
    DrawnOverAll,
    LastBitKeptOUE,
    LastBitKeptRAPPOR,
    MultiplierTells,
    NeighboursShare,
    OtherOverAll,
    TooLikely,
    TruthFirst,
)
from contract._protocol_claims import (
    assert_draws_follow_the_law,
    assert_exact_law,
    assert_form_says_nothing_more,
    assert_people_are_independent,
    assert_private,
)
from evenhand.collect.protocols.grr import GRR
from evenhand.collect.protocols.unary import OUE
from evenhand.errors import GuaranteeError

# --- planted bug 1: the last bit of a unary report is never flipped ---------------------------------


@pytest.mark.parametrize("mutant", [LastBitKeptOUE, LastBitKeptRAPPOR])
@pytest.mark.parametrize("k", [2, 5])
def test_a_last_bit_that_is_never_flipped_is_caught(mutant, k):
    """Whoever holds the last value says so in the clear; all the other bits look right."""
    with pytest.raises(AssertionError, match="not drawn as stated"):
        assert_draws_follow_the_law(mutant(k=k, epsilon=1), n=20_000, seed=1)


@pytest.mark.parametrize("mutant", [LastBitKeptOUE, LastBitKeptRAPPOR])
def test_only_the_last_bit_of_the_mutant_is_wrong(mutant):
    """The twin of the mutant: with its last bit left out, it is the right protocol."""
    codes = np.zeros(500, dtype=np.int64)
    right = mutant.__mro__[2](k=5, epsilon=1)
    bits = [each.indicators(each.privatize(codes, rng=3)) for each in (mutant(k=5, epsilon=1), right)]

    assert np.array_equal(bits[0][:, :-1], bits[1][:, :-1])
    assert not np.array_equal(bits[0], bits[1])


# --- planted bug 2: q = (1 - p) / k -----------------------------------------------------------------


@pytest.mark.parametrize("k", [2, 5, 100])
def test_a_wrong_q_is_caught_by_the_exact_law(k):
    """The estimates would be off by a part in k, in silence."""
    assert_exact_law(GRR(k=k, epsilon=1))
    with pytest.raises(AssertionError, match="do not add up to 1"):
        assert_exact_law(OtherOverAll(k=k, epsilon=1))


def test_a_wrong_q_keeps_nothing_of_the_guarantee():
    with pytest.raises(AssertionError, match="more than epsilon allows"):
        assert_private(OtherOverAll(k=5, epsilon=1))
    with pytest.raises(GuaranteeError, match="do not keep epsilon"):
        _ = OtherOverAll(k=5, epsilon=1).guarantee


@pytest.mark.parametrize("k", [2, 5, 20])
def test_a_wrong_draw_of_the_others_is_caught_by_the_draws(k):
    assert_exact_law(DrawnOverAll(k=k, epsilon=1))  # what it says is right; what it does is not
    with pytest.raises(AssertionError, match="not drawn as stated"):
        assert_draws_follow_the_law(DrawnOverAll(k=k, epsilon=1), n=20_000, seed=1)


# --- planted bug 5: two people given the same random stream -----------------------------------------


def test_neighbours_who_share_a_stream_are_caught():
    with pytest.raises(AssertionError, match="neighbours have noise in common"):
        assert_people_are_independent(NeighboursShare(k=20, epsilon=1), n=60_000, seed=2)


def test_batches_that_share_a_stream_are_caught():
    """Each person's report follows the law, and neighbours are independent: only the repetition tells."""
    assert_draws_follow_the_law(_one_batch(k=5), n=20_000, seed=1)
    with pytest.raises(AssertionError, match="has the noise of another"):
        assert_people_are_independent(BatchesShare(k=20, epsilon=1), n=60_000, seed=2)


@pytest.mark.parametrize("batch", [64, 1_000, 29_000])
def test_batches_of_any_length_are_caught(monkeypatch, batch):
    monkeypatch.setattr(BatchesShare, "batch", batch)
    with pytest.raises(AssertionError, match=r"noise in common|noise of another"):
        assert_people_are_independent(BatchesShare(k=20, epsilon=1), n=60_000, seed=2)


def test_the_right_protocols_pass_the_same_checks():
    for right in (GRR(k=20, epsilon=1), OUE(k=20, epsilon=1)):
        assert_people_are_independent(right, n=60_000, seed=2)


def _one_batch(k):
    """The mutant with one batch for all: then nothing is shared, and it is the right protocol."""

    class Whole(BatchesShare):
        batch = 1 << 40

    return Whole(k=k, epsilon=1)


# --- what is sent besides the law -------------------------------------------------------------------


@pytest.mark.parametrize(
    "mutant", [TruthFirst(k=6, epsilon="1/10"), MultiplierTells(k=6, epsilon=1)], ids=repr
)
def test_a_form_that_tells_the_value_is_caught(mutant):
    """Counts, estimates and the law of the sets are all right; the bytes on the wire give it away."""
    with pytest.raises(AssertionError, match="the form of a report tells the value"):
        assert_form_says_nothing_more(mutant, n=10_000, seed=3)


def test_the_law_alone_does_not_see_the_order():
    """The twin: what the check of the order catches, no other check does."""
    assert_draws_follow_the_law(TruthFirst(k=6, epsilon="1/10"), n=10_000, seed=1)


# --- a rounding the wrong way -----------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", ["0.001", "1/3", "1", "7"])
def test_one_step_of_the_grid_too_much_truth_is_caught(epsilon):
    """Two to the minus 53 too much is still a promise that is not kept."""
    assert_private(GRR(k=5, epsilon=epsilon))
    with pytest.raises(AssertionError, match="more than epsilon allows"):
        assert_private(TooLikely(k=5, epsilon=epsilon))
    with pytest.raises(GuaranteeError, match="nothing was drawn"):
        _ = TooLikely(k=5, epsilon=epsilon).realised_epsilon
