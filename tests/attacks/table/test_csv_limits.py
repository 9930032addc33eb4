"""Limits hold before reading: a CSV file is refused after the limit, not after the memory."""

import bz2
import gzip
import io
import subprocess
import sys
import zipfile
import zlib

import pytest

from evenhand.errors import LimitExceededError, UnreadableFileError
from evenhand.table import Limits, read_csv

pytestmark = pytest.mark.figures

MEGABYTE = 1_000_000


class Counting(io.BytesIO):
    """A file that counts what is read of it."""

    def __init__(self, data):
        super().__init__(data)
        self.taken = 0

    def read(self, size=-1):
        data = super().read(size)
        self.taken += len(data)
        return data


class Endless:
    """A file without an end: the same line for ever."""

    def __init__(self, line):
        self.line = line
        self.taken = 0

    def read(self, size):
        self.taken += size
        return (self.line * (size // len(self.line) + 2))[:size]


def bomb(line, count):
    """Return `count` lines gzipped, made without holding them."""
    packer = zlib.compressobj(9, wbits=31)
    piece = line * 1_000
    return (
        packer.compress(b"a\n")
        + b"".join(packer.compress(piece) for _ in range(count // 1_000))
        + packer.flush()
    )


def test_a_compressed_bomb_is_refused_at_the_limit(monkeypatch):
    """A file of some kilobytes must not fill the memory of the machine."""
    data = bomb(b"0" * 1_000 + b"\n", 30_000)
    unpacked = []

    class Watching(gzip.GzipFile):
        def read(self, size=-1):
            block = super().read(size)
            unpacked.append(len(block))
            return block

    monkeypatch.setattr("evenhand.table.source.gzip.GzipFile", Watching)
    with pytest.raises(LimitExceededError, match="more than 5,000,000 bytes") as caught:
        read_csv(io.BytesIO(data), limits=Limits(bytes=5 * MEGABYTE))

    assert len(data) < 100_000
    assert sum(unpacked) < 6 * MEGABYTE
    assert caught.value.limit == "bytes"


def test_a_bzip2_bomb_is_refused_at_the_limit(monkeypatch):
    """It packs a gigabyte into a kilobyte."""
    packer = bz2.BZ2Compressor(9)
    parts = [packer.compress((b"0" * 1_000 + b"\n") * 1_000) for _ in range(60)]
    data = b"".join([*parts, packer.flush()])
    unpacked = []

    class Watching(bz2.BZ2File):
        def read(self, size=-1):
            block = super().read(size)
            unpacked.append(len(block))
            return block

    monkeypatch.setattr("evenhand.table.source.bz2.BZ2File", Watching)
    with pytest.raises(LimitExceededError, match="more than 5,000,000 bytes"):
        read_csv(io.BytesIO(data), limits=Limits(bytes=5 * MEGABYTE))

    assert len(data) < 10_000
    assert sum(unpacked) < 6 * MEGABYTE


@pytest.mark.parametrize("encoding", ["utf-16", "latin-1", "gb18030"])
def test_a_file_without_an_end_in_another_encoding_is_refused_soon_after_the_limit(encoding):
    file = Endless("ab;1,5\n".encode(encoding))
    with pytest.raises((LimitExceededError, UnreadableFileError)):
        read_csv(file, encoding=encoding, delimiter=";", limits=Limits(bytes=3 * MEGABYTE))

    assert file.taken <= 3 * MEGABYTE + MEGABYTE


def test_a_workbook_of_much_xml_is_refused_for_the_size_that_it_declares():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/sheet1.xml", b"<a>" + b"<b/>" * (15 * MEGABYTE) + b"</a>")
    with pytest.raises(LimitExceededError, match="unpacked it holds more than 50,000,000 bytes") as caught:
        read_csv(io.BytesIO(file.getvalue()), limits=Limits(bytes=50 * MEGABYTE))

    assert len(file.getvalue()) < MEGABYTE
    assert caught.value.limit == "bytes"


READING = """
import pathlib, sys
from evenhand.errors import LimitExceededError
from evenhand.table import read
try:
    print(read(sys.argv[1]).num_rows)
except LimitExceededError as error:
    print(error)
print(pathlib.Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0])
"""


def outcome_and_peak(path):
    """Read a file in a process of its own; return what was said and its peak memory in megabytes."""
    done = subprocess.run(
        [sys.executable, "-c", READING, str(path)], capture_output=True, text=True, check=True
    )
    said, peak = done.stdout.splitlines()
    return said, int(peak) / 1_000


@pytest.mark.slow
def test_a_compressed_bomb_is_refused_at_the_default_limit_within_memory(tmp_path):
    path = tmp_path / "bomb.csv.gz"
    path.write_bytes(bomb(b"0" * 60_000 + b"\n", 10_000))
    said, peak = outcome_and_peak(path)

    assert "it holds more than 200,000,000 bytes" in said
    assert peak < 512


@pytest.mark.slow
@pytest.mark.parametrize(
    "line",
    [b"1,2\n", b",\n", b'"",""\n', b"ab,cd\r\n", b"\n", b"0123456789,abcdefghijkl\n", b"1.25,2020-01-01\n"],
    ids=["short", "empty", "quoted", "text", "blank", "long", "numbers"],
)
def test_a_large_file_of_any_cells_stays_within_memory(line, tmp_path):
    """Cells of one byte make a table many times as large as the file."""
    path = tmp_path / "large.csv"
    with path.open("wb") as file:
        file.write(b"a,b\n")
        for _ in range(190):
            file.write(line * (MEGABYTE // len(line)))
    said, peak = outcome_and_peak(path)

    assert said.isdigit() or "as a table it takes more than 300,000,000 bytes" in said
    assert peak < 512


def test_a_large_file_is_refused_before_a_byte_of_it_is_read(tmp_path, monkeypatch):
    path = tmp_path / "large.csv"
    path.write_bytes(b"a\n" + b"1\n" * 1_000)
    monkeypatch.setattr("builtins.open", lambda *_, **__: pytest.fail("it was opened"))
    with pytest.raises(LimitExceededError, match=r"large\.csv was not read: it holds more than 100 bytes"):
        read_csv(path, limits=Limits(bytes=100))


@pytest.mark.parametrize("line", [b"1\n", b"1", b'"', b",", b"\n", b"ab\n\n"])
def test_a_file_without_an_end_is_refused_soon_after_the_limit(line):
    file = Endless(line)
    with pytest.raises(LimitExceededError):
        read_csv(file, limits=Limits(bytes=3 * MEGABYTE, columns=50))

    assert file.taken <= 3 * MEGABYTE + MEGABYTE


@pytest.mark.parametrize(
    ("data", "limit"),
    [
        (b"a" + b",a" * 5_000 + b"\n", "columns"),
        (b"a,b\n1," + b"x" * 65_537 + b"\n", "field_bytes"),
        (b"a,b\n1," + b"x" * 65_537, "field_bytes"),
        (b'a,b\n1,"' + b"x" * 65_536 + b'"\n', "field_bytes"),
        (b'a,b\n1,"' + b"x\n" * 40_000 + b"1,2\n", "field_bytes"),
        (b"x" * 65_537 + b",b\n", "field_bytes"),
        (b",".join([b"x" * 60_000] * 18) + b"\n", "row_bytes"),
        (b"a" + b",a" * 4_000 + b"\n" + b",".join([b"x" * 300] * 4_001) + b"\n", "row_bytes"),
    ],
)
def test_each_limit_is_kept_and_named(data, limit):
    """Whoever must raise a limit has to know which; nobody should raise all of them."""
    if limit == "row_bytes" and data.startswith(b"a"):
        data = data.replace(b"a" + b",a" * 4_000, b",".join(b"c%d" % place for place in range(4_001)))
    file = Counting(data)
    with pytest.raises(LimitExceededError, match=f"Hint: pass limits=Limits\\({limit}=") as caught:
        read_csv(file)

    assert caught.value.limit == limit


def test_what_is_just_within_the_limits_is_read():
    """The twin: a limit that refuses everything would pass the tests above."""
    names = ",".join(f"c{place}" for place in range(5_000))
    row = ",".join(["1"] * 5_000)
    table = read_csv(io.BytesIO(f"{names}\n{row}\n".encode()))
    long = read_csv(io.BytesIO(b"a,b\n1," + b"x" * 65_536 + b"\n"))
    exact = read_csv(
        io.BytesIO(b"a\n" + b"1\n" * 999), limits=Limits(bytes=2_000, columns=1, field_bytes=1, row_bytes=1)
    )

    assert table.shape == (1, 5_000)
    assert len(long["b"][0].as_py()) == 65_536
    assert exact.num_rows == 999


def test_a_table_is_refused_when_it_outgrows_the_file():
    with pytest.raises(LimitExceededError, match="as a table it takes more than 18,000,000 bytes"):
        read_csv(io.BytesIO(b"a,b\n" + b",\n" * 5_900_000), limits=Limits(bytes=12 * MEGABYTE))
