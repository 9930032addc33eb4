"""Planted bug 5, two batches of people given the same random stream, in the privatizer; and its relatives."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from evenhand.collect.privatizer import transformer as module
from evenhand.collect.privatizer.spent import Spending
from evenhand.collect.privatizer.transformer import LocalPrivatizer
from evenhand.privacy.ledger import Ledger
from evenhand.privacy.randomness import SeededSource
from evenhand.schema import Column, Domain, Schema

SCHEMA = Schema([Column("race", Domain.integers(0, 99))], sensitive="race")
ROWS = pd.DataFrame({"race": np.zeros(200, dtype=int)})


def assert_batches_have_streams_of_their_own(privatizer, *, fit_again=False):
    with warnings.catch_warnings(action="ignore"):
        privatizer = clone(privatizer).fit(ROWS)
        batches = []
        for _ in range(4):
            batches.append(privatizer.transform(ROWS).tobytes())
            if fit_again:
                privatizer.fit(ROWS)

    assert len(set(batches)) == len(batches), "two batches share their draws"


def assert_every_batch_is_counted(privatizer):
    with warnings.catch_warnings(action="ignore"):
        privatizer = type(privatizer)(**privatizer.get_params()).fit(ROWS)
        for _ in range(4):
            privatizer.transform(ROWS)
            privatizer.fit(ROWS)

    assert privatizer.guarantee_.epsilon == 4, "a collection is not counted"


SEEDS = [None, 7, np.random.SeedSequence(7), np.random.default_rng(7), SeededSource(7)]


@pytest.mark.parametrize("rng", SEEDS, ids=lambda rng: type(rng).__name__)
@pytest.mark.parametrize("fit_again", [False, True])
def test_the_check_passes_what_is_right(rng, fit_again, tmp_path):
    """A second batch with secure draws needs a ledger."""
    ledger = None if rng is not None else Ledger(tmp_path / "ledger.db", epsilon=100, delta="1e-6")
    privatizer = LocalPrivatizer(schema=SCHEMA, rng=rng, ledger=ledger)
    assert_batches_have_streams_of_their_own(privatizer, fit_again=fit_again)
    assert_every_batch_is_counted(privatizer)


def test_a_stream_that_begins_again_is_caught(monkeypatch):
    """Where two batches share their draws, what differs is the truth."""
    monkeypatch.setattr(module, "stream_for", lambda rng, batch: SeededSource(rng))
    with pytest.raises(AssertionError, match="two batches share their draws"):
        assert_batches_have_streams_of_their_own(LocalPrivatizer(schema=SCHEMA, rng=7))


class Forgetful(LocalPrivatizer):
    """Begins to count anew when it is fitted."""

    def fit(self, X, y=None):  # noqa: N803 - scikit-learn's name
        self._spending = Spending()
        return super().fit(X, y)


def test_a_count_that_begins_again_is_caught():
    with pytest.raises(AssertionError, match="two batches share their draws"):
        assert_batches_have_streams_of_their_own(Forgetful(schema=SCHEMA, rng=7), fit_again=True)
    with pytest.raises(AssertionError, match="a collection is not counted"):
        assert_every_batch_is_counted(Forgetful(schema=SCHEMA, rng=7))
