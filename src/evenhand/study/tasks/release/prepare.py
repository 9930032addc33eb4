"""From a plan to the encoded columns of the table that is published, checked before anything runs."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from evenhand._notes import Note
from evenhand.errors import InvalidParameterError
from evenhand.release.mechanisms.noise import NoiseForPeople
from evenhand.release.mechanisms.quasi_response import QuasiResponse, refuse_varying_total
from evenhand.release.mechanisms.registry import MECHANISMS, mechanism_named
from evenhand.report.language import language_now
from evenhand.schema.text import brief, listed
from evenhand.study.page.words import words_in
from evenhand.study.tasks.base import refuse_field
from evenhand.study.tasks.shared.rows import check_parts, encode_rows, load_rows
from evenhand.study.tasks.shared.table_mechanisms import title_of

if TYPE_CHECKING:
    from evenhand.schema import Schema
    from evenhand.study.plan.plan import Plan
    from evenhand.study.tasks.base import Prepared
    from evenhand.study.tasks.release.task import ReleaseTask

MOST_CELLS = 2_000_000
"""Cells of a table that a study compares one by one."""


def prepare(task: ReleaseTask, plan: Plan, *, frame: Any = None) -> Prepared:
    """Load and encode the columns of the table that is published, the target among them."""
    rows = load_rows(plan, frame)
    schema = table_schema(task, rows.schema)
    check_release(task, schema, of=rows.schema)
    prepared = encode_rows(plan, replace(rows, schema=schema), keep_target=True)
    if not prepared.target.size:
        why = "has no row that the schema lets in. Hint: check its rules for unknown values."
        refuse_field("data", why)
    if task.classify:
        check_parts(prepared.target, schema, sizes=(), test=task.test)
    facts = prepared.facts
    if any(Note.of(note).kind == "sample" for note in facts.notes):
        drawn = Note("sample", words_in(language_now()).say("release.drawn", people=facts.rows))
        notes = (*facts.notes, *([] if drawn in facts.notes else [drawn]))
        return replace(prepared, facts=replace(facts, notes=notes))
    return prepared


def table_schema(task: ReleaseTask, schema: Schema) -> Schema:
    """Return the schema of the table's columns, in the order of the task.

    Raises
    ------
    PlanError
        If a column is not in the schema.
    """
    for name in task.columns:
        if name not in schema.names:
            why = f"names '{brief(name)}', which is not in the schema. Hint: there are {_few(schema.names)}."
            refuse_field("task.columns", why)
    return schema.select(task.columns)


def check_release(task: ReleaseTask, schema: Schema, *, of: Schema) -> None:
    """Refuse a table that lacks a role, or that is too large to be compared cell by cell.

    Parameters
    ----------
    task : ReleaseTask
    schema : Schema
        Of the table.
    of : Schema
        Of the data, for what a message says is missing.
    """
    if of.weight is not None:
        why = "does not go with a table that is published, which counts people. Hint: take the role away."
        refuse_field("schema.roles.weight", why)
    _check_rows_of_people(task, schema)
    if of.protected is None:
        why = "is missing. Hint: name the column whose groups are compared."
        refuse_field("schema.roles.protected", why)
    if schema.protected is None:
        missing = [name for name in of.protected_columns if name not in schema]
        why = f"lacks the protected column '{brief(missing[0])}', whose groups are compared."
        refuse_field("task.columns", f"{why} Hint: put it into the table.")
    if task.classify:
        _check_target(schema, of)
    cells = math.prod(schema.sizes.values())
    if cells > MOST_CELLS:
        why = f"make a table of {cells:,} cells, more than {MOST_CELLS:,}, which a study compares one by one."
        refuse_field("task.columns", f"{why} Hint: use fewer columns, or coarser ones.")
    _check_quasi_identifiers(task, schema)
    _check_dropping(task, schema)


def _check_rows_of_people(task: ReleaseTask, schema: Schema) -> None:
    """Refuse mechanisms that take every row for another person where a person may have several."""
    if (schema.rows_per_person or 1) == 1:
        return
    others = [
        each.name for each in task.mechanisms if not issubclass(mechanism_named(each.name), NoiseForPeople)
    ]
    if others:
        why = f"must be 1 for {listed(others)}: every row counts as another person there."
        refuse_field("schema.roles.rows_per_person", f"{why} Hint: leave them out, or keep one row each.")


def _check_target(schema: Schema, of: Schema) -> None:
    needed = {
        "target": "the column that is predicted",
        "positive": "the value of the target that people hope for",
        "privileged": "the group that the others are compared with",
    }
    for role, what in needed.items():
        if getattr(of, role) is None and (role != "privileged" or of.crossing is None):
            hint = f"name {what}, or train nothing with classify = false."
            refuse_field(f"schema.roles.{role}", f"is missing. Hint: {hint}")
    if schema.target is None:
        why = f"lacks the target '{brief(str(of.target))}', so that no model could learn from the table."
        refuse_field("task.columns", f"{why} Hint: put it into the table, or set classify = false.")
    if schema.target in schema.protected_columns:
        refuse_field(
            "schema.roles.protected", "is the target too. Hint: compare the groups of another column."
        )


def _check_quasi_identifiers(task: ReleaseTask, schema: Schema) -> None:
    needing = [
        title_of(each.name) for each in task.mechanisms if MECHANISMS[each.name].needs_quasi_identifiers
    ]
    if needing and not schema.quasi_identifiers:
        treat = "treats" if len(needing) == 1 else "treat"
        why = f"is missing among the table's columns, and {listed(needing)} {treat} these columns apart."
        refuse_field("schema.roles.quasi_identifiers", f"{why} Hint: name the columns that others may know.")


def _check_dropping(task: ReleaseTask, schema: Schema) -> None:
    """Refuse a mechanism that publishes how many people it counts where a protected column decides that."""
    in_clear = [name for name in schema.names if name not in schema.quasi_identifiers]
    for each in task.mechanisms:
        kind = mechanism_named(each.name)
        if not issubclass(kind, QuasiResponse):
            continue
        try:
            refuse_varying_total(schema.may_drop, in_clear, owner=kind.__name__)
        except InvalidParameterError as error:
            refuse_field("task.mechanisms", f"holds '{each.name}', which cannot publish this table. {error}")


def _few(names: tuple[str, ...]) -> str:
    shown = [f"'{brief(name)}'" for name in names[:8]]
    return listed([*shown, f"{len(names) - 8} more"] if len(names) > 8 else shown)
