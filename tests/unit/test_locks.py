"""One process at a time, and a dead one does not count."""

import sqlite3
import subprocess
import sys

import pytest

from evenhand._locks import Lock


def test_a_lock_is_held_once_and_given_back(tmp_path):
    first, second = Lock(tmp_path / "a.lock"), Lock(tmp_path / "a.lock")

    assert first.take()
    assert first.take()
    assert not second.take()
    first.free()
    first.free()
    assert second.take()
    second.free()


def test_a_lock_of_a_process_that_was_killed_is_free(tmp_path):
    """A study that was killed must not block its folder for ever."""
    program = (
        "import sys, time\nfrom evenhand._locks import Lock\n"
        "lock = Lock(sys.argv[1])\nprint(lock.take(), flush=True)\ntime.sleep(60)\n"
    )
    path = tmp_path / "a.lock"
    with subprocess.Popen([sys.executable, "-c", program, path], stdout=subprocess.PIPE) as process:
        taken = process.stdout.readline()
        while_it_lives = Lock(path).take()
        process.kill()
    ours = Lock(path)

    assert taken == b"True\n"
    assert not while_it_lives
    assert ours.take()
    ours.free()


def test_a_place_that_cannot_be_locked_is_told(tmp_path):
    with pytest.raises(sqlite3.OperationalError):
        Lock(tmp_path / "no folder" / "a.lock").take()


def test_a_lock_that_is_another_file_is_told_and_left_alone(tmp_path):
    (tmp_path / "a.lock").write_text(
        "somebody's notes, which are long enough to be looked at" * 20, encoding="ascii"
    )

    with pytest.raises(sqlite3.DatabaseError):
        Lock(tmp_path / "a.lock").take()
    assert (tmp_path / "a.lock").read_text(encoding="ascii").startswith("somebody's notes")
