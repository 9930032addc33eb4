"""Tell what private training does to each group, step by step: plain, private, private with a remedy."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from evenhand.study.plan.cells import Setting
from evenhand.study.tasks.effects.classifiers import classifier_effects
from evenhand.study.tasks.effects.options import BASELINE, options_of
from evenhand.study.tasks.learn.methods import METHODS

if TYPE_CHECKING:
    from evenhand.answer.effects import EffectTable, Option
    from evenhand.study.results.base import ResultData
    from evenhand.study.tasks.learn.methods import Method
    from evenhand.study.tasks.learn.task import LearnTask


def effects(task: LearnTask, results: ResultData, *, page: Setting | None = None) -> EffectTable:
    """Return the table of effects; parity and FERMI are remedies of private training.

    `page` is the setting that the page is about, where it is not the one of the rule: the first method
    that is private and nothing else, at the epsilon nearest to 1.
    """
    known = {setting.id: setting for setting in results.settings}
    protected = [each for each in results.settings if each.is_protected]
    asked = [each for each in protected if each not in results.plan.remedies]
    page = page or (task.find_page(asked) if asked else BASELINE)

    def step_before(setting: Setting) -> Setting:
        method = METHODS[setting.mechanism]
        if method.then:
            before = Setting(method.base, setting.epsilon)
        elif method.base == "fermi":
            before = Setting("dp", setting.epsilon)
        else:
            return BASELINE
        return known.get(before.id, BASELINE)

    def is_remedy(setting: Setting) -> bool:
        method, trusts_nobody = METHODS[setting.mechanism], METHODS[page.mechanism].base == "local"
        same = setting.epsilon == page.epsilon and setting.mechanism != page.mechanism
        return same and not task.is_first_step(setting) and not method.voids and not trusts_nobody

    options = options_of(results, page, reference=step_before, is_remedy=is_remedy, simplicity=_simplicity)
    claims = {str(each): METHODS[each.mechanism] for each in protected}
    stated = (_state_claim(each, claims.get(each.name)) for each in options)
    return classifier_effects(results, stated, page, test=task.test)


def _state_claim(option: Option, method: Method | None) -> Option:
    """Return an option with its guarantee: none after projection, and none is claimed without privacy."""
    if method is None or (method.takes_epsilon and not method.voids):
        return option
    return replace(option, epsilon=float("inf"), delta=option.delta if method.takes_epsilon else 0.0)


def _simplicity(setting: Setting) -> int:
    """Return how much a method changes: decisions, then training, then both."""
    method = METHODS[setting.mechanism]
    return bool(method.then) + 2 * (method.base == "fermi")
