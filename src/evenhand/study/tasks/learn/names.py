"""What a study of classifiers calls things: measures besides the usual ones, and numbers of a group."""

from __future__ import annotations

from evenhand.measure import MEASURES, RATES

__all__ = ["GROUP_SHARES", "MEASURES_OF_LEARNING", "RATES_OF_LEARNING", "WORDS_OF_LEARNING"]

WORDS_OF_LEARNING = {
    "fair_gap": "gap that equal rates would show",
    "bound": "bound on the expected gap",
    "bound_95": "bound on the gap that holds with 95 %",
    "changed": "share of predictions that differ from the plain classifier's",
    "flipped": "share of predictions that post-processing changes",
    "claimed_epsilon": "epsilon of the claim",
    "delta": "delta",
    "noise": "noise multiplier of training",
    "trained_on": "rows that training sees",
}
"""Each measure of a study of classifiers, beside those of any, in a few words as inside a sentence."""

MEASURES_OF_LEARNING = (*MEASURES, *WORDS_OF_LEARNING)
"""What every cell of a study of classifiers measures; NaN where a way has no such number."""

GROUP_SHARES = ("changed", "promoted", "refused", "flipped")
"""Of each group: predictions unlike the plain classifier's, those of them that became positive or negative,
and those that post-processing changed; as shares of the group's test rows."""

RATES_OF_LEARNING = (*RATES, "people", *GROUP_SHARES)
"""What is told of each group."""
