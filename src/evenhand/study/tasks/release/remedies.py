"""Fairer ways to publish a table by noise of the same epsilon: sums stay, and so do empty cells."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand.release.mechanisms.registry import MECHANISMS, TableMechanism
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

    Counts below 0 are kept where they were raised; or raised without changing the sum of any group; or counts
    that noise alone seldom exceeds are set to 0. All take the page's noise, or noise in place of blanks.
    """
    if page.epsilon is None or not set(task.post_of(page)) <= {"nonnegative", "integral"}:
        return
    noise = TableMechanism("laplace")
    if MECHANISMS[page.mechanism].may_be_negative:
        noise = TableMechanism(page.mechanism, {k: v for k, v in page.options.items() if k != "post"})
    asked = {page.id, *(each.id for each in task.settings())}
    for steps in _steps(task, table_setting(noise, page.epsilon), facts.schema):
        made = table_setting(noise, page.epsilon, post=None if steps == task.post else JOIN.join(steps))
        if made.id not in asked:
            yield made


def _steps(task: ReleaseTask, noise: Setting, schema: Schema) -> Iterator[tuple[str, ...]]:
    whole = tuple(step for step in task.post if step == "integral")
    yield whole or (NO_STEPS,)
    groups = [schema.names.index(name) + 1 for name in schema.protected_columns]
    if len(groups) < len(schema.names):
        yield (f"keep_sums={'x'.join(map(str, groups))}", *whole)
    law = build_mechanism(noise, unit=task.unit).law
    if law is not None:
        yield (f"cut={noise_exceeds(law)}", *whole)
