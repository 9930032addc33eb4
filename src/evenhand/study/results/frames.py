"""Results as columns: one row per cell, per cell and group, or per setting."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand.study.plan.cells import Setting
    from evenhand.study.results.results import Results

__all__ = ["cell_columns", "data_columns", "entity_columns", "group_columns", "setting_columns"]

DONE, FAILED = "done", "failed"


def setting_columns(settings: Sequence[Setting]) -> dict[str, list[Any]]:
    """Return what tells settings apart: protocol, parameters if any, strategy, split, epsilon."""
    columns: dict[str, list[Any]] = {"protocol": [each.protocol for each in settings]}
    if any(each.parameters for each in settings):
        columns["parameters"] = [
            json.dumps(each.key["parameters"], sort_keys=True) if each.parameters else "" for each in settings
        ]
    return columns | {
        "strategy": [each.strategy for each in settings],
        "split": [each.split for each in settings],
        "epsilon": [np.nan if each.epsilon is None else float(each.epsilon) for each in settings],
    }


def _cells(results: Results) -> tuple[dict[str, list[Any]], tuple[list[int], list[int]]]:
    """Return what tells cells apart, and their places in the arrays."""
    outcomes = results.outcomes
    columns = setting_columns([outcome.cell.setting for outcome in outcomes])
    repeats = [outcome.cell.repeat for outcome in outcomes]
    columns["repeat"] = repeats
    columns["state"] = [DONE if outcome.failure is None else FAILED for outcome in outcomes]
    return columns, ([results.place(outcome.cell.setting) for outcome in outcomes], repeats)


def cell_columns(results: Results) -> dict[str, Any]:
    """Return one row per cell, with every measure."""
    columns, at = _cells(results)
    values = results.arrays.of_measures[at]
    return columns | {name: values[:, place] for place, name in enumerate(results.arrays.measures)}


def group_columns(results: Results) -> dict[str, Any]:
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


def data_columns(results: Results) -> dict[str, Any]:
    """Return one row per finished cell, with the disparities of the training labels."""
    columns, at = _cells(results)
    kept = [row for row, state in enumerate(columns.pop("state")) if state == DONE]
    values = results.arrays.of_data[at][kept]
    told = {name: [values[row] for row in kept] for name, values in columns.items()}
    return told | {name: values[:, place] for place, name in enumerate(results.arrays.data)}


def entity_columns(results: Results) -> dict[str, Any]:
    """Return one row per finished cell and entity that it kept, with the numbers of the entity."""
    rows = [(outcome, name, each) for outcome in results.outcomes for name, each in outcome.entities]
    columns = setting_columns([outcome.cell.setting for outcome, _, _ in rows])
    columns["repeat"] = [outcome.cell.repeat for outcome, _, _ in rows]
    columns["entity"] = [name for _, name, _ in rows]
    numbers = dict.fromkeys(name for _, _, each in rows for name in each)
    return columns | {name: [each.get(name, np.nan) for _, _, each in rows] for name in numbers}
