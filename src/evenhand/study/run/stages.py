"""Add the stages of remedies to a plan: what may be fairer than what was asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evenhand.study.run.prepare import prepare

if TYPE_CHECKING:
    from evenhand.study.plan.facts import Facts
    from evenhand.study.plan.plan import Plan


def add_remedies(plan: Plan, facts: Facts | None = None, *, frame: Any = None) -> Plan:
    """Return a plan that also tries what its task knows to be fairer, and confirms what it recommends.

    Remedies have at least the guarantee of the setting that the page is about, and there are at most as many
    as settings that were asked for; those that the plan has are kept.

    Parameters
    ----------
    plan : Plan
    facts : Facts, optional
        What is known of the rows; by default they are read for it.
    frame : pandas, Polars or Arrow frame, optional
        The data, instead of what the plan names.

    Examples
    --------
    >>> from evenhand.study import CollectTask, DataSource, Plan
    >>> plan = Plan(data=DataSource(dataset="causal", options={"n": 300}), task=CollectTask("grr", 1))
    >>> [str(setting) for setting in add_remedies(plan).remedies]
    ['GRR, combined, ε = 1', 'OPTIMAL, optimal split, ε = 1']
    """
    facts = prepare(plan, frame=frame).facts if facts is None else facts
    asked = [setting for setting in plan.settings() if setting not in plan.remedies]
    found = plan.task.remedies(plan.task.find_page(asked), facts)
    new = [setting for setting in dict.fromkeys((*plan.remedies, *found)) if setting not in asked]
    return plan.with_(remedies=tuple(new[: max(len(asked), len(plan.remedies))]), confirm=True)
