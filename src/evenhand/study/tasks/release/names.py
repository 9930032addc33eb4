"""What a study of releases calls things: measures, size classes and the numbers of a group."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.study.tasks.measure import count_of, share_of
from evenhand.study.tasks.shared.sizes import Size

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evenhand.study.tasks.measure import Measure

STATED = 1
"""The epsilon at which delta is stated for a mechanism that has no epsilon of its own."""

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

_STARTS = np.array([size.least for size in SIZES])


def size_of(counts: Any) -> Any:
    """Return the place among :data:`SIZES` of each count.

    >>> size_of(np.array([0, 2, 3, 250_000])).tolist()
    [0, 1, 2, 9]
    """
    return np.searchsorted(_STARTS, counts, side="right") - 1
