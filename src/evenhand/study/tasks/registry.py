"""The kinds of study by name, and where each is loaded from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand._registry import PluginRules, Registry
from evenhand.errors import UnknownNameError

if TYPE_CHECKING:
    from evenhand.study.tasks.base import Task

KINDS: Registry[type[Task]] = Registry(
    {
        "collect": "evenhand.study.tasks.collect.task:CollectTask",
        "release": "evenhand.study.tasks.release.task:ReleaseTask",
        "learn": "evenhand.study.tasks.learn.task:LearnTask",
        "decide": "evenhand.study.tasks.decide.task:DecideTask",
    },
    PluginRules(
        "evenhand.tasks",
        "kind of study",
        "a class derived from evenhand.study.tasks.base.Task, with all of its abstract methods",
        base="evenhand.study.tasks.base:Task",
        named_by="kind",
    ),
)
"""The class of each kind's tasks, which is imported when it is asked for. Other packages add kinds by the
entry points ``evenhand.tasks``."""

DEFAULT_KIND = "collect"
"""The kind of a plan that names none."""


def task_of_kind(kind: str) -> type[Task]:
    """Return the class of the tasks of a kind.

    >>> task_of_kind("release").__name__
    'ReleaseTask'
    """
    if kind not in KINDS:
        raise UnknownNameError("Kind of study", kind, KINDS, place="one of a plan")
    return KINDS[kind]
