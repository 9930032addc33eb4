"""Tell how long a study will take, from a few cells on the data itself, and how that is said."""

from __future__ import annotations

import math
import os
import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from evenhand.study.page.wording import counted
from evenhand.study.plan.cells import Cell, Setting
from evenhand.study.plan.stages import expect_confirming
from evenhand.study.run.attempt import execute

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from evenhand.study.plan.plan import Plan
    from evenhand.study.tasks.base import Prepared

_WARM, _SMALL, _LARGE = 400, 10_000, 40_000


@dataclass(frozen=True)
class Duration:
    """Seconds of a cell as a straight line in the number of rows, and what follows for the whole."""

    people: int
    """Rows of the study."""
    cells: int
    per_cell: tuple[float, float]
    """Seconds of a cell: what it takes in any case, and what a row adds."""
    workers: int
    start: float = 0.0
    """Seconds that a worker needs before its first cell."""
    timed: int = 0
    """Rows of the largest part that was timed."""

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
    seconds: float = math.inf,
    clock: Callable[[], float] = time.perf_counter,
) -> Duration:
    """Tell how long all cells take from a few cells on parts of the rows, timed in about so many seconds.

    An unprotected cell and a protected one run on a small part, first once to import and compile, then on
    larger parts as long as the last one says that they fit. By default as many cells run at the same time as
    there are processors.
    """
    mean = partial(_time_cells, plan, prepared, clock=clock)
    people, timed = prepared.facts.rows, len(_cells_to_time(plan))
    cells = len(plan.cells()) + expect_confirming(plan)
    parts = {_WARM, 5 * _WARM, _SMALL, _LARGE, *([people] if people <= _LARGE else [])}
    least, *others = sorted(rows for rows in parts if rows <= people)
    before = clock()
    mean(least)
    began = clock()
    took = {least: mean(least)}
    for rows in others:
        last = max(took)
        if clock() - began + took[last] * timed * rows / last > seconds:
            break
        took[rows] = mean(rows)
    largest = max(took)
    slope = took[largest] / largest
    if largest > least:
        slope = max(took[largest] - took[least], 0.0) / (largest - least)
    line = (max(took[largest] - slope * largest, 0.0), slope)
    count = workers or os.cpu_count() or 1
    return Duration(people, cells, line, count, began - before, largest)


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


# --- in words ------------------------------------------------------------------------------------------

_ROUND_SECONDS = sorted(
    unit * amount
    for unit, amounts in (
        (1, (*range(1, 11), 12, 14, 16, 18, 20, 25, 30, 35, 40, 45, 50, 70, 80)),
        (60, (1, 1.5, 2, 2.5, 3, 3.5, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 18, 20, 25, 30, 35, 40, 45, 50)),
        (3600, (1, 1.5, 2, 2.5, 3, 3.5, *range(4, 11), 12, 14, 16, 18, 20, 24, 28, 32, 36, 40, 48, 60)),
    )
    for amount in amounts
)


def round_range(seconds: float) -> tuple[float, float]:
    """Return two round times around an expected one, the longer at most twice the shorter.

    >>> round_range(11), round_range(150), round_range(9_000)
    ((8, 16), (120, 210.0), (7200, 12600.0))
    """
    if seconds > _ROUND_SECONDS[-1] / 2:
        hours = round(seconds / 3600 / 2**0.5)
        return 3600 * hours, 7200 * hours
    pairs = [(low, high) for low in _ROUND_SECONDS for high in _ROUND_SECONDS if low < high <= 2 * low]
    return min(pairs, key=lambda pair: max(pair[0] / seconds, seconds / pair[1]))


def spell_range(low: float, high: float) -> str:
    """Return a range of times as people say it, with its unit once unless it is a wide one.

    >>> spell_range(20, 40), spell_range(120, 180), spell_range(80, 150), spell_range(90, 180)
    ('20 to 40 s', '2 to 3 min', '80 to 150 s', '1.5 to 3 min')
    >>> spell_range(6, 360)
    '6 s to 6 min'
    """
    (unit, name), (last_unit, last_name) = _unit_of(low), _unit_of(high)
    if high > 4 * low and unit != last_unit:
        return f"{low / unit:.4g} {name} to {high / last_unit:.4g} {last_name}"
    return f"{low / unit:.4g} to {high / unit:.4g} {name}"


def _unit_of(seconds: float) -> tuple[int, str]:
    """Return the largest unit in which a time is a whole number, or a whole one and a half."""
    units = ((3600, "h"), (60, "min"), (1, "s"))
    return next(
        (unit, name) for unit, name in units if (seconds >= unit and seconds % (unit / 2) == 0) or unit == 1
    )


def spell_expected(seconds: float) -> str:
    """Return an expected time as a range.

    >>> spell_expected(150)
    'about 2 to 3.5 min'
    """
    return f"about {spell_range(*round_range(seconds))}"


def spell_remedies(plan: Plan, names: Mapping[str, str]) -> str:
    """Return what a plan tries besides what was asked for, and that the best is run again.

    Settings are told by their `names`, where they have any.
    """
    again = "what helps most is run again on fresh draws" if plan.confirm and not plan.task.is_exact else ""
    told = "none but what is asked for" if plan.confirm else ""
    if plan.remedies:
        runs = counted(len(plan.remedies) * plan.repeats, "run")
        told = f"{'; '.join(names.get(str(each)) or str(each) for each in plan.remedies)}: {runs}"
    return "; ".join(filter(None, (told, again)))


def grid_size(plan: Plan) -> str:
    """Return how many settings, repeats and runs a plan has, in words; settings are those that protect."""
    asked = [setting for setting in plan.settings() if setting not in plan.remedies]
    protected = [setting for setting in asked if setting.is_protected]
    settings, repeats = counted(len(protected), "setting"), counted(plan.repeats, "repeat")
    baseline = " and the unprotected one" if len(protected) < len(asked) else ""
    return f"{settings}{baseline}, {repeats} each: {counted(len(asked) * plan.repeats, 'run')}"
