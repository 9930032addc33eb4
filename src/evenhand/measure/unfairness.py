r"""How far the labels of a data set, not the decisions of a model, differ between groups."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from evenhand._validate import one_of
from evenhand.measure.counts import tabulate
from evenhand.measure.gaps import Measured, gap_reason
from evenhand.measure.rates import Tables

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["data_unfairness"]


def data_unfairness(
    y: Any,
    group: Any,
    *,
    kind: Literal["ratio", "difference"] = "ratio",
    groups: Sequence[Any] | None = None,
    positive: object = None,
    weights: Any = None,
) -> Measured:
    r"""Return how unequal the rates of positive labels are.

    .. math:: \Delta = \max_a \left| \frac{P(Y=1 \mid A=a)}{P(Y=1)} - 1 \right|, \qquad
              \Delta' = \max_a P(Y=1 \mid A=a) - \min_a P(Y=1 \mid A=a)

    where :math:`Y` is the label `y` and :math:`A` is the `group`; `kind` ``"ratio"`` is
    :math:`\Delta` and ``"difference"`` is :math:`\Delta'`. 0 means no disparity, for both.

    Parameters
    ----------
    y, group : array, list or series
        Labels and groups, one per row.
    kind : {"ratio", "difference"}
        Which of the two.
    groups : sequence, optional
        Every group, also those without rows. By default those that occur.
    positive : object, optional
        The label that counts as positive, by default 1 or ``True``.
    weights : array, list or series, optional
        One weight per row, at least 0.

    Returns
    -------
    Measured
        A float. It is NaN if a declared group has no rows, if there is only one group, or, for the
        ratio, if nobody has a positive label; then its ``reason`` says which.

    Notes
    -----
    The two are tied by :math:`\Delta \le \Delta' / P(Y=1)` and :math:`\Delta' \le 2 P(Y=1) \Delta`.

    References
    ----------
    .. [1] Ghoukasian (2024). Classification algorithms with differential privacy and fairness
           guarantees. Thesis, McMaster University, chapter 5.

    Examples
    --------
    >>> y, group = [1, 0, 0, 0, 1, 1, 1, 0], ["a"] * 4 + ["b"] * 4
    >>> data_unfairness(y, group)
    0.5
    >>> data_unfairness(y, group, kind="difference")
    0.5
    >>> data_unfairness([0, 0], ["a", "b"]).reason
    'There are no rows with a positive label, and the ratio divides by their share.'
    """
    chosen = one_of("kind", kind, ("ratio", "difference"), owner="data_unfairness")
    table = tabulate(
        {"y": y}, group, groups=groups, positive=positive, weights=weights, owner="data_unfairness"
    ).table
    tables = Tables.of(table, None)
    reason = gap_reason("sp_gap", table, tables)
    if reason:
        return Measured(math.nan, reason)
    rates = tables.groups.rate("selection")
    if chosen == "difference":
        return Measured(rates.max() - rates.min())
    overall = float(tables.overall.rate("selection"))
    if overall <= 0:
        return Measured(
            math.nan, "There are no rows with a positive label, and the ratio divides by their share."
        )
    return Measured(np.abs(rates / overall - 1).max())
