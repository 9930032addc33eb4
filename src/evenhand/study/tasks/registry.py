"""The tasks that a plan may have, by kind."""

from __future__ import annotations

from evenhand.study.tasks.collect.task import Classify
from evenhand.study.tasks.decide.task import DecideTask
from evenhand.study.tasks.learn.task import LearnTask
from evenhand.study.tasks.release.task import ReleaseTask

__all__ = ["TASKS", "Task"]

Task = Classify | ReleaseTask | DecideTask | LearnTask
"""What is done with protected data."""

TASKS: dict[str, type[Task]] = {
    "classify": Classify,
    "release": ReleaseTask,
    "decide": DecideTask,
    "learn": LearnTask,
}
"""Every task by the name that a plan has for its kind."""
