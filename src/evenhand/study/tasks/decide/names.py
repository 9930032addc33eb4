"""What a study of decisions calls things: measures, size classes, numbers of a group and of an entity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from evenhand.study.tasks.release.names import Size

__all__ = [
    "AT_RISK",
    "ENTITY_NUMBERS",
    "ENTITY_SIZES",
    "GROUPS_OF_AN_ALLOTMENT",
    "GROUPS_OF_A_RULE",
    "MEASURES_OF_AN_ALLOTMENT",
    "MEASURES_OF_A_RULE",
    "MITIGATIONS",
    "MOST_ENTITIES",
    "NOISES",
    "SIGNED_NUMBERS",
    "SIZE_PARTS",
    "WORDS_OF_A_DECISION",
    "MitigationKind",
    "entity_size_of",
]

NOISES = ("laplace", "discrete-gaussian")
"""The mechanisms whose noise decisions are studied under."""

AT_RISK = 0.05
"""From this chance of a wrong decision on an entity is said to be at risk."""

MOST_ENTITIES = 300
"""How many entities a cell keeps one by one: half of them the most affected, half spread over all sizes."""


@dataclass(frozen=True)
class MitigationKind:
    """How a study speaks of a mitigation.

    Parameters
    ----------
    title : str
        In a table or a sentence.
    function : str
        Its name in :mod:`evenhand.decide.mitigate`.
    parameters : tuple of str
        What a plan may give it, the most important first.
    of_rules, of_allotments : bool
        What it is for.
    """

    title: str
    function: str
    parameters: tuple[str, ...] = ()
    of_rules: bool = False
    of_allotments: bool = True


MITIGATIONS: dict[str, MitigationKind] = {
    "linear-proxy": MitigationKind("Linear proxy", "linear_proxy", ("total", "part")),
    "output-perturbation": MitigationKind(
        "Noise on the shares",
        "output_perturbation",
        ("least_total", "least_part", "declared_public"),
    ),
    "piecewise-proxy": MitigationKind(
        "Piecewise linear proxy",
        "piecewise_proxy",
        ("groups", "model", "by"),
        of_rules=True,
        of_allotments=False,
    ),
    "shrink": MitigationKind("Lowered after the clamp", "shrink", ("temperature",), of_rules=True),
    "sum-constraint": MitigationKind("Counts that add up", "sum_constraint", ("total",), of_rules=True),
    "fairness-payment": MitigationKind("Payment to those who lose", "fairness_payment"),
}
"""Every mitigation by the name that a plan and the command line have for it."""


# --- measures -------------------------------------------------------------------------------------

_SHARED = {
    "alpha": "largest minus smallest bias of an entity",
    "mean_error": "mean error of an entity",
}
_OF_A_RULE = {
    "largest_flip": "largest chance of a wrong decision",
    "expected_wrong": "expected number of wrong decisions",
    "expected_refused": "expected number of rights refused",
    "expected_granted": "expected number of rights granted without cause",
    "at_risk": "entities with a chance of 5 % or more of a wrong decision",
    "at_risk_of_loss": "those of them that have the right",
}
_OF_AN_ALLOTMENT = {
    "largest_misallocation": "largest expected misallocation of an entity",
    "largest_error": "largest typical error of an entity",
    "moved": "half of all expected gains and losses, which is what moves between entities if all is paid out",
    "cost_of_privacy": "money that makes up for every expected loss",
    "overspent": "money that is expected to be paid beyond the budget",
}
_CLAIMS = {
    "exact": "whether the results are exact",
    "error_bound": "bound on the error of the computation",
    "claimed_epsilon": "epsilon of the claim",
    "delta": "delta",
}

WORDS_OF_A_DECISION = {**_SHARED, **_OF_A_RULE, **_OF_AN_ALLOTMENT, **_CLAIMS}
"""Each measure of a decision in a few words, as inside a sentence."""

MEASURES_OF_A_RULE = (*_SHARED, *_OF_A_RULE, *_CLAIMS)
"""What every cell measures where a right follows from a rule."""

MEASURES_OF_AN_ALLOTMENT = (*_SHARED, *_OF_AN_ALLOTMENT, *_CLAIMS)
"""What every cell measures where money is allotted."""

GROUPS_OF_A_RULE = ("people", "due", "refused", "granted")
"""Of each group of people: all, those with the right, and those expected to lose or gain it by error."""

GROUPS_OF_AN_ALLOTMENT = ("people", "due", "gain", "gain_per_head")
"""Of each group of people: all, their money, and what it is expected to change by, in all and per head."""

SIGNED_NUMBERS = ("gain", "gain_per_head", "overspent")
"""Measures and numbers of a group that may be below nought."""


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
