"""Fairer ways to publish a table by noise of the same epsilon: sums that stay, cells that stay empty."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from evenhand.release.mechanisms.registry import MECHANISMS, TableMechanism
from evenhand.release.mechanisms.totals import measures_sums_better
from evenhand.study.tasks.shared.table_mechanisms import (
    JOIN,
    NO_STEPS,
    build_mechanism,
    noise_exceeds,
    table_setting,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evenhand.schema import Schema
    from evenhand.study.plan.cells import Setting
    from evenhand.study.plan.facts import Facts
    from evenhand.study.tasks.release.task import ReleaseTask


def remedies(task: ReleaseTask, page: Setting, facts: Facts) -> Iterator[Setting]:
    """Yield what may make a page's setting fairer at its epsilon, the simplest first.

    Counts below 0 are raised without changing the sum of any group; or kept where they were raised; or counts
    that noise alone seldom exceeds are set to 0; or sums get a part of epsilon of their own. All take the
    page's noise, or noise in place of blanks.
    """
    if page.epsilon is None or not set(task.post_of(page)) <= {"nonnegative", "integral"}:
        return
    noise = TableMechanism("laplace")
    if MECHANISMS[page.mechanism].may_be_negative:
        noise = TableMechanism(page.mechanism, {k: v for k, v in page.options.items() if k != "post"})
    asked = {page, *task.settings()}
    for mechanism, steps in _ways(task, noise, page, facts.schema):
        made = table_setting(mechanism, page.epsilon, post=None if steps == task.post else JOIN.join(steps))
        if made not in asked:
            yield made


def _ways(
    task: ReleaseTask, noise: TableMechanism, page: Setting, schema: Schema
) -> Iterator[tuple[TableMechanism, tuple[str, ...]]]:
    whole = tuple(step for step in task.post if step == "integral")
    places = [schema.names.index(name) + 1 for name in schema.protected_columns]
    sums = (f"keep_sums={'x'.join(map(str, places))}", *whole)
    cells = math.prod(size for name, size in schema.sizes.items() if name not in schema.protected_columns)
    if cells > 1:
        yield noise, sums
    if "nonnegative" in task.post:
        yield noise, whole or (NO_STEPS,)
    law = build_mechanism(table_setting(noise, page.epsilon), unit=task.unit).law
    if law is not None:
        yield noise, (f"cut={noise_exceeds(law)}", *whole)
    if noise.name == "laplace" and measures_sums_better(cells):
        yield TableMechanism("laplace-totals", {"by": places}), sums
