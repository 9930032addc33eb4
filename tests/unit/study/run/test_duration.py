"""How long a study takes, told before it starts."""

from dataclasses import replace

import numpy as np
import pytest

from evenhand.study.plan.plan import Plan
from evenhand.study.plan.source import DataSource
from evenhand.study.run import duration as module
from evenhand.study.run.duration import Duration, duration
from evenhand.study.run.prepare import prepare
from evenhand.study.tasks.collect.task import CollectTask


@pytest.fixture(scope="module", name="prepared")
def _prepared():
    return prepare(Plan(data=DataSource(dataset="causal", options={"n": 1000})))


@pytest.fixture
def timed(monkeypatch):
    """Make cells take a second, and a protected one two more for every 10,000 rows."""
    now = [0.0]

    def execute(cell, *, plan, prepared):
        now[0] += 1 + 2 * cell.setting.is_protected * prepared.facts.rows / 10_000

    monkeypatch.setattr(module, "execute", execute)
    return lambda: now[0]


def test_few_rows_are_timed_whole(prepared, timed):
    plan = Plan(task=CollectTask("grr", [1, 2, 4]), repeats=5)
    found = duration(plan, prepared, workers=2, clock=timed)

    cell = (1 + 3 * 1.2) / 4
    assert found.seconds() == pytest.approx(found.start + cell * 20 / 2)
    assert found.cells == 20


def test_many_rows_are_told_from_two_parts(prepared, timed, monkeypatch):
    """Timing whole cells on two million rows would take as long as many a study."""
    monkeypatch.setattr(module, "_SMALL", 100)
    monkeypatch.setattr(module, "_LARGE", 300)
    found = duration(Plan(task=CollectTask("grr", [1, 2, 4]), repeats=5), prepared, workers=4, clock=timed)

    cell = (1 + 3 * 1.2) / 4
    assert found.seconds() == pytest.approx(found.start + cell * 20 / 4)
    assert found.seconds(0) == pytest.approx(found.start + 20 / 4)


def test_a_few_cells_do_not_use_more_workers_than_there_are():
    assert Duration(10, 2, (1.0, 0.0), 8).seconds() == 1


def test_rows_are_offered_as_a_round_number():
    assert Duration(2_000_000, 100, (0.0, 1e-5), 1).rows_within(600) == 600_000
    assert Duration(2_000_000, 100, (0.0, 1.3e-5), 1).rows_within(600) == 400_000
    assert Duration(2_000_000, 100, (7.0, 1e-5), 1).rows_within(600) is None
    assert Duration(2_000_000, 100, (1.0, 0.0), 1).rows_within(600) is None


def test_a_part_of_the_rows_keeps_both_outcomes_in_proportion(prepared):
    part = prepared.subset(200)

    assert part.facts.rows == len(part.target) == 200
    assert np.mean(part.target) == pytest.approx(np.mean(prepared.target), abs=0.01)
    assert all(len(codes) == 200 for codes in part.codes.values())
    assert prepared.subset(5_000) is prepared


def test_a_rare_outcome_is_in_every_part(prepared):
    rare = replace(prepared, target=np.array([1] * 2 + [0] * 998, np.uint8))

    assert rare.subset(500).target.sum() == 1
