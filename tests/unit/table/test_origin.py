"""Frames come back in their own library and types where those can hold the values."""

import importlib.util

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from evenhand.errors import InvalidParameterError, MissingExtraError
from evenhand.schema import Column, Domain, Schema
from evenhand.table import Table
from evenhand.table.frames import Origin, native_frame

SCHEMA = Schema(
    [
        Column("whole", Domain.integers(0, 9), outside="other", nulls="other"),
        Column("truth", Domain.categorical([True, False]), outside="other", nulls="other"),
        Column("text", Domain.categorical(["a", "b"]), outside="other", nulls="other"),
    ]
)
ROWS = {"whole": [1, 99, 3], "truth": [True, False, True], "text": ["a", "?", "b"]}


def test_pandas_takes_a_nullable_type_where_other_occurs():
    """A whole number that came back as 1.0 would be another value to strict readers."""
    back = Table.encode(pd.DataFrame(ROWS), SCHEMA).to_frame()

    assert back.dtypes.astype(str).to_dict() == {"whole": "Int64", "truth": "bool", "text": "str"}
    assert back["whole"].tolist() == [1, pd.NA, 3]
    assert list(back.index) == [0, 1, 2]


def test_pandas_objects_come_back_as_objects_with_none():
    frame = pd.DataFrame({name: pd.Series(values, dtype=object) for name, values in ROWS.items()})
    back = Table.encode(frame, SCHEMA).to_frame()

    assert back["whole"].tolist() == [1, None, 3]
    assert back["text"].tolist() == ["a", None, "b"]


def test_a_float_column_of_whole_numbers_comes_back_as_floats():
    back = Table.encode(pd.DataFrame({"whole": [1.0, None]}), SCHEMA, columns=["whole"]).to_frame()

    assert back["whole"].dtype == "float64"
    assert back["whole"][0] == 1.0
    assert back["whole"].isna().tolist() == [False, True]


def test_polars_keeps_its_types():
    frame = pl.DataFrame(ROWS, schema={"whole": pl.UInt8, "truth": pl.Boolean, "text": pl.Categorical})
    back = Table.encode(frame, SCHEMA).to_frame()

    assert back.schema == frame.schema
    assert back["text"].to_list() == ["a", None, "b"]


def test_a_type_that_cannot_hold_the_values_gives_way():
    narrow = pa.dictionary(pa.int8(), pa.int64())
    origin = Origin("pyarrow", {"a": pa.date64(), "b": narrow, "c": pa.decimal128(2, 1)})
    arrays = {"a": pa.array(["x"]), "b": pa.array([1]), "c": pa.array([12345])}

    assert native_frame(arrays, backend=None, origin=origin).schema.types == [pa.string(), narrow, pa.int64()]
    assert native_frame(
        {"a": pa.array(["x"])}, backend=None, origin=Origin("polars", {"a": pl.Int64})
    ).dtypes == [pl.String]
    back = native_frame({"a": pa.array(["x"])}, backend=None, origin=Origin("pandas", {"a": "int64"}))
    assert back["a"].tolist() == ["x"]


@pytest.mark.parametrize(
    ("backend", "kind"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame), ("pyarrow", pa.Table)]
)
@pytest.mark.parametrize(
    "frame", [pd.DataFrame(ROWS), pl.DataFrame(ROWS), pa.table(ROWS)], ids=["pd", "pl", "pa"]
)
def test_every_library_can_be_asked_for(frame, backend, kind):
    back = Table.encode(frame, SCHEMA).to_frame(backend)

    assert isinstance(back, kind)
    assert pa.table(back)["text"].to_pylist() == ["a", None, "b"]


def test_an_unknown_library_is_refused():
    with pytest.raises(
        InvalidParameterError,
        match=r"'backend' parameter of Table\.to_frame must be one of 'pandas', 'polars'",
    ):
        Table.encode(pa.table(ROWS), SCHEMA).to_frame("modin")


@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_a_library_that_is_not_installed_is_named_with_the_command(package, monkeypatch):
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == package else found(name))
    with pytest.raises(
        MissingExtraError, match=f"needs the package '{package}'. Hint: pip install {package}"
    ):
        Table.encode(pa.table(ROWS), SCHEMA).to_frame(package)


def test_a_library_we_do_not_name_is_reached_through_narwhals(monkeypatch):
    class Reached:
        def __init__(self, table, *, backend):
            self.asked = (table.to_pydict(), backend)

        def to_native(self):
            return self.asked

    monkeypatch.setattr("evenhand.table.frames.nw.DataFrame.from_arrow", Reached)
    frame = native_frame({"a": pa.array([1])}, backend=None, origin=Origin("modin", {}))

    assert frame == ({"a": [1]}, "modin")
