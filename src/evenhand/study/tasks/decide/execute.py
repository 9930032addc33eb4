"""One cell of a decision: decide from noisy counts, compare with the true ones, entity by entity."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from threadpoolctl import threadpool_limits

from evenhand._notes import Note
from evenhand.privacy.randomness import SeededSource
from evenhand.study.plan.draw_text import draw_text
from evenhand.study.store.outcome import Outcome
from evenhand.study.tasks.decide.compute import computed
from evenhand.study.tasks.decide.measures import (
    errors_by_entity_size,
    errors_of_a_decision,
    kept_entities,
    numbers_by_group,
)

if TYPE_CHECKING:
    from evenhand.study.plan.cells import Cell
    from evenhand.study.tasks.decide.prepare import PreparedEntities
    from evenhand.study.tasks.decide.task import DecideTask


def execute(task: DecideTask, cell: Cell, *, seed: int, prepared: PreparedEntities) -> Outcome:
    """Run one cell. The same cell gives the same outcome, whatever ran before it and wherever.

    Parameters
    ----------
    task : DecideTask
    cell : Cell
    seed : int
        Of the study.
    prepared : PreparedEntities
        The plan's entities.

    Returns
    -------
    Outcome
        ``measures`` hold alpha, errors and what is promised; ``groups`` what each group of people gains or
        loses; ``data`` the means of each class of entities by size, such as ``gain_100_299``; ``entities``
        those that are most affected, and some of every size. Amounts are in money if there is a budget; those
        of ``entities`` are shares.
    """
    money = 1.0 if task.budget is None else task.budget
    source = SeededSource(seed).for_cell(draw_text(cell))
    start = time.process_time()
    with threadpool_limits(1):
        found = computed(cell.setting, task=task, prepared=prepared, source=source)
        between = time.process_time()
        decided = found.decided
        measures = errors_of_a_decision(decided, money=money)
        measures |= {"claimed_epsilon": found.epsilon, "delta": found.delta}
        return Outcome(
            cell,
            measures,
            numbers_by_group(decided, budget=task.budget),
            errors_by_entity_size(decided, money=money),
            {"decide": between - start, "measure": time.process_time() - between},
            entities=kept_entities(decided, rule=task.parsed() if task.is_rule else None),
            notes=(Note.of(decided.method, "method"), *decided.notes),
        )
