"""A file read in batches is the file: same rows, same refusals, less memory."""

import gzip
import io

import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq
import pytest

from evenhand.errors import InvalidParameterError, LimitExceededError, UnreadableFileError
from evenhand.schema import Column, Domain, Schema
from evenhand.table import Limits, read
from evenhand.table.csv.read import CsvBatches
from evenhand.table.limits import STREAM_LIMITS
from evenhand.table.parquet import read as parquet_read
from evenhand.table.read import file_columns, file_form, open_batches, read_batches
from evenhand.table.source import Source

ROWS = 3_000
TABLE = pa.table(
    {
        "text": ["a", "b, c", 'd"', "ü\nx", None] * (ROWS // 5),
        "large": pa.array([f"row {place}" for place in range(ROWS)], pa.large_string()),
        "view": pa.array(["v", None, "w"] * (ROWS // 3), pa.string_view()),
        "labelled": pa.array(["x", None, "y"] * (ROWS // 3)).dictionary_encode(),
        "number": pa.array(range(ROWS)),
        "truth": [True, None, False] * (ROWS // 3),
        "nothing": pa.nulls(ROWS),
    }
)
SCHEMA = Schema([Column("zip", Domain.categorical(["01", "02"])), Column("age", Domain.integers(0, 99))])


@pytest.fixture
def parquet(tmp_path):
    path = tmp_path / "people.parquet"
    pq.write_table(TABLE, path, row_group_size=1_100)
    return path


@pytest.fixture
def csv(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("zip,age,note\n" + '01,07,x\n02,?,\n\n,12,""\n' * 400)
    return path


def _rows(batches):
    return [row for batch in batches for row in batch.to_pylist()]


def _broken(*_, **__):
    raise pa.ArrowInvalid("a message of the parser")


# --- the same rows ------------------------------------------------------------------------------


@pytest.mark.parametrize("batch_rows", [1, 7, 1_000, 100_000])
def test_batches_of_a_parquet_file_are_its_rows(parquet, batch_rows):
    if batch_rows == 1:
        pq.write_table(TABLE.slice(0, 40), parquet)
    found = list(read_batches(parquet, batch_rows=batch_rows))

    assert _rows(found) == pq.read_table(parquet).to_pylist()
    assert max(batch.num_rows for batch in found) <= batch_rows
    assert len({batch.schema for batch in found}) == 1


@pytest.mark.parametrize(
    "settings", [{"use_dictionary": False}, {"data_page_version": "2.0"}, {"compression": None}]
)
def test_every_way_to_store_the_rows_is_read(parquet, settings):
    pq.write_table(TABLE, parquet, row_group_size=700, **settings)

    assert _rows(read_batches(parquet, batch_rows=500)) == TABLE.to_pylist()


@pytest.mark.parametrize("batch_rows", [1, 7, 500, 100_000])
def test_batches_of_a_csv_file_are_its_rows(csv, batch_rows):
    found = list(read_batches(csv, schema=SCHEMA, batch_rows=batch_rows, columns=["zip", "age"]))

    assert _rows(found) == read(csv, schema=SCHEMA).to_pylist()
    assert [batch.num_rows for batch in found[:-1]] == [batch_rows] * (len(found) - 1)


def test_columns_without_a_domain_are_text_as_it_stands(csv):
    """Numbers and blanks of a column in the clear must come out as they went in."""
    first = _rows(read_batches(csv, schema=SCHEMA.select(["age"])))[:3]

    assert first == [
        {"zip": "01", "age": 7, "note": "x"},
        {"zip": "02", "age": -(2**63), "note": None},
        {"zip": None, "age": 12, "note": ""},
    ]


def test_a_long_csv_file_is_cut_by_bytes_too(tmp_path, monkeypatch):
    """Long rows must not wait for their number: memory is what counts."""
    monkeypatch.setattr("evenhand.table.csv.read._BATCH_BYTES", 1 << 20)
    path = tmp_path / "long.csv"
    path.write_text("a,b\n" + f"{'x' * 4_000},y\n" * 2_000)

    sizes = [batch.num_rows for batch in read_batches(path)]
    assert sum(sizes) == 2_000
    assert len(sizes) > 2


def test_a_gzipped_csv_file_is_read(csv, tmp_path):
    packed = tmp_path / "people.csv.gz"
    packed.write_bytes(gzip.compress(csv.read_bytes()))

    assert _rows(read_batches(packed)) == _rows(read_batches(csv))


@pytest.mark.parametrize("name", ["empty.csv", "empty.parquet"])
def test_a_file_without_rows_has_no_batches_but_types(tmp_path, name):
    path = tmp_path / name
    nothing = pa.table({"age": pa.array([], pa.int64())})
    (arrow_csv.write_csv if name.endswith("csv") else pq.write_table)(nothing, path)

    with open_batches(path, schema=SCHEMA.select(["age"])) as batches:
        assert batches.schema.field("age").type == pa.int64()
        assert list(batches) == []
        assert batches.share_read == 1.0


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_how_far_it_has_come_is_said(form, csv, parquet):
    path = {"csv": csv, "parquet": parquet}[form]
    with open_batches(path, batch_rows=300) as batches:
        shares = [batches.share_read for _ in batches]

    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert file_columns(path) == tuple(batches.schema.names)


def test_text_stored_as_a_list_of_values_is_not_written_out(tmp_path):
    """A kilobyte that unfolds into gigabytes must stay a kilobyte."""
    path = tmp_path / "bomb.parquet"
    places = pa.array([0] * 50_000, pa.int32())
    folded = pa.DictionaryArray.from_arrays(places, pa.array(["x" * 60_000]))
    pq.write_table(pa.table({"a": folded}), path, store_schema=False)

    batches = list(read_batches(path))
    assert sum(batch.num_rows for batch in batches) == 50_000
    assert sum(batch.nbytes for batch in batches) < 4_000_000


def test_where_rows_are_long_a_batch_has_fewer(tmp_path):
    """The longest page decides: the mean of a file says nothing about its worst place."""
    path = tmp_path / "skewed.parquet"
    rows = ["x"] * 200_000 + ["y" * 60_000] * 700
    pq.write_table(
        pa.table({"a": rows}), path, use_dictionary=False, data_page_size=1 << 16, compression="zstd"
    )

    assert max(batch.nbytes for batch in read_batches(path, batch_rows=1 << 20)) < 40 << 20


# --- the same refusals --------------------------------------------------------------------------


def test_pages_that_do_not_fit_side_by_side_are_refused(parquet, monkeypatch):
    monkeypatch.setattr(parquet_read, "_MOST_PAGE_BYTES", 1_000)

    with pytest.raises(UnreadableFileError, match="side by side"):
        list(read_batches(parquet))


def test_limits_hold(csv, parquet):
    for path in (csv, parquet):
        with pytest.raises(LimitExceededError):
            list(read_batches(path, limits=Limits(bytes=1_000)))
        with pytest.raises(LimitExceededError):
            list(read_batches(path, limits=Limits(columns=2)))
        assert list(read_batches(path, limits=STREAM_LIMITS))


@pytest.mark.parametrize("settings", [{}, {"use_dictionary": False}])
def test_a_long_field_is_refused(tmp_path, settings):
    path = tmp_path / "long.parquet"
    pq.write_table(pa.table({"a": ["x" * 70_000]}), path, **settings)

    with pytest.raises(LimitExceededError, match="a field is longer"):
        list(read_batches(path, limits=STREAM_LIMITS))


def test_columns_that_are_not_there_are_refused(csv, parquet):
    for path in (csv, parquet):
        with pytest.raises(UnreadableFileError, match="none of its columns is called 'wage'"):
            list(read_batches(path, columns=["wage"]))
        wider = Schema([*SCHEMA, Column("wage", Domain.integers(0, 9))])
        with pytest.raises(UnreadableFileError, match="none of its columns is called"):
            list(read_batches(path, schema=wider))


def test_a_broken_row_far_inside_is_found_when_it_is_reached(csv):
    with csv.open("a") as file:
        file.write("01,1\n")
    batches = read_batches(csv, batch_rows=100)
    with pytest.raises(UnreadableFileError, match="has 2 fields"):
        list(batches)


def test_a_damaged_page_is_found_when_it_is_reached(parquet):
    pq.write_table(TABLE, parquet, row_group_size=500, write_page_checksum=True, compression=None)
    data = bytearray(parquet.read_bytes())
    place = data.rindex(b"row 2990")
    data[place] ^= 1
    parquet.write_bytes(bytes(data))
    batches = read_batches(parquet, batch_rows=500)

    assert next(batches).num_rows == 500
    with pytest.raises(UnreadableFileError, match="cannot be unpacked"):
        list(batches)


def test_a_file_that_cannot_even_be_opened_again_is_refused(parquet, monkeypatch):
    with open_batches(parquet) as batches:
        monkeypatch.setattr(parquet_read, "_open", _broken)
        with pytest.raises(UnreadableFileError, match="cannot be unpacked"):
            list(batches)


def test_fewer_rows_than_declared_are_refused(parquet):
    with open_batches(parquet) as batches:
        batches.rows += 1
        with pytest.raises(UnreadableFileError, match="does not hold the rows"):
            list(batches)


@pytest.mark.parametrize(
    ("given", "parameter"),
    [({"batch_rows": 0}, "batch_rows"), ({"batch_rows": 1 << 40}, "batch_rows"), ({"schema": "x"}, "schema")],
)
def test_wrong_parameters_are_refused(csv, given, parameter):
    with pytest.raises(InvalidParameterError, match=f"The '{parameter}' parameter of read_batches"):
        list(read_batches(csv, **given))


@pytest.mark.parametrize("path", ["people.ods", 7, io.BytesIO()])
def test_another_form_of_file_is_refused(path):
    with pytest.raises(InvalidParameterError, match=r"must be a path that ends with \.csv"):
        file_form(path, owner="test")


def test_a_stream_of_unknown_size_has_no_share(csv):
    with csv.open("rb") as stream:
        source = Source("x.csv", stream, None)
        batches = CsvBatches(source, STREAM_LIMITS, schema=None, columns=None, batch_rows=10, owner="test")

        assert batches.share_read == 1.0
