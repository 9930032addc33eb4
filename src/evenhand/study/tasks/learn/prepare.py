"""Tell what a study of classifiers asks of a schema and the rows, and the features that its cells share."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.collect.joint.strategy import refuse_dropping
from evenhand.errors import MissingExtraError
from evenhand.learn.encoding.encoder import PublicEncoder
from evenhand.privacy.one_step import MOST_ROWS
from evenhand.schema import Schema
from evenhand.schema.text import brief
from evenhand.study.tasks.base import Prepared, refuse_field
from evenhand.study.tasks.shared.parts import hopeful_people
from evenhand.study.tasks.shared.rows import (
    add_target_leaks,
    check_parts,
    check_roles,
    encode_rows,
    load_rows,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from evenhand.study.plan.plan import Plan
    from evenhand.study.tasks.learn.task import LearnTask

_MOST_NUMBERS = 500_000_000  # 4 GB in double precision
_PACKAGE = "dp_accounting"


@dataclass(frozen=True, eq=False, repr=False)
class PreparedLearning(Prepared):
    """The rows of a study of classifiers, and what :class:`evenhand.learn.PublicEncoder` makes of them."""

    features: NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 0)))


def check_learning(task: LearnTask, schema: Schema) -> None:
    """Refuse a schema that lacks a role or whose roles do not go with the methods, or a missing package."""
    check_roles(schema)
    if schema.group_column.domain.size < 2:
        hint = "Hint: name another column, or declare all its values."
        refuse_field("schema.roles.protected", f"{_one_group(schema)} {hint}")
    _check_people(task, schema)
    if not input_columns(task, schema):
        why = "leaves no column to learn from."
        refuse_field("schema", f"{why} Hint: declare more columns, or set group_as_input = true in the task.")
    if "local" in task.methods and not reported_inputs(task, schema):
        why = "holds 'local', but no sensitive column is among the features, so nothing would be reported."
        hint = "name sensitive columns besides the protected one, or set group_as_input = true"
        refuse_field("task.methods", f"{why} Hint: {hint}, or leave 'local' out.")
    if "local" in task.methods:
        refuse_dropping(schema[name] for name in reported_inputs(task, schema))
    if task.needs_accounting and find_spec(_PACKAGE) is None:
        raise MissingExtraError("dp-accounting", feature="Training with differential privacy", extra="dp")


def _check_people(task: LearnTask, schema: Schema) -> None:
    """Refuse several rows of one person where no proof covers them."""
    most = schema.rows_per_person or 1
    if most > MOST_ROWS:
        why = f"must be at most {MOST_ROWS} for training, which is accounted for up to so many."
        refuse_field("schema.roles.rows_per_person", why)
    if most > 1 and "local" in task.methods:
        why = "must be 1 for 'local': each row is a report, and several reports of one person promise less."
        refuse_field("schema.roles.rows_per_person", f"{why} Hint: leave 'local' out, or keep one row each.")


def prepare(task: LearnTask, plan: Plan, *, frame: Any = None) -> PreparedLearning:
    """Load and encode the rows of a plan, with their features."""
    rows = load_rows(plan, frame)
    check_learning(task, rows.schema)
    prepared = add_target_leaks(encode_rows(plan, rows))
    outcomes = prepared.target
    if prepared.people is not None:
        outcomes = hopeful_people(outcomes, prepared.people)
    check_parts(outcomes, rows.schema, sizes=prepared.facts.sizes, test=task.test)
    return add_features(task, prepared)


def add_features(task: LearnTask, prepared: Prepared) -> PreparedLearning:
    """Return prepared rows with their features; refuse rows of one group, and features that fill memory."""
    facts, schema = prepared.facts, prepared.facts.schema
    if len(facts.groups) < 2:
        refuse_field("schema.roles.protected", f"{_one_group(schema)} Hint: name another column.")
    width = len(encoder_of(task, schema).get_feature_names_out())
    if facts.rows * width > _MOST_NUMBERS:
        why = f"make {width:,} features, more than memory holds for so many rows."
        refuse_field("schema.columns", f"{why} Hint: use fewer rows, or put long lists of values into bins.")
    arrays = {each.name: getattr(prepared, each.name) for each in fields(Prepared)}
    return PreparedLearning(**arrays, features=features_of(task, schema, prepared.codes))


def _one_group(schema: Schema) -> str:
    return f"names '{brief(schema.protected_name)}', which has one group only: there is nothing to compare."


# --- features ---------------------------------------------------------------------------------------


def input_columns(task: LearnTask, schema: Schema) -> tuple[str, ...]:
    """Return the columns that are learnt from: all but the target, and but the protected unless asked for."""
    protected = () if task.group_as_input else schema.protected_columns
    without = {schema.target, *protected}
    return tuple(name for name in schema.names if name not in without)


def reported_inputs(task: LearnTask, schema: Schema) -> tuple[str, ...]:
    """Return the sensitive columns that are features, which people report where trust is local."""
    return tuple(name for name in input_columns(task, schema) if name in schema.sensitive)


def encoder_of(task: LearnTask, schema: Schema) -> Any:
    """Return the encoder of the features, whose constants come from the schema and from no row.

    Rows that a rule of the schema leaves out are gone before anything is encoded, so that the rule is not one
    for the encoder.
    """
    columns = []
    for name in input_columns(task, schema):
        dropping = [rule for rule in ("outside", "nulls") if getattr(schema[name], rule) == "drop"]
        rules: dict[str, Any] = dict.fromkeys(dropping, "error")
        columns.append(replace(schema[name], **rules))
    return PublicEncoder(Schema(columns))


def features_of(task: LearnTask, schema: Schema, codes: Mapping[str, NDArray[Any]]) -> NDArray[np.float64]:
    """Return one row of features for each person whose codes these are."""
    return np.ascontiguousarray(encoder_of(task, schema).features(codes), dtype=np.float64)
