"""What a published table is off by: in all, in cells of one size, and for the people of one group."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.measure.alpha import alpha_fairness, l1_bias
from evenhand.study.tasks.release.names import SIZES, size_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Values = NDArray[np.float64]


def errors_of_a_table(
    true: NDArray[Any],
    published: NDArray[Any],
    bias: Values,
    *,
    error: Values | None = None,
    suppressed: NDArray[np.bool_] | None = None,
) -> dict[str, float]:
    """Return the error and the bias of all cells together, and how unevenly the bias falls.

    Here and below, `error` is the expected absolute error of each cell where it is known exactly; without it
    the errors are those of the published table.

    The share of `suppressed` cells is that of the release, however they are read here.

    Examples
    --------
    >>> found = errors_of_a_table(np.array([5, 0, 2]), np.array([4, 3, 2]), np.array([-0.5, 1.0, 0.0]))
    >>> found["l1_error"], found["alpha"], found["net_people"]
    (4.0, 1.5, 2.0)
    """
    flat = bias.reshape(-1)
    return {
        "l1_error": float(_sizes(true, published, error).sum()),
        "l1_bias": float(l1_bias(flat)),
        "alpha": float(alpha_fairness(flat)),
        "largest_bias": float(np.abs(flat).max(initial=0.0)),
        "suppressed": 0.0 if suppressed is None else float(np.mean(suppressed)),
        "net_people": float(published.sum() - true.sum()),
    }


def errors_by_size(
    true: NDArray[Any], published: NDArray[Any], bias: Values, *, error: Values | None = None
) -> dict[str, float]:
    """Return, for each class of cells by their true size, how many there are and their means.

    Examples
    --------
    >>> found = errors_by_size(np.array([0, 0, 5]), np.array([2, 0, 4]), np.array([0.5, 0.5, -1.0]))
    >>> found["error_0"], found["cells_0"], found["error_3_9"], found["bias_3_9"]
    (1.0, 2.0, 1.0, -1.0)
    """
    classes = size_of(true).reshape(-1)
    sizes = _sizes(true, published, error)
    cells = np.bincount(classes, minlength=len(SIZES)).astype(np.float64)
    found: dict[str, float] = {f"cells_{size.key}": float(cells[at]) for at, size in enumerate(SIZES)}
    with np.errstate(invalid="ignore"):
        for name, values in (("size", true), ("error", sizes), ("bias", bias)):
            totals = np.bincount(
                classes, weights=np.asarray(values, dtype=np.float64).reshape(-1), minlength=len(SIZES)
            )
            found |= {f"{name}_{size.key}": float(totals[at] / cells[at]) for at, size in enumerate(SIZES)}
    return found


def errors_by_group(
    true: NDArray[Any],
    published: NDArray[Any],
    bias: Values,
    *,
    groups: NDArray[np.int64],
    labels: Sequence[str],
    error: Values | None = None,
    variance: Values | None = None,
    blank: NDArray[Any] | None = None,
) -> dict[str, dict[str, float]]:
    """Return what the table says of each group: people counted, lost or gained, and mean errors.

    Parameters
    ----------
    true, published, bias : array
        In the shape of the table.
    groups : array of int
        The group of each cell, in the order of the cells; cells of a place beyond the labels are left out.
    labels : sequence of str
        Of the groups, in order.
    error, variance : array, optional
        Exact, where they are known; the variance only where cells are published independently.
    blank : array, optional
        The chance of each cell to be suppressed, or whether it is.

    Returns
    -------
    dict
        For each group ``counted`` (true), ``published``, ``net`` (published minus true), ``expected_net``
        (the sum of the bias), ``net_spread`` (the standard deviation of the difference; NaN where it is not
        known), ``cell_error`` (mean absolute error of a cell), ``person_error`` (absolute
        errors per person; NaN for a group of nobody), ``hidden`` (true people in cells that are not
        published, as expected) and ``invented`` (people expected in cells where nobody is).

    Examples
    --------
    >>> true = np.array([[4, 0], [1, 1]])
    >>> groups = np.array([0, 0, 1, 1])
    >>> found = errors_by_group(true, true + 1, np.ones((2, 2)), groups=groups, labels=["a", "b"])
    >>> found["b"]["net"], found["b"]["person_error"], found["a"]["cell_error"]
    (2.0, 1.0, 1.0)
    """
    spreads = np.full(true.shape, math.nan) if variance is None else variance
    hidden = np.zeros(true.shape) if blank is None else true * blank
    invented = np.where(true == 0, bias, 0.0)
    tables = true, published, bias, _sizes(true, published, error), spreads, hidden, invented
    flat = [table.reshape(-1) for table in tables]
    found = {}
    for place, label in enumerate(labels):
        mine = np.flatnonzero(groups == place)
        people, shown, lasting, total, spread, unseen, made_up = (float(table[mine].sum()) for table in flat)
        found[label] = {
            "counted": people,
            "published": shown,
            "net": shown - people,
            "expected_net": lasting,
            "net_spread": math.sqrt(spread),
            "cell_error": total / len(mine),
            "person_error": total / people if people else math.nan,
            "hidden": unseen,
            "invented": made_up,
        }
    return found


def _sizes(true: NDArray[Any], published: NDArray[Any], error: Values | None) -> Values:
    """Return the absolute error of each cell: as expected where that is known, else as published."""
    return np.abs(published - true).astype(np.float64) if error is None else error
