"""One cell of a decision: decide from noisy counts, compare with the true ones, entity by entity."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np
from threadpoolctl import threadpool_limits

from evenhand._notes import Note
from evenhand.privacy.randomness import SeededSource
from evenhand.study.plan.draw_text import draw_text
from evenhand.study.store.canonical import pack
from evenhand.study.store.outcome import Outcome
from evenhand.study.tasks.decide.compute import computed
from evenhand.study.tasks.decide.measures import (
    errors_by_entity_size,
    errors_of_a_decision,
    kept_entities,
    numbers_by_group,
    sizes_of,
)
from evenhand.study.tasks.decide.risks import risks_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evenhand.decide.result.decided import Decided
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
        those that are most affected, and some of every size; ``columns`` numbers of all of them; ``names``
        who they are, in the cell of the unprotected setting. Amounts are in money if there is a budget; those
        of ``entities`` and ``columns`` are shares.
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
        risks = risks_of(decided, money=money, source=source.for_cell("payments"))
        groups = numbers_by_group(decided, budget=task.budget)
        return Outcome(
            cell,
            measures,
            {label: {**numbers, **risks.groups.get(label, {})} for label, numbers in groups.items()},
            errors_by_entity_size(decided, money=money) | risks.data,
            {"decide": between - start, "measure": time.process_time() - between},
            entities=kept_entities(decided, rule=task.parsed() if task.is_rule else None),
            names=() if cell.setting.is_protected else tuple(decided.names),
            columns=_pack_columns(decided, risks.columns, is_protected=cell.setting.is_protected),
            notes=(Note.of(decided.method, "method"), *decided.notes),
        )


def _pack_columns(decided: Decided, risks: Mapping[str, Any], *, is_protected: bool) -> dict[str, str]:
    """Return numbers of all entities: of the true counts once, and what each setting makes of them."""
    columns = {"size": sizes_of(decided), "truth": np.asarray(decided.truth, dtype=np.float64)}
    if is_protected:
        columns = {"bias": np.asarray(decided.bias), **risks}
        if decided.standard_error is not None:
            columns["standard_error"] = np.asarray(decided.standard_error)
    return {name: pack(values) for name, values in columns.items()}
