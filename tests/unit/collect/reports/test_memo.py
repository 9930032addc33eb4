"""Permanent answers: one per person and value, whoever asks and in whatever order."""

import copy
import os
import pickle
import threading
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from evenhand.collect import GRR, OUE, PROTOCOLS
from evenhand.collect.reports.memo import Memo
from evenhand.collect.reports.streams import stream_for
from evenhand.errors import GuaranteeError, InvalidParameterError
from evenhand.privacy.randomness import SecureSource, SeededSource, Source


@pytest.fixture
def memo():
    return Memo(GRR(k=4, epsilon=1))


class Slow:
    """A dictionary by person and value, filled one by one: the obvious version."""

    def __init__(self):
        self.kept = {}

    def consistent_with(self, people, codes, answers):
        for who, code, answer in zip(people, codes, answers, strict=True):
            if self.kept.setdefault((who, code), answer) != answer:
                return False
        return True


def test_answers_agree_with_a_plain_dictionary(memo):
    rng, slow = np.random.default_rng(4), Slow()
    for _ in range(30):
        people, codes = rng.integers(0, 60, 50), rng.integers(0, 4, 50)
        answers = memo.answer(people, codes, rng=1)

        assert slow.consistent_with(people.tolist(), codes.tolist(), np.asarray(answers).tolist())
    assert len(memo._values) == len(slow.kept)  # nothing was drawn that was not asked for


def test_a_person_twice_in_a_round_answers_once(memo):
    answers = np.asarray(memo.answer(["a"] * 100 + ["b"] * 100, [2] * 200, rng=1))

    assert len(set(answers[:100])) == 1
    assert len(set(answers[100:])) == 1
    assert len(memo._values) == 2


def test_each_value_of_a_person_has_an_answer_of_its_own(memo):
    first = [np.asarray(memo.answer(np.arange(99), np.full(99, value), rng=1)) for value in range(4)]
    again = [np.asarray(memo.answer(np.arange(99), np.full(99, value), rng=2)) for value in range(4)]

    assert all((one == two).all() for one, two in zip(first, again, strict=True))
    assert not all((one == first[0]).all() for one in first)


@pytest.mark.parametrize("name", PROTOCOLS)
def test_every_protocol_can_be_memoised(name):
    memo = Memo(PROTOCOLS[name].example(k=6, epsilon=1))
    first = memo.answer(range(50), np.arange(50) % 6, rng=1)
    later = memo.answer(np.arange(60)[::-1], np.arange(60)[::-1] % 6, rng=1)

    assert (later[::-1][:50] == first).all()
    assert memo.protocol.counts(later).shape == (6,)
    assert len(memo.answer([], [])) == 0


@pytest.mark.parametrize(
    "ids",
    [
        [3, 1, 2],
        (3, 1, 2),
        np.array([3, 1, 2], dtype=np.uint8),
        pd.Series([3, 1, 2], index=[7, 8, 9]),
        pl.Series([3, 1, 2]),
        pa.array([3, 1, 2]),
        pa.chunked_array([[3], [1, 2]]),
        ["c", "a", "b"],
        np.array(["c", "a", "b"]),
        np.array(["c", "a", "b"], dtype=object),
        pd.Series(["c", "a", "b"]),
        pd.Series(["c", "a", "b"], dtype="category"),
        pl.Series(["c", "a", "b"]),
        pl.Series(["c", "a", "b"], dtype=pl.Categorical),
        pa.array(["c", "a", "b"]).dictionary_encode(),
        pa.array(["c", "a", "b"], pa.string_view()),
    ],
    ids=lambda ids: type(ids).__name__,
)
def test_ids_come_in_any_container(ids):
    memo = Memo(GRR(k=1000, epsilon=1))  # answers of two people hardly ever agree
    numbers = np.asarray(memo.answer(ids, [0, 1, 2], rng=1))
    known = [3, 1, 2] if memo._people.kind == "integers" else ["c", "a", "b"]

    assert (np.asarray(memo.answer(known[::-1], [2, 1, 0], rng=2)) == numbers[::-1]).all()
    assert len(memo.answer([], [])) == 0
    assert len(memo.answer(pa.array([], pa.string()), [])) == 0


@pytest.mark.parametrize(
    "ids",
    [
        [1, "1"],
        [1.0, 2.0],
        [True, False],
        [1, None],
        ["a", None],
        np.array([1, "a"], dtype=object),
        np.array([2**63, 1], dtype=np.uint64),
        [2**70, 1],
        np.zeros((2, 1), dtype=int),
        [b"a", b"b"],
        ["\ud800", "a"],
        7,
        None,
        [[1], [2]],
        "ab",  # one text is not two people
        {1, 2},  # without an order, nobody knows whose code is whose
        {"a": 1, "b": 2},
        pd.DataFrame({"id": [1, 2]}),
        pl.DataFrame({"id": [1, 2]}),
        pa.table({"id": [1, 2]}),
    ],
    ids=repr,
)
def test_ids_that_may_stand_for_two_people_or_none_are_refused(memo, ids):
    with pytest.raises(InvalidParameterError, match=r"The 'people' parameter of Memo\.answer must be one id"):
        memo.answer(ids, [0, 1])
    assert memo._people.kind is None


def test_ids_keep_their_type_from_round_to_round(memo):
    """Person 1 and person "1" would have two answers."""
    memo.answer([1, 2], [0, 0])
    with pytest.raises(
        InvalidParameterError, match=r"must be whole numbers, as in the rounds before\. Got 'text'"
    ):
        memo.answer(["1", "2"], [0, 0])
    texts = Memo(GRR(k=4, epsilon=1))
    texts.answer(["1", "2"], [0, 0])
    with pytest.raises(InvalidParameterError, match="must be text, as in the rounds before"):
        texts.answer([1, 2], [0, 0])


@pytest.mark.parametrize("codes", [[0], [0, 4], [0, -1], [0.0, 1.0], ["a", "b"]])
def test_wrong_codes_draw_and_keep_nothing(memo, codes):
    with pytest.raises(InvalidParameterError) as caught:
        memo.answer(["secret person", "b"], codes, rng=Broken())

    assert "secret" not in str(caught.value)
    assert memo._people.kind is None
    assert len(memo._values) == 0


class Broken(Source):
    kind = "seeded"

    def words(self, count):
        raise RuntimeError("no words today")


def test_a_source_that_fails_leaves_the_store_as_it_was(memo):
    first = memo.answer([1], [0], rng=1)
    with pytest.raises(RuntimeError, match="no words today"):
        memo.answer([1, 2], [0, 0], rng=Broken())

    assert len(memo._values) == 1
    assert (memo.answer([1], [0], rng=Broken()) == first).all()  # nothing new, so nothing is drawn


def test_two_threads_never_draw_two_answers():
    """Two answers of one person cost twice what is claimed."""
    memo, people, codes = Memo(GRR(k=1000, epsilon=1)), np.arange(2_000), np.arange(2_000) % 1000
    found = []
    threads = [
        threading.Thread(target=lambda: found.append(np.asarray(memo.answer(people, codes))))
        for _ in range(8)
    ]
    for each in threads:
        each.start()
    for each in threads:
        each.join()

    assert len(memo._values) == 2_000
    assert all((each == found[0]).all() for each in found)


def test_a_seed_given_in_every_round_never_repeats_its_stream():
    """Newcomers of the second round would get the noise of those of the first."""
    memo, n = Memo(GRR(k=1000, epsilon=1)), 500
    rounds = [
        np.asarray(memo.answer(np.arange(n) + n * number, np.zeros(n, int), rng=7)) for number in range(3)
    ]

    assert (rounds[0] != rounds[1]).any()
    assert (rounds[1] != rounds[2]).any()
    again = Memo(GRR(k=1000, epsilon=1))
    assert (again.answer(np.arange(n), np.zeros(n, int), rng=7) == rounds[0]).all()


def test_what_was_drawn_with_a_seed_stays_simulated(memo):
    memo.answer([1], [0])
    memo.answer([2], [0], rng=7)

    assert not memo.answer([1], [0], rng=7).simulated  # an old answer, drawn in earnest
    assert memo.answer([2], [0]).simulated
    assert memo.answer([1, 2], [0, 0]).simulated


def test_the_guarantee_says_what_is_assumed(memo):
    promise = memo.guarantee

    assert (promise.epsilon, promise.unit, promise.trust, promise.tight) == (1, "one person", "local", True)
    assert "a change of value shows when it happens" in str(promise)
    three = Memo(OUE(k=4, epsilon="1/2")).guarantee_for(values_held=3, protects=["race"], in_clear=["who"])
    assert (three.epsilon, three.protects, three.in_clear) == (Fraction(3, 2), ("race",), ("who",))
    assert not three.tight
    assert "is public, since the answers show it" in str(three)


@pytest.mark.parametrize("held", [0, 5, 1.5, True])
def test_nobody_holds_more_values_than_there_are(memo, held):
    with pytest.raises(InvalidParameterError, match=r"'values_held' parameter of Memo\.guarantee_for"):
        memo.guarantee_for(values_held=held)


@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, pickle.dumps], ids=["copy", "deepcopy", "pickle"]
)
def test_a_memo_is_not_copied(memo, copied):
    """Both copies would draw for people they meet later."""
    with pytest.raises(GuaranteeError, match="a copy would draw a second answer"):
        copied(memo)


def test_a_memo_does_not_answer_in_a_process_that_was_forked_off(memo, monkeypatch):
    """A fork copies the memo without asking it; both would draw for people they meet later."""
    memo.answer([1], [3])
    monkeypatch.setattr(os, "getpid", lambda: -1)
    with pytest.raises(GuaranteeError, match="a copy would draw a second answer"):
        memo.answer([1], [3])


def test_the_protocol_of_a_memo_stays(memo):
    """With another number of values, answers kept for one person were given for another."""
    with pytest.raises(AttributeError):
        memo.protocol = GRR(k=2, epsilon=50)


def test_a_memo_shows_no_person(memo):
    memo.answer(["ada"], [3])

    assert repr(memo) == "Memo(GRR(k=4, epsilon=1))"


def test_a_memo_needs_a_protocol():
    with pytest.raises(InvalidParameterError, match="must be a protocol, such as GRR"):
        Memo("grr")


def test_streams_of_batches():
    generator, source = np.random.default_rng(1), SeededSource(1)

    assert isinstance(stream_for(None, "a"), SecureSource)
    assert stream_for(source, "a") is source
    assert (stream_for(generator, "a").words(2) != stream_for(generator, "a").words(2)).all()
    assert (stream_for(1, "a").words(2) != stream_for(1, "b").words(2)).all()
    assert (stream_for(np.random.SeedSequence(1), "a").words(2) == stream_for(1, "a").words(2)).all()
