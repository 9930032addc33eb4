"""A process that is killed while it publishes leaves no table without its charge."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

DRIVER = pathlib.Path(__file__).with_name("_crash_driver.py")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="children are forked")
@pytest.mark.parametrize(
    "kills", [pytest.param(10, marks=pytest.mark.figures), pytest.param(200, marks=pytest.mark.nightly)]
)
def test_a_kill_leaves_no_table_without_its_charge(tmp_path, kills):
    """At most the charge that was in flight has no table."""
    command = [sys.executable, str(DRIVER), str(tmp_path), str(kills), "7"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    counts = json.loads(done.stdout)

    assert len(counts) == kills
    assert counts[-1]["tables"] > 0  # the children did publish
    for number, count in enumerate(counts, start=1):
        assert count["uncharged"] == []
        assert count["tables"] <= count["charges"] <= count["tables"] + number
