"""One cell of any study."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evenhand.study.plan.cells import Cell
    from evenhand.study.plan.plan import Plan
    from evenhand.study.store.outcome import Outcome
    from evenhand.study.tasks.base import Prepared

__all__ = ["execute"]


def execute(cell: Cell, *, plan: Plan, prepared: Prepared) -> Outcome:
    """Run one cell. The same cell gives the same outcome, whatever ran before it and wherever.

    Parameters
    ----------
    cell : Cell
    plan : Plan
    prepared : Prepared
        The plan's rows.

    Examples
    --------
    >>> from evenhand.study import DataSource, Plan
    >>> from evenhand.study.run.prepare import prepare
    >>> plan = Plan(data=DataSource(dataset="causal", options={"n": 2000}))
    >>> outcome = execute(plan.cells()[0], plan=plan, prepared=prepare(plan))
    >>> sorted(outcome.groups), outcome.failure
    (['0', '1'], None)
    """
    return plan.task.execute(cell, plan=plan, prepared=prepared)
