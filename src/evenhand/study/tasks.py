"""The tasks that a plan may have, by kind."""

from __future__ import annotations

from evenhand.study.classify import Classify
from evenhand.study.decide_task import DecideTask
from evenhand.study.learn_task import LearnTask
from evenhand.study.release_task import ReleaseTask

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
