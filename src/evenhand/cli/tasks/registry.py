"""The kinds of study that ``evenhand audit`` knows: where each is loaded from, and what help says of it."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple, cast

if TYPE_CHECKING:
    from evenhand.cli.tasks.base import TaskCommand

DEFAULT_KIND = "collect"
"""The kind of study where none is named."""


class TaskEntry(NamedTuple):
    """Where the sub-command of a kind is loaded from, as ``"module:class"``, and what it does in one line."""

    place: str
    summary: str


TASK_COMMANDS: dict[str, TaskEntry] = {
    "collect": TaskEntry(
        "evenhand.cli.tasks.collect:CollectCommand",
        "Who is predicted worse when people randomise their answers.",
    ),
    "release": TaskEntry(
        "evenhand.cli.tasks.release:ReleaseCommand", "Who is lost in a table of counts that is published."
    ),
    "learn": TaskEntry(
        "evenhand.cli.tasks.learn:LearnCommand", "What it costs to train classifiers with privacy and parity."
    ),
    "decide": TaskEntry(
        "evenhand.cli.tasks.decide:DecideCommand",
        "Who loses and who gains when rights or money follow noisy counts.",
    ),
}
"""Every kind of study by name. A new kind is one entry here, and a file."""


def load_task_command(kind: str) -> TaskCommand:
    """Return the sub-command of a kind, loaded when it is asked for; one without an entry runs plans."""
    place = TASK_COMMANDS[kind].place if kind in TASK_COMMANDS else "evenhand.cli.tasks.base:TaskCommand"
    module, _, name = place.partition(":")
    return cast("TaskCommand", getattr(import_module(module), name)(kind))
