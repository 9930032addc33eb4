r"""Means over repeats with their intervals.

Two kinds of interval, both with :math:`n - 1` degrees of freedom for :math:`n` repeats of standard
deviation :math:`s`:

.. math:: \bar x \pm t \, s \sqrt{\tfrac{1}{n}} \quad \text{(seeds)}, \qquad
          \bar x \pm t \, s \sqrt{\tfrac{1}{n} + c} \quad \text{(corrected)}

where :math:`c` is test rows per training row of one repeat. ``"seeds"`` answers "what would the mean over
many more repeats on these rows be": it covers the choice of rows for training and test, and what the model
and the mechanism draw. It does not cover which people are in the data. Repeats share most of their rows, so
as a statement about new data from the same population it is too short; ``"corrected"`` [1]_ is wider to make
up for that, by a rule of thumb. ``"seeds"`` is the default, as in the literature.

References
----------
.. [1] Nadeau, Bengio (2003). Inference for the generalization error. Machine Learning 52. Section 3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

import numpy as np

from evenhand._validate import one_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from evenhand.study.tasks import Task

__all__ = ["Kind", "Means", "check_kind", "kind_words", "means", "overlap"]

Kind = Literal["seeds", "corrected"]

_WORDS = {
    "seeds": "over repeats on these rows, as seeds vary",
    "corrected": "corrected for the overlap of repeats (Nadeau and Bengio)",
}


class Means(NamedTuple):
    """Means over the last axis of an array, with standard error, limits and how many values are in them."""

    value: NDArray[np.float64]
    standard_error: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    runs: NDArray[np.intp]

    def within(self, lowest: ArrayLike, highest: ArrayLike) -> Means:
        """Return the means with limits cut to what is possible; no true mean is left out by that."""
        return self._replace(low=np.maximum(self.low, lowest), high=np.minimum(self.high, highest))


def check_kind(kind: object, *, owner: str) -> Kind:
    """Return the kind of interval, or refuse it."""
    return one_of("kind", kind, get_args(Kind), owner=owner)


def kind_words(kind: Kind, level: float) -> str:
    """Return what an interval is, for captions.

    >>> kind_words("seeds", 0.95)
    '95 % t interval of the mean over repeats on these rows, as seeds vary'
    """
    return f"{100 * level:g} % t interval of the mean {_WORDS[kind]}"


def overlap(task: Task, kind: Kind) -> float:
    r"""Return what ``"corrected"`` adds to 1/n: test rows per training row, and 0 for ``"seeds"``.

    With :math:`k` folds a repeat is the mean of :math:`k` tests. The correction holds for single tests, whose
    variance is :math:`k` times that of a repeat, so that :math:`c = k / (k - 1)`.

    >>> from evenhand.study.classify import Classify
    >>> overlap(Classify(test=0.2), "corrected"), overlap(Classify(folds=5), "corrected")
    (0.25, 1.25)
    """
    if kind == "seeds":
        return 0.0
    return task.test / (1 - task.test) if task.folds is None else task.folds / (task.folds - 1)


def means(values: NDArray[np.float64], *, level: float, extra: float = 0.0) -> Means:
    """Return the mean over the last axis of what is defined, with its t interval.

    Values that are not finite are left out. Without any value the mean is NaN; with fewer than two the
    standard error and the limits are NaN.

    Parameters
    ----------
    values : array
    level : float
    extra : float
        What is added to 1/n, see :func:`overlap`.
    """
    from scipy.special import stdtrit  # noqa: PLC0415 - slow to import

    defined = np.isfinite(values)
    runs = defined.sum(axis=-1)
    highest = np.where(defined, values, -np.inf).max(axis=-1, initial=-np.inf)
    lowest = np.where(defined, values, np.inf).min(axis=-1, initial=np.inf)
    with np.errstate(invalid="ignore", divide="ignore"):
        value = np.where(defined, values, 0.0).sum(axis=-1) / runs
        value = np.where(highest == lowest, highest, value)  # a sum of equal values may be off by rounding
        deviations = np.where(defined, values - value[..., None], 0.0)
        variance = (deviations**2).sum(axis=-1) / np.where(runs > 1, runs - 1, np.nan)
        error = np.sqrt(variance * (1 / runs + extra))
        reach = stdtrit(np.where(runs > 1, runs - 1.0, np.nan), 0.5 + level / 2) * error
    return Means(value, error, value - reach, value + reach, runs)
