"""Declare what a task measures: each number in words, its limits, and which way is better."""

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

    from evenhand.measure.repeat_means import Arm, Spread

Form = Literal["percent", "points", "delta", "amount", "number"]
"""How a number is written: a share in percent, a disparity in points, a delta, an amount of what a task deals
with such as money, or as it is."""


@dataclass(frozen=True)
class Measure:
    """A number of a cell, or of a group in a cell.

    `words` say what it is, as inside a sentence. It lies between `low` and `high`, where intervals are cut.
    `better` is the way that is better, or the value that means "no disparity"; if it is `signed`, both sides
    of that are a disparity. `spread` is how it is spread over repeats, by which its interval reaches; `rate`
    is the rate of one group that it is, if its spread depends on what is averaged. `form` is how a report
    writes it.

    >>> CLASSIFIER_MEASURES["acc"].words, CLASSIFIER_MEASURES["spd"].limits
    ('accuracy', (-1.0, 1.0))
    """

    words: str
    low: float = 0.0
    high: float = math.inf
    better: Literal["higher", "lower"] | float = "lower"
    spread: Spread = "even"
    signed: bool = False
    rate: Literal["", "selection", "tpr", "accuracy"] = ""
    form: Form = "number"

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

    def spread_of(self, arm: Arm) -> Spread:
        """Return how a number of one group is spread over repeats, by which its interval reaches.

        The draws of a mechanism spread the accuracy and the selection of a group unevenly, and a difference
        of two arms in another way than either.

        >>> CLASSIFIER_RATES["accuracy"].spread_of("change"), CLASSIFIER_RATES["fpr"].spread_of("change")
        ('accuracy, change', 'none')
        """
        if self.rate and (self.rate != "accuracy" or arm != "unprotected"):
            return f"{self.rate}, {arm}"  # type: ignore[return-value]
        return "even" if self.spread == "group" and arm == "unprotected" else self.spread


def share_of(words: str, *, spread: Spread = "even", form: Form = "percent") -> Measure:
    """Return a measure between 0 and 1 of which less is better."""
    return Measure(words, high=1.0, spread=spread, form=form)


def count_of(words: str, *, signed: bool = False, form: Form = "number") -> Measure:
    """Return a measure without an upper limit, and without a lower one if it has a sign."""
    return Measure(words, low=-math.inf if signed else 0.0, form=form)


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


def _form(name: str) -> Form:
    if name == "di":
        return "number"
    return "points" if name in NO_DISPARITY else "percent"


CLASSIFIER_MEASURES: Mapping[str, Measure] = {
    name: Measure(
        _WORDS[name],
        low=-1.0 if name in DIFFERENCES else 0.0,
        high=math.inf if name == "di" else 1.0,
        better=NO_DISPARITY.get(name, "higher"),
        spread=_spread(name),
        signed=name in COMPARED,
        form=_form(name),
    )
    for name in MEASURES
}
"""What every cell measures in which a classifier is tested."""

CLASSIFIER_RATES: Mapping[str, Measure] = {
    **{name: share_of(name.replace("_", " ")) for name in RATES},
    "selection": Measure("selection rate", high=1.0, rate="selection", form="percent"),
    "tpr": Measure("true positive rate", high=1.0, rate="tpr", form="percent"),
    "fpr": share_of("false positive rate", spread="none"),
    "precision": share_of("precision", spread="precision"),
    "accuracy": Measure("accuracy", high=1.0, rate="accuracy", form="percent"),
    "people": count_of("people in the test rows"),
}
"""What is known of each group where a classifier is tested."""
