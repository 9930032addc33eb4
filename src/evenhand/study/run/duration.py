"""How long a study will take, from a few cells on the data itself."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from evenhand.study.plan.cells import Cell, Setting
from evenhand.study.run.attempt import execute

if TYPE_CHECKING:
    from collections.abc import Callable

    from evenhand.study.plan.plan import Plan
    from evenhand.study.tasks.base import Prepared

_WARM, _SMALL, _LARGE = 400, 10_000, 40_000


@dataclass(frozen=True)
class Duration:
    """Seconds of a cell as a straight line in the number of rows, and what follows for the whole.

    Parameters
    ----------
    people : int
        Rows of the study.
    cells : int
    per_cell : tuple of float and float
        Seconds of a cell: what it takes in any case, and what a row adds.
    workers : int
    start : float, default 0
        Seconds that a worker needs before its first cell.
    """

    people: int
    cells: int
    per_cell: tuple[float, float]
    workers: int
    start: float = 0.0

    def seconds(self, people: int | None = None) -> float:
        """Return how long all cells take with so many rows, by default with all."""
        fixed, each = self.per_cell
        rows = self.people if people is None else people
        return self.start + (fixed + each * rows) * self.cells / max(min(self.workers, self.cells), 1)

    def rows_within(self, seconds: float) -> int | None:
        """Return a round number of rows with which the cells take about so long; None if there is none.

        >>> Duration(2_000_000, 90, (0.1, 1e-5), 2).rows_within(600)
        1000000
        """
        fixed, each = self.per_cell
        share = (seconds - self.start) * max(min(self.workers, self.cells), 1) / self.cells - fixed
        rows = share / each if each > 0 else 0.0
        if rows < 1_000:
            return None
        step = 10 ** int(np.log10(rows))
        return int(rows // step * step)


def duration(
    plan: Plan,
    prepared: Prepared,
    *,
    workers: int | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> Duration:
    """Run an unprotected cell and a protected one on the data, or on parts of it, and tell how long all take.

    With many rows two parts of them are timed and a straight line is drawn through both times.

    Parameters
    ----------
    plan : Plan
    prepared : Prepared
    workers : int, optional
        Cells that run at the same time; by default as many as there are processors.
    clock : callable
        Says the time.
    """
    mean = partial(_time_cells, plan, prepared, clock=clock)
    people = prepared.facts.rows
    before = clock()
    mean(min(_WARM, people))  # imports and compiles, as each worker does once
    start = clock() - before
    small = min(_SMALL, people)
    first = mean(small)
    line = (first / 2, first / 2 / small)
    if people > small:
        large = min(_LARGE, people)
        slope = max(mean(large) - first, 0.0) / (large - small)
        line = (max(first - slope * small, 0.0), slope)
    return Duration(people, len(plan.cells()), line, workers or os.cpu_count() or 1, start)


def time_within(
    plan: Plan,
    prepared: Prepared,
    *,
    seconds: float,
    workers: int | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> tuple[Duration, int]:
    """Tell how long all cells take, from cells on parts of the rows that are timed in about so many seconds.

    An unprotected cell and a protected one run on a small part, first once to import and compile, then on
    larger parts as long as the last one says that they fit.

    Returns
    -------
    tuple of Duration and int
        And how many rows the largest part had.
    """
    mean = partial(_time_cells, plan, prepared, clock=clock)
    cells = len(_cells_to_time(plan))
    people = prepared.facts.rows
    sizes = [rows for rows in (_WARM, 5 * _WARM, _SMALL, _LARGE) if rows < people] or [people]
    mean(sizes[0])
    began, took = clock(), {sizes[0]: mean(sizes[0])}
    for rows in (*sizes[1:], *([people] if sizes[0] < people <= _LARGE else [])):
        last = max(took)
        if clock() - began + took[last] * cells * rows / last > seconds:
            break
        took[rows] = mean(rows)
    (least, first), (largest, last_time) = min(took.items()), max(took.items())
    slope = max(last_time - first, 0.0) / (largest - least) if largest > least else last_time / largest
    line = (max(last_time - slope * largest, 0.0), slope)
    return Duration(people, len(plan.cells()), line, workers or os.cpu_count() or 1), largest


def _cells_to_time(plan: Plan) -> list[Cell]:
    """Return an unprotected cell and, if there is a protected setting, one in the middle of them."""
    settings = plan.settings()
    return [Cell(Setting(), 0), *([Cell(settings[len(settings) // 2], 0)] if len(settings) > 1 else [])]


def _time_cells(plan: Plan, prepared: Prepared, rows: int, *, clock: Callable[[], float]) -> float:
    """Return how many seconds a cell of the plan takes on so many rows, on average over its settings."""
    part, took = prepared.subset(rows), []
    for cell in _cells_to_time(plan):
        start = clock()
        execute(cell, plan=plan, prepared=part)
        took.append(clock() - start)
    settings = len(plan.settings())
    weights = np.array([1, settings - 1][: len(took)]) / settings
    return float(np.dot(weights, took))
