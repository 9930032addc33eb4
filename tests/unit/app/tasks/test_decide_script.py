"""The script that publishes counts for real has the noise that the study computed with, and runs as it is."""

import subprocess
import sys

import pyarrow as pa
import pytest
from pyarrow import csv

from evenhand.app.tasks.decide import DecideForm
from evenhand.study.plan.plan import Plan
from evenhand.study.plan.source import DataSource

NAMES = ("place", "people", "poor")
PLACES = {"place": ["a", "b", "c"], "people": [1_000, 500, 20], "poor": [300, 40, 9]}


def plan_of(folder, noise, rule, **answers):
    csv.write_csv(pa.table(PLACES), folder / "places.csv")
    values = {"follows": "right", "rule": rule, "mechanisms": [noise], "epsilons": "1", "name": "place"}
    task = DecideForm().task({**values, "mitigations": [], **answers}, None, names=NAMES, rows=3)
    return Plan(data=DataSource(path=str(folder / "places.csv")), task=task)


def script_of(plan):
    setting = next(setting for setting in plan.task.settings() if setting.is_protected)
    return setting, DecideForm().applying(setting, plan, data="places.csv").script


@pytest.mark.parametrize("rule", ["poor > 100", "poor/people > 0.2"])
@pytest.mark.parametrize("noise", ["laplace", "discrete-gaussian"])
def test_the_script_publishes_with_the_noise_of_the_study(tmp_path, noise, rule):
    """Otherwise people publish with more or less noise than the study said what it costs."""
    plan = plan_of(tmp_path, noise, rule)
    setting, script = script_of(plan)
    studied = plan.task.noise_of_a_count(setting)
    known = {}
    exec(script.partition("published =")[0].replace("'places.csv'", repr(plan.data.path)), known)

    assert type(known["noise"]) is type(studied)
    assert known["noise"].law == studied.law
    assert known["noise"] == studied


@pytest.mark.figures
@pytest.mark.parametrize("noise", ["laplace", "discrete-gaussian"])
def test_the_script_runs_as_it_is(tmp_path, noise):
    _, script = script_of(plan_of(tmp_path, noise, "poor/people > 0.2"))
    (tmp_path / "publish.py").write_text(script)
    done = subprocess.run(
        [sys.executable, "publish.py"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    published = csv.read_csv(tmp_path / "published.csv")

    assert (done.returncode, done.stderr) == (0, "")
    assert published.column_names == ["place", "poor", "people"] or published.column_names == list(NAMES)
    assert published["place"].to_pylist() == PLACES["place"]
    assert published["people"].to_pylist() != PLACES["people"]


def test_the_column_with_the_names_is_said_to_be_left_as_it_is(tmp_path):
    """The script writes it, so "no column" beside "Left as they are" would be false."""
    plan = plan_of(tmp_path, "laplace", "poor > 100")
    setting, script = script_of(plan)

    assert "published = {name: rows[name] for name in ['place']}" in script
    assert DecideForm().applying(setting, plan, data="places.csv").in_clear == ("place",)
