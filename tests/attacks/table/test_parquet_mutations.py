"""A Parquet file cannot hurt: it is read, or refused in our words, quickly and in little memory."""

import datetime as dt
import decimal
import io
import resource
import time

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from attacks._mutations import PARQUET_WAYS, SENTINEL, drawer, flip_bits, mutated, overwrite
from evenhand.errors import EvenhandError, LimitExceededError, UnreadableFileError
from evenhand.schema import Column, Domain, Schema
from evenhand.table import Table, read_parquet

SECONDS, MEGABYTES = 2, 512
ROWS = 40


SCHEMA = Schema(
    [
        Column("text", Domain.categorical([SENTINEL, "b"]), outside="other", nulls="other"),
        Column("labelled", Domain.categorical(["x"]), outside="drop", nulls="other"),
        Column("whole", Domain.integers(0, 5), outside="other", nulls="drop"),
        Column("day", Domain.integers(0, 5), outside="other", nulls="drop"),
        Column("exact", Domain.binned([0, 1, 2]), outside="other", nulls="drop"),
    ]
)


def table():
    return pa.table(
        {
            "text": [SENTINEL, "b", None, "b"] * (ROWS // 4),
            "words": pa.array([f"{SENTINEL} {place}" for place in range(ROWS)], pa.large_string()),
            "labelled": pa.array(["x", "y"] * (ROWS // 2)).dictionary_encode(),
            "whole": pa.array(range(ROWS), pa.int32()),
            "number": [0.5, None] * (ROWS // 2),
            "truth": [True, False] * (ROWS // 2),
            "day": [dt.date(2020, 1, 1)] * ROWS,
            "exact": [decimal.Decimal("1.50")] * ROWS,
        }
    )


def base_files():
    settings = [
        {"compression": "none"},
        {"compression": "snappy"},
        {"compression": "zstd", "data_page_version": "2.0"},
        {"compression": "gzip", "use_dictionary": False},
        {"compression": "none", "use_dictionary": False, "row_group_size": 7, "store_schema": False},
        {"compression": "none", "write_page_checksum": True, "write_statistics": False},
    ]
    for each in settings:
        file = io.BytesIO()
        pq.write_table(table(), file, **each)
        yield file.getvalue()
    file = io.BytesIO()
    pq.write_table(pa.table({"list": [[1, 2]], "record": [{"a": SENTINEL}]}), file)
    yield file.getvalue()


def in_footer(way):
    """Return a way that breaks the description of the file rather than its data."""

    def changed(data, draw):
        length = min(int.from_bytes(data[-8:-4], "little"), max(len(data) - 8, 0))
        start = len(data) - 8 - length
        return data[:start] + way(data[start : len(data) - 8], draw) + data[len(data) - 8 :]

    return changed


WAYS = [*PARQUET_WAYS, in_footer(flip_bits), in_footer(flip_bits), in_footer(overwrite)]


def peak_megabytes():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def check(count, seed):
    draw = drawer(seed)
    bases = list(base_files())
    read_parquet(io.BytesIO(bases[0]))  # the first use loads libraries, whatever the file
    before, slowest, read, messages = peak_megabytes(), 0.0, 0, set()
    for _ in range(count):
        data = mutated(draw.choice(bases), draw, WAYS)
        start = time.perf_counter()
        try:
            found = read_parquet(io.BytesIO(data))
            found.validate(full=True)
            Table.encode(found, SCHEMA, columns=[name for name in SCHEMA.names if name in found.column_names])
            read += 1
        except (UnreadableFileError, LimitExceededError) as error:
            messages.add(str(error))
        slowest = max(slowest, time.perf_counter() - start)

    assert slowest < SECONDS
    assert peak_megabytes() - before < MEGABYTES
    assert [message for message in messages if SENTINEL in message or "words" in message] == []
    assert 0 < read < count
    assert len(messages) > 5


def test_five_hundred_broken_parquet_files_are_read_or_refused_in_our_words():
    """Any other error is a crash of whatever called the reader."""
    check(500, seed=1)


@pytest.mark.nightly
def test_twenty_thousand_broken_parquet_files_are_read_or_refused_in_our_words():
    check(20_000, seed=2)


def test_the_check_of_errors_can_see():
    """The twin: pyarrow's own reader raises errors on the same files that are not ours."""
    draw = drawer(1)
    bases = list(base_files())
    foreign = 0
    for _ in range(100):
        try:
            pq.read_table(io.BytesIO(mutated(draw.choice(bases), draw, PARQUET_WAYS)))
        except Exception as error:  # noqa: BLE001 - whatever it is
            foreign += not isinstance(error, EvenhandError)

    assert foreign > 20


def test_the_unbroken_files_are_read():
    *flat, nested = base_files()

    assert [read_parquet(io.BytesIO(data)).to_pydict() for data in flat] == [table().to_pydict()] * len(flat)
    with pytest.raises(UnreadableFileError, match="column 1 holds lists, records or a type of its own"):
        read_parquet(io.BytesIO(nested))
