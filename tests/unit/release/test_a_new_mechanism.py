"""A new mechanism and a new step of post-processing need one registry line each, and no other change."""

import json
from fractions import Fraction

import numpy as np
import pytest

from evenhand.answer.page import build_page
from evenhand.errors import InvalidParameterError, UnknownNameError
from evenhand.release.mechanisms.registry import MECHANISMS, TableMechanism, mechanism_from, mechanism_named
from evenhand.release.postprocess.registry import STEPS, checked_step, step_forms, steps_of
from evenhand.release.table.histogram import Histogram
from evenhand.report.html import render
from evenhand.study.plan.cells import Setting
from evenhand.study.plan.plan import Plan
from evenhand.study.run.whole import run
from evenhand.study.tasks.decide.task import method_title
from evenhand.study.tasks.release.task import ReleaseTask
from unit.release._toys import CutAt, RoundedLaplace
from unit.study._release_studies import people, plan, schema

TASK = {
    "columns": ["sex", "job", "hired"],
    "mechanisms": ["laplace", "rounded-laplace"],
    "epsilons": [1],
    "post": ["nonnegative", "cut_at=40"],
    "draws": 20,
}


@pytest.fixture(autouse=True)
def _registered(monkeypatch):
    """Add the two lines that a new mechanism and a new step need."""
    monkeypatch.setitem(MECHANISMS, "rounded-laplace", "unit.release._toys:RoundedLaplace")
    monkeypatch.setitem(STEPS, "cut_at", "unit.release._toys:CutAt")


def histogram():
    return Histogram.count(people(), schema())


def test_it_is_found_by_its_name_and_from_its_record():
    made = RoundedLaplace(epsilon=2, base=10)

    assert mechanism_named("rounded-laplace") is RoundedLaplace
    assert mechanism_from(made.to_dict()) == made
    with pytest.raises(UnknownNameError, match="rounded-laplace"):
        mechanism_named("rounded")


def test_a_plan_names_it_with_its_defaults():
    chosen = TableMechanism("rounded-laplace")

    assert chosen.parameters == {"base": 5}
    assert chosen.takes_epsilon
    assert chosen.build(epsilon=Fraction(1), unit="replace one") == RoundedLaplace(epsilon=1, base=5)
    with pytest.raises(InvalidParameterError, match="'base' of Rounded noise must be a whole number"):
        ReleaseTask("sex", [{"name": "rounded-laplace", "base": 0}])


def test_a_release_has_its_guarantee_and_its_sampled_bias():
    table, mechanism = histogram(), RoundedLaplace(epsilon=1, base=5)
    release = mechanism.release(table, rng=3, post=steps_of(["nonnegative", "cut_at=40"]))
    bias = mechanism.bias(table, draws=200, rng=1)

    assert release.guarantee.epsilon == 1
    assert release.postprocessing == ("counts below 0 set to 0", "counts above 40 set to 40")
    assert (release.values % 5 == 0).all()
    assert not bias.exact
    assert np.abs(bias.values + 2).max() < 5 * bias.standard_error.max()  # rounding down takes two on average


def test_a_step_is_read_from_text():
    assert checked_step(" cut-at = 40 ") == "cut_at=40"
    assert steps_of(["cut_at=40"]) == [CutAt(40)]
    assert step_forms()[-1] == "cut_at=MOST"
    assert method_title(Setting("laplace", options={"post": "cut_at=40"})) == "Counts above 40 set to 40"
    with pytest.raises(InvalidParameterError, match="cut_at=MOST"):
        checked_step("cut_at=many")


def test_a_bias_with_the_step_is_sampled():
    """No formula is known for a step that nobody has derived one for."""
    laplace = mechanism_named("laplace")(epsilon=1, unit="replace one")

    assert not laplace.bias(histogram(), post=[CutAt(40)], draws=20).exact


def test_a_release_is_written_with_its_terms(tmp_path):
    release = RoundedLaplace(epsilon=1, base=5).release(histogram(), post=[CutAt(40)])
    release.write(tmp_path / "table.csv")
    note = json.loads((tmp_path / "table.csv.json").read_text())

    assert note["mechanism"] == {"mechanism": "rounded-laplace", "epsilon": "1", "base": 5}
    assert note["postprocessing"] == ["counts above 40 set to 40"]


def test_a_study_compares_it_with_the_others():
    asked = plan(ReleaseTask(**TASK))
    results = run(asked, frame=people(), workers=1)
    page = render(build_page(results.view()))

    assert Plan.from_toml(asked.to_toml()) == asked
    assert not results.failures
    assert [str(each) for each in results.settings if each.is_protected] == [
        "Laplace noise, ε = 1",
        "Rounded noise, base=5, ε = 1",
    ]
    assert "Rounded noise" in page
