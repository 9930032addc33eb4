"""Tables: codes of a frame over a schema, frozen, and checked wherever they come from."""

import copy
import dataclasses
import datetime as dt
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from evenhand.errors import ColumnNotFoundError, InvalidParameterError, OutsideDomainError
from evenhand.schema import Column, Domain, Schema
from evenhand.table import Table

SCHEMA = Schema(
    [
        Column("sex", Domain.categorical(["f", "m"]), outside="other", nulls="other"),
        Column("age", Domain.integers(17, 90), outside="drop", nulls="drop"),
        Column("wage", Domain.binned([0, 10, 20]), outside="other", nulls="drop"),
    ]
)
ROWS = {
    "sex": ["m", "x", None, "f"],
    "age": [17, 90, 30, None],
    "wage": [0.0, 20.0, 99.0, 5.0],
    "note": ["a"] * 4,
}


@pytest.fixture
def table():
    return Table.encode(pa.table(ROWS), SCHEMA)


def test_codes_are_of_the_smallest_unsigned_type(table):
    assert {name: codes.dtype.name for name, codes in table.codes.items()} == dict.fromkeys(
        SCHEMA.names, "uint8"
    )
    wide = Schema(
        [Column("x", Domain.integers(0, 255), nulls="other"), Column("y", Domain.integers(0, 2**40))]
    )
    encoded = Table.encode(pa.table({"x": [255, None], "y": [0, 2**40]}), wide)

    assert (encoded["x"].dtype.name, encoded["y"].dtype.name) == ("uint16", "uint64")
    assert encoded["x"].tolist() == [255, 256]
    assert encoded["y"].tolist() == [0, 2**40]


def test_a_row_goes_if_any_column_says_so(table):
    assert table.kept.tolist() == [0, 1, 2]
    assert {name: codes.tolist() for name, codes in table.codes.items()} == {
        "sex": [1, 2, 2],
        "age": [0, 73, 13],
        "wage": [0, 1, 2],
    }
    assert len(table) == 3


def test_without_a_row_dropped_there_is_nothing_kept():
    assert Table.encode(pa.table(ROWS).slice(0, 2), SCHEMA).kept is None


def test_a_rule_may_drop_every_row():
    table = Table.encode(pa.table({"sex": ["f"], "age": [1], "wage": [1.0]}), SCHEMA)

    assert len(table) == 0
    assert table.kept.tolist() == []
    assert table.to_frame().num_rows == 0


def test_nothing_of_a_table_can_be_changed(table):
    """Codes that change behind the back of a mechanism would not be the ones it protects."""
    assert all(codes.flags.c_contiguous and not codes.flags.writeable for codes in table.codes.values())
    with pytest.raises(ValueError, match="read-only"):
        table["sex"][0] = 1
    with pytest.raises(TypeError):
        table.codes["sex"] = np.zeros(3, np.uint8)
    with pytest.raises(dataclasses.FrozenInstanceError):
        table.schema = SCHEMA
    with pytest.raises(ValueError, match="read-only"):
        table.kept[0] = 1


def test_columns_can_be_chosen_and_others_are_ignored():
    table = Table.encode(pa.table(ROWS), SCHEMA, columns=["wage", "sex"])

    assert table.schema.names == ("wage", "sex")
    with pytest.raises(ColumnNotFoundError, match="'age' is not in the schema"):
        table["age"]


def test_a_missing_column_is_told_with_those_of_the_frame():
    with pytest.raises(ColumnNotFoundError) as caught:
        Table.encode(pd.DataFrame({"Sex": ["f"], 3: [1]}), SCHEMA)

    assert str(caught.value) == "Column 'sex' is not in the frame. Hint: did you mean 'Sex'? There are: Sex."


@pytest.mark.parametrize("wrong", [None, [1], {"a": [1]}, np.zeros(3), pd.Series([1]), pl.Series([1])])
def test_what_is_no_frame_is_refused(wrong):
    with pytest.raises(
        InvalidParameterError, match=r"'frame' parameter of Table\.encode must be a pandas, Polars or Arrow"
    ):
        Table.encode(wrong, SCHEMA)


def test_a_lazy_frame_is_not_collected_silently():
    """Collecting may take long, or more memory than there is."""
    with pytest.raises(InvalidParameterError, match=r"Hint: collect a lazy frame first, with \.collect\(\)"):
        Table.encode(pl.LazyFrame(ROWS), SCHEMA)


def test_a_frame_with_the_same_name_twice_is_refused():
    with pytest.raises(InvalidParameterError, match="a frame whose columns have distinct names"):
        Table.encode(pd.DataFrame([["f", "m"]], columns=["sex", "sex"]), SCHEMA)


def test_a_schema_is_a_schema():
    with pytest.raises(InvalidParameterError, match=r"'schema' parameter of Table\.encode must be a Schema"):
        Table.encode(pa.table(ROWS), {"sex": ["f", "m"]})


def test_a_record_batch_is_a_frame_too():
    batch = pa.RecordBatch.from_pydict({"sex": ["f"], "age": [20], "wage": [1.0]})

    assert Table.encode(batch, SCHEMA).to_frame().to_pydict() == {
        "sex": ["f"],
        "age": [20],
        "wage": ["[0, 10)"],
    }


OUTSIDE = """Column 'x' holds a value outside its declared domain. \
Hint: declare outside="other", or add the value to the domain from a public code list."""
MISSING = """Column 'x' holds a missing value. \
Hint: declare nulls="other" for this column."""
WRONG_TYPE = """Column 'x' holds values of a type its domain does not hold. \
Hint: the domain holds text: convert the column, read the file with its schema, \
or declare outside="other"."""


@pytest.mark.parametrize(
    ("values", "rules", "message"),
    [
        (["a", "?"], {}, OUTSIDE),
        (["a", None], {}, MISSING),
        ([1, 2], {}, WRONG_TYPE),
        ([dt.date(2020, 1, 1), None], {"nulls": "drop"}, WRONG_TYPE),
        (["?", None], {"outside": "other"}, MISSING),
    ],
)
def test_the_rule_error_says_what_is_wrong_and_what_to_do(values, rules, message):
    with pytest.raises(OutsideDomainError) as caught:
        Table.encode(pa.table({"x": values}), Schema([Column("x", Domain.categorical(["a", "b"]), **rules)]))

    assert str(caught.value) == message
    assert caught.value.column == "x"


def test_a_column_of_missing_values_only_has_no_wrong_type():
    """Its type is whatever the library calls a column of nothing."""
    schema = Schema([Column("x", Domain.integers(0, 1), nulls="other")])
    for frame in (
        pa.table({"x": pa.nulls(2)}),
        pl.DataFrame({"x": [None, None]}),
        pd.DataFrame({"x": [None, None]}),
        pd.DataFrame({"x": [pd.NaT, pd.NaT]}),
        pa.table({"x": pa.nulls(2, pa.date32())}),
    ):
        assert Table.encode(frame, schema)["x"].tolist() == [2, 2]


def test_a_frame_without_rows_is_a_table_without_rows():
    for frame in (
        pa.table({name: [] for name in ROWS}),
        pl.DataFrame({name: [] for name in ROWS}),
        pd.DataFrame(columns=list(ROWS)),
    ):
        table = Table.encode(frame, SCHEMA)

        assert len(table) == 0
        assert table.kept is None


def test_repr_tells_the_columns_and_not_how_many_people(table):
    assert repr(table) == "Table of sex, age, wage"


def test_a_table_can_be_made_of_codes():
    table = Table(SCHEMA, {"sex": [0, 2], "age": np.array([0, 73]), "wage": np.array([1, 2], np.int8)})

    assert table.to_frame().to_pydict() == {"sex": ["f", None], "age": [17, 90], "wage": ["[10, 20]", None]}
    assert table["age"].dtype == np.uint8


@pytest.mark.parametrize(
    ("codes", "message"),
    [
        ({"sex": [0]}, "must be codes of the columns sex, age, wage. Got codes of sex instead"),
        ({}, "Got codes of no column"),
        ({"sex": [0], "age": [0], "wage": [0, 1]}, "arrays of one length"),
        ({"sex": [3], "age": [0], "wage": [0]}, "for column 'sex' an array of whole numbers from 0 to 2"),
        ({"sex": [-1], "age": [0], "wage": [0]}, "for column 'sex'"),
        ({"sex": [0.0], "age": [0], "wage": [0]}, "for column 'sex'"),
        ({"sex": [[0]], "age": [0], "wage": [0]}, "for column 'sex'"),
        ({"sex": [True], "age": [0], "wage": [0]}, "for column 'sex'"),
    ],
)
def test_codes_that_do_not_fit_the_schema_are_refused(codes, message):
    """A code outside the schema would be counted into a cell that does not exist."""
    with pytest.raises(InvalidParameterError, match=message):
        Table(SCHEMA, codes)


def test_many_pieces_make_the_codes_that_one_piece_makes(monkeypatch):
    rows = 1_000
    values = [["f", "m", "?", None][place % 4] for place in range(rows)]
    ages = [float("nan") if place % 7 == 0 else float(place % 100) for place in range(rows)]
    frames = [
        pa.table({"sex": values, "age": ages}),
        pl.DataFrame({"sex": values, "age": ages}),
        pd.DataFrame({"sex": values, "age": ages}),
        pd.DataFrame({"sex": pd.Series(values, dtype="category"), "age": pd.Series(ages, dtype=object)}),
    ]
    expected = Table.encode(frames[0], SCHEMA, columns=["sex", "age"])
    monkeypatch.setattr("evenhand.table.encode._PIECE_ROWS", 64)
    monkeypatch.setattr("evenhand.table.column_codes._BLOCK_ROWS", 10)

    for frame in frames:
        table = Table.encode(frame, SCHEMA, columns=["sex", "age"])
        assert table["sex"].tolist() == expected["sex"].tolist()
        assert table["age"].tolist() == expected["age"].tolist()
        assert table.kept.tolist() == expected.kept.tolist()


def test_a_category_that_nobody_has_does_no_harm():
    """The list of a categorical often holds more than the rows do."""
    schema = Schema([Column("x", Domain.categorical(["a"]))])
    labels = pd.CategoricalDtype(["zzz", "a"])

    assert Table.encode(pd.DataFrame({"x": pd.Series(["a"], dtype=labels)}), schema)["x"].tolist() == [0]
    encoded = pa.DictionaryArray.from_arrays(pa.array([1], pa.uint64()), pa.array(["zzz", "a"]))
    assert Table.encode(pa.table({"x": encoded}), schema)["x"].tolist() == [0]


def test_run_lengths_and_lists_of_values_with_nulls_are_read_through():
    schema = Schema([Column("x", Domain.integers(0, 9), outside="other", nulls="other")])
    runs = pa.RunEndEncodedArray.from_arrays([2, 3, 5], [1, None, 99])
    listed = pa.DictionaryArray.from_arrays(pa.array([0, None, 1, 2], pa.int8()), pa.array([7, None, 99]))
    nobody = pa.DictionaryArray.from_arrays(pa.array([None], pa.int8()), pa.array([], pa.string()))

    assert Table.encode(pa.table({"x": runs}), schema)["x"].tolist() == [1, 1, 10, 10, 10]
    assert Table.encode(pa.table({"x": listed}), schema)["x"].tolist() == [7, 10, 10, 10]
    assert Table.encode(pa.table({"x": nobody}), schema)["x"].tolist() == [10]


@pytest.mark.parametrize("kind", [pa.float16(), pa.float32(), pa.float64()])
def test_missing_numbers_of_every_width_are_missing(kind):
    schema = Schema([Column("x", Domain.integers(0, 9), outside="drop", nulls="other")])
    frame = pa.table({"x": pa.array([1.0, None, float("nan"), 2.5, float("inf")], kind)})

    assert Table.encode(frame, schema)["x"].tolist() == [1, 10, 10]


def test_a_table_can_be_sent_to_another_process(table):
    """Workers of a study get their tables that way."""
    again = pickle.loads(pickle.dumps(table))

    assert {name: codes.tolist() for name, codes in again.codes.items()} == {
        name: codes.tolist() for name, codes in table.codes.items()
    }
    assert not again["sex"].flags.writeable
    assert again.kept.tolist() == table.kept.tolist()
    assert again.to_frame().equals(table.to_frame())
    assert copy.deepcopy(table).schema == table.schema
