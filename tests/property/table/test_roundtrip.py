"""What goes into a table comes out of it, in the library and the types that went in."""

import decimal

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pandas.testing import assert_frame_equal as same_pandas
from polars.testing import assert_frame_equal as same_polars

from evenhand.schema import Column, Domain, Schema
from evenhand.table import Table

pytestmark = pytest.mark.figures

FEWER = settings(
    max_examples=settings().max_examples // 2
)  # a frame in every type takes long to draw; nightly there are 5,000

WORDS = ["", "1", "a", "ä", "=x", "true"]
SCHEMA = Schema(
    [
        Column("text", Domain.categorical(WORDS), nulls="other"),
        Column("whole", Domain.integers(-3, 2**53 + 1)),
        Column("listed", Domain.categorical([7, 1, 2**62])),
        Column("truth", Domain.categorical([True, False])),
        Column("number", Domain.categorical([0.1, 1.0, -2.5])),
    ]
)


@st.composite
def rows(draw):
    length = draw(st.integers(0, 8))

    def some(values):
        return draw(st.lists(st.sampled_from(values), min_size=length, max_size=length))

    return {
        "text": some([*WORDS, None]),
        "whole": some([-3, 0, 2**53, 2**53 + 1]),
        "listed": some([7, 1, 2**62]),
        "truth": some([True, False]),
        "number": some([0.1, 1.0, -2.5]),
    }


@FEWER
@given(rows())
def test_an_arrow_table_comes_back_as_it_was(columns):
    """Types count too: text that looks like a number must stay text."""
    kinds = [pa.string(), pa.int64(), pa.int64(), pa.bool_(), pa.float64()]
    frame = pa.table({name: pa.array(columns[name], kind) for name, kind in zip(columns, kinds, strict=True)})
    back = Table.encode(frame, SCHEMA).to_frame()

    assert back.schema == frame.schema
    assert back.to_pydict() == frame.to_pydict()


@FEWER
@given(rows(), st.sampled_from(["large_string", "string_view", "dictionary", "narrow"]))
def test_an_arrow_table_of_other_types_comes_back_as_it_was(columns, form):
    kinds = {
        "large_string": [pa.large_string(), pa.int64()],
        "string_view": [pa.string_view(), pa.uint64()],
        "dictionary": [pa.dictionary(pa.int8(), pa.string()), pa.decimal128(38, 2)],
        "narrow": [pa.string(), pa.int64()],
    }[form]
    whole = [abs(value) for value in columns["whole"]]
    frame = pa.table(
        {"text": pa.array(columns["text"], kinds[0]), "whole": pa.array(whole, pa.int64()).cast(kinds[1])}
    )
    back = Table.encode(frame, SCHEMA, columns=["text", "whole"]).to_frame()

    assert back.schema == frame.schema
    assert back.to_pydict() == frame.to_pydict()


@FEWER
@given(rows(), st.sampled_from(["str", "object", "category"]), st.sampled_from(["int64", "Int64", "object"]))
def test_a_pandas_frame_comes_back_as_it_was(columns, text, whole):
    frame = pd.DataFrame(
        {
            "text": pd.Series(columns["text"], dtype=object).astype(text),
            "whole": pd.Series(columns["whole"], dtype=whole),
            "listed": pd.Series(columns["listed"], dtype="int64"),
            "truth": pd.Series(columns["truth"], dtype="bool"),
            "number": pd.Series(columns["number"], dtype="float64"),
        }
    )

    same_pandas(Table.encode(frame, SCHEMA).to_frame(), frame)


@FEWER
@given(
    rows(),
    st.sampled_from([pl.String, pl.Categorical, pl.Enum(WORDS)]),
    st.sampled_from([pl.Int64, pl.Decimal(38, 0)]),
)
def test_a_polars_frame_comes_back_as_it_was(columns, text, whole):
    whole_values = columns["whole"] if whole is pl.Int64 else list(map(decimal.Decimal, columns["whole"]))
    frame = pl.DataFrame(
        {
            "text": pl.Series(columns["text"], dtype=text),
            "whole": pl.Series(whole_values, dtype=whole),
            "listed": pl.Series(columns["listed"], dtype=pl.Int64),
            "truth": pl.Series(columns["truth"], dtype=pl.Boolean),
            "number": pl.Series(columns["number"], dtype=pl.Float64),
        }
    )

    same_polars(Table.encode(frame, SCHEMA).to_frame(), frame)


@FEWER
@given(rows())
def test_a_table_goes_out_to_every_library_with_the_same_values(columns):
    table = Table.encode(pa.table(columns), SCHEMA, columns=["whole", "truth"])

    assert table.to_frame("polars").to_dict(as_series=False) == table.to_frame("pyarrow").to_pydict()
    assert table.to_frame("pandas").to_dict(orient="list") == table.to_frame("pyarrow").to_pydict()


@FEWER
@given(rows())
def test_codes_that_are_decoded_and_encoded_again_are_the_same_codes(columns):
    table = Table.encode(pa.table(columns), SCHEMA, columns=["text", "listed"])
    again = Table.encode(table.to_frame("pandas"), SCHEMA, columns=["text", "listed"])

    assert {name: codes.tolist() for name, codes in again.codes.items()} == {
        name: codes.tolist() for name, codes in table.codes.items()
    }
