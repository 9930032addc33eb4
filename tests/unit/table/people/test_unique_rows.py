"""The share of rows that no other row equals, beside a count of all of them."""

import datetime as dt
import decimal
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.table.unique_rows import UniqueRows


def count_unique(columns):
    """Return the share of unique rows, slowly: every row is kept."""
    rows = list(zip(*columns, strict=True))
    return sum(count == 1 for count in Counter(rows).values()) / len(rows) if rows else 0.0


def measure(table, columns, *, batch_rows=7, **how):
    unique = UniqueRows(columns, **how)
    for batch in table.to_batches(max_chunksize=batch_rows):
        unique.add(batch)
    return unique


def people(rows, seed=1):
    draws = np.random.default_rng(seed)
    return pa.table(
        {
            "age": draws.integers(18, 90, rows),
            "town": [f"town {place}" for place in draws.integers(0, 40, rows)],
            "wage": draws.normal(size=rows).round(1),
        }
    )


VALUES = st.lists(
    st.tuples(st.sampled_from([0, 1, None]), st.sampled_from(["", "a", "b", None])), max_size=30
)


@given(VALUES, st.integers(1, 9))
def test_the_share_is_that_of_a_slow_count(rows, batch_rows):
    """A share that is too low calls a file safe in which people can be found."""
    numbers, texts = ([row[place] for row in rows] for place in (0, 1))
    table = pa.table({"n": pa.array(numbers, pa.int64()), "t": pa.array(texts, pa.string())})

    assert measure(table, ["n", "t"], batch_rows=batch_rows).share == count_unique([numbers, texts])
    assert measure(table, ["t"], batch_rows=batch_rows).share == count_unique([texts])


DAY = dt.date(2020, 1, 1)
COLUMNS = [
    pa.array([True, None, True, False]),
    pa.array([1.5, 2.5, 1.5, None]),
    pa.array([0.0, float("nan"), -0.0, 1.0]),
    pa.array(["a", "b", "a", None]).cast(pa.string_view()),
    pa.array([b"a", b"b", b"a", None]),
    pa.array(["a", None, "a", "b"]).dictionary_encode(),
    pa.array([3, None, 3, 4]).dictionary_encode(),
    pa.DictionaryArray.from_arrays(pa.array([0, 1, 0, 2]), pa.array(["a", None, "b"])),
    pa.array([DAY, None, DAY, dt.date(2021, 1, 1)]),
    pa.array([1 << 40, None, 1 << 40, 5], pa.timestamp("us")),
    pa.array([decimal.Decimal("1.1"), None, decimal.Decimal("1.1"), decimal.Decimal("1.2")]),
    pa.array([[1], None, [1], [2]]),
    pa.array([1, None, 1, 2], pa.uint64()),
    pa.array([-1, None, -1, 1], pa.int8()),
]


@pytest.mark.parametrize("column", COLUMNS, ids=lambda column: str(column.type))
def test_a_column_of_any_type_is_compared_by_its_values(column):
    """Two of four rows are alone: one that is missing, or not a number, and one with another value."""
    assert measure(pa.table({"x": column}), ["x"], batch_rows=2).share == 0.5


def test_missing_values_are_none_of_the_values():
    """Taken for an empty text, missing ones would hide people whose text is empty."""
    assert measure(pa.table({"x": ["", None]}), ["x"]).share == 1.0
    assert measure(pa.table({"x": pa.array([0, None])}), ["x"]).share == 1.0


def test_values_in_other_columns_are_other_rows():
    table = pa.table({"x": ["a", "b"], "y": ["b", "a"]})

    assert measure(table, ["x", "y"]).share == 1.0


def test_rows_of_different_parts_never_equal_each_other():
    """In which file of a folder a person is, is in the clear too."""
    batch = pa.record_batch({"x": ["a", "a", "b"]})
    apart, together = UniqueRows(["x"]), UniqueRows(["x"])
    for part in range(2):
        apart.add(batch, part=part)
        together.add(batch)

    assert (apart.share, together.share) == (pytest.approx(1 / 3), 0.0)


def test_no_rows_have_no_unique_ones():
    assert UniqueRows(["x"]).share == 0.0


@pytest.mark.parametrize("most_keys", [500, 2_000])
def test_with_bounded_memory_the_share_is_an_estimate_and_says_so(most_keys):
    """Files of any length are measured; the keys that are kept stay few, and nearly the share comes out."""
    table = people(20_000)
    exact = count_unique([table[name].to_pylist() for name in ("age", "town", "wage")])
    means = [
        measure(table, table.column_names, batch_rows=1_000, most_keys=most_keys, secret=bytes([seed])).share
        for seed in range(40)
    ]
    one = measure(table, table.column_names, batch_rows=1_000, most_keys=most_keys)

    assert one.is_sampled
    assert len(one.pack()) <= 16 + 8 * most_keys
    kept = most_keys / 4  # at least, of which the unique ones are a part
    spread = 6 * exact / np.sqrt(kept * exact * 40)  # six standard errors of the mean
    assert abs(np.mean(means) - exact) < spread
    assert abs(np.mean(means) - 1.3 * exact) > spread  # so it would be seen


def test_few_different_rows_are_counted_exactly_however_many_rows_there_are():
    table = pa.table({"x": np.arange(30_000) % 50})
    measured = measure(table, ["x"], batch_rows=1_000, most_keys=100)

    assert (measured.share, measured.is_sampled) == (0.0, False)


@pytest.mark.parametrize("most_keys", [100, 1 << 20])
def test_what_parts_packed_adds_up_to_what_is_measured_at_once(most_keys):
    """A cluster counts each partition where its rows are, and the driver adds up."""
    table, names = people(3_000), ["age", "town", "wage"]
    options = {"secret": b"key", "most_keys": most_keys}
    merged = UniqueRows(names, **options)
    for start in range(0, 3_000, 500):
        merged.add_packed(measure(table.slice(start, 500), names, **options).pack())
    whole = measure(table, names, **options)

    assert (merged.share, merged.is_sampled) == (whole.share, whole.is_sampled)
    assert merged.pack() == whole.pack()


def test_keys_say_nothing_without_their_secret():
    """They travel to the driver of a cluster; values could be tried out if anybody could make the keys."""
    table = pa.table({"x": ["a", "b"]})
    packed = {measure(table, ["x"], secret=secret).pack() for secret in (b"", b"one", b"two")}

    assert len(packed) == 3
