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
repeats of skewed values: see below, where it is also said what has no interval. It covers the choice of rows
for training and test, and what the model and the mechanism draw. It does not cover which people are in the
data. Repeats share most of their rows, so as a statement about new data from the same population it is too
short; ``"corrected"`` [1]_ is wider to make up for that, by a rule of thumb, where :math:`c` is test rows per
training row of one repeat. ``"student"`` is the plain interval of the literature, by which reproductions
judge; it holds the mean of skewed values less often than it says.

How far an interval reaches on either side goes by how the values are spread. Student's t interval holds a
mean as often as it says where repeats are spread like a normal distribution. Those of a study often are not:
at a small epsilon most draws of a mechanism cost little accuracy and some cost a lot. Few repeats then often
miss the long tail, so that their mean is off and their standard deviation too small at once, and the interval
ends before the true mean.

The half of the interval on the side of the tail is therefore longer. With the lean of the sample

.. math:: g = \frac{m_3}{m_2^{3/2}} \frac{\sqrt{n-1}}{n-2} \in [-1, 1]

where :math:`m_k` are its central moments, the upper half is :math:`t \, s / \sqrt n` times

.. math:: w + a \frac{t}{t_{0.95}} \max(g, 0) - b \min\left(\frac{t_{0.95}}{t}, 1\right) \max(-g, 0)

and at least a fifth of :math:`w`; the lower half is the same with :math:`-g`. The form is that of Johnson's
correction of t for skewness [2]_, which shifts limits by more where the lean and :math:`t` are larger. The
numbers :math:`w`, :math:`a`, :math:`b` stand in ``repeat_means.csv``. They depend on :math:`n` and on what is
measured, and were chosen so that 95 % intervals hold the mean over many more repeats on the same rows between
94 and 97 times in 100 on average over files, for 5 repeats or more. Where no such numbers were found there is
no interval: for the ratio of selection rates and the false positive rate of a group with any number of
repeats, and, with fewer than 7, for the change of one group's accuracy or selection and for the true positive
rate of one group without protection, because what is enough for one group is then too much for the other.

**Equal repeats.** Where more than half of the repeats have one value, up to rounding, there is no interval of
either kind but Student's. Their spread says nothing about a value that is rare and far off: with :math:`n`
repeats one of probability up to :math:`3 / n` may not have been seen yet, and Student's interval of equal
repeats has the width 0. Where a few repeats differ and it is known how far a value can go, :func:`bound_mean`
has a bound on one side.

``docs/background/inside-a-study.md`` has what was measured.

References
----------
.. [1] Nadeau, Bengio (2003). Inference for the generalization error. Machine Learning 52. Section 3.
.. [2] Johnson (1978). Modified t tests and confidence intervals for asymmetrical populations. Journal of the
   American Statistical Association 73.
.. [3] Gaffke (2005). Three test statistics for a nonparametric one-sided hypothesis on the mean of a
   nonnegative variable. Mathematical Methods of Statistics 14; with the conjecture, Learned-Miller, Thomas
   (2019). A new confidence interval for the mean of a bounded random variable. arXiv:1905.06208.
.. [4] Curry, Schoenberg (1966). On Pólya frequency functions IV. Journal d'Analyse Mathématique 17.
"""

from __future__ import annotations

import csv
import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

import numpy as np

from evenhand._validate import one_of
from evenhand.measure.intervals import check_level

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike, NDArray

    Numbers = NDArray[np.float64]

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
    tied: NDArray[np.intp]
    """How many values are the same as the middle one."""

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
    values: NDArray[np.float64],
    *,
    overlap: float,
    kind: Kind,
    level: float,
    spread: Spread = "even",
    is_exact: bool | NDArray[np.bool_] = False,
) -> Means:
    """Return the mean over repeats, the last axis, with the interval of a kind: what every table shows.

    The overlap of repeats, and whether they are computed, is that of the task.
    """
    return means(
        values,
        level=level,
        extra=overlap if kind == "corrected" else 0.0,
        spread=None if kind == "student" else spread,
        is_exact=is_exact,
    )


def means(
    values: NDArray[np.float64],
    *,
    level: float,
    extra: float = 0.0,
    spread: Spread | None = None,
    is_exact: bool | NDArray[np.bool_] = False,
) -> Means:
    """Return the mean over the last axis of what is defined, with its interval.

    Values that are not finite are left out. Without any value the mean is NaN; with fewer than two the
    standard error and the limits are NaN. So are the limits where a spread has no interval, and those of
    a spread where more than half of the values are the same.

    Parameters
    ----------
    values : array
    level : float
    extra : float
        What is added to 1/n: the overlap of repeats.
    spread : Spread, optional
        How values are spread; by default the limits are those of
        Student's t interval.
    is_exact : bool
        Whether values are computed and not drawn, so that equal ones are their own interval.
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
    tied = _count_tied(values, runs)
    if spread is not None:
        growth = np.asarray(quantile / stdtrit(freedom, _USUAL))
        longer = stretches(spread, runs, lean(deviations, runs), growth)
        computed = is_exact & (tied == runs)
        known = np.where(_are_mostly_equal(tied, runs) & ~computed, np.nan, 1.0)
        below, above = known * below * longer[0], known * above * longer[1]
    return Means(value, error, value - below, value + above, runs, tied)


# --- one estimate --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Estimated:
    """A mean over repeats, or a mean of differences within repeats, with its interval.

    Parameters
    ----------
    value : float
        NaN if it is defined in no repeat.
    low, high : float or None
        The limits; None where there are fewer than two repeats, and for what has none, see
        :mod:`evenhand.measure.repeat_means`.
    runs : int
        Repeats that are in the mean: those that were run, did not fail and have a defined value; for a
        change, in both settings.
    left_out : int
        Repeats of the plan that are not in it.
    level : float
    kind : {"seeds", "corrected", "student"}
        What the interval covers, see :mod:`evenhand.measure.repeat_means`.
    standard_error : float or None
    note : str
        What a reader must know: why there is no interval, how many repeats were left out.

    Examples
    --------
    >>> change = Estimated(-0.02, -0.03, -0.01, runs=5)
    >>> change.is_clear, 0 in change
    (True, False)
    """

    value: float
    low: float | None = None
    high: float | None = None
    runs: int = 1
    left_out: int = 0
    level: float = 0.95
    kind: Kind = "seeds"
    standard_error: float | None = None
    note: str = ""

    @property
    def has_interval(self) -> bool:
        """Whether there are limits."""
        return self.low is not None and self.high is not None

    @property
    def is_clear(self) -> bool:
        """Whether there is an interval and it excludes zero: for changes, that there is one."""
        return self.low is not None and self.high is not None and not self.low <= 0 <= self.high

    @property
    def words(self) -> str:
        """What the interval is, for captions."""
        return kind_words(self.kind, self.level)

    def __contains__(self, value: float) -> bool:
        return self.low is not None and self.high is not None and self.low <= value <= self.high

    def __iter__(self) -> Iterator[float | None]:
        yield self.low
        yield self.high


def estimate_rows(
    values: NDArray[np.float64],
    *,
    level: float,
    kind: Kind,
    within: tuple[float, float] = (-math.inf, math.inf),
    spread: Spread = "even",
    overlap: float = 0.0,
    is_exact: bool = False,
    is_computed: bool | NDArray[np.bool_] = False,
    owner: str = "estimate",
) -> list[Estimated]:
    """Return an estimate of each row of values, one per repeat, NaN where there is none.

    Limits are cut to the values that are possible, which leaves out no true mean. How the values are spread
    says how far limits reach. Values that are computed, as all of an exact study or the difference of a
    setting to itself, are their own interval where they are equal.
    """
    level, kind = check_level(level, owner=owner), check_kind(kind, owner=owner)
    exact = np.asarray(is_computed) | is_exact
    found = means_of(values, overlap=overlap, kind=kind, level=level, spread=spread, is_exact=exact).within(
        *within
    )
    estimates = []
    for value, error, low, high, runs, tied in zip(*(part.tolist() for part in found), strict=True):
        limits, why = (low, high), ""
        if math.isnan(low):
            limits, why = (None, None), why_no_interval(spread, runs, tied=tied)
        left_out = values.shape[-1] - runs
        note = _note_of(runs, left_out, error=error, why=why, is_exact=is_exact)
        known = error if runs > 1 else None
        estimates.append(Estimated(value, *limits, runs, left_out, level, kind, known, note))
    return estimates


def _note_of(runs: int, left_out: int, *, error: float, why: str = "", is_exact: bool = False) -> str:
    """Return what a reader must know about a mean of so many runs; `why` says why it has no interval."""
    if not runs:
        return "It has no defined value in any repeat."
    notes = []
    if runs == 1 and is_exact:
        notes.append("It was computed once and nothing was repeated: no interval.")
    elif runs == 1:
        notes.append("There is a single repeat, so nothing is known about the spread: no interval.")
    elif error == 0 and not why:
        notes.append("All repeats gave the same value.")
    if why:
        notes.append(why)
    if left_out:
        repeats = f"{left_out} of {runs + left_out} repeats {'has' if left_out == 1 else 'have'}"
        notes.append(f"{repeats} no value (not run, failed or undefined).")
    return " ".join(notes)


# --- repeats that are mostly equal --------------------------------------------------------------------

_ROUNDING = 1e-12
"""Values are equal that differ by less than this, or by less than this share of their size."""


def _count_tied(values: Numbers, runs: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return how many values are the same as the middle one: a value that most have is the middle one."""
    if not values.shape[-1]:
        return np.zeros_like(runs)
    ordered = np.sort(np.where(np.isfinite(values), values, np.nan), axis=-1)
    middle = np.take_along_axis(ordered, np.maximum(runs - 1, 0)[..., None] // 2, axis=-1)
    with np.errstate(invalid="ignore"):
        same = np.abs(ordered - middle) <= _ROUNDING * (1 + np.abs(middle))
    return np.asarray(same.sum(axis=-1))


def _are_mostly_equal(tied: NDArray[np.intp], runs: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Return where more than half of several repeats have one value, so that their spread tells nothing."""
    return (runs > 1) & (2 * tied > runs)


def bound_mean(values: Numbers, *, most: float, level: float = 0.95) -> float:
    r"""Return an upper bound of the mean of independent values of which no more is known than their most.

    It is the quantile of the values and `most`, weighted at random by weights that add up to 1 and are all
    equally likely [3]_: the density of such a sum is a B-spline whose knots are the values [4]_. Of values
    that are 0 or `most` it is the limit of Clopper and Pearson. That it holds as often as it says for all
    others is a conjecture; in worlds with rare differences it held at least 94 times in 100.

    >>> round(bound_mean(np.array([0.0] * 26 + [146, 152, 145, 148]), most=795), 1)
    95.0
    """
    from scipy.interpolate import BSpline  # noqa: PLC0415 - slow to import
    from scipy.optimize import brentq  # noqa: PLC0415

    known = values[np.isfinite(values)].astype(float)
    most = known.max(initial=most)
    least = known.min(initial=most)
    if not len(known) or most - least <= _ROUNDING * (1 + abs(most)):
        return float(most)
    knots = np.round((np.sort(np.append(known, most)) - least) / (most - least), 12)
    law = BSpline.basis_element(knots, extrapolate=False).antiderivative()
    start = law(0.0)
    share = brentq(lambda at: len(known) * float(law(at) - start) - level, 0.0, 1 - _ROUNDING)
    return float(least + share * (most - least))


# --- how values are spread ---------------------------------------------------------------------------

Arm = Literal["unprotected", "protected", "change"]
"""What is averaged: a value without protection, one with it, or the difference of the two."""

Spread = Literal[
    "even", "tailed", "group", "none",
    "selection, unprotected", "selection, protected", "selection, change",
    "tpr, unprotected", "tpr, protected", "tpr, change",
    "accuracy, protected", "accuracy, change", "precision",
    "wrongly refused, change", "wrongly selected, change",
]  # fmt: skip
"""``"even"``: gaps, differences, and the base rate of a group. ``"tailed"``: accuracy and its
like. ``"group"``: the share of a group that a method of learning changes. ``"none"``: the ratio of selection
rates and the false positive rate of a group, which have no interval. ``"wrongly refused, change"`` and
``"wrongly selected, change"``: people of 1,000 of a group; no numbers held 94 to 97 times in 100 in every
file, and these hold 94 to 99. The others: a rate of one group."""

NO_INTERVAL = (
    "No interval: the mean hangs on rare repeats far from all others, so that a few repeats do not tell how "
    "far off it may be."
)
"""What a reader is told where none is shown."""

FEWEST_REPEATS: dict[str, int] = dict.fromkeys(
    ("accuracy, change", "selection, change", "wrongly selected, change", "tpr, unprotected"), 7
)
"""With how many repeats an interval begins, where that is more than two."""

_SAME_IN_ALL = "No interval: repeats that all gave the same value do not tell how often others differ."

_SAME_IN_MOST = (
    "No interval: {tied} of {runs} repeats gave the same value, so that rare ones far off may not have been "
    "seen yet."
)

_TOO_FEW = (
    "No interval: this number of one group hangs on rare repeats far from all others, which fewer than "
    "{least} repeats often miss. Run the study with {least} repeats or more."
)
"""What a reader is told where more repeats would give one."""

_LEAST = 0.2
_TINY = np.finfo(np.float64).tiny


def _read_table() -> dict[str, NDArray[np.float64]]:
    """Return the rows of n, w, a and b of each spread, the largest n first."""
    table: dict[str, list[list[float]]] = {}
    with Path(__file__).with_suffix(".csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            table.setdefault(row.pop("spread"), []).append([float(number) for number in row.values()])
    return {spread: np.array(rows)[::-1] for spread, rows in table.items()}


_TABLE = _read_table()
"""Between two rows numbers are interpolated by 1/n, beyond the ends they stay."""


def why_no_interval(spread: Spread, runs: int, *, tied: int) -> str:
    """Return why repeats, of which so many have the same value, have no interval; empty if they have one."""
    if runs < 2:
        return ""
    if spread == "none":
        return NO_INTERVAL
    if _are_mostly_equal(np.array(tied), np.array(runs)):
        return (_SAME_IN_ALL if tied == runs else _SAME_IN_MOST).format(tied=tied, runs=runs)
    least = FEWEST_REPEATS.get(spread, 0)
    return _TOO_FEW.format(least=least) if runs < least else ""


def lean(deviations: Numbers, runs: NDArray[np.intp]) -> Numbers:
    """Return to which side values lean, from -1 (one far below the others) to 1; zero for two values.

    >>> values = np.array([[1.0, 1.0, 1.0, 5.0], [1.0, 2.0, 3.0, 4.0]])
    >>> lean(values - values.mean(axis=1, keepdims=True), np.array([4, 4])).round(6).tolist()
    [1.0, 0.0]
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        second, third = ((deviations**power).sum(axis=-1) / runs for power in (2, 3))
        lean = third / np.maximum(second**1.5, _TINY) * np.sqrt(np.maximum(runs - 1, 0)) / (runs - 2)
    return np.where((runs > 2) & (second > 0), np.clip(lean, -1.0, 1.0), 0.0)


def stretches(
    spread: Spread, runs: NDArray[np.intp], lean: Numbers, growth: Numbers
) -> tuple[Numbers, Numbers]:
    """Return by how much the lower and the upper half of Student's interval are longer.

    Parameters
    ----------
    spread : Spread
    runs : array
        How many values there are.
    lean : array
        To which side they lean.
    growth : array
        The quantile of t over that of the level 0.95.
    """
    if spread == "none":
        none = np.full(np.shape(lean), np.nan)
        return none, none
    enough = np.where(runs >= FEWEST_REPEATS.get(spread, 0), 1.0, np.nan)
    rows = _TABLE[spread]
    at = 1 / np.maximum(runs, 1)
    width, tail, other = (np.interp(at, 1 / rows[:, 0], rows[:, column]) for column in (1, 2, 3))
    tail, other = growth * tail, other / np.maximum(growth, 1.0)
    below, above = (
        enough * np.maximum(width + tail * np.maximum(side, 0) - other * np.maximum(-side, 0), _LEAST * width)
        for side in (-lean, lean)
    )
    return below, above
