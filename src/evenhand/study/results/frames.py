"""Results as columns: one row per cell, per cell and group, or per setting."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.study.plan.cells import UNPROTECTED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand.study.plan.cells import Setting
    from evenhand.study.results.base import ResultData
    from evenhand.study.tasks.base import Task

__all__ = ["cell_columns", "data_columns", "entity_columns", "group_columns", "setting_columns"]

DONE, FAILED = "done", "failed"


def setting_columns(settings: Sequence[Setting], task: Task) -> dict[str, list[Any]]:
    """Return what tells settings apart: the mechanism, each option under its name, epsilon.

    An option that a setting does not have is ``"none"``, or NaN in a column of numbers. One that is called
    like a number of the task, as delta is, has the column ``delta_option``.
    """
    numbers = {*task.measures, *task.group_numbers, *task.data_numbers}
    columns: dict[str, list[Any]] = {"mechanism": [setting.mechanism for setting in settings]}
    for name in dict.fromkeys(name for setting in task.settings() for name in setting.options):
        column = f"{name}_option" if name in numbers else name
        columns[column] = _option_column([setting.options.get(name) for setting in settings])
    columns["epsilon"] = [
        np.nan if setting.epsilon is None else float(setting.epsilon) for setting in settings
    ]
    return columns


def _option_column(values: list[Any]) -> list[Any]:
    if all(isinstance(value, int | float | None) and not isinstance(value, bool) for value in values):
        return [np.nan if value is None else float(value) for value in values]
    return [
        UNPROTECTED
        if value is None
        else value
        if isinstance(value, str)
        else json.dumps(value, sort_keys=True)
        for value in values
    ]


def _cells(results: ResultData) -> tuple[dict[str, list[Any]], tuple[list[int], list[int]]]:
    """Return what tells cells apart, and their places in the arrays."""
    outcomes = results.outcomes
    columns = setting_columns([outcome.cell.setting for outcome in outcomes], results.plan.task)
    repeats = [outcome.cell.repeat for outcome in outcomes]
    columns["repeat"] = repeats
    columns["state"] = [DONE if outcome.failure is None else FAILED for outcome in outcomes]
    return columns, ([results.place(outcome.cell.setting) for outcome in outcomes], repeats)


def cell_columns(results: ResultData) -> dict[str, Any]:
    """Return one row per cell, with every measure."""
    columns, at = _cells(results)
    values = results.arrays.of_measures[at]
    return columns | {name: values[:, place] for place, name in enumerate(results.arrays.measures)}


def group_columns(results: ResultData) -> dict[str, Any]:
    """Return one row per finished cell and group, with every rate and how many people it has."""
    arrays = results.arrays
    columns, at = _cells(results)
    kept = [row for row, state in enumerate(columns.pop("state")) if state == DONE]
    width = len(arrays.groups)
    repeated: dict[str, Any] = {
        name: [values[row] for row in kept for _ in range(width)] for name, values in columns.items()
    }
    repeated["group"] = list(arrays.groups) * len(kept)
    rates = arrays.of_groups[at][kept].reshape(len(kept) * width, len(arrays.rates))
    return repeated | {name: rates[:, place] for place, name in enumerate(arrays.rates)}


def data_columns(results: ResultData) -> dict[str, Any]:
    """Return one row per finished cell, with the disparities of the training labels."""
    columns, at = _cells(results)
    kept = [row for row, state in enumerate(columns.pop("state")) if state == DONE]
    values = results.arrays.of_data[at][kept]
    told = {name: [values[row] for row in kept] for name, values in columns.items()}
    return told | {name: values[:, place] for place, name in enumerate(results.arrays.data)}


def entity_columns(results: ResultData) -> dict[str, Any]:
    """Return one row per finished cell and entity that it kept, with the numbers of the entity."""
    rows = [(outcome, name, each) for outcome in results.outcomes for name, each in outcome.entities]
    columns = setting_columns([outcome.cell.setting for outcome, _, _ in rows], results.plan.task)
    columns["repeat"] = [outcome.cell.repeat for outcome, _, _ in rows]
    columns["entity"] = [name for _, name, _ in rows]
    numbers = dict.fromkeys(name for _, _, each in rows for name in each)
    return columns | {name: [each.get(name, np.nan) for _, _, each in rows] for name in numbers}
