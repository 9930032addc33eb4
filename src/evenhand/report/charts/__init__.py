"""Charts of a report: each function answers one question and returns a static picture with its numbers."""

from evenhand.report.charts.frontier import frontier_chart
from evenhand.report.charts.rows import bars_chart
from evenhand.report.charts.steps import steps_chart

__all__ = ["bars_chart", "frontier_chart", "steps_chart"]
