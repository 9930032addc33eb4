"""What a study of decisions calls things: measures, size classes, numbers of a group and of an entity."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.study.tasks.measure import count_of, share_of
from evenhand.study.tasks.shared.sizes import Size

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evenhand.study.tasks.measure import Measure

NOISES = ("laplace", "discrete-gaussian")
"""The mechanisms whose noise decisions are studied under."""

_CLAIMS = {
    "exact": share_of("whether the results are exact", form="number"),
    "error_bound": count_of("bound on the error of the computation"),
    "claimed_epsilon": count_of("epsilon of the claim"),
    "delta": share_of("delta", form="delta"),
}

RULE_MEASURES: Mapping[str, Measure] = {
    "alpha": count_of("largest minus smallest bias of an entity", form="points"),
    "mean_error": count_of("mean error of an entity", form="points"),
    "largest_flip": share_of("largest chance of a wrong decision"),
    "expected_wrong": count_of("expected number of wrong decisions"),
    "expected_refused": count_of("expected number of rights refused"),
    "expected_granted": count_of("expected number of rights granted without cause"),
    "at_risk": count_of("entities with a chance of 5 % or more of a wrong decision"),
    "at_risk_of_loss": count_of("those of them that have the right"),
    **_CLAIMS,
}
"""What every cell measures where a right follows from a rule."""

ALLOTMENT_MEASURES: Mapping[str, Measure] = {
    "alpha": count_of("largest minus smallest bias of an entity", form="amount"),
    "mean_error": count_of("mean error of an entity", form="amount"),
    "largest_misallocation": count_of("largest expected misallocation of an entity", form="amount"),
    "largest_error": count_of("largest typical error of an entity", form="amount"),
    "moved": count_of(
        "half of all expected gains and losses, which is what moves between entities if all is paid out",
        form="amount",
    ),
    "cost_of_privacy": count_of("money that makes up for every expected loss", form="amount"),
    "overspent": count_of("money that is expected to be paid beyond the budget", signed=True, form="amount"),
    **_CLAIMS,
}
"""What every cell measures where money is allotted."""

RULE_GROUP_NUMBERS: Mapping[str, Measure] = {
    "people": count_of("people of the group"),
    "due": count_of("what they are due"),
    "refused": count_of("people expected to lose the right by error"),
    "granted": count_of("people expected to gain the right by error"),
}
"""Of each group of people: all, those with the right, and those expected to lose or gain it by error."""

ALLOTMENT_GROUP_NUMBERS: Mapping[str, Measure] = {
    "people": count_of("people of the group"),
    "due": count_of("what they are due", form="amount"),
    "gain": count_of("what is expected to change", signed=True, form="amount"),
    "gain_per_head": count_of("what is expected to change per head", signed=True, form="amount"),
}
"""Of each group of people: all, their money, and what it is expected to change by, in all and per head."""

_STARTS = (
    0, 1, 3, 10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000,
)  # fmt: skip

ENTITY_SIZES = tuple(
    Size(least, None if end is None else end - 1)
    for least, end in zip(_STARTS, (*_STARTS[1:], None), strict=True)
)
"""Classes of entities by how many people are counted in them, two for each power of ten."""

SIZE_PARTS = ("entities", "size", "gain", "error", "relative", "flip")
"""Of each class: how many there are, and the means of counts, biases, typical errors, these as shares of
what is due, and chances of a wrong decision."""


def entity_size_of(counts: Any) -> Any:
    """Return the place among :data:`ENTITY_SIZES` of each count.

    >>> entity_size_of(np.array([0, 2, 3, 2_500_000])).tolist()
    [0, 1, 2, 13]
    """
    return np.searchsorted(_STARTS, counts, side="right") - 1
