"""An inferred schema fits the rows it was read from, and says nothing else about them."""

import re
import warnings

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from evenhand.errors import DomainInferredWarning
from evenhand.schema import Schema
from evenhand.table import Table

pytestmark = pytest.mark.figures

FEWER = settings(
    max_examples=settings().max_examples // 2
)  # four libraries each time; nightly there are 5,000

KINDS = {
    "text": (st.text(max_size=5), pa.string()),
    "whole": (st.integers(-(2**61), 2**61), pa.int64()),
    "few": (st.integers(-3, 3), pa.int64()),
    "number": (st.floats(allow_nan=False, allow_infinity=False), pa.float64()),
    "short number": (st.floats(allow_nan=False, allow_infinity=False, width=32), pa.float32()),
    "truth": (st.booleans(), pa.bool_()),
}


@st.composite
def frames(draw):
    """Return an Arrow table with a value or a gap in every row, and a value in the first."""
    rows = draw(st.integers(1, 30))
    columns = {}
    for name in draw(st.lists(st.sampled_from(sorted(KINDS)), min_size=1, unique=True)):
        values, kind = KINDS[name]
        gaps = st.none() if draw(st.booleans()) else st.nothing()
        first, others = draw(values), draw(st.lists(values | gaps, min_size=rows - 1, max_size=rows - 1))
        columns[name] = pa.array([first, *others], kind)
    return pa.table(columns)


def _inferred(frame):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        schema = Schema.infer(frame)
    return schema, [str(each.message) for each in caught if each.category is DomainInferredWarning]


@FEWER
@given(frames())
def test_the_rows_fit_the_schema_that_was_read_from_them(frame):
    """A domain that is too narrow would refuse the very data it was read from."""
    schema, _ = _inferred(frame)
    table = Table.encode(frame, schema)

    assert len(table) == frame.num_rows
    for column in schema:
        missing = [value is None for value in frame[column.name].to_pylist()]
        codes = table[column.name].tolist()
        assert [code == column.other_code for code in codes] == missing
        assert column.has_other == any(missing)


@FEWER
@given(frames())
def test_every_library_gives_the_same_schema(frame):
    schemas = [
        _inferred(each)[0]
        for each in (frame, pl.DataFrame(frame), frame.to_pandas(types_mapper=pd.ArrowDtype))
    ]

    assert schemas[0] == schemas[1] == schemas[2]


@FEWER
@given(frames(), st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(frame, rng):
    order = list(range(frame.num_rows))
    rng.shuffle(order)

    assert _inferred(frame.take(order)) == _inferred(frame)


@given(st.lists(st.integers(10**6, 10**9).map(lambda number: f"secret {number}"), min_size=1, max_size=30))
@example(["secret 1000000"])
def test_the_warning_holds_no_value(values):
    schema, messages = _inferred(pl.DataFrame({"x": values, "y": [float(value[7:]) for value in values]}))

    assert len(messages) == 1
    assert re.search(r"secret|\d", messages[0]) is None
    assert schema.names == ("x", "y")
