"""Which rows of a person stay does not depend on where they are in the file."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from evenhand.privacy import bounded_rows
from evenhand.privacy.bounded_rows import BoundedRows
from evenhand.privacy.randomness import SeededSource, Source
from statistical._exact import ALPHA, exact_events_pvalue

PEOPLE, ROWS = 20_000, 3


class Rising(Source):
    """A broken source: later rows have larger words, so that the first row of a person always stays."""

    def __init__(self):
        self._drawn = 0

    def words(self, count):
        self._drawn += count
        return np.arange(self._drawn - count, self._drawn, dtype=np.uint64)


def drawn_places(source):
    """Return which of the rows of each person stayed: the rows of one are far apart, in other groups."""
    keys = pa.array([str(person) for person in range(PEOPLE)])
    with BoundedRows(1) as bounded:
        for place in range(ROWS):
            for start in range(0, PEOPLE, 3_000):
                part = keys[start : start + 3_000]
                bounded.add(part, np.full(len(part), place), source=source)
        return np.concatenate(list(bounded.yield_kept()))


@pytest.mark.parametrize("least_rows", [1_000, 1 << 18])
def test_every_row_of_a_person_is_as_likely_to_stay(monkeypatch, least_rows):
    """If this is false the order of the file says which row counts, and the draw protects nobody."""
    monkeypatch.setattr(bounded_rows, "LEAST_ROWS", least_rows)
    draws = drawn_places(SeededSource(11))

    assert len(draws) == PEOPLE
    assert exact_events_pvalue(draws, [1 / 3] * 3) > ALPHA
    assert exact_events_pvalue(draws, [0.36, 0.32, 0.32]) < ALPHA  # so that the test can see
    assert exact_events_pvalue(drawn_places(Rising()), [1 / 3] * 3) < ALPHA
