"""Tell what a published table does to a group: people counted, hidden, invented, and cells that are off."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.answer.effects import EVERYBODY, EffectTable, read_matters
from evenhand.answer.harm import MEANINGLESS_DELTA
from evenhand.release.mechanisms.registry import MECHANISMS
from evenhand.study.tasks.effects.options import (
    group_runs,
    largest_run,
    mean_of,
    measure_runs,
    options_of,
    see,
)
from evenhand.study.tasks.shared.table_mechanisms import reads_blanks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evenhand.answer.effects import Basis, Observation
    from evenhand.study.plan.cells import Setting
    from evenhand.study.results.base import ResultData
    from evenhand.study.tasks.release.task import ReleaseTask

_FEWEST_DRAWS = 3  # of which no spread of a mean is known
_KNOWN_BLANKS = ("suppression", "noisy-suppression", "thresholded-laplace")
"""Mechanisms whose chance to leave a cell blank has a formula."""


def effects(task: ReleaseTask, results: ResultData, *, page: Setting | None = None) -> EffectTable:
    """Return the table of effects; what else keeps a promise at the page's epsilon is a remedy."""
    protected = [each for each in results.settings if each.is_protected]
    guaranteed = [each for each in protected if not largest_run(results, each, "delta") >= MEANINGLESS_DELTA]
    page = page or task.find_page(guaranteed or protected)
    beside = [each for each in guaranteed if each.epsilon in (None, page.epsilon)]
    return EffectTable(
        options_of(results, page, is_remedy=beside.__contains__),
        tuple(_observe(task, results)),
        str(page),
        margins=results.facts.group_margins,
        matters=read_matters(results.plan.matters, owner="Plan"),
    )


def _observe(task: ReleaseTask, results: ResultData) -> Iterator[Observation]:
    for setting in results.settings:
        basis_of = _basis_by_effect(task, results, setting)
        off_by_group = []
        for group in results.arrays.groups:
            people = group_runs(results, setting, group, "counted")
            off = 100 * group_runs(results, setting, group, "person_error")
            after = {
                "counted": people + group_runs(results, setting, group, "expected_net"),
                "hidden": group_runs(results, setting, group, "hidden"),
                "invented": group_runs(results, setting, group, "invented"),
                "off": off,
            }
            for name in _told(setting, is_empty=mean_of(people) == 0):
                due = people if name == "counted" else 0 * after[name]
                yield _row(setting, group, name, after[name], due, people, basis=basis_of[name])
            if group in results.facts.groups:
                off_by_group.append((people, np.where(people > 0, off * people, 0.0)))
        counted, total = (np.sum(each, axis=0) for each in zip(*off_by_group, strict=True))
        with np.errstate(invalid="ignore"):
            share = total / counted
        yield _row(setting, EVERYBODY, "off", share, 0 * share, counted, basis=basis_of["off"])


def _told(setting: Setting, *, is_empty: bool) -> Iterator[str]:
    """Yield the effects that are told of a group under a setting.

    Of a group of nobody an error has no share. Where a study reads blanks as a number that no release has,
    the people in them are hidden, and neither counted nor invented.
    """
    if not (setting.is_protected and reads_blanks(setting)):
        yield from ("counted", "invented")
    yield "hidden"
    if not is_empty:
        yield "off"


def _basis_by_effect(task: ReleaseTask, results: ResultData, setting: Setting) -> dict[str, Basis]:
    """Return what limits of each effect rest on: nothing where it is exact, else noise that is drawn.

    With a model the table is that of rows which a split drew. Which cells are blank is drawn too, unless
    their chances have a formula.
    """
    bias, error = (
        not task.classify and mean_of(measure_runs(results, setting, f"{name}_exact")) == 1
        for name in ("bias", "error")
    )
    known = setting.mechanism in _KNOWN_BLANKS or not setting.is_protected
    hidden = bias and (known or not MECHANISMS[setting.mechanism].suppresses)
    drawn: Basis = "repeats" if task.classify else "draws"
    exact = {"counted": bias, "invented": bias, "hidden": hidden, "off": error}
    return {name: "exact" if known else drawn for name, known in exact.items()}


def _row(
    setting: Setting, group: str, effect: str, after: Any, due: Any, people: Any, *, basis: Basis
) -> Observation:
    """Return one value per repeat, or one in all if rows are not split; nothing where a folder has none."""
    known, error, draws = np.flatnonzero(np.isfinite(after)), 0.0, 1
    if basis == "exact":
        after, due = after[known[:1]], due[known[:1]]
    elif basis == "draws" and known.size:
        drawn = (after - due)[known]
        free = known.size - _FEWEST_DRAWS  # the spread of Student's t, of so many releases
        error = (
            math.inf if free <= 0 else float(drawn.std(ddof=1)) * math.sqrt((free + 2) / free / known.size)
        )
        after, due, draws = np.array([mean_of(after)]), np.array([mean_of(due)]), known.size
    size = float(np.nan_to_num(mean_of(people)))
    return see(setting, group, effect, after, due, size, basis=basis, error=error, draws=draws)
