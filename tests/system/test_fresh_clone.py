"""A newcomer's first command works on a machine that has only Python, make and git."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.system


def test_the_demo_runs_in_a_fresh_clone_with_a_fresh_home(root, tmp_path):
    """Whatever was installed or cached on this machine must not be what makes it work."""
    clone, home = tmp_path / "clone", tmp_path / "home"
    home.mkdir()
    subprocess.run(["git", "clone", "--quiet", str(root), str(clone)], check=True)
    kept = {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
    environment = {**kept, "HOME": str(home), "LANG": "C.UTF-8", "PATH": "/usr/local/bin:/usr/bin:/bin"}
    python = Path(sys.base_prefix) / "bin" / "python3"
    done = subprocess.run(
        ["make", f"PYTHON={python}", "demo"],
        cwd=clone,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert "gap" in done.stdout
    assert (clone / "evenhand-demo" / "report.html").stat().st_size > 50_000
