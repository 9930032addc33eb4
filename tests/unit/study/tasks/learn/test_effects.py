"""What each method is compared with, and which are remedies: the table of effects of private training."""

import math

import numpy as np
import pyarrow as pa
import pytest

from evenhand.answer.choice import list_steps
from evenhand.answer.status import judge
from evenhand.schema import Column, Domain, Schema
from evenhand.study.plan.source import DataSource
from evenhand.study.run.whole import run
from evenhand.study.tasks.learn.effects import effects
from evenhand.study.tasks.learn.methods import METHODS
from unit.study._learn_studies import made, measures, small_plan


def table(methods, epsilons=(1, 3), page=None):
    """Return the table of a study with made-up numbers."""
    results = made(
        lambda setting, _: measures(
            epsilon=setting.epsilon
            if METHODS.get(setting.mechanism, METHODS["plain"]).takes_epsilon
            else None,
            delta=0.0 if setting.mechanism == "local" else None,
        ),
        methods=methods,
        epsilons=epsilons,
        repeats=2,
    )
    chosen = None if page is None else results.setting(page)
    return effects(results.plan.task, results, page=chosen)


def references(found):
    """Return what each option is compared with."""
    return {option.name: option.reference for option in found.options if option.reference}


def test_each_step_is_compared_with_the_one_before_it():
    """What parity does would be called the price of privacy."""
    found = references(table(tuple(METHODS), epsilons=(1,)))
    assert found == {
        "Plain + parity": "unprotected",
        "DP, ε = 1": "unprotected",
        "DP + parity, ε = 1": "DP, ε = 1",
        "Fermi, ε = 1": "DP, ε = 1",
        "Fermi + parity, ε = 1": "Fermi, ε = 1",
        "DP + projection, ε = 1": "DP, ε = 1",
        "Local, ε = 1": "unprotected",
    }


def test_without_the_step_before_a_method_is_compared_with_plain_training():
    """A page could not be made of a study of FERMI alone."""
    assert references(table(("fermi",), (1,))) == {"Fermi, ε = 1": "unprotected"}


def test_a_group_is_judged_by_its_people_and_not_by_their_rows():
    """If not, twelve people with five rows each are judged as sixty."""
    who, draws = np.repeat(np.arange(112), 5), np.random.default_rng(1)
    race, hired = np.where(who < 100, "a", "b"), draws.integers(0, 2, len(who))
    frame = pa.table({"who": who, "race": race, "town": draws.integers(0, 3, len(who)), "hired": hired})
    columns = [Column("race", Domain.categorical(["a", "b"]))]
    columns += [Column(name, Domain.categorical(range(size))) for name, size in (("town", 3), ("hired", 2))]
    roles = {"protected": "race", "privileged": "a", "target": "hired", "positive": 1}
    schema = Schema(columns, **roles, person="who", rows_per_person=5)
    plan = small_plan(("dp",), data=DataSource(path="people.csv")).with_(schema=schema)
    results = run(plan, frame=frame, workers=1, progress=False)
    of_b = [row for row in judge(results.plan.task.effects(results)) if row.group == "b" and row.harm]

    assert {row.people for row in of_b if row.effect == "selected"} == {12}
    assert {row.status for row in of_b} == {"unjudged"}
    assert "112 people (race = a: 100 and race = b: 12)" in results.plan.task.case(results).method[0]


@pytest.mark.parametrize(
    ("methods", "page"),
    [
        (("plain+parity", "dp+parity", "dp", "local"), "DP, ε = 1"),
        (("local", "dp"), "Local, ε = 1"),
        (("fermi+parity", "fermi"), "Fermi + parity, ε = 1"),
        (("plain+parity",), "Plain + parity"),
    ],
)
def test_the_page_is_about_the_first_method_with_privacy_alone(methods, page):
    """Privacy and remedy would be one effect, and the price of the one said of the other."""
    assert table(methods, (3, 1)).page == page


def test_remedies_are_of_the_pages_epsilon_and_keep_its_promise():
    """A larger epsilon, or a projection that reads private rows again, would be recommended."""
    found = table(tuple(METHODS))
    remedies = [option.name for option in found.options if option.is_remedy]
    assert remedies == ["DP + parity, ε = 1", "Fermi, ε = 1", "Fermi + parity, ε = 1"]
    assert [option.name for option in found.candidates] == remedies
    assert not table(("local", "dp+parity")).candidates  # who trains sees the rows, and delta is above 0


def test_the_curve_of_a_page_about_a_remedy_has_every_epsilon():
    """With FERMI alone there would be no curve over epsilon."""
    found = table(("fermi",), (1, 3))
    assert [step.epsilon for step in list_steps(found, judge(found))] == [1.0, 3.0]


def test_nothing_is_claimed_without_privacy():
    """A study of parity alone would be stopped because its delta is 1; a void claim is none."""
    found = table(("plain+parity", "dp", "dp+projection"), (1,)).by_name
    assert (found["Plain + parity"].epsilon, found["Plain + parity"].delta) == (math.inf, 0.0)
    assert math.isinf(found["DP + projection, ε = 1"].epsilon)
