"""A cell that has begun is not in the store until it has ended, whatever ends the study meanwhile.

A cell stored before it ran would be taken for finished by the next run, which then shows a table that nobody
computed.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from attacks import _study_cells as cells
from attacks._study_cells import LOG, WORKERS, LightRunner, cheap, small_plan, starts
from evenhand.study.store.canonical import canonical_table
from evenhand.study.store.store import Store

pytestmark = pytest.mark.figures

PLAN = small_plan([1], repeats=3)  # six cells
TESTS = Path(cells.__file__).parent.parent


@pytest.fixture(scope="module")
def straight():
    """The table of the study run in one go, without a store."""
    runner = LightRunner(PLAN, workers=1, execute=cheap)
    list(runner.events())
    return canonical_table(runner.outcomes.values())


def _stored(folder):
    """Return the finished cells; a study that finished none leaves no store that would block the next."""
    if not (folder / "study.db").exists():
        return ()
    with Store.open(folder) as store:
        return store.outcomes()


def test_while_a_cell_runs_the_store_holds_exactly_those_before_it(tmp_path):
    seen = []

    def watched(cell, *, plan, prepared):
        seen.append((cell.id, [outcome.cell.id for outcome in _stored(tmp_path)]))
        return cheap(cell, plan=plan, prepared=prepared)

    list(LightRunner(PLAN, out=tmp_path, workers=1, execute=watched).events())
    names = [cell.id for cell in PLAN.cells()]

    assert seen == [(name, names[:place]) for place, name in enumerate(names)]


@pytest.mark.figures
def test_with_several_workers_a_cell_that_runs_is_not_in_the_store(tmp_path, monkeypatch):
    monkeypatch.setenv(LOG, str(tmp_path / "log"))
    list(LightRunner(PLAN, out=tmp_path / "study", workers=2, execute=cells.peeking).events())

    assert (tmp_path / "log").read_text(encoding="ascii").split() == ["False"] * len(PLAN.cells())


@pytest.mark.parametrize("place", range(len(PLAN.cells())))
def test_an_interrupted_cell_is_computed_by_the_next_run(tmp_path, place, straight):
    """One worker: the cell runs in the process of the person who presses Ctrl-C."""
    begun = []

    def interrupted(cell, *, plan, prepared):
        begun.append(cell.id)
        if len(begun) == place + 1:
            raise KeyboardInterrupt
        return cheap(cell, plan=plan, prepared=prepared)

    with pytest.raises(KeyboardInterrupt):
        list(LightRunner(PLAN, out=tmp_path, workers=1, execute=interrupted).events())
    names = [cell.id for cell in PLAN.cells()]

    assert [outcome.cell.id for outcome in _stored(tmp_path)] == names[:place]
    runner = LightRunner(PLAN, out=tmp_path, workers=1, resume=True, execute=interrupted)
    list(runner.events())
    assert begun == [*names[: place + 1], *names[place:]]
    assert canonical_table(_stored(tmp_path)) == straight
    assert canonical_table(runner.outcomes.values()) == straight


@pytest.mark.parametrize("place", range(len(PLAN.cells())))
def test_a_store_that_cannot_be_written_leaves_the_cell_to_be_computed(
    tmp_path, place, straight, monkeypatch
):
    """The cell has ended, but nothing of it is on the disk."""
    write, written = Store.write, []

    def failing(store, outcome):
        written.append(outcome.cell.id)
        if len(written) == place + 1:
            raise OSError("the disk is full")
        write(store, outcome)

    monkeypatch.setattr(Store, "write", failing)
    with pytest.raises(OSError, match="the disk is full"):
        list(LightRunner(PLAN, out=tmp_path, workers=1, execute=cheap).events())

    assert len(_stored(tmp_path)) == place
    list(LightRunner(PLAN, out=tmp_path, workers=1, resume=True, execute=cheap).events())
    assert canonical_table(_stored(tmp_path)) == straight


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.figures)])
def test_a_study_killed_in_the_middle_of_a_cell_computes_it_after_all(tmp_path, workers, straight):
    environment = {
        **os.environ,
        "PYTHONPATH": str(TESTS),
        "TMPDIR": str(tmp_path),
        LOG: str(tmp_path / "log"),
        WORKERS: str(workers),
    }
    program = [
        sys.executable,
        TESTS / "attacks" / "_study_cells.py",
        tmp_path / "study",
        "fatal",
        workers,
        3,
        1,
    ]
    command = [str(part) for part in program]
    third = PLAN.cells()[2].id
    killed = subprocess.run(command, env=environment, check=False, capture_output=True)
    assert killed.returncode == -9
    before = [outcome.cell.id for outcome in _stored(tmp_path / "study")]
    subprocess.run(command, env=environment, check=True, capture_output=True)

    assert third not in before
    assert starts(tmp_path / "log").count(third) == 2
    assert canonical_table(_stored(tmp_path / "study")) == straight
