"""One cell of a decision: decide from noisy counts, compare with the true ones, entity by entity."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from evenhand._notes import Note
from evenhand.decide.allotment.allotment import Allotment
from evenhand.decide.result.bias import bias
from evenhand.decide.result.decided import Decided
from evenhand.privacy.randomness import SeededSource
from evenhand.release.postprocess.registry import steps_of
from evenhand.study.plan.cells import Cell
from evenhand.study.plan.draw_text import draw_text
from evenhand.study.store.canonical import pack
from evenhand.study.store.outcome import Outcome
from evenhand.study.tasks.decide.effects import find_page
from evenhand.study.tasks.decide.measures import (
    entity_columns,
    errors_by_entity_size,
    errors_of_a_decision,
    kept_entities,
    numbers_by_group,
    risks_of,
)
from evenhand.study.tasks.decide.methods import claim_of, method_of, noise_for
from evenhand.study.tasks.decide.prepare import entities_of
from evenhand.table.frames import make_frame
from evenhand.table.write import write_csv

if TYPE_CHECKING:
    from pathlib import Path

    from evenhand.study.plan.cells import Setting
    from evenhand.study.plan.plan import Plan
    from evenhand.study.results.base import ResultData
    from evenhand.study.tasks.decide.prepare import PreparedEntities
    from evenhand.study.tasks.decide.task import DecideTask

_RESULTS = frozenset(
    (
        "entity", "truth", "bias", "flip", "distance", "error", "error_bound", "standard_error",
        "truth_in_money", "bias_in_money", "error_in_money",
    )
)  # fmt: skip


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
        measures = errors_of_a_decision(decided, money=money)
        of_entities, of_classes, of_groups = risks_of(
            decided, money=money, source=source.for_cell("payments")
        )
        groups = numbers_by_group(decided, budget=task.budget)
        columns = {"size": decided.sizes.astype(np.float64), "truth": decided.truth.astype(np.float64)}
        if is_protected:  # the true ones stand in the cell of the unprotected setting
            columns = {"bias": decided.bias, **of_entities}
            if decided.standard_error is not None:
                columns["standard_error"] = decided.standard_error
        return Outcome(
            cell,
            {**measures, "claimed_epsilon": epsilon, "delta": delta},
            {label: {**numbers, **of_groups.get(label, {})} for label, numbers in groups.items()},
            errors_by_entity_size(decided, money=money) | of_classes,
            {"decide": between - start, "measure": time.process_time() - between},
            entities=kept_entities(decided, rule=task.parsed() if task.is_rule else None),
            names=() if is_protected else tuple(decided.names),
            columns={name: pack(values) for name, values in columns.items()},
            notes=(Note.of(decided.method, "method"), *decided.notes),
        )


# --- decisions ------------------------------------------------------------------------------------


class Claimed(NamedTuple):
    """What a setting decides, and what it promises to one person."""

    decided: Decided
    epsilon: float
    delta: float


def problem_of(task: DecideTask, prepared: PreparedEntities) -> Any:
    """Return the rule, or the allotment with the weights of the entities."""
    if task.is_rule:
        return task.parsed()
    return Allotment(np.asarray(prepared.weights), budget=task.budget, count=str(task.count))


def decide(
    setting: Setting, *, task: DecideTask, prepared: PreparedEntities, source: SeededSource
) -> Claimed:
    """Decide for every entity, exactly where a method applies, and otherwise from draws of the source."""
    problem = problem_of(task, prepared)
    if not setting.is_protected:
        return Claimed(_decide_truly(problem, task, prepared), math.nan, 1.0)
    noise, *claimed = noise_for(task, setting, problem)
    steps, mitigation = method_of(setting)
    options: dict[str, Any] = {"draws": task.draws, "rng": source}
    entities = entities_of(prepared)
    if mitigation is None:
        return Claimed(bias(problem, entities, noise, post=steps_of(steps) or None, **options), *claimed)
    if mitigation.kind.takes_post:
        options["post"] = steps_of(task.post) or None
    options |= mitigation.parameters
    options |= {name: prepared.public[column] for name, column in mitigation.columns.items()}
    made = mitigation.kind.decide(problem, entities, noise, **options)
    return Claimed(made.decided, *claim_of(made.guarantee))


def _decide_truly(problem: Any, task: DecideTask, prepared: PreparedEntities) -> Decided:
    """Return the decision from the true counts, as a result that is off by nothing."""
    counts: dict[str, Any] = dict(prepared.codes)
    nothing = np.zeros(len(prepared.names))
    return Decided(
        kind=task.problem,
        problem=task.formula,
        noise="none",
        names=prepared.names.tolist(),
        truth=problem.holds(counts) if task.is_rule else problem.shares(counts[str(task.count)]),
        bias=nothing,
        variance=nothing,
        method="the true counts",
        error_bound=nothing,
        counts=counts,
        populations=prepared.populations,
        budget=task.budget,
    )


# --- every entity under one setting ---------------------------------------------------------------


def write_entities(results: ResultData, folder: Path, *, frame: Any = None) -> dict[str, Path]:
    """Write every entity under the setting of the report, if it has a result; return the path by its word."""
    path, plan = folder / "entities.csv", results.plan
    task: Any = plan.task
    page = find_page(task, results)
    if all(outcome.cell.setting != page or outcome.failure is not None for outcome in results.outcomes):
        return {}
    table = entity_table(plan, page, prepared=task.prepare(plan, frame=frame))
    write_csv(make_frame(table, backend="pyarrow"), path)
    return {"Entities": path}


def entity_table(plan: Plan, setting: Setting, *, prepared: Any) -> dict[str, Any]:
    """Return the columns of a table with one row for each entity, in the order of the data.

    What is computed is what the first repeat of the setting computed, to the last bit.
    """
    task: Any = plan.task
    source = SeededSource(plan.seed).for_cell(draw_text(Cell(setting, 0)))
    decided = decide(setting, task=task, prepared=prepared, source=source).decided
    numbers = entity_columns(decided, rule=task.parsed() if task.is_rule else None)
    columns: dict[str, Any] = {"entity": list(decided.names)}
    for name, values in decided.counts.items():
        columns[f"counted {name}" if name in _RESULTS else name] = values
    columns["truth"] = decided.truth
    columns |= {
        name: numbers[name] for name in (("bias", "flip", "distance") if task.is_rule else ("bias", "error"))
    }
    if not task.is_rule and task.budget is not None:
        columns |= {f"{name}_in_money": numbers[name] * task.budget for name in ("truth", "bias", "error")}
    named = "error_bound" if decided.standard_error is None else "standard_error"
    beyond = getattr(decided, named)
    columns[named] = np.full(len(decided), math.nan) if beyond is None else beyond
    return columns
