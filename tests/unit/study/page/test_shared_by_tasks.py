"""What holds for the page of every kind of study: limits that are possible, and ε that keeps its number."""

import re
from html.parser import HTMLParser

import pytest

from evenhand.answer.page import build_page
from evenhand.report.drawing import Drawing
from evenhand.report.html import render
from evenhand.study.tasks.collect.task import CollectTask
from unit.study import _decide_studies, _learn_studies, _page_studies, _release_studies

pytestmark = pytest.mark.figures

PICTURE = '<svg width="10" height="10"><rect width="5" height="5" fill="#000"/></svg>'
NUMBER = r"[+−]?[0-9][0-9.,]*"
IN_BRACKETS = re.compile(rf"\(({NUMBER}) to ({NUMBER})\)")
IN_A_CELL = re.compile(rf"\n({NUMBER}) to ({NUMBER})$")


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    """Leave out pictures, which have tests of their own."""
    monkeypatch.setattr(Drawing, "svg", lambda _: PICTURE)


def texts(page):
    """Yield everything that a page says with an interval."""
    yield from (*page.answers, *(f"{number.value} {number.detail}" for number in page.numbers))
    for section in page.sections:
        yield from (section.heading, section.lead, *(note.text for note in section.notes))
        yield from (text for chart in section.charts for text in (chart.alt, chart.caption))
        yield from (cell for table in section.tables for row in table.rows for cell in row)


def limits(page):
    """Return every interval of a page with the text that it stands in."""
    found = [
        (match, text)
        for text in texts(page)
        for pattern in (IN_BRACKETS, IN_A_CELL)
        for match in pattern.finditer(text)
    ]
    return [([float(each.replace(",", "").replace("−", "-")) for each in match.groups()], text)
            for match, text in found]  # fmt: skip


# --- limits that are possible ---------------------------------------------------------------------


def wild_collection():
    """Return two repeats that are far from each other, with many groups that are compared."""
    groups = ("a", "b", "c", "d")
    rates = {group: (0.5 + place / 100, 0.5, 0.5) for place, group in enumerate(groups)}
    collect = CollectTask(["grr", "oue"], [1, 2], splits=["uniform", "k-based"])
    return _page_studies.made(lambda _: rates, collect=collect, groups=groups, repeats=2, noise=0.12)


def wild_release():
    """Return the same for a release whose tables lose between a tenth and nine tenths of a group."""
    given = _release_studies.by_name({}, lost=(-0.5, -0.5), error=10.0)
    return _release_studies.made(given, repeats=2, noise=8.0)


def wild_classifiers():
    """Return classifiers that are nearly always right in one repeat and seldom in the other."""

    def given(setting, repeat):
        high = repeat == setting.is_protected
        numbers = _learn_studies.measures(0.9 if high else 0.1, 0.8 if high else 0.1, epsilon=1.0)
        rates = {group: _learn_studies.of_group(0.9 if high else 0.1) for group in ("f", "m")}
        return numbers | {"fair_gap": 0.01 if high else 0.7}, rates

    return _learn_studies.made(given, repeats=2)


def test_no_change_between_settings_reaches_beyond_a_hundred_points():
    for results in (wild_collection(), wild_classifiers()):
        found = limits(build_page(results.view()))

        assert len(found) > 10
        between_changes = "In the change of accuracy"  # of two groups, which may go opposite ways
        reach = [(max(map(abs, ends)), 200 if between_changes in text else 100, text) for ends, text in found]
        assert [text for size, most, text in reach if size > most] == []


# --- ε and its number -----------------------------------------------------------------------------


class Words(HTMLParser):
    """The text of a page without styles, pictures and what is only read aloud."""

    def __init__(self):
        super().__init__()
        self.open, self.text = [], ""

    def handle_starttag(self, tag, attrs):
        self.open += [tag] if tag in {"style", "svg", "pre"} else []

    def handle_endtag(self, tag):
        if self.open and self.open[-1] == tag:
            self.open.pop()

    def handle_data(self, data):
        self.text += "" if self.open else data


@pytest.mark.parametrize(
    "made",
    [
        wild_collection,
        wild_release,
        wild_classifiers,
        _decide_studies.money,
        _decide_studies.rights,
    ],
)
def test_epsilon_and_k_based_never_part_from_what_they_belong_to(made):
    """A line that ends after "ε =" reads as if the number were missing."""
    page = Words()
    page.feed(render(build_page(made().view())))

    assert "ε\u00a0=\u00a0" in page.text
    assert re.findall(r".{20}ε [=≤≥<>] \S.{10}", page.text) == []
    assert re.findall(r".{20}ε [=≤≥<>]\u00a0.{10}", page.text) == []
    assert "k-based" not in page.text
