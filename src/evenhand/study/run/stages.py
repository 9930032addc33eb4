"""Stages of a study: what answers first, then remedies, then one of them again, then everything else."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from evenhand.answer.telling import Telling
from evenhand.study.plan.cells import UNPROTECTED, Setting
from evenhand.study.run.prepare import prepare

if TYPE_CHECKING:
    from evenhand.study.plan.cells import Cell
    from evenhand.study.plan.facts import Facts
    from evenhand.study.plan.plan import Plan
    from evenhand.study.results.base import ResultData


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


def split_cells(plan: Plan) -> tuple[list[Cell], list[Cell], list[Cell]]:
    """Return the cells that say who pays, those of remedies, and all others.

    Whatever was asked for at the page's epsilon may be a remedy of the page's setting.
    """
    asked = [each for each in plan.settings() if each.is_protected and each not in plan.remedies]
    page = plan.task.find_page(asked) if asked else Setting()
    stages: tuple[list[Cell], list[Cell], list[Cell]] = ([], [], [])
    for cell in plan.cells():
        setting = cell.setting
        is_first = setting == page or setting.mechanism == UNPROTECTED
        is_remedy = setting in plan.remedies or setting.epsilon in (None, page.epsilon)
        stages[0 if is_first else 1 if is_remedy else 2].append(cell)
    return stages


def find_confirming(results: ResultData) -> tuple[Cell, ...]:
    """Return the cells that run the remedy that does best again, with what it is compared with.

    There are none where no remedy helps, and where its effects are exact.
    """
    if not results.plan.confirm:
        return ()
    case = results.plan.task.case(results)
    telling = Telling(replace(case, table=replace(case.table, fresh=None)))  # as chosen at first
    choice, table = telling.choice, telling.table
    picked = choice.first or choice.find_least("trade-off")
    if picked is None or all(seen.basis == "exact" for seen in table.by_option[picked.option.name]):
        return ()
    names, step = {table.unprotected, table.page}, picked.option.name
    while step not in names:
        names.add(step)
        step = table.by_name[step].reference
    return results.plan.confirming_cells(each for each in results.settings if str(each) in names)
