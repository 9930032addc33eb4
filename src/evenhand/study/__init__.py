"""Studies: one plan, one store, one table of results, whatever runs them."""

from evenhand.measure.repeat_means import Estimated
from evenhand.release.mechanisms.registry import TableMechanism
from evenhand.study.plan.cells import Cell, Setting
from evenhand.study.plan.facts import Facts
from evenhand.study.plan.plan import Plan
from evenhand.study.plan.source import DataSource
from evenhand.study.results.estimates import Comparison
from evenhand.study.results.results import Results
from evenhand.study.run.cluster import DaskCluster
from evenhand.study.run.events import (
    Cancel,
    Cancelled,
    CellDone,
    CellFailed,
    Finished,
    StageDone,
    Started,
    Timed,
    WorkerDied,
)
from evenhand.study.run.stages import add_remedies
from evenhand.study.run.whole import follow, run
from evenhand.study.store.outcome import Failure, Outcome
from evenhand.study.tasks.collect.task import CollectTask, Mechanism
from evenhand.study.tasks.decide.task import DecideTask
from evenhand.study.tasks.learn.task import LearnTask
from evenhand.study.tasks.release.task import ReleaseTask

__all__ = [
    "Cancel",
    "Cancelled",
    "Cell",
    "CellDone",
    "CellFailed",
    "CollectTask",
    "Comparison",
    "DaskCluster",
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
    "StageDone",
    "Started",
    "TableMechanism",
    "Timed",
    "WorkerDied",
    "add_remedies",
    "follow",
    "run",
]
