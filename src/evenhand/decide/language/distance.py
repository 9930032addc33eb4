"""Measure how far counts are from the line where the decision of a rule changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from evenhand.decide.language.rule import Rule

    Values = NDArray[np.float64]


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
