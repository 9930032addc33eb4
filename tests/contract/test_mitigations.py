"""Every mitigation of the registry keeps its declaration, and one more file and line make another."""

import inspect
import json

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from typer.testing import CliRunner

from evenhand.answer.page import build_page
from evenhand.cli.app import app
from evenhand.decide.allotment.allotment import Allotment
from evenhand.decide.language.parse import parse
from evenhand.decide.mitigate import Mitigation, compare
from evenhand.decide.mitigate.registry import MITIGATIONS, mitigation_kind, mitigation_kinds
from evenhand.errors import InvalidParameterError, PlanError, UnknownNameError
from evenhand.privacy.laws import Laplace
from evenhand.report.drawing import Drawing
from evenhand.report.html import render
from evenhand.study.plan.plan import Plan
from unit.study._decide_studies import PLACES, money_task, study

PICTURE = '<svg width="10" height="10"><rect width="5" height="5" fill="#000"/></svg>'
PROBLEMS = {
    "allotment": (Allotment([1, 2, 3]), {"x": [300, 500, 800]}),
    "rule": (parse("x > 10"), {"x": [12, 9, 300, 2, 11, 10, 8, 40, 7, 15]}),
}
AMOUNTS = [0.0, 9e5, 0.0, 0.0, 0.0]


def needed_values(kind):
    """Return a value for each parameter that a mitigation needs."""
    return {parameter.name: 1_000.0 for parameter in kind.parameters if parameter.is_needed}


@pytest.mark.parametrize("name", MITIGATIONS)
def test_a_declaration_is_whole(name):
    """Pages, help and plans print it; a parameter that the function has not would fail in a worker."""
    kind = mitigation_kind(name)
    keywords = inspect.signature(kind.decide).parameters

    assert kind.name == name
    assert all((kind.title, kind.does, kind.guarantee, kind.cost, kind.problems))
    assert {parameter.name for parameter in kind.parameters} <= set(keywords)
    assert {"unit", "draws", "rng", "progress"} <= set(keywords)
    assert ("post" in keywords) == kind.takes_post
    assert all(set(variant) <= set(keywords) for variant in kind.variants)
    assert all(parameter.meaning for parameter in kind.parameters)


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("name", MITIGATIONS)
def test_it_decides_what_it_is_for_and_refuses_the_other(name, problem):
    kind = mitigation_kind(name)
    decided, data = PROBLEMS[problem]
    options = {"unit": "replace one", "draws": 50, **needed_values(kind)}
    if problem in kind.problems:
        found = kind.decide(decided, data, Laplace(2), **options)

        assert isinstance(found, Mitigation)
        assert len(found.bias) == len(data["x"])
    else:
        with pytest.raises(InvalidParameterError, match="problem"):
            kind.decide(decided, data, Laplace(2), **options)


def test_a_name_that_is_not_registered_is_refused_with_a_guess():
    with pytest.raises(UnknownNameError, match="linear-proxy"):
        mitigation_kind("linear-proxi")


def test_help_lists_every_mitigation():
    """The list was typed out once more in the command line."""
    said = "".join(CliRunner().invoke(app, ["audit", "decide", "--help"]).output.split())

    assert all(name in said for name in MITIGATIONS)


class TestOneFileAndOneLine:
    @pytest.fixture(autouse=True)
    def _registered(self, monkeypatch, root):
        monkeypatch.syspath_prepend(root / "examples" / "plugin" / "src")
        monkeypatch.setitem(MITIGATIONS, "limited-loss", "evenhand_example.mitigation:MITIGATION")
        monkeypatch.setattr(Drawing, "svg", lambda _: PICTURE)

    @pytest.fixture
    def towns(self):
        return {**PLACES, "paid": AMOUNTS}

    def test_it_is_compared_where_its_column_is_given(self):
        shares, counts = PROBLEMS["allotment"]
        without = compare(shares, counts, Laplace(2), unit="replace one")
        ways = compare(shares, counts, Laplace(2), unit="replace one", last_year=[900, 50, 50])

        assert "limited loss" not in [way.name for way in without]
        assert ways["limited loss"].decided.expected[0] == pytest.approx(0.81)
        assert "last year's amounts are public" in ways["limited loss"].guarantee.assumptions
        assert mitigation_kinds("allotment")[-1].name == "limited-loss"

    def test_a_study_takes_it_to_the_report(self, towns):
        task = money_task(mitigations=[{"name": "limited-loss", "last_year": "paid"}], epsilons=[1])
        results = study(task, frame=towns)
        text = render(build_page(results.view(chosen=results.settings[-1])))

        assert results.failures == ()
        assert "At most a tenth less than last year" in text
        assert "Last year's amounts are taken to be public." in text.replace("&#39;", "'")
        outcome = results.outcomes[-1]
        told = dict(outcome.entities)
        assert told[PLACES["town"][1]]["bias"] + told[PLACES["town"][1]]["truth"] == pytest.approx(0.9)
        assert outcome.measures["overspent"] > 0
        assert Plan.from_toml(Plan(task=task).to_toml()).task == task

    def test_other_amounts_are_another_study(self, towns):
        """A store that took one for the other would mix two answers."""
        task = money_task(mitigations=[{"name": "limited-loss", "last_year": "paid"}], epsilons=[1])
        found = [study(task, frame=towns | {"paid": paid}) for paid in (AMOUNTS, AMOUNTS[::-1])]

        assert found[0].facts.fingerprint != found[1].facts.fingerprint
        assert found[0].digest != found[1].digest

    def test_what_is_missing_is_asked_for(self, towns):
        with pytest.raises(InvalidParameterError, match="limited-loss=paid, or 'last_year'"):
            money_task(mitigations=["limited-loss"])
        with pytest.raises(InvalidParameterError, match="the name of a column as 'last_year'"):
            money_task(mitigations=[{"name": "limited-loss", "last_year": 3}])
        task = money_task(mitigations=[{"name": "limited-loss", "last_year": "pay"}], epsilons=[1])
        with pytest.raises(PlanError, match="names 'pay', which is no column"):
            study(task, frame=towns)
        task = money_task(mitigations=[{"name": "limited-loss", "last_year": "paid"}], epsilons=[1])
        with pytest.raises(PlanError, match="finite numbers and no missing ones"):
            study(task, frame=towns | {"paid": [1.0, np.nan, 3.0, 4.0, 5.0]})

    def test_the_command_line_takes_it(self, towns, tmp_path):
        pa.csv.write_csv(pa.table(towns), tmp_path / "towns.csv")
        words = ["--count", "poor", "--epsilon", "1", "--mitigate", "limited-loss=paid", "--json"]
        done = CliRunner().invoke(
            app, ["audit", "decide", str(tmp_path / "towns.csv"), *words, "--out", str(tmp_path / "study")]
        )

        assert done.exit_code == 0, done.output
        summary = json.loads(done.stdout)["summary"]
        assert "At most a tenth less than last year" in [each["method"] for each in summary]


def test_what_no_mitigation_needs_is_refused():
    """A misspelt total would silently leave out the row that was asked for."""
    with pytest.raises(InvalidParameterError, match="one that a mitigation needs: least_total, total"):
        compare(*PROBLEMS["allotment"], Laplace(2), unit="replace one", totals=5)
