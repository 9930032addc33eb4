"""What is remembered of training rows: enough to refuse them, and no row."""

import gc
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.dummy import DummyClassifier

from evenhand.learn.training.fits import _MARKS, remember_rows, trained_on

ROWS = np.random.default_rng(1).normal(size=(30, 4))
NAMED = pd.DataFrame({"a": np.arange(30), "b": list("xyz") * 10})


@pytest.mark.parametrize(
    "rows", [ROWS, NAMED, pl.DataFrame(ROWS), sparse.csr_array(ROWS), ROWS.tolist(), ROWS[:0]]
)
def test_the_same_rows_are_known_again_in_any_container(rows):
    """Rates of training rows flatter the classifier, and every bound would be void."""
    model = DummyClassifier()
    remember_rows(model, rows)

    assert trained_on(model, rows)
    assert not trained_on(DummyClassifier(), rows)


@pytest.mark.parametrize(
    "other", [ROWS + 1, ROWS[:20].copy(), ROWS[::-1].copy(), NAMED, sparse.csr_array(ROWS + 1)]
)
def test_other_rows_are_not(other):
    model = DummyClassifier()
    remember_rows(model, ROWS)

    assert not trained_on(model, other)


def test_a_part_of_the_same_memory_is_known_too():
    """A slice of the training rows is training rows."""
    model, training = DummyClassifier(), ROWS[:20]
    remember_rows(model, training)

    assert trained_on(model, ROWS[5:])
    assert not trained_on(model, ROWS[20:])


def test_what_cannot_be_noted_is_left_out():
    """Noting comes after training: an error there would lose a model that was paid for."""

    class Unhashable(DummyClassifier):
        __hash__ = None

    ragged, noted, odd = [[1], [2, 3]], DummyClassifier(), Unhashable()
    remember_rows(odd, ROWS)
    remember_rows(noted, ragged)

    assert not trained_on(odd, ROWS)
    assert not trained_on(noted, ragged)
    remember_rows(noted, ROWS)
    assert not trained_on(noted, ragged)


def test_a_question_that_is_too_hard_is_left_open(monkeypatch):
    def too_hard(*_, **__):
        raise np.exceptions.TooHardError

    monkeypatch.setattr(np, "shares_memory", too_hard)
    model = DummyClassifier()
    remember_rows(model, ROWS)

    assert not trained_on(model, ROWS[5:])


def test_what_cannot_be_looked_up_was_not_seen():
    assert not trained_on([], ROWS)


def test_nothing_of_it_is_stored_and_it_goes_with_the_model():
    """A digest of private rows must not travel with a model, nor outlive it."""
    model = DummyClassifier().fit(ROWS, np.arange(30) % 2)
    before = pickle.dumps(model)
    remember_rows(model, ROWS)
    held = len(_MARKS)

    assert pickle.dumps(model) == before
    del model
    gc.collect()
    assert len(_MARKS) < held
