"""From a plan to the encoded columns of the table that is published, checked before anything runs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from evenhand.errors import InvalidParameterError, PlanError
from evenhand.release.mechanisms.registry import MECHANISMS
from evenhand.schema.text import brief, listed
from evenhand.study.tasks.collect.requirements import check_rows
from evenhand.study.tasks.release.names import title_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from evenhand.schema import Schema
    from evenhand.study.tasks.release.task import ReleaseTask

__all__ = ["MOST_CELLS", "check_release", "check_split", "positive_rows", "table_schema"]

MOST_CELLS = 2_000_000
"""Cells of a table that a study compares one by one."""


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
            _refuse("task.columns", why)
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
    if of.protected is None:
        why = "is missing. Hint: name the column whose groups are compared."
        _refuse("schema.roles.protected", why)
    if schema.protected is None:
        why = f"lacks the protected column '{brief(str(of.protected))}', whose groups are compared."
        _refuse("task.columns", f"{why} Hint: put it into the table.")
    if task.classify:
        _check_target(schema, of)
    cells = math.prod(schema.sizes.values())
    if cells > MOST_CELLS:
        why = f"make a table of {cells:,} cells, more than {MOST_CELLS:,}, which a study compares one by one."
        _refuse("task.columns", f"{why} Hint: use fewer columns, or coarser ones.")
    _check_quasi_identifiers(task, schema)
    _check_dropping(task, schema)


def _check_target(schema: Schema, of: Schema) -> None:
    needed = {
        "target": "the column that is predicted",
        "positive": "the value of the target that people hope for",
        "privileged": "the group that the others are compared with",
    }
    for role, what in needed.items():
        if getattr(of, role) is None:
            hint = f"name {what}, or train nothing with classify = false."
            _refuse(f"schema.roles.{role}", f"is missing. Hint: {hint}")
    if schema.target is None:
        why = f"lacks the target '{brief(str(of.target))}', so that no model could learn from the table."
        _refuse("task.columns", f"{why} Hint: put it into the table, or set classify = false.")
    if schema.target == schema.protected:
        _refuse("schema.roles.protected", "is the target too. Hint: compare the groups of another column.")


def _check_quasi_identifiers(task: ReleaseTask, schema: Schema) -> None:
    needing = [
        title_of(each.name) for each in task.mechanisms if MECHANISMS[each.name].needs_quasi_identifiers
    ]
    if needing and not schema.quasi_identifiers:
        why = f"is missing among the table's columns, and {listed(needing)} treat these columns apart."
        _refuse("schema.roles.quasi_identifiers", f"{why} Hint: name the columns that others may know.")


def _check_dropping(task: ReleaseTask, schema: Schema) -> None:
    """Refuse a mechanism that publishes how many people it counts where a protected column decides that."""
    from evenhand.release.mechanisms.quasi_response import QuasiResponse, refuse_varying_total  # noqa: PLC0415 - numpy
    from evenhand.release.mechanisms.registry import mechanism_named  # noqa: PLC0415 - as above

    in_clear = [name for name in schema.names if name not in schema.quasi_identifiers]
    for each in task.mechanisms:
        kind = mechanism_named(each.name)
        if not issubclass(kind, QuasiResponse):
            continue
        try:
            refuse_varying_total(schema.may_drop, in_clear, owner=kind.__name__)
        except InvalidParameterError as error:
            _refuse("task.mechanisms", f"holds '{each.name}', which cannot publish this table. {error}")


def positive_rows(schema: Schema, codes: Mapping[str, NDArray[Any]]) -> NDArray[np.uint8]:
    """Return whether each person has the positive outcome; nobody where there is no target."""
    if schema.target is None or schema.positive is None:
        return np.zeros(len(next(iter(codes.values()))), dtype=np.uint8)
    column = schema[schema.target]
    positive: NDArray[np.bool_] = np.equal(codes[column.name], column.domain.code(schema.positive))
    return positive.astype(np.uint8)


def check_split(task: ReleaseTask, schema: Schema, *, target: NDArray[np.uint8]) -> None:
    """Refuse rows of which no table, or no training and test part, can be made."""
    if not target.size:
        _refuse("data", "has no row that the schema lets in. Hint: check its rules for unknown values.")
    if task.classify:
        check_rows(task, target=target, sizes=np.ones(1, dtype=np.intp), schema=schema)


def _few(names: tuple[str, ...]) -> str:
    shown = [f"'{brief(name)}'" for name in names[:8]]
    return listed([*shown, f"{len(names) - 8} more"] if len(names) > 8 else shown)


def _refuse(field: str, why: str) -> NoReturn:
    raise PlanError(f"The plan field '{field}' {why}", field=field) from None
