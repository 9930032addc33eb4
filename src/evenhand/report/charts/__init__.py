"""Charts of a report: each function answers one question and returns a static picture with its numbers."""

from evenhand.report.charts.epsilons import measures_chart
from evenhand.report.charts.frontier import frontier_chart
from evenhand.report.charts.rows import bars_chart, changes_chart, moved_chart
from evenhand.report.charts.sizes import spots_chart
from evenhand.report.charts.steps import steps_chart

__all__ = [
    "bars_chart",
    "changes_chart",
    "frontier_chart",
    "measures_chart",
    "moved_chart",
    "spots_chart",
    "steps_chart",
]
