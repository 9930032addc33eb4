"""What a study of classifiers calls things: measures besides the usual ones, and numbers of a group."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand.study.tasks.measure import CLASSIFIER_MEASURES, CLASSIFIER_RATES, count_of, share_of

if TYPE_CHECKING:
    from collections.abc import Mapping

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
