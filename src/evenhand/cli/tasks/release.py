"""evenhand audit release: a table of counts is published by mechanisms, and compared with the true one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from evenhand.cli import options as shared
from evenhand.cli.mechanisms import PARAMETER_OPTIONS, Mechanisms, typed_mechanisms
from evenhand.cli.options import data_option, is_typed, protection_option, split_list
from evenhand.cli.proposals import settle_options
from evenhand.cli.roles import (
    open_people,
    privileged_words,
    read_role_options,
    refuse_empty_table,
    report_inferred,
    with_choices,
)
from evenhand.cli.study import build_plan
from evenhand.cli.tasks.base import TaskCommand, defaults_of
from evenhand.cli.terminal.console import Terminal, quote_names, wrong_use
from evenhand.errors import SchemaError
from evenhand.release.mechanisms.registry import MECHANISMS
from evenhand.schema.crossing import as_names
from evenhand.study.intake.guess_counts import guess_table
from evenhand.study.intake.setup import Setup, column_named, set_up
from evenhand.study.page.wording import outcome_name
from evenhand.study.tasks.release.task import (
    WITH_QUASI_IDENTIFIERS,
    ReleaseTask,
    default_mechanisms,
    roles_to_train,
    trains_model,
)
from evenhand.study.tasks.shared.table_mechanisms import BLANKS_READ_AS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evenhand.schema import Schema
    from evenhand.study.intake.opening import Opened
    from evenhand.study.plan.plan import Plan

_ROLES = (
    "target", "positive", "protected", "privileged", "band", "missing_group", "labels", "guess", "pool_below",
)  # fmt: skip
_NEEDED = {
    "columns": "what is crossed in the table, with commas",
    "protected": "the column of the table whose groups are compared",
}

Columns = Annotated[list[str] | None, data_option("COLUMNS", "What is crossed, with commas.", "--columns")]
Fill = Annotated[
    str | None,
    protection_option(
        "NAME", f"Of suppression: how a blank is read, zero or half-threshold. [{BLANKS_READ_AS}]"
    ),
]


ComparePost = Annotated[
    list[str] | None,
    protection_option("LIST", "Tried as well for noise: steps joined by +, or none. [{default}]"),
]


class ReleaseCommand(TaskCommand):
    """Who is lost in a table of counts that is published.

    Counts people by --columns, publishes the table by each mechanism, compares it with the true one, and
    writes report.html, the plan and every number to a folder. With --target, --positive and --privileged a
    model is trained on the published table too. What it computes comes from the true data and is itself not
    private.
    """

    kind = "release"
    example = """\
  evenhand audit release people.csv --columns county,sex,job \\
      --protected sex --mechanism laplace,suppression --epsilon 0.5,1,2
  evenhand audit release people.csv --columns county,sex,job,hired --protected sex \\
      --quasi county,sex --target hired --positive yes --privileged male
"""
    options: ClassVar[Mapping[str, Any]] = {
        "columns": Columns, "schema": shared.SchemaFile, "rows": shared.Rows,
        **{role: shared.ROLE_OPTIONS[role] for role in _ROLES}, **shared.PERSON_OPTIONS,
        "quasi": shared.Quasi,
        "mechanisms": Mechanisms, "epsilons": shared.Epsilons, "unit": shared.Unit, **PARAMETER_OPTIONS,
        "fill": Fill,
        "bound": shared.Bound, "post": shared.Post, "compare_post": ComparePost, "repeats": shared.Repeats,
    }  # fmt: skip
    applied = ("mechanisms", *PARAMETER_OPTIONS, "epsilons", "unit")

    def defaults(self) -> dict[str, str]:
        """Return what is tried where an option is left out."""
        more = f"with --quasi also {', '.join(WITH_QUASI_IDENTIFIERS)}"
        return {
            **defaults_of(ReleaseTask("column"), self.options),
            "mechanisms": f"{', '.join(ReleaseTask.audit_mechanisms)}; {more}",
            "epsilons": ",".join(ReleaseTask.audit_epsilons),
            "compare_post": "nonnegative; none with --post",
        }

    def new_plan(self, terminal: Terminal, typed: dict[str, Any]) -> tuple[Plan, Any]:
        """Return the study of a table of a file or data set, and its rows."""
        opened = open_people(terminal, typed)
        refuse_empty_table(opened)
        typed = self._propose(terminal, opened, typed)
        columns = _table_columns(opened, typed)
        setup = _assign_roles(terminal, opened, typed, columns)
        task = _build_task(setup.schema, typed, columns)
        _report_roles(terminal, setup.schema, task)
        return build_plan(opened, task, typed, setup), opened.frame

    def _propose(self, terminal: Terminal, opened: Opened, typed: dict[str, Any]) -> dict[str, Any]:
        """Return what was typed, with the columns and the groups that are proposed where they are missing."""
        columns, schema = _table_columns(opened, typed), opened.schema
        names = columns or (opened.names if schema is None else schema.names)
        needed = dict(_NEEDED)
        if schema is not None and set(schema.protected_columns) & set(names):
            del needed["protected"]
        if all(is_typed(typed[option]) for option in needed) and not typed["guess"]:
            return typed
        proposed = guess_table(opened, read_role_options(opened, typed), columns)
        command = self.spell(typed)
        return settle_options(terminal, typed, proposed, needed=needed, command=command, names=names)

    def change_plan(self, plan: Plan, typed: dict[str, Any]) -> Plan:
        """Return the plan with what was typed of its mechanisms and their privacy."""
        parts: dict[str, Any] = {}
        mechanisms = typed_mechanisms(split_list(typed["mechanisms"]), typed)
        if mechanisms:
            parts["mechanisms"] = mechanisms
        if typed["epsilons"]:
            parts["epsilons"] = split_list(typed["epsilons"])
        if is_typed(typed["unit"]):
            parts["unit"] = typed["unit"]
        task: Any = plan.task.with_(**parts)
        _refuse_unused_epsilon(task, typed)
        return plan.with_(task=task)


# --- from options to a task -----------------------------------------------------------------------


def _table_columns(opened: Opened, typed: dict[str, Any]) -> tuple[str, ...]:
    known = opened.names if opened.schema is None else opened.schema.names
    chosen = split_list(typed["columns"], known)
    columns = tuple(column_named(name, known, opened.undeclared) for name in chosen)
    if len(set(columns)) < len(columns):
        wrong_use("--columns holds one column twice. Hint: name each once.")
    return columns


def _assign_roles(
    terminal: Terminal, opened: Opened, typed: dict[str, Any], columns: tuple[str, ...]
) -> Setup:
    """Return the schema of the table with its roles, and say how it came about."""
    known = opened.names if opened.schema is None else opened.schema.names
    others = tuple(name for name in known if name not in columns)
    roles = read_role_options(opened, typed)
    for role in ("target", "protected"):
        for name in as_names(getattr(roles, role)):
            if column_named(name, known, opened.undeclared) not in columns:
                problem = f"--{role} names {quote_names([name])}, which is not in --columns."
                wrong_use(f"{problem} Hint: put it there.")
    if opened.schema is not None:  # which may give roles to columns outside the table
        opened = replace(opened, schema=opened.schema.select([name for name in known if name in columns]))
    try:
        setup = set_up(opened, replace(roles, drop=others if opened.schema is None else ()), crossed=columns)
    except SchemaError as error:
        wrong_use(with_choices(opened, roles, error))
    report_inferred(terminal, setup)
    names = setup.schema.names
    quasi = tuple(column_named(name, names) for name in split_list(typed["quasi"], names))
    return replace(setup, schema=setup.schema.with_roles(quasi_identifiers=quasi)) if quasi else setup


def _build_task(schema: Schema, typed: dict[str, Any], columns: tuple[str, ...]) -> ReleaseTask:
    names = split_list(typed["mechanisms"])
    names = names or default_mechanisms(has_quasi_identifiers=bool(schema.quasi_identifiers))
    mechanisms = typed_mechanisms(names, typed)
    needing = [
        mechanism.name for mechanism in mechanisms if MECHANISMS[mechanism.name].needs_quasi_identifiers
    ]
    if needing and not schema.quasi_identifiers:
        treat = "treats" if len(needing) == 1 else "treat"
        message = (
            f"--quasi is missing: {quote_names(needing)} {treat} apart the columns that others may know."
        )
        wrong_use(f"{message} Columns: {quote_names(columns)}.")
    trains = trains_model(schema)
    if typed["target"] is not None and not trains:
        missing = [f"--{role}" for role in roles_to_train(schema) if getattr(schema, role) is None]
        wrong_use(f"{' and '.join(missing)} must be given with --target, to train a model and compare.")
    unit = {"unit": typed["unit"]} if is_typed(typed["unit"]) else {}
    task = ReleaseTask(
        columns,
        mechanisms,
        split_list(typed["epsilons"]) or ReleaseTask.audit_epsilons,
        **unit,
        bound=typed["bound"],
        post=split_list(typed["post"]),
        compare_post=split_list(typed["compare_post"]) or ("none" if typed["post"] else "nonnegative"),
        classify=trains,
    )
    _refuse_unused_epsilon(task, typed)
    return task


def _refuse_unused_epsilon(task: ReleaseTask, typed: dict[str, Any]) -> None:
    if typed["epsilons"] and not any(mechanism.takes_epsilon for mechanism in task.mechanisms):
        wrong_use(
            "None of the chosen mechanisms takes --epsilon. Hint: leave it out, or try one that has it."
        )


def _report_roles(terminal: Terminal, schema: Schema, task: ReleaseTask) -> None:
    parts = [f"protected {schema.protected_name}"]
    if task.classify:
        parts.append(f"target {outcome_name(schema)}, {privileged_words(schema)}")
    else:
        parts.append("no model is trained, which takes --target, --positive and --privileged")
    if schema.quasi_identifiers:
        parts.append(f"others may know {quote_names(schema.quasi_identifiers)}")
    terminal.say("Roles", "; ".join(parts))
