"""The features that every method learns from: made from codes by a public encoder, from no other row."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.learn.encoding.encoder import PublicEncoder
from evenhand.schema import Schema

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from evenhand.schema import Column
    from evenhand.study.tasks.learn.task import LearnTask


def input_columns(task: LearnTask, schema: Schema) -> tuple[str, ...]:
    """Return the columns that are learnt from: all but the target, and but the protected unless asked for."""
    protected = () if task.group_as_input else schema.protected_columns
    without = {schema.target, *protected}
    return tuple(name for name in schema.names if name not in without)


def encoder_of(task: LearnTask, schema: Schema) -> Any:
    """Return the encoder, whose constants come from the schema alone.

    Rows that a rule of the schema leaves out are gone before anything is encoded, so that the rule is not one
    for the encoder.
    """
    names = input_columns(task, schema)
    return PublicEncoder(Schema([_without_dropping(schema[name]) for name in names]), columns=list(names))


def width_of(task: LearnTask, schema: Schema) -> int:
    """Return how many features there are.

    >>> import evenhand as eh
    >>> from evenhand.study.tasks.learn.task import LearnTask
    >>> width_of(LearnTask(), eh.datasets.load("causal", n=10).schema)
    5
    """
    return len(encoder_of(task, schema).get_feature_names_out())


def features_of(task: LearnTask, schema: Schema, codes: Mapping[str, NDArray[Any]]) -> NDArray[np.float64]:
    """Return one row of features for each person whose codes these are."""
    made = encoder_of(task, schema).features(codes)
    return np.ascontiguousarray(made, dtype=np.float64)


def _without_dropping(column: Column) -> Column:
    rules: dict[str, Any] = {
        name: "error" for name in ("outside", "nulls") if getattr(column, name) == "drop"
    }
    return replace(column, **rules)
