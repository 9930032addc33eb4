"""Rows are shared by files that only this person can read, and that go."""

import os
import stat
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from evenhand.errors import StudyStoreError
from evenhand.study import sharing
from evenhand.study.sharing import Shared, opened, sweep


@dataclass(frozen=True)
class Rows:
    target: object
    codes: dict = field(default_factory=dict)
    label: str = "rows"
    empty: object = None


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    """Share in a folder of the test's own."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


ROWS = Rows(np.arange(5, dtype=np.uint8), {"a": np.arange(3, dtype=np.uint16)}, empty=np.zeros(0))


def test_what_is_mapped_is_what_was_shared():
    shared = Shared(ROWS)
    back = opened(shared.prepared)

    assert back.target.dtype == np.uint8
    assert back.target.tolist() == [0, 1, 2, 3, 4]
    assert back.codes["a"].tolist() == [0, 1, 2]
    assert (back.label, back.empty.size) == ("rows", 0)
    shared.close()


def test_nobody_can_write_into_what_is_mapped():
    """A cell that changed the rows would change every cell after it."""
    shared = Shared(ROWS)
    back = opened(shared.prepared)

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


def test_what_a_killed_process_left_is_removed_and_nothing_else(place):
    """Private rows must not lie about because a study was killed."""
    program = (
        "import os, signal, tempfile\nimport numpy as np\nfrom unit_rows import Rows\n"
        "from evenhand.study.sharing import Shared\nshared = Shared(Rows(np.zeros(3)))\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    (place / "unit_rows.py").write_text(
        "from dataclasses import dataclass\n@dataclass\nclass Rows:\n    target: object\n", encoding="ascii"
    )
    environment = {**os.environ, "TMPDIR": str(place), "PYTHONPATH": str(place)}
    subprocess.run([sys.executable, "-c", program], env=environment, check=False)
    (left,) = place.glob(f"{sharing.PREFIX}*")
    ours = Shared(ROWS)
    ours_folder = Path(ours.prepared.target.path).parent
    other = place / f"{sharing.PREFIX}other"
    other.mkdir()
    young = left.exists()
    for folder in (left, ours_folder, other):
        os.utime(folder, (0, 0))
    sweep()

    assert young
    assert not left.exists()
    assert ours_folder.exists()
    assert other.exists()
    ours.close()


@pytest.mark.parametrize("how", ["garbage", "link", "stranger"])
def test_what_somebody_else_put_there_is_left_alone_and_stops_nothing(
    place, tmp_path_factory, monkeypatch, how
):
    """The folder for temporary files is everybody's: one bad name in it must not stop every study."""
    real = tmp_path_factory.mktemp("elsewhere")
    (real / "held.lock").write_text("no database " * 400 if how == "garbage" else "", encoding="ascii")
    (real / "kept").touch()
    planted = place / f"{sharing.PREFIX}planted"
    if how == "link":
        planted.symlink_to(real, target_is_directory=True)
    else:
        real.rename(planted)
    if how == "stranger":
        uid = os.getuid()
        monkeypatch.setattr(sharing.os, "getuid", lambda: uid + 1)
    os.utime(planted, (0, 0), follow_symlinks=False)
    sweep()

    assert (planted / "kept").exists()
