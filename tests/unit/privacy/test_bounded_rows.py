"""Rows of persons are bounded in fixed memory, with the same result as in one piece."""

from __future__ import annotations

import os

import numpy as np
import pyarrow as pa
import pytest

from evenhand.errors import UnwritableFileError
from evenhand.privacy import bounded_rows
from evenhand.privacy.bounded_rows import BUCKETS, BoundedRows
from evenhand.privacy.contributions import rows_to_keep
from evenhand.privacy.randomness import SeededSource


def kept_values(people, most, *, source, step):
    """Return the kept places of rows that are added in groups of `step`."""
    keys = pa.array([f"p{person}" for person in people])
    with BoundedRows(most) as bounded:
        for start in range(0, len(people), step):
            here = slice(start, start + step)
            bounded.add(keys[here], np.arange(len(people))[here], source=source)
        return np.concatenate([np.zeros(0, np.int64), *bounded.yield_kept()])


@pytest.fixture
def few_rows(monkeypatch):
    monkeypatch.setattr(bounded_rows, "LEAST_ROWS", 16)


@pytest.mark.parametrize("most", [1, 2, 7, 500])
@pytest.mark.parametrize("step", [7, 5_000])
def test_the_same_rows_stay_as_of_one_piece(few_rows, most, step):
    """If this is false somebody's rows count more often than the noise covers, or not at all."""
    people = np.random.default_rng(most).zipf(1.5, 700) % 150
    expected = rows_to_keep(people, most, source=SeededSource(3))

    found = kept_values(people, most, source=SeededSource(3), step=step)

    assert sorted(found.tolist()) == expected.tolist()


def test_one_person_with_all_rows_and_rows_of_nobody_come_out(few_rows):
    assert kept_values(np.zeros(900, int), 1, source=SeededSource(1), step=100).size == 1
    assert kept_values(np.zeros(0, int), 1, source=SeededSource(1), step=100).size == 0
    everybody = kept_values(np.arange(900), 1, source=SeededSource(1), step=100)
    assert sorted(everybody.tolist()) == list(range(900))


def test_buckets_are_of_about_one_size():
    """If this is false one bucket holds most people, and memory grows with them."""
    bounded = BoundedRows(1)
    sizes = np.bincount(bounded._hash(pa.array([str(10**6 + n) for n in range(64_000)])), minlength=BUCKETS)

    assert sizes.sum() == 64_000
    assert sizes.max() < 4_000


def test_rows_in_memory_stay_below_the_limit(few_rows):
    """If this is false memory grows with the number of rows."""
    waiting = []
    with BoundedRows(1) as bounded:
        for start in range(0, 3_000, 10):
            keys = pa.array([str(start + n) for n in range(10)])
            bounded.add(keys, np.zeros(10, np.int64), source=SeededSource(1))
            waiting.append(sum(batch.num_rows for batch in bounded._waiting))

    assert max(waiting) <= 16


def test_the_file_is_nobody_elses_and_gone_after_a_failure(few_rows, monkeypatch, tmp_path):
    """The file holds ids and cells of people: nobody else may open it, and nothing may stay."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    bounded = BoundedRows(1)

    def fail():
        with bounded:
            bounded.add(pa.array([str(n) for n in range(90)]), np.arange(90), source=SeededSource(1))
            assert os.fstat(bounded._file.fileno()).st_mode & 0o777 == 0o600
            assert list(tmp_path.iterdir()) == []  # it has no name
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert bounded._file.closed
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_told_in_our_words(few_rows, monkeypatch):
    def fail(**_):
        raise OSError(28, "No space left on device", "/private/folder")

    monkeypatch.setattr("tempfile.TemporaryFile", fail)
    with pytest.raises(UnwritableFileError, match="TMPDIR") as refused, BoundedRows(1) as bounded:
        bounded.add(pa.array([str(n) for n in range(90)]), np.arange(90), source=SeededSource(1))

    assert "/private" not in str(refused.value)


def test_a_file_that_cannot_be_read_again_is_told_in_our_words(few_rows, monkeypatch):
    """If this is false Arrow's own message is shown, which may hold where the file was."""

    def fail(_):
        raise pa.ArrowInvalid("/private/folder is not a file of Arrow")

    with BoundedRows(1) as bounded:
        bounded.add(pa.array([str(n) for n in range(90)]), np.arange(90), source=SeededSource(1))
        monkeypatch.setattr(pa.ipc, "open_file", fail)
        with pytest.raises(UnwritableFileError, match="TMPDIR") as refused:
            list(bounded.yield_kept())

    assert "/private" not in str(refused.value)
