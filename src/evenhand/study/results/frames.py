"""Results as columns: one row per cell, per cell and group, or per setting with means and changes."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.measure.intervals import check_level
from evenhand.measure.repeat_means import Means, check_kind, means_of, why_no_interval
from evenhand.study.plan.cells import UNPROTECTED, Setting
from evenhand.study.results.estimates import note_of
from evenhand.study.results.lookup import measure_named
from evenhand.study.tasks.shared.fields import several

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from evenhand.measure.repeat_means import Kind
    from evenhand.study.results.base import ResultData
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


@dataclass(frozen=True)
class Summary:
    """Means and paired changes of every setting and measure, as arrays settings x measures."""

    settings: tuple[Setting, ...]
    measures: tuple[str, ...]
    value: Means
    change: Means
    repeats: int
    level: float
    kind: Kind
    task: Task


def summarize(
    results: ResultData, measures: str | Iterable[str] | None, *, level: float, kind: Kind, owner: str
) -> Summary:
    """Return the summary of some measures, by default those that the plan names."""
    level = check_level(level, owner=owner)
    arrays = results.arrays
    asked = results.plan.measures if measures is None else measures
    names = tuple(
        measure_named(name, arrays.measures, parameter="measures", owner=owner)
        for name in several(asked, "measures", owner=owner)
    )
    kind = check_kind(kind, owner=owner)
    values = np.moveaxis(arrays.of_measures[..., [arrays.measures.index(name) for name in names]], 1, 2)
    changes = values - values[results.place(Setting())]
    is_itself = np.array([setting == Setting() for setting in results.settings])

    task = results.plan.task
    described = [task.measure(name) for name in names]

    def estimate_means(runs: NDArray[np.float64], *, is_exact: bool | NDArray[np.bool_]) -> Means:
        of_measures = [
            means_of(
                runs[:, at],
                overlap=task.overlap,
                kind=kind,
                level=level,
                spread=measure.spread,
                is_exact=is_exact,
            )
            for at, measure in enumerate(described)
        ]
        return Means(*(np.stack(part, axis=1) for part in zip(*of_measures, strict=True)))

    return Summary(
        results.settings,
        names,
        estimate_means(values, is_exact=task.is_exact).within(
            *zip(*(measure.limits for measure in described), strict=True)
        ),
        estimate_means(changes, is_exact=is_itself | task.is_exact).within(
            *zip(*(measure.change_limits for measure in described), strict=True)
        ),
        results.plan.repeats,
        level,
        kind,
        task,
    )


def wide_columns(summary: Summary) -> dict[str, Any]:
    """Return one row per setting, with the columns of each measure one after the other."""
    columns: dict[str, Any] = dict(setting_columns(summary.settings, summary.task))
    for at, name in enumerate(summary.measures):
        value, change = ([part[:, at] for part in means] for means in (summary.value, summary.change))
        columns |= {
            name: value[0],
            f"{name}_low": value[2],
            f"{name}_high": value[3],
            f"{name}_runs": value[4],
            f"{name}_change": change[0],
            f"{name}_change_low": change[2],
            f"{name}_change_high": change[3],
            f"{name}_pairs": change[4],
        }
    return columns


def long_columns(summary: Summary) -> dict[str, Any]:
    """Return one row per setting and measure, with standard errors and notes."""
    width = len(summary.measures)
    settings = [setting for setting in summary.settings for _ in range(width)]
    value, change = ([part.reshape(-1) for part in means] for means in (summary.value, summary.change))
    measures = list(summary.measures) * len(summary.settings)
    notes = [
        note_of(
            int(runs),
            summary.repeats - int(runs),
            error=float(error),
            why=why_no_interval(summary.task.measure(name).spread, int(runs), tied=int(tied))
            if np.isnan(low)
            else "",
            is_exact=summary.task.is_exact,
        )
        for _, error, low, _, runs, tied, name in zip(*value, measures, strict=True)
    ]
    return setting_columns(settings, summary.task) | {
        "measure": measures,
        "mean": value[0],
        "standard_error": value[1],
        "low": value[2],
        "high": value[3],
        "runs": value[4],
        "change": change[0],
        "change_standard_error": change[1],
        "change_low": change[2],
        "change_high": change[3],
        "pairs": change[4],
        "level": [summary.level] * len(settings),
        "kind": [summary.kind] * len(settings),
        "note": notes,
    }
