"""What is being written is for its writer alone, and what a killed one left goes with the next file."""

import os
import signal
import stat
import subprocess
import sys
import threading

import pytest

from evenhand import _part_files as part_files
from evenhand._part_files import put_in_place, sweep
from evenhand.table.write import replacing

LEFT = ".reports.csv.ab12_xyz.evenhand.part"
POSIX = pytest.mark.skipif(not hasattr(os, "getuid"), reason="files have owners and modes on POSIX systems")


def _names(folder):
    return sorted(each.name for each in folder.iterdir())


def test_what_a_killed_process_left_goes_with_the_next_file_of_the_folder(tmp_path):
    """It holds columns in the clear, in a file that no listing shows."""
    program = (
        "import os, signal, sys\n"
        "from evenhand.table.write import replacing\n"
        "with replacing(sys.argv[1]) as file:\n"
        "    file.write(b'S3CRET')\n"
        "    file.flush()\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", program, tmp_path / "reports.csv"], check=False)
    (left,) = tmp_path.iterdir()
    held = left.read_bytes()
    with replacing(tmp_path / "another.csv") as file:
        during = _names(tmp_path)
        file.write(b"new")

    assert (done.returncode, held) == (-signal.SIGKILL, b"S3CRET")
    assert len(during) == 1
    assert _names(tmp_path) == ["another.csv"]


def test_what_is_being_written_is_left_alone(tmp_path):
    """Two runs into one folder, or over one file, must not take each other's work away."""
    with replacing(tmp_path / "a.csv") as first:
        first.write(b"first")
        with replacing(tmp_path / "a.csv") as second, replacing(tmp_path / "b.csv") as other:
            second.write(b"second")
            other.write(b"other")
        between = (tmp_path / "a.csv").read_bytes()
        sweep(tmp_path)

    assert between == b"second"
    assert (tmp_path / "a.csv").read_bytes() == b"first"
    assert _names(tmp_path) == ["a.csv", "b.csv"]


@POSIX
def test_until_it_is_complete_only_its_owner_may_read_it(tmp_path):
    before = os.umask(0o022)
    try:
        with replacing(tmp_path / "a.csv") as file:
            (part,) = tmp_path.iterdir()
            meanwhile = stat.S_IMODE(part.stat().st_mode)
            file.write(b"rows")
    finally:
        os.umask(before)

    assert meanwhile == 0o600
    assert stat.S_IMODE((tmp_path / "a.csv").stat().st_mode) == 0o644


def _planted(folder, how):
    name = {"name": ".reports.csv.part", "digits": ".reports.csv.123.evenhand.part"}.get(how, LEFT)
    if how == "folder":
        (folder / name).mkdir()
    elif how == "link":
        (folder / "kept").touch()
        (folder / name).symlink_to(folder / "kept")
    else:
        (folder / name).touch()


@POSIX
@pytest.mark.parametrize("how", ["name", "digits", "folder", "link", "stranger"])
def test_what_is_not_ours_is_left_alone(tmp_path, monkeypatch, how):
    """Other programs have hidden files too."""
    _planted(tmp_path, how)
    before = _names(tmp_path)
    if how == "stranger":
        uid = os.getuid()
        monkeypatch.setattr(part_files.os, "getuid", lambda: uid + 1)
    sweep(tmp_path)

    assert _names(tmp_path) == before


def test_what_is_ours_goes_and_a_folder_that_is_none_stops_nothing(tmp_path):
    """The twin of the tests above: a sweep that removes nothing would pass them all."""
    _planted(tmp_path, "left")
    sweep(tmp_path)
    sweep(tmp_path / "gone")

    assert _names(tmp_path) == []


@POSIX
def test_a_sweep_between_a_file_and_its_lock_costs_another_file_and_nothing_else(tmp_path, monkeypatch):
    """Without a second look the rows would go into a file that has no name any more."""
    real, swept = part_files.lock_file, []

    def late(descriptor, *, wait):
        if not swept:
            swept.append(True)
            sweep(tmp_path)
        real(descriptor, wait=wait)

    monkeypatch.setattr(part_files, "lock_file", late)
    with put_in_place(tmp_path / "a.csv") as file:
        file.write(b"rows")

    assert swept
    assert (tmp_path / "a.csv").read_bytes() == b"rows"
    assert _names(tmp_path) == ["a.csv"]


@POSIX
def test_a_sweep_does_not_remove_what_has_taken_its_place_meanwhile(tmp_path, monkeypatch):
    _planted(tmp_path, "left")
    real = part_files.lock_file

    def replaced(descriptor, *, wait):
        real(descriptor, wait=wait)
        (tmp_path / "new").touch()
        (tmp_path / "new").replace(tmp_path / LEFT)

    monkeypatch.setattr(part_files, "lock_file", replaced)
    sweep(tmp_path)

    assert _names(tmp_path) == [LEFT]


@POSIX
def test_on_a_disk_without_locks_files_are_written_and_nothing_is_removed(tmp_path, monkeypatch):
    import fcntl

    def unknown(*_):
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(fcntl, "flock", unknown)
    _planted(tmp_path, "left")
    with replacing(tmp_path / "a.csv") as file:
        file.write(b"rows")

    assert _names(tmp_path) == [LEFT, "a.csv"]


def test_many_threads_can_write_and_sweep_one_folder(tmp_path):
    faults = []

    def write(number):
        try:
            for _ in range(20):
                with replacing(tmp_path / f"{number % 3}.csv") as file:
                    file.write(bytes([number]) * 1000)
        except OSError as fault:
            faults.append(fault)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert faults == []
    assert _names(tmp_path) == ["0.csv", "1.csv", "2.csv"]
    assert all(len(set(each.read_bytes())) == 1 for each in tmp_path.iterdir())


def test_where_open_files_cannot_be_removed_a_file_is_closed_first_and_only_old_ones_are_swept(
    tmp_path, monkeypatch
):
    """The way of Windows, which has no such locks: between its end and its new name a file is not open."""
    monkeypatch.setattr(part_files.sys, "platform", "win32")
    _planted(tmp_path, "left")
    with replacing(tmp_path / "a.csv") as file:
        file.write(b"rows")
    young = _names(tmp_path)
    os.utime(tmp_path / LEFT, (0, 0))
    sweep(tmp_path)

    assert file.closed
    assert young == [LEFT, "a.csv"]
    assert _names(tmp_path) == ["a.csv"]


@POSIX
def test_on_a_disk_without_permissions_a_file_takes_its_place_all_the_same(tmp_path, monkeypatch):
    def unknown(*_):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "fchmod", unknown)
    with replacing(tmp_path / "a.csv") as file:
        file.write(b"rows")

    assert _names(tmp_path) == ["a.csv"]
    assert stat.S_IMODE((tmp_path / "a.csv").stat().st_mode) == 0o600
