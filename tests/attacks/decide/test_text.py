"""Hostile names of places, columns, groups and money: a report on decisions takes none for markup."""

import pytest

from attacks._report_payloads import PAYLOADS
from evenhand.answer.page import build_page
from evenhand.report.drawing import Drawing
from evenhand.report.html import render
from evenhand.report.page import Page
from unit.report._parsing import Parsed
from unit.study._decide_studies import entity, made, money_task, rule_task

pytestmark = pytest.mark.figures

PICTURE = '<svg width="10" height="10"><rect width="5" height="5" fill="#000"/></svg>'
FIT = [each for each in PAYLOADS if each.isprintable() and "`" not in each]


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    """Leave out turning drawings into pictures, which has attacks of its own."""
    monkeypatch.setattr(Drawing, "svg", lambda _: PICTURE)


def text_of(names, *, count="poor", group="young", currency="$"):
    """Return a page on money and one on rights in which everything has these names."""
    said = {
        "gains": {1: 5.0, 7: -5.0},
        "entities": [entity(name, 9, 0.5, 0.1 - 0.001 * at) for at, name in enumerate(names)],
        "groups": {
            group: {
                "people": 5.0,
                "due": 4.0,
                "gain": 1.0,
                "gain_per_head": 0.2,
                "refused": 1.0,
                "granted": 0.5,
            }
        },
        "notes": tuple(names[:2]),
        "measures": {"moved": 3.0, "at_risk": 1.0, "expected_wrong": 1.0, "exact": 0.0},
    }
    tasks = (
        money_task(count=count, groups=[group], name=group, currency=currency[:8]),
        rule_task(rule=f"`{count}` > 3", groups=[group], name=group),
    )
    return [render(build_page(made(task, lambda _: said).view())) for task in tasks]


@pytest.fixture(scope="module")
def known():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Drawing, "svg", lambda _: PICTURE)
        return [Parsed(text).kinds for text in text_of([f"town {place}" for place in range(40)])]


@pytest.mark.parametrize("start", range(0, len(PAYLOADS), 40))
def test_names_of_places_add_nothing_to_the_page(known, start):
    for text, kinds in zip(text_of(PAYLOADS[start : start + 40]), known, strict=True):
        parsed = Parsed(text)

        assert parsed.kinds <= kinds
        assert parsed.faults == []


@pytest.mark.parametrize("payload", FIT[::50])
def test_names_of_columns_add_nothing_to_the_page(known, payload):
    names = [f"town {place}" for place in range(40)]
    made_of = text_of(names, count=payload, group=payload, currency=payload.strip() or "$")
    for text, kinds in zip(made_of, known, strict=True):
        parsed = Parsed(text)

        assert parsed.kinds <= kinds
        assert parsed.faults == []


def test_the_check_can_see():
    """A page with one more element is found out."""
    plain, more = (
        Parsed(render(Page(question="q", answers=("a",))).replace("<h1>", put)).kinds
        for put in ("<h1>", "<img><h1>")
    )

    assert not more <= plain
