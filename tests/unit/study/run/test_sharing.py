"""Rows are shared by files that only this person can read, and that go."""

import stat
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from evenhand import _shared_folders
from evenhand.errors import StudyStoreError
from evenhand.study.run.workers import Shared, open_arrays


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
    shared = Shared(ROWS)
    back = open_arrays(shared.prepared)

    assert back.target.dtype == np.uint8
    assert back.target.tolist() == [0, 1, 2, 3, 4]
    assert back.codes["a"].tolist() == [0, 1, 2]
    assert (back.label, back.empty.size) == ("rows", 0)
    shared.close()


def test_nobody_can_write_into_what_is_mapped():
    """A cell that changed the rows would change every cell after it."""
    shared = Shared(ROWS)
    back = open_arrays(shared.prepared)

    with pytest.raises(ValueError, match="read-only"):
        back.target[0] = 1
    shared.close()


def test_what_is_sent_to_a_worker_is_small():
    """Rows that are pickled for every worker would cost more than the cells."""
    from multiprocessing.reduction import ForkingPickler

    shared = Shared(Rows(np.zeros(10**6)))

    assert len(ForkingPickler.dumps(shared.prepared)) < 1000
    shared.close()


def test_the_files_are_private_and_go(place):
    shared = Shared(ROWS)
    (folder,) = place.iterdir()

    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()} == {0o600}
    shared.close()
    assert list(place.iterdir()) == []


def test_nothing_is_left_if_sharing_fails(place, monkeypatch):
    """A full disk is told with what to do, and no private rows stay there; nor after Ctrl-C."""
    errors = {OSError(28, "No space left on device"): StudyStoreError, KeyboardInterrupt(): KeyboardInterrupt}
    for error, told in errors.items():
        monkeypatch.setattr(np, "save", lambda *_, error=error, **__: (_ for _ in ()).throw(error))

        with pytest.raises(told) as caught:
            Shared(ROWS)
        assert list(place.iterdir()) == []
        assert told is KeyboardInterrupt or "workers=1" in str(caught.value)


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_where_the_memory_is_full_the_folder_for_temporary_files_is_used(place, memory, monkeypatch, error):
    """The room that was free a moment ago may be taken; Ctrl-C is no reason to go on."""
    save = np.save

    def full(file, value, **more):
        if list(memory.iterdir()):
            raise error
        save(file, value, **more)

    monkeypatch.setattr(np, "save", full)
    if isinstance(error, KeyboardInterrupt):
        with pytest.raises(KeyboardInterrupt):
            Shared(ROWS)
    else:
        shared = Shared(ROWS)
        assert Path(shared.prepared.target.path).parent.parent == place
        shared.close()
    assert [*memory.iterdir(), *place.iterdir()] == []


def test_rows_are_shared_in_the_memory_where_there_is_one(place, memory):
    shared = Shared(ROWS)

    assert Path(shared.prepared.target.path).parent.parent == memory
    assert list(place.iterdir()) == []
    shared.close()
    assert list(memory.iterdir()) == []


def test_where_there_is_no_folder_at_all_it_is_said(monkeypatch):
    def none():
        raise FileNotFoundError(2, "No usable temporary directory")

    monkeypatch.setattr(tempfile, "gettempdir", none)
    with pytest.raises(StudyStoreError, match="workers=1"):
        Shared(ROWS)
