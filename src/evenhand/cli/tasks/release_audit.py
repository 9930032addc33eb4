"""evenhand audit --task release: from a file and a few words to a study of published tables."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from evenhand.cli import options as given
from evenhand.cli.roles import INFERRED, told_reading, with_choices
from evenhand.cli.tasks.learn_options import LEARN_ONLY, refuse_others
from evenhand.cli.tasks.release_options import refuse_unused, typed_parameters
from evenhand.cli.terminal.console import spelled, wrong_use
from evenhand.cli.terminal.refusals import refuse_other_marks
from evenhand.errors import SchemaError
from evenhand.release.mechanisms.named import TableMechanism
from evenhand.release.mechanisms.registry import MECHANISMS
from evenhand.study.intake.opening import open_data
from evenhand.study.intake.setup import Words, column_named, set_up
from evenhand.study.plan.plan import Plan
from evenhand.study.tasks.release.task import ReleaseTask

if TYPE_CHECKING:
    from evenhand.cli.terminal.console import Terminal
    from evenhand.schema import Schema
    from evenhand.study.intake.opening import Opened
    from evenhand.study.intake.setup import Setup

__all__ = ["RELEASE_ONLY", "changed_release", "refuse_any", "refuse_strangers", "release_plan"]

RELEASE_ONLY = (
    "columns",
    "mechanism",
    "threshold",
    "k",
    "fraction",
    "delta",
    "rho",
    "bound",
    "post",
    "quasi",
)
"""Options that only a study of releases has."""

_CLASSIFY_ONLY = ("sensitive", "drop", "protocol", "split", "strategy", "model", "encoder", "guess")
_ALWAYS = ("laplace", "thresholded-laplace", "suppression", "noisy-suppression")
_WITH_QUASI = ("record-swapping", "k-anonymity")
_EPSILONS = ("0.5", "1", "2", "4")


def refuse_strangers(typed: dict[str, Any], *, release: bool) -> None:
    """Refuse options that belong to the other task; to pass them over would run something else than meant."""
    names = _CLASSIFY_ONLY if release else RELEASE_ONLY
    strange = [f"--{name}" for name in names if typed[name]]
    if strange:
        task, other = ("release", "classify") if release else ("classify", "release")
        verb = "belongs" if len(strange) == 1 else "belong"
        wrong_use(f"{', '.join(strange)} {verb} to --task {other}; this is --task {task}.")
    refuse_others(typed, LEARN_ONLY, task="release" if release else "classify", owner="learn")


def refuse_any(typed: dict[str, Any], kind: str) -> None:
    """Refuse every option of a grid, for a plan of this kind names it all itself."""
    strange = [
        f"--{name}" for name in (*_CLASSIFY_ONLY, *RELEASE_ONLY, *LEARN_ONLY, "epsilon") if typed[name]
    ]
    if strange:
        said = f"{', '.join(strange)} cannot be given with a plan of the task {kind}."
        wrong_use(f"{said} Hint: edit the plan.")


def release_plan(terminal: Terminal, typed: dict[str, Any]) -> tuple[Plan, Any]:
    """Return the study of a table of a file or data set, and its rows."""
    from evenhand.schema import Schema  # noqa: PLC0415 - starts numpy

    declared = None if typed["schema"] is None else Schema.load(typed["schema"])
    opened = open_data(typed["data"], schema=declared)
    told_reading(terminal, opened)
    refuse_other_marks(opened.source.label, opened.names)
    if not opened.rows:
        wrong_use(f"{opened.source.label} has column names and no rows. Hint: name a file with people in it.")
    columns = _columns(opened, typed)
    made = _arranged(terminal, opened, typed, columns)
    task = _task(made.schema, typed, columns)
    _tell(terminal, made.schema, task)
    plan = Plan(
        data=replace(opened.source, rows=typed["rows"]),
        schema=made.schema,
        task=task,
        repeats=10 if typed["repeats"] is None else typed["repeats"],
        seed=typed["seed"] or 0,
        notes=made.sentences,
    )
    return plan, opened.frame


def changed_release(plan: Plan, typed: dict[str, Any]) -> Plan:
    """Return a plan that was written before, with what was typed besides."""
    task: Any = plan.task
    changes = {**task.plain}
    del changes["kind"]
    names = given.listed(typed["mechanism"])
    mechanisms = [TableMechanism(name, typed_parameters(name, typed)) for name in names]
    refuse_unused(mechanisms, typed)
    if mechanisms:
        changes["mechanisms"] = mechanisms
    if typed["epsilon"]:
        changes["epsilons"] = given.listed(typed["epsilon"])
    refused = [f"--{name}" for name in ("columns", "bound", "post", "quasi") if typed[name]]
    if refused:
        wrong_use(f"{', '.join(refused)} cannot be given with a plan, which says it already.")
    return plan.with_(task=ReleaseTask(**changes))


def _columns(opened: Opened, typed: dict[str, Any]) -> tuple[str, ...]:
    known = opened.names if opened.schema is None else opened.schema.names
    others = opened.undeclared
    columns = tuple(column_named(name, known, others) for name in given.listed(typed["columns"], known))
    if not columns:
        said = "--columns is missing: the columns that are crossed in the table, with commas between them."
        wrong_use(f"{said}\nColumns: {spelled(known, most=60)}.")
    return columns


def _arranged(terminal: Terminal, opened: Opened, typed: dict[str, Any], columns: tuple[str, ...]) -> Setup:
    """Return the schema of the table with its roles, and say how it came about."""
    known = opened.names if opened.schema is None else opened.schema.names
    others = tuple(name for name in known if name not in columns)
    words = Words(
        target=typed["target"],
        positive=typed["positive"],
        protected=typed["protected"],
        privileged=typed["privileged"],
        drop=others if opened.schema is None else (),
    )
    for role in ("target", "protected"):
        name = getattr(words, role)
        if name is not None and column_named(name, known, opened.undeclared) not in columns:
            wrong_use(f"--{role} names {spelled([name])}, which is not in --columns. Hint: put it there.")
    if opened.schema is not None:  # which may give roles to columns outside the table
        opened = replace(opened, schema=opened.schema.select([name for name in known if name in columns]))
    if words.protected is None and getattr(opened.schema, "protected", None) is None:
        said = "--protected is missing: the column of the table whose groups are compared."
        wrong_use(f"{said} Columns: {spelled(columns)}.")
    try:
        made = set_up(opened, words)
    except SchemaError as error:
        wrong_use(with_choices(opened, words, error))
    if made.inferred:
        terminal.warn(INFERRED)
    for note in made.notes:
        terminal.say("Note", note)
    return _with_quasi(made, typed)


def _with_quasi(made: Setup, typed: dict[str, Any]) -> Setup:
    names = made.schema.names
    quasi = tuple(column_named(name, names) for name in given.listed(typed["quasi"], names))
    if not quasi:
        return made
    return replace(made, schema=made.schema.with_roles(quasi_identifiers=quasi))


def _task(schema: Schema, typed: dict[str, Any], columns: tuple[str, ...]) -> ReleaseTask:
    names = given.listed(typed["mechanism"])
    if not names:
        names = (*_ALWAYS, *(_WITH_QUASI if schema.quasi_identifiers else ()))
    mechanisms = [TableMechanism(name, typed_parameters(name, typed)) for name in names]
    refuse_unused(mechanisms, typed)
    needing = [each.name for each in mechanisms if MECHANISMS[each.name].needs_quasi_identifiers]
    if needing and not schema.quasi_identifiers:
        said = f"--quasi is missing: {spelled(needing)} treat apart the columns that others may know."
        wrong_use(f"{said} Columns: {spelled(columns)}.")
    trains = None not in (schema.target, schema.positive, schema.privileged)
    if typed["target"] is not None and not trains:
        missing = [f"--{role}" for role in ("positive", "privileged") if getattr(schema, role) is None]
        wrong_use(f"{' and '.join(missing)} must be given with --target, to train a model and compare.")
    return ReleaseTask(
        columns,
        mechanisms,
        given.listed(typed["epsilon"]) or _EPSILONS,
        unit=typed["unit"] or "replace one",
        bound=typed["bound"],
        post=given.listed(typed["post"]),
        classify=trains,
    )


def _tell(terminal: Terminal, schema: Schema, task: ReleaseTask) -> None:
    said = [f"protected {schema.protected}"]
    if task.classify:
        said.append(f"target {schema.target} = {schema.positive}, privileged {schema.privileged}")
    else:
        said.append("no model is trained, which takes --target, --positive and --privileged")
    if schema.quasi_identifiers:
        said.append(f"others may know {spelled(schema.quasi_identifiers)}")
    terminal.say("Roles", "; ".join(said))
