"""One row per setting: means over repeats, and changes against the unprotected setting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.measure.intervals import check_level
from evenhand.study.plan.cells import Setting
from evenhand.study.results.estimates import note_of
from evenhand.study.results.frames import setting_columns
from evenhand.study.results.intervals import Means, check_kind, means_of
from evenhand.study.results.measure_names import measure_named
from evenhand.study.results.spreads import why_no_interval

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from evenhand.study.results.base import ResultData
    from evenhand.study.results.intervals import Kind
    from evenhand.study.tasks.base import Task

__all__ = ["Summary", "long_columns", "summarized", "wide_columns"]


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


def summarized(
    results: ResultData, measures: str | Iterable[str] | None, *, level: float, kind: Kind, owner: str
) -> Summary:
    """Return the summary of some measures, by default those that the plan names."""
    level = check_level(level, owner=owner)
    arrays = results.arrays
    asked = results.plan.measures if measures is None else measures
    listed = [asked] if isinstance(asked, str) else list(asked)
    names = tuple(measure_named(each, arrays.measures, parameter="measures", owner=owner) for each in listed)
    kind = check_kind(kind, owner=owner)
    values = np.moveaxis(arrays.of_measures[..., [arrays.measures.index(name) for name in names]], 1, 2)
    changes = values - values[results.place(Setting())]

    task = results.plan.task
    described = [task.measure(name) for name in names]

    def estimate_means(runs: NDArray[np.float64]) -> Means:
        found = [
            means_of(runs[:, at], task=task, kind=kind, level=level, spread=measure.spread)
            for at, measure in enumerate(described)
        ]
        return Means(*(np.stack(part, axis=1) for part in zip(*found, strict=True)))

    return Summary(
        results.settings,
        names,
        estimate_means(values).within(*zip(*(measure.limits for measure in described), strict=True)),
        estimate_means(changes).within(*zip(*(measure.change_limits for measure in described), strict=True)),
        results.plan.repeats,
        level,
        kind,
        task,
    )


def wide_columns(summary: Summary) -> dict[str, Any]:
    """Return one row per setting, with the columns of each measure one after the other."""
    columns: dict[str, Any] = dict(setting_columns(summary.settings, summary.task))
    for at, name in enumerate(summary.measures):
        value, change = ([part[:, at] for part in each] for each in (summary.value, summary.change))
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
    value, change = ([part.reshape(-1) for part in each] for each in (summary.value, summary.change))
    measures = list(summary.measures) * len(summary.settings)
    notes = [
        note_of(
            int(runs),
            summary.repeats - int(runs),
            error=float(error),
            why=""
            if summary.kind == "student"
            else why_no_interval(summary.task.measure(name).spread, int(runs), error=float(error)),
        )
        for runs, error, name in zip(value[4], value[1], measures, strict=True)
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
