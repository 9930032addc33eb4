"""A crash loses nothing that was finished (E1)."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from attacks import _study_cells as cells
from attacks._study_cells import LOG, PAUSE, LightRunner, cell_names, cheap, small_plan, starts
from evenhand.study.store.canonical import canonical_table
from evenhand.study.store.store import Store

TESTS = Path(cells.__file__).parent.parent


def _begun(folder, *, workers, grid, pause):
    """Start or resume the study in a process group of its own."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(TESTS),
        "TMPDIR": str(folder),
        LOG: str(folder / "log"),
        PAUSE: str(pause),
    }
    program = TESTS / "attacks" / "_study_cells.py"
    command = [sys.executable, program, folder / "study", "logged", workers, *grid]
    return subprocess.Popen(
        [str(part) for part in command],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )


def _killed(folder, *, lines, seconds, **study):
    """Run until so many lines were printed, and so many seconds more; return the cells that were told."""
    with _begun(folder, **study) as process:
        seen = [process.stdout.readline() for _ in range(lines)]
        time.sleep(seconds)
        os.killpg(process.pid, signal.SIGKILL)
        return cell_names([*seen, *process.stdout.readlines()])


def _sweep(folder, *, kills, rows, workers, pause):
    """Kill a study `kills` times, finish it, and check everything that E1 asks for."""
    rng = random.Random(20_261_115)
    repeats = rows // 2
    study = {"workers": workers, "grid": (repeats, 1), "pause": pause}
    told, wasted = set(), 0
    for kill in range(kills):
        early = kill % 5 == 4  # in the middle of the start
        lines = 0 if early else rng.randint(1, max(2, 2 * rows // kills))
        seconds = rng.uniform(0, 1.5 if early else 0.06)
        told |= set(_killed(folder, lines=lines, seconds=seconds, **study))
        if told:
            with Store.open(folder / "study") as store:
                stored = {outcome.cell.id for outcome in store.outcomes()}
            before, wasted = wasted, len(starts(folder / "log")) - len(stored)

            assert told <= stored  # what was told as finished is there
            assert wasted - before <= workers  # at most one per worker is computed again
    with _begun(folder, **study) as process:
        process.communicate()
    with Store.open(folder / "study") as store:
        final, problems = store.outcomes(), store.verify()
    straight = LightRunner(small_plan([1], repeats=repeats), workers=1, execute=cheap)
    list(straight.events())
    begun = starts(folder / "log")

    assert problems == ()
    assert canonical_table(final) == canonical_table(straight.outcomes.values())
    assert set(begun) == {outcome.cell.id for outcome in final}
    assert len(begun) - len(final) == wasted
    return {"again": len(begun) - len(final), "told": len(told), "cells": len(final)}


@pytest.mark.figures
def test_killing_a_study_loses_no_finished_cell(tmp_path):
    found = _sweep(tmp_path, kills=2, rows=12, workers=1, pause=0.01)

    assert found["cells"] == 12


@pytest.mark.slow
def test_killing_a_study_with_workers_loses_no_finished_cell(tmp_path):
    found = _sweep(tmp_path, kills=5, rows=30, workers=2, pause=0.02)

    assert found["cells"] == 30


@pytest.mark.nightly
def test_fifty_kills_lose_no_finished_cell(tmp_path):
    """E1 in full: 200 cells, 50 moments."""
    found = _sweep(tmp_path, kills=50, rows=200, workers=2, pause=0.05)
    print(found)  # noqa: T201 - the figures, for `pytest -s`

    assert found["cells"] == 200
