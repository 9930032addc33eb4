"""Every entity under one setting, as a table: what a store keeps of the most affected, for all."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.privacy.randomness import SeededSource
from evenhand.study.plan.cells import Cell
from evenhand.study.plan.draw_text import draw_text
from evenhand.study.tasks.decide.compute import computed
from evenhand.study.tasks.decide.effects import find_page
from evenhand.study.tasks.decide.measures import entity_columns
from evenhand.table.frames import make_frame
from evenhand.table.write import write_csv

if TYPE_CHECKING:
    from os import PathLike
    from pathlib import Path

    from evenhand.study.plan.cells import Setting
    from evenhand.study.plan.plan import Plan
    from evenhand.study.results.base import ResultData as Results

_RESULTS = frozenset(
    (
        "entity", "truth", "bias", "flip", "distance", "error", "error_bound", "standard_error",
        "truth_in_money", "bias_in_money", "error_in_money",
    )
)  # fmt: skip


def entity_table(plan: Plan, setting: Setting, *, prepared: Any) -> dict[str, Any]:
    """Return the columns of a table with one row for each entity, in the order of the data.

    What is computed is what the first repeat of the setting computed, to the last bit.

    Parameters
    ----------
    plan : Plan
        One whose task is a decision.
    setting : Setting
        One of its settings.
    prepared : PreparedEntities
    """
    task: Any = plan.task
    source = SeededSource(plan.seed).for_cell(draw_text(Cell(setting, 0)))
    decided = computed(setting, task=task, prepared=prepared, source=source).decided
    rule = task.parsed() if task.is_rule else None
    numbers = entity_columns(decided, rule=rule)
    columns: dict[str, Any] = {"entity": list(decided.names)}
    columns |= {_apart(name): np.asarray(values) for name, values in decided.counts.items()}
    columns["truth"] = np.asarray(decided.truth)
    kept = ("bias", "flip", "distance") if task.is_rule else ("bias", "error")
    columns |= {name: numbers[name] for name in kept}
    if not task.is_rule and task.budget is not None:
        columns |= {f"{name}_in_money": numbers[name] * task.budget for name in ("truth", "bias", "error")}
    beyond = decided.error_bound if decided.standard_error is None else decided.standard_error
    named = "error_bound" if decided.standard_error is None else "standard_error"
    columns[named] = np.full(len(decided), math.nan) if beyond is None else np.asarray(beyond)
    return columns


def _apart(name: str) -> str:
    """Return the name of a column of counts, other than those of results."""
    return f"counted {name}" if name in _RESULTS else name


def write_chosen_entities(results: Results, folder: Path, *, frame: Any = None) -> dict[str, Path]:
    """Write every entity under the setting of the report, if it has a result; return the path by its word."""
    path, plan = folder / "entities.csv", results.plan
    task: Any = plan.task
    page = find_page(task, results)
    if all(outcome.cell.setting != page or outcome.failure is not None for outcome in results.outcomes):
        return {}
    write_entities(plan, page, path, prepared=task.prepare(plan, frame=frame))
    return {"Entities": path}


def write_entities(plan: Plan, setting: Setting, path: str | PathLike[str], *, prepared: Any) -> None:
    """Write the table to a CSV file in which no text is a formula."""
    write_csv(make_frame(entity_table(plan, setting, prepared=prepared), backend="pyarrow"), path)
