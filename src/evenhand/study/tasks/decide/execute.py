"""One cell of a decision: decide from noisy counts, compare with the true ones, entity by entity."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any

import numpy as np
from threadpoolctl import threadpool_limits

from evenhand._notes import Note
from evenhand.decide.allotment.allotment import Allotment
from evenhand.decide.result.bias import bias, decide_truly
from evenhand.decide.result.errors import entity_table, errors_in_all
from evenhand.privacy.randomness import SeededSource
from evenhand.release.postprocess.registry import steps_of
from evenhand.study.plan.cells import Cell
from evenhand.study.plan.draw_text import draw_text
from evenhand.study.store.canonical import pack
from evenhand.study.store.outcome import Outcome
from evenhand.study.tasks.decide.effects import find_page
from evenhand.study.tasks.decide.measures import (
    errors_by_entity_size,
    kept_entities,
    numbers_by_group,
    risks_of,
)
from evenhand.study.tasks.decide.methods import claim_of, claim_of_noise, method_of, noise_of_a_count
from evenhand.table.frames import make_frame
from evenhand.table.write import write_csv

if TYPE_CHECKING:
    from pathlib import Path

    from evenhand.decide.result.decided import Decided
    from evenhand.study.plan.cells import Setting
    from evenhand.study.results.base import ResultData
    from evenhand.study.tasks.decide.prepare import PreparedEntities
    from evenhand.study.tasks.decide.task import DecideTask


def execute(task: DecideTask, cell: Cell, *, seed: int, prepared: PreparedEntities) -> Outcome:
    """Run one cell. The same cell gives the same outcome, whatever ran before it and wherever.

    ``measures`` hold alpha, errors and what is promised; ``groups`` what each group of people gains or loses;
    ``data`` the means of each class of entities by size, such as ``gain_100_299``; ``entities`` those that
    are most affected, and some of every size; ``columns`` numbers of all of them; ``names`` who they are, in
    the cell of the unprotected setting. Amounts are in money if there is a budget; those of ``entities`` and
    ``columns`` are shares.
    """
    money = 1.0 if task.budget is None else task.budget
    source = SeededSource(seed).for_cell(draw_text(cell))
    is_protected = cell.setting.is_protected
    start = time.process_time()
    with threadpool_limits(1):
        decided, epsilon, delta = decide(cell.setting, task=task, prepared=prepared, source=source)
        between = time.process_time()
        measures = errors_in_all(decided, money=money)
        risks = risks_of(decided, money=money, source=source.for_cell("payments"))
        groups = numbers_by_group(decided, budget=task.budget)
        columns = {"size": decided.sizes.astype(np.float64), "truth": decided.truth.astype(np.float64)}
        if is_protected:  # the true ones stand in the cell of the unprotected setting
            columns = {"bias": decided.bias, **risks.columns}
            if decided.standard_error is not None:
                columns["standard_error"] = decided.standard_error
        return Outcome(
            cell,
            {**measures, "claimed_epsilon": epsilon, "delta": delta},
            {label: {**numbers, **risks.groups.get(label, {})} for label, numbers in groups.items()},
            errors_by_entity_size(decided, money=money) | risks.data,
            {"decide": between - start, "measure": time.process_time() - between},
            entities=kept_entities(decided, rule=task.parsed() if task.is_rule else None),
            names=() if is_protected else tuple(decided.names),
            columns={name: pack(values) for name, values in columns.items()},
            notes=(Note.of(decided.method, "method"), *decided.notes),
        )


def problem_of(task: DecideTask, prepared: PreparedEntities) -> Any:
    """Return the rule, or the allotment with the weights of the entities."""
    if task.is_rule:
        return task.parsed()
    return Allotment(np.asarray(prepared.entities.weights), budget=task.budget, count=str(task.count))


def decide(
    setting: Setting, *, task: DecideTask, prepared: PreparedEntities, source: SeededSource
) -> tuple[Decided, float, float]:
    """Decide for every entity, exactly where a method applies, and otherwise from draws of the source.

    Return it with the epsilon and the delta that one person is promised; NaN and 1 for nothing.
    """
    problem, entities = problem_of(task, prepared), prepared.entities
    if not setting.is_protected:
        return decide_truly(problem, entities), math.nan, 1.0
    noise = noise_of_a_count(task, setting)
    steps, mitigation = method_of(setting)
    options: dict[str, Any] = {"draws": task.draws, "rng": source}
    if mitigation is None:
        decided = bias(problem, entities, noise, post=steps_of(steps) or None, **options)
        return decided, *claim_of_noise(task, setting, problem)
    if mitigation.kind.takes_post:
        options["post"] = steps_of(task.post) or None
    options |= mitigation.parameters
    options |= {name: prepared.public[column] for name, column in mitigation.columns.items()}
    made = mitigation.kind.decide(problem, entities, noise, **options)
    return made.decided, *claim_of(made.guarantee)


def write_entities(results: ResultData, folder: Path, *, frame: Any = None) -> dict[str, Path]:
    """Write every entity under the setting of the report, if it has a result; return the path by its word.

    What is computed is what the first repeat of the setting computed, to the last bit.
    """
    path, plan = folder / "entities.csv", results.plan
    task: Any = plan.task
    page = find_page(task, results)
    if all(outcome.cell.setting != page or outcome.failure is not None for outcome in results.outcomes):
        return {}
    source = SeededSource(plan.seed).for_cell(draw_text(Cell(page, 0)))
    decided, *_ = decide(page, task=task, prepared=task.prepare(plan, frame=frame), source=source)
    table = entity_table(decided, rule=task.parsed() if task.is_rule else None)
    write_csv(make_frame(table, backend="pyarrow"), path)
    return {"Entities": path}
