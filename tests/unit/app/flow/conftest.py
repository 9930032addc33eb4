"""Studies of the workbench, small enough to run in a test."""

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv

from evenhand.app.flow.describe import guess_roles
from evenhand.app.flow.opening import open_written_plan
from evenhand.app.flow.question import write_plan
from evenhand.app.state.record import DataChoice, StudyRecord
from evenhand.study.results.results import write_results
from evenhand.study.run.whole import run

PEOPLE = 400
PUBLIC = {
    "sex": {"public": True},
    "race": {"public": True},
    "hired": {"public": True},
    "job": {"public": True},
}
FORMS = {
    "collect": {"protocols": ["grr"], "epsilons": "1", "model": "logistic", "repeats": "2"},
    "release": {
        "columns": ["sex", "race", "hired"],
        "mechanisms": ["laplace"],
        "epsilons": "1",
        "repeats": "2",
    },
    "learn": {"methods": ["dp"], "epsilons": "1", "repeats": "2"},
    "decide": {"follows": "right", "rule": "poor/people > 0.2", "epsilons": "1", "mitigations": []},
}


def people(count=PEOPLE):
    """Return made-up people of whom nobody is special."""
    rng = np.random.default_rng(7)
    sex = rng.choice(["f", "m"], count)
    hired = np.where(rng.random(count) < np.where(sex == "m", 0.6, 0.3), "yes", "no")
    race, job = rng.choice(["a", "b", "c"], count), rng.choice(["clerk", "cook"], count)
    return pa.table({"sex": sex, "race": race, "job": job, "hired": hired})


def places(count=40):
    """Return made-up places with counts."""
    rng = np.random.default_rng(8)
    total = rng.integers(200, 2_000, count)
    poor = (total * rng.uniform(0.1, 0.3, count)).astype(int)
    return pa.table({"place": [f"place {each}" for each in range(count)], "people": total, "poor": poor})


class Study:
    """A study in a folder, with its record."""

    def __init__(self, folder, record):
        self.folder, self.record = folder, record

    def change(self, **changes):
        """Change the record, in the folder too."""
        self.record = self.record.with_(**changes)
        (self.folder / "study.json").write_text(self.record.to_json())
        return self

    def run(self):
        """Run it as the worker of the workbench does."""
        write_plan(self.folder, self.record)
        plan, opened = open_written_plan(self.folder)
        results = run(plan, frame=opened.frame, out=self.folder / "study", workers=1)
        write_results(results, self.folder / "study")
        return results


def new_study(folder, data, label, kind="collect", *, file="5f3a.csv", **changes):
    """Put data into the folder of a new study: a table as CSV, or bytes as they are."""
    place = folder / "0123456789abcdef"
    (place / "data").mkdir(parents=True)
    path = place / "data" / file
    if isinstance(data, bytes):
        path.write_bytes(data)
    else:
        csv.write_csv(data, path)
    choice = DataChoice(source="upload", label=label, file=file)
    record = StudyRecord(id="0123456789abcdef", name="Test", created=0.0, data=choice, kind=kind)
    return Study(place, record).change(**changes)


@pytest.fixture
def study(tmp_path):
    """Return a function that makes a study of people, or of places where something is decided."""

    def make(kind="collect", **changes):
        table = places() if kind == "decide" else people()
        label = "places.csv" if kind == "decide" else "people.csv"
        form = {kind: FORMS[kind]}
        made = new_study(tmp_path, table, label, kind, form=form, described=True)
        if kind != "decide":
            made.change(**guess_roles(made.folder, made.record))
        return made.change(**changes)

    return make


@pytest.fixture
def study_of(tmp_path):
    """Return a function that makes a study of a file of any bytes."""

    def make(data, label, **known):
        return new_study(tmp_path, data, label, file=f"5f3a.{label.partition('.')[2]}", **known)

    return make


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """Return the folder of a study of two protocols that ran."""
    answers = {**FORMS["collect"], "protocols": ["grr", "oue"]}
    folder = tmp_path_factory.mktemp("studies")
    made = new_study(folder, people(), "people.csv", form={"collect": answers})
    made.change(**guess_roles(made.folder, made.record)).run()
    return made.folder
