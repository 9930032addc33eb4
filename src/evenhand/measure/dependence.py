r"""How strongly two columns depend on each other: Cramer's V, corrected for chance, with an interval.

For shares :math:`p_{ij}` of pairs of values, with :math:`r_i` and :math:`c_j` those of either column,

.. math:: \varphi^2 = \sum_{ij} \frac{(p_{ij} - r_i c_j)^2}{r_i c_j}, \qquad
          V = \sqrt{\frac{\varphi^2}{\min(r, c) - 1}}

where :math:`r` and :math:`c` are how many values of either column occur. 0 means independent, 1 that one
column gives away the other. The plain estimate is above 0 even for independent columns, the more so the more
values they have, so the correction of [1]_ is used.

The limits are the wider of two on each side, neither of which does alone: those from the noncentral
chi-squared law [2]_, which is right near independence, and those from the multinomial variance of the
estimate, which is right away from it. They are approximate. In simulations with 2,000 people and shares down
to 5 %, intervals of 95 % held the true value in 90 % of the cases or more, mostly in 95 % to 99 %.

References
----------
.. [1] Bergsma (2013). A bias-correction for Cramer's V and Tschuprow's T. Journal of the Korean Statistical
       Society 42.
.. [2] Smithson (2003). Confidence intervals. Sage. Chapter 4.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.measure.intervals import normal_quantile

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Bounded:
    """A figure and the limits of its interval; all NaN where it is undefined."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class _Contingency:
    """Pairs of values that occur: their shares, and the shares of either value."""

    people: int
    pair: NDArray[np.float64]
    row: NDArray[np.float64]
    column: NDArray[np.float64]
    at_row: NDArray[np.intp]
    at_column: NDArray[np.intp]


def dependence(first: NDArray[Any], second: NDArray[Any], *, level: float = 0.95) -> Bounded:
    """Return Cramer's V of two columns of codes, with its interval.

    It is NaN where a column has a single value, or so many that chance alone gives the largest V.

    >>> codes = np.arange(1000) % 2
    >>> f"{dependence(codes, codes).value:.3f}"
    '1.000'
    >>> f"{dependence(codes, np.arange(1000) % 4 // 2).value:.3f}"
    '0.000'
    """
    table = _counted(first, second)
    rows, columns = len(table.row), len(table.column)
    most, spare = min(rows, columns) - 1, table.people - 1
    freedom = (rows - 1) * (columns - 1)
    fewest = min(values - 1 - (values - 1) ** 2 / spare for values in (rows, columns)) if most > 0 else 0
    if fewest <= 0 or freedom >= spare * most:
        return Bounded(math.nan, math.nan, math.nan)
    phi, error = _phi(table)
    corrected = max(phi - freedom / spare, 0.0)
    low, high = _noncentral(table.people * phi, freedom, 1 - level)
    reach = normal_quantile(1 - level) * error
    low = min(low / table.people, corrected - reach)
    high = max(high / table.people, corrected + reach)
    value = min(math.sqrt(corrected / fewest), 1.0)
    lower, upper = (min(math.sqrt(max(limit, 0.0) / most), 1.0) for limit in (low, high))
    return Bounded(value, min(lower, value), max(upper, value))


def _counted(first: NDArray[Any], second: NDArray[Any]) -> _Contingency:
    """Return the pairs that occur; those that do not need no memory."""
    people = len(first)
    _, rows, row_counts = np.unique(first, return_inverse=True, return_counts=True)
    _, columns, column_counts = np.unique(second, return_inverse=True, return_counts=True)
    width = len(column_counts)
    keys, counts = np.unique(rows.astype(np.int64) * width + columns, return_counts=True)
    at_row, at_column = np.divmod(keys, width)
    return _Contingency(
        people, counts / people, row_counts / people, column_counts / people, at_row, at_column
    )


def _phi(table: _Contingency) -> tuple[float, float]:
    """Return the estimate of phi squared and its standard error by the multinomial law."""
    lift = table.pair / (table.row[table.at_row] * table.column[table.at_column])
    part = table.pair * lift
    of_row = np.bincount(table.at_row, weights=part, minlength=len(table.row)) / table.row
    of_column = np.bincount(table.at_column, weights=part, minlength=len(table.column)) / table.column
    slope = 2 * lift - of_row[table.at_row] - of_column[table.at_column]
    mean = float(np.sum(table.pair * slope))
    variance = float(np.sum(table.pair * slope**2)) - mean**2
    return max(float(part.sum()) - 1, 0.0), math.sqrt(max(variance, 0.0) / table.people)


def _noncentral(statistic: float, freedom: int, tails: float) -> tuple[float, float]:
    """Return the noncentralities at which the statistic is at the end of either tail; 0 where none is."""
    from scipy.special import chdtr, chndtrinc  # noqa: PLC0415 - slow to import

    under_none = float(chdtr(freedom, statistic))
    limits = [
        float(chndtrinc(statistic, freedom, tail)) if under_none > tail else 0.0
        for tail in (1 - tails / 2, tails / 2)
    ]
    return limits[0], limits[1]
