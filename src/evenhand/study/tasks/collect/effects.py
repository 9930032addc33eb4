"""Tell what a collection does to each group: effects of the model that learns from reports."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from evenhand.study.plan.cells import canonical
from evenhand.study.tasks.effects.classifiers import classifier_effects
from evenhand.study.tasks.effects.options import BASELINE, options_of
from evenhand.study.tasks.shared.protection import strategy_of
from evenhand.study.tasks.shared.report_settings import (
    NAME,
    OptimalWay,
    drop_parity,
    has_parity,
    protocol_parameters,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evenhand.answer.effects import EffectTable
    from evenhand.schema import Schema
    from evenhand.study.plan.cells import Setting
    from evenhand.study.results.base import ResultData
    from evenhand.study.tasks.collect.task import CollectTask

_COUNTED = ("noisy", "exact")


def effects(task: CollectTask, results: ResultData, *, page: Setting | None = None) -> EffectTable:
    """Return the table of effects; another way to report at the page's epsilon is a remedy.

    `page` is the setting that the page is about, where it is not the one of the rule.
    """
    schema = results.facts.schema
    protected = [each for each in results.settings if each.is_protected]
    page = page or task.find_page(protected)
    twins = find_twins(protected, page, schema)

    def is_remedy(setting: Setting) -> bool:
        is_new = setting.epsilon == page.epsilon and setting not in twins
        return is_new and _keeps_promise(setting, page, schema)

    known = set(protected)

    def step_before(setting: Setting) -> Setting:
        before = drop_parity(setting)
        return before if has_parity(setting) and before in known else BASELINE

    listed = options_of(results, page, reference=step_before, is_remedy=is_remedy, simplicity=_simplicity)
    options = {each.name: each for each in listed}
    for setting in protected:
        name = str(setting)
        if setting.mechanism == NAME:
            in_all = float(setting.epsilon or 0) + float(OptimalWay.of(setting).budget or 0)
            options[name] = replace(options[name], epsilon=in_all)  # with what counting the groups costs
        if has_parity(setting):
            options[name] = replace(options[name], needs_group=True)
        if setting in twins:
            options[name] = replace(options[name], method="")  # no curve of its own
    return classifier_effects(results, options.values(), page, test=None if task.folds else task.test)


def find_twins(settings: Iterable[Setting], page: Setting, schema: Schema) -> set[Setting]:
    """Return the settings that draw the same reports as another, as "auto" does where it is GRR.

    The page's own way is the one that is kept, else the first.
    """
    seen, twins = set(), set()
    for setting in sorted(settings, key=lambda each: each.label != page.label):
        reports = (setting.epsilon, reports_of(setting, schema))
        if reports in seen:
            twins.add(setting)
        seen.add(reports)
    return twins


def _keeps_promise(setting: Setting, page: Setting, schema: Schema) -> bool:
    """Return whether a way promises at least as much as the page's.

    One that leaves a column in the clear does not, nor one that looks at the true outcomes first.
    """
    hidden, own = (set(strategy_of(each, schema).columns) for each in (page, setting))
    looks = setting.mechanism == NAME and OptimalWay.of(setting).outcomes in _COUNTED
    return hidden <= own and not looks


def reports_of(setting: Setting, schema: Schema) -> Any:
    """Return what settings that draw the same reports have in common."""
    if setting.mechanism == NAME or has_parity(setting):
        return setting.id
    strategy = strategy_of(setting, schema)
    laws = tuple(
        (column, protocol.name.removesuffix("-decoded"), round(float(protocol.epsilon), 6))
        for column, protocol in strategy.protocols.items()
    )
    ways = "" if len(laws) == 1 else strategy.name
    return ways, laws, canonical(protocol_parameters(setting))


def _simplicity(setting: Setting) -> int:
    """Return how much a way asks of whoever collects: a protocol, joint reports, outcome rates, groups."""
    joint = int(setting.option("strategy") == "combined")
    return joint + 2 * (setting.mechanism == NAME) + 4 * has_parity(setting)
