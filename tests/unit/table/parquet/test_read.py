"""Parquet files become Arrow tables with the types they declare."""

import base64
import datetime as dt
import io
from decimal import Decimal

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from attacks import _parquet_forge as forge
from evenhand.errors import ColumnNotFoundError, UnreadableFileError
from evenhand.schema import Column, Domain, Schema
from evenhand.table import Limits, Table, read_parquet
from evenhand.table.parquet.footer import ColumnPlan, write_without_categories
from evenhand.table.parquet.read import _groups
from evenhand.table.source import Source

TABLE = pa.table(
    {
        "text": ["a", "", None, "ü"] * 50,
        "large": pa.array(["x", "y"] * 100, pa.large_string()),
        "view": pa.array(["v", None] * 100, pa.string_view()),
        "labelled": pa.array(["x", None] * 100).dictionary_encode(),
        "bytes": pa.array([b"x"] * 200),
        "small": pa.array(range(200), pa.uint8()),
        "whole": range(200),
        "half": pa.array([0.5] * 200, pa.float16()),
        "number": [0.5, None] * 100,
        "truth": [True, None] * 100,
        "day": [dt.date(2020, 1, 1)] * 200,
        "time": [dt.datetime(2020, 1, 1, tzinfo=dt.UTC)] * 200,
        "exact": [Decimal("1.50")] * 200,
        "nothing": pa.nulls(200),
    }
)


def written(table=TABLE, **settings):
    file = io.BytesIO()
    pq.write_table(table, file, **settings)
    return io.BytesIO(file.getvalue())


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"compression": "zstd", "data_page_version": "2.0"},
        {"use_dictionary": False},
        {"row_group_size": 7},
        {"compression": "gzip", "write_page_checksum": True},
        {"compression": "brotli"},
        {"compression": "lz4"},
        {"data_page_size": 10, "write_batch_size": 3},
        {"dictionary_pagesize_limit": 5},
    ],
)
def test_what_pyarrow_writes_is_read_as_it_was(settings):
    back = read_parquet(written(**settings))

    assert back.schema.equals(TABLE.schema, check_metadata=True)
    assert back.equals(TABLE)


def test_what_polars_writes_is_read_as_it_was():
    frame = pl.from_arrow(TABLE.drop_columns(["half", "nothing"]))
    file = io.BytesIO()
    frame.write_parquet(file)

    assert pl.from_arrow(read_parquet(io.BytesIO(file.getvalue()))).equals(
        frame.with_columns(pl.col("labelled").cast(pl.String)), null_equal=True
    )


def test_an_empty_table_keeps_its_types():
    back = read_parquet(written(TABLE.slice(0, 0)))

    assert back.schema.types == TABLE.schema.types
    assert back.num_rows == 0
    assert read_parquet(written(pa.table({}))).num_columns == 0


def test_only_the_columns_asked_for_are_read():
    schema = Schema(
        [
            Column("whole", Domain.integers(0, 500)),
            Column("text", Domain.categorical(["a", "", "ü"]), nulls="other"),
        ]
    )

    assert read_parquet(written(), columns=["day", "text"]).column_names == ["day", "text"]
    assert read_parquet(written(), schema=schema).column_names == ["whole", "text"]
    assert len(Table.encode(read_parquet(written(), schema=schema), schema)) == 200
    with pytest.raises(ColumnNotFoundError):
        read_parquet(written(), schema=schema, columns=["day"])
    with pytest.raises(UnreadableFileError, match="none of its columns is called 'gone'"):
        read_parquet(written(), columns=["gone"])


def test_nested_columns_that_are_not_asked_for_do_no_harm():
    table = pa.table(
        {
            "list": [[1], [2, 3]],
            "record": [{"a": 1, "b": "x"}] * 2,
            "map": pa.array([[("k", 1)]] * 2, pa.map_(pa.string(), pa.int64())),
            "flat": [1, 2],
        }
    )

    assert read_parquet(written(table), columns=["flat"]).to_pydict() == {"flat": [1, 2]}
    for place, name in enumerate(["list", "record", "map"], start=1):
        with pytest.raises(
            UnreadableFileError, match=f"column {place} holds lists, records or a type of its own"
        ):
            read_parquet(written(table), columns=[name])


def test_extension_types_are_refused():
    """A type that is defined elsewhere may bring code of its own."""
    table = pa.table({"id": pa.array([b"x" * 16], pa.uuid()), "flat": [1]})

    assert read_parquet(written(table), columns=["flat"]).to_pydict() == {"flat": [1]}
    with pytest.raises(UnreadableFileError, match="column 1 holds lists, records or a type of its own"):
        read_parquet(written(table))


def test_names_are_checked():
    twice = pa.table([pa.array([1]), pa.array([2])], names=["a", "a"])

    with pytest.raises(UnreadableFileError, match="columns 1 and 2 have the same name"):
        read_parquet(written(twice))
    with pytest.raises(UnreadableFileError, match="column 1 has no name"):
        read_parquet(written(pa.table({"": [1]})))
    assert read_parquet(written(pa.table({"a.b": [1], "a": [2]})), columns=["a"]).to_pydict() == {"a": [2]}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "it is not a Parquet file."),
        (b"a,b\n1,2\n3,4\n5,6\n", "it is not a Parquet file."),
        (written().getvalue()[:-1], "it is damaged or cut off: it does not end like a Parquet file."),
        (written().getvalue()[:900], "it is damaged or cut off: it does not end like a Parquet file."),
        (
            b"PAR1" + b"\xff\xff\xff\x7f" + b"PAR1",
            "it is damaged or cut off: its description is longer than the file.",
        ),
        (b"PAR1" + b"\xff" * 20 + b"\x14\0\0\0PAR1", "its description is damaged or has too many parts."),
        (b"PAR1" + b"\0" * 20 + b"\x14\0\0\0PAR1", "its description is damaged: it contradicts itself."),
    ],
)
def test_what_is_no_parquet_file_is_told(data, message):
    with pytest.raises(UnreadableFileError) as caught:
        read_parquet(io.BytesIO(data))

    assert str(caught.value) == f"The buffer was not read: {message}"


def test_an_encrypted_column_is_refused():
    chunk = forge.structure({2: forge.i64(4)})[1]
    group = forge.structure({1: forge.listing(12, [chunk]), 2: forge.i64(0), 3: forge.i64(1)})[1]
    data = forge.closed(b"", schema=[(b"a", forge.INT32)], groups=[group], rows=1)
    with pytest.raises(UnreadableFileError, match="its description is damaged, or it is encrypted"):
        read_parquet(io.BytesIO(data))


def test_a_description_that_arrow_cannot_read_is_told():
    data = forge.closed(b"", schema=[(b"\xff", 99)], groups=[], rows=0)
    with pytest.raises(UnreadableFileError, match="description is damaged"):
        read_parquet(io.BytesIO(data))


def test_a_description_that_can_be_read_in_two_ways_is_refused(monkeypatch):
    from evenhand.table.parquet import read as parquet_read

    real = parquet_read.read_footer
    monkeypatch.setattr(parquet_read, "read_footer", lambda *given: real(*given)._replace(rows=7))
    with pytest.raises(UnreadableFileError, match="it can be read in two ways"):
        read_parquet(written())


def test_a_group_with_too_few_columns_is_refused():
    group = forge.structure({1: forge.listing(12, []), 2: forge.i64(0), 3: forge.i64(1)})[1]
    with pytest.raises(UnreadableFileError, match="damaged"):
        read_parquet(io.BytesIO(forge.closed(b"", schema=[(b"a", forge.INT32)], groups=[group], rows=1)))


def test_data_that_does_not_unpack_is_told_without_arrow_s_message():
    data = forge.parquet(forge.page(b"S3CRET", values=3, unpacked=12), rows=3, codec=forge.ZSTD)
    with pytest.raises(UnreadableFileError) as caught:
        read_parquet(io.BytesIO(data))

    assert str(caught.value) == "The buffer was not read: it is damaged: its columns cannot be unpacked."
    assert caught.value.__suppress_context__


def test_text_that_is_not_utf8_is_refused():
    data = written(pa.table({"a": ["abcdefgh"]}), use_dictionary=False, compression="none").getvalue()
    broken = data.replace(b"abcdefgh", b"abc\xffefgh")
    with pytest.raises(UnreadableFileError, match="its columns cannot be unpacked"):
        read_parquet(io.BytesIO(broken))


def test_rows_that_are_not_there_are_missed(monkeypatch):
    real = pq.ParquetFile.iter_batches
    monkeypatch.setattr(
        pq.ParquetFile, "iter_batches", lambda *given, **named: list(real(*given, **named))[1:]
    )
    with pytest.raises(UnreadableFileError, match="it does not hold the rows it declares"):
        read_parquet(written())


def test_a_file_that_cannot_be_searched_is_read_into_memory_first():
    class Stream:
        def __init__(self, data):
            self.rest = data

        def read(self, size):
            part, self.rest = self.rest[:size], self.rest[size:]
            return part

    assert read_parquet(Stream(written().getvalue())).equals(TABLE)


def test_a_path_is_read(tmp_path):
    pq.write_table(TABLE, tmp_path / "x.parquet")

    assert read_parquet(tmp_path / "x.parquet").equals(TABLE)


def test_columns_with_large_pages_are_read_one_after_the_other():
    """Pages of all columns of a group are in memory together."""
    large, small = (
        ColumnPlan("large", 40 << 20, 30 << 20, 8, (), is_listed=False),
        ColumnPlan("small", 2 << 20, 1 << 20, 8, (), is_listed=False),
    )

    assert [[plan.name for plan in group] for group in _groups([small, large, small, large, small])] == [
        ["small", "large", "small"],
        ["large", "small"],
    ]
    assert [len(group) for group in _groups([small._replace(largest_page=1)] * 2_500)] == [1_024, 1_024, 452]
    assert list(_groups([])) == []


def test_headers_of_pages_may_be_long():
    """Statistics of long text stand in the header of a page."""
    table = pa.table({"a": ["x" * 20_000, "y" * 20_000]})

    assert read_parquet(
        written(table, use_dictionary=False, write_statistics=True, data_page_version="2.0")
    ).equals(table)
    assert read_parquet(written(table), limits=Limits(field_bytes=20_000)).equals(table)


def test_a_stored_schema_that_contradicts_the_columns_is_refused_in_our_words():
    """If this is false a damaged file ends with an error of Python in whatever called the reader."""
    stored = base64.b64encode(pa.schema([("a", pa.decimal128(5, 2))]).serialize())
    source = Source("a.parquet", io.BytesIO(b""), 0)
    for name in ("a", "b"):
        with pytest.raises(UnreadableFileError, match="contradicts itself"):
            write_without_categories(source, 0, stored, [name])
