"""A kind of study is added by one line in the registry."""

import csv

import pytest

from evenhand.errors import InvalidParameterError, PlanError, UnknownNameError
from evenhand.study import Plan, Results, run
from evenhand.study.tasks.registry import KINDS, task_of_kind
from unit.study._small_studies import people, schema
from unit.study._toy_task import HOME, ShareTask


@pytest.fixture
def toy():
    """Register the toy kind for one test."""
    KINDS.data["share"] = HOME
    yield
    del KINDS["share"]


def test_every_kind_is_loaded_by_its_name():
    assert {kind: task_of_kind(kind).kind for kind in KINDS} == {kind: kind for kind in KINDS}
    with pytest.raises(UnknownNameError, match="colect"):
        task_of_kind("colect")


@pytest.mark.usefixtures("toy")
def test_a_fifth_kind_goes_from_plan_to_report(tmp_path):
    """No other file knows it."""
    plan = Plan(schema=schema(), task=ShareTask(("1/2", "4")), seed=3)
    results = run(plan, frame=people(), out=tmp_path, workers=1, progress=False)
    results.to_csv(tmp_path / "cells.csv")
    results.report(tmp_path / "report.html")
    rows = list(csv.DictReader((tmp_path / "cells.csv").read_text(encoding="utf-8").splitlines()))
    stored = Results.load(tmp_path)

    assert Plan.from_toml(plan.to_toml()) == plan
    assert (len(results), results.failures) == (9, ())
    assert stored.canonical() == results.canonical()
    assert [str(setting) for setting in stored.settings] == [
        "unprotected",
        "round noise, ε = 0.5",
        "round noise, ε = 4",
    ]
    assert list(rows[0]) == ["mechanism", "shape", "epsilon", "repeat", "state", "off"]
    assert {row["shape"] for row in rows} == {"none", "round"}
    assert results.view().verdict == "Cannot say: this study did not store who pays."
    assert "How far a published share is off" in (tmp_path / "report.html").read_text()
    assert "evenhand audit" in (tmp_path / "report.html").read_text()


@pytest.mark.usefixtures("toy")
def test_what_every_study_has_works_for_a_fifth_kind():
    plan = Plan(schema=schema(), task=ShareTask(("1/2", "4")))
    results = run(plan, frame=people(), workers=1, progress=False)

    assert results.compare("noise 4", "noise 1/2", measure="off").pairs == 3
    assert "distance from the true share" in repr(results)
    assert results.summary(backend="pyarrow").column_names[:4] == ["mechanism", "shape", "epsilon", "off"]
    with pytest.raises(InvalidParameterError, match="of a collection"):
        results.advise()


@pytest.mark.usefixtures("toy")
def test_a_fault_in_the_plan_of_a_fifth_kind_names_its_field():
    with pytest.raises(PlanError) as caught:
        Plan.from_toml('format = 1\n[task]\nkind = "share"\nepsilons = ["1"]\nform = "round"')

    assert caught.value.field == "task.form"
