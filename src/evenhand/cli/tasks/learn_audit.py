"""evenhand audit --task learn: from a file and a few words to a study of private classifiers."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from evenhand.cli import options as given
from evenhand.cli.roles import arranged, told_reading, words_of
from evenhand.cli.tasks.learn_options import WAYS, refuse_others
from evenhand.cli.terminal.console import spelled, wrong_use
from evenhand.errors import EvenhandError, MissingExtraError
from evenhand.study.intake.opening import open_data
from evenhand.study.plan.plan import Plan
from evenhand.study.tasks.learn.methods import DEFAULT_METHODS, method_named
from evenhand.study.tasks.learn.task import LearnTask

if TYPE_CHECKING:
    from evenhand.cli.terminal.console import Terminal

__all__ = ["changed_learning", "learning_plan", "refuse_for_learning"]

_CLASSIFY_ONLY = ("protocol", "split", "strategy", "model", "encoder")
_RELEASE_ONLY = (
    "columns", "mechanism", "threshold", "k", "fraction", "rho", "bound", "post", "quasi",
)  # fmt: skip
_NEEDED = ("target", "positive", "protected", "privileged")
_REPEATS = 5


def refuse_for_learning(typed: dict[str, Any]) -> None:
    """Refuse options that belong to other tasks."""
    refuse_others(typed, _CLASSIFY_ONLY, task="learn", owner="collect")
    refuse_others(typed, _RELEASE_ONLY, task="learn", owner="release")


def learning_plan(terminal: Terminal, typed: dict[str, Any]) -> tuple[Plan, Any]:
    """Return the study of classifiers of a file or data set, and its rows."""
    from evenhand.schema import Schema  # noqa: PLC0415 - starts numpy

    refuse_for_learning(typed)
    task = _task(typed)
    _check_extra(task)
    local = "local" in task.methods
    if typed["sensitive"] and not local:
        wrong_use("--sensitive is of use to the way local only, which is not among --ways.")
    declared = None if typed["schema"] is None else Schema.load(typed["schema"])
    opened = open_data(typed["data"], schema=declared)
    told_reading(terminal, opened)
    made = arranged(
        terminal,
        opened,
        words_of(opened, typed),
        command="audit --task learn",
        data=typed["data"],
        guess=typed["guess"],
        needed=(*_NEEDED, "sensitive") if local else _NEEDED,
    )
    plan = Plan(
        data=replace(opened.source, rows=typed["rows"]),
        schema=made.schema,
        task=task,
        repeats=_REPEATS if typed["repeats"] is None else typed["repeats"],
        seed=typed["seed"] or 0,
        notes=made.sentences,
    )
    return plan, opened.frame


def changed_learning(plan: Plan, typed: dict[str, Any]) -> Plan:
    """Return a plan that was written before, with what was typed besides."""
    refuse_for_learning(typed)
    task: Any = plan.task
    changes = {**task.to_toml(), **_typed_parts(typed)}
    del changes["kind"]
    changed = LearnTask(**changes)
    _check_extra(changed)
    return plan.with_(task=changed)


def _task(typed: dict[str, Any]) -> LearnTask:
    return LearnTask(**{"methods": DEFAULT_METHODS, **_typed_parts(typed)})


def _typed_parts(typed: dict[str, Any]) -> dict[str, Any]:
    """Return the parts of the task that were typed, by their names in a plan."""
    parts: dict[str, Any] = {}
    names = given.listed(typed["ways"])
    strange = [name for name in names if not _is_way(name)]
    if strange:
        wrong_use(f"--ways must be of {', '.join(WAYS)}. Got {spelled(strange)} instead.")
    if names:
        parts["methods"] = names
    if typed["epsilon"]:
        parts["epsilons"] = given.listed(typed["epsilon"])
    for name in ("delta", "gap", "strength", "unit"):
        if typed[name] is not None:
            parts[name] = typed[name]
    if typed["group_as_input"]:
        parts["group_as_input"] = True
    return parts


def _is_way(name: str) -> bool:
    try:
        return method_named(name) in WAYS
    except EvenhandError:
        return False


def _check_extra(task: LearnTask) -> None:
    """Say at once that a package is missing, before a file is read."""
    if task.needs_accounting and find_spec("dp_accounting") is None:
        raise MissingExtraError("dp-accounting", feature="Training with differential privacy", extra="dp")
