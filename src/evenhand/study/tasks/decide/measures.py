"""What a decision from noisy counts is off by, as a cell stores it: in all, by size, by group, one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evenhand.decide.result.breakdown import error_of_sum, group_shares, parts_of_groups
from evenhand.decide.result.errors import entity_columns, errors_by_size, spread_places
from evenhand.decide.result.risks import draw_risks
from evenhand.study.tasks.decide.names import (
    ALLOTMENT_GROUP_NUMBERS,
    ENTITY_SIZES,
    RULE_GROUP_NUMBERS,
    entity_size_of,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evenhand.decide.language.rule import Rule
    from evenhand.decide.result.decided import Decided
    from evenhand.privacy.randomness import SeededSource

_MOST_ENTITIES = 300


def errors_by_entity_size(decided: Decided, *, money: float = 1.0) -> dict[str, float]:
    """Return, for each class of entities by their size, how many there are and their means."""
    found = errors_by_size(decided, [size.least for size in ENTITY_SIZES], money=money)
    return {
        f"{name}_{size.key}": float(value)
        for name, values in found.items()
        for size, value in zip(ENTITY_SIZES, values, strict=True)
    }


def numbers_by_group(decided: Decided, *, budget: float | None = None) -> dict[str, dict[str, float]]:
    """Return what each group of people is due, and what it gains or loses; nothing without populations."""
    if not decided.populations:
        return {}
    is_rule = decided.kind == "rule"
    names = RULE_GROUP_NUMBERS if is_rule else ALLOTMENT_GROUP_NUMBERS
    shares = group_shares(decided, budget=None if is_rule else budget)
    return {each.group: {name: float(getattr(each, name)) for name in names} for each in shares.groups}


def kept_entities(
    decided: Decided, *, rule: Rule | None = None, most: int = _MOST_ENTITIES
) -> tuple[tuple[str, dict[str, float]], ...]:
    """Return the entities that a cell keeps one by one: the most affected, and some of every size."""
    columns = entity_columns(decided, rule=rule)
    return tuple(
        (decided.names[at], {name: float(values[at]) for name, values in columns.items()})
        for at in spread_places(decided, most)
    )


class Risks(NamedTuple):
    """What single releases do to each entity, to all and to classes by size, and to groups of people.

    Of an allotment, `columns` have the chance of a payment below zero (``billed``) and what an entity is paid
    in the worst 1 of 20 releases (``worst``), as shares; `data` has the chance of any bill (``billed_any``)
    and in how many releases it was counted (``billed_draws``, 0 where it is exact); classes and groups have
    ``worst``, in money, and where figures were sampled ``gain_error``. Of a rule that was sampled they have
    ``refused_error`` and ``granted_error``.
    """

    columns: dict[str, NDArray[Any]]
    data: dict[str, float]
    groups: dict[str, dict[str, float]]


def risks_of(decided: Decided, *, money: float, source: SeededSource) -> Risks:
    """Return what single releases do; nothing where that is not known or, for a right, exact."""
    classes = entity_size_of(decided.sizes)
    places = sorted(set(classes.tolist()))
    people = np.array([*decided.populations.values()], dtype=np.float64).reshape(-1, len(decided))
    members = np.array([classes == place for place in places], dtype=np.float64)
    columns: dict[str, NDArray[Any]] = {}
    data: dict[str, float] = {}
    numbers: list[dict[str, float]] = []
    if decided.kind == "rule" and decided.standard_error is not None:
        who = {"refused_error": decided.truth, "granted_error": ~decided.truth}
        numbers = [
            {name: error_of_sum(row[which], coupled=decided.coupled) for name, which in who.items()}
            for row in np.concatenate([people, members * decided.sizes]) * decided.standard_error
        ]
    elif decided.payments is not None:
        parts = np.concatenate([parts_of_groups(people), members])
        risks = draw_risks(decided, decided.payments, parts, money=money, source=source)
        columns = {"billed": risks.billed, "worst": risks.worst}
        data = {"billed_any": risks.billed_any, "billed_draws": risks.draws}
        sums = {"worst": risks.sums_worst, "gain_error": risks.sums_error}
        known = {name: values for name, values in sums.items() if values is not None}
        numbers = [{name: float(values[at]) for name, values in known.items()} for at in range(len(parts))]
    for place, of_class in zip(places, numbers[len(people) :], strict=False):
        data |= {f"{name}_{ENTITY_SIZES[place].key}": value for name, value in of_class.items()}
    return Risks(columns, data, dict(zip(decided.populations, numbers, strict=False)))
