r"""Numbers of a study of classifiers beside those of any: the gap of equal rates, whose predictions change.

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


def share_unlike(first: NDArray[Any], second: NDArray[Any] | None) -> float:
    """Return the share of predictions in which two classifiers differ; NaN where there is no second."""
    return math.nan if second is None else float(np.mean(first != second))


def changes_by_group(
    after: NDArray[Any],
    *,
    plain: NDArray[Any],
    before: NDArray[Any] | None,
    group: NDArray[Any],
    labels: Sequence[str],
) -> dict[str, dict[str, float]]:
    """Return which share of each group is predicted something else than by others.

    Parameters
    ----------
    after : array of 0 and 1
        What is decided.
    plain : array of 0 and 1
        What the plain classifier says of the same rows.
    before : array of 0 and 1, optional
        What the classifier says before post-processing; None where there is none.
    group : array
        The group of each row, as a place in `labels`.
    labels : sequence of str

    Returns
    -------
    dict
        For each label ``"changed"``, ``"promoted"``, ``"refused"`` and ``"flipped"``; NaN where the group has
        nobody, or nothing is post-processed.

    Examples
    --------
    >>> after, plain = np.array([1, 0, 0, 1]), np.array([0, 0, 1, 1])
    >>> found = changes_by_group(after, plain=plain, before=None, group=np.array([0, 0, 1, 1]), labels="fm")
    >>> found["f"]
    {'changed': 0.5, 'promoted': 0.5, 'refused': 0.0, 'flipped': nan}
    """
    found = {}
    for place, label in enumerate(labels):
        own = group == place
        people = int(own.sum())

        def share(rows: NDArray[np.bool_], *, own: NDArray[np.bool_] = own, people: int = people) -> float:
            return float((rows & own).sum()) / people if people else math.nan

        found[label] = {
            "changed": share(after != plain),
            "promoted": share((after == 1) & (plain == 0)),
            "refused": share((after == 0) & (plain == 1)),
            "flipped": math.nan if before is None else share(after != before),
        }
    return found
