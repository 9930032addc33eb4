"""Other ways to collect that may be fairer at the same epsilon."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from evenhand.collect.joint.combined import MOST_PRODUCT_CELLS
from evenhand.errors import EvenhandError
from evenhand.study.tasks.collect.effects import reports_of
from evenhand.study.tasks.shared.report_settings import (
    NAME,
    add_parity,
    check_encoder,
    check_optimal,
    has_long_outcome,
    has_parity,
    protocol_parameters,
    report_setting,
    why_not_optimal,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evenhand.schema import Schema
    from evenhand.study.plan.cells import Setting
    from evenhand.study.plan.facts import Facts
    from evenhand.study.tasks.collect.task import CollectTask


def remedies(task: CollectTask, page: Setting, facts: Facts) -> tuple[Setting, ...]:
    """Return other ways to report what the page's setting does, and parity, which needs the true groups.

    Ways that draw the same reports as one that is asked for are left out.
    """
    schema = facts.schema
    known = [reports_of(each, schema) for each in task.settings() if each.epsilon == page.epsilon]
    found = []
    for setting in _ways(page, schema):
        reports = reports_of(setting, schema)
        if reports not in known and _can_run(task, setting, schema):
            known.append(reports)
            found.append(setting)
    is_evened = has_parity(page) or len(facts.groups) < 2
    return tuple(found) if is_evened else (*found, add_parity(page))


def _ways(page: Setting, schema: Schema) -> Iterator[Setting]:
    """Yield the optimal split, joint reports of few values, and the optimal protocol, where they apply."""
    split, strategy = str(page.option("split")), str(page.option("strategy"))
    name, epsilon = page.mechanism, page.epsilon
    cells = math.prod(schema[column].size for column in schema.sensitive)
    if strategy == "independent" and len(schema.sensitive) > 1:
        yield report_setting(name, epsilon, "optimal", strategy, protocol_parameters(page))
        if cells <= MOST_PRODUCT_CELLS and not has_long_outcome(schema):
            yield report_setting("grr", epsilon, strategy="combined")
    if name != NAME and not why_not_optimal(schema):
        yield report_setting(NAME, epsilon, split, strategy)


def _can_run(task: CollectTask, setting: Setting, schema: Schema) -> bool:
    try:
        check_encoder(task.encoder, setting)
        check_optimal(schema, [setting])
    except EvenhandError:
        return False
    return True
