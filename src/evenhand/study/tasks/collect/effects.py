"""What a collection does to each group: effects of the model that learns from reports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand.answer.effects import EffectTable, read_matters
from evenhand.study.tasks.effects.classifiers import observe_classifiers
from evenhand.study.tasks.effects.options import options_of, page_setting

if TYPE_CHECKING:
    from evenhand.study.plan.cells import Setting
    from evenhand.study.results.base import ResultData
    from evenhand.study.tasks.collect.task import CollectTask


def effects(task: CollectTask, results: ResultData, *, page: Setting | None = None) -> EffectTable:
    """Return the table of effects; every other way to report at the page's epsilon is a remedy."""
    page = page or page_setting([each for each in results.settings if each.is_protected])
    return EffectTable(
        options_of(results, page, is_remedy=lambda setting: setting.epsilon == page.epsilon),
        tuple(observe_classifiers(results, test=None if task.folds else task.test)),
        str(page),
        margins=results.facts.group_margins,
        unwanted=task.unwanted,
        matters=read_matters(results.plan.matters, owner="Plan"),
    )
