"""From a plan to the encoded columns of the table that is published, checked before anything runs."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from evenhand._notes import Note
from evenhand.errors import InvalidParameterError
from evenhand.release.mechanisms.noise import NoiseForPeople
from evenhand.release.mechanisms.quasi_response import QuasiResponse, refuse_varying_total
from evenhand.release.mechanisms.registry import MECHANISMS
from evenhand.report.language import language_now
from evenhand.schema.text import brief, listed
from evenhand.study.page.words import words_in
from evenhand.study.tasks.base import refuse_field
from evenhand.study.tasks.shared.rows import check_parts, check_roles, encode_rows, load_rows
from evenhand.study.tasks.shared.table_mechanisms import title_of

if TYPE_CHECKING:
    from evenhand.schema import Schema
    from evenhand.study.plan.plan import Plan
    from evenhand.study.tasks.base import Prepared
    from evenhand.study.tasks.release.task import ReleaseTask

MOST_CELLS = 2_000_000
"""Cells of a table that a study compares one by one."""

_MOST_NAMED = 8


def prepare(task: ReleaseTask, plan: Plan, *, frame: Any = None) -> Prepared:
    """Load and encode the columns of the table that is published, the target among them."""
    rows = load_rows(plan, frame)
    names = rows.schema.names
    for name in task.columns:
        if name not in names:
            more = len(names) - _MOST_NAMED
            known = [f"'{brief(each)}'" for each in names[:_MOST_NAMED]] + [f"{more} more"] * (more > 0)
            why = f"names '{brief(name)}', which is not in the schema. Hint: there are {listed(known)}."
            refuse_field("task.columns", why)
    schema = rows.schema.select(task.columns)
    _check_roles(task, schema, of=rows.schema)
    cells = math.prod(schema.sizes.values())
    if cells > MOST_CELLS:
        why = f"make a table of {cells:,} cells, more than {MOST_CELLS:,}, which a study compares one by one."
        refuse_field("task.columns", f"{why} Hint: use fewer columns, or coarser ones.")
    _check_mechanisms(task, schema)
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


def _check_roles(task: ReleaseTask, schema: Schema, *, of: Schema) -> None:
    """Refuse a table that lacks a role which the data has, or needs one which the data lacks."""
    if of.weight is not None:
        why = "does not go with a table that is published, which counts people. Hint: take the role away."
        refuse_field("schema.roles.weight", why)
    others = [each.name for each in task.mechanisms if not issubclass(MECHANISMS[each.name], NoiseForPeople)]
    if others and (schema.rows_per_person or 1) > 1:
        why = f"must be 1 for {listed(others)}: every row counts as another person there."
        refuse_field("schema.roles.rows_per_person", f"{why} Hint: leave them out, or keep one row each.")
    if of.protected is None:
        why = "is missing. Hint: name the column whose groups are compared."
        refuse_field("schema.roles.protected", why)
    if schema.protected is None:
        missing = [name for name in of.protected_columns if name not in schema]
        why = f"lacks the protected column '{brief(missing[0])}', whose groups are compared."
        refuse_field("task.columns", f"{why} Hint: put it into the table.")
    if task.classify:
        check_roles(of, otherwise=", or train nothing with classify = false")
        if schema.target is None:
            why = f"lacks the target '{brief(str(of.target))}', so that no model could learn from the table."
            refuse_field("task.columns", f"{why} Hint: put it into the table, or set classify = false.")


def _check_mechanisms(task: ReleaseTask, schema: Schema) -> None:
    """Refuse a mechanism that needs quasi-identifiers where there are none.

    Refuse one too that publishes how many people it counts where a protected column decides that.
    """
    kinds = {each.name: MECHANISMS[each.name] for each in task.mechanisms}
    needing = [title_of(name) for name, kind in kinds.items() if kind.needs_quasi_identifiers]
    if needing and not schema.quasi_identifiers:
        treat = "treats" if len(needing) == 1 else "treat"
        why = f"is missing among the table's columns, and {listed(needing)} {treat} these columns apart."
        refuse_field("schema.roles.quasi_identifiers", f"{why} Hint: name the columns that others may know.")
    in_clear = [name for name in schema.names if name not in schema.quasi_identifiers]
    for name, kind in kinds.items():
        try:
            if issubclass(kind, QuasiResponse):
                refuse_varying_total(schema.may_drop, in_clear, owner=kind.__name__)
        except InvalidParameterError as error:
            refuse_field("task.mechanisms", f"holds '{name}', which cannot publish this table. {error}")
