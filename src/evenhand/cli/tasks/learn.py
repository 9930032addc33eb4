"""evenhand audit learn: classifiers are trained with privacy and parity, and compared."""

from __future__ import annotations

import math
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from evenhand.cli import options as shared
from evenhand.cli.options import design_option, is_typed, join_names, protection_option, split_list
from evenhand.cli.roles import assign_roles, open_people
from evenhand.cli.study import build_plan
from evenhand.cli.tasks.base import (
    TaskCommand,
    defaults_of,
    hundredths,
    interval_words,
    numbers_of,
    value_cells,
    value_columns,
)
from evenhand.cli.terminal.console import WIDEST, Column, Terminal, quote_names, wrong_use
from evenhand.errors import EvenhandError, MissingExtraError
from evenhand.study.page.wording import delta_text
from evenhand.study.results.estimates import group_estimate
from evenhand.study.tasks.learn.methods import DEFAULT_METHODS, METHODS, method_named
from evenhand.study.tasks.learn.reading import LearnReading
from evenhand.study.tasks.learn.task import LearnTask

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evenhand.study.plan.cells import Setting
    from evenhand.study.plan.plan import Plan
    from evenhand.study.results.results import Results

_NEEDED = ("target", "positive", "protected", "privileged")
_CHOSEN = ("delta", "unit", "gap", "strength", "group_as_input", *shared.READING_OPTIONS)
_MOST_ROWS = 24
_NARROW = 84
_TITLES = ("method", "promise", "accuracy", "gap", "equal", "bound")
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
        setup = assign_roles(terminal, opened, typed, command="audit learn", needed=needed)
        return build_plan(opened, task, typed, setup), opened.frame

    def change_plan(self, plan: Plan, typed: dict[str, Any]) -> Plan:
        """Return the plan with what was typed of its methods and their privacy."""
        task: Any = plan.task.with_(**_typed_parts(typed))
        _check_extra(task)
        return plan.with_(task=task)

    def summarize(self, results: Results) -> list[dict[str, Any]]:
        """Return one object for each setting: also its method, if it is private, and what it rests on."""
        reading, rows = LearnReading.of(results), super().summarize(results)
        for row, setting in zip(rows, results.settings, strict=True):
            outcome = reading.outcome(setting)
            row |= {"method": reading.way(setting).name, "private": reading.is_private(setting)}
            row["assumptions"] = [] if outcome is None else [_assumption(note) for note in outcome.notes]
        return rows

    def summarize_groups(self, results: Results, setting: Setting) -> dict[str, dict[str, Any]]:
        """Return how each group is selected, and whose predictions change."""
        return {
            label: {
                name: numbers_of(group_estimate(results, setting, label, name)) for name in _GROUP_NUMBERS
            }
            for label in results.facts.groups
        }

    def show_table(self, terminal: Terminal, results: Results) -> None:
        """Show one row for each setting, with what it promises."""
        reading = LearnReading.of(results)
        say, interval = reading.sentences.say, interval_words(results.plan.repeats, runs="repeats")
        terminal.show()
        terminal.sentence(say("closing.lead", interval=interval))
        beside = min(terminal.results.width, WIDEST) >= _NARROW
        settings = list(results.settings)
        if len(settings) > _MOST_ROWS:  # those at the epsilon of the report alone
            settings = [settings[0], *reading.beside][:_MOST_ROWS]
        terminal.table(
            _columns(reading, beside=beside),
            [_cells(reading, setting, beside=beside) for setting in settings],
        )


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


def _columns(reading: LearnReading, *, beside: bool) -> list[Column]:
    method, promise, accuracy, gap, equal, bound = (
        reading.sentences.say(f"closing.{key}") for key in _TITLES
    )
    columns = [Column(method, wraps=True), Column(promise)]
    for title in (accuracy, gap):
        columns += value_columns(title, beside=beside)
    return [*columns, Column(equal, numeric=True), Column(bound, numeric=True)]


def _cells(reading: LearnReading, setting: Setting, *, beside: bool) -> list[tuple[str, str]]:
    cells = [(reading.way(setting).title, ""), _promise(reading, setting)]
    for measure in ("acc", "sp_gap"):
        style = "bold" if reading.change(measure, setting).is_clear else ""
        cells += value_cells(reading.value(measure, setting), style, beside=beside)
    cells.append((hundredths(reading.value("fair_gap", setting).value), ""))
    _, bound = reading.bound(setting)
    shown = hundredths(bound) if math.isfinite(bound) else reading.sentences.say("closing.none")
    return [*cells, (shown, "")]


def _promise(reading: LearnReading, setting: Setting) -> tuple[str, str]:
    say = reading.sentences.say
    if reading.is_private(setting):
        epsilon, delta = reading.largest("claimed_epsilon", setting), reading.largest("delta", setting)
        key = "local" if reading.way(setting).base == "local" else "private"
        return say(f"closing.{key}", epsilon=epsilon, delta=delta_text(delta)), ""
    if setting.epsilon is None:
        return say("closing.nothing"), "dim"
    if reading.outcome(setting) is None:
        return say("closing.unknown", epsilon=setting.epsilon), "dim"
    return say("closing.void", epsilon=setting.epsilon), "bold red"


def _assumption(note: Any) -> str:
    return f"{note.kind}: {note}" if note.kind in {"unit", "trust"} else str(note)
