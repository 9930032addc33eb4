"""A column is cut into pieces and never copied whole."""

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from evenhand.table.column_codes import Labelled, count_rows, pieces


def cut(series, rows):
    return list(pieces(nw.from_native(series, series_only=True), rows))


@pytest.mark.parametrize(
    "series",
    [pd.Series(range(10)), pl.Series(range(10)), pa.chunked_array([range(10)])],
    ids=["pd", "pl", "pa"],
)
def test_pieces_have_at_most_the_rows_asked_for(series):
    parts = cut(series, 4)

    assert [count_rows(part) for part in parts] == [4, 4, 2]
    assert [value for part in parts for value in part.to_pylist()] == list(range(10))


def test_an_arrow_column_is_cut_without_a_copy():
    array = pa.array(range(1_000))
    address = array.buffers()[1].address

    assert {part.buffers()[1].address for part in cut(pa.chunked_array([array]), 100)} == {address}


def test_a_long_list_of_categories_is_gone_through_once_for_a_long_piece():
    array = pa.array([str(place) for place in range(500)]).dictionary_encode()

    assert [len(part) for part in cut(pa.chunked_array([array]), 10)] == [500]


def test_a_pandas_categorical_is_places_in_a_list():
    (piece,) = cut(pd.Series(["b", None, "a"], dtype="category"), 10)

    assert isinstance(piece, Labelled)
    assert count_rows(piece) == 3
    assert piece.places.tolist() == [1, -1, 0]
    assert piece.categories.to_pylist() == ["a", "b"]


@pytest.mark.parametrize(
    ("series", "values"),
    [
        (pd.Series([1, "a"], dtype=object), [1, "a"]),
        (pd.Series(["\ud800"], dtype=object), ["\ud800"]),
        (pd.Series([1 + 2j]), [1 + 2j]),
        (pd.Series(pd.arrays.SparseArray([1, 0])), [1, 0]),
        (pd.Series(np.array([1], ">i8")), [1]),
        (pl.Series([2**100], dtype=pl.Int128), [2**100]),
        (pl.Series([{1}], dtype=pl.Object), [{1}]),
    ],
)
def test_what_arrow_has_no_type_for_comes_as_objects(series, values):
    (piece,) = cut(series, 10)

    assert isinstance(piece, np.ndarray)
    assert piece.tolist() == values


def test_text_in_pandas_objects_comes_as_text():
    (piece,) = cut(pd.Series(["a", None, float("nan")], dtype=object), 10)

    assert piece.to_pylist() == ["a", None, None]
    assert piece.type == pa.large_string()
