"""What a published table does to each group: people counted, hidden, invented, and cells that are off."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.answer.effects import EVERYBODY, EffectTable, read_matters
from evenhand.answer.harm import MEANINGLESS_DELTA
from evenhand.study.tasks.effects.options import mean_of, options_of, page_setting, see

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evenhand.answer.effects import Observation
    from evenhand.study.plan.cells import Setting
    from evenhand.study.results.base import ResultData
    from evenhand.study.tasks.release.task import ReleaseTask


def effects(task: ReleaseTask, results: ResultData, *, page: Setting | None = None) -> EffectTable:
    """Return the table of effects; other mechanisms and steps at the page's guarantee are remedies."""
    protected = [each for each in results.settings if each.is_protected]
    guaranteed = [each for each in protected if not _mean(results, each, "delta") >= MEANINGLESS_DELTA]
    page = page or page_setting(guaranteed or protected)
    return EffectTable(
        options_of(results, page, is_remedy=lambda setting: setting in guaranteed),
        tuple(_observe(task, results)),
        str(page),
        margins=results.facts.group_margins,
        matters=read_matters(results.plan.matters, owner="Plan"),
    )


def _observe(task: ReleaseTask, results: ResultData) -> Iterator[Observation]:
    for setting in results.settings:
        # with a model the table is that of rows which a split drew, so that nothing is exact
        is_exact = {
            name: not task.classify and _mean(results, setting, f"{name}_exact") == 1
            for name in ("bias", "error")
        }
        off_by_group = []
        for group in results.arrays.groups:
            people = _runs(results, setting, group, "counted")
            bias = _runs(results, setting, group, "expected_net")
            off = 100 * _runs(results, setting, group, "person_error")
            yield _row(setting, group, "counted", people + bias, people, people, exact=is_exact["bias"])
            yield _row(setting, group, "off", off, 0 * off, people, exact=is_exact["error"])
            for name in ("hidden", "invented"):
                seen = _runs(results, setting, group, name)
                yield _row(setting, group, name, seen, 0 * seen, people, exact=is_exact["bias"])
            if group in results.facts.groups:
                off_by_group.append((people, np.where(people > 0, off * people, 0.0)))
        counted, total = (np.sum(each, axis=0) for each in zip(*off_by_group, strict=True))
        with np.errstate(invalid="ignore"):
            yield _row(
                setting, EVERYBODY, "off", total / counted, 0 * total, counted, exact=is_exact["error"]
            )


def _row(
    setting: Setting, group: str, effect: str, after: Any, due: Any, people: Any, *, exact: bool
) -> Observation:
    """Return one value if it is exact, else one per repeat; nothing where a folder has no number of it."""
    known = np.flatnonzero(np.isfinite(after))
    if exact:
        after, due = after[known[:1]], due[known[:1]]
    size = float(np.nan_to_num(mean_of(people)))
    return see(setting, group, effect, after, due, size, basis="exact" if exact else "repeats")


def _runs(results: ResultData, setting: Setting, group: str, name: str) -> Any:
    arrays = results.arrays
    return arrays.of_groups[results.place(setting), :, arrays.groups.index(group), arrays.rates.index(name)]


def _mean(results: ResultData, setting: Setting, measure: str) -> float:
    arrays = results.arrays
    return mean_of(arrays.of_measures[results.place(setting), :, arrays.measures.index(measure)])
