"""What a decision from noisy counts is off by: in all, by size, by group of people, and one by one."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.decide.result.breakdown import group_shares
from evenhand.study.tasks.decide.names import (
    AT_RISK,
    ENTITY_NUMBERS,
    ENTITY_SIZES,
    MOST_ENTITIES,
    entity_size_of,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from evenhand.decide.language.rule import Rule
    from evenhand.decide.result.decided import Decided

    Values = NDArray[np.float64]


def typical_errors(decided: Decided) -> Values:
    """Return the root mean square error of each entity; of a rule, the chance of a wrong decision.

    Notes
    -----
    A decision is 0 or 1, so its mean absolute error is the chance that it is wrong. Where the variance of a
    share is not known the error is NaN.
    """
    if decided.kind == "rule":
        return np.asarray(decided.flip)
    return np.sqrt(np.asarray(decided.variance) + np.asarray(decided.bias) ** 2)


def errors_of_a_decision(decided: Decided, *, money: float = 1.0) -> dict[str, float]:
    """Return the measures of all entities together; amounts of an allotment are in money.

    Parameters
    ----------
    decided : Decided
    money : float
        The budget; 1 compares shares.
    """
    errors, bias = typical_errors(decided), np.asarray(decided.bias)
    found = {
        "alpha": decided.alpha * (1.0 if decided.kind == "rule" else money),
        "exact": float(decided.exact),
        "error_bound": _bound(decided) * (1.0 if decided.kind == "rule" else money),
    }
    if decided.kind == "rule":
        truth = np.asarray(decided.truth)
        return found | {
            "mean_error": float(errors.mean()),
            "largest_flip": float(errors.max()),
            "expected_wrong": float(errors.sum()),
            "expected_refused": float(errors[truth].sum()),
            "expected_granted": float(errors[~truth].sum()),
            "at_risk": float((errors >= AT_RISK).sum()),
            "at_risk_of_loss": float((errors[truth] >= AT_RISK).sum()),
        }
    known = errors[np.isfinite(errors)]
    return found | {
        "mean_error": float(known.mean()) * money if known.size == errors.size else math.nan,
        "largest_misallocation": float(np.abs(bias).max()) * money,
        "largest_error": float(known.max()) * money if known.size == errors.size else math.nan,
        "moved": float(np.abs(bias).sum()) / 2 * money,
        "cost_of_privacy": float(np.abs(bias[bias < 0]).sum()) * money,
        "overspent": math.fsum(bias) * money,
    }


def _bound(decided: Decided) -> float:
    """Return how far a computed bias may be off, or its largest standard error where it was sampled."""
    given = decided.error_bound if decided.standard_error is None else decided.standard_error
    return math.nan if given is None else float(np.max(given))


def sizes_of(decided: Decided) -> Values:
    """Return how many people are counted in each entity: the largest count that the decision looks at."""
    counts = [np.asarray(each, dtype=np.float64) for each in decided.counts.values()]
    return np.asarray(np.max(counts, axis=0)) if counts else np.zeros(len(decided))


def errors_by_entity_size(decided: Decided, *, money: float = 1.0) -> dict[str, float]:
    """Return, for each class of entities by their size, how many there are and their means."""
    sizes = sizes_of(decided)
    classes = entity_size_of(sizes)
    number = np.bincount(classes, minlength=len(ENTITY_SIZES)).astype(np.float64)
    found = {f"entities_{size.key}": float(number[at]) for at, size in enumerate(ENTITY_SIZES)}
    nothing = np.full(len(decided), math.nan)
    is_rule = decided.kind == "rule"
    scale, errors, truth = 1.0 if is_rule else money, typical_errors(decided), np.asarray(decided.truth)
    parts = {
        "size": sizes,
        "gain": np.asarray(decided.bias) * scale,
        "error": errors * scale,
        "relative": nothing if is_rule else np.divide(errors, truth, out=nothing.copy(), where=truth > 0),
        "flip": np.asarray(decided.flip) if is_rule else nothing,
    }
    for name, values in parts.items():
        means = _means(values, classes, skip=name == "relative")
        found |= {f"{name}_{size.key}": float(means[at]) for at, size in enumerate(ENTITY_SIZES)}
    return found


def _means(values: Values, classes: NDArray[np.intp], *, skip: bool) -> Values:
    """Return the mean of each class; NaN where it is empty. With `skip`, what is not known is left out."""
    known = np.isfinite(values) if skip else np.ones(values.shape, dtype=np.bool_)
    totals = np.bincount(classes[known], weights=values[known], minlength=len(ENTITY_SIZES))
    number = np.bincount(classes[known], minlength=len(ENTITY_SIZES))
    with np.errstate(invalid="ignore"):
        return np.asarray(totals / number)


def numbers_by_group(decided: Decided, *, budget: float | None = None) -> dict[str, dict[str, float]]:
    """Return what each group of people is due, and what it gains or loses; nothing without populations."""
    if not decided.populations:
        return {}
    found = {}
    for each in group_shares(decided, budget=None if decided.kind == "rule" else budget).groups:
        numbers = {"people": each.people, "due": each.due}
        if decided.kind == "rule":
            numbers |= {"refused": float(each.refused or 0), "granted": float(each.granted or 0)}
        else:
            numbers |= {"gain": each.gain, "gain_per_head": each.gain_per_head}
        found[each.group] = numbers
    return found


# --- one by one -----------------------------------------------------------------------------------


def entity_columns(decided: Decided, *, rule: Rule | None = None) -> dict[str, Values]:
    """Return the numbers of every entity: :data:`~evenhand.study.tasks.decide.names.ENTITY_NUMBERS`."""
    nothing = np.full(len(decided), math.nan)
    is_rule = decided.kind == "rule"
    return {
        "size": sizes_of(decided),
        "truth": np.asarray(decided.truth, dtype=np.float64),
        "bias": np.asarray(decided.bias),
        "error": typical_errors(decided),
        "flip": np.asarray(decided.flip) if is_rule else nothing,
        "distance": distances(rule, decided.counts) if rule is not None else nothing,
        "place": np.arange(len(decided), dtype=np.float64),
    }


def kept_entities(
    decided: Decided, *, rule: Rule | None = None, most: int = MOST_ENTITIES
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
        (decided.names[at], {name: float(columns[name][at]) for name in ENTITY_NUMBERS})
        for at in order.tolist()
    )


def distances(rule: Rule, counts: Mapping[str, Any]) -> Values:
    r"""Return how many people each entity is from the line where its decision changes.

    A comparison :math:`a \cdot x > c` is :math:`|a \cdot x - c| / \max_j |a_j|` people from changing: so many
    more or fewer in the count that weighs most. *And* is as far as the nearer of two that hold, *or* as the
    farther, and the other way round where they do not.

    Examples
    --------
    >>> from evenhand.decide.language.terms import count
    >>> distances((count("x") > 10) & (count("y") > 5), {"x": np.array([30, 30]), "y": np.array([7, 2])})
    array([2., 3.])
    """
    return np.abs(_margin(rule.linear(), counts))


def _margin(rule: Rule, counts: Mapping[str, Any]) -> Values:
    """Return the distance with a sign: above 0 where the rule holds."""
    if rule.comparison is not None:
        return _nearest_line(rule, counts)
    parts = [_margin(part, counts) for part in rule.parts]
    if rule.operation == "not":
        return -parts[0]
    if rule.operation == "xor":
        whole = parts[0]
        for part in parts[1:]:
            unequal = (whole > 0) != (part > 0)
            nearer = np.minimum(np.abs(whole), np.abs(part))
            whole = np.where(unequal, nearer, -nearer)
        return whole
    return np.asarray((np.minimum if rule.operation == "and" else np.maximum).reduce(parts))


def _nearest_line(rule: Rule, counts: Mapping[str, Any]) -> Values:
    margins = []
    for predicate in rule.predicates:
        weights = {name: float(each) for name, each in predicate.terms}
        parts = [each * np.asarray(counts[name], dtype=np.float64) for name, each in weights.items()]
        total = np.sum(parts, axis=0)
        heaviest = max((abs(each) for each in weights.values()), default=1.0)
        margins.append((total - float(predicate.bound)) / heaviest)
    return np.asarray(np.maximum.reduce(margins))
