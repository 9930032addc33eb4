"""How long the other runs take is told from the first of them, whatever the settings cost."""

from collections import deque
from importlib import import_module

import numba
import pytest

from attacks._study_cells import cheap, small_plan
from evenhand.study.plan.plan import Plan
from evenhand.study.run.events import Finished, Timed
from evenhand.study.run.pace import Pace, RunTime, compile_clock, spread_first_repeat
from evenhand.study.run.whole import Runner
from evenhand.study.tasks.collect.task import CollectTask


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def simulate(
    cost,
    *,
    workers,
    start=5.0,
    repeats=10,
    protocols=("grr", "oue", "ss"),
    epsilons=(1, 2, 4),
    compiling=0.0,
    is_measured=True,
):
    """Hand out cells as a pool does; return what was told, when, and when the last cell was done.

    The first run of each mechanism compiles for a while, which the pace is told only if it is measured.
    """
    plan = Plan(task=CollectTask(protocols, epsilons), repeats=repeats)
    cells = spread_first_repeat(plan.cells())
    clock = Clock()
    pace = Pace(cells, workers=workers, clock=clock)
    waiting, running, told = deque(cells), [], None
    compiled = set()

    def begin(since, before=0.0):
        cell = waiting.popleft()
        extra = 0.0 if cell.setting.mechanism in compiled else compiling
        compiled.add(cell.setting.mechanism)
        running.append((since + before + cost(cell.setting) + extra, since, cell, extra))

    for _ in range(workers):
        begin(0.0, start)
    while running:
        running.sort(key=lambda entry: entry[0])
        end, since, cell, extra = running.pop(0)
        clock.now = end
        left = pace.add(cell, RunTime(end - since, extra if is_measured else 0.0))
        if left is not None:
            assert told is None
            told = (end, left)
        if waiting:
            begin(end)
    return told, clock.now


COSTS = {
    "all alike": lambda _: 0.5,
    "one protocol is dear": lambda setting: 2.0 if str(setting).startswith("SS") else 0.5,
    "small epsilons are dear": lambda setting: 2.0 / float(setting.epsilon or 4),
    "a second or more": lambda _: 4.0,
    "a minute": lambda _: 60.0,
}


@pytest.mark.parametrize("workers", [1, 2, 4])
@pytest.mark.parametrize("name", COSTS)
def test_what_is_told_is_near_the_truth(name, workers):
    """Starting workers takes five seconds here, and must not be taken for the time of a run."""
    (at, left), end = simulate(COSTS[name], workers=workers)

    assert at + left == pytest.approx(end, rel=0.25)


def test_it_is_told_early_in_a_long_study():
    (at, _), end = simulate(lambda _: 1.0, workers=2, repeats=60)

    assert at < 0.05 * end


def test_a_time_that_includes_the_start_of_workers_is_found_out():
    """The twin: were the first runs counted, two hundred short runs would seem to take minutes."""
    plan = Plan(task=CollectTask("grr", [1]), repeats=100)
    cells = plan.cells()
    (_, left), _ = simulate(lambda _: 0.05, workers=2, protocols=["grr"], epsilons=[1], repeats=100)

    assert left < 10 < 5.0 * (len(cells) - 2) / 2


@pytest.mark.parametrize("workers", [1, 2, 4])
@pytest.mark.parametrize("cost", [0.05, 0.5, 4.0])
def test_compiling_is_not_taken_for_the_time_of_a_run(cost, workers):
    """On a machine where nothing was compiled yet the first run of each mechanism takes longer."""
    (at, left), end = simulate(lambda _: cost, workers=workers, repeats=40, compiling=3.0)

    assert at + left == pytest.approx(end, rel=0.25)


def test_compiling_that_is_not_measured_is_taken_for_the_time_of_runs():
    """The twin: a study of some seconds would be said to take minutes."""
    (at, left), end = simulate(lambda _: 0.05, workers=2, repeats=40, compiling=3.0, is_measured=False)

    assert at + left > 2 * end


def test_the_clock_counts_compiling_once():
    kernel = numba.njit(lambda value: value + 1)
    with compile_clock() as compiled:
        before = compiled()
        kernel(1)
        first = compiled()
        kernel(2)
        second = compiled()
    kernel(1.5)

    assert before == 0 < first == second == compiled()


def test_mixing_keeps_every_cell_once_and_repeats_in_order():
    cells = small_plan(repeats=3).cells()
    mixed = spread_first_repeat(cells)

    assert sorted(cell.id for cell in mixed) == sorted(cell.id for cell in cells)
    assert [cell.repeat for cell in mixed] == [cell.repeat for cell in cells]
    assert spread_first_repeat([]) == []


def test_a_short_study_is_not_timed_and_a_longer_one_once(monkeypatch):
    short = list(Runner(small_plan(), workers=1, execute=cheap).events())
    monkeypatch.setattr(import_module("evenhand.study.run.pace"), "_SHORT_SECONDS", 0.0)
    longer = list(Runner(small_plan(), workers=1, execute=cheap).events())

    assert not any(isinstance(event, Timed) for event in short)
    assert sum(isinstance(event, Timed) for event in longer) == 1
    assert isinstance(longer[-1], Finished)
