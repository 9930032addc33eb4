"""What a decision from noisy counts is off by: in all, by size, by group of people, and one by one."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from evenhand.decide.language.distance import distances
from evenhand.decide.result.breakdown import error_of_sum, group_shares, parts_of_groups
from evenhand.decide.result.risks import draw_risks
from evenhand.study.tasks.decide.names import (
    ALLOTMENT_GROUP_NUMBERS,
    ENTITY_SIZES,
    RULE_GROUP_NUMBERS,
    entity_size_of,
)

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    from evenhand.decide.language.rule import Rule
    from evenhand.decide.result.decided import Decided
    from evenhand.privacy.randomness import SeededSource

    Values = NDArray[np.float64]

_AT_RISK = 0.05  # from this chance of a wrong decision on
_MOST_ENTITIES = 300


def errors_of_a_decision(decided: Decided, *, money: float = 1.0) -> dict[str, float]:
    """Return the measures of all entities together; amounts of an allotment are in money, 1 for shares."""
    errors, bias, is_rule = decided.typical_error, decided.bias, decided.kind == "rule"
    scale = 1.0 if is_rule else money
    bound = decided.error_bound if decided.standard_error is None else decided.standard_error
    found = {
        "alpha": decided.alpha * scale,
        "exact": float(decided.exact),
        "error_bound": (math.nan if bound is None else float(np.max(bound))) * scale,
    }
    if is_rule:
        truth = decided.truth
        return found | {
            "mean_error": float(errors.mean()),
            "largest_flip": float(errors.max()),
            "expected_wrong": float(errors.sum()),
            "expected_refused": float(errors[truth].sum()),
            "expected_granted": float(errors[~truth].sum()),
            "at_risk": float((errors >= _AT_RISK).sum()),
            "at_risk_of_loss": float((errors[truth] >= _AT_RISK).sum()),
        }
    is_known = bool(np.isfinite(errors).all())
    return found | {
        "mean_error": float(errors.mean()) * money if is_known else math.nan,
        "largest_misallocation": float(np.abs(bias).max()) * money,
        "largest_error": float(errors.max()) * money if is_known else math.nan,
        "moved": float(np.abs(bias).sum()) / 2 * money,
        "cost_of_privacy": float(np.abs(bias[bias < 0]).sum()) * money,
        "overspent": math.fsum(bias) * money,
    }


def errors_by_entity_size(decided: Decided, *, money: float = 1.0) -> dict[str, float]:
    """Return, for each class of entities by their size, how many there are and their means.

    A class of nobody has no means, and what has no share of what is due is left out of theirs.
    """
    is_rule, errors, truth = decided.kind == "rule", decided.typical_error, decided.truth
    scale, nothing = 1.0 if is_rule else money, np.full(len(decided), math.nan)
    parts = {
        "size": decided.sizes.astype(np.float64),
        "gain": decided.bias * scale,
        "error": errors * scale,
        "relative": nothing if is_rule else np.divide(errors, truth, out=nothing.copy(), where=truth > 0),
        "flip": decided.flip if is_rule else nothing,
    }
    classes = entity_size_of(parts["size"])

    def by_class(where: Any = slice(None), **options: Any) -> Values:
        return np.bincount(classes[where], minlength=len(ENTITY_SIZES), **options).astype(np.float64)

    columns = {"entities": by_class()}
    for name, values in parts.items():
        known = np.isfinite(values) if name == "relative" else slice(None)
        with np.errstate(invalid="ignore"):
            columns[name] = by_class(known, weights=values[known]) / by_class(known)
    return {
        f"{name}_{size.key}": float(column[at])
        for name, column in columns.items()
        for at, size in enumerate(ENTITY_SIZES)
    }


def numbers_by_group(decided: Decided, *, budget: float | None = None) -> dict[str, dict[str, float]]:
    """Return what each group of people is due, and what it gains or loses; nothing without populations."""
    if not decided.populations:
        return {}
    is_rule = decided.kind == "rule"
    names = RULE_GROUP_NUMBERS if is_rule else ALLOTMENT_GROUP_NUMBERS
    shares = group_shares(decided, budget=None if is_rule else budget)
    return {each.group: {name: float(getattr(each, name)) for name in names} for each in shares.groups}


# --- single releases ------------------------------------------------------------------------------


def risks_of(
    decided: Decided, *, money: float, source: SeededSource
) -> tuple[dict[str, NDArray[Any]], dict[str, float], dict[str, dict[str, float]]]:
    """Return what single releases do to entities, to all and to classes by size, and to groups of people.

    Of an allotment, entities have the chance of a payment below zero (``billed``) and what they are paid in
    the worst 1 of 20 releases (``worst``), as shares; all have the chance of any bill (``billed_any``) and in
    how many releases it was counted (``billed_draws``, 0 where it is exact); classes and groups have
    ``worst``, in money, and where figures were sampled ``gain_error``. Of a rule that was sampled they have
    ``refused_error`` and ``granted_error``.
    """
    sizes = decided.sizes.astype(np.float64)
    classes = entity_size_of(sizes)
    places = sorted(set(classes.tolist()))
    people = np.array([*decided.populations.values()], dtype=np.float64).reshape(-1, len(decided))
    members = np.array([classes == place for place in places], dtype=np.float64)
    columns: dict[str, NDArray[Any]] = {}
    data: dict[str, float] = {}
    numbers: list[dict[str, float]] = []
    if decided.kind == "rule":
        numbers = _rule_errors(decided, np.concatenate([people, members * sizes]))
    elif risks := draw_risks(
        decided, np.concatenate([parts_of_groups(people), members]), money=money, source=source
    ):
        columns = {"billed": risks.billed, "worst": risks.worst}
        data = {"billed_any": risks.billed_any, "billed_draws": risks.draws}
        numbers = [{"worst": float(worst)} for worst in risks.sums_worst]
        for each, error in zip(numbers, () if risks.sums_error is None else risks.sums_error, strict=False):
            each["gain_error"] = float(error)
    for place, of_class in zip(places, numbers[len(people) :], strict=False):
        data |= {f"{name}_{ENTITY_SIZES[place].key}": value for name, value in of_class.items()}
    return columns, data, dict(zip(decided.populations, numbers, strict=False))


def _rule_errors(decided: Decided, people: Values) -> list[dict[str, float]]:
    """Return the standard errors of the people refused and granted in each row; none where it is exact."""
    if decided.standard_error is None:
        return []
    who = {"refused_error": decided.truth, "granted_error": ~decided.truth}
    return [
        {name: error_of_sum(row[which], coupled=decided.coupled) for name, which in who.items()}
        for row in people * decided.standard_error
    ]


# --- one by one -----------------------------------------------------------------------------------


def entity_columns(decided: Decided, *, rule: Rule | None = None) -> dict[str, Values]:
    """Return numbers of every entity.

    They are its count, the true share or decision, the bias, the typical error, the chance of a wrong
    decision, how many people it is from the line, and its place in the data.
    """
    nothing = np.full(len(decided), math.nan)
    return {
        "size": decided.sizes.astype(np.float64),
        "truth": decided.truth.astype(np.float64),
        "bias": decided.bias,
        "error": decided.typical_error,
        "flip": decided.flip if decided.kind == "rule" else nothing,
        "distance": distances(rule, decided.counts) if rule is not None else nothing,
        "place": np.arange(len(decided), dtype=np.float64),
    }


def kept_entities(
    decided: Decided, *, rule: Rule | None = None, most: int = _MOST_ENTITIES
) -> tuple[tuple[str, dict[str, float]], ...]:
    """Return the entities that a cell keeps, the most affected first.

    All of them if there are few. Otherwise half are those that are most affected, and half are spread evenly
    over all others in the order of their sizes, so that a picture of them shows every size.
    """
    columns = entity_columns(decided, rule=rule)
    order = np.argsort(-np.abs(columns["bias"]), kind="stable")
    if order.size > most:
        first, rest = order[: most // 2], order[most // 2 :]
        by_size = rest[np.argsort(columns["size"][rest], kind="stable")]
        spread = by_size[np.linspace(0, by_size.size - 1, most - first.size).astype(np.intp)]
        order = np.concatenate([first, spread[np.argsort(-np.abs(columns["bias"][spread]), kind="stable")]])
    return tuple(
        (decided.names[at], {name: float(values[at]) for name, values in columns.items()})
        for at in order.tolist()
    )
