"""A column that gives the order of the input back is found, and one that does not is left alone."""

import datetime as dt
import decimal
import itertools
from fractions import Fraction

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy.stats import spearmanr

from evenhand.collect.privatizer.bare_columns import write_out_views
from evenhand.engine import row_order
from evenhand.engine.row_order import (
    ASSOCIATED,
    GIVES_BACK,
    NOT_COMPARED,
    RowOrder,
    describe_row_order,
)

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
    "wide blocks of many values in no order": DRAW.permutation(2_000)[None, :].repeat(6, 0).ravel()
    + np.repeat([30_000, 10_000, 50_000, 0, 40_000, 20_000], 2_000),
    "two wide blocks of many values": np.r_[
        DRAW.integers(10**6, 10**7, 6_000), DRAW.integers(0, 10**6, 6_000)
    ],
    "many values, up and down": [*range(N), *range(N, 0, -1)],
    "many values, a few times each, up and down": np.repeat([*range(N), *range(N, 0, -1)], 3),
    "smooth cycles": np.sin(np.arange(N) / 40),
    "smooth cycles of many values, blurred": np.sin(np.arange(N) / 400) + DRAW.normal(0, 0.3, N),
    "many values that take turns": np.c_[DRAW.permutation(N), DRAW.permutation(N) + N].ravel(),
    "forty numbers as text": [str(place) for place in range(1, 41)],
    "thirty numbers, then a missing one": [*range(30), None],
    "fifty numbers with four steps back": [place - 7 * (place in {10, 20, 30, 40}) for place in range(50)],
    "dates beyond those of Python": pa.array(range(2_932_897, 2_932_897 + N), pa.date32()),
    "dates as milliseconds": pa.array([day * 86_400_000 for day in range(N)], pa.date64()),
    "times beyond those of Python": pa.array(range(2**62, 2**62 + N), pa.timestamp("us")),
    "times of a zone": pa.array(range(N), pa.timestamp("ns", "Europe/Paris")),
    "times of the day": pa.array(range(N), pa.time32("ms")),
    "times of the day in parts of microseconds": pa.array(range(N), pa.time64("ns")),
    "durations": pa.array(range(2**62, 2**62 + N), pa.duration("s")),
    "views of text": pa.array([f"p{place:05}" for place in range(N)], pa.string_view()),
    "views of bytes": pa.array([place.to_bytes(4, "big") for place in range(N)]).cast(pa.binary_view()),
    "half floats": pa.array(np.repeat(np.arange(N // 3), 3).astype(np.float16)),
    "a list of values that are not sorted": pa.DictionaryArray.from_arrays(
        pa.array(np.arange(N) // 1_000 * 2, pa.uint8()), pa.array(["a", "z", "b", "y", "c"])
    ),
    "a long list of values": pa.DictionaryArray.from_arrays(
        pa.array(np.arange(2 * N, N, -1)), pa.array([f"{place:05}" for place in range(3 * N)])
    ),
    "a list with a value twice and a missing one": pa.DictionaryArray.from_arrays(
        pa.array(np.repeat([2, 0, 1, 3], N // 4)), pa.array([1.5, 1.5, None, 2.5])
    ),
    "a list of dates": pa.array(np.arange(N) // 100, pa.int32()).view(pa.date32()).dictionary_encode(),
    "a list of truth values": pa.array([False] * (N // 2) + [True] * (N // 2)).dictionary_encode(),
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
    "a long list of values": pa.DictionaryArray.from_arrays(
        pa.array(DRAW.integers(0, 9 * N, N)), pa.array([f"{place:05}" for place in range(9 * N)])
    ),
    "a list with a value twice": pa.DictionaryArray.from_arrays(
        pa.array([0, 1] * (N // 2)), pa.array(["a", "a"])
    ),
    "no type": pa.nulls(N),
    "missing times": pa.nulls(N, pa.timestamp("s")),
    "the same date": pa.array([3_000_000] * N, pa.date32()),
    "the same duration": pa.array([2**62] * N, pa.duration("s")),
    "views of text": pa.array([f"{each:09}" for each in DRAW.integers(0, 10**9, N)], pa.string_view()),
    "the same text in views": pa.array(["x"] * N, pa.string_view()),
    "missing in a list of values": pa.DictionaryArray.from_arrays(pa.nulls(N, pa.int8()), pa.array(["x"])),
    "dates beyond those of Python": pa.array(DRAW.integers(0, 2**31, N).astype(np.int32), pa.date32()),
    "durations": pa.array(DRAW.integers(-(2**62), 2**62, N), pa.duration("s")),
    "half of many numbers are 0": DRAW.integers(0, 10**9, N) * (DRAW.random(N) < 0.5),
    "many numbers, three times each": DRAW.permutation(np.arange(N) // 3),
    "nobody": pa.array([], pa.int64()),
    "one row": [1],
}


@pytest.mark.parametrize(
    "batch_rows", [*(pytest.param(rows, marks=pytest.mark.figures) for rows in (100, 10_000)), 700]
)
@pytest.mark.parametrize("name", FOLLOWING)
def test_a_column_that_follows_the_order_is_found(name, batch_rows):
    if "blurred" in name:
        batch_rows = max(batch_rows, 700)  # rows half a batch apart must be further apart than the blur

    assert _follows(FOLLOWING[name], batch_rows)


@pytest.mark.parametrize(
    "batch_rows", [*(pytest.param(rows, marks=pytest.mark.figures) for rows in (1, 10_000)), 700]
)
@pytest.mark.parametrize("name", OTHERS)
def test_a_column_in_no_order_is_left_alone(name, batch_rows):
    assert not _follows(OTHERS[name], batch_rows)


@pytest.mark.parametrize("name", sorted(set(FOLLOWING) - {"four rows", "one person at the end"}))
def test_a_column_that_follows_the_order_does_not_once_its_rows_are_shuffled(name):
    """The twin: it is the order that is seen, not the values."""
    values = FOLLOWING[name]
    array = values if isinstance(values, pa.Array) else pa.array(values)
    array = write_out_views(array)

    assert not _follows(array.take(pa.array(DRAW.permutation(len(array)))))


def test_what_cannot_be_compared_is_said_to_follow():
    """Silence would say that somebody looked."""
    assert _follows(pa.array([[1], [2], [0]]))


def test_the_values_of_a_column_are_counted_up_to_a_number(monkeypatch):
    """Memory does not grow with the file; quarters of the values still show blocks and turns."""
    monkeypatch.setattr(row_order, "MOST_VALUES", 100)
    order = RowOrder(["few", "many"])
    for start in range(0, N, 50):
        part = [np.arange(start, start + 50) % 100, np.arange(start, start + 50)]
        order.add(pa.RecordBatch.from_arrays([pa.array(each) for each in part], ["few", "many"]))
    held = {name: len(column._equal.counts) for name, column in order._columns.items()}

    assert held == {"few": 100, "many": 150}
    assert _follows(FOLLOWING["values that take turns"])


@pytest.mark.parametrize("name", sorted(name for name in {**FOLLOWING, **OTHERS} if "list" in name))
def test_sorting_a_list_of_values_says_the_same_as_writing_it_out(name, monkeypatch):
    monkeypatch.setattr(row_order, "_is_short", lambda _: False)

    assert _follows(FOLLOWING[name]) if name in FOLLOWING else True
    assert not _follows(OTHERS[name]) if name in OTHERS else True


def test_wide_blocks_in_one_long_batch_are_found():
    blocks = np.repeat([3, 1, 5, 0, 4, 2], 10_000) * 10**6 + DRAW.integers(0, 10**6, 60_000)

    assert _follows(blocks, batch_rows=60_000)
    assert not _follows(DRAW.permutation(blocks), batch_rows=60_000)


@pytest.mark.parametrize("kind", [pa.string(), pa.large_binary()])
def test_a_list_of_long_values_is_never_written_out(kind):
    """A file of some kilobytes may repeat a long text a million times."""
    texts = pa.array([letter * 20_000 for letter in "cab"]).cast(kind)
    column = pa.DictionaryArray.from_arrays(pa.array(DRAW.integers(0, 3, 20_000).astype(np.int32)), texts)
    before = pa.default_memory_pool()
    pool = pa.proxy_memory_pool(before)
    pa.set_memory_pool(pool)
    try:
        follows = _follows(column, batch_rows=10_000)
    finally:
        pa.set_memory_pool(before)

    assert not follows
    assert pool.max_memory() < 10 << 20


def test_a_list_of_values_is_compared_across_batches_whose_lists_differ():
    parts = [["b", "a"], ["d", "c"], ["e", None]]
    for values, follows in ((["a", "b", "c", "d", "e", "e"], True), (["a", "b", "d", "c", "e", "e"], False)):
        order = RowOrder(["column"])
        for place, words in enumerate(parts):
            rows = [words.index(value) for value in values[2 * place : 2 * place + 2]]
            column = pa.DictionaryArray.from_arrays(pa.array(rows, pa.int8()), pa.array(words))
            order.add(pa.RecordBatch.from_arrays([column], ["column"]))

        assert (order.following == ("column",)) is follows


@pytest.mark.figures
def test_turning_points_have_the_mean_and_variance_that_are_stated():
    """All orders of seven values, one by one: 2/3 of five turn, with the variance (16 n - 29) / 90."""
    turns = []
    for values in itertools.permutations(range(7)):
        column = row_order._ColumnOrder()
        column.add(pa.array(values))
        turns.append(column._turns._turning)

    assert Fraction(sum(turns), len(turns)) == Fraction(10, 3)
    squares = Fraction(sum(number**2 for number in turns), len(turns))
    assert squares - Fraction(10, 3) ** 2 == Fraction(16 * 7 - 29, 90)


RANDOM = {
    "different numbers": lambda draw, rows: draw.permutation(rows),
    "numbers in pairs": lambda draw, rows: draw.permutation(rows // 2 * 2) // 2,
    "three values": lambda draw, rows: draw.permutation(rows) % 3,
    "two values": lambda draw, rows: draw.permutation(rows) % 2,
    "a tenth is rare": lambda draw, rows: draw.permutation(rows) % 10 == 0,
    "half is 0": lambda draw, rows: np.maximum(draw.permutation(rows), rows // 2),
    "a long tail": lambda draw, rows: draw.permutation(np.floor(1.05 ** np.linspace(0, 150, rows))),
}


@pytest.mark.figures
@pytest.mark.parametrize("rows", [40, 60, 200, 1_000, pytest.param(5_000, marks=pytest.mark.figures)])
@pytest.mark.parametrize("name", RANDOM)
def test_random_orders_are_not_named(name, rows):
    """Each would be with a probability below 1e-8, were it not for the few orders that never fall."""
    draw = np.random.default_rng([rows, len(name)])
    columns = [RANDOM[name](draw, rows) for _ in range(40)]

    assert not any(_follows(column, batch_rows) for column in columns for batch_rows in (rows // 7, rows))


@pytest.mark.parametrize("rows", [200, 1_000, pytest.param(5_000, marks=pytest.mark.figures)])
@pytest.mark.parametrize("name", RANDOM)
def test_sorted_up_and_down_the_same_columns_are_named(name, rows):
    """The twin: it is the order of these values that is random."""
    column = np.sort(RANDOM[name](np.random.default_rng(7), rows))
    if name != "a tenth is rare" or rows >= 1_000:  # else there are too few changes to tell
        assert _follows(np.r_[column[::2], column[::-2]])


def test_the_last_row_of_a_batch_is_compared_with_the_first_of_the_next():
    assert _follows(["a", "b"], batch_rows=1)
    assert not _follows(["a", "b", "a"], batch_rows=1)


# --- what is said of a column that follows the order --------------------------------------------------

LATENT = np.arange(N) / N
RELATIONS = {
    "five values with a weak trend": (np.digitize(LATENT + DRAW.normal(0, 1, N), [-1, 0, 1, 2]), ASSOCIATED),
    "two values with a weak trend": (LATENT + DRAW.normal(0, 1.2, N) > 0.7, ASSOCIATED),
    "two blocks": (FOLLOWING["two blocks"], ASSOCIATED),
    "one person at the end": (FOLLOWING["one person at the end"], ASSOCIATED),
    "five blocks, sorted": (np.arange(N) // (N // 5), ASSOCIATED),
    "values that take turns": (FOLLOWING["values that take turns"], ASSOCIATED),
    "lists of ten, each sorted": (FOLLOWING["lists of ten, each sorted"], ASSOCIATED),
    "smooth cycles": (FOLLOWING["smooth cycles"], ASSOCIATED),
    "up and down": (FOLLOWING["many values, up and down"], ASSOCIATED),
    "numbers with NaN": (FOLLOWING["numbers with NaN"], GIVES_BACK),
    "numbers that rise": (FOLLOWING["numbers that rise"], GIVES_BACK),
    "numbers that fall": (FOLLOWING["numbers that fall"], GIVES_BACK),
    "numbers as text": (FOLLOWING["numbers as text"], GIVES_BACK),
    "numbers as text, shuffled lists": (
        pa.array([str(place) for place in range(N)]).dictionary_encode(),
        GIVES_BACK,
    ),
    "times": (FOLLOWING["times"], GIVES_BACK),
    "dates with many ties": (FOLLOWING["dates with many ties"], GIVES_BACK),
    "times, blurred by a tenth": (FOLLOWING["times, blurred by a tenth of the file"], GIVES_BACK),
    "one missing among many": ([None, *range(N)], GIVES_BACK),
    "bytes": (FOLLOWING["bytes"], GIVES_BACK),
    "four rows": (FOLLOWING["four rows"], GIVES_BACK),
    "lists": (pa.array([[1], [2], [0]]), NOT_COMPARED),
}


def _seen(values, batch_rows=700):
    array = values if isinstance(values, pa.Array) else pa.array(values)
    order = RowOrder(["column"])
    for start in range(0, len(array), batch_rows):
        order.add(pa.RecordBatch.from_arrays([array.slice(start, batch_rows)], ["column"]))
    return order


@pytest.mark.parametrize("batch_rows", [700, 10_000])
@pytest.mark.parametrize("name", RELATIONS)
def test_only_a_column_that_sorts_the_rows_is_said_to_give_the_order_back(name, batch_rows):
    """A signed note that says so of a column with two values is false, and nobody believes the next one."""
    values, relation = RELATIONS[name]
    if "weak" in name:
        batch_rows = N  # in a shorter batch it is not seen

    assert _seen(values, batch_rows).relations == {"column": relation}


@pytest.mark.parametrize("name", ["numbers", "few numbers", "the same throughout", "nobody", "one row"])
def test_nothing_is_said_of_a_column_in_no_order(name):
    order = _seen(OTHERS[name])

    assert order.relations == {}
    assert order.correlations == {}


@pytest.mark.parametrize(
    "name", [name for name, (_, relation) in RELATIONS.items() if relation != NOT_COMPARED]
)
def test_the_rank_correlation_of_a_short_column_is_that_of_all_its_rows(name):
    """The slow way: midranks of all rows by scipy; of more rows than are sampled it is an estimate."""
    values, _ = RELATIONS[name]
    array = values if isinstance(values, pa.Array) else pa.array(values)
    whole = array.slice(0, row_order._SAMPLED_ROWS)
    sampled = _seen(whole, 300).correlations.get("column")
    plain = pd.Series(whole.to_pylist()).map(lambda value: float(value) if "as text" in name else value)
    codes = plain.astype("category").cat.codes.to_numpy()  # missing is -1, and first
    found = [spearmanr(part, np.arange(len(part)))[0] for part in (codes, codes[codes >= 0]) if np.ptp(part)]
    if sampled is not None:
        assert sampled == pytest.approx(max(found, key=abs), abs=1e-12)


def test_the_rank_correlation_of_a_long_column_is_near_that_of_all_rows():
    """Six standard errors of a thousand rows; the twin: a weaker trend is seen as one."""
    rows = 200_000
    noise = np.random.default_rng(3).normal(0, 1, rows)
    told = []
    for weight in (1.0, 0.6):
        column = np.digitize(weight * np.arange(rows) / rows + noise, [-1, 0, 1, 2])
        told.append((_seen(column, rows).correlations["column"], spearmanr(column, np.arange(rows))[0]))
    (strong, true), (weak, _) = told

    assert abs(strong - true) < 6 / np.sqrt(1_000)
    assert weak < strong


def test_a_cycle_as_long_as_the_step_of_a_sample_is_no_trend():
    """Every so-and-so-many-th row of a cycle may look sorted; rows that are chosen by a hash do not."""
    rows = 1 << 18
    for period in (256, 257, 255, 1_024):
        assert abs(_seen(np.arange(rows) % period, rows).correlations["column"]) < 0.3


def test_the_words_of_a_guarantee_hold_no_figure():
    """The note travels with the reports: how strongly the order shows is told to whoever has the rows."""
    words = describe_row_order({"id": GIVES_BACK, "rate": ASSOCIATED, "l": NOT_COMPARED}, is_kept=False)

    assert words == (
        "row order (id gives it back)",
        "row order (rate is associated with it)",
        "row order (l was not compared with it)",
    )
