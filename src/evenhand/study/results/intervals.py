r"""Means over repeats with their intervals.

Every interval is about one number, its estimand: the mean of the measure over all repeats that could be run
*on these rows*. Given the rows, repeats are independent and alike: each draws its own rows for training and
test, and what the model and the mechanism draw is its own.

Three kinds of interval, all with :math:`n - 1` degrees of freedom for :math:`n` repeats of standard
deviation :math:`s`:

.. math:: \bar x \pm t \, s \sqrt{\tfrac{1}{n}} \; \text{(student)}, \quad
          \bar x {}^{+ u}_{- l} \; t \, s \sqrt{\tfrac{1}{n}} \; \text{(seeds)}, \quad
          \bar x {}^{+ u}_{- l} \; t \, s \sqrt{\tfrac{1}{n} + c} \; \text{(corrected)}

``"seeds"``, the default, is Student's interval with halves that are longer by :math:`l` and :math:`u`, for
repeats of skewed values: see :mod:`evenhand.study.results.spreads`, which also says what has no interval. It
covers the choice of rows for training and test, and what the model and the mechanism draw. It does not cover
which people are in the data. Repeats share most of their rows, so as a statement about new data from the same
population it is too short; ``"corrected"`` [1]_ is wider to make up for that, by a rule of thumb, where
:math:`c` is test rows per training row of one repeat. ``"student"`` is the plain interval of the literature,
by which reproductions judge; it holds the mean of skewed values less often than it says.

References
----------
.. [1] Nadeau, Bengio (2003). Inference for the generalization error. Machine Learning 52. Section 3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

import numpy as np

from evenhand._validate import one_of
from evenhand.study.results.spreads import lean, stretches

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from evenhand.study.results.spreads import Spread
    from evenhand.study.tasks.base import Task

__all__ = ["Kind", "Means", "check_kind", "kind_words", "means", "means_of"]

Kind = Literal["seeds", "corrected", "student"]

_WORDS = {
    "seeds": "interval of the mean over repeats on these rows, as seeds vary",
    "corrected": "interval of the mean corrected for the overlap of repeats (Nadeau and Bengio)",
    "student": "t interval of the mean over repeats on these rows, not corrected for skewness",
}
_USUAL = 0.975


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
    '95 % interval of the mean over repeats on these rows, as seeds vary'
    """
    return f"{100 * level:g} % {_WORDS[kind]}"


def means_of(
    values: NDArray[np.float64], *, task: Task, kind: Kind, level: float, spread: Spread = "even"
) -> Means:
    """Return the mean over repeats, the last axis, with the interval of a kind: what every table shows."""
    return means(
        values,
        level=level,
        extra=task.overlap if kind == "corrected" else 0.0,
        spread=None if kind == "student" else spread,
    )


def means(
    values: NDArray[np.float64], *, level: float, extra: float = 0.0, spread: Spread | None = None
) -> Means:
    """Return the mean over the last axis of what is defined, with its interval.

    Values that are not finite are left out. Without any value the mean is NaN; with fewer than two the
    standard error and the limits are NaN. So are the limits where a spread has no interval.

    Parameters
    ----------
    values : array
    level : float
    extra : float
        What is added to 1/n: the overlap of repeats.
    spread : Spread, optional
        How values are spread, see :mod:`evenhand.study.results.spreads`; by default the limits are those of
        Student's t interval.
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
        freedom = np.where(runs > 1, runs - 1.0, np.nan)
        quantile = stdtrit(freedom, 0.5 + level / 2)
        below = above = quantile * error
    if spread is not None:
        growth = np.asarray(quantile / stdtrit(freedom, _USUAL))
        longer = stretches(spread, runs, lean(deviations, runs), growth, varies=highest > lowest)
        below, above = below * longer[0], above * longer[1]
    return Means(value, error, value - below, value + above, runs)
