"""Errors of a result by name: of all entities together, by their size, and one by one."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.decide.language.distance import distances

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from evenhand.decide.language.rule import Rule
    from evenhand.decide.result.decided import Decided

    Values = NDArray[np.float64]

_AT_RISK = 0.05  # from this chance of a wrong decision on
_RESULTS = frozenset(
    (
        "entity", "truth", "bias", "flip", "distance", "error", "error_bound", "standard_error",
        "truth_in_money", "bias_in_money", "error_in_money",
    )
)  # fmt: skip


def errors_in_all(decided: Decided, *, money: float = 1.0) -> dict[str, float]:
    """Return measures of all entities together; amounts of an allotment are in money, 1 compares shares.

    ``mean_error`` and ``largest_error`` are typical errors, NaN where one of them is not known;
    ``error_bound`` is how far a computed bias may be off, or its largest standard error where it was sampled.
    """
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


def errors_by_size(decided: Decided, starts: Sequence[int], *, money: float = 1.0) -> dict[str, Values]:
    """Return, for each class of entities by their size, how many there are and the means of their numbers.

    A class begins at each of the `starts`, of which the first is 0. The mean of nobody is NaN, and entities
    to which nothing is due are left out of ``relative``, the error as a share of what is due.
    """
    is_rule, errors, truth = decided.kind == "rule", decided.typical_error, decided.truth
    scale, nothing = 1.0 if is_rule else money, np.full(len(decided), math.nan)
    parts = {
        "size": decided.sizes,
        "gain": decided.bias * scale,
        "error": errors * scale,
        "relative": nothing if is_rule else np.divide(errors, truth, out=nothing.copy(), where=truth > 0),
        "flip": decided.flip if is_rule else nothing,
    }
    classes = np.searchsorted(starts, decided.sizes, side="right") - 1

    def add_up(which: Any = slice(None), **weights: Any) -> Values:
        return np.bincount(classes[which], minlength=len(starts), **weights).astype(np.float64)

    found = {"entities": add_up()}
    for name, values in parts.items():
        known = np.isfinite(values) if name == "relative" else slice(None)
        with np.errstate(invalid="ignore"):
            found[name] = add_up(known, weights=values[known]) / add_up(known)
    return found


def entity_columns(decided: Decided, *, rule: Rule | None = None) -> dict[str, Values]:
    """Return numbers of every entity.

    They are its count, the true share or decision, the bias, the typical error, the chance of a wrong
    decision, how many people it is from the line of the rule, and its place in the data.
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


def spread_places(decided: Decided, most: int) -> list[int]:
    """Return the places of so many entities, the most affected first.

    All of them if there are few. Otherwise half are those that are most affected, and half are spread evenly
    over all others in the order of their sizes, so that a picture of them shows every size.
    """
    sizes, affected = decided.sizes, -np.abs(decided.bias)
    order = np.argsort(affected, kind="stable")
    if order.size > most:
        first, rest = order[: most // 2], order[most // 2 :]
        by_size = rest[np.argsort(sizes[rest], kind="stable")]
        spread = by_size[np.linspace(0, by_size.size - 1, most - first.size).astype(np.intp)]
        order = np.concatenate([first, spread[np.argsort(affected[spread], kind="stable")]])
    return [int(place) for place in order]


def entity_table(decided: Decided, *, rule: Rule | None = None) -> dict[str, Any]:
    """Return the columns of a table with one row for each entity, its counts among them.

    A count that is called as a result is has ``counted`` before its name.
    """
    numbers = entity_columns(decided, rule=rule)
    kept = ("bias", "flip", "distance") if decided.kind == "rule" else ("bias", "error")
    sampled = decided.standard_error is not None
    beyond = decided.standard_error if sampled else decided.error_bound
    columns: dict[str, Any] = {"truth": decided.truth, **{name: numbers[name] for name in kept}}
    if decided.kind == "allotment" and decided.budget is not None:
        columns |= {f"{name}_in_money": numbers[name] * decided.budget for name in ("truth", "bias", "error")}
    columns["standard_error" if sampled else "error_bound"] = (
        np.full(len(decided), math.nan) if beyond is None else beyond
    )
    counts = {
        f"counted {name}" if name in _RESULTS else name: values for name, values in decided.counts.items()
    }
    return {"entity": list(decided.names), **counts, **columns}
