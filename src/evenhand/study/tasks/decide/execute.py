"""One cell of a decision: decide from noisy counts, compare with the true ones, entity by entity."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any

import numpy as np
from threadpoolctl import threadpool_limits

from evenhand._notes import Note
from evenhand.decide.allotment.allotment import Allotment
from evenhand.decide.exact.noise import guarantee_of
from evenhand.decide.result.bias import bias, decide_truly
from evenhand.decide.result.breakdown import error_of_sum, group_shares, parts_of_groups
from evenhand.decide.result.errors import (
    entity_columns,
    entity_table,
    errors_by_size,
    errors_in_all,
    spread_places,
)
from evenhand.decide.result.risks import draw_risks
from evenhand.privacy.randomness import SeededSource
from evenhand.privacy.rational import float_above
from evenhand.release.postprocess.registry import steps_of
from evenhand.study.plan.cells import Cell
from evenhand.study.plan.draw_text import draw_text
from evenhand.study.store.canonical import pack
from evenhand.study.store.outcome import Outcome
from evenhand.study.tasks.decide.task import ENTITY_SIZES, entity_size_of, method_of
from evenhand.table.frames import make_frame
from evenhand.table.write import write_csv

if TYPE_CHECKING:
    from pathlib import Path

    from evenhand.decide.result.decided import Decided
    from evenhand.privacy.guarantees.guarantee import Guarantee
    from evenhand.study.plan.cells import Setting
    from evenhand.study.results.base import ResultData
    from evenhand.study.tasks.decide.prepare import PreparedEntities
    from evenhand.study.tasks.decide.task import DecideTask

_DELTA = "1e-9"  # at which a promise in rho is told where a setting has no delta
_MOST_ENTITIES = 300  # that a cell keeps one by one


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
        risks, data, by_group = _risks(decided, money=money, source=source.for_cell("payments"))
        groups = group_shares(decided, budget=task.budget).groups if decided.populations else ()
        by_size = errors_by_size(decided, [size.least for size in ENTITY_SIZES], money=money)
        numbers = entity_columns(decided, rule=task.parsed() if task.is_rule else None)
        columns = {name: numbers[name] for name in ("size", "truth")}
        if is_protected:  # the true ones stand in the cell of the unprotected setting
            columns = {"bias": decided.bias, **risks}
            if decided.standard_error is not None:
                columns["standard_error"] = decided.standard_error
        return Outcome(
            cell,
            {**errors_in_all(decided, money=money), "claimed_epsilon": epsilon, "delta": delta},
            {
                each.group: {name: float(getattr(each, name)) for name in task.group_numbers}
                | by_group.get(each.group, {})
                for each in groups
            },
            {
                f"{name}_{size.key}": float(each[at])
                for name, each in by_size.items()
                for at, size in enumerate(ENTITY_SIZES)
            }
            | data,
            {"decide": between - start, "measure": time.process_time() - between},
            entities=tuple(
                (decided.names[at], {name: float(values[at]) for name, values in numbers.items()})
                for at in spread_places(decided, _MOST_ENTITIES)
            ),
            names=() if is_protected else tuple(decided.names),
            columns={name: pack(values) for name, values in columns.items()},
            notes=(Note.of(decided.method, "method"), *decided.notes),
        )


def _risks(decided: Decided, *, money: float, source: SeededSource) -> tuple[dict[str, Any], ...]:
    """Return what single releases do to each entity, to all and to classes by size, and to groups of people.

    Of an allotment, entities have the chance of a payment below zero (``billed``) and what they are paid in
    the worst 1 of 20 releases (``worst``), as shares; all have the chance of any bill (``billed_any``) and in
    how many releases it was counted (``billed_draws``, 0 where it is exact); classes and groups have
    ``worst``, in money, and where figures were sampled ``gain_error``. Of a rule that was sampled they have
    ``refused_error`` and ``granted_error``. What is not known is not there.
    """
    classes = entity_size_of(decided.sizes)
    places = sorted(set(classes.tolist()))
    people = np.array([*decided.populations.values()], dtype=np.float64).reshape(-1, len(decided))
    members = np.array([classes == place for place in places], dtype=np.float64)
    columns: dict[str, Any] = {}
    data: dict[str, float] = {}
    numbers: list[dict[str, float]] = []
    if decided.kind == "rule" and decided.standard_error is not None:
        who = {"refused_error": decided.truth, "granted_error": ~decided.truth}
        numbers = [
            {name: error_of_sum(row[which], coupled=decided.coupled) for name, which in who.items()}
            for row in np.concatenate([people, members * decided.sizes]) * decided.standard_error
        ]
    elif decided.payments is not None:
        parts = np.concatenate([parts_of_groups(people), members])
        risks = draw_risks(decided, decided.payments, parts, money=money, source=source)
        columns = {"billed": risks.billed, "worst": risks.worst}
        data = {"billed_any": risks.billed_any, "billed_draws": risks.draws}
        sums = {"worst": risks.sums_worst, "gain_error": risks.sums_error}
        known = {name: values for name, values in sums.items() if values is not None}
        numbers = [{name: float(values[at]) for name, values in known.items()} for at in range(len(parts))]
    for place, of_class in zip(places, numbers[len(people) :], strict=False):
        data |= {f"{name}_{ENTITY_SIZES[place].key}": value for name, value in of_class.items()}
    return columns, data, dict(zip(decided.populations, numbers, strict=False))


def decide(
    setting: Setting, *, task: DecideTask, prepared: PreparedEntities, source: SeededSource
) -> tuple[Decided, float, float]:
    """Decide for every entity, exactly where a method applies, and otherwise from draws of the source.

    Return it with the epsilon and the delta that one person is promised; NaN and 1 for nothing.
    """
    entities = prepared.entities
    problem: Any = (
        task.parsed()
        if task.is_rule
        else Allotment(np.asarray(entities.weights), budget=task.budget, count=str(task.count))
    )
    if not setting.is_protected:
        return decide_truly(problem, entities), math.nan, 1.0
    noise = task.noise_of_a_count(setting)
    steps, mitigation = method_of(setting)
    options: dict[str, Any] = {"draws": task.draws, "rng": source}
    if mitigation is None:
        decided = bias(problem, entities, noise, post=steps_of(steps) or None, **options)
        promised = guarantee_of(problem, noise, touches=task.counts_touched)
        return decided, *claim_of(promised, delta=setting.option("delta", _DELTA))
    if mitigation.kind.takes_post:
        options["post"] = steps_of(task.post) or None
    options |= mitigation.parameters
    options |= {name: prepared.public[column] for name, column in mitigation.columns.items()}
    made = mitigation.kind.decide(problem, entities, noise, **options)
    return made.decided, *claim_of(made.guarantee)


def claim_of(guarantee: Guarantee | None, *, delta: Any = _DELTA) -> tuple[float, float]:
    """Return epsilon and delta of a claim, delta never below what it is; one in rho is read at a delta."""
    if guarantee is None or str(guarantee.trust) == "none":
        return math.nan, 1.0
    if guarantee.rho is not None:
        guarantee = guarantee.to_approximate(delta=delta)
    return float(guarantee.epsilon or 0), float_above(guarantee.delta)


def write_entities(results: ResultData, folder: Path, *, frame: Any = None) -> dict[str, Path]:
    """Write every entity under the setting of the report, if it has a result; return the path by its word.

    What is computed is what the first repeat of the setting computed, to the last bit.
    """
    path, plan = folder / "entities.csv", results.plan
    task: Any = plan.task
    page = task.find_page(results.settings)
    if all(outcome.cell.setting != page or outcome.failure is not None for outcome in results.outcomes):
        return {}
    source = SeededSource(plan.seed).for_cell(draw_text(Cell(page, 0)))
    decided, *_ = decide(page, task=task, prepared=task.prepare(plan, frame=frame), source=source)
    table = entity_table(decided, rule=task.parsed() if task.is_rule else None)
    write_csv(make_frame(table, backend="pyarrow"), path)
    return {"Entities": path}
