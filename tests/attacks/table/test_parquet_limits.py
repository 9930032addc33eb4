"""Limits hold before unpacking: a Parquet file is refused for what it declares."""

import io
import resource
import struct

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from attacks import _parquet_forge as forge
from attacks.table.test_csv_limits import outcome_and_peak
from evenhand.errors import LimitExceededError, UnreadableFileError
from evenhand.table import Limits, read_parquet
from evenhand.table.limits import STREAM_LIMITS
from evenhand.table.parquet.read import ParquetBatches
from evenhand.table.source import Source

pytestmark = pytest.mark.figures

ALL_COLUMNS = {"schema": None, "columns": None, "batch_rows": 50_000, "owner": "read_batches"}


def written(table, **settings):
    file = io.BytesIO()
    pq.write_table(table, file, **settings)
    return file.getvalue()


def read(data, **settings):
    return read_parquet(io.BytesIO(data), **settings)


def plain_int32(values):
    return np.asarray(values, "<i4").tobytes()


def plain_text(value):
    return forge.page(struct.pack("<I", len(value)) + value, values=1)


def listed(value):
    """Return a list of one text."""
    return forge.page(struct.pack("<I", len(value)) + value, values=1, kind=2)


def places(rows):
    """Return a page whose rows all have the first text of a list."""
    return forge.page(b"\1" + forge.varint(rows << 1) + b"\0", values=rows, encoding=8)


def texts(pages, *, rows):
    return forge.parquet(pages, rows=rows, physical=forge.BYTE_ARRAY)


def peak_kilobytes():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def test_a_file_forged_by_hand_but_honest_is_read():
    """The twin of what follows: what is refused below is refused for its lie, not for the forger's hand."""
    data = forge.parquet(forge.page(plain_int32([1, 2, 3]), values=3), rows=3)

    assert read(data).to_pydict() == {"a": [1, 2, 3]}
    assert pq.read_table(io.BytesIO(data)).to_pydict() == {"a": [1, 2, 3]}


def test_a_page_that_declares_two_gigabytes_is_refused_unread():
    """Arrow would take that much memory before it finds out."""
    packed = pa.compress(plain_int32([1, 2, 3]), "zstd", asbytes=True)
    data = forge.parquet(forge.page(packed, values=3, unpacked=2**31 - 1), rows=3, codec=forge.ZSTD)
    before = peak_kilobytes()
    with pytest.raises(LimitExceededError, match="unpacked it holds more than 200,000,000 bytes") as caught:
        read(data)

    assert caught.value.limit == "bytes"
    assert peak_kilobytes() - before < 50_000


def test_many_pages_that_add_up_are_refused():
    packed = pa.compress(plain_int32([0] * 1_000), "zstd", asbytes=True)
    page = forge.page(packed, values=1_000, unpacked=4_000)
    data = forge.parquet(page * 10, rows=10_000, codec=forge.ZSTD)

    assert read(data, limits=Limits(bytes=40_000)).num_rows == 10_000
    with pytest.raises(LimitExceededError, match="unpacked it holds more than 39,999 bytes"):
        read(data, limits=Limits(bytes=39_999))


@pytest.mark.parametrize(
    "data",
    [
        forge.parquet(forge.page(plain_int32([1]), values=1), rows=1, chunk_values=5),
        forge.parquet(forge.page(plain_int32([1]), values=1), rows=1, chunk_values=-1),
        forge.parquet(forge.page(plain_int32([1]), values=1), rows=1, footer_rows=2),
        forge.parquet(forge.page(plain_int32([1]), values=1), rows=-1),
        forge.parquet(forge.page(plain_int32([1]), values=1), rows=1, offset=2),
        forge.parquet(forge.page(plain_int32([1]), values=1), rows=1, offset=10**9),
        forge.parquet(forge.page(plain_int32([1]), values=1), rows=1, offset=-5),
        forge.parquet(forge.page(plain_int32([1]), values=1), rows=3),
        forge.parquet(forge.page(plain_int32([1]), values=-4), rows=3),
        forge.parquet(forge.page(plain_int32([1]), values=1, unpacked=-1), rows=1),
        forge.parquet(b"\xff" * 40, rows=1),
        texts(places(1), rows=1),
    ],
)
def test_a_file_that_contradicts_itself_is_refused(data):
    with pytest.raises(UnreadableFileError, match="damaged"):
        read(data)


def test_text_stored_as_differences_is_refused():
    """Each value may repeat the one before and add a letter: a page can unfold without bound."""
    data = written(
        pa.table({"a": ["x" * 100, "x" * 101]}),
        use_dictionary=False,
        column_encoding={"a": "DELTA_BYTE_ARRAY"},
    )
    with pytest.raises(UnreadableFileError, match="DELTA_BYTE_ARRAY"):
        read(data)


def test_a_constant_column_of_many_rows_is_refused_for_its_rows():
    """Run lengths pack a billion rows into some bytes."""
    data = written(pa.table({"a": np.zeros(4_000_000, np.int64)}))
    with pytest.raises(LimitExceededError, match="as a table it takes more than"):
        read(data, limits=Limits(bytes=1_000_000))

    assert len(data) < 20_000


def test_a_long_text_repeated_is_refused_before_it_is_spelled_out():
    text = pa.DictionaryArray.from_arrays(np.zeros(30_000, np.int32), ["x" * 60_000])
    data = written(pa.table({"a": text}), store_schema=False)
    before = peak_kilobytes()
    with pytest.raises(LimitExceededError, match="as a table it takes more than 300,000,000 bytes"):
        read(data)

    assert len(data) < 10_000
    assert peak_kilobytes() - before < 100_000


def test_a_long_text_repeated_is_refused_too_where_plain_values_follow():
    """Such a column is written out as it is read: how many rows at a time follows from its list."""
    start = listed(b"x" * 60_000) + plain_text(b"y")
    data, honest = (texts(start + places(rows), rows=rows + 1) for rows in (30_000, 2))
    before = peak_kilobytes()
    batches = ParquetBatches(Source("x", io.BytesIO(data)), STREAM_LIMITS, **ALL_COLUMNS)

    assert max(batch.nbytes for batch in batches) < 50_000_000
    assert peak_kilobytes() - before < 150_000
    with pytest.raises(LimitExceededError, match="as a table it takes more than 300,000,000 bytes"):
        read(data)
    assert peak_kilobytes() - before < 450_000
    assert read(honest).to_pydict() == {"a": [b"y"] + [b"x" * 60_000] * 2}


@pytest.mark.parametrize("codec", ["none", "snappy", "gzip", "brotli", "zstd", "lz4"])
@pytest.mark.parametrize("is_declared", [False, True])
@pytest.mark.parametrize("list_megabytes", [1, 16])
def test_memory_does_not_grow_with_the_length_of_a_group_of_rows(list_megabytes, is_declared, codec):
    """Arrow hashes all values of a group, in its list or not, if it returns them as places in a list."""
    values = pa.array(np.arange(600_000)).cast(pa.string())
    table = pa.table({"a": values.dictionary_encode() if is_declared else values, "b": values.is_null()})
    data = written(
        table, row_group_size=600_000, dictionary_pagesize_limit=list_megabytes << 20, compression=codec
    )
    batches = ParquetBatches(Source("x", io.BytesIO(data)), STREAM_LIMITS, **ALL_COLUMNS)
    at_start, taken, rows = pa.total_allocated_bytes(), 0, []
    for batch in batches:
        taken = max(taken, pa.total_allocated_bytes() - at_start)
        rows += batch.column(0).to_pylist()

    assert rows == values.to_pylist()
    assert taken < 25_000_000


@pytest.mark.parametrize("use_dictionary", [True, False])
@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view(), pa.binary()])
def test_a_field_that_is_too_long_is_refused(kind, use_dictionary):
    data = written(pa.table({"a": pa.array(["x" * 65_537], kind)}), use_dictionary=use_dictionary)
    with pytest.raises(LimitExceededError, match="a field is longer than 65,536 bytes") as caught:
        read(data)

    assert caught.value.limit == "field_bytes"


def test_columns_and_their_names_have_limits():
    data = written(pa.table({f"c{place}": [1] for place in range(12)}))

    assert read(data, limits=Limits(columns=12)).num_columns == 12
    with pytest.raises(LimitExceededError, match="more than 11 columns") as caught:
        read(data, limits=Limits(columns=11))
    assert caught.value.limit == "columns"
    with pytest.raises(LimitExceededError, match="the name of a column is longer than 2 bytes"):
        read(data, limits=Limits(field_bytes=2))


def test_a_description_with_a_million_parts_is_refused_before_arrow_sees_it():
    """Three bytes of it make Arrow take seven hundred."""
    chunk = forge.structure({2: forge.i64(0)})[1]
    group = forge.structure({1: forge.listing(12, [chunk] * 900_000), 2: forge.i64(0), 3: forge.i64(0)})[1]
    data = forge.closed(b"", schema=[(b"a", forge.INT32)], groups=[group], rows=0)
    before = peak_kilobytes()
    with pytest.raises(UnreadableFileError, match="its description is damaged or has too many parts"):
        read(data)

    assert peak_kilobytes() - before < 100_000


def test_a_long_but_honest_description_is_read():
    """The twin: a wide table has a long description too."""
    names = {
        f"a rather long name of a column to make the description long {place}": [1] for place in range(3_000)
    }
    data = written(pa.table(names))

    assert struct.unpack("<I", data[-8:-4])[0] > 512 << 10
    assert read(data).num_columns == 3_000


def test_a_description_longer_than_any_is_refused():
    body = b"\0" * (9 << 20)
    data = b"PAR1" + body + struct.pack("<I", len(body)) + b"PAR1"
    with pytest.raises(UnreadableFileError, match="its description takes more than 8,388,608 bytes"):
        read(data)


def test_more_pages_than_any_file_needs_are_refused(monkeypatch):
    monkeypatch.setattr("evenhand.table.parquet.footer._MOST_PAGES", 5)
    each = forge.page(plain_int32([1]), values=1)

    assert read(forge.parquet(each * 5, rows=5)).num_rows == 5
    with pytest.raises(UnreadableFileError, match="cut into more than 5 pages"):
        read(forge.parquet(each * 6, rows=6))


def test_a_large_file_is_refused_before_it_is_opened(tmp_path, monkeypatch):
    path = tmp_path / "large.parquet"
    path.write_bytes(written(pa.table({"a": range(1_000)})))
    monkeypatch.setattr("builtins.open", lambda *_, **__: pytest.fail("it was opened"))
    with pytest.raises(
        LimitExceededError, match=r"large\.parquet was not read: it holds more than 100 bytes"
    ):
        read_parquet(path, limits=Limits(bytes=100))


def test_a_large_buffer_is_refused_too():
    data = written(pa.table({"a": range(1_000)}))
    with pytest.raises(LimitExceededError, match="The buffer was not read: it holds more than 100 bytes"):
        read(data, limits=Limits(bytes=100))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "settings"),
    [
        (lambda: np.arange(36_000_000) % 7, {"compression": "zstd"}),
        (lambda: np.arange(24_000_000), {"use_dictionary": False}),
        (lambda: [f"{place:07d}" for place in range(16_000_000)], {"use_dictionary": False}),
        (lambda: [f"{place:07d}" for place in range(9_000_000)], {"compression": "none"}),
        (lambda: ["x" * 60_000] * 3_300, {"use_dictionary": False, "data_page_size": 10**9}),
    ],
    ids=["runs", "plain", "text", "text with a list", "one page"],
)
def test_a_file_at_the_limits_stays_within_memory(make, settings, tmp_path):
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({"a": make()}), path, **settings)
    said, peak = outcome_and_peak(path)

    assert said.isdigit() or "more than" in said
    assert peak < 512
