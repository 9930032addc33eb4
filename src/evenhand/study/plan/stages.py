"""Stages of a plan: what answers first, then remedies, then all other cells; confirmation comes between."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from evenhand.study.plan.cells import UNPROTECTED, Setting

if TYPE_CHECKING:
    from evenhand.study.plan.cells import Cell
    from evenhand.study.plan.plan import Plan

_CONFIRMED = 3  # the remedy that is chosen, the page's setting and the unprotected one


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


def expect_confirming(plan: Plan) -> int:
    """Return for how many cells to allow before it is known whether a remedy helps, which is then confirmed.

    With them a study has the geometric mean of both numbers of cells: 53 where it takes 40 or 70.
    """
    if not plan.confirm or plan.task.is_exact:
        return 0
    known = len(plan.cells())
    return round(math.sqrt(known * (known + _CONFIRMED * plan.repeats))) - known
