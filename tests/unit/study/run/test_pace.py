"""How long the other runs take is told from the first of them, whatever the settings cost."""

from collections import deque
from importlib import import_module

import pytest

from attacks._study_cells import cheap, small_plan
from evenhand.study.plan.plan import Plan
from evenhand.study.run.events import Finished, Timed
from evenhand.study.run.pace import Pace, spread_first_repeat
from evenhand.study.run.whole import Runner
from evenhand.study.tasks.collect.task import CollectTask


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def simulate(cost, *, workers, start=5.0, repeats=10, protocols=("grr", "oue", "ss"), epsilons=(1, 2, 4)):
    """Hand out cells as a pool does; return what was told, when, and when the last cell was done."""
    plan = Plan(task=CollectTask(protocols, epsilons), repeats=repeats)
    cells = spread_first_repeat(plan.cells())
    clock = Clock()
    pace = Pace(cells, workers=workers, clock=clock)
    waiting, running, told = deque(cells), [], None
    for _ in range(workers):
        cell = waiting.popleft()
        running.append((start + cost(cell.setting), 0.0, cell))
    while running:
        running.sort(key=lambda entry: entry[0])
        end, since, cell = running.pop(0)
        clock.now = end
        left = pace.add(cell, end - since)
        if left is not None:
            assert told is None
            told = (end, left)
        if waiting:
            following = waiting.popleft()
            running.append((end + cost(following.setting), end, following))
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
