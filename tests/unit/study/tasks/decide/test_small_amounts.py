"""Amounts below what anybody can be paid are nobody's gain, and rare errors are told by releases."""

import re

import numpy as np
import pytest

from evenhand.report.drawing import Drawing
from evenhand.study.page.page import answers, page_of
from evenhand.study.tasks.decide.task import DecideTask
from unit.study._decide_studies import (
    MONEY,
    RIGHTS,
    done_besides,
    entity,
    made,
    money_task,
    rights,
    study,
)

PICTURE = '<svg width="10" height="10"><rect width="5" height="5" fill="#000"/></svg>'
_COUNTIES = 2_000
_FRACTION_OF_A_CENT = re.compile(r"\$0\.00\d")


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    """Leave out turning drawings into pictures, which takes long and has tests of its own."""
    monkeypatch.setattr(Drawing, "svg", lambda _: PICTURE)


@pytest.fixture(scope="module")
def counties():
    """$50 million for 2,000 counties, of which none gains or loses a cent on average."""
    generator = np.random.default_rng(7)
    poor = np.exp(generator.normal(7.5, 1.2, _COUNTIES)).astype(int) + 30
    frame = {"county": [f"County {place}" for place in range(_COUNTIES)], "poor": poor.tolist()}
    frame["people"] = (poor * 6).tolist()
    task = DecideTask(count="poor", budget=5e7, name="county", groups="people", epsilons=["0.5", 1])
    return study(task, frame=frame)


def test_nobody_is_said_to_gain_a_fraction_of_a_cent(counties):
    """A headline of $0.00065 of $50 million reads as a finding, and is none."""
    assert 0 < counties.outcomes[-1].measures["largest_misallocation"] < 0.01
    who, people, helps = answers(counties)

    assert who.finding.startswith("Nobody gains or loses on average; one release is typically $")
    assert who.finding.endswith(" off for a county.")
    assert people.finding == "Per head, nobody gains or loses on average."
    assert not _FRACTION_OF_A_CENT.search(f"{who} {people} {helps}")


def test_charts_of_nothing_are_not_drawn(counties):
    """Long bars labelled 0.000000 show rounding."""
    page = page_of(counties)
    charts = {chart.name for section in page.sections for chart in section.charts}
    shown = " ".join(number.value for number in page.numbers)

    assert charts == {"misallocation-by-size"}
    assert not _FRACTION_OF_A_CENT.search(shown)


def test_where_nobody_loses_no_other_method_is_called_better():
    """$0.00 beside less than a cent is no improvement."""

    def given(setting):
        lowered = {"cost_of_privacy": 24.0, "moved": 24.0, "largest_misallocation": 0.6}
        tiny = {"cost_of_privacy": 0.001, "moved": 0.001, "largest_misallocation": 1e-4}
        measures = lowered if done_besides(setting) == "shrink" else tiny
        return {**MONEY, "measures": {**MONEY["measures"], **measures}}

    page = page_of(made(money_task(mitigations=["shrink", "linear-proxy"]), given))
    section = next(section for section in page.sections if section.anchor == "mitigations")

    assert section.heading == (
        "Nobody gains or loses with “Plain release”; most is misallocated with “Lowered after the clamp”: "
        "$24.00"
    )


def test_a_declared_smallest_amount_takes_the_place_of_a_cent():
    """A programme that pays in thousands moves no hundred dollars."""
    coarse, fine = (
        answers(study(DecideTask(count="poor", budget=1e6, name="town", post="nonnegative", **parts)))[0]
        for parts in ({"smallest": 100}, {})
    )

    assert coarse.finding.startswith("Nobody gains or loses on average")
    assert not fine.finding.startswith("Nobody gains or loses")


@pytest.mark.parametrize(
    ("chance", "often", "rest"),
    [
        (0.07, "7 of 100", "; no other town is at risk above 1%."),
        (0.6, "60 of 100", "; no other town is at risk above 1%."),
        (0.0042, "4 of 1,000", "."),
        (0.0000301, "3 of 100,000", "."),
    ],
)
def test_less_than_one_wrong_decision_is_told_by_releases(chance, often, rest):
    """0.07 counties lose no right; one does, in some releases."""
    measures = {"expected_wrong": chance, "expected_refused": chance, "largest_flip": chance, "at_risk": 1.0}
    rare = {
        "measures": {**RIGHTS["measures"], **measures, "expected_granted": 0.0, "at_risk_of_loss": 1.0},
        "entities": [entity("Elm", 12_000, 1.0, -chance), entity("Ash", 100, 1.0, -0.0)],
    }

    assert answers(rights(rare, groups=()))[0].finding == (
        f"In about {often} releases one town loses a right it has{rest}"
    )


def test_how_often_any_entity_loses_counts_a_release_once():
    """Ten counties at one tenth each lose one right a release on average, in 65 of 100 releases."""
    at_risk = [entity(f"Town {place}", 100, 1.0, -0.0999) for place in range(10)]
    measures = {"expected_wrong": 0.999, "expected_refused": 0.999, "expected_granted": 0.0}
    rare = {"measures": {**RIGHTS["measures"], **measures}, "entities": at_risk}

    assert answers(rights(rare, groups=()))[0].finding == (
        "In about 65 of 100 releases at least one town loses a right it has."
    )


@pytest.mark.parametrize(
    ("refused", "finding"),
    [
        (0.0, "Nobody of any group is refused a right by error."),
        (4e-5, "Hardly anybody of any group is refused a right by error."),
    ],
)
def test_nobody_is_refused_only_where_the_chance_is_zero(refused, finding):
    """A heading that says nobody above a bar that is not zero is false."""
    group = {"people": 4_000.0, "due": 4_000.0, "refused": refused, "granted": 0.0}
    page = page_of(rights({**RIGHTS, "groups": {"young": group, "old": group}}))
    section = next(section for section in page.sections if section.anchor == "groups")

    assert page.answers[1].finding == finding
    assert section.heading == finding.rstrip(".")


def test_less_than_one_person_is_no_share_of_releases():
    """A place of 3,000 people that loses in 2 of 100,000 releases: nobody loses in 6 of 100 releases."""
    group = {"people": 4_000.0, "due": 4_000.0, "refused": 0.06, "granted": 1e-9}
    page = page_of(rights({**RIGHTS, "groups": {"young": group}}, groups="young"))
    section = next(section for section in page.sections if section.anchor == "groups")

    assert "(On average 0.06 people lose a right that they have.)" in str(page.answers[1])
    assert section.tables[0].rows[0][1:] == ["4,000", "4,000", "0.06", "less than 0.000001"]
