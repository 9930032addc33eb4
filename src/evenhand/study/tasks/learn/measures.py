"""Numbers of a study of classifiers beside those of any: bounds, claims, and whose predictions change."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from evenhand.study.tasks.measure import CLASSIFIER_MEASURES, CLASSIFIER_RATES, count_of, share_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from evenhand.study.tasks.measure import Measure

LEARN_MEASURES: Mapping[str, Measure] = {
    **CLASSIFIER_MEASURES,
    "fair_gap": share_of("gap that equal rates would show", form="points"),
    "bound": share_of("bound on the expected gap", form="points"),
    "bound_95": share_of("bound on the gap that holds with 95 %", form="points"),
    "changed": share_of("share of predictions that differ from the plain classifier's"),
    "flipped": share_of("share of predictions that post-processing changes"),
    "claimed_epsilon": count_of("epsilon of the claim"),
    "delta": share_of("delta", form="delta"),
    "noise": count_of("noise multiplier of training"),
    "trained_on": count_of("rows that training sees"),
}
"""What every cell of a study of classifiers measures; NaN where a method has no such number."""

GROUP_SHARES: Mapping[str, Measure] = {
    "changed": share_of("predictions unlike the plain classifier's", spread="group"),
    "promoted": share_of("predictions that became positive", spread="group"),
    "refused": share_of("predictions that became negative", spread="group"),
    "flipped": share_of("predictions that post-processing changed", spread="group"),
}
"""Of each group: predictions unlike the plain classifier's, those of them that became positive or negative,
and those that post-processing changed; as shares of the group's test rows."""

LEARN_RATES: Mapping[str, Measure] = {**CLASSIFIER_RATES, **GROUP_SHARES}
"""What is told of each group."""


def share_unlike(first: NDArray[Any], second: NDArray[Any] | None) -> float:
    """Return the share of predictions in which two classifiers differ; NaN where there is no second."""
    return math.nan if second is None else float((first != second).mean())


def changes_by_group(
    after: NDArray[Any],
    *,
    plain: NDArray[Any],
    before: NDArray[Any] | None,
    group: NDArray[Any],
    labels: Sequence[str],
) -> dict[str, dict[str, float]]:
    """Return :data:`GROUP_SHARES` of each group: which share is decided otherwise than by other classifiers.

    `plain` is what the plain classifier says of the same rows, `before` what is said before post-processing.
    NaN where the group has nobody, or nothing is post-processed.

    >>> import numpy as np
    >>> after, plain = np.array([1, 0, 0, 1]), np.array([0, 0, 1, 1])
    >>> found = changes_by_group(after, plain=plain, before=None, group=np.array([0, 0, 1, 1]), labels="fm")
    >>> found["f"]
    {'changed': 0.5, 'promoted': 0.5, 'refused': 0.0, 'flipped': nan}
    """
    unlike = {
        "changed": after != plain,
        "promoted": (after == 1) & (plain == 0),
        "refused": (after == 0) & (plain == 1),
        "flipped": None if before is None else after != before,
    }
    found = {}
    for place, label in enumerate(labels):
        own = group == place
        found[label] = {
            name: math.nan if rows is None or not own.any() else float(rows[own].mean())
            for name, rows in unlike.items()
        }
    return found
