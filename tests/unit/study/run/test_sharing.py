"""Rows are shared by files that only this person can read, and that go."""

import pickle
import stat
import tempfile
from dataclasses import dataclass, field

import numpy as np
import pytest

from evenhand import _shared_folders
from evenhand._shared_folders import OWNER, SharedFolder
from evenhand._shared_objects import SharedObject
from evenhand.errors import StudyStoreError


@dataclass(frozen=True)
class Rows:
    target: object
    codes: dict = field(default_factory=dict)
    label: str = "rows"
    empty: object = None


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    """Share in a folder of the test's own, on a system that does not show its memory as one."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(_shared_folders, "MEMORY", tmp_path / "no memory")
    return tmp_path


@pytest.fixture
def memory(tmp_path_factory, monkeypatch):
    """Show memory as a folder of the test's own."""
    folder = tmp_path_factory.mktemp("memory")
    system = tmp_path_factory.mktemp("system")
    (system / "mounts").write_text(f"tmpfs {folder} tmpfs rw 0 0\n", encoding="utf-8")
    (system / "meminfo").write_text("MemAvailable: 1048576 kB\n", encoding="ascii")
    monkeypatch.setattr(_shared_folders, "MEMORY", folder)
    monkeypatch.setattr(_shared_folders, "MOUNTS", system / "mounts")
    monkeypatch.setattr(_shared_folders, "MEMINFO", system / "meminfo")
    return folder


ROWS = Rows(np.arange(5, dtype=np.uint8), {"a": np.arange(3, dtype=np.uint16)}, empty=np.zeros(0))


def test_what_is_mapped_is_what_was_shared():
    shared = SharedObject(ROWS)
    back = pickle.loads(shared.message)

    assert back.target.dtype == np.uint8
    assert back.target.tolist() == [0, 1, 2, 3, 4]
    assert back.codes["a"].tolist() == [0, 1, 2]
    assert (back.label, back.empty.size) == ("rows", 0)
    assert all(array.ctypes.data % 64 == 0 for array in (back.target, back.codes["a"]))
    shared.close()


def test_nobody_can_write_into_what_is_mapped():
    """A cell that changed the rows would change every cell after it."""
    shared = SharedObject(ROWS)
    back = pickle.loads(shared.message)

    with pytest.raises(ValueError, match="read-only"):
        back.target[0] = 1
    shared.close()


def test_what_is_sent_to_a_worker_is_small():
    """Rows that are pickled for every worker would cost more than the cells."""
    few, many = SharedObject(Rows(np.zeros(10))), SharedObject(Rows(np.zeros(10**6)))

    assert len(many.message) < len(few.message) + 100
    few.close()
    many.close()


def test_the_files_are_private_and_go(place):
    shared = SharedObject(ROWS)
    (folder,) = place.iterdir()

    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()} == {0o600}
    shared.close()
    assert list(place.iterdir()) == []


class FullFile:
    """A file that cannot be written."""

    def __init__(self, error):
        self.error = error

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None

    def write(self, _):
        raise self.error


def fill(monkeypatch, error, place):
    """Let no arrays be written into the folders of a place."""
    create = SharedFolder.create

    def create_full(self, name):
        made = create(self, name)
        if name == OWNER or self.path.parent != place:
            return made
        made.close()
        return FullFile(error)

    monkeypatch.setattr(SharedFolder, "create", create_full)


FULL = OSError(28, "No space left on device")


@pytest.mark.parametrize(
    ("error", "told"), [(FULL, StudyStoreError), (KeyboardInterrupt(), KeyboardInterrupt)]
)
def test_nothing_is_left_if_sharing_fails(place, monkeypatch, error, told):
    """A full disk is told with what to do, and no private rows stay there; nor after Ctrl-C."""
    fill(monkeypatch, error, place)

    with pytest.raises(told) as caught:
        SharedObject(ROWS)
    assert list(place.iterdir()) == []
    assert told is KeyboardInterrupt or "workers=1" in str(caught.value)


@pytest.mark.parametrize("error", [FULL, KeyboardInterrupt()])
def test_where_the_memory_is_full_the_folder_for_temporary_files_is_used(place, memory, monkeypatch, error):
    """The room that was free a moment ago may be taken; Ctrl-C is no reason to go on."""
    fill(monkeypatch, error, memory)
    if isinstance(error, KeyboardInterrupt):
        with pytest.raises(KeyboardInterrupt):
            SharedObject(ROWS)
    else:
        shared = SharedObject(ROWS)
        assert shared.folder.path.parent == place
        shared.close()
    assert [*memory.iterdir(), *place.iterdir()] == []


def test_rows_are_shared_in_the_memory_where_there_is_one(place, memory):
    shared = SharedObject(ROWS)

    assert shared.folder.path.parent == memory
    assert list(place.iterdir()) == []
    shared.close()
    assert list(memory.iterdir()) == []


def test_where_there_is_no_folder_at_all_it_is_said(monkeypatch):
    def none():
        raise FileNotFoundError(2, "No usable temporary directory")

    monkeypatch.setattr(tempfile, "gettempdir", none)
    with pytest.raises(StudyStoreError, match="workers=1"):
        SharedObject(ROWS)
