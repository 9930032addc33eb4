"""True codes that a killed study left are gone after any later command."""

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from attacks import _study_cells as cells
from attacks._study_cells import LOG, PAUSE, cell_names

TESTS = Path(cells.__file__).parent.parent
POSIX = pytest.mark.skipif(not hasattr(os, "killpg"), reason="process groups are of POSIX systems")
pytestmark = POSIX


def _begin(folder):
    """Start a study with two workers, in a process group of its own; return it once a cell is finished."""
    environment = {**os.environ, "PYTHONPATH": str(TESTS), "TMPDIR": str(folder)}
    environment |= {LOG: str(folder / "log"), PAUSE: "0.2"}
    program = TESTS / "attacks" / "_study_cells.py"
    command = [sys.executable, program, folder / "study", "logged", 2, 100, 1]
    study = subprocess.Popen(
        [str(part) for part in command],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    while not cell_names([line := study.stdout.readline()]):
        assert line, "the study ended without a cell"
    return study


def _shared(folder, study):
    """Return the folders of a study's shared rows, in the memory and in the folder for temporary files."""
    in_memory = [place for place in Path("/dev/shm").glob("evenhand-study-*") if _owner(place) == study.pid]
    return [*in_memory, *folder.glob("evenhand-study-*")]


def _owner(place):
    """Return the process that shares a folder, or None if the folder is just made or removed."""
    try:
        return int((place / "owner.lock").read_text(encoding="ascii"))
    except (FileNotFoundError, ValueError):
        return None


def _light_command(folder, *words):
    command = [sys.executable, "-c", "from evenhand.cli import main; main()", *words]
    environment = {**os.environ, "TMPDIR": str(folder)}
    done = subprocess.run(command, env=environment, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "words", [["--version"], pytest.param(["datasets", "--quiet"], marks=pytest.mark.figures)]
)
def test_what_a_killed_study_left_can_be_read_by_its_owner_alone_and_goes_with_any_command(tmp_path, words):
    """It holds what the study protects: the true code of every person.

    It is looked at before the kill, since any command on this machine may sweep it away from then on.
    """
    with _begin(tmp_path) as study:
        (left,) = _shared(tmp_path, study)
        _light_command(tmp_path, *words)
        inside = list(left.iterdir())
        modes = {stat.S_IMODE(left.stat().st_mode), *(stat.S_IMODE(path.stat().st_mode) for path in inside)}
        os.killpg(study.pid, signal.SIGKILL)
    _light_command(tmp_path, *words)

    assert len(inside) > 1
    assert modes == {0o700, 0o600}
    assert not left.exists()


@pytest.mark.figures
def test_a_later_study_in_python_removes_it_too(tmp_path):
    with _begin(tmp_path) as study:
        (left,) = _shared(tmp_path, study)
        before = left.exists()
        os.killpg(study.pid, signal.SIGKILL)
    program = (
        "import evenhand as eh\nfrom evenhand.study import DataSource, Plan\n"
        "eh.run(Plan(data=DataSource(dataset='causal', options={'n': 300}), repeats=1), workers=1)\n"
    )
    subprocess.run([sys.executable, "-c", program], env={**os.environ, "TMPDIR": str(tmp_path)}, check=True)

    assert (before, left.exists()) == (True, False)
