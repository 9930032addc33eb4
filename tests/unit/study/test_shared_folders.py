"""Folders of shared files are their owner's alone, and go when it is dead, not before."""

import os
import stat
import subprocess
import sys
import tempfile

import pytest

from evenhand import _shared_folders
from evenhand._shared_folders import OWNER, PREFIX, SharedFolder, remove_left_folders, shared_places

POSIX = pytest.mark.skipif(not hasattr(os, "getuid"), reason="files have owners and modes on POSIX systems")
LEFT = f"{PREFIX}ab12_xyz"


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(_shared_folders, "MEMORY", tmp_path / "no memory")
    return tmp_path


def _names(folder):
    return sorted(path.name for path in folder.iterdir())


@POSIX
def test_what_a_killed_process_left_goes_and_what_a_living_one_uses_stays(place):
    """Private rows must not lie about because a study was killed."""
    program = (
        "import os, signal, sys\nfrom pathlib import Path\n"
        "from evenhand._shared_folders import SharedFolder\n"
        "folder = SharedFolder(Path(sys.argv[1]))\n"
        "with folder.create('rows') as file:\n    file.write(b'S3CRET')\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    subprocess.run([sys.executable, "-c", program, place], check=False)
    (left,) = place.iterdir()
    held = (left / "rows").read_bytes()
    ours = SharedFolder(place)
    ours.create("rows").close()
    remove_left_folders()

    assert held == b"S3CRET"
    assert _names(place) == [ours.path.name]
    assert _names(ours.path) == [OWNER, "rows"]
    ours.close()
    assert _names(place) == []


@POSIX
def test_a_folder_and_its_files_are_their_owners_alone_and_name_the_process(place):
    before = os.umask(0)
    try:
        folder = SharedFolder(place)
        folder.create("rows").close()
    finally:
        os.umask(before)

    assert stat.S_IMODE(folder.path.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.path.iterdir()} == {0o600}
    assert (folder.path / OWNER).read_text(encoding="ascii") == f"{os.getpid()}\n"
    folder.close()


@POSIX
def test_a_file_is_not_made_through_a_link(place, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "rows"
    folder = SharedFolder(place)
    (folder.path / "rows").symlink_to(elsewhere)

    with pytest.raises(FileExistsError):
        folder.create("rows")
    assert not elsewhere.exists()
    folder.close()


def _plant(how, planted, real):
    (real / "kept").touch()
    if how == "lock is a link":
        (real / OWNER).symlink_to(real / "kept")
    elif how != "no lock":
        (real / OWNER).touch()
    real.chmod(0o755 if how == "open to others" else 0o700)
    if how == "link":
        planted.symlink_to(real, target_is_directory=True)
    elif how == "file":
        planted.touch()
    else:
        real.rename(planted)


@POSIX
@pytest.mark.parametrize(
    "how", ["link", "stranger", "name", "open to others", "file", "no lock", "lock is a link"]
)
def test_what_is_not_ours_is_left_alone_and_stops_nothing(place, tmp_path_factory, monkeypatch, how):
    """The folder for temporary files is everybody's, and so is the memory."""
    planted = place / (f"{PREFIX}notes" if how == "name" else LEFT)
    _plant(how, planted, tmp_path_factory.mktemp("elsewhere"))
    if how == "stranger":
        uid = os.getuid()
        monkeypatch.setattr(_shared_folders.os, "getuid", lambda: uid + 1)
    remove_left_folders()

    assert planted.is_symlink() == (how == "link")
    assert (planted if how == "file" else planted / "kept").exists()


@POSIX
@pytest.mark.parametrize("lock", [True, False])
def test_what_is_ours_and_free_goes(place, tmp_path_factory, lock):
    """The twin of the test above; a folder without a lock goes if it is empty."""
    (place / LEFT).mkdir(mode=0o700)
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "kept").touch()
    if lock:
        (place / LEFT / OWNER).touch()
        (place / LEFT / "rows").touch()
        (place / LEFT / "link").symlink_to(elsewhere)
    remove_left_folders()

    assert _names(place) == []
    assert _names(elsewhere) == ["kept"]


@POSIX
def test_a_file_that_cannot_be_removed_does_not_keep_the_others(place, monkeypatch):
    """True rows that could go must not stay because something else could not."""
    left = place / LEFT
    left.mkdir(mode=0o700)
    for name in (OWNER, "a", "b", "c", "d"):
        (left / name).write_bytes(b"")
    unlink = os.unlink

    def unlink_or_fail(name, **where):
        if name in {"a", "c"}:
            raise PermissionError
        unlink(name, **where)

    monkeypatch.setattr(os, "unlink", unlink_or_fail)
    remove_left_folders()
    kept = set(_names(left))
    monkeypatch.undo()

    assert kept == {"a", "c"}


def test_a_place_that_is_not_there_stops_nothing(monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))
    remove_left_folders()


@POSIX
@pytest.mark.parametrize("moment", ["before the file", "before the lock"])
def test_a_sweep_while_a_folder_is_made_costs_another_folder_and_nothing_else(place, monkeypatch, moment):
    """Without a second look the rows would go into a folder that is gone."""
    create, lock_file, swept = SharedFolder.create, _shared_folders.lock_file, []

    def sweep_once():
        if not swept:
            swept.append(True)
            remove_left_folders()

    def late_create(self, name):
        sweep_once()
        return create(self, name)

    def late_lock(descriptor, *, wait):
        if wait:
            sweep_once()
        lock_file(descriptor, wait=wait)

    if moment == "before the file":
        monkeypatch.setattr(SharedFolder, "create", late_create)
    else:
        monkeypatch.setattr(_shared_folders, "lock_file", late_lock)
    folder = SharedFolder(place)

    assert swept
    assert _names(place) == [folder.path.name]
    assert _names(folder.path) == [OWNER]
    folder.close()


@pytest.mark.parametrize("when", ["made", "written"])
def test_no_folder_is_left_where_the_disk_is_full(place, monkeypatch, when):
    create = SharedFolder.create

    def full(*_):
        raise OSError(28, "full")

    def create_full(self, name):
        file = create(self, name)
        file.close()
        if when == "made":
            (self.path / name).unlink()
            full()
        opened = (self.path / name).open("rb")
        return Full(opened)

    class Full:
        write = staticmethod(full)

        def __init__(self, file):
            self.fileno, self.close = file.fileno, file.close

    monkeypatch.setattr(SharedFolder, "create", create_full)
    with pytest.raises(OSError, match="full"):
        SharedFolder(place)

    assert _names(place) == []


def test_where_open_files_cannot_be_removed_the_owner_is_asked_by_its_file(place, monkeypatch):
    """The way of Windows, which has no such locks: the first step fails there as long as the owner lives."""
    monkeypatch.setattr(_shared_folders.sys, "platform", "win32")
    SharedFolder(place).close()
    closed = _names(place)
    (place / LEFT).mkdir()
    (place / LEFT / "rows").touch()
    remove_left_folders()
    without_owner = _names(place)
    (place / LEFT / OWNER).touch()
    remove_left_folders()

    assert (closed, without_owner, _names(place)) == ([], [LEFT], [])


# --- where ----------------------------------------------------------------------------------------


@pytest.fixture
def memory(place, tmp_path_factory, monkeypatch):
    """Show memory as a folder of the test's own, with a gigabyte to spare."""
    folder = tmp_path_factory.mktemp("memory")
    system = tmp_path_factory.mktemp("system")
    (system / "mounts").write_text(f"disk / ext4 rw 0 0\ntmpfs {folder} tmpfs rw 0 0\n", encoding="utf-8")
    (system / "meminfo").write_text("MemTotal: 9 kB\nMemAvailable:    1048576 kB\n", encoding="ascii")
    for name, path in {"MEMORY": folder, "MOUNTS": system / "mounts", "MEMINFO": system / "meminfo"}.items():
        monkeypatch.setattr(_shared_folders, name, path)
    return folder


@POSIX
def test_the_memory_comes_first_where_twice_the_room_is_free(place, memory, monkeypatch):
    roomy = os.statvfs_result((4096, 4096, 1 << 20, 1 << 20, 1 << 20, 9, 9, 9, 0, 255))
    monkeypatch.setattr(_shared_folders.os, "statvfs", lambda _: roomy)

    assert shared_places(1 << 20) == (memory, place)
    assert shared_places(1 << 29) == (memory, place)
    assert shared_places((1 << 29) + 1) == (place,)


@POSIX
@pytest.mark.parametrize(
    "how", ["a disk", "hidden by a disk", "not there", "no mounts", "open to all", "does not say", "full"]
)
def test_a_memory_that_will_not_do_is_passed_over(place, memory, monkeypatch, how):
    """A disk keeps what is removed; in a folder that is open to all, others could rename ours."""
    mounts, meminfo = _shared_folders.MOUNTS, _shared_folders.MEMINFO
    if how == "a disk":
        mounts.write_text(f"disk {memory} ext4 rw 0 0\n", encoding="utf-8")
    elif how == "hidden by a disk":
        mounts.write_text(f"tmpfs {memory} tmpfs rw 0 0\ndisk {memory} ext4 rw 0 0\n", encoding="utf-8")
    elif how == "not there":
        memory.rmdir()
    elif how == "no mounts":
        mounts.unlink()
    elif how == "open to all":
        memory.chmod(0o777)
    elif how == "does not say":
        meminfo.write_text("MemTotal: 9 kB\n", encoding="ascii")
    else:
        full = os.statvfs_result((4096, 4096, 9, 0, 0, 9, 9, 9, 0, 255))
        monkeypatch.setattr(_shared_folders.os, "statvfs", lambda _: full)

    assert shared_places(1) == (place,)


@POSIX
def test_a_memory_that_is_open_to_all_is_used_where_nobody_can_rename_what_others_made(memory):
    memory.chmod(0o1777)

    assert memory in shared_places(1)


@POSIX
def test_what_was_left_in_the_memory_goes_too(memory):
    (memory / LEFT).mkdir(mode=0o700)
    (memory / LEFT / OWNER).touch()
    remove_left_folders()

    assert _names(memory) == []
