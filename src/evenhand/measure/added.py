"""Measures that other packages add to a group report, by the entry points ``evenhand.measures``.

Such a measure is a function of the count table. Where it brings no limits of its own, its interval is a
normal one, with the standard error of the delta method.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand._registry import PluginRules, Registry
from evenhand.measure.columns import check_name
from evenhand.measure.disparities import COMPARISONS, OTHER_NAMES
from evenhand.measure.gaps import MEASURES
from evenhand.measure.intervals import Interval, normal_quantile

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from evenhand.measure.counts import CountTable

_STEP = 1e-4  # of a count, for the derivative by it

ADDED_MEASURES: Registry[GroupMeasure] = Registry(
    {},
    PluginRules(
        "evenhand.measures",
        "measure",
        "a GroupMeasure of evenhand.measure",
        base="evenhand.measure.added:GroupMeasure",
        is_class=False,
        taken=(*MEASURES, *COMPARISONS, *OTHER_NAMES),
    ),
)
"""The measures of other packages by name."""


@dataclass(frozen=True, kw_only=True)
class GroupMeasure:
    """A measure of your own, which a package adds by the entry points ``evenhand.measures``.

    Parameters
    ----------
    name : str
        As the command line and :meth:`GroupReport.value` have it.
    words : str
        What it is, as inside a sentence.
    value : callable
        A function of an array ``counts[group, y, p]``: how many rows of a group have the true label ``y`` and
        the prediction ``p``. It returns a number, NaN where the measure is undefined.
    no_disparity : float, optional
        The value that means no disparity, if there is one.
    needs_labels : bool
        Whether it needs the true labels. Without them every row is counted under ``y = 0``.
    limits : callable, optional
        A function of the same array and a level, which returns the two limits of an interval.

    Examples
    --------
    >>> def missed(counts):
    ...     return float(np.ptp(counts[:, 1, 0] / counts.sum(axis=(1, 2))))
    >>> GroupMeasure(name="missed-gap", words="gap in the share of people who are missed", value=missed).name
    'missed-gap'
    """

    name: str
    words: str
    value: Callable[[NDArray[Any]], float]
    no_disparity: float | None = 0.0
    needs_labels: bool = True
    limits: Callable[[NDArray[Any], float], tuple[float, float]] | None = None

    def value_of(self, table: CountTable) -> float:
        """Return the value for a table, NaN where it is undefined."""
        return math.nan if self._unfit(table) else float(self.value(table.counts))

    def reason_for(self, table: CountTable) -> str:
        """Return why it has no value for a table; empty if it has one."""
        unfit = self._unfit(table)
        if unfit or not math.isnan(self.value(table.counts)):
            return unfit
        return f"The measure '{self.name}' is undefined for these counts."

    def interval_of(self, table: CountTable, level: float) -> Interval:
        """Return the interval of a value that is defined."""
        if self.limits is not None:
            low, high = self.limits(table.counts, level)
            return Interval(float(low), float(high), level, f"limits of '{self.name}'", exact=False)
        reach = normal_quantile(1 - level) * self._standard_error(table)
        value = self.value_of(table)
        return Interval(value - reach, value + reach, level, "normal, delta method", exact=False)

    def _standard_error(self, table: CountTable) -> float:
        r"""Return the standard error from how the value moves when one row more is counted in each cell.

        Rows are drawn independently within each group :math:`g`, so the variance is

        .. math:: \sum_g \sum_c s_{gc} (d_{gc} - \bar d_g)^2

        where :math:`d_{gc}` is the derivative by the count of cell :math:`c`, :math:`\bar d_g` its mean over
        the rows of the group, and :math:`s_{gc}` the sum of their squared weights, which is the count itself
        where there are none.
        """
        counts = np.asarray(table.counts, dtype=np.float64)
        squares = counts if table.squares is None else table.squares
        steps = np.zeros(counts.shape)
        for place in zip(*np.nonzero(counts), strict=True):
            moved = np.zeros(counts.shape)
            moved[place] = _STEP * counts[place]
            change = float(self.value(counts + moved)) - float(self.value(counts - moved))
            steps[place] = change / (2 * moved[place])
        sizes = counts.sum(axis=(1, 2), keepdims=True)
        mean = (counts * steps).sum(axis=(1, 2), keepdims=True) / np.where(sizes > 0, sizes, 1.0)
        return math.sqrt(float((squares * (steps - mean) ** 2).sum()))

    def _unfit(self, table: CountTable) -> str:
        if not table.groups:
            return "There are no rows."
        return "No true labels were given." if self.needs_labels and not table.labelled else ""


def added_measure(name: str) -> GroupMeasure | None:
    """Return a measure of another package; None for one of evenhand's own, and refuse any other name."""
    is_text = isinstance(name, str)
    if is_text and name in MEASURES:  # an array with one name would be found as well
        return None
    if not is_text or name not in ADDED_MEASURES:
        check_name("Measure", name, (*MEASURES, *ADDED_MEASURES))
    return ADDED_MEASURES[name]
