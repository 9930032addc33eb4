"""Pages without their pictures, which take seconds and have tests of their own."""

import pytest

from evenhand.report.page import Chart
from evenhand.study.page import parts as page_parts
from evenhand.study.tasks.collect.page import frontier as page_frontier
from evenhand.study.tasks.collect.page import groups as page_groups
from evenhand.study.tasks.collect.page import settings as page_settings
from unit.study._page_studies import FULL, by_setting, made

CHARTS = {
    "frontier_chart": page_frontier,
    "measures_chart": page_frontier,
    "moved_chart": page_parts,
    "changes_chart": page_settings,
    "bars_chart": page_groups,
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

    for name, module in CHARTS.items():
        monkeypatch.setattr(module, name, drawing(name))
    return given


@pytest.fixture(name="full")
def _full(drawn):
    return made(by_setting({(None, "k-based", 4): (0.24, 0.81)}), collect=FULL)
