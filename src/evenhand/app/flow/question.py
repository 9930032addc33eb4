"""The third step: what is asked, as a plan that is checked, with its cost, its promise and its command."""

from __future__ import annotations

import math
import os
import shlex
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from evenhand.app.flow.drafting import draft
from evenhand.app.flow.opening import PLAN_FILE, SCHEMA_FILE, open_rows, portable_plan, source_of
from evenhand.app.flow.timing import Timing, time_runs
from evenhand.app.flow.views import Odds, Question
from evenhand.app.tasks.answers import type_number, whole_answer
from evenhand.app.tasks.base import Field
from evenhand.app.tasks.registry import form_of_kind
from evenhand.errors import EvenhandError, PlanError, RuleError
from evenhand.report.words import listed
from evenhand.study.intake.setup import ROLES, RoleOptions, missing_roles, plan_of, set_up
from evenhand.study.plan.script import as_script
from evenhand.study.run.duration import grid_size, round_range, spell_expected, spell_range, spell_remedies
from evenhand.study.run.prepare import prepare
from evenhand.study.run.stages import add_remedies
from evenhand.study.tasks.registry import task_of_kind
from evenhand.study.tasks.shared.protection import state_rows
from evenhand.table.file_format import FileFormat

if TYPE_CHECKING:
    from collections.abc import Mapping
    from fractions import Fraction
    from pathlib import Path

    from evenhand.app.state.record import StudyRecord
    from evenhand.app.tasks.base import TaskForm
    from evenhand.schema import Schema
    from evenhand.study.plan.plan import Plan

SCRIPT_NAME = "study"
"""What the files begin with that the script writes."""

_OWNER = "Plan"
_REMEDIES = Field(
    "remedies", "Try fairer ways too", "switch", default=True,
    help="Other ways with the same promise are tried. What helps most is run again on fresh draws.",
)  # fmt: skip
_TIMING_SECONDS = 2.0
_MANY_ROWS = 10_000
_SCALE = (0.05, 20.0)
_LARGE_EPSILON, _NO_PROTECTION = 4, 10
_MOST_FACTOR = 1_000_000
_FOR_PEOPLE = {
    "target": "which column is predicted",
    "positive": "which value people hope for",
    "protected": "which column has the groups that are compared",
    "privileged": "which group the others are compared with",
    "sensitive": "which columns people want to keep to themselves",
}


@dataclass(frozen=True, repr=False, eq=False)
class Made:
    """A plan with its rows.

    Parameters
    ----------
    plan : Plan
    frame : Arrow table
    schema : Schema, optional
        Of all columns, as the file beside the plan has it.
    is_declared : bool
        Whether it differs from what the data set itself declares, so that a command has to name its file.
    """

    plan: Plan
    frame: Any
    schema: Schema | None = None
    is_declared: bool = True


def ask(folder: Path, record: StudyRecord, *, time: bool = False) -> Question:
    """Return the question of a study as a plan, with what it costs and promises.

    What is wrong with the answers is said in the question, with the field that it is about.

    Parameters
    ----------
    folder : path
        Of the study.
    record : StudyRecord
    time : bool
        Also prepare the rows and time a few runs, for at most about two seconds.
    """
    form = form_of_kind(record.kind)
    shown = Question()
    try:
        opened = open_rows(folder, record)
        drafted = draft(opened, record)
        schema = drafted.set_up(opened).schema if form.needs_people else None
        fields = (*form.fields(schema, opened.names), *_common_fields(form, opened.rows))
        fields = _asked_fields(fields, record.form.get(record.kind, {}))
        shown = replace(shown, fields=fields, values=_filled(fields, record.form.get(record.kind, {})))
        needed = form.needed_roles(record.form.get(record.kind, {}))
        lacking = missing_roles(drafted.words, replace(opened, schema=None))
        lacking = tuple(role for role in lacking if role in needed)
        if lacking:
            what = listed([_FOR_PEOPLE.get(role, ROLES[role]) for role in lacking])
            return replace(shown, error=f"Say on the page before {what}.", field=f"roles.{lacking[0]}")
        made = make_plan(folder, record)
        timing = Timing()
        if time:
            timing = time_runs(made.plan, made.frame, seconds=_TIMING_SECONDS, can_be_timed=form.can_be_timed)
    except EvenhandError as error:
        if not shown.fields:
            shown = replace(shown, fields=form.fields(None))
        place = error.column if isinstance(error, RuleError) else 0
        return replace(shown, error=str(error), field=_field_of(error), place=place)
    plan, task = made.plan, made.plan.task
    epsilons: tuple[Fraction, ...] = getattr(task, "epsilons", ())
    seconds, words = _expected(form, plan, made.frame.num_rows, timing)
    promise, more = _promise(form, plan, epsilons)
    is_stopped = any(look.tone == "bad" for look in timing.looks)  # as the command line would be
    return replace(
        shown,
        plan_toml=portable_plan(plan).to_toml(),
        runs=_runs_words(plan),
        count=len(plan.cells()),
        seconds=seconds,
        minutes_words=words,
        promise=promise,
        promise_more=more,
        odds=tuple(map(_odds, epsilons)),
        command=command_of(record, made) + (" --anyway" if is_stopped else ""),
        python=as_script(task.script(portable_plan(plan), name=SCRIPT_NAME)),
        notes=timing.looks,
        is_timing=timing.state != "done" or (form.can_be_timed and not time),
    )


def make_plan(folder: Path, record: StudyRecord) -> Made:
    """Return the plan of a study and its rows, as the command line makes it from the same schema file.

    Raises
    ------
    EvenhandError
        If an answer does not fit, with the field that it is about.
    """
    form = form_of_kind(record.kind)
    answers = record.form.get(record.kind, {})
    opened = open_rows(folder, record)
    design = _design(form, answers)
    if not form.needs_people:
        task = form.task(answers, None, names=opened.names, rows=opened.rows)
        plan = plan_of(opened, task, **design)
        return Made(_with_remedies(plan, opened.frame, answers), opened.frame)
    if not opened.rows:
        message = f"{opened.source.label} has column names and no rows."
        raise PlanError(f"{message} Hint: choose a file with people in it.", field="data")
    schema = draft(opened, record).set_up(opened).schema
    is_declared = opened.schema is None or schema.to_toml() != opened.schema.to_toml()
    typed = open_rows(folder, record, schema=schema) if is_declared else opened
    table = form.prepare_schema(schema, answers)
    setup = set_up(replace(typed, schema=table), RoleOptions())
    task = form.task(answers, setup.schema, names=opened.names, rows=opened.rows)
    plan = plan_of(typed, task, setup, **design)
    return Made(_with_remedies(plan, typed.frame, answers), typed.frame, schema, is_declared)


def _with_remedies(plan: Plan, frame: Any, answers: Mapping[str, Any]) -> Plan:
    """Return a plan that tries fairer ways too, unless they are not wanted."""
    is_wanted = answers.get(_REMEDIES.name, _REMEDIES.default)
    return add_remedies(plan, frame=frame) if is_wanted else plan


def write_plan(folder: Path, record: StudyRecord) -> None:
    """Write the plan and the schema of a study into its folder, after everything was checked.

    Raises
    ------
    EvenhandError
        If the study cannot be run as it is asked.
    """
    made = make_plan(folder, record)
    prepare(made.plan, frame=made.frame)
    if made.schema is not None:
        made.schema.save(folder / SCHEMA_FILE)
    portable_plan(made.plan).save(folder / PLAN_FILE)


def command_of(record: StudyRecord, made: Made) -> str:
    """Return the command line that repeats a study: with its options, or with its plan.

    Options of a data set, and of protocols, have no option on the command line: then a plan is named.
    """
    form, plan = form_of_kind(record.kind), made.plan
    source = source_of(record)
    if source.options:
        return f"evenhand audit --plan {PLAN_FILE}"
    name = str(source.dataset or source.path)
    words = ["evenhand", "audit", record.kind, f"./{name}" if name.startswith("-") else name]
    if made.schema is not None and made.is_declared:
        words += ["--schema", SCHEMA_FILE]
    if record.data is not None and record.data.file_format:
        words += FileFormat(**dict(record.data.file_format)).options
    words += [*form.options(plan.task), *([] if plan.confirm else ["--no-remedies"])]
    design = _design(form, record.form.get(record.kind, {}))
    usual = {"repeats": plan.task.default_repeats, "seed": 0, "rows": None}
    for option, value in design.items():
        words += [] if value == usual[option] else [f"--{option}", str(value)]
    return shlex.join(words)


# --- answers that every kind has ------------------------------------------------------------------


def _common_fields(form: TaskForm, rows: int) -> tuple[Field, ...]:
    seed = Field(
        "seed", "Seed", "number", default="0", advanced=True, term="seed",
        help="Everything that is drawn in the study follows from it.",
    )  # fmt: skip
    if not form.needs_people:
        return (_REMEDIES, seed)
    usual = str(task_of_kind(form.kind).default_repeats)
    repeats = Field(
        "repeats", "Repeats", "number", default=usual, term="repeat",
        help="More repeats make intervals narrower, and take longer.",
    )  # fmt: skip
    part = Field(
        "rows", "Rows", "number", default="", advanced=True,
        help=f"Fewer than all {rows:,}, drawn at random, make a study quicker and its intervals wider.",
    )  # fmt: skip
    return (_REMEDIES, repeats, part, seed)


def _design(form: TaskForm, answers: Mapping[str, Any]) -> dict[str, Any]:
    """Return repeats, seed and rows where they were answered."""
    names = ("repeats", "seed", "rows") if form.needs_people else ("seed",)
    given = {name: whole_answer(answers, name, owner=_OWNER) for name in names}
    return {name: value for name, value in given.items() if value is not None}


def _asked_fields(fields: tuple[Field, ...], answers: Mapping[str, Any]) -> tuple[Field, ...]:
    """Return the questions without those that belong to another answer."""
    given = _filled(fields, answers)
    return tuple(field for field in fields if field.when is None or given.get(field.when[0]) == field.when[1])


def _filled(fields: tuple[Field, ...], answers: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answers, with the default where there is none."""
    values = {}
    for field in fields:
        given = answers.get(field.name)
        values[field.name] = field.default if given in (None, "", [], ()) else given
    return values


# --- what it costs and promises -------------------------------------------------------------------


def _runs_words(plan: Plan) -> str:
    """Return how many runs there are, and which remedies are tried besides."""
    name = plan.task.name_setting
    remedies = spell_remedies(plan, {str(each): name(replace(each, epsilon=None)) for each in plan.remedies})
    return f"{grid_size(plan)}. Remedies: {remedies}" if remedies else grid_size(plan)


def _expected(form: TaskForm, plan: Plan, rows: int, timing: Timing) -> tuple[tuple[float, float], str]:
    """Return how long all runs take, at least and at most, and how that was found out."""
    if timing.duration is not None:
        seconds = max(timing.duration.seconds(), 1.0)
        timed = timing.duration.timed
        of = "" if timed >= timing.duration.people else f" of {timed:,} rows"
        return round_range(seconds), f"{spell_expected(seconds).capitalize()}, from timing two runs{of}"
    workers, runs = os.cpu_count() or 1, len(plan.cells())
    rows = min(rows, plan.data.rows or rows) if plan.data is not None else rows
    at_once = max(min(workers, runs), 1)
    low, high = (each * runs * max(rows / _MANY_ROWS, 1) / at_once for each in form.seconds_per_run)
    low, high = round_range(max(low, 1.0))[0], round_range(max(high, 2.0))[1]
    least, most = form.seconds_per_run
    rule = f"a run takes {least:g} to {most:g} s for each {_MANY_ROWS:,} rows"
    return (low, high), f"{spell_range(low, high)}, by a rule of thumb: {rule}"


def _promise(form: TaskForm, plan: Plan, epsilons: tuple[Fraction, ...]) -> tuple[str, str]:
    """Return what is promised at the epsilon nearest to 1, and what else belongs to the promise."""
    if not epsilons:
        return "", ""
    epsilon = min(epsilons, key=lambda each: abs(math.log(each)))
    guarantee = form.promise(plan.task, plan.schema, epsilon=str(epsilon))
    whole = "" if guarantee is None else str(state_rows(guarantee, plan.notes))
    sentence, mark, more = whole.partition("). ")
    return (f"{sentence}).", more) if mark else (whole, "")


def _odds(epsilon: Fraction) -> Odds:
    low, high = (math.log(each) for each in _SCALE)
    place = (math.log(epsilon) - low) / (high - low)
    factor = math.exp(min(float(epsilon), 700.0))
    digits = 1 if factor < 10 else 0
    shown = f"{factor:,.{digits}f}" if factor <= _MOST_FACTOR else "more than a million"
    tone: Any = "bad" if epsilon > _NO_PROTECTION else "warn" if epsilon > _LARGE_EPSILON else "ok"
    words = f"changes odds by at most a factor of {shown}"
    words += ": hardly any protection" if tone == "bad" else ""
    return Odds(type_number(epsilon), min(max(place, 0.0), 1.0), words, tone)


def _field_of(error: EvenhandError) -> str:
    """Return the question that an error is about."""
    if isinstance(error, RuleError):
        return "rule"
    named = getattr(error, "field", "") or getattr(error, "parameter", "") or ""
    return str(named).removeprefix("task.").removeprefix("schema.")
