"""evenhand audit learn: classifiers are trained with privacy and parity, and compared."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from evenhand.cli import options as shared
from evenhand.cli.options import design_option, is_typed, join_names, protection_option, split_list
from evenhand.cli.roles import ROLE_NAMES, assign_roles, open_people
from evenhand.cli.study import build_plan
from evenhand.cli.tasks.base import (
    TaskCommand,
    defaults_of,
    numbers_of,
)
from evenhand.cli.terminal.console import Terminal, quote_names, wrong_use
from evenhand.errors import EvenhandError, MissingExtraError
from evenhand.study.results.estimates import estimate
from evenhand.study.tasks.learn.methods import DEFAULT_METHODS, METHODS, PLAIN, method_named
from evenhand.study.tasks.learn.task import LearnTask

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evenhand.study.plan.cells import Setting
    from evenhand.study.plan.plan import Plan
    from evenhand.study.results.results import Results
    from evenhand.study.store.outcome import Outcome

_NEEDED = ("target", "positive", "protected", "privileged")
_CHOSEN = ("delta", "unit", "gap", "strength", "group_as_input", *shared.READING_OPTIONS)
_GROUP_NUMBERS = ("selection", "changed", "promoted", "refused", "flipped")

Methods = Annotated[
    list[str] | None,
    protection_option("LIST", "Of {methods}. [{default}]", "--methods", "--method", choices="methods"),
]
AllowedGap = Annotated[
    float | None, protection_option("SHARE", "The gap that parity leaves. [{default}]", "--gap")
]
Strength = Annotated[float | None, protection_option("NUMBER", "Weight of fermi's penalty. [its own]")]
Delta = Annotated[str | None, protection_option("NUMBER", "Of every private method but local. [{default}]")]
GroupAsInput = Annotated[
    bool, design_option("", "The protected column is a feature too.", "--group-as-input")
]


class LearnCommand(TaskCommand):
    """What it costs to train classifiers with privacy and parity.

    Trains a classifier by each of --methods with each epsilon, tests it on true rows, compares the groups,
    and writes report.html, the plan and every number to a folder. What it computes comes from the true data
    and is itself not private.
    """

    kind = "learn"
    example = """\
  evenhand audit learn people.csv --target hired --positive yes \\
      --protected sex --privileged male --methods dp,dp+parity,fermi+parity --epsilon 1,3
"""
    options: ClassVar[Mapping[str, Any]] = {
        "schema": shared.SchemaFile, "rows": shared.Rows, **shared.ROLE_OPTIONS,
        **shared.PERSON_OPTIONS, "methods": Methods,
        "epsilons": shared.Epsilons, "delta": Delta, "unit": shared.Unit, "gap": AllowedGap,
        "strength": Strength, "group_as_input": GroupAsInput, **shared.READING_OPTIONS,
        "repeats": shared.Repeats,
    }  # fmt: skip
    applied = ("methods", "epsilons", *_CHOSEN)

    def defaults(self) -> dict[str, str]:
        """Return what is tried where an option is left out."""
        unusual = ", ".join(name for name in METHODS if name not in DEFAULT_METHODS)
        return {**defaults_of(LearnTask(), self.options), "methods": f"all but {unusual}"}

    def new_plan(self, terminal: Terminal, typed: dict[str, Any]) -> tuple[Plan, Any]:
        """Return the study of classifiers of a file or data set, and its rows."""
        task = LearnTask(**_typed_parts(typed))
        _check_extra(task)
        local = "local" in task.methods
        if typed["sensitive"] and not local:
            wrong_use("--sensitive is of use to the method local only, which is not among --methods.")
        opened = open_people(terminal, typed)
        needed = (*_NEEDED, "sensitive") if local else _NEEDED
        setup = assign_roles(
            terminal, opened, typed, command=self.spell(typed, without=ROLE_NAMES), needed=needed
        )
        return build_plan(opened, task, typed, setup), opened.frame

    def change_plan(self, plan: Plan, typed: dict[str, Any]) -> Plan:
        """Return the plan with what was typed of its methods and their privacy."""
        task: Any = plan.task.with_(**_typed_parts(typed))
        _check_extra(task)
        return plan.with_(task=task)

    def summarize(self, results: Results) -> list[dict[str, Any]]:
        """Return one object for each setting: also its method, if it is private, and what it rests on."""
        rows = super().summarize(results)
        done: dict[Setting, list[Outcome]] = {}
        for outcome in results.outcomes:
            if outcome.failure is None:
                done.setdefault(outcome.cell.setting, []).append(outcome)
        for row, setting in zip(rows, results.settings, strict=True):
            found = done.get(setting, [])
            row["method"] = setting.mechanism if setting.is_protected else PLAIN
            row["private"] = bool(found) and all(each.measures["delta"] < 1 for each in found)
            row["assumptions"] = [_assumption(note) for each in found[:1] for note in each.notes]
        return rows

    def summarize_groups(self, results: Results, setting: Setting) -> dict[str, dict[str, Any]]:
        """Return how each group is selected, and whose predictions change."""
        return {
            label: {
                name: numbers_of(estimate(results, setting, name, group=label)) for name in _GROUP_NUMBERS
            }
            for label in results.facts.groups
        }


def _typed_parts(typed: dict[str, Any]) -> dict[str, Any]:
    """Return the parts of the task that were typed, by their names in a plan."""
    parts: dict[str, Any] = {}
    names = split_list(typed["methods"])
    unknown = [name for name in names if not _is_method(name)]
    if unknown:
        wrong_use(f"--methods must be of {join_names('methods')}. Got {quote_names(unknown)} instead.")
    if names:
        parts["methods"] = names
    if typed["epsilons"]:
        parts["epsilons"] = split_list(typed["epsilons"])
    for name in _CHOSEN:
        if is_typed(typed[name]):
            parts[name] = typed[name]
    return parts


def _is_method(name: str) -> bool:
    try:
        return method_named(name) in METHODS
    except EvenhandError:
        return False


def _check_extra(task: LearnTask) -> None:
    """Say at once that a package is missing, before a file is read."""
    if task.needs_accounting and find_spec("dp_accounting") is None:
        raise MissingExtraError("dp-accounting", feature="Training with differential privacy", extra="dp")


def _assumption(note: Any) -> str:
    return f"{note.kind}: {note}" if note.kind in {"unit", "trust"} else str(note)
