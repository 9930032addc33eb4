"""What a task measures: each number in words, between which limits it lies, and which way is better."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from evenhand.measure import MEASURES, RATES
from evenhand.measure.gaps import COMPARED, DIFFERENCES, NO_DISPARITY, OVERALL

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

__all__ = ["CLASSIFIER_MEASURES", "CLASSIFIER_RATES", "PEOPLE", "Measure", "Spread", "count_of", "share_of"]

PEOPLE = "people"
"""The number of people of a group in the test rows."""

Spread = Literal["even", "tailed", "group", "none"]
"""``"even"``: gaps, differences, and the precision and base rate of a group. ``"tailed"``: accuracy and its
like, and how often a group is selected. ``"group"``: the accuracy of one group. ``"none"``: the ratio of
selection rates and the false positive rate of a group, which have no interval."""


@dataclass(frozen=True)
class Measure:
    """A number of a cell, or of a group in a cell.

    Parameters
    ----------
    words : str
        What it is, as inside a sentence.
    low, high : float
        Between which values it lies. Intervals are cut there.
    better : {"higher", "lower"} or float
        Which way is better; a number is the value that means "no disparity".
    spread : Spread
        How it is spread over repeats, by which its interval reaches.
    signed : bool
        Whether both sides of "no disparity" are a disparity.

    Examples
    --------
    >>> CLASSIFIER_MEASURES["acc"].words, CLASSIFIER_MEASURES["spd"].limits
    ('accuracy', (-1.0, 1.0))
    """

    words: str
    low: float = 0.0
    high: float = math.inf
    better: Literal["higher", "lower"] | float = "lower"
    spread: Spread = "even"
    signed: bool = False

    @property
    def limits(self) -> tuple[float, float]:
        """The smallest and the largest value that it can have."""
        return self.low, self.high

    @property
    def change_limits(self) -> tuple[float, float]:
        """The smallest and the largest difference of two values.

        >>> CLASSIFIER_MEASURES["acc"].change_limits, CLASSIFIER_MEASURES["spd"].change_limits
        ((-1.0, 1.0), (-2.0, 2.0))
        """
        return self.low - self.high, self.high - self.low

    def goodness(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return numbers that are larger where the measure is better.

        A disparity counts by its distance from no disparity, whichever group it favours.

        >>> CLASSIFIER_MEASURES["di"].goodness(np.array([0.75, 1.25])).tolist()
        [-0.25, -0.25]
        """
        if self.better == "higher":
            return values
        return -np.abs(values if self.better == "lower" else values - self.better)

    def spread_of(self, *, protected: bool) -> Spread:
        """Return how a rate of one group is spread over repeats.

        The draws of a mechanism are what spreads the accuracy of a group unevenly.
        """
        return "even" if self.spread == "group" and not protected else self.spread


def share_of(words: str, *, spread: Spread = "even") -> Measure:
    """Return a measure between 0 and 1 of which less is better."""
    return Measure(words, high=1.0, spread=spread)


def count_of(words: str, *, signed: bool = False) -> Measure:
    """Return a measure without an upper limit, and without a lower one if it has a sign."""
    return Measure(words, low=-math.inf if signed else 0.0)


_WORDS = {
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


def _spread(name: str) -> Spread:
    if name in (*OVERALL, "auc"):
        return "tailed"
    return "none" if name == "di" else "even"


CLASSIFIER_MEASURES: Mapping[str, Measure] = {
    name: Measure(
        _WORDS[name],
        low=-1.0 if name in DIFFERENCES else 0.0,
        high=math.inf if name == "di" else 1.0,
        better=NO_DISPARITY.get(name, "higher"),
        spread=_spread(name),
        signed=name in COMPARED,
    )
    for name in MEASURES
}
"""What every cell measures in which a classifier is tested."""

_RATE_SPREADS: dict[str, Spread] = {
    "accuracy": "group",
    "selection": "tailed",
    "tpr": "tailed",
    "fpr": "none",
}

CLASSIFIER_RATES: Mapping[str, Measure] = {
    **{name: share_of(name, spread=_RATE_SPREADS.get(name, "even")) for name in RATES},
    PEOPLE: count_of("people in the test rows"),
}
"""What is known of each group where a classifier is tested."""
