"""What private training does to each group, step by step: plain, private, private with a remedy."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from evenhand.answer.effects import EffectTable, read_matters
from evenhand.study.plan.cells import Setting
from evenhand.study.tasks.effects.classifiers import observe_classifiers
from evenhand.study.tasks.effects.options import BASELINE, options_of, page_setting
from evenhand.study.tasks.learn.methods import METHODS

if TYPE_CHECKING:
    from evenhand.study.results.base import ResultData
    from evenhand.study.tasks.learn.task import LearnTask


def effects(task: LearnTask, results: ResultData, *, page: Setting | None = None) -> EffectTable:
    """Return the table of effects; parity, projection and FERMI are remedies of private training."""
    known = {setting.id: setting for setting in results.settings}
    private = [each for each in results.settings if each.is_protected and _is_first_step(each)]
    page = page or page_setting(
        private or [each for each in results.settings if each.is_protected] or [BASELINE]
    )

    def step_before(setting: Setting) -> Setting:
        method = METHODS[setting.mechanism]
        if method.then:
            before = Setting(method.base, setting.epsilon)
        elif method.base == "fermi":
            before = Setting("dp", setting.epsilon)
        else:
            return BASELINE
        return known.get(before.id, BASELINE)

    options = options_of(
        results, page, reference=step_before, is_remedy=lambda setting: not _is_first_step(setting)
    )
    voided = {str(each) for each in results.settings if each.is_protected and METHODS[each.mechanism].voids}
    return EffectTable(
        tuple(replace(each, epsilon=float("inf")) if each.name in voided else each for each in options),
        tuple(observe_classifiers(results, test=task.test)),
        str(page),
        margins=results.facts.group_margins,
        unwanted=task.unwanted,
        matters=read_matters(results.plan.matters, owner="Plan"),
    )


def _is_first_step(setting: Setting) -> bool:
    """Return whether a setting is private and nothing else: no parity, no projection, no penalty."""
    method = METHODS[setting.mechanism]
    return method.takes_epsilon and not method.then and method.base != "fermi"
