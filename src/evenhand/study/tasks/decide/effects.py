"""What a decision from noisy counts does to groups of people, to entities by size, and one by one."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from evenhand.answer.effects import EVERYBODY, EffectTable, Observation, read_matters
from evenhand.study.tasks.decide.methods import method_of
from evenhand.study.tasks.decide.names import ENTITY_SIZES, entity_size_of
from evenhand.study.tasks.effects.options import options_of, page_setting

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from evenhand.answer.effects import Basis
    from evenhand.study.plan.cells import Setting
    from evenhand.study.results.base import ResultData
    from evenhand.study.store.outcome import Outcome
    from evenhand.study.tasks.decide.task import DecideTask


def effects(task: DecideTask, results: ResultData, *, page: Setting | None = None) -> EffectTable:
    """Return the table of effects; mitigations and other steps at the page's guarantee are remedies."""
    protected = [each for each in results.settings if each.is_protected]
    typed = [each for each in protected if "post" in each.options] if task.post else protected
    page = page or page_setting([each for each in typed if method_of(each)[1] is None] or protected)
    outcomes = [outcome for outcome in results.outcomes if outcome.failure is None]
    entities = {name for outcome in outcomes for name, _ in outcome.entities or ()}
    return EffectTable(
        options_of(results, page, is_remedy=lambda setting: setting.epsilon == page.epsilon),
        tuple(seen for outcome in outcomes for seen in _observe(task, outcome, results.facts.rows)),
        str(page),
        entities=frozenset(entities),
        matters=read_matters(results.plan.matters, owner="Plan"),
    )


def _observe(task: DecideTask, outcome: Outcome, entities: int) -> Iterator[Observation]:
    """Yield the effects of one cell, which is computed once: of groups of people, or of classes by size."""
    if outcome.cell.repeat:
        return
    see = _see_right if task.is_rule else _see_money
    exact = outcome.measures.get("exact") == 1
    one_by_one = _entities(outcome, scale=1.0 if task.budget is None else task.budget)
    groups = outcome.groups
    if not groups and len(one_by_one) == entities:  # a cell keeps all of them where they are few
        groups = _classes(one_by_one)
    for group, numbers in {**groups, **one_by_one}.items():
        yield from see(outcome, group, numbers, exact=exact)
    everybody = groups or one_by_one
    due = math.fsum(numbers["due"] for numbers in everybody.values())
    people = math.fsum(numbers["people"] for numbers in everybody.values())
    gains = [
        numbers["granted"] - numbers["refused"] if task.is_rule else numbers["gain"]
        for numbers in everybody.values()
    ]
    yield _row(outcome, EVERYBODY, "in_all", due + math.fsum(gains), due, people, exact=exact)


def _classes(entities: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
    """Return the sums of entities by their size."""
    found: dict[str, dict[str, float]] = {}
    for numbers in entities.values():
        label = ENTITY_SIZES[int(entity_size_of(numbers["people"]))].label
        sums = found.setdefault(label, dict.fromkeys(numbers, 0.0))
        for name, value in numbers.items():
            sums[name] += value
    return found


def _see_right(
    outcome: Outcome, group: str, numbers: Mapping[str, float], *, exact: bool
) -> Iterator[Observation]:
    """Yield how many of 1,000 who hold a right lose it by error, and of 1,000 others gain it."""
    holding = numbers["due"]
    for effect, people in (("refused", holding), ("granted", numbers["people"] - holding)):
        if people > 0:
            yield _row(outcome, group, effect, 1000 * numbers[effect] / people, 0.0, people, exact=exact)


def _see_money(
    outcome: Outcome, group: str, numbers: Mapping[str, float], *, exact: bool
) -> Iterator[Observation]:
    """Yield what a group is expected to be paid beside what is due to it, and its chance of a bill."""
    due, people = numbers["due"], numbers["people"]
    yield _row(outcome, group, "short", due + numbers["gain"], due, people, exact=exact)
    if "billed" in numbers:
        yield _row(outcome, group, "billed", 100 * numbers["billed"], 0.0, people, exact=exact)


def _entities(outcome: Outcome, *, scale: float) -> dict[str, dict[str, float]]:
    """Return the numbers of each entity that the cell kept, in the form of those of a group."""
    found = {}
    for name, numbers in outcome.entities or ():
        people = numbers["size"]
        if "flip" in numbers and math.isfinite(numbers["flip"]):
            holds = bool(numbers["truth"])
            found[name] = {
                "people": people,
                "due": people if holds else 0.0,
                "refused": people * numbers["flip"] * holds,
                "granted": people * numbers["flip"] * (not holds),
            }
        else:
            found[name] = {
                "people": people, "due": scale * numbers["truth"], "gain": scale * numbers["bias"],
            }  # fmt: skip
    return found


def _row(
    outcome: Outcome, group: str, effect: str, after: float, due: float, people: float, *, exact: bool
) -> Observation:
    name = str(outcome.cell.setting)
    basis: Basis = "exact" if exact else "draws"
    return Observation(name, group, effect, np.array([after]), np.array([due]), people, basis)
