"""The outcomes of a study as arrays by setting and repeat, built once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from evenhand.study.plan.cells import Setting
    from evenhand.study.store.outcome import Outcome
    from evenhand.study.tasks.base import Task

__all__ = ["ResultArrays", "gathered"]


@dataclass(frozen=True)
class ResultArrays:
    """Every number of a study; NaN where a cell has none, or was not run, or failed.

    Parameters
    ----------
    places : mapping of str to int
        The place of each setting along the first axis, by its canonical name.
    measures, groups, rates, data : tuple of str
        Names along the last axes.
    of_measures : array, settings x repeats x measures
    of_groups : array, settings x repeats x groups x rates
    of_data : array, settings x repeats x data
    done : array of bool, settings x repeats
        Which cells have a result.
    """

    places: Mapping[str, int]
    measures: tuple[str, ...]
    groups: tuple[str, ...]
    rates: tuple[str, ...]
    data: tuple[str, ...]
    of_measures: NDArray[np.float64]
    of_groups: NDArray[np.float64]
    of_data: NDArray[np.float64]
    done: NDArray[np.bool_]


def gathered(
    settings: Sequence[Setting],
    repeats: int,
    groups: Sequence[str],
    outcomes: Sequence[Outcome],
    *,
    task: Task,
) -> ResultArrays:
    """Return the arrays of the outcomes of a plan's settings."""
    places = {setting.id: place for place, setting in enumerate(settings)}
    at = [(places[outcome.cell.setting.id], outcome.cell.repeat) for outcome in outcomes]
    measures = _names(task.measures, (outcome.measures for outcome in outcomes))
    labels = _names(groups, (outcome.groups for outcome in outcomes))
    rates = _names(task.group_numbers, (row for outcome in outcomes for row in outcome.groups.values()))
    data = _names(task.data_numbers, (outcome.data for outcome in outcomes))
    shape = (len(settings), repeats)
    of_measures = np.full((*shape, len(measures)), np.nan)
    of_groups = np.full((*shape, len(labels), len(rates)), np.nan)
    of_data = np.full((*shape, len(data)), np.nan)
    done = np.zeros(shape, dtype=np.bool_)
    for place, outcome in zip(at, outcomes, strict=True):
        done[place] = outcome.failure is None
        of_measures[place] = [outcome.measures.get(name, np.nan) for name in measures]
        of_data[place] = [outcome.data.get(name, np.nan) for name in data]
        for at_group, label in enumerate(labels):
            of_groups[place][at_group] = [outcome.groups.get(label, {}).get(rate, np.nan) for rate in rates]
    for array in (of_measures, of_groups, of_data, done):
        array.flags.writeable = False
    return ResultArrays(places, measures, labels, rates, data, of_measures, of_groups, of_data, done)


def _names(first: Iterable[str], found: Iterable[Mapping[str, object]]) -> tuple[str, ...]:
    """Return the names that are always there, then others in alphabetical order."""
    known = tuple(first)
    seen: set[str] = set()
    for mapping in found:
        seen.update(mapping)
    return (*known, *sorted(seen.difference(known)))
