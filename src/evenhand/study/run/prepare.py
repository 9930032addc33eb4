"""From a plan to the rows that its cells share, checked before anything runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evenhand.study.plan.plan import Plan
    from evenhand.study.tasks.base import Prepared


def prepare(plan: Plan, *, frame: Any = None) -> Prepared:
    """Load the data of a plan, encode it and check that the task can be done with it.

    A frame is the data instead of what the plan names. A plan that lacks data, a schema or a role, or whose
    task cannot be done with this data, is refused by a PlanError, which names the field and no value or count
    of the rows; reading a file, loading a data set and encoding rows raise other errors.

    >>> from evenhand.study import DataSource, Plan
    >>> prepared = prepare(Plan(data=DataSource(dataset="causal", options={"n": 2000}, rows=500)))
    >>> prepared.facts.rows, prepared.facts.groups, prepared.facts.privileged
    (500, ('0', '1'), 1)
    >>> list(prepared.codes)
    ['C', 'A', 'M']
    """
    return plan.task.prepare(plan, frame=frame)
