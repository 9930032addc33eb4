"""The page on special values is true: each of its cells is tried at every entry point."""

import csv
import datetime  # noqa: F401, ICN001 - used by the values of the page
import functools
import io
import pathlib
from contextlib import suppress
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evenhand.schema import Column, Domain, Schema
from evenhand.table import Table, read_csv, read_parquet

TABLES = pathlib.Path(__file__).parents[3] / "docs" / "background" / "special-values"
DOMAINS = {
    "text": Domain.categorical(["", "1", "a", "true"]),
    "whole numbers": Domain.integers(-(2**62), 2**53 + 1),
    "truth values": Domain.categorical([False, True]),
    "numbers": Domain.categorical([0.0, 1.0, 1.5, 1e308, 5e-324]),
    "bins": Domain.binned([0, 1, 2, 1e308]),
}


def rows_of_table(name):
    """Return the rows of a table of the page: the value as it is written, the domain, and the outcome."""
    with (TABLES / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        (_, *domains), *rows = csv.reader(file)
    for written, *outcomes in rows:
        value = written.strip(" ")[1:-1] if written.strip(" ") != "``" else ""
        for domain, outcome in zip(domains, outcomes, strict=True):
            yield value, domain, outcome


def column_of(name):
    """The two rules differ, so that the three outcomes can be told apart."""
    return Column("x", DOMAINS[name], outside="other", nulls="drop")


def outcome_of(frame, name):
    column = column_of(name)
    table = Table.encode(frame, Schema([column]))
    if len(table) == 0:
        return "missing"
    return "outside" if table["x"][0] == column.other_code else "in"


def arrow_arrays(value):
    with suppress(pa.ArrowException, OverflowError):
        yield pa.array([value])
    if isinstance(value, int) and not isinstance(value, bool):
        with suppress(pa.ArrowException, OverflowError):
            yield pa.array([value], pa.uint64())
    if isinstance(value, str):
        yield from (pa.array([value], kind()) for kind in (pa.large_string, pa.string_view))
    if isinstance(value, float) and abs(value) < 2**24 and float(np.float32(value)) == value:
        yield pa.array([value], pa.float32())


@functools.cache
def frames_with(written):
    """Return one-row frames with the value in every library and type that can hold it."""
    return dict(_frames_with(eval(written)))


def _frames_with(value):
    yield "pandas object", pd.DataFrame({"x": pd.Series([value], dtype=object)})
    yield "pandas", pd.DataFrame({"x": pd.Series([value])})
    with suppress(TypeError):
        yield "pandas category", pd.DataFrame({"x": pd.Series([value], dtype=object).astype("category")})
    yield "polars object", pl.DataFrame({"x": pl.Series([value], dtype=pl.Object)})
    if not (isinstance(value, Decimal) and value.is_nan()):  # Polars has none
        yield "polars", pl.DataFrame({"x": pl.Series([value])})
    for array in arrow_arrays(value):
        yield f"arrow {array.type}", pa.table({"x": array})
        yield f"chunked {array.type}", pa.table({"x": pa.chunked_array([array.slice(0, 0), array])})
        with suppress(pa.ArrowException):
            yield f"dictionary {array.type}", pa.table({"x": array.dictionary_encode()})
        if not pa.types.is_nested(array.type):
            file = io.BytesIO()
            pq.write_table(pa.table({"x": array}), file)
            yield f"parquet {array.type}", read_parquet(io.BytesIO(file.getvalue()))


@pytest.mark.parametrize(("written", "name", "outcome"), list(rows_of_table("frame")))
def test_a_value_of_a_frame_has_the_documented_outcome_in_every_library(written, name, outcome):
    """A value that is coded in one library and refused in another makes results depend on the tool."""
    actual = {source: outcome_of(frame, name) for source, frame in frames_with(written).items()}

    assert actual == dict.fromkeys(actual, outcome)
    assert len(actual) >= 4


@pytest.mark.parametrize(("cell", "name", "outcome"), list(rows_of_table("csv")))
def test_a_cell_of_a_csv_file_has_the_documented_outcome(cell, name, outcome):
    """Reading must not depend on what is in a cell: the rule decides later."""
    schema = Schema([column_of(name)])
    file = f"x,y\n{cell},1\n".encode()

    assert outcome_of(read_csv(io.BytesIO(file), schema=schema), name) == outcome


@pytest.mark.parametrize(
    ("written", "name"),
    [
        (written, name)
        for written, name, outcome in rows_of_table("frame")
        if outcome == "in" and name != "bins"
    ],
)
def test_a_value_that_is_in_comes_back_equal(written, name):
    """A code that stands for another value than the one that came in is a silent change of data."""
    value = eval(written)
    table = Table.encode(pd.DataFrame({"x": pd.Series([value], dtype=object)}), Schema([column_of(name)]))
    back = table.decode("x")[0].as_py()

    assert back == (value if name != "truth values" else {"true": True, "FALSE": False}.get(value, value))


def test_the_page_has_all_special_values_that_are_asked_for():
    values = {value for value, _, _ in rows_of_table("frame")}

    assert len(values) == 38
    assert len({cell for cell, _, _ in rows_of_table("csv")}) == 42


def test_the_check_of_the_page_can_see_a_wrong_cell():
    """The twin: one outcome of the page turned around is noticed."""
    actual = {source: outcome_of(frame, "whole numbers") for source, frame in frames_with("True").items()}

    assert actual != dict.fromkeys(actual, "in")
