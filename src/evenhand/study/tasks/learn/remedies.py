"""Other ways to train that may be fairer within the same epsilon."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand.study.plan.cells import Setting
from evenhand.study.tasks.learn.methods import METHODS

if TYPE_CHECKING:
    from evenhand.study.plan.facts import Facts
    from evenhand.study.tasks.learn.task import LearnTask


def remedies(task: LearnTask, page: Setting, facts: Facts) -> tuple[Setting, ...]:
    """Return parity after the page's training and FERMI, and the training alone if it was not asked for.

    Reports have no remedy: whoever trains by another method must be trusted with the rows.
    """
    base = METHODS[page.mechanism].base
    if page.epsilon is None or base == "local" or len(facts.groups) < 2:
        return ()
    asked = set(task.settings())
    wanted = dict.fromkeys((base, f"{base}+parity", "fermi"))
    settings = [Setting(name, page.epsilon, label=METHODS[name].title) for name in wanted]
    return tuple(each for each in settings if each not in asked and each != page)
