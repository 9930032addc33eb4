"""What a collection does to each group: effects of the model that learns from reports."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from evenhand.answer.effects import EffectTable
from evenhand.study.plan.cells import canonical
from evenhand.study.tasks.effects.classifiers import observe_classifiers
from evenhand.study.tasks.effects.options import options_of, page_setting
from evenhand.study.tasks.shared.optimal_setting import NAME, OptimalWay
from evenhand.study.tasks.shared.protection import strategy_of
from evenhand.study.tasks.shared.report_settings import protocol_parameters

if TYPE_CHECKING:
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
    page = page or page_setting(protected)
    remedies = set(find_remedies(protected, page, schema))
    options = options_of(results, page, is_remedy=remedies.__contains__, simplicity=_simplicity)
    counted = {str(each): _epsilon_in_all(each) for each in protected if each.mechanism == NAME}
    return EffectTable(
        tuple(replace(each, epsilon=counted.get(each.name, each.epsilon)) for each in options),
        tuple(observe_classifiers(results, test=None if task.folds else task.test)),
        str(page),
        margins=results.facts.group_margins,
    )


def find_remedies(settings: list[Setting], page: Setting, schema: Schema) -> list[Setting]:
    """Return the other ways to report at the page's epsilon that promise at least as much.

    A way that draws the same reports as another, as the automatic protocol does where it is GRR, is not
    tried twice. A way that leaves a column in the clear promises less, and so does one that looks at the
    true outcomes first.
    """
    hidden, seen, found = set(strategy_of(page, schema).columns), {reports_of(page, schema)}, []
    for setting in settings:
        reports = reports_of(setting, schema)
        if setting.epsilon != page.epsilon or reports in seen:
            continue
        seen.add(reports)
        looks = setting.mechanism == NAME and OptimalWay.of(setting).outcomes in _COUNTED
        if not looks and hidden <= set(strategy_of(setting, schema).columns):
            found.append(setting)
    return found


def reports_of(setting: Setting, schema: Schema) -> Any:
    """Return what settings that draw the same reports have in common."""
    if setting.mechanism == NAME:
        return setting.id
    strategy = strategy_of(setting, schema)
    laws = tuple(
        (column, protocol.name.removesuffix("-decoded"), round(float(protocol.epsilon), 6))
        for column, protocol in strategy.protocols.items()
    )
    ways = "" if len(laws) == 1 else strategy.name
    return ways, laws, canonical(protocol_parameters(setting))


def _simplicity(setting: Setting) -> int:
    """Return how much a way asks of whoever collects: a protocol, then joint reports, then outcome rates."""
    return 2 * (setting.mechanism == NAME) + (setting.option("strategy") == "combined")


def _epsilon_in_all(setting: Setting) -> float:
    """Return the epsilon of a report by the optimal protocol with what counting the groups costs."""
    return float(setting.epsilon or 0) + float(OptimalWay.of(setting).budget or 0)
