"""Fairer ways to decide by the same noise: lower thresholds, and nothing paid for noise alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand.decide.mitigate.registry import NamedMitigation
from evenhand.study.tasks.decide.task import decide_setting, method_of, noise_mechanism
from evenhand.study.tasks.shared.table_mechanisms import noise_exceeds

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evenhand.study.plan.cells import Setting
    from evenhand.study.plan.facts import Facts
    from evenhand.study.tasks.decide.task import DecideTask


def remedies(task: DecideTask, page: Setting, facts: Facts) -> Iterator[Setting]:  # noqa: ARG001 - as every kind's
    """Yield what may make a page's setting fairer with the same noise, the simplest first.

    A right: thresholds so low that whoever has it is refused it in at most 1 of 100, or of 20, releases.
    Money: no payment below zero, and nothing paid for counts that noise alone seldom exceeds.
    """
    asked = {page, *task.settings()}
    for method in _rule_methods() if task.is_rule else _money_methods(task, page):
        made = decide_setting(noise_mechanism(page), page.epsilon, method)
        if made not in asked:
            yield made


def _rule_methods() -> Iterator[NamedMitigation]:
    yield NamedMitigation("margin")  # for 1 refusal in 100
    yield NamedMitigation("margin", {"chance": 0.05})


def _money_methods(task: DecideTask, page: Setting) -> Iterator[Sequence[str]]:
    if set(method_of(page)[0]) <= {"nonnegative", "integral"}:
        yield ("nonnegative",)
        yield (f"cut={noise_exceeds(task.noise_of_a_count(page).law)}",)
