"""A column that gives the order of the input back is found, and one that does not is left alone."""

import datetime as dt
import decimal

import numpy as np
import pyarrow as pa
import pytest

from evenhand.engine import row_order
from evenhand.engine.row_order import RowOrder

N = 3_000
DRAW = np.random.default_rng(7)
DAY = dt.datetime(2024, 1, 1, tzinfo=dt.UTC)


def _follows(values, batch_rows=700):
    array = values if isinstance(values, pa.Array) else pa.array(values)
    order = RowOrder(["column"])
    for start in range(0, len(array), batch_rows):
        order.add(pa.RecordBatch.from_arrays([array.slice(start, batch_rows)], ["column"]))
    return order.following == ("column",)


FOLLOWING = {
    "numbers that rise": range(N),
    "numbers that fall": range(N, 0, -1),
    "text that rises": [f"p{place:05}" for place in range(N)],
    "numbers as text": [str(place) for place in range(N)],
    "times": [DAY + dt.timedelta(minutes=place) for place in range(N)],
    "dates with many ties": [(DAY + dt.timedelta(days=place // 100)).date() for place in range(N)],
    "dates as text, day first": [f"{1 + place // 100}/{1 + place // 1000}/2024" for place in range(N)],
    "decimals": [decimal.Decimal(place) for place in range(N)],
    "two blocks": ["a"] * (N // 2) + ["b"] * (N // 2),
    "one person at the end": ["a"] * (N - 1) + ["b"],
    "truth values in two blocks": [False] * (N // 2) + [True] * (N // 2),
    "missing, then not": [None] * (N // 2) + [1.5] * (N // 2),
    "blocks in no order": np.repeat(["b", "d", "a", "c", "b", "d"], N // 6),
    "values that take turns": ["a", "b"] * (N // 2),
    "lists of ten, each sorted": list(range(10)) * (N // 10),
    "a list of values": pa.array(["x", "y", "z"] * 3)
    .dictionary_encode()
    .take(pa.array(np.repeat([2, 0, 1], N // 3))),
    "times, blurred by a tenth of the file": np.arange(N) + DRAW.integers(-150, 150, N),
    "numbers with NaN": np.where(np.arange(N) % 5 == 0, np.nan, np.arange(N)),
    "bytes": [place.to_bytes(4, "big") for place in range(N)],
    "four rows": [1, 2, 3, 9],
}
OTHERS = {
    "numbers": DRAW.integers(0, 10**9, N),
    "few numbers": DRAW.integers(0, 5, N),
    "text": [f"{each:09}" for each in DRAW.integers(0, 10**9, N)],
    "rare values": DRAW.random(N) < 0.01,
    "floats with NaN": np.where(DRAW.random(N) < 0.3, np.nan, DRAW.random(N)),
    "missing at random": [None if each < 0.3 else "x" for each in DRAW.random(N)],
    "the same throughout": ["x"] * N,
    "missing throughout": pa.nulls(N, pa.string()),
    "dates": [(DAY + dt.timedelta(days=int(each))).date() for each in DRAW.integers(0, 300, N)],
    "ids in a random order": DRAW.permutation(N),
    "a list of values": pa.array(np.array(["x", "y", "z"])[DRAW.integers(0, 3, N)]).dictionary_encode(),
    "nobody": pa.array([], pa.int64()),
    "one row": [1],
}


@pytest.mark.parametrize("batch_rows", [100, 700, 10_000])
@pytest.mark.parametrize("name", FOLLOWING)
def test_a_column_that_follows_the_order_is_found(name, batch_rows):
    if "blurred" in name:
        batch_rows = max(batch_rows, 700)  # rows half a batch apart must be further apart than the blur

    assert _follows(FOLLOWING[name], batch_rows)


@pytest.mark.parametrize("batch_rows", [1, 700, 10_000])
@pytest.mark.parametrize("name", OTHERS)
def test_a_column_in_no_order_is_left_alone(name, batch_rows):
    assert not _follows(OTHERS[name], batch_rows)


@pytest.mark.parametrize("name", sorted(set(FOLLOWING) - {"four rows", "one person at the end"}))
def test_a_column_that_follows_the_order_does_not_once_its_rows_are_shuffled(name):
    """The twin: it is the order that is seen, not the values."""
    values = FOLLOWING[name]
    array = values if isinstance(values, pa.Array) else pa.array(values)

    assert not _follows(array.take(pa.array(DRAW.permutation(len(array)))))


def test_what_cannot_be_compared_is_said_to_follow():
    """Silence would say that somebody looked."""
    assert _follows(pa.array([[1], [2], [0]]))


def test_a_column_with_too_many_values_is_not_counted(monkeypatch):
    assert _follows(FOLLOWING["values that take turns"])
    monkeypatch.setattr(row_order, "MOST_VALUES", 1)

    assert not _follows(FOLLOWING["values that take turns"])
    assert _follows(FOLLOWING["numbers that rise"])


def test_the_last_row_of_a_batch_is_compared_with_the_first_of_the_next():
    assert _follows(["a", "b"], batch_rows=1)
    assert not _follows(["a", "b", "a"], batch_rows=1)
