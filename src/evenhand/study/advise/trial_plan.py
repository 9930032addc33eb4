"""The small study that advice rests on."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from evenhand import datasets
from evenhand._validate import refuse
from evenhand.collect.joint.combined import Combined
from evenhand.errors import EvenhandError
from evenhand.study.plan.plan import Plan
from evenhand.study.tasks.shared.report_settings import MOST_GROUPS, has_long_outcome, why_not_optimal
from evenhand.study.tasks.shared.report_settings import NAME as OPTIMAL

if TYPE_CHECKING:
    from evenhand.schema import Schema
    from evenhand.study.tasks.base import Prepared

_REPEATS = 8
_ROWS = 20_000
_MOST_EPSILONS = 4


def advice_plan(plan: Plan, prepared: Prepared | None = None) -> Plan:
    """Return the small study that compares settings near those of a plan.

    It keeps the data, schema, task and seed. It tries GRR, OUE and, where the protected column is sensitive,
    the optimal channel that keeps the gap small, at the plan's epsilons, at most four of them, and at one
    that is small and one that is large if the plan has a single epsilon. With several sensitive columns it
    tries the uniform and the optimal split, and reports of the protected column alone and, where there are
    not too many combinations, of all columns combined. It has eight repeats at most and uses 20,000 rows at
    most.

    Parameters
    ----------
    plan : Plan
    prepared : Prepared, optional
        Its rows, where they are at hand: tells the number of rows, and the schema of a data set.

    Returns
    -------
    Plan

    Examples
    --------
    >>> from evenhand.study import CollectTask, DataSource
    >>> plan = Plan(data=DataSource(dataset="causal", options={"n": 2000}), task=CollectTask("grr", [2]))
    >>> small = advice_plan(plan)
    >>> small.repeats, [str(each) for each in small.task.epsilons]
    (8, ['1', '2', '4'])
    >>> small.task.strategies
    ('independent', 'single', 'combined')
    """
    given: object = plan
    if not isinstance(given, Plan):
        refuse("plan", "advice_plan", "a Plan", f"a value of type {type(given).__name__}")
    task = plan.task.advised(owner="advice_plan", parameter="plan")
    schema = plan.schema if prepared is None else prepared.facts.schema
    if schema is None and plan.data is not None and plan.data.dataset is not None:
        schema = datasets.load(plan.data.dataset, backend="pyarrow", **plan.data.options).schema
    epsilons = _epsilons(task.epsilons)
    protocols = ["grr", "oue", *([] if why_not_optimal(schema) else [OPTIMAL])]
    splits, strategies = ["uniform"], ["independent"]
    if schema is not None and len(schema.sensitive) > 1:
        splits.append("optimal")
        strategies += ["single"] if schema.protected in schema.sensitive else []
        strategies += ["combined"] if _can_combine(schema, epsilons, protocols) else []
    tried = task.with_(protocols=protocols, epsilons=epsilons, splits=splits, strategies=strategies)
    data = plan.data
    if data is not None and (prepared is None or prepared.facts.rows > _ROWS):
        data = replace(data, rows=min(data.rows or _ROWS, _ROWS))
    return plan.with_(data=data, task=tried, repeats=min(plan.repeats, _REPEATS))


def _epsilons(given: tuple[Fraction, ...]) -> list[Fraction]:
    """Return a few epsilons with the smallest and the largest; around one, a small and a large one."""
    ordered = sorted(given)
    if len(ordered) == 1:
        return sorted({Fraction(1), ordered[0], Fraction(4)})
    places = np.linspace(0, len(ordered) - 1, min(len(ordered), _MOST_EPSILONS))
    return [ordered[round(place)] for place in places]


def _can_combine(schema: Schema, epsilons: list[Fraction], protocols: list[str]) -> bool:
    """Return whether all combinations of the sensitive columns can be reported as one value."""
    sizes = {name: schema[name].size for name in schema.sensitive}
    if has_long_outcome(schema) or (OPTIMAL in protocols and math.prod(sizes.values()) > MOST_GROUPS):
        return False
    try:
        for epsilon in epsilons:
            Combined(sizes, epsilon)
    except EvenhandError:
        return False
    return True
