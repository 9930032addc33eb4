"""How long a study takes is timed beside the page: nobody waits for it, and nothing is timed twice."""

import threading
from dataclasses import replace
from types import SimpleNamespace

import pytest

from evenhand.app.flow import timing
from evenhand.app.flow.timing import time_runs
from evenhand.app.flow.views import Look
from evenhand.errors import SchemaError
from evenhand.study.run.duration import Duration

NOTED = (Look("warn", "note of a"),)


def duration_of(name):
    """Return a time that tells plans apart; imports and compiling are not in what the page says."""
    return Duration(people=400, cells=sum(map(ord, name)), per_cell=(1.0, 0.0), workers=1, timed=400)


class Clock:
    """Timing that takes as long as a test wants it to take."""

    def __init__(self):
        self.prepared, self.timed, self.may_end = [], [], threading.Event()
        self.may_end.set()
        self.error = None

    def prepare(self, plan, *, frame):
        self.prepared.append(plan.name)
        return SimpleNamespace(facts=SimpleNamespace(notes=(f"note of {plan.name}",)))

    def __call__(self, plan, prepared, *, seconds):
        self.timed.append(plan.name)
        assert self.may_end.wait(60)
        if self.error is not None:
            raise self.error
        return replace(duration_of(plan.name), start=2.0)

    def finish(self):
        self.may_end.set()
        for thread in threading.enumerate():
            if thread.name == timing.THREAD:
                thread.join(60)


@pytest.fixture
def clock(monkeypatch):
    stand_in = Clock()
    monkeypatch.setattr(timing, "_timings", {})
    monkeypatch.setattr(timing, "duration", stand_in)
    monkeypatch.setattr(timing, "prepare", stand_in.prepare)
    monkeypatch.setattr(timing, "preflight", lambda *_: ())
    yield stand_in
    stand_in.finish()


def ask(name, seconds=60.0, **options):
    plan = SimpleNamespace(name=name, to_toml=lambda: name)
    return time_runs(plan, None, seconds=seconds, **options)


def test_a_plan_is_prepared_and_timed_once(clock):
    for _ in range(2):
        assert (ask("a").duration, ask("a").state) == (duration_of("a"), "done")
    assert ask("b").duration == duration_of("b")
    assert clock.timed == clock.prepared == ["a", "b"]


def test_what_takes_long_is_not_waited_for_and_is_known_the_next_time(clock):
    """A page that waits for an estimate answers nothing else."""
    clock.may_end.clear()
    first = ask("a", seconds=0.01)
    assert (first.duration, first.state, first.looks) == (None, "running", NOTED)
    clock.finish()

    again = ask("a", seconds=0.01)
    assert (again.duration, again.state, again.looks) == (duration_of("a"), "done", NOTED)
    assert clock.timed == clock.prepared == ["a"]


def test_no_second_plan_is_timed_beside_the_first(clock):
    """Both would take longer than they take alone, and both estimates would be wrong."""
    clock.may_end.clear()
    assert ask("a", seconds=0.01).state == "running"
    assert ask("b", seconds=0.01).state == "waiting"
    assert [look.text for look in ask("b", seconds=0.01).looks] == ["note of b"]
    assert clock.prepared == ["a", "b"]
    clock.finish()

    assert clock.timed == ["a"]
    assert ask("b").duration == duration_of("b")


@pytest.mark.parametrize("error", [SchemaError("No.", field="x"), ZeroDivisionError(), ValueError()])
def test_a_plan_whose_runs_fail_has_no_estimate_and_stops_nothing(clock, error):
    """If it were timed again, a page that asks until it is known would ask for ever."""
    clock.error = error
    assert (ask("a").duration, ask("a").state) == (None, "done")
    clock.error = None

    assert ask("b").duration == duration_of("b")
    assert clock.timed == ["a", "b"]


def test_what_cannot_be_timed_is_prepared_alone(clock):
    found = ask("a", can_be_timed=False)

    assert (found.duration, found.state, found.looks) == (None, "done", NOTED)
    assert clock.timed == []


def test_only_the_newest_estimates_are_kept(clock):
    for place in range(25):
        ask(f"plan {place}")

    assert list(timing._timings) == [f"plan {place}" for place in range(5, 25)]
