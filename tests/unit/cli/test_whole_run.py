"""From a file to a report, with nothing put in place of anything."""

import json
import os
import pty
import re
import resource
import select
import signal
import subprocess
import sys
import time

import pytest

from evenhand.study.results.results import Results
from unit.cli.conftest import ROLES, people

QUICK = [
    "--sensitive", "sex", "--epsilon", "1", "--protocol", "grr", "--repeats", "2", "--model", "logistic",
    "--anyway",
]  # fmt: skip


def test_a_file_becomes_a_report_that_holds_what_the_terminal_says(call, file, tmp_path):
    done = call("audit", file, *ROLES, *QUICK, "--workers", 1, "--out", "s", "--json")

    told = json.loads(done.stdout)
    page = (tmp_path / "s" / "report.html").read_text(encoding="utf-8")
    kept = Results.load(tmp_path / "s")
    assert done.exit_code == 0
    assert told["cells"] == len(kept) == len(kept.plan.cells()) == 8
    assert len(told["answers"]) == 3
    assert "people.csv" in page
    assert (tmp_path / "s" / "cells.csv").read_text(encoding="utf-8").count("\n") == 9
    assert done.stderr.count("Warning") >= 1


@pytest.mark.figures
def test_the_same_folder_again_needs_resume(call, file):
    call("audit", file, *ROLES, *QUICK, "--workers", 1, "--out", "s")
    again = call("audit", file, *ROLES, *QUICK, "--workers", 1, "--out", "s")
    resumed = call("audit", "--resume", "--out", "s", "--workers", 1, "--quiet")

    assert again.exit_code == 2
    assert "--resume" in again.stderr
    assert resumed.exit_code == 0
    assert resumed.stdout.split()[0] == "s/report.html"


def _evenhand(*arguments, **options):
    code = "from evenhand.cli import main; main()"
    return subprocess.Popen([sys.executable, "-c", code, *map(str, arguments)], **options)


@pytest.mark.slow
def test_ctrl_c_in_a_terminal_keeps_what_is_finished(tmp_path):
    """A person who stops after an hour must not lose it."""
    people(tmp_path / "people.csv", rows=4_000)
    here, there = pty.openpty()
    environment = os.environ | {"TERM": "xterm", "COLUMNS": "100"}
    words = ["audit", "people.csv", *ROLES, "--sensitive", "sex,age", "--repeats", 60, "--out", "s"]
    process = _evenhand(
        *words, cwd=tmp_path, stdin=there, stdout=there, stderr=there, env=environment, start_new_session=True
    )
    os.close(there)
    seen, ends, stopped = "", time.monotonic() + 300, False
    while time.monotonic() < ends:
        if not select.select([here], [], [], 1)[0]:
            continue
        try:
            seen += os.read(here, 4096).decode(errors="replace")
        except OSError:
            break
        if not stopped and re.search(r"[1-9]\d*/540", seen):
            os.killpg(process.pid, signal.SIGINT)
            stopped = True

    assert process.wait(60) == 130
    assert "Go on with: evenhand audit --resume --out s" in " ".join(seen.split())
    assert 1 <= len(Results.load(tmp_path / "s")) < 540


@pytest.fixture(scope="module")
def toured(tmp_path_factory):
    """Take the tour once; return what it tells, and the seconds of a processor that it took.

    Seconds of a processor, so that whatever else runs on the machine does not matter.
    """
    folder = tmp_path_factory.mktemp("tour")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    process = _evenhand("demo", "--json", cwd=folder, stdout=subprocess.PIPE, text=True)
    out, _ = process.communicate(timeout=900)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)

    assert process.returncode == 0
    return json.loads(out), after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@pytest.mark.slow
def test_the_demo_takes_less_than_a_minute(toured):
    told, seconds = toured

    assert told["files"]["report"].endswith("evenhand-demo/report.html")
    assert seconds < 60


@pytest.mark.slow
def test_the_demo_finds_who_pays_and_its_last_words_are_true(toured):
    """A tour that ends with "nothing is clear" shows nobody what evenhand is for."""
    told, _ = toured
    who, much, _ = told["answers"]
    protected = [row for row in told["summary"] if row["epsilon"]]
    changes = [row["groups"]["0"]["selection_change"]["value"] for row in protected]

    assert who.startswith("One group clearly pays, A = 0")
    assert "because selection falls for A = 0" in much
    assert len(changes) == 15
    assert max(changes) < -0.05  # neither another protocol nor a larger epsilon spares them
