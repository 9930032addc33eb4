"""Wheel and source distribution are the same bytes whoever builds them, wherever."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.system


def test_two_builds_in_two_folders_are_the_same_to_the_byte(root, tmp_path):
    """Nobody could check that a file on an index was made from this source."""
    pytest.importorskip("hatchling", reason="`make builds` brings what it needs")
    done = subprocess.run(
        [sys.executable, "-P", str(root / "tools" / "try_builds.py"), str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("the same twice") == 2
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".gz", ".whl"]
