"""A study runs to its end, or stops cleanly."""

from importlib import import_module

import pytest

from attacks._study_cells import cheap, small_plan
from evenhand.study.run.events import Cancel, Cancelled, CellDone, Finished, StageDone, Started
from evenhand.study.run.whole import run
from evenhand.study.store.store import Store

PLAN = small_plan()
FOLLOW = import_module("evenhand.study.run.whole")  # the package has a function of this name


@pytest.fixture(autouse=True)
def _cheap_cells(monkeypatch):
    monkeypatch.setattr(FOLLOW, "execute", cheap)


def test_the_results_are_those_of_every_cell(tmp_path):
    results = run(PLAN, out=tmp_path, workers=1, progress=False)

    assert len(results) == 6
    assert results.plan is PLAN
    assert results.facts.rows == 60


def test_whoever_asks_hears_every_event():
    seen = []
    run(PLAN, workers=1, progress=seen.append)

    heard = [type(event) for event in seen]
    assert heard == [Started, *[CellDone] * 4, StageDone, *[CellDone] * 2, Finished]


def test_a_token_gives_the_results_that_there_are():
    cancel = Cancel()
    results = run(PLAN, workers=1, cancel=cancel, progress=lambda e: e.done == 2 and cancel.request())

    assert len(results) == 2


@pytest.mark.parametrize("kept", [True, False])
def test_ctrl_c_stores_what_is_finished_and_says_how_to_go_on(tmp_path, kept):
    seen = []

    def press(event):
        seen.append(event)
        if event.done == 3 and not isinstance(event, Cancelled):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as caught:
        run(PLAN, out=tmp_path if kept else None, workers=1, progress=press)

    assert "3 of 6 runs" in str(caught.value)
    assert ("--resume" in str(caught.value)) == kept
    assert seen[-1] == Cancelled(done=3, failed=0, total=6)
    if kept:
        with Store.open(tmp_path) as store:
            assert len(store.outcomes()) == 3
        assert len(run(PLAN, out=tmp_path, workers=1, resume=True)) == 6


def test_ctrl_c_in_a_cell_stops_the_study(tmp_path, monkeypatch):
    def pressed(cell, *, plan, prepared):
        if cell == PLAN.cells()[-1]:
            raise KeyboardInterrupt
        return cheap(cell, plan=plan, prepared=prepared)

    monkeypatch.setattr(FOLLOW, "execute", pressed)
    with pytest.raises(KeyboardInterrupt, match="5 of 6 runs"):
        run(PLAN, out=tmp_path, workers=1, progress=False)


def test_a_frame_can_be_given_instead_of_a_file(tmp_path):
    from evenhand.datasets import load

    rows = load("causal", n=60)
    plan = PLAN.with_(data=None, schema=rows.schema)
    first = run(plan, frame=rows.frame, out=tmp_path, workers=1, progress=False)
    again = run(plan, frame=rows.frame, out=tmp_path, workers=1, resume=True, progress=False)

    assert len(again) == len(first) == 6
