"""Studies: one plan, one store, one table of results, whatever runs them."""

from evenhand.study.cells import Cell, Setting
from evenhand.study.classify import Classify
from evenhand.study.events import Cancel
from evenhand.study.grid import Collect, Mechanism
from evenhand.study.outcome import Failure, Outcome
from evenhand.study.plan import Plan
from evenhand.study.source import DataSource

__all__ = [
    "Cancel",
    "Cell",
    "Classify",
    "Collect",
    "DataSource",
    "Failure",
    "Mechanism",
    "Outcome",
    "Plan",
    "Setting",
]
