"""Results as columns: one row per cell, per cell and group, or per setting with means and changes."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand._notebook import number_text
from evenhand.measure.repeat_means import estimate_rows
from evenhand.study.plan.cells import UNPROTECTED, Setting
from evenhand.study.results.estimates import estimate
from evenhand.study.results.lookup import measure_named
from evenhand.study.tasks.shared.fields import several

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from fractions import Fraction

    from evenhand.measure.repeat_means import Estimated, Kind
    from evenhand.study.plan.plan import Plan
    from evenhand.study.results.base import ResultData
    from evenhand.study.store.outcome import Outcome
    from evenhand.study.tasks.base import Task


def setting_columns(settings: Sequence[Setting], task: Task) -> dict[str, list[Any]]:
    """Return what tells settings apart: the mechanism, each option under its name, epsilon.

    An option that a setting does not have is ``"none"``, or NaN in a column of numbers. One that is called
    like a number of the task, as delta is, has the column ``delta_option``.
    """
    numbers = {*task.measures, *task.group_numbers, *task.data_numbers}
    columns: dict[str, list[Any]] = {"mechanism": [setting.mechanism for setting in settings]}
    for name in dict.fromkeys(name for setting in (*task.settings(), *settings) for name in setting.options):
        column = f"{name}_option" if name in numbers else name
        columns[column] = _option_column([setting.options.get(name) for setting in settings])
    columns["epsilon"] = number_column(setting.epsilon for setting in settings)
    return columns


def _option_column(values: list[Any]) -> list[Any]:
    if all(isinstance(value, int | float | None) and not isinstance(value, bool) for value in values):
        return number_column(values)
    named = (UNPROTECTED if value is None else value for value in values)
    return [value if isinstance(value, str) else json.dumps(value, sort_keys=True) for value in named]


def number_column(numbers: Iterable[Fraction | float | None]) -> list[float]:
    """Return numbers with NaN where there is none."""
    return [np.nan if number is None else float(number) for number in numbers]


def _cells(
    results: ResultData, outcomes: Sequence[Outcome]
) -> tuple[dict[str, Any], tuple[list[int], list[int]]]:
    """Return what tells the cells of outcomes apart, and their places in the arrays."""
    settings = [outcome.cell.setting for outcome in outcomes]
    repeats = [outcome.cell.repeat for outcome in outcomes]
    columns = setting_columns(settings, results.plan.task) | {"repeat": repeats}
    return columns, ([results.place(setting) for setting in settings], repeats)


def _finished(results: ResultData) -> list[Outcome]:
    return [outcome for outcome in results.outcomes if outcome.failure is None]


def cell_columns(results: ResultData) -> dict[str, Any]:
    """Return one row per cell, with every measure."""
    columns, at = _cells(results, results.outcomes)
    columns["state"] = ["done" if outcome.failure is None else "failed" for outcome in results.outcomes]
    values = results.all_arrays.of_measures[at]
    return columns | {name: values[:, place] for place, name in enumerate(results.arrays.measures)}


def group_columns(results: ResultData) -> dict[str, Any]:
    """Return one row per finished cell and group, with every rate and how many people it has."""
    arrays, finished = results.all_arrays, _finished(results)
    cells, at = _cells(results, finished)
    columns = {name: [value for value in values for _ in arrays.groups] for name, values in cells.items()}
    columns["group"] = list(arrays.groups) * len(finished)
    rates = arrays.of_groups[at].reshape(len(columns["group"]), len(arrays.rates))
    return columns | {name: rates[:, place] for place, name in enumerate(arrays.rates)}


def data_columns(results: ResultData) -> dict[str, Any]:
    """Return one row per finished cell, with the disparities of the training labels."""
    columns, at = _cells(results, _finished(results))
    numbers = results.all_arrays.of_data[at]
    return columns | {name: numbers[:, place] for place, name in enumerate(results.arrays.data)}


def entity_columns(results: ResultData) -> dict[str, Any]:
    """Return one row per finished cell and entity that it kept, with the numbers of the entity."""
    rows = [(outcome, *entity) for outcome in results.outcomes for entity in outcome.entities]
    columns, _ = _cells(results, [outcome for outcome, _, _ in rows])
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
        estimated = partial(
            estimate_rows,
            level=level,
            kind=kind,
            spread=described.spread,
            overlap=task.overlap,
            is_exact=task.is_exact,
            owner=owner,
        )
        changes = runs - runs[results.place(Setting())]
        found[name] = (
            estimated(runs, within=described.limits),
            estimated(changes, within=described.change_limits, is_computed=is_itself),
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


# --- a short table, as text ----------------------------------------------------------------------------


def key_measures(plan: Plan) -> list[str]:
    """Return the few measures of a plan that a short table shows."""
    keys = plan.task.key_measures or plan.measures[:4]
    return [name for name in keys if name in plan.measures] or list(plan.measures[: len(keys)])


def short_rows(results: ResultData, shown: int) -> list[list[str]]:
    """Return each setting, the first so many, with a few measures and their intervals, as text."""
    task, measures = results.plan.task, key_measures(results.plan)
    rows = [["setting", *(task.measure(name).words for name in measures)]]
    for setting in results.settings[:shown]:
        means = (estimate(results, setting, name) for name in measures)
        rows.append([str(setting), *map(_value_text, means)])
    return rows


def _value_text(mean: Estimated) -> str:
    if not mean.runs:
        return "no value"
    if mean.low is None or mean.high is None:
        return number_text(mean.value)
    return f"{number_text(mean.value)} ({number_text(mean.low)} to {number_text(mean.high)})"
