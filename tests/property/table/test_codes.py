"""The codes of whole columns are those of the slow, obvious version, in every library."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.schema import Column, Domain, Schema
from evenhand.table import Table
from property._table_reference import MISSING, OUTSIDE, outcome

pytestmark = pytest.mark.figures

INTEGER_TYPES = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
words = st.text(alphabet="abÄ \"',\n=", max_size=3)
near_edges = st.sampled_from(
    [-(2**63), -(2**53) - 1, -129, -1, 0, 1, 2, 127, 128, 255, 256, 2**31, 2**53 + 1, 2**63 - 1]
)
whole = st.one_of(st.integers(-5, 5), near_edges, st.integers(-(2**63), 2**63 - 1))
numbers = st.one_of(st.floats(-3, 3), st.floats(), whole.map(float), st.integers(-3, 3).map(float))


@st.composite
def ranges(draw):
    low = draw(whole)
    return Domain.integers(low, min(low + draw(st.integers(0, 300)), 2**63 - 1))


def categories(values):
    return st.lists(values, min_size=1, max_size=6, unique=True).map(Domain.categorical)


finite = st.one_of(
    st.floats(-3, 3), st.floats(allow_nan=False, allow_infinity=False), st.integers(-3, 3).map(float)
)
bins = st.lists(finite, min_size=2, max_size=60, unique_by=lambda edge: edge + 0.0).map(
    lambda edges: Domain.binned(sorted(edges))
)
number_domains = st.one_of(
    ranges(), categories(whole), categories(finite.map(lambda value: value + 0.0)), bins
)


def code_column(frame, domain):
    """Encode with two different rules, so that the three outcomes can be told apart."""
    column = Column("x", domain, outside="other", nulls="drop")
    table = Table.encode(frame, Schema([column]))
    kept = range(len(table)) if table.kept is None else table.kept.tolist()
    result = [MISSING] * len(frame)
    for place, code in zip(kept, table["x"].tolist(), strict=True):
        result[place] = OUTSIDE if code == column.other_code else code
    return result


def arrow(values, kind=None):
    return pa.table({"x": pa.array(values, kind)})


@given(st.lists(st.one_of(st.none(), words), max_size=12), categories(words))
def test_text_gets_the_codes_of_the_obvious_version(values, domain):
    """A category that gets a neighbour's code moves a person into another group."""
    expected = [outcome(value, domain) for value in values]

    for kind in (pa.string(), pa.large_string(), pa.string_view()):
        assert code_column(arrow(values, kind), domain) == expected
    assert code_column(pa.table({"x": pa.array(values, pa.string()).dictionary_encode()}), domain) == expected
    assert code_column(pd.DataFrame({"x": pd.Series(values, dtype=object)}), domain) == expected
    assert code_column(pd.DataFrame({"x": pd.Series(values, dtype="str")}), domain) == expected
    assert (
        code_column(pd.DataFrame({"x": pd.Series(values, dtype=object).astype("category")}), domain)
        == expected
    )
    assert code_column(pl.DataFrame({"x": pl.Series(values, dtype=pl.String)}), domain) == expected
    assert code_column(pl.DataFrame({"x": pl.Series(values, dtype=pl.Categorical)}), domain) == expected


@settings(max_examples=2 * settings.default.max_examples)
@given(st.sampled_from(INTEGER_TYPES), st.data(), number_domains)
def test_whole_numbers_of_every_width_get_the_codes_of_the_obvious_version(name, data, domain):
    """Arithmetic that wraps around would put the largest number next to the smallest."""
    bounds = np.iinfo(name)
    inside = st.one_of(whole, st.integers(int(bounds.min), int(bounds.max))).filter(
        lambda value: bounds.min <= value <= bounds.max
    )
    values = data.draw(st.lists(st.one_of(st.none(), inside), max_size=12))
    expected = [outcome(value, domain) for value in values]

    assert code_column(arrow(values, pa.type_for_alias(name)), domain) == expected


@given(st.lists(st.one_of(st.none(), numbers), max_size=12), number_domains)
def test_floating_point_numbers_get_the_codes_of_the_obvious_version(values, domain):
    """A rounded number must not become the code of a whole number it never was."""
    expected = [outcome(value, domain) for value in values]

    assert code_column(arrow(values, pa.float64()), domain) == expected
    assert code_column(pd.DataFrame({"x": pd.Series(values, dtype="float64")}), domain) == expected
    assert code_column(pl.DataFrame({"x": pl.Series(values, dtype=pl.Float64)}), domain) == expected


anything = st.one_of(st.none(), words, st.booleans(), whole, numbers, st.decimals(-9, 9, places=2))


@given(
    st.lists(anything, max_size=12),
    st.one_of(number_domains, categories(words), st.just(Domain.categorical([True, False]))),
)
def test_mixed_objects_get_the_codes_of_the_obvious_version(values, domain):
    """A column of Python objects may hold anything, and each value is taken for what it is."""
    expected = [outcome(value, domain) for value in values]

    assert code_column(pd.DataFrame({"x": pd.Series(values, dtype=object)}), domain) == expected
    assert code_column(pl.DataFrame({"x": pl.Series(values, dtype=pl.Object)}), domain) == expected


@given(st.lists(st.one_of(st.none(), st.decimals(-9, 9, places=2)), max_size=12), number_domains)
def test_decimals_get_the_codes_of_the_obvious_version(values, domain):
    expected = [outcome(value, domain) for value in values]

    for kind in (pa.decimal32(9, 2), pa.decimal64(18, 2), pa.decimal128(38, 2), pa.decimal256(40, 2)):
        assert code_column(arrow(values, kind), domain) == expected


@given(st.lists(st.one_of(st.none(), st.booleans()), max_size=12), st.permutations([True, False]))
def test_truth_values_get_the_codes_of_the_obvious_version(values, order):
    domain = Domain.categorical(order)
    expected = [outcome(value, domain) for value in values]

    assert code_column(arrow(values, pa.bool_()), domain) == expected
    assert code_column(pd.DataFrame({"x": pd.Series(values, dtype="boolean")}), domain) == expected
    assert code_column(pl.DataFrame({"x": pl.Series(values, dtype=pl.Boolean)}), domain) == expected


def test_the_comparison_can_see_numbers_merged_by_rounding():
    """The twin: a version that rounds to 64-bit floating point is told apart."""
    domain = Domain.categorical([2**53])
    rounded = [0 if float(value) == float(2**53) else OUTSIDE for value in (2**53, 2**53 + 1)]

    assert rounded != [outcome(value, domain) for value in (2**53, 2**53 + 1)]
    assert code_column(arrow([2**53, 2**53 + 1]), domain) == [0, OUTSIDE]


@given(st.lists(st.one_of(st.none(), words, words), max_size=40), st.integers(1, 7))
def test_how_a_column_is_cut_does_not_matter(values, size):
    """Codes must not depend on how a library happened to store the rows."""
    domain = Domain.categorical(["a", "b", ""])
    whole_array = pa.array(values, pa.string())
    chunks = [whole_array.slice(start, size) for start in range(0, len(values), size)]
    expected = [outcome(value, domain) for value in values]

    assert code_column(pa.table({"x": pa.chunked_array(chunks, pa.string())}), domain) == expected
    encoded = [chunk.dictionary_encode() for chunk in chunks]
    kind = pa.dictionary(pa.int32(), pa.string())
    assert code_column(pa.table({"x": pa.chunked_array(encoded, kind)}), domain) == expected
