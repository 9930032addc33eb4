"""Pages without the chart of their evidence, which takes half a second and has tests of its own."""

import pytest

from evenhand.report.page import Chart
from evenhand.study.tasks.shared import side_by_side


@pytest.fixture
def undrawn(monkeypatch):
    """Put a picture of nothing in the place of the frontier."""
    picture = '<svg width="10" height="10"><rect width="5" height="5" fill="#000"/></svg>'
    chart = Chart("frontier", picture, picture, "", "", {"a": [1]})
    monkeypatch.setattr(side_by_side, "frontier_chart", lambda *_, **__: chart)
