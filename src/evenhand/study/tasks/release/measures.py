"""Tell what a published table is off by: in all, in cells of one size, and for the people of one group."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.measure.alpha import alpha_fairness, l1_bias
from evenhand.study.tasks.measure import count_of, share_of
from evenhand.study.tasks.shared.sizes import Size

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from evenhand.study.tasks.measure import Measure

    Values = NDArray[np.float64]

RELEASE_MEASURES: Mapping[str, Measure] = {
    "l1_error": count_of("error of all cells together"),
    "l1_bias": count_of("bias of all cells together"),
    "alpha": count_of("largest minus smallest bias of a cell"),
    "largest_bias": count_of("largest bias of a cell"),
    "delta": share_of("delta", form="delta"),
    "claimed_epsilon": count_of("epsilon of the claim"),
    "suppressed": share_of("share of cells not published"),
    "net_people": count_of("people published minus people there are", signed=True),
    "bias_exact": share_of("whether the bias is exact", form="number"),
    "error_exact": share_of("whether the error is exact", form="number"),
    "delta_tight": share_of("whether delta is attained", form="number"),
}
"""What every cell of a study of releases measures."""

GROUP_NUMBERS: Mapping[str, Measure] = {
    "counted": count_of("people counted"),
    "published": count_of("people published"),
    "net": count_of("people published minus people counted", signed=True),
    "expected_net": count_of("expected difference of people", signed=True),
    "net_spread": count_of("standard deviation of that difference"),
    "cell_error": count_of("mean absolute error of a cell"),
    "person_error": count_of("absolute errors per person"),
    "hidden": count_of("people in cells that are not published"),
    "invented": count_of("people expected where nobody is", signed=True),
}
"""Of each group: true and published people, their difference, its expectation and spread, mean errors, and
people who are hidden or invented."""

SIZES = tuple(
    Size(least, most)
    for least, most in (
        (0, 0), (1, 2), (3, 9), (10, 29), (30, 99), (100, 299), (300, 999), (1_000, 2_999), (3_000, 9_999),
        (10_000, None),
    )
)  # fmt: skip
"""Classes of cells by size: empty ones, then about two for each power of ten."""

SIZE_NUMBERS = ("cells", "size", "error", "bias")
"""Of each class of cells: how many there are, and the means of true counts, absolute errors and biases."""


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

    >>> found = errors_by_size(np.array([0, 0, 5]), np.array([2, 0, 4]), np.array([0.5, 0.5, -1.0]))
    >>> found["error_0"], found["cells_0"], found["error_3_9"], found["bias_3_9"]
    (1.0, 2.0, 1.0, -1.0)
    """
    starts = [size.least for size in SIZES]
    classes = np.searchsorted(starts, true.reshape(-1), side="right") - 1
    cells = np.bincount(classes, minlength=len(SIZES)).astype(np.float64)
    found = {f"cells_{size.key}": float(count) for size, count in zip(SIZES, cells, strict=True)}
    tables = {"size": true, "error": _sizes(true, published, error), "bias": bias}
    for name, values in tables.items():
        totals = np.bincount(classes, weights=values.reshape(-1).astype(np.float64), minlength=len(SIZES))
        with np.errstate(invalid="ignore"):
            means = totals / cells
        found |= {f"{name}_{size.key}": float(mean) for size, mean in zip(SIZES, means, strict=True)}
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
    """Return the numbers of :data:`GROUP_NUMBERS` of each group.

    `groups` is the group of each cell, in the order of the cells; cells of a place beyond the labels are left
    out. The variance is given only where cells are published independently, and the spread is NaN without.
    `blank` is the chance of each cell to be suppressed, or whether it is. An error per person is NaN for a
    group of nobody.

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
