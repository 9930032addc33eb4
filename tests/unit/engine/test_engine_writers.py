"""Rows written in batches are read by any reader as they were, and no spreadsheet runs them."""

import csv
import datetime as dt
import gzip
import io
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evenhand.engine.writers import CsvOut, ParquetOut, as_text
from evenhand.errors import InvalidParameterError


def _written(names, *batches, packed=False):
    file = io.BytesIO()
    out = CsvOut(file, names, packed=packed)
    for batch in batches:
        out.write([pa.array(cells, pa.string()) for cells in batch])
    out.close()
    return gzip.decompress(file.getvalue()) if packed else file.getvalue()


@pytest.mark.parametrize("packed", [False, True])
def test_another_reader_reads_the_cells_that_were_written(packed):
    cells = [["a", "b, c", 'd "e"', "f\ng", "h\r", " i ", "ü", ""], [None, "1", "-2", "", "x", "y", "z", "w"]]
    text = _written(["=one", "two"], cells, [["last"], ["row"]], packed=packed).decode()

    found = list(csv.reader(io.StringIO(text, newline="")))
    assert found[0] == ["'=one", "two"]
    assert found[1:-1] == [[a, b or ""] for a, b in zip(*cells, strict=True)]
    assert found[-1] == ["last", "row"]
    assert not text.endswith("\n\n")


def test_nothing_and_the_empty_text_are_told_apart():
    assert _written(["a", "b"], [[None, ""], ["x", "y"]]) == b'a,b\n,x\n"",y\n'


def test_a_lone_empty_cell_is_no_blank_line():
    """A blank line is skipped by readers, and a person with it."""
    assert _written(["a"], [[None, "x"]]) == b'a\n""\nx\n'


def test_no_rows_leave_a_header():
    assert _written(["a"], [[]]) == b"a\n"


def test_columns_in_the_clear_become_text():
    given = {
        "text": pa.array(["=1+1", "-5", None]),
        "view": pa.array(["@x", "y", ""], pa.string_view()),
        "listed": pa.array(["+x", "y", None]).dictionary_encode(),
        "number": pa.array([1.5, float("nan"), None]),
        "half": pa.array([0.5, float("nan"), None], pa.float16()),
        "time": pa.array([dt.time(1, 2)] * 3),
        "moment": pa.array([dt.datetime(2020, 1, 2, tzinfo=dt.UTC)] * 3),
        "nothing": pa.nulls(3),
        "truth": pa.array([True, False, None]),
        "day": pa.array([dt.date(2020, 1, 2)] * 3),
        "exact": pa.array([Decimal("1.50")] * 3),
    }
    found = {name: as_text(array, name).to_pylist() for name, array in given.items()}

    assert found == {
        "text": ["'=1+1", "-5", None],
        "view": ["'@x", "y", ""],
        "listed": ["'+x", "y", None],
        "number": ["1.5", None, None],
        "half": ["0.5", None, None],
        "time": ["01:02:00.000000"] * 3,
        "moment": ["2020-01-02 00:00:00.000000Z"] * 3,
        "nothing": [None] * 3,
        "truth": ["true", "false", None],
        "day": ["2020-01-02"] * 3,
        "exact": ["1.50"] * 3,
    }


@pytest.mark.parametrize("array", [pa.array([b"=1"]), pa.array([dt.timedelta(1)]), pa.array([[1]])])
def test_what_has_no_text_is_refused_by_the_name_of_its_column(array):
    with pytest.raises(InvalidParameterError, match="column 'c' of another type"):
        as_text(array, "c")


def test_each_batch_of_a_parquet_file_is_a_group_of_rows():
    file = io.BytesIO()
    schema = pa.schema({"a": pa.uint8(), "b": pa.dictionary(pa.int32(), pa.string())})
    out = ParquetOut(file, schema, listed=["a"])
    for letters in ("xy", "", "zzz"):
        listed = pa.array(list(letters), pa.string()).dictionary_encode()
        out.write([pa.array(range(len(letters)), pa.uint8()), listed])
    out.close({"rng": "secure"})

    found = pq.ParquetFile(io.BytesIO(file.getvalue()))
    assert found.read().to_pydict() == {"a": [0, 1, 0, 1, 2], "b": ["x", "y", "z", "z", "z"]}
    assert found.metadata.num_row_groups == 2
    assert found.metadata.metadata[b"rng"] == b"secure"


def test_a_parquet_file_needs_nothing_said_about_it():
    file = io.BytesIO()
    ParquetOut(file, pa.schema({"a": pa.uint8()}), listed=[]).close()

    assert pq.read_table(io.BytesIO(file.getvalue())).num_rows == 0
