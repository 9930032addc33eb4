"""Files are opened, named without their folder, and every failure is told in our own words."""

import gzip
import io
import os

import pytest

from evenhand.errors import InvalidParameterError, LimitExceededError, UnreadableFileError
from evenhand.table import Limits, read_csv, read_parquet
from evenhand.table.source import Source, blocks, open_source, own_name


@pytest.fixture
def folder(tmp_path):
    """A folder whose name must not be told."""
    made = tmp_path / "S3CRET-FOLDER"
    made.mkdir()
    return made


def refusal(action):
    with pytest.raises((UnreadableFileError, LimitExceededError)) as caught:
        action()
    assert "S3CRET" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("reader", [read_csv, read_parquet])
def test_a_missing_file_is_told_by_its_own_name_only(folder, reader):
    assert refusal(lambda: reader(folder / "gone.csv")) == "gone.csv was not read: there is no such file."


def test_a_folder_is_no_file(folder):
    (folder / "data.csv").mkdir()

    assert refusal(lambda: read_csv(folder / "data.csv")) == "data.csv was not read: it is a folder."
    assert refusal(lambda: read_csv(f"{folder}/data.csv/")) == "data.csv was not read: it is a folder."


def test_a_pipe_is_not_waited_for(folder):
    """Opening a pipe that nobody writes to would hang."""
    os.mkfifo(folder / "pipe.csv")

    assert (
        refusal(lambda: read_csv(folder / "pipe.csv")) == "pipe.csv was not read: it is not a regular file."
    )


def test_a_path_the_system_does_not_accept_is_refused(folder):
    assert (
        refusal(lambda: read_csv(f"{folder}/a\0b.csv"))
        == "a?b.csv was not read: the system does not accept its path."
    )
    assert refusal(lambda: read_csv(folder / ("x" * 300))).endswith("the system does not accept its path.")


def test_a_file_one_may_not_read_is_refused(folder, monkeypatch):
    (folder / "data.csv").write_text("a\n")

    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied", str(folder))

    with monkeypatch.context() as patch:
        patch.setattr("builtins.open", refuse)
        assert refusal(lambda: read_csv(folder / "data.csv")) == "data.csv was not read: you may not read it."
    with monkeypatch.context() as patch:
        patch.setattr("evenhand.table.source.os.stat", refuse)
        assert refusal(lambda: read_csv(folder / "data.csv")).endswith("you may not look into its folder.")


def test_other_failures_of_the_system_are_told_without_its_message(folder, monkeypatch):
    (folder / "data.csv").write_text("a\n")

    def fail(*_, **__):
        raise OSError(5, "Input/output error", str(folder))

    monkeypatch.setattr("builtins.open", fail)

    assert (
        refusal(lambda: read_csv(folder / "data.csv"))
        == "data.csv was not read: the system could not open it."
    )


class Failing(io.BytesIO):
    """A file whose disk fails after a while."""

    def read(self, size=-1):
        if self.tell():
            raise OSError(5, "S3CRET")
        return super().read(size)


def test_a_disk_that_fails_while_reading_is_told():
    assert (
        refusal(lambda: read_csv(Failing(b"a,b\n1,2\n")))
        == "The buffer was not read: the system could not read it."
    )
    assert (
        refusal(lambda: read_parquet(Failing(b"PAR1" * 9)))
        == "The buffer was not read: the system could not read it."
    )


@pytest.mark.parametrize("wrong", [None, 3, b"a,b\n", ["a.csv"]])
@pytest.mark.parametrize("reader", [read_csv, read_parquet])
def test_what_is_neither_path_nor_file_is_refused(reader, wrong):
    with pytest.raises(InvalidParameterError, match="must be a path or an open binary file"):
        reader(wrong)


def test_a_file_opened_as_text_is_refused():
    with pytest.raises(InvalidParameterError, match="a file opened as text"):
        read_csv(io.StringIO("a,b\n"))


def test_names_are_fit_to_be_shown():
    assert own_name("/a/b/c.csv") == "c.csv"
    assert own_name("/a/b/") == "b"
    assert own_name("/") == "The path"
    assert own_name("line\nbreak\x1b[31m.csv") == "line?break?[31m.csv"


def test_a_gzipped_file_is_unpacked_whatever_its_name(folder):
    (folder / "data.csv").write_bytes(gzip.compress(b"a\n1\n"))

    assert read_csv(folder / "data.csv").to_pydict() == {"a": [1]}
    assert read_csv(io.BytesIO(gzip.compress(b"a\n") + gzip.compress(b"1\n2\n"))).to_pydict() == {"a": [1, 2]}


@pytest.mark.parametrize(
    "harm",
    [
        lambda data: data[:-4],
        lambda data: data[:-8] + b"\0" * 8,
        lambda data: data[:12],
        lambda data: data[:2],
    ],
)
def test_a_damaged_gzip_is_refused(harm):
    data = harm(gzip.compress(b"a,b\n" + b"1,2\n" * 1_000))

    assert refusal(lambda: read_csv(io.BytesIO(data))) == (
        "The buffer was not read: its compressed data is damaged or cut off."
    )


def test_only_what_was_opened_here_is_closed_here(folder):
    buffer = io.BytesIO(b"a\n1\n")
    read_csv(buffer)
    (folder / "data.csv").write_text("a\n")
    with open_source(folder / "data.csv", limits=Limits(), owner="test") as source:
        assert source.size == 2

    assert not buffer.closed
    assert source.stream.closed


@pytest.mark.parametrize("size", [1, 2, 3, 999, 1_000])
def test_blocks_hold_what_the_file_holds(size):
    data = bytes(range(65, 91)) * 40
    parts = list(blocks(Source("x", io.BytesIO(data[:size])), Limits(bytes=1_000)))

    assert b"".join(parts) == data[:size]


def test_one_byte_over_the_limit_is_over():
    with pytest.raises(LimitExceededError, match="more than 1,000 bytes"):
        list(blocks(Source("x", io.BytesIO(b"a" * 1_001)), Limits(bytes=1_000)))
