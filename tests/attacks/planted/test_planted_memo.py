"""Planted bug 11, a memoised answer drawn afresh each round, and its relatives; each is caught."""

import numpy as np
import pytest

from attacks._transcripts import ROUNDS, ThirdsResponse, transcript_law, worst_ratio
from evenhand.collect.protocols.grr import GRR
from evenhand.collect.reports.memo import Memo, Numbering


class DrawnAfresh(Memo):
    """Forgets everything before each round."""

    def answer(self, people, codes, *, rng=None):
        self._pairs, self._people = Numbering(), Numbering()
        self._values, self._simulated = self._values[:0], self._simulated[:0]
        return super().answer(people, codes, rng=rng)


class NeverKept(Memo):
    """Draws for whoever is new, and does not write it down."""

    def _keep(self, newcomers, unseen, drawn):
        self._values, self._simulated = drawn.values, np.full(len(drawn), drawn.simulated)


class OneAnswerPerValue(Memo):
    """Keeps answers by value and not by person: everybody with a value gives the same answer."""

    def answer(self, people, codes, *, rng=None):
        return super().answer(np.zeros(len(people), dtype=np.int64), codes, rng=rng)


class SameStreamEachRound(Memo):
    """Gives the newcomers of each round the draws of the newcomers of the round before."""

    def _keep(self, newcomers, unseen, drawn):
        super()._keep(newcomers, unseen, drawn)
        self._batches = 0


def assert_ten_rounds_are_one_report(kind):
    laws = [
        transcript_law(kind(ThirdsResponse(k=2, epsilon=0.6931472)), [value] * ROUNDS) for value in (0, 1)
    ]
    ratio = max(worst_ratio(*laws), worst_ratio(*laws[::-1]))

    assert ratio <= 2, f"the ratio of ten rounds is {ratio}, that of one report 2"


def assert_answers_are_permanent(kind):
    memo, codes = kind(GRR(k=4, epsilon=1)), np.arange(400) % 4
    rounds = [memo.answer(np.arange(400), codes, rng=seed).values for seed in range(ROUNDS)]

    assert all((each == rounds[0]).all() for each in rounds), "answers differ between rounds"


def assert_people_answer_for_themselves(kind):
    memo, codes = kind(GRR(k=4, epsilon=1)), np.zeros(400, dtype=int)
    first = memo.answer(np.arange(400), codes, rng=5).values
    others = memo.answer(np.arange(400, 800), codes, rng=5).values

    assert len(np.unique(first)) > 1, "everybody with a value gives one answer"
    assert (first != others).any(), "two batches of people share their draws"


@pytest.mark.parametrize(
    "check",
    [assert_ten_rounds_are_one_report, assert_answers_are_permanent, assert_people_answer_for_themselves],
)
def test_the_checks_pass_what_is_right(check):
    check(Memo)


@pytest.mark.parametrize("kind", [DrawnAfresh, NeverKept])
def test_an_answer_drawn_afresh_each_round_is_caught_exactly(kind):
    """Ten rounds then cost ten times epsilon: the ratio is 2 to the tenth."""
    with pytest.raises(AssertionError, match="the ratio of ten rounds is 1024"):
        assert_ten_rounds_are_one_report(kind)


@pytest.mark.parametrize("kind", [DrawnAfresh, NeverKept])
def test_an_answer_drawn_afresh_each_round_is_caught_by_trying(kind):
    with pytest.raises(AssertionError, match="answers differ between rounds"):
        assert_answers_are_permanent(kind)


@pytest.mark.parametrize(
    ("kind", "match"), [(OneAnswerPerValue, "one answer"), (SameStreamEachRound, "share their draws")]
)
def test_shared_answers_and_shared_streams_are_caught(kind, match):
    with pytest.raises(AssertionError, match=match):
        assert_people_answer_for_themselves(kind)
