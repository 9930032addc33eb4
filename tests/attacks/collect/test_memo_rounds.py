"""Ten rounds of a question, counted exactly and tried: what a memoised answer tells and what it does not."""

import math
from fractions import Fraction

import numpy as np
import pytest

from attacks._transcripts import ROUNDS, ThirdsResponse, transcript_law, worst_ratio
from evenhand.collect import PROTOCOLS
from evenhand.collect.reports.memo import Memo
from evenhand.privacy.randomness import SeededSource
from statistical._exact import ALPHA, binomial_pvalue


def thirds():
    return ThirdsResponse(k=2, epsilon=0.6931472)  # a hair above log 2


def test_ten_rounds_of_one_value_are_as_private_as_one_report():
    """If this is false, whoever asks often enough knows everybody's value."""
    memo = thirds()
    law, other = (transcript_law(Memo(memo), [value] * ROUNDS) for value in (0, 1))
    ratio = max(worst_ratio(law, other), worst_ratio(other, law))

    assert ratio == 2
    assert float(ratio) <= math.exp(Memo(memo).guarantee.epsilon)
    assert set(law) == {0, 2**ROUNDS - 1}  # the same answer in every round


@pytest.mark.parametrize(
    ("history", "other"),
    [
        ([0, 1] * 5, [1, 0] * 5),
        ([0] * 5 + [1] * 5, [1] * 5 + [0] * 5),
        ([0, 1, 1, 0, 0] * 2, [1, 0, 0, 1, 1] * 2),
    ],
)
def test_histories_that_change_together_lose_epsilon_for_each_value(history, other):
    memo = Memo(thirds())
    law, second = transcript_law(Memo(thirds()), history), transcript_law(Memo(thirds()), other)
    ratio = worst_ratio(law, second)

    assert ratio == 4  # two values held: twice the loss of one, and no more over ten rounds
    assert float(ratio) <= math.exp(memo.guarantee_for(values_held=2).epsilon)


def test_when_a_value_changes_is_not_hidden():
    """The guarantee must say so, because no epsilon covers it."""
    constant = transcript_law(Memo(thirds()), [0] * ROUNDS)
    changing = transcript_law(Memo(thirds()), [0] * 5 + [1] * 5)

    assert worst_ratio(changing, constant) is None
    assert "a change of value shows when it happens" in Memo(thirds()).guarantee.assumptions[-1]


def test_two_rounds_of_grr_by_hand():
    """The computation in docs/how-to/collect-a-column.md."""
    p, q = (Fraction(2, 3), Fraction(1, 3))
    stays = {("a", "a"): p, ("b", "b"): q}
    changes = {(y, z): (p if y == "a" else q) * (p if z == "b" else q) for y in "ab" for z in "ab"}
    ours = transcript_law(Memo(thirds()), [0, 1])

    assert ours == {("ab".index(y) + 2 * "ab".index(z)): share for (y, z), share in changes.items()}
    assert ("a", "b") not in stays
    assert changes["a", "b"] == Fraction(4, 9)


@pytest.mark.figures
@pytest.mark.parametrize("name", PROTOCOLS)
def test_the_first_answer_is_a_report_of_the_protocol_and_the_later_ones_repeat_it(name):
    """So the law of the whole transcript is that of one report, whatever the protocol."""
    protocol = PROTOCOLS[name].example(k=5, epsilon=1)
    codes = np.arange(200) % 5
    memo = Memo(protocol)
    first = memo.answer(np.arange(200), codes, rng=SeededSource(3))

    assert (first == protocol.privatize(codes, rng=SeededSource(3))).all()
    for seed in range(ROUNDS - 1):
        assert (memo.answer(np.arange(200), codes, rng=seed) == first).all()


@pytest.mark.statistical
def test_the_mean_of_ten_answers_tells_no_more_than_one():
    """An attacker who takes the majority of ten answers is right as often as with one answer, and no more."""
    protocol, n = PROTOCOLS["grr"].example(k=2, epsilon=1), 20_000
    codes = np.arange(n) % 2

    def hits(memos):
        answers = np.array([memo.answer(np.arange(n), codes, rng=9).values for memo in memos], dtype=float)
        return np.count_nonzero((answers.mean(axis=0) > 0.5) == codes)

    one = Memo(protocol)
    fresh = [Memo(protocol) for _ in range(ROUNDS)]
    for number, memo in enumerate(fresh):  # streams of their own
        memo._batches = number

    assert binomial_pvalue(hits([one] * ROUNDS), n, protocol.p) > ALPHA
    assert binomial_pvalue(hits(fresh), n, protocol.p) < ALPHA  # drawn afresh, ten answers tell more
