"""Small studies in a workspace, and what is known of the processes that run them."""

import os
import time
from pathlib import Path

import pytest

from evenhand.app.state.record import DataChoice
from evenhand.study.plan.plan import Plan
from evenhand.study.plan.source import DataSource
from evenhand.study.tasks.collect.task import CollectTask
from evenhand.study.tasks.decide.task import DecideTask
from evenhand.study.tasks.learn.task import LearnTask
from evenhand.study.tasks.release.task import ReleaseTask

CAUSAL = DataSource(dataset="causal", options={"n": 300})
TOWNS = """town,people,poor,young,old
Ash,100,21,40,60
Bay,400,60,100,300
Cove,2500,540,900,1600
Dale,90,18,50,40
Elm,12000,2000,3000,9000
"""
UPLOAD, LABEL = "5c0ffee5c0ffee5c.csv", "towns.csv"
PLANS = {
    "collect": Plan(data=CAUSAL, task=CollectTask("grr", [1, 4], model="logistic"), repeats=2),
    "release": Plan(data=CAUSAL, task=ReleaseTask(["A", "Y"], ["laplace"], [1]), repeats=2),
    "learn": Plan(data=CAUSAL, task=LearnTask(["dp"], [1], epochs=1), repeats=2),
    "decide": Plan(
        data=DataSource(path=LABEL),
        task=DecideTask(rule="poor/people > 0.2", name="town", groups=["young", "old"], epsilons=[1]),
    ),
}
LONG = Plan(data=CAUSAL, task=CollectTask("grr", [1, 2, 4], model="logistic"), repeats=30)
"""120 runs, each of a moment: long enough to be stopped in the middle."""

needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are counted in /proc")


def add_study(workspace, plan, name="A study"):
    """Make a study whose plan is written, as the question page does it, and return its id."""
    record = workspace.create(name)
    folder = workspace.folder(record.id)
    if plan.data.path is not None:
        (folder / "data" / UPLOAD).write_text(TOWNS)
        workspace.save(record.with_(data=DataChoice(source="upload", label=LABEL, file=UPLOAD)))
    (folder / "plan.toml").write_text(plan.to_toml())
    return record.id


def wait_until(is_true, seconds=300.0, *, pause=0.02):
    """Wait until something is true; fail if it never is."""
    end = time.monotonic() + seconds
    while not is_true():
        assert time.monotonic() < end, "it took too long"
        time.sleep(pause)


def wait_for_end(jobs, study, seconds=900.0):
    """Wait until a study neither waits nor runs, and return its state."""
    wait_until(lambda: jobs.state(study).state not in {"waiting", "running"}, seconds)
    return jobs.state(study)


def living_processes(group):
    """Return the processes of a group that are not dead."""
    living = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, process_group = path.read_text().rpartition(")")[2].split()[:3]
        except (OSError, ValueError):
            continue
        if int(process_group) == group and state not in "ZX":
            living.append(int(path.parent.name))
    return [process for process in living if process != os.getpid()]
