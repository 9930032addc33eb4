"""Files in which a broken line is a row that fits no domain: one line says nothing about the others."""

from __future__ import annotations

import re

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import InvalidParameterError, UnreadableFileError
from evenhand.schema import Column, Domain, Schema
from evenhand.table import FileFormat, Limits
from evenhand.table.csv.lines import BROKEN_CELL, KEEP_LINES, mend_lines
from evenhand.table.csv.scan import Scanner
from evenhand.table.file_format import _ENCODINGS
from evenhand.table.read import detect_file_format, read, read_batches

LIMITS = Limits(field_bytes=20, row_bytes=60)
OTHER = FileFormat(broken_rows="other")
SCHEMA = Schema(
    [
        Column("a", Domain.categorical(["x", "y"]), outside="other", nulls="other"),
        Column("b", Domain.integers(0, 9), outside="drop", nulls="other"),
    ]
)
_FIELD = rb'(?:[^",\r\n\0]*|"(?:[^"\r\n\0]|"")*")'
_LINE = re.compile(_FIELD + b"," + _FIELD)


def mend(data, *, step=7, limits=LIMITS):
    """Return the text that is read of a file that comes in blocks of `step` bytes."""
    scanner = Scanner("a.csv", limits, ",", '"', has_stand_ins=True)
    return b"".join(mend_lines(iter([data[i : i + step] for i in range(0, len(data), step)]), scanner))


def mend_slowly(lines):
    """The obvious version: one line at a time, by a pattern."""
    for line in lines:
        bare = line.removesuffix(b"\r")  # which is part of the line's end
        fields = [len(field) for field in re.findall(_FIELD, bare)] if _LINE.fullmatch(bare) else [99]
        yield line if not bare or (len(line) <= 60 and max(fields) <= 20) else b"\0,\0"


TEXT = st.lists(
    st.text('x9",\0\r é', max_size=12).map(str.encode) | st.sampled_from([b"x,1", b'"x","1"', b"x" * 70]),
    max_size=6,
)


@given(TEXT, st.integers(1, 90))
def test_every_line_is_judged_by_itself(lines, step):
    """If this is false one person's line changes how the lines of others are read."""
    found = mend(b"\n".join([b"a,b", *lines, b""]), step=step)

    assert found.split(b"\n") == [b"a,b", *mend_slowly(lines), b""]


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
@pytest.mark.parametrize("step", [1, 2, 1_000])
def test_lines_end_as_the_header_ends(end, step):
    mark = end[-1:]
    data = end.join([b"", b"a,b", b"x,1", b"x", b'"y,2', b'"y",2', b"y,3"])

    assert mend(data, step=step).split(mark) == [
        b"a,b",
        *(row + end[:-1] if row != b"\0,\0" else row for row in (b"x,1", b"\0,\0", b"\0,\0", b'"y",2')),
        b"y,3",
        b"",
    ]


def test_a_line_end_of_another_kind_breaks_its_line_alone():
    assert mend(b"a,b\nx\r,1\ny,2\n") == b"a,b\n\0,\0\ny,2\n"
    assert mend(b"a,b\rx\n,1\ry,2\r") == b"a,b\r\0,\0\ry,2\r"


def test_a_line_without_an_end_is_not_kept_in_memory():
    scanner = Scanner("a.csv", LIMITS, ",", '"', has_stand_ins=True)
    stream = iter([b"a,b\n", *[b"x" * 50] * 1_000, b"\ny,2\n"])

    assert b"".join(mend_lines(stream, scanner)) == b"a,b\n\0,\0\ny,2\n"


@pytest.mark.parametrize("header", [b'"a,b', b"a\0,b", b'a",b', b"a," + b"b" * 30, b"x" * 5_000])
def test_a_broken_header_is_refused(header):
    with pytest.raises(UnreadableFileError, match="its line of column names could not be parsed"):
        mend(header + b"\nx,1\n")


@pytest.mark.parametrize("encoding", sorted(_ENCODINGS - {"utf-16", "utf-16-le", "utf-16-be"}))
def test_bytes_that_are_not_text_take_no_line_end_with_them(encoding):
    """If this is false a stray byte joins two people's lines."""
    tails = [bytes(pair) for first in range(0x80, 0x100) for pair in ((first,), (first, 0x30), (first, 0x81))]
    tails += [bytes([first, 0x30, 0x81]) for first in range(0x81, 0xFF)]

    assert all((tail + b"\n").decode(encoding, KEEP_LINES).endswith("\n") for tail in tails)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_surrogates_of_utf_16_take_no_line_end_with_them(encoding):
    letters = [chr(number) for number in (0xD800, 0xDBFF, 0xDC00, 0xDFFF)]
    for letter in letters:
        data = f"x{letter}\ny\n".encode(encoding, "surrogatepass")

        assert data.decode(encoding, KEEP_LINES).split("\n") == ["x\0", "y", ""]


def test_bytes_outside_the_encoding_break_their_line(tmp_path):
    for encoding, bad in (("utf-8", b"\xff"), ("windows-1252", b"\x81"), ("utf-16", b"\x00\xdc")):
        rows = "a,b\nx,1\n?,2\ny,3\n".encode(encoding)
        rows = rows.replace("?".encode(encoding.replace("-16", "-16-le")), bad)
        (tmp_path / "a.csv").write_bytes(rows)
        written = FileFormat(encoding=encoding, broken_rows="other")

        assert read(tmp_path / "a.csv", schema=SCHEMA, file_format=written)["a"].to_pylist() == [
            "x",
            BROKEN_CELL,
            "y",
        ]


@pytest.mark.parametrize("rows", ["1;5;2,5\n", "ä,ö,ü\n", "a|b|c|d\n" * 9, "1;5\n2;6\n", "\xff\xff\xff"])
def test_what_people_wrote_does_not_say_how_the_file_is_read(tmp_path, rows):
    """If this is false one person decides on the separator, the encoding or the decimal mark of all rows."""
    (tmp_path / "a.csv").write_bytes(b"a;b,c;d\n" + rows.encode("latin-1"))
    alone = detect_file_format(tmp_path / "a.csv", OTHER)

    assert alone == FileFormat(delimiter=";", encoding="utf-8", decimal=".", broken_rows="other")


def test_only_declared_columns_of_text_files_are_read_so(tmp_path):
    (tmp_path / "a.csv").write_text("a,b,c\nx,1,2\n")
    pq.write_table(read(tmp_path / "a.csv"), tmp_path / "a.parquet")

    assert read(tmp_path / "a.csv", schema=SCHEMA, file_format=OTHER).num_rows == 1
    for columns, schema in ((None, None), (["a", "b", "c"], SCHEMA)):
        with pytest.raises(InvalidParameterError, match="without broken_rows"):
            list(read_batches(tmp_path / "a.csv", schema=schema, columns=columns, file_format=OTHER))
    with pytest.raises(InvalidParameterError, match="without broken_rows"):
        read(tmp_path / "a.csv", file_format=OTHER)
    with pytest.raises(UnreadableFileError, match="leave broken_rows out"):
        read(tmp_path / "a.parquet", schema=SCHEMA, file_format=OTHER)
    assert FileFormat(broken_rows="refuse") == FileFormat()
    assert OTHER.options == ["--broken-rows", "other"]
