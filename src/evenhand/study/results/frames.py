"""Results as columns: one row per cell, per cell and group, or per setting with means and changes."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.study.plan.cells import UNPROTECTED, Setting
from evenhand.study.results.estimates import estimate_rows
from evenhand.study.results.lookup import measure_named
from evenhand.study.tasks.shared.fields import several

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from evenhand.measure.repeat_means import Kind
    from evenhand.study.results.base import ResultData
    from evenhand.study.results.estimates import Estimated
    from evenhand.study.tasks.base import Task

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
    numbers = results.arrays.of_data[at][kept]
    rows = {name: [values[row] for row in kept] for name, values in columns.items()}
    return rows | {name: numbers[:, place] for place, name in enumerate(results.arrays.data)}


def entity_columns(results: ResultData) -> dict[str, Any]:
    """Return one row per finished cell and entity that it kept, with the numbers of the entity."""
    rows = [(outcome, *entity) for outcome in results.outcomes for entity in outcome.entities]
    columns = setting_columns([outcome.cell.setting for outcome, _, _ in rows], results.plan.task)
    columns["repeat"] = [outcome.cell.repeat for outcome, _, _ in rows]
    columns["entity"] = [name for _, name, _ in rows]
    names = dict.fromkeys(name for _, _, numbers in rows for name in numbers)
    return columns | {name: [numbers.get(name, np.nan) for _, _, numbers in rows] for name in names}


# --- one row per setting: means over repeats, and changes against the unprotected setting ---------------


def summarize(
    results: ResultData, measures: str | Iterable[str] | None, *, level: float, kind: Kind, owner: str
) -> dict[str, tuple[list[Estimated], list[Estimated]]]:
    """Return the means of every setting and their changes, by measure, by default of those of the plan."""
    arrays, task = results.arrays, results.plan.task
    is_itself = np.array([setting == Setting() for setting in results.settings])
    asked = results.plan.measures if measures is None else measures
    found = {}
    for given in several(asked, "measures", owner=owner):
        name = measure_named(given, arrays.measures, parameter="measures", owner=owner)
        described, runs = task.measure(name), arrays.of_measures[..., arrays.measures.index(name)]
        estimate = partial(
            estimate_rows, task=task, level=level, kind=kind, spread=described.spread, owner=owner
        )
        changes = runs - runs[results.place(Setting())]
        found[name] = (
            estimate(runs, within=described.limits),
            estimate(changes, within=described.change_limits, is_computed=is_itself),
        )
    return found


def wide_columns(results: ResultData, **asked: Any) -> dict[str, Any]:
    """Return one row per setting, with the columns of each measure one after the other."""
    columns = setting_columns(results.settings, results.plan.task)
    for name, (means, changes) in summarize(results, **asked).items():
        for column, found, count in ((name, means, "runs"), (f"{name}_change", changes, "pairs")):
            columns[column] = [each.value for each in found]
            columns[f"{column}_low"] = number_column(each.low for each in found)
            columns[f"{column}_high"] = number_column(each.high for each in found)
            columns[f"{name}_{count}"] = [each.runs for each in found]
    return columns


def long_columns(results: ResultData, **asked: Any) -> dict[str, Any]:
    """Return one row per setting and measure, with standard errors and notes."""
    found = summarize(results, **asked)
    rows = [
        (setting, name, means[at], changes[at])
        for at, setting in enumerate(results.settings)
        for name, (means, changes) in found.items()
    ]
    settings, names, means, changes = (list(column) for column in zip(*rows, strict=True))
    columns = setting_columns(settings, results.plan.task) | {"measure": names}
    for value, start, column, count in (
        ("mean", "", means, "runs"),
        ("change", "change_", changes, "pairs"),
    ):
        columns[value] = [each.value for each in column]
        for name in ("standard_error", "low", "high"):
            columns[f"{start}{name}"] = number_column(getattr(each, name) for each in column)
        columns[count] = [each.runs for each in column]
    return columns | {name: [getattr(mean, name) for mean in means] for name in ("level", "kind", "note")}


def number_column(numbers: Iterable[float | None]) -> list[float]:
    """Return numbers with NaN where there is none."""
    return [np.nan if number is None else number for number in numbers]
