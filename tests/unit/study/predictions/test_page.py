"""The page of predictions: what it holds, in one file, whatever labels are called."""

import math

import numpy as np
import pandas as pd
import pytest

import evenhand as eh
from attacks._report_payloads import PAYLOADS
from evenhand.report import render
from evenhand.study.predictions.answers import answers
from evenhand.study.predictions.page import build_page
from unit.report._parsing import Parsed
from unit.study.predictions._cases import audit, people


def scored():
    truth, predicted, group = people()
    return (truth, predicted, group), np.linspace(0.01, 0.99, len(truth))


def test_the_page_has_every_part():
    rows, scores = scored()
    page = build_page(audit(*rows, scores=scores, rules=["80%"]), command="again", next_command="next")

    assert [section.anchor for section in page.sections] == [
        "rules", "groups", "comparisons", "by-group", "against", "calibration",
    ]  # fmt: skip
    assert page.answers[2].action == "next"
    assert page.command == "again"
    assert "not private" in page.notes[0].text.lower()
    assert all(exhibit.data for section in page.sections for exhibit in (*section.charts, *section.tables))


def test_without_outcomes_and_rules_only_selection_is_shown():
    _, predicted, group = people()
    page = eh.measure.page(None, predicted, group)

    assert [section.anchor for section in page.sections] == ["groups", "comparisons", "by-group", "against"]
    assert len(page.sections[1].tables[0].rows) == 1


def test_a_rate_of_nobody_cannot_be_estimated_and_is_not_zero():
    truth, predicted, group = people(women=(0, 0, 30, 170))
    page = build_page(audit(truth, predicted, group, headline="tpr_gap"))
    by_group = next(section for section in page.sections if section.anchor == "by-group").tables[0]
    women = by_group.rows[1]

    assert women[by_group.header.index("true positive rate")] == "cannot be estimated"
    assert math.isnan(page.sections[0].charts[0].data["true_positive_rate_percent"][1] or math.nan)


def test_names_and_labels_are_those_that_people_read():
    truth, predicted, group = people()
    frame = pd.DataFrame(
        {"repaid": truth, "approved": predicted, "sex": [1 if g == "men" else 2 for g in group]}
    )
    page = eh.measure.page(
        frame["repaid"], frame["approved"], frame["sex"], labels={1: "Men", 2: "Women"}, privileged=1
    )

    assert page.answers[0].finding == "Selection is lowest for Women: 30.0%, against 55.0% for Men."
    assert page.question == "Who pays for these predictions of repaid = 1, and how much?"
    assert "Each group compared with Men" in [section.heading for section in page.sections]


def test_several_columns_of_groups_are_crossed():
    truth, predicted, group = people()
    page = eh.measure.page(truth, predicted, {"sex": group, "old": ["yes", "no"] * 400})

    assert page.meta == "800 people, 4 groups"


def test_crossed_groups_are_named_column_by_column():
    """ "sex, age = 2, [60, 70)" has to be taken apart by the reader; "women" needs no column."""
    truth, predicted, group = people()
    codes = [{"men": 1, "women": 2}.get(label, 1) for label in group]
    page = eh.measure.page(truth, predicted, {"sex": codes, "job": ["nurse", "0"] * 400})

    assert "lowest for sex\u00a0=\u00a02, job\u00a0=\u00a00: " in page.answers[0].finding
    assert "for sex\u00a0=\u00a01, nurse." in page.answers[0].finding
    assert "sex, job =" not in str(page.answers) + str(page.method) + str(page.sections)


def test_people_of_unknown_group_are_told_and_can_be_a_group():
    truth, predicted, group = people()
    group[:60] = [None] * 60
    apart = eh.measure.page(truth, predicted, group)
    together = eh.measure.page(truth, predicted, group, missing_group=True)

    assert "60 people do not state group: listed apart, and in no comparison." in apart.method
    assert apart.meta == "800 people, 2 groups"
    assert together.meta == "800 people, 3 groups"


@pytest.mark.figures
@pytest.mark.parametrize("start", range(0, len(PAYLOADS), 40))
def test_labels_that_look_like_markup_stay_text(start):
    """A page of three groups is made once with plain labels: hostile ones may add no element to it."""
    hostile = [payload for payload in PAYLOADS[start : start + 40] if payload.strip()][:3]
    truth, predicted, _ = people()
    pages = []
    for labels in (["one label", "two label", "three label"], hostile):
        group = [labels[place % len(labels)] for place in range(800)]
        page = eh.measure.page(truth, predicted, group, scores=np.linspace(0, 1, 800), outcome=labels[0])
        pages.append(Parsed(render(page)))

    assert pages[1].faults == []
    assert pages[1].kinds <= pages[0].kinds


def test_many_groups_are_drawn_in_part_and_listed_in_full():
    generator = np.random.default_rng(1)
    group = [f"county {place:02d}" for place in generator.integers(0, 30, 3000)]
    page = build_page(audit(generator.integers(0, 2, 3000), generator.integers(0, 2, 3000), group))

    assert len(page.sections[0].charts[0].data["label"]) == 12
    assert "Not drawn: 18 smaller groups" in page.sections[0].charts[0].caption
    assert len(page.sections[2].tables[0].rows) == 31


def test_answers_are_those_of_the_page():
    found = audit(*people())

    assert build_page(found).answers == answers(found)


def test_the_same_predictions_give_the_same_page():
    rows, scores = scored()

    assert render(build_page(audit(*rows, scores=scores))) == render(build_page(audit(*rows, scores=scores)))
