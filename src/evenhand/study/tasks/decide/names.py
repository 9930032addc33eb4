"""What a study of decisions calls things: measures, size classes, numbers of a group and of an entity."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.study.tasks.measure import count_of, share_of
from evenhand.study.tasks.shared.sizes import Size

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evenhand.study.tasks.measure import Form, Measure

NOISES = ("laplace", "discrete-gaussian")
"""The mechanisms whose noise decisions are studied under."""

AT_RISK = 0.05
"""From this chance of a wrong decision on an entity is said to be at risk."""

MOST_ENTITIES = 300
"""How many entities a cell keeps one by one: half of them the most affected, half spread over all sizes."""


# --- measures -------------------------------------------------------------------------------------


def _shared(form: Form) -> dict[str, Measure]:
    return {
        "alpha": count_of("largest minus smallest bias of an entity", form=form),
        "mean_error": count_of("mean error of an entity", form=form),
    }


_CLAIMS = {
    "exact": share_of("whether the results are exact", form="number"),
    "error_bound": count_of("bound on the error of the computation"),
    "claimed_epsilon": count_of("epsilon of the claim"),
    "delta": share_of("delta", form="delta"),
}

RULE_MEASURES: Mapping[str, Measure] = {
    **_shared("points"),
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
    **_shared("amount"),
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

_PEOPLE = {"people": count_of("people of the group")}
_DUE = "what they are due"

RULE_GROUP_NUMBERS: Mapping[str, Measure] = {
    **_PEOPLE,
    "due": count_of(_DUE),
    "refused": count_of("people expected to lose the right by error"),
    "granted": count_of("people expected to gain the right by error"),
}
"""Of each group of people: all, those with the right, and those expected to lose or gain it by error."""

ALLOTMENT_GROUP_NUMBERS: Mapping[str, Measure] = {
    **_PEOPLE,
    "due": count_of(_DUE, form="amount"),
    "gain": count_of("what is expected to change", signed=True, form="amount"),
    "gain_per_head": count_of("what is expected to change per head", signed=True, form="amount"),
}
"""Of each group of people: all, their money, and what it is expected to change by, in all and per head."""


# --- entities -------------------------------------------------------------------------------------

ENTITY_NUMBERS = ("size", "truth", "bias", "error", "flip", "distance", "place")
"""Of each entity that is kept: its count, the true share or decision, the bias, the typical error, the chance
of a wrong decision, how many people it is from the line, and its place in the data."""

_STARTS_AND_ENDS = (
    (0, 0), (1, 2), (3, 9), (10, 29), (30, 99), (100, 299), (300, 999), (1_000, 2_999), (3_000, 9_999),
    (10_000, 29_999), (30_000, 99_999), (100_000, 299_999), (300_000, 999_999), (1_000_000, None),
)  # fmt: skip

ENTITY_SIZES = tuple(Size(least, most) for least, most in _STARTS_AND_ENDS)
"""Classes of entities by how many people are counted in them, two for each power of ten."""

SIZE_PARTS = ("entities", "size", "gain", "error", "relative", "flip")
"""Of each class: how many there are, and the means of counts, biases, typical errors, these as shares of
what is due, and chances of a wrong decision."""

_BOUNDARIES = np.array([size.least for size in ENTITY_SIZES])


def entity_size_of(counts: Any) -> Any:
    """Return the place among :data:`ENTITY_SIZES` of each count.

    >>> entity_size_of(np.array([0, 2, 3, 2_500_000])).tolist()
    [0, 1, 2, 13]
    """
    return np.searchsorted(_BOUNDARIES, counts, side="right") - 1
