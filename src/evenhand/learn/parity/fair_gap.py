r"""The gap in selection rates that is left where every group is selected at the same rate.

Two groups that are selected with the same probability do not show the same share in a test: with :math:`n_g`
people in group :math:`g` and the probability :math:`p`, shares have the variance :math:`p (1 - p) / n_g`.
What remains of the gap even if there is none is therefore about

.. math:: \mathrm{E}\bigl[\max_g Z_g - \min_g Z_g\bigr]
          = \int 1 - \prod_g \Phi(x / s_g) - \prod_g \Phi(-x / s_g) \, dx

with independent normal :math:`Z_g` of standard deviation :math:`s_g = \sqrt{p (1 - p) / n_g}`; for two groups
:math:`\sqrt{2 / \pi} \sqrt{s_1^2 + s_2^2}`. Shares of small groups are far from normal:
where :math:`n_g p (1 - p)` is below 25 in some group, binomial distributions stand in the place of the normal
ones.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import bdtr, ndtr

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_REACH = 12.0
_STEPS = 4_001
_ENOUGH = 25.0  # a variance of the count from which on it is as good as normal
_CELLS = 8_192


def fair_gap(sizes: Sequence[float] | NDArray[Any], rate: float) -> float:
    """Return the gap in selection rates that is expected where every group is selected at the same rate.

    Parameters
    ----------
    sizes : sequence of int
        Test rows of each group; groups without any are left out.
    rate : float
        The common selection rate.

    Examples
    --------
    >>> round(fair_gap([7_600, 3_700], 0.16), 4)
    0.0059
    >>> fair_gap([100, 0], 0.5)
    nan
    """
    people = np.array([size for size in sizes if size], dtype=np.float64)
    if len(people) < 2 or not 0 <= rate <= 1:
        return math.nan
    spread = np.sqrt(rate * (1 - rate) / people)
    if not spread.any():
        return 0.0
    if (people * rate * (1 - rate)).min() < _ENOUGH:
        return _binomial_gap(people, rate)
    if len(people) == 2:
        return float(np.sqrt(2 / np.pi) * np.hypot(*spread))
    limit = _REACH * spread.max()
    at = np.linspace(-limit, limit, _STEPS)
    below = np.prod(ndtr(at[:, None] / spread), axis=1)
    above = np.prod(ndtr(-at[:, None] / spread), axis=1)
    return float(min(np.trapezoid(1 - below - above, at), 1.0))


def _binomial_gap(people: NDArray[np.float64], rate: float) -> float:
    """Return the expected range of independent shares, to within one part in the number of cells."""
    at = (np.arange(_CELLS) + 0.5) / _CELLS
    below = bdtr(np.floor(at[:, None] * people), people.astype(np.int64), rate)
    return float(np.mean(1 - np.prod(below, axis=1) - np.prod(1 - below, axis=1)))
