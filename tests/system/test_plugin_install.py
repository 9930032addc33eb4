"""The example package is found by evenhand once pip has installed it."""

import json
import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.system


def test_pip_installs_the_example_and_doctor_lists_it(root, tmp_path):
    """The entry points that pip writes must be those that evenhand reads."""
    place = tmp_path / "site"
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--no-deps"]
    subprocess.run([*command, "--target", str(place), str(root / "examples" / "plugin")], check=True)
    code = "from evenhand.cli import main; main()"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(root / "src"), str(place)])}
    done = subprocess.run(
        [sys.executable, "-c", code, "doctor", "--json"],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    found = [each for each in json.loads(done.stdout)["findings"] if each["topic"].startswith("plugin")]

    assert [each["state"] for each in found] == ["Ready"] * 6
    assert all("evenhand-example 0.1" in each["text"] for each in found)
