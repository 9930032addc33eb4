"""Pages without their pictures, which take seconds and have tests of their own."""

import pytest

from evenhand.report.page import Chart
from evenhand.study.tasks.collect.page import data as page_data
from evenhand.study.tasks.collect.page import frontier as page_frontier
from evenhand.study.tasks.collect.page import groups as page_groups
from evenhand.study.tasks.collect.page import measures as page_measures
from evenhand.study.tasks.collect.page import protocols as page_protocols
from unit.study._page_studies import FULL, by_setting, made

CHARTS = {
    page_frontier: "frontier_chart",
    page_measures: "measures_chart",
    page_groups: "moved_chart",
    page_protocols: "changes_chart",
    page_data: "bars_chart",
}
PICTURE = '<svg width="10" height="10"><rect width="5" height="5" fill="#000"/></svg>'


@pytest.fixture(name="drawn")
def _drawn(monkeypatch):
    """Take down what charts are given instead of drawing: pictures take seconds, and have their own tests."""
    given = {}

    def drawing(name):
        def draw(*things, name, alt, caption, **options):
            given[name] = (things, options)
            return Chart(name=name, wide=PICTURE, narrow=PICTURE, alt=alt, caption=caption, data={"a": [1]})

        return draw

    for module, name in CHARTS.items():
        monkeypatch.setattr(module, name, drawing(name))
    return given


@pytest.fixture(name="full")
def _full(drawn):
    return made(by_setting({(None, "k-based", 4): (0.24, 0.81)}), collect=FULL)
