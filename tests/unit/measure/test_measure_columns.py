"""Every kind of column a person may have, and every one that is refused."""

import datetime as dt
import math
import traceback
from decimal import Decimal

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from evenhand.errors import InvalidParameterError
from evenhand.measure import count_table, data_unfairness, group_report, noise_parts
from evenhand.measure.columns import encode_groups, encode_labels, narrow, read_column, read_numbers

Y, P, G = [1, 0, 1, 1, 0], [1, 1, 0, 1, 0], [1, 0, 1, 0, 0]
EXPECTED = count_table(Y, P, G).counts.tolist()

KINDS = {
    "list": list,
    "tuple": tuple,
    "numpy": np.array,
    "numpy bytes": lambda values: np.array(values, dtype=np.int8),
    "numpy unsigned": lambda values: np.array(values, dtype=np.uint16),
    "numpy swapped": lambda values: np.array(values, dtype=">i4"),
    "numpy floats": lambda values: np.array(values, dtype=float),
    "numpy objects": lambda values: np.array(values, dtype=object),
    "numpy stride": lambda values: np.repeat(values, 2)[::2],
    "numpy masked": lambda values: np.ma.masked_array(values, mask=False),
    "booleans": lambda values: np.array(values, dtype=bool),
    "pandas": pd.Series,
    "pandas nullable": lambda values: pd.Series(values, dtype="Int64"),
    "pandas boolean": lambda values: pd.Series(values, dtype="boolean"),
    "pandas index": pd.Index,
    "polars": pl.Series,
    "polars boolean": lambda values: pl.Series(values, dtype=pl.Boolean, strict=False),
    "arrow": pa.array,
    "arrow chunked": lambda values: pa.chunked_array([values[:2], values[2:]]),
    "narwhals": lambda values: nw.from_native(pl.Series(values), series_only=True),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_column_counts_the_same(kind):
    make = KINDS[kind]
    table = count_table(make(Y), make(P), make(G))

    assert table.counts.tolist() == EXPECTED
    assert table.groups == (0, 1)


TEXT = {
    "list": list,
    "numpy": np.array,
    "numpy string": lambda values: np.array(values, dtype=np.dtypes.StringDType()),
    "numpy objects": lambda values: np.array(values, dtype=object),
    "pandas": pd.Series,
    "pandas category": lambda values: pd.Series(values, dtype="category"),
    "polars": pl.Series,
    "polars category": lambda values: pl.Series(values, dtype=pl.Categorical),
    "arrow": pa.array,
    "arrow dictionary": lambda values: pa.array(values).dictionary_encode(),
}


@pytest.mark.parametrize("kind", TEXT)
def test_labels_of_text_count_the_same(kind):
    make = TEXT[kind]
    named = {0: "no", 1: "yes"}
    table = count_table(
        make([named[y] for y in Y]), make([named[p] for p in P]), make([named[g] for g in G]), positive="yes"
    )

    assert table.counts.tolist() == EXPECTED
    assert table.groups == ("no", "yes")


def test_the_label_0_may_be_the_positive_one():
    table = count_table(Y, P, G, positive=0)

    assert table.counts[:, ::-1, ::-1].tolist() == EXPECTED


def test_the_label_1_beside_2_is_positive_if_it_is_named():
    coded = [1 if y else 2 for y in Y], [1 if p else 2 for p in P]

    assert count_table(*coded, G, positive=1).counts.tolist() == EXPECTED
    assert count_table(*coded, G, positive=2).counts[:, ::-1, ::-1].tolist() == EXPECTED


def test_a_column_of_one_label_is_taken_whichever_it_is():
    """Nobody selected is a result, not an error."""
    assert count_table(["no", "no"], ["no", "no"], [0, 0], positive="yes").counts.tolist() == [
        [[2, 0], [0, 0]]
    ]
    assert count_table(["yes"], ["yes"], [0], positive="yes").counts.tolist() == [[[0, 0], [0, 1]]]


@pytest.mark.parametrize(
    "group", [[5, 900, 5], [-3, 2, -3], [10**12, 7, 10**12], [2.5, 0.5, 2.5], [True, False, True]]
)
def test_group_numbers_of_any_size_are_labels(group):
    table = count_table([1, 0, 1], [1, 1, 0], group)

    assert table.groups == tuple(sorted(set(group)))
    assert table.counts.sum() == 3


def test_many_groups_are_counted_as_few_are():
    """Beyond 64 groups the codes do not fit in a byte, and another path counts."""
    generator = np.random.default_rng(0)
    group, y, p = generator.integers(0, 300, 20_000), *generator.integers(0, 2, (2, 20_000))
    table = count_table(y, p, group)
    expected = np.zeros((300, 2, 2), dtype=int)
    np.add.at(expected, (group, y, p), 1)

    assert (table.counts == expected).all()


@pytest.mark.parametrize("kind", [np.uint8, np.int8, np.int16, np.uint32, np.int64, np.uint64])
def test_narrowing_finds_what_does_not_fit(kind):
    large = np.array([0, 1, 2], dtype=kind)
    out_of_range = np.array([0, 1, 64], dtype=kind)

    assert narrow(large, 63)[0].tolist() == [0, 1, 2]
    assert narrow(large, 1)[0] is None
    assert narrow(out_of_range, 63)[0] is None


@pytest.mark.parametrize("kind", [np.int8, np.int16, np.int64])
def test_negative_numbers_are_never_narrowed(kind):
    assert narrow(np.array([0, -1], dtype=kind), 63)[0] is None
    assert narrow(np.array([np.iinfo(kind).min], dtype=kind), 63)[0] is None


def test_the_whole_range_of_small_integers_is_encoded_without_wrapping():
    values = np.arange(-128, 128).astype(np.int8)
    codes, labels = encode_groups(values, owner="test")

    assert [labels[code] for code in codes] == values.tolist()


def test_the_largest_unsigned_numbers_are_labels():
    values = np.array([2**64 - 1, 2**64 - 3], dtype=np.uint64)
    codes, labels = encode_groups(values, owner="test")

    assert [labels[code] for code in codes] == values.tolist()


def test_dates_and_decimals_are_labels():
    dates = np.array(["2020-01-02", "2020-01-01"], dtype="datetime64[D]")
    decimals = np.array([Decimal("0.5"), Decimal("0.1")], dtype=object)

    assert encode_labels(dates, name="group", owner="test")[1] == [
        dt.date(2020, 1, 1),
        dt.date(2020, 1, 2),
    ]
    assert encode_labels(decimals, name="group", owner="test")[0].tolist() == [1, 0]


REFUSED = {
    "a missing float": [1.0, math.nan, 0.0],
    "None": [1, None, 0],
    "None beside text": ["a", None, "b"],
    "NaN beside text": ["a", math.nan, "b"],
    "masked": np.ma.masked_array([1, 0, 1], mask=[0, 1, 0]),
    "pandas NA": pd.Series([1, None, 0], dtype="Int64"),
    "pandas boolean NA": pd.Series([True, None, False], dtype="boolean"),
    "polars null": pl.Series([1, None, 0]),
    "arrow null": pa.array([1, None, 0]),
    "NaT": np.array(["2020-01-01", "NaT", "2020-01-01"], dtype="datetime64[D]"),
}


@pytest.mark.parametrize("kind", REFUSED)
@pytest.mark.parametrize("name", ["y_true", "y_pred", "group"])
def test_missing_values_are_refused_in_every_column(kind, name):
    """A missing value that becomes a label of its own changes every rate."""
    columns = {"y_true": [1, 0, 1], "y_pred": [1, 0, 1], "group": [0, 1, 0], name: REFUSED[kind]}

    with pytest.raises(
        InvalidParameterError, match=f"'{name}' .* without missing values. Got missing values instead"
    ):
        group_report(**columns)


@pytest.mark.parametrize("column", [[[1, 0], [0, 1]], np.zeros((3, 1)), np.array(1), [[1], [1, 2]]])
def test_more_or_fewer_dimensions_than_one_are_refused(column):
    with pytest.raises(InvalidParameterError, match="must be a column with one dimension"):
        group_report([1, 0, 1], [1, 0, 1], column)


@pytest.mark.parametrize("column", ["abc", 5, {"a": 1}, None, {1, 2}, pl.DataFrame({"a": [1]}).lazy()])
def test_what_is_no_column_is_refused(column):
    with pytest.raises(
        InvalidParameterError, match=r"must be a column: an array, a list or a series. Got a "
    ):
        group_report([1, 0, 1], [1, 0, 1], column)


@pytest.mark.parametrize(
    "column",
    [
        ["a", 1, "b"],
        [True, 2, "x"],
        np.array([1j, 2, 3]),
        [{1}, {2}, {3}],
        np.array([2**70, 1, 2], dtype=object),
    ],
)
def test_labels_of_several_or_unknown_kinds_are_refused(column):
    with pytest.raises(InvalidParameterError, match="must be a column of labels of one kind"):
        group_report([1, 0, 1], [1, 0, 1], column)


@pytest.mark.parametrize(
    "column", [[0.25, 0.75, 0.5], [0, 1, 2], [-1, 1, 1], ["no", "yes", "no"], [0, 1, 1.5]]
)
def test_outcomes_other_than_0_and_1_need_the_positive_label(column):
    """And scores passed as predictions are the likeliest mistake, so the hint says so."""
    with pytest.raises(InvalidParameterError) as caught:
        group_report([1, 0, 1], column, [0, 1, 1])

    message = str(caught.value)
    assert message.startswith(
        "The 'y_pred' parameter of group_report must be a column of 0 and 1 (or of booleans)."
    )
    assert "positive=" in message
    assert "not scores" in message


@pytest.mark.parametrize(
    ("y_true", "positive"),
    [(["a", "b", "c"], "a"), (["a", "b", "a"], "A"), ([1, 2, 3], 1), ([0.1, 0.2, 0.3], 1)],
)
def test_a_positive_label_must_be_one_of_two(y_true, positive):
    """A misspelt label would make every rate 0."""
    with pytest.raises(InvalidParameterError, match=r"'positive' .* must be one of the two labels"):
        group_report(y_true, y_true, [0, 1, 1], positive=positive)


def test_outcome_columns_share_their_labels():
    with pytest.raises(InvalidParameterError, match="one of the two labels"):
        group_report(["yes", "no"], [1, 0], [0, 1], positive="yes")


@pytest.mark.parametrize("name", ["y_true", "group", "weights"])
def test_columns_of_another_length_are_refused_and_no_length_is_told(name):
    columns = {"y_true": [1, 0, 1], "y_pred": [1, 0, 1], "group": [0, 1, 1], "weights": [1, 1, 1]}
    columns[name] = columns[name] * 41

    with pytest.raises(InvalidParameterError, match=r"must be as long as '.*'. Got another length") as caught:
        group_report(**columns)
    assert not any(character.isdigit() for character in str(caught.value))


@pytest.mark.parametrize("weights", [[1, -1, 1], [1, math.inf, 1], [1, 1e200, 1]])
def test_weights_below_0_or_without_end_are_refused(weights):
    with pytest.raises(InvalidParameterError, match=r"'weights' .* must be numbers from 0 to 1e100"):
        group_report([1, 0, 1], [1, 0, 1], [0, 1, 1], weights=weights)


def test_missing_weights_and_scores_are_refused():
    with pytest.raises(InvalidParameterError, match=r"'weights' .* without missing values"):
        group_report([1, 0, 1], [1, 0, 1], [0, 1, 1], weights=[1, math.nan, 1])
    with pytest.raises(InvalidParameterError, match=r"'scores' .* without missing values"):
        group_report([1, 0, 1], [1, 0, 1], [0, 1, 1], scores=[1, None, 1])


@pytest.mark.parametrize("weights", [["a", "b", "c"], np.array(["a", "b", "c"]), [1j, 2, 3]])
def test_weights_that_are_no_numbers_are_refused(weights):
    with pytest.raises(InvalidParameterError, match=r"'weights' .* must be a column of"):
        group_report([1, 0, 1], [1, 0, 1], [0, 1, 1], weights=weights)


def test_numbers_may_stand_in_an_object_column():
    assert read_numbers(np.array([1, 2.5], dtype=object), name="weights", owner="test").tolist() == [1.0, 2.5]
    assert read_numbers(pd.Series([1, 2], dtype="Int64"), name="weights", owner="test").tolist() == [1.0, 2.0]
    assert read_numbers([], name="weights", owner="test").tolist() == []


def test_infinite_scores_are_scores():
    assert group_report([1, 0], [1, 0], [0, 0], scores=[math.inf, -math.inf]).auc == 1


def test_tiny_weights_still_have_intervals():
    """Their squares are 0 in floating point; the effective size is then 1, the least it can be."""
    report = group_report([1, 0, 1, 0], [1, 1, 0, 0], [0, 0, 1, 1], weights=[1e-200] * 4, privileged=0)

    assert report.spd == 1
    assert not math.isnan(report.interval("spd").low)


def test_no_message_holds_a_value_of_a_column():
    """Errors end up in logs; rows must not."""
    secret = 424242
    attempts = [
        ({"y_true": [1, secret], "y_pred": [1, 0], "group": [0, 1]}, {}),
        ({"y_true": [1, 0], "y_pred": [1, 0], "group": [0, secret]}, {"groups": [0, 1]}),
        ({"y_true": [1, 0], "y_pred": [1, 0], "group": [0, secret]}, {"privileged": 7}),
        ({"y_true": [1, 0], "y_pred": [1, secret], "group": [0, 1]}, {"positive": 2}),
        ({"y_true": [1, 0], "y_pred": [1, 0], "group": [0, 1]}, {"weights": [1, -secret]}),
        ({"y_true": ["a", secret], "y_pred": [1, 0], "group": [0, 1]}, {}),
    ]
    for columns, options in attempts:
        with pytest.raises(InvalidParameterError) as caught:
            group_report(**columns, **options)
        assert str(secret) not in str(caught.value)


def test_messages_name_the_function_that_was_called():
    with pytest.raises(InvalidParameterError, match="'y' parameter of data_unfairness"):
        data_unfairness([0, 3], [0, 1])


def test_reading_a_column_does_not_change_it():
    column = np.array([3, 1, 2])
    read_column(column, name="group", owner="test")
    count_table([1, 0, 1], [1, 0, 0], column)

    assert column.tolist() == [3, 1, 2]


SECRETS = {
    "group": {"group": [1, "HIV positive: Jane Roe", 2]},
    "weights": {"weights": [1, "HIV positive: Jane Roe", 2]},
    "scores": {"scores": [1, "HIV positive: Jane Roe", 2]},
    "y_true": {"y_true": [1, "HIV positive: Jane Roe", 2]},
    "y_pred": {"y_pred": [1, "HIV positive: Jane Roe", 2]},
    "text weights": {"weights": ["HIV positive: Jane Roe", "b", "c"]},
    "ragged": {"group": [["HIV positive: Jane Roe"], [1, 2], 3]},
    "object": {"group": np.array([1, "HIV positive: Jane Roe", 2], dtype=object)},
}


@pytest.mark.parametrize("place", SECRETS)
def test_no_traceback_shows_a_cell(place):
    """A log keeps the whole traceback, with the errors behind an error; Arrow's quote the cell."""
    columns = {"y_true": [1, 0, 1], "y_pred": [1, 0, 1], "group": [0, 1, 1]} | SECRETS[place]

    with pytest.raises(InvalidParameterError) as caught:
        group_report(**columns)
    shown = "".join(traceback.format_exception(caught.value))
    assert "Jane" not in shown
    assert caught.value.__context__ is None


@pytest.mark.parametrize("name", ["weights", "scores"])
@pytest.mark.parametrize("column", [[1, "123-45-6789", 2], ["a", "b", "c"], [1, {}, 2]])
def test_what_must_be_numbers_says_so(name, column):
    with pytest.raises(InvalidParameterError, match=rf"'{name}' .* must be a column of numbers"):
        group_report([1, 0, 1], [1, 0, 1], [0, 1, 1], **{name: column})


LONG = [f"{place:050d}" for place in range(4)]


@pytest.mark.parametrize(
    "make", [np.array, pl.Series, pd.Series, TEXT["numpy string"], TEXT["numpy objects"]]
)
def test_text_above_16_mebibytes_is_counted(make):
    """Arrow reads long text in parts of 16 MiB, and each part has a dictionary of its own."""
    rows = 400_000
    group = make(LONG * (rows // 4))
    y = np.zeros(rows, dtype=np.uint8)
    table = count_table(None, y, group)

    assert table.groups == tuple(LONG)
    assert table.sizes.tolist() == [rows // 4] * 4


def _series(values, index):
    return pd.Series(values, index=index)


def test_pandas_columns_in_another_order_are_refused():
    """Matched by position, the rows of one person would be counted with the group of another."""
    y, group = _series([1, 0, 1], [0, 1, 2]), _series([0, 1, 1], [2, 0, 1])
    columns = {"y_true": y, "y_pred": y, "group": y}

    for name in ("y_pred", "group", "weights", "scores"):
        with pytest.raises(InvalidParameterError, match=rf"'{name}' .* rows are matched by position"):
            group_report(**columns | {name: group})
    with pytest.raises(InvalidParameterError, match=r"'group' .* 'y'.* reset_index"):
        data_unfairness(y, group)
    with pytest.raises(InvalidParameterError, match=r"'split' .* 'values'"):
        noise_parts(y, split=group)


def test_narwhals_columns_over_pandas_are_compared_too():
    y = nw.from_native(_series([1, 0], [0, 1]), series_only=True)
    group = nw.from_native(_series([1, 0], [1, 0]), series_only=True)

    with pytest.raises(InvalidParameterError, match=r"'group' .* an equal index"):
        count_table(None, y, group)


def test_equal_indexes_and_plain_arrays_are_taken_by_position():
    y = _series([1, 0, 1], [7, 5, 6])
    table = count_table(y, np.array([1, 0, 1]), _series([0, 1, 1], [7, 5, 6]))
    default = count_table(_series([1, 0, 1], range(3)), [1, 0, 1], _series([0, 1, 1], [0, 1, 2]))

    assert table.counts.tolist() == default.counts.tolist()


def test_a_masked_entry_in_a_list_is_a_missing_value():
    with pytest.raises(InvalidParameterError, match="without missing values"):
        count_table([1, np.ma.masked], [1, 0], [0, 1])
