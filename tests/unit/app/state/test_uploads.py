"""A file is received whole or not at all, in pieces, under a name that nobody chose."""

import asyncio
import stat

import pytest

from evenhand.app.state import uploads
from evenhand.app.state.uploads import Upload, choose_file_name, read_label, receive_upload, remove_upload
from evenhand.errors import LimitExceededError, UnreadableFileError, UnwritableFileError
from unit.app.state._studies import wait_until


async def pieces(*texts, error=None):
    for text in texts:
        yield text
    if error is not None:
        raise error


def receive(folder, *texts, label="people.csv", limit=1_000, error=None):
    return asyncio.run(receive_upload(pieces(*texts, error=error), folder, label=label, limit=limit))


def test_a_file_is_kept_as_it_came(tmp_path):
    upload = receive(tmp_path / "data", b"a,b\n", b"1,2\n")
    file = tmp_path / "data" / upload.file

    assert upload == Upload(upload.file, "people.csv", 8)
    assert file.read_bytes() == b"a,b\n1,2\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert list(file.parent.iterdir()) == [file]


def test_a_large_file_is_written_in_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr(uploads, "_BLOCK", 4)

    upload = receive(tmp_path, b"abc", b"def", b"ghijklmnop", b"q")

    assert (tmp_path / upload.file).read_bytes() == b"abcdefghijklmnopq"


@pytest.mark.parametrize("error", [ConnectionResetError(), RuntimeError(), KeyboardInterrupt()])
def test_nothing_is_left_of_a_file_that_was_broken_off(tmp_path, error):
    with pytest.raises((UnwritableFileError, RuntimeError, KeyboardInterrupt)):
        receive(tmp_path, b"half", error=error)

    assert list(tmp_path.iterdir()) == []


def test_nothing_is_left_when_the_request_is_cancelled_while_it_writes(tmp_path, monkeypatch):
    monkeypatch.setattr(uploads, "_BLOCK", 1)

    async def cancel():
        async def endless():
            while True:
                yield b"x"

        task = asyncio.create_task(receive_upload(endless(), tmp_path, label="a.csv", limit=10**9))
        await asyncio.to_thread(wait_until, lambda: list(tmp_path.iterdir()))
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancel())

    assert list(tmp_path.iterdir()) == []


def test_a_file_above_the_limit_and_an_empty_one_are_refused(tmp_path):
    with pytest.raises(LimitExceededError):
        receive(tmp_path, b"x" * 600, b"x" * 600)
    with pytest.raises(UnreadableFileError, match="empty"):
        receive(tmp_path)

    assert list(tmp_path.iterdir()) == []


def test_two_files_of_one_label_do_not_meet(tmp_path):
    names = {receive(tmp_path, b"x").file for _ in range(20)}

    assert len(names) == 20


@pytest.mark.parametrize(
    ("label", "ending"),
    [
        ("a.csv", ".csv"),
        ("A.CSV", ".csv"),
        ("a.csv.gz", ".csv.gz"),
        ("a.b.tsv.BZ2", ".tsv.bz2"),
        ("a.pq", ".pq"),
    ],
)
def test_a_file_keeps_the_ending_of_its_label(label, ending):
    assert choose_file_name(label)[32:] == ending


@pytest.mark.parametrize(
    "label", ["", "a", "csv", "a.zip", "a.gz", "a.csv.zip", "a.csv.", "a.xls", "a.csv/x"]
)
def test_another_ending_is_refused(label):
    with pytest.raises(UnreadableFileError, match="must end in"):
        choose_file_name(label)


def test_a_long_name_keeps_its_beginning_and_its_ending():
    """A file must not become unreadable because its name is long."""
    label = read_label("survey-" + "x" * 400 + "-2024.csv.gz")

    assert label.startswith("survey-xxx")
    assert label.endswith("-2024.csv.gz")
    assert len(label) <= 120


def test_a_removed_upload_is_gone_and_nothing_else(tmp_path):
    upload = receive(tmp_path / "data", b"x")
    (tmp_path / "secret").touch()
    remove_upload(tmp_path / "data", upload.file)
    remove_upload(tmp_path / "data", upload.file)
    remove_upload(tmp_path / "data", "../secret")

    assert list((tmp_path / "data").iterdir()) == []
    assert (tmp_path / "secret").exists()
