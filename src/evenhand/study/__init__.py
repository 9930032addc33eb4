"""Studies: one plan, one store, one table of results, whatever runs them."""

from evenhand.study.cells import Cell, Setting
from evenhand.study.classify import Classify
from evenhand.study.compare import Comparison
from evenhand.study.decide_task import DecideTask
from evenhand.study.estimates import Estimated
from evenhand.study.events import Cancel, Cancelled, CellDone, CellFailed, Finished, Started
from evenhand.study.facts import Facts
from evenhand.study.follow import WorkerDied, follow
from evenhand.study.grid import Collect, Mechanism
from evenhand.study.learn_task import LearnTask
from evenhand.study.outcome import Failure, Outcome
from evenhand.study.plan import Plan
from evenhand.study.release_grid import TableMechanism
from evenhand.study.release_task import ReleaseTask
from evenhand.study.results import Results
from evenhand.study.run import run
from evenhand.study.source import DataSource

__all__ = [
    "Cancel",
    "Cancelled",
    "Cell",
    "CellDone",
    "CellFailed",
    "Classify",
    "Collect",
    "Comparison",
    "DataSource",
    "DecideTask",
    "Estimated",
    "Facts",
    "Failure",
    "Finished",
    "LearnTask",
    "Mechanism",
    "Outcome",
    "Plan",
    "ReleaseTask",
    "Results",
    "Setting",
    "Started",
    "TableMechanism",
    "WorkerDied",
    "follow",
    "run",
]
