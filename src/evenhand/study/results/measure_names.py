"""What measures are called, and which way is better."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evenhand._validate import one_of
from evenhand.measure.gaps import COMPARED, DIFFERENCES, NO_DISPARITY, OVERALL
from evenhand.measure.rates import RATES
from evenhand.study.tasks.decide.names import SIGNED_NUMBERS, WORDS_OF_A_DECISION
from evenhand.study.tasks.learn.names import GROUP_SHARES, WORDS_OF_LEARNING
from evenhand.study.tasks.release.names import SIGNED, WORDS_OF_A_RELEASE

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import NDArray

    from evenhand.study.results.spreads import Spread

__all__ = [
    "ALIASES",
    "WORDS",
    "goodness",
    "in_words",
    "is_signed",
    "measure_named",
    "possible",
    "possible_change",
    "possible_rate",
    "spread_of",
    "spread_of_rate",
]

ALIASES = {"accuracy": "acc", "gap": "sp_gap"}
"""Other names by which a measure may be asked for."""

WORDS = {
    "acc": "accuracy",
    "f1": "F1 score",
    "recall": "recall",
    "balanced_accuracy": "balanced accuracy",
    "auc": "area under the ROC curve",
    "spd": "difference in selection rates",
    "di": "ratio of selection rates",
    "eod": "difference in true positive rates",
    "ped": "difference in false positive rates",
    "oad": "difference in accuracy",
    "prd": "difference in precision",
    "sp_gap": "gap in selection rates",
    "eo_gap": "larger gap in true or false positive rates",
    "meo_gap": "mean gap in true and false positive rates",
}
"""Each measure in a few words, as inside a sentence."""


_SHARES = (
    "delta", "suppressed", "bias_exact", "delta_tight", "exact", "largest_flip", "fair_gap", "bound",
    "bound_95", "changed", "flipped",
)  # fmt: skip
_OWN = {**WORDS_OF_A_RELEASE, **WORDS_OF_A_DECISION, **WORDS_OF_LEARNING}


def measure_named(name: object, known: Collection[str], *, parameter: str, owner: str) -> str:
    """Return the measure that a name or another name stands for.

    >>> measure_named("accuracy", ["acc", "sp_gap"], parameter="x", owner="frontier")
    'acc'
    """
    asked = ALIASES.get(name, name) if isinstance(name, str) else name
    if asked in known:
        return str(asked)
    spelled = [*(alias for alias, meant in ALIASES.items() if meant in known), *known]
    return one_of(parameter, name, spelled, owner=owner)


def in_words(measure: str, *, kind: str = "") -> str:
    """Return a measure in a few words, as inside a sentence; a name that is not known stands for itself.

    The kind of a task may be said where tasks call different things by one name.

    >>> in_words("acc"), in_words("l1_error")
    ('accuracy', 'error of all cells together')
    >>> in_words("alpha", kind="decide")
    'largest minus smallest bias of an entity'
    """
    if kind == "decide":
        return WORDS_OF_A_DECISION.get(measure, measure)
    every = {**WORDS_OF_LEARNING, **WORDS_OF_A_DECISION, **WORDS_OF_A_RELEASE, **WORDS}
    return every.get(measure, measure)


def is_signed(measure: str) -> bool:
    """Return whether both a smaller and a larger value than "no disparity" is a disparity."""
    return measure in COMPARED


def possible(measure: str) -> tuple[float, float]:
    """Return the smallest and the largest value that a measure can have.

    >>> possible("acc"), possible("spd"), possible("di")
    ((0.0, 1.0), (-1.0, 1.0), (0.0, inf))
    """
    if measure in _OWN and measure not in (*SIGNED, *SIGNED_NUMBERS):
        return 0.0, (1.0 if measure in _SHARES else np.inf)
    if measure not in WORDS:
        return -np.inf, np.inf
    return (-1.0 if measure in DIFFERENCES else 0.0), (np.inf if measure == "di" else 1.0)


def possible_change(limits: tuple[float, float]) -> tuple[float, float]:
    """Return the smallest and the largest difference of two values between such limits.

    >>> possible_change(possible("acc")), possible_change(possible("spd"))
    ((-1.0, 1.0), (-2.0, 2.0))
    """
    low, high = limits
    return low - high, high - low


def possible_rate(rate: str) -> tuple[float, float]:
    """Return the smallest and the largest value that a rate of a group, or its number of people, can have."""
    return (-np.inf if rate in (*SIGNED, *SIGNED_NUMBERS) else 0.0), (
        1.0 if rate in (*RATES, *GROUP_SHARES) else np.inf
    )


def spread_of(measure: str) -> Spread:
    """Return how a measure is spread over repeats, by which its interval reaches.

    >>> spread_of("auc"), spread_of("sp_gap"), spread_of("di")
    ('tailed', 'even', 'none')
    """
    if measure in (*OVERALL, "auc"):
        return "tailed"
    return "none" if measure == "di" else "even"


def spread_of_rate(rate: str, *, protected: bool) -> Spread:
    """Return how a rate of one group is spread over repeats, by which its interval reaches.

    Parameters
    ----------
    rate : str
    protected : bool
        Whether a mechanism draws: its draws are what spreads the accuracy of a group unevenly.

    Examples
    --------
    >>> spread_of_rate("accuracy", protected=True), spread_of_rate("accuracy", protected=False)
    ('group', 'even')
    """
    if rate in {"accuracy", *GROUP_SHARES}:
        return "group" if protected else "even"
    return {"selection": "tailed", "tpr": "tailed", "fpr": "none"}.get(rate, "even")  # type: ignore[return-value]


def goodness(measure: str, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return numbers that are larger where the measure is better.

    A disparity counts by its distance from no disparity, whichever group it favours.

    >>> goodness("di", np.array([0.75, 1.25])).tolist()
    [-0.25, -0.25]
    """
    if measure in NO_DISPARITY:
        return -np.abs(values - NO_DISPARITY[measure])
    return -np.abs(values) if measure in _OWN else values
